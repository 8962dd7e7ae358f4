/* FMI 3.0, model exchange and co-simulation. The types and signatures are those of the FMI 3.0 specification. */

#include "instance.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "guid.h"

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

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

#define NUMBERS(c) (&((Instance *)(c))->numbers)

static fmi3Status told(fmi3Instance c, int status)
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

EXPORT fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t count, const fmi3String categories[])
{
    (void)c, (void)on, (void)count, (void)categories;
    return fmi3OK;
}

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

EXPORT fmi3Status fmi3ExitInitializationMode(fmi3Instance c)
{
    Numbers *n = NUMBERS(c);
    int status;
    n->stale = 1;
    status = numbers_update(n);
    n->phase = RUNNING;
    n->stale = 1;
    if (status == MODEL_DONE) numbers_settled(n);
    return told(c, status);
}

EXPORT fmi3Status fmi3Reset(fmi3Instance c)
{
    numbers_reset(NUMBERS(c), NUMBERS(c)->exchange);
    return fmi3OK;
}

/* Nothing happens here. */
#define NOTHING(Name)                                                                                                 \
    EXPORT fmi3Status fmi3##Name(fmi3Instance c)                                                                      \
    {                                                                                                                 \
        (void)c;                                                                                                      \
        return fmi3OK;                                                                                                \
    }
NOTHING(EnterEventMode)
NOTHING(Terminate)
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

EXPORT fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *state)
{
    if (!*state) *state = calloc(1, sizeof(Numbers));
    if (!*state) return fmi3Error;
    memcpy(*state, NUMBERS(c), sizeof(Numbers));
    return fmi3OK;
}

EXPORT fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state)
{
    memcpy(NUMBERS(c), state, sizeof(Numbers));
    return fmi3OK;
}

EXPORT fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *state)
{
    (void)c;
    free(*state);
    *state = NULL;
    return fmi3OK;
}

EXPORT fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t *size)
{
    (void)c, (void)state;
    *size = sizeof(Numbers);
    return fmi3OK;
}

EXPORT fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    if (size < sizeof(Numbers)) return told(c, WRONG_REFERENCE);
    memcpy(bytes, state, sizeof(Numbers));
    return fmi3OK;
}

EXPORT fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState *state)
{
    if (size != sizeof(Numbers) || fmi3GetFMUState(c, state) != fmi3OK) return told(c, WRONG_REFERENCE);
    memcpy(*state, bytes, sizeof(Numbers));
    return fmi3OK;
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

EXPORT fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance c)
{
    numbers_settled(NUMBERS(c));
    return fmi3OK;
}

EXPORT fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean unchanged, fmi3Boolean *enter,
                                              fmi3Boolean *terminate)
{
    (void)unchanged;
    *enter = numbers_drifted(NUMBERS(c)) != 0;
    *terminate = false;
    return fmi3OK;
}

EXPORT fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 t)
{
    NUMBERS(c)->t = t;
    NUMBERS(c)->stale = 1;
    return fmi3OK;
}

EXPORT fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 x[], size_t count)
{
    if (count != MODEL_STATES) return told(c, WRONG_REFERENCE);
    memcpy(NUMBERS(c)->x, x, count * sizeof *x);
    NUMBERS(c)->stale = 1;
    return fmi3OK;
}

static fmi3Status copied(fmi3Instance c, const double *from, fmi3Float64 to[], size_t count, size_t wanted)
{
    const int status = count == wanted ? numbers_update(NUMBERS(c)) : WRONG_REFERENCE;
    if (status == MODEL_DONE) memcpy(to, from, count * sizeof *to);
    return told(c, status);
}

EXPORT fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 dx[], size_t count)
{
    return copied(c, NUMBERS(c)->dx, dx, count, MODEL_STATES);
}

EXPORT fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 indicators[], size_t count)
{
    return copied(c, NUMBERS(c)->events, indicators, count, MODEL_EVENTS);
}

EXPORT fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 x[], size_t count)
{
    return copied(c, NUMBERS(c)->x, x, count, MODEL_STATES);
}

EXPORT fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 nominals[], size_t count)
{
    size_t i;
    (void)c;
    for (i = 0; i < count; ++i) nominals[i] = 1;
    return fmi3OK;
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
