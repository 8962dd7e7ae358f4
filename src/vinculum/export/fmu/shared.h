/*
 * What FMI 2.0 and 3.0 have in common: functions with the same arguments and meaning, whose names differ in their prefix.
 * The file that includes this defines Instance and, before it,
 *   FMI(Name)            a name of its version,
 *   STATE(Before, After) the name of a function of saved states,
 *   allocated, released  memory of an instance,
 *   told                 the status of its version, which is logged.
 */

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

#define NUMBERS(c) (&((Instance *)(c))->numbers)

static FMI(Status) told(void *c, int status);
static void *allocated(const void *c, size_t size);
static void released(const void *c, void *memory);

EXPORT FMI(Status) FMI(SetDebugLogging)(void *c, FMI(Boolean) on, size_t count, const FMI(String) categories[])
{
    (void)c, (void)on, (void)count, (void)categories;
    return FMI(OK);
}

EXPORT FMI(Status) FMI(ExitInitializationMode)(void *c)
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

EXPORT FMI(Status) FMI(Reset)(void *c)
{
    numbers_reset(NUMBERS(c), NUMBERS(c)->exchange);
    return FMI(OK);
}

/* Nothing happens here. */
#define NOTHING(Name)                                                                                                 \
    EXPORT FMI(Status) FMI(Name)(void *c)                                                                             \
    {                                                                                                                 \
        (void)c;                                                                                                      \
        return FMI(OK);                                                                                               \
    }
NOTHING(Terminate)
NOTHING(EnterEventMode)

/* -- saved states -- */

EXPORT FMI(Status) STATE(Get, )(void *c, void **state)
{
    if (!*state) *state = allocated(c, sizeof(Numbers));
    if (!*state) return FMI(Error);
    memcpy(*state, NUMBERS(c), sizeof(Numbers));
    return FMI(OK);
}

EXPORT FMI(Status) STATE(Set, )(void *c, void *state)
{
    memcpy(NUMBERS(c), state, sizeof(Numbers));
    return FMI(OK);
}

EXPORT FMI(Status) STATE(Free, )(void *c, void **state)
{
    if (*state) released(c, *state);
    *state = NULL;
    return FMI(OK);
}

EXPORT FMI(Status) STATE(Serialized, Size)(void *c, void *state, size_t *size)
{
    (void)c, (void)state;
    *size = sizeof(Numbers);
    return FMI(OK);
}

EXPORT FMI(Status) STATE(Serialize, )(void *c, void *state, FMI(Byte) bytes[], size_t size)
{
    if (size < sizeof(Numbers)) return told(c, WRONG_REFERENCE);
    memcpy(bytes, state, sizeof(Numbers));
    return FMI(OK);
}

EXPORT FMI(Status) STATE(DESERIALIZE, )(void *c, const FMI(Byte) bytes[], size_t size, void **state)
{
    if (size != sizeof(Numbers) || STATE(Get, )(c, state) != FMI(OK)) return told(c, WRONG_REFERENCE);
    memcpy(*state, bytes, sizeof(Numbers));
    return FMI(OK);
}

/* -- model exchange -- */

EXPORT FMI(Status) FMI(EnterContinuousTimeMode)(void *c)
{
    numbers_settled(NUMBERS(c));
    return FMI(OK);
}

EXPORT FMI(Status) FMI(CompletedIntegratorStep)(void *c, FMI(Boolean) unchanged, FMI(Boolean) *enter,
                                                FMI(Boolean) *terminate)
{
    (void)unchanged;
    *enter = numbers_drifted(NUMBERS(c)) != 0;
    *terminate = 0;
    return FMI(OK);
}

EXPORT FMI(Status) FMI(SetTime)(void *c, double t)
{
    NUMBERS(c)->t = t;
    NUMBERS(c)->stale = 1;
    return FMI(OK);
}

EXPORT FMI(Status) FMI(SetContinuousStates)(void *c, const double x[], size_t count)
{
    if (count != MODEL_STATES) return told(c, WRONG_REFERENCE);
    memcpy(NUMBERS(c)->x, x, count * sizeof *x);
    NUMBERS(c)->stale = 1;
    return FMI(OK);
}

static FMI(Status) copied(void *c, const double *from, double to[], size_t count, size_t wanted)
{
    const int status = count == wanted ? numbers_update(NUMBERS(c)) : WRONG_REFERENCE;
    if (status == MODEL_DONE) memcpy(to, from, count * sizeof *to);
    return told(c, status);
}

EXPORT FMI(Status) FMI(GetEventIndicators)(void *c, double indicators[], size_t count)
{
    return copied(c, NUMBERS(c)->events, indicators, count, MODEL_EVENTS);
}

EXPORT FMI(Status) FMI(GetContinuousStates)(void *c, double x[], size_t count)
{
    return copied(c, NUMBERS(c)->x, x, count, MODEL_STATES);
}

EXPORT FMI(Status) FMI(GetNominalsOfContinuousStates)(void *c, double nominals[], size_t count)
{
    size_t i;
    (void)c;
    for (i = 0; i < count; ++i) nominals[i] = 1;
    return FMI(OK);
}
