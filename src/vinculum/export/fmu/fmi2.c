/* FMI 2.0, model exchange and co-simulation. The types and signatures are those of the FMI 2.0 specification. */

#include "instance.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guid.h"

typedef void *fmi2Component, *fmi2ComponentEnvironment, *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer, fmi2Boolean;
typedef char fmi2Char, fmi2Byte;
typedef const fmi2Char *fmi2String;
typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;
typedef void (*fmi2CallbackLogger)(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
typedef struct {
    fmi2CallbackLogger logger;
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;
typedef struct {
    fmi2Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged,
        valuesOfContinuousStatesChanged, nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;

typedef struct {
    Numbers numbers;
    char name[256];
    fmi2CallbackFunctions calls;
} Instance;

#define FMI(Name) fmi2##Name
#define JOINED(Before, After) fmi2##Before##FMUstate##After
#define STATE(Before, After) JOINED(Before, After)
#define DESERIALIZE DeSerialize
#include "shared.h"

static void *allocated(const void *c, size_t size)
{
    const fmi2CallbackFunctions *calls = &((const Instance *)c)->calls;
    return calls->allocateMemory ? calls->allocateMemory(1, size) : calloc(1, size);
}

static void released(const void *c, void *memory)
{
    const fmi2CallbackFunctions *calls = &((const Instance *)c)->calls;
    if (calls->freeMemory) calls->freeMemory(memory);
    else free(memory);
}

static fmi2Status told(void *c, int status)
{
    Instance *instance = (Instance *)c;
    if (status == MODEL_DONE) return fmi2OK;
    if (instance->calls.logger)
        instance->calls.logger(instance->calls.componentEnvironment, instance->name, fmi2Error, "error", "%s",
                               status_text(status));
    return fmi2Error;
}

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }

EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions *calls, fmi2Boolean visible, fmi2Boolean logging)
{
    Instance *made;
    (void)resources, (void)visible, (void)logging;
    if (!name || !guid || !calls || strcmp(guid, FMU_GUID) != 0) return NULL;
    made = (Instance *)(calls->allocateMemory ? calls->allocateMemory(1, sizeof *made) : calloc(1, sizeof *made));
    if (!made) return NULL;
    made->calls = *calls;
    strncpy(made->name, name, sizeof made->name - 1);
    numbers_reset(&made->numbers, type == fmi2ModelExchange);
    return made;
}

EXPORT void fmi2FreeInstance(fmi2Component c)
{
    Instance copy;
    if (!c) return;
    copy = *(Instance *)c;
    released(&copy, c);
}

EXPORT fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean defined, fmi2Real tolerance, fmi2Real start,
                                      fmi2Boolean stops, fmi2Real stop)
{
    (void)defined, (void)tolerance, (void)stops, (void)stop;
    NUMBERS(c)->t = start;
    NUMBERS(c)->stale = 1;
    return fmi2OK;
}

EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    NUMBERS(c)->stale = 1;
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2Real value[])
{
    size_t i;
    for (i = 0; i < count; ++i) {
        const int status = numbers_get(NUMBERS(c), vr[i], &value[i]);
        if (status != MODEL_DONE) return told(c, status);
    }
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2Real value[])
{
    size_t i;
    for (i = 0; i < count; ++i) {
        const int status = numbers_set(NUMBERS(c), vr[i], value[i]);
        if (status != MODEL_DONE) return told(c, status);
    }
    return fmi2OK;
}

/* There are no variables of other types. */
#define OTHER(Name, Type)                                                                                             \
    EXPORT fmi2Status fmi2Get##Name(fmi2Component c, const fmi2ValueReference vr[], size_t count, Type value[])       \
    {                                                                                                                 \
        (void)vr, (void)value;                                                                                        \
        return count ? told(c, WRONG_REFERENCE) : fmi2OK;                                                             \
    }                                                                                                                 \
    EXPORT fmi2Status fmi2Set##Name(fmi2Component c, const fmi2ValueReference vr[], size_t count, const Type value[]) \
    {                                                                                                                 \
        (void)vr, (void)value;                                                                                        \
        return count ? told(c, WRONG_REFERENCE) : fmi2OK;                                                             \
    }
OTHER(Integer, fmi2Integer)
OTHER(Boolean, fmi2Boolean)
OTHER(String, fmi2String)

EXPORT fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknowns[], size_t count,
                                               const fmi2ValueReference knowns[], size_t given, const fmi2Real seed[],
                                               fmi2Real sensitivity[])
{
    return told(c, numbers_derivative(NUMBERS(c), unknowns, (unsigned long)count, knowns, (unsigned long)given, seed,
                                      sensitivity));
}

/* -- model exchange -- */

EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    int changed;
    const int status = numbers_event(NUMBERS(c), &changed);
    memset(info, 0, sizeof *info);
    info->valuesOfContinuousStatesChanged = changed;
    info->terminateSimulation = NUMBERS(c)->ended;
    return told(c, status);
}

EXPORT fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real dx[], size_t count)
{
    return copied(c, NUMBERS(c)->dx, dx, count, MODEL_STATES);
}

/* -- co-simulation -- */

EXPORT fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                              const fmi2Integer order[], const fmi2Real value[])
{
    (void)vr, (void)order, (void)value;
    return count ? told(c, WRONG_REFERENCE) : fmi2OK;
}

EXPORT fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                               const fmi2Integer order[], fmi2Real value[])
{
    (void)vr, (void)order, (void)value;
    return count ? told(c, WRONG_REFERENCE) : fmi2OK;
}

EXPORT fmi2Status fmi2DoStep(fmi2Component c, fmi2Real from, fmi2Real length, fmi2Boolean keep)
{
    const int status = numbers_step(NUMBERS(c), from, length);
    (void)keep;
    if (status != MODEL_DONE) return told(c, status);
    return NUMBERS(c)->ended ? fmi2Discard : fmi2OK;
}

EXPORT fmi2Status fmi2CancelStep(fmi2Component c) { return told(c, WRONG_REFERENCE); }

EXPORT fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
    (void)c, (void)kind;
    *value = fmi2OK;
    return fmi2Discard;
}

EXPORT fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    *value = NUMBERS(c)->reached;
    return kind == fmi2LastSuccessfulTime ? fmi2OK : fmi2Discard;
}

EXPORT fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value)
{
    (void)c, (void)kind;
    *value = 0;
    return fmi2Discard;
}

EXPORT fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    *value = NUMBERS(c)->ended;
    return kind == fmi2Terminated ? fmi2OK : fmi2Discard;
}

EXPORT fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value)
{
    (void)c, (void)kind;
    *value = "";
    return fmi2Discard;
}
