/* FMI 3.0, model exchange and co-simulation. The types and signatures are those of the FMI 3.0 specification. */

#include "instance.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "guid.h"

typedef void *fmi3Instance, *fmi3InstanceEnvironment, *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef bool fmi3Boolean, fmi3Clock;
typedef double fmi3Float64;
typedef const char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;
typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef int fmi3DependencyKind, fmi3IntervalQualifier; /* enumerations that this FMU never fills in */
typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String, fmi3String);
typedef void (*fmi3AnyCallback)(void);

typedef struct {
    Numbers numbers;
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback log;
    bool early; /* whether a step may end early */
} Instance;

#define FMI(Name) fmi3##Name
#define JOINED(Before, After) fmi3##Before##FMUState##After
#define STATE(Before, After) JOINED(Before, After)
#define DESERIALIZE Deserialize
#include "shared.h"

static void *allocated(const void *c, size_t size)
{
    (void)c;
    return calloc(1, size);
}

static void released(const void *c, void *memory)
{
    (void)c;
    free(memory);
}

static fmi3Status told(void *c, int status)
{
    Instance *instance = (Instance *)c;
    if (status == MODEL_DONE) return fmi3OK;
    if (instance && instance->log) instance->log(instance->environment, fmi3Error, "error", status_text(status));
    return fmi3Error;
}

static fmi3Instance made(fmi3String token, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                         int exchange, bool early)
{
    Instance *instance = NULL;
    if (token && strcmp(token, FMU_GUID) == 0) instance = (Instance *)calloc(1, sizeof *instance);
    if (!instance) return NULL;
    instance->environment = environment;
    instance->log = log;
    instance->early = early;
    numbers_reset(&instance->numbers, exchange);
    return instance;
}

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }

EXPORT fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
                                                 fmi3Boolean visible, fmi3Boolean logging,
                                                 fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    (void)name, (void)resources, (void)visible, (void)logging;
    return made(token, environment, log, 1, false);
}

EXPORT fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources,
                                                fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean events,
                                                fmi3Boolean early, const fmi3ValueReference required[], size_t count,
                                                fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                                fmi3AnyCallback intermediate)
{
    (void)name, (void)resources, (void)visible, (void)logging, (void)required, (void)intermediate;
    if (events || count) return NULL; /* not offered by the model description */
    return made(token, environment, log, 0, early);
}

EXPORT fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
                                                      fmi3Boolean visible, fmi3Boolean logging,
                                                      fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                                      fmi3AnyCallback update, fmi3AnyCallback lock,
                                                      fmi3AnyCallback unlock)
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)environment, (void)log;
    (void)update, (void)lock, (void)unlock;
    return NULL;
}

EXPORT void fmi3FreeInstance(fmi3Instance c) { free(c); }

EXPORT fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean defined, fmi3Float64 tolerance,
                                              fmi3Float64 start, fmi3Boolean stops, fmi3Float64 stop)
{
    (void)defined, (void)tolerance, (void)stops, (void)stop;
    NUMBERS(c)->t = start;
    NUMBERS(c)->stale = 1;
    return fmi3OK;
}

NOTHING(EnterStepMode)
NOTHING(EvaluateDiscreteStates)

EXPORT fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Float64 values[],
                                 size_t numbers)
{
    size_t i;
    if (numbers != count) return told(c, WRONG_REFERENCE);
    for (i = 0; i < count; ++i) {
        const int status = numbers_get(NUMBERS(c), vr[i], &values[i]);
        if (status != MODEL_DONE) return told(c, status);
    }
    return fmi3OK;
}

EXPORT fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t count,
                                 const fmi3Float64 values[], size_t numbers)
{
    size_t i;
    if (numbers != count) return told(c, WRONG_REFERENCE);
    for (i = 0; i < count; ++i) {
        const int status = numbers_set(NUMBERS(c), vr[i], values[i]);
        if (status != MODEL_DONE) return told(c, status);
    }
    return fmi3OK;
}

/* There are no variables of other types. */
#define OTHER(Name, Type)                                                                                             \
    EXPORT fmi3Status fmi3Get##Name(fmi3Instance c, const fmi3ValueReference vr[], size_t count, Type values[],       \
                                    size_t numbers)                                                                   \
    {                                                                                                                 \
        (void)vr, (void)values, (void)numbers;                                                                        \
        return count ? told(c, WRONG_REFERENCE) : fmi3OK;                                                             \
    }                                                                                                                 \
    EXPORT fmi3Status fmi3Set##Name(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const Type values[], \
                                    size_t numbers)                                                                   \
    {                                                                                                                 \
        (void)vr, (void)values, (void)numbers;                                                                        \
        return count ? told(c, WRONG_REFERENCE) : fmi3OK;                                                             \
    }
OTHER(Float32, float)
OTHER(Int8, int8_t)
OTHER(UInt8, uint8_t)
OTHER(Int16, int16_t)
OTHER(UInt16, uint16_t)
OTHER(Int32, int32_t)
OTHER(UInt32, uint32_t)
OTHER(Int64, int64_t)
OTHER(UInt64, uint64_t)
OTHER(Boolean, fmi3Boolean)
OTHER(String, fmi3String)

EXPORT fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t count, size_t sizes[],
                                fmi3Binary values[], size_t numbers)
{
    (void)vr, (void)sizes, (void)values, (void)numbers;
    return count ? told(c, WRONG_REFERENCE) : fmi3OK;
}

EXPORT fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const size_t sizes[],
                                const fmi3Binary values[], size_t numbers)
{
    (void)vr, (void)sizes, (void)values, (void)numbers;
    return count ? told(c, WRONG_REFERENCE) : fmi3OK;
}

EXPORT fmi3Status fmi3GetClock(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Clock values[])
{
    (void)vr, (void)values;
    return count ? told(c, WRONG_REFERENCE) : fmi3OK;
}

EXPORT fmi3Status fmi3SetClock(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3Clock values[])
{
    (void)vr, (void)values;
    return count ? told(c, WRONG_REFERENCE) : fmi3OK;
}

EXPORT fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance c, fmi3ValueReference vr, size_t *count)
{
    (void)vr, (void)count;
    return told(c, WRONG_REFERENCE);
}

EXPORT fmi3Status fmi3GetVariableDependencies(fmi3Instance c, fmi3ValueReference vr, size_t of[],
                                              fmi3ValueReference on[], size_t at[], fmi3DependencyKind kinds[],
                                              size_t count)
{
    (void)vr, (void)of, (void)on, (void)at, (void)kinds, (void)count;
    return told(c, WRONG_REFERENCE);
}

EXPORT fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t count,
                                               const fmi3ValueReference knowns[], size_t given,
                                               const fmi3Float64 seed[], size_t seeds, fmi3Float64 sensitivity[],
                                               size_t sensitivities)
{
    if (seeds != given || sensitivities != count) return told(c, WRONG_REFERENCE);
    return told(c, numbers_derivative(NUMBERS(c), unknowns, (unsigned long)count, knowns, (unsigned long)given, seed,
                                      sensitivity));
}

EXPORT fmi3Status fmi3GetAdjointDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t count,
                                           const fmi3ValueReference knowns[], size_t given, const fmi3Float64 seed[],
                                           size_t seeds, fmi3Float64 sensitivity[], size_t sensitivities)
{
    (void)unknowns, (void)count, (void)knowns, (void)given, (void)seed, (void)seeds, (void)sensitivity;
    (void)sensitivities;
    return told(c, WRONG_REFERENCE);
}

/* Not offered by the model description. */
EXPORT fmi3Status fmi3EnterConfigurationMode(fmi3Instance c) { return told(c, WRONG_REFERENCE); }
EXPORT fmi3Status fmi3ExitConfigurationMode(fmi3Instance c) { return told(c, WRONG_REFERENCE); }

#define CLOCKED(Name, ...)                                                                                            \
    EXPORT fmi3Status fmi3##Name(fmi3Instance c, const fmi3ValueReference vr[], size_t count, __VA_ARGS__)            \
    {                                                                                                                 \
        (void)vr, (void)count, (void)a;                                                                               \
        return told(c, WRONG_REFERENCE);                                                                              \
    }
#define CLOCKED_TWICE(Name, ...)                                                                                      \
    EXPORT fmi3Status fmi3##Name(fmi3Instance c, const fmi3ValueReference vr[], size_t count, __VA_ARGS__)            \
    {                                                                                                                 \
        (void)vr, (void)count, (void)a, (void)b;                                                                      \
        return told(c, WRONG_REFERENCE);                                                                              \
    }
CLOCKED_TWICE(GetIntervalDecimal, fmi3Float64 a[], fmi3IntervalQualifier b[])
CLOCKED_TWICE(GetShiftFraction, uint64_t a[], uint64_t b[])
CLOCKED_TWICE(SetIntervalFraction, const uint64_t a[], const uint64_t b[])
CLOCKED_TWICE(SetShiftFraction, const uint64_t a[], const uint64_t b[])
CLOCKED(GetShiftDecimal, fmi3Float64 a[])
CLOCKED(SetIntervalDecimal, const fmi3Float64 a[])
CLOCKED(SetShiftDecimal, const fmi3Float64 a[])

EXPORT fmi3Status fmi3GetIntervalFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t count, uint64_t a[],
                                          uint64_t b[], fmi3IntervalQualifier q[])
{
    (void)vr, (void)count, (void)a, (void)b, (void)q;
    return told(c, WRONG_REFERENCE);
}

EXPORT fmi3Status fmi3ActivateModelPartition(fmi3Instance c, fmi3ValueReference clock, fmi3Float64 time)
{
    (void)clock, (void)time;
    return told(c, WRONG_REFERENCE);
}

/* -- model exchange -- */

EXPORT fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *again, fmi3Boolean *terminate,
                                           fmi3Boolean *nominals, fmi3Boolean *values, fmi3Boolean *next,
                                           fmi3Float64 *time)
{
    int changed;
    const int status = numbers_event(NUMBERS(c), &changed);
    *again = *nominals = *next = false;
    *time = 0;
    *values = changed != 0;
    *terminate = NUMBERS(c)->ended != 0;
    return told(c, status);
}

EXPORT fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 dx[], size_t count)
{
    return copied(c, NUMBERS(c)->dx, dx, count, MODEL_STATES);
}

EXPORT fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *count)
{
    (void)c;
    *count = MODEL_EVENTS;
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *count)
{
    (void)c;
    *count = MODEL_STATES;
    return fmi3OK;
}

/* -- co-simulation -- */

EXPORT fmi3Status fmi3GetOutputDerivatives(fmi3Instance c, const fmi3ValueReference vr[], size_t count,
                                           const int32_t orders[], fmi3Float64 values[], size_t numbers)
{
    (void)vr, (void)orders, (void)values, (void)numbers;
    return count ? told(c, WRONG_REFERENCE) : fmi3OK;
}

EXPORT fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 from, fmi3Float64 length, fmi3Boolean keep,
                             fmi3Boolean *event, fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *reached)
{
    const int status = numbers_step(NUMBERS(c), from, length);
    (void)keep;
    *event = false;
    *terminate = NUMBERS(c)->ended != 0;
    *early = NUMBERS(c)->ended != 0 && ((Instance *)c)->early;
    *reached = NUMBERS(c)->reached;
    return told(c, status);
}
