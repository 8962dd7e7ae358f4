/* One instance of the model, the same for all versions of FMI. */

#include "instance.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "fmu.h"

static const double tolerance = 1e-9; /* of the residuals, above which they are projected */

void numbers_reset(Numbers *n, int exchange)
{
    int i;
    memset(n, 0, sizeof *n);
    n->exchange = exchange;
    n->stale = 1;
    n->step = FMU_STEP;
    model_parameters(n->p);
    model_initial(n->x);
    for (i = 0; i < MODEL_SYMBOLS; ++i) n->start[i] = fmu_start[i];
    for (i = 0; i < MODEL_INPUTS; ++i) n->u[i] = fmu_inputs[i];
}

int numbers_initialize(Numbers *n)
{
    memcpy(n->s, n->start, sizeof n->s);
    return model_start(n->t, n->s, fmu_held, n->p, n->x);
}

int numbers_update(Numbers *n)
{
    int status = MODEL_DONE, i;
    if (!n->stale) return status;
    if (n->phase == STARTING) status = numbers_initialize(n);
    if (status != MODEL_DONE) return status;
    model_outputs(n->t, n->x, n->u, n->p, n->s, n->a, n->r, n->l);
    model_motion(n->t, n->x, n->u, n->p, n->dx);
    model_residuals(n->t, n->x, n->p, n->f);
    model_events(n->t, n->x, n->u, n->p, n->events);
#if FMU_ENERGY
    model_energy(n->t, n->x, n->p, n->e);
#endif
    for (i = 0; i < MODEL_STATES; ++i)
        if (!isfinite(n->dx[i])) return MODEL_NOT_FINITE;
    n->stale = 0;
    return MODEL_DONE;
}

static double *place(Numbers *n, unsigned int v)
{
    if (v == VR_TIME) return &n->t;
    if (v >= VR_P && v < VR_STEP) return &n->p[v - VR_P];
    if (v == VR_STEP) return &n->step;
    if (v >= VR_U && v < VR_S) return &n->u[v - VR_U];
    if (v >= VR_S && v < VR_Z) return &n->s[v - VR_S];
    if (v >= VR_Z && v < VR_D) return &n->x[fmu_other[v - VR_Z]];
    if (v >= VR_D && v < VR_A) return &n->dx[v - VR_D];
    if (v >= VR_A && v < VR_R) return &n->a[v - VR_A];
    if (v >= VR_R && v < VR_L) return &n->r[v - VR_R];
    if (v >= VR_L && v < VR_F) return &n->l[v - VR_L];
    if (v >= VR_F && v < VR_E) return &n->f[v - VR_F];
    if (v >= VR_E && v < VR_G) return n->e;
    if (v >= VR_G && v < VR_END) return &n->events[v - VR_G];
    return NULL;
}

int numbers_get(Numbers *n, unsigned int v, double *value)
{
    const double *found = place(n, v);
    if (!found) return WRONG_REFERENCE;
    if (v >= VR_S) {
        const int status = numbers_update(n);
        if (status != MODEL_DONE) return status;
    }
    *value = *found;
    return MODEL_DONE;
}

int numbers_set(Numbers *n, unsigned int v, double value)
{
    n->stale = 1;
    if (v >= VR_P && v <= VR_STEP) {
        if (v == VR_STEP && !(value > 0)) return WRONG_REFERENCE;
        *place(n, v) = value;
    } else if (v >= VR_U && v < VR_S) {
        n->u[v - VR_U] = value;
    } else if (v >= VR_S && v < VR_Z && n->phase == STARTING) {
        n->start[v - VR_S] = value;
    } else if (v >= VR_S && v < VR_Z && fmu_state_of[v - VR_S] >= 0) {
        n->x[fmu_state_of[v - VR_S]] = value;
    } else if (v >= VR_Z && v < VR_D) {
        n->x[fmu_other[v - VR_Z]] = value;
    } else {
        return WRONG_REFERENCE;
    }
    return MODEL_DONE;
}

int numbers_derivative(Numbers *n, const unsigned int unknowns[], unsigned long count, const unsigned int knowns[],
                       unsigned long given, const double seed[], double sensitivity[])
{
    double vx[AT_LEAST_ONE(MODEL_STATES)] = {0}, vu[AT_LEAST_ONE(MODEL_INPUTS)] = {0};
    double ddx[AT_LEAST_ONE(MODEL_STATES)], ds[AT_LEAST_ONE(MODEL_SYMBOLS)], da[AT_LEAST_ONE(MODEL_ACCELERATIONS)];
    double dr[AT_LEAST_ONE(MODEL_REACTIONS)], dl[AT_LEAST_ONE(MODEL_LAWS)];
    unsigned long k;
    int status = numbers_update(n);
    if (status != MODEL_DONE) return status;
    for (k = 0; k < given; ++k) {
        const unsigned int v = knowns[k];
        if (v >= VR_U && v < VR_S) vu[v - VR_U] = seed[k];
        else if (v >= VR_S && v < VR_Z && fmu_state_of[v - VR_S] >= 0) vx[fmu_state_of[v - VR_S]] = seed[k];
        else if (v >= VR_Z && v < VR_D) vx[fmu_other[v - VR_Z]] = seed[k];
        else return WRONG_REFERENCE;
    }
    model_derivative(n->t, n->x, n->u, n->p, vx, vu, ddx, ds, da, dr, dl);
    for (k = 0; k < count; ++k) {
        const unsigned int v = unknowns[k];
        if (v >= VR_S && v < VR_Z) sensitivity[k] = ds[v - VR_S];
        else if (v >= VR_D && v < VR_A) sensitivity[k] = ddx[v - VR_D];
        else if (v >= VR_A && v < VR_R) sensitivity[k] = da[v - VR_A];
        else if (v >= VR_R && v < VR_L) sensitivity[k] = dr[v - VR_R];
        else if (v >= VR_L && v < VR_F) sensitivity[k] = dl[v - VR_L];
        else return WRONG_REFERENCE;
    }
    return MODEL_DONE;
}

int numbers_drifted(Numbers *n)
{
    int i;
    if (!FMU_PROJECT || numbers_update(n) != MODEL_DONE) return 0;
    for (i = 0; i < MODEL_RESIDUALS; ++i)
        if (fabs(n->f[i]) > tolerance) return 1;
    return 0;
}

/* Whether terminal event number i passed zero in its direction, between sides and events. */
static int passed(const Numbers *n, int i)
{
    const int up = n->sides[i] < 0 && n->events[i] >= 0, down = n->sides[i] > 0 && n->events[i] <= 0;
    return fmu_terminal[i] && ((up && fmu_direction[i] >= 0) || (down && fmu_direction[i] <= 0));
}

static int any_passed(const Numbers *n)
{
    int i;
    for (i = 0; i < FMU_USER_EVENTS; ++i)
        if (passed(n, i)) return 1;
    return 0;
}

int numbers_event(Numbers *n, int *changed)
{
    int status = numbers_update(n);
    *changed = 0;
    if (status == MODEL_DONE && any_passed(n)) n->ended = 1;
    if (status == MODEL_DONE && numbers_drifted(n)) {
        status = model_project(n->t, n->x, n->p);
        n->stale = 1;
        *changed = 1;
    }
    return status;
}

void numbers_settled(Numbers *n)
{
    if (numbers_update(n) == MODEL_DONE) memcpy(n->sides, n->events, sizeof n->sides);
}

/* The largest part of a step after which no terminal event has happened yet; leaves the state just after it. */
static int locate(Numbers *n, const double before[], double t, double h, double *length)
{
    double low = 0, high = h;
    int k, status = MODEL_DONE;
    for (k = 0; k < 60 && status == MODEL_DONE && high - low > 1e-14 * (fabs(t) + h); ++k) {
        const double middle = 0.5 * (low + high);
        memcpy(n->x, before, sizeof n->x);
        status = model_step(t, middle, n->x, n->u, n->p);
        model_events(t + middle, n->x, n->u, n->p, n->events);
        if (any_passed(n)) high = middle;
        else low = middle;
    }
    memcpy(n->x, before, sizeof n->x);
    *length = high;
    return status == MODEL_DONE ? model_step(t, high, n->x, n->u, n->p) : status;
}

int numbers_step(Numbers *n, double from, double length)
{
    double before[AT_LEAST_ONE(MODEL_STATES)];
    const long steps = length > n->step ? (long)ceil(length / n->step - 1e-6) : 1;
    const double h = length / (double)steps;
    long k;
    n->t = n->reached = from;
    n->stale = 1;
    numbers_settled(n);
    for (k = 0; k < steps && !n->ended && length > 0; ++k) {
        const double t = from + (double)k * h;
        int status;
        memcpy(before, n->x, sizeof before);
        status = model_step(t, h, n->x, n->u, n->p);
        if (status != MODEL_DONE) return status;
        n->reached = from + (double)(k + 1) * h;
        if (FMU_USER_EVENTS > 0) {
            model_events(n->reached, n->x, n->u, n->p, n->events);
            if (any_passed(n)) {
                double taken;
                status = locate(n, before, t, h, &taken);
                if (status != MODEL_DONE) return status;
                n->reached = t + taken;
                n->ended = 1;
            }
            memcpy(n->sides, n->events, sizeof n->sides);
        }
    }
    if (!n->ended) n->reached = from + length;
    n->t = n->reached;
    n->stale = 1;
    return MODEL_DONE;
}

const char *status_text(int status)
{
    switch (status) {
    case MODEL_DONE: return "done";
    case MODEL_NOT_FINITE: return "a number is infinite or not a number";
    case MODEL_SINGULAR: return "the equations are close to singular here; export the FMU with another form or start";
    case MODEL_NOT_REACHED: return "the start values cannot be put on the constraints; give others";
    default: return "this variable cannot be used in this way";
    }
}
