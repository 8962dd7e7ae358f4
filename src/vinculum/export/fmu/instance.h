/* One instance of the model, the same for all versions of FMI. */

#ifndef VINCULUM_INSTANCE_H
#define VINCULUM_INSTANCE_H

#include "model.h"

#define AT_LEAST_ONE(n) ((n) > 0 ? (n) : 1)

enum { STARTING, RUNNING };

/* Everything that an FMU state saves. */
typedef struct {
    int phase; /* STARTING: the state follows from the start values */
    int exchange; /* whether the importer integrates */
    int stale; /* whether the results below belong to other arguments */
    int ended; /* whether a terminal event happened */
    double t, step, reached;
    double x[AT_LEAST_ONE(MODEL_STATES)], u[AT_LEAST_ONE(MODEL_INPUTS)], p[AT_LEAST_ONE(MODEL_PARAMETERS)];
    double start[AT_LEAST_ONE(MODEL_SYMBOLS)]; /* start values of coordinates and velocities, as they were set */
    double s[AT_LEAST_ONE(MODEL_SYMBOLS)], a[AT_LEAST_ONE(MODEL_ACCELERATIONS)], r[AT_LEAST_ONE(MODEL_REACTIONS)];
    double l[AT_LEAST_ONE(MODEL_LAWS)], f[AT_LEAST_ONE(MODEL_RESIDUALS)], e[1], dx[AT_LEAST_ONE(MODEL_STATES)];
    double events[AT_LEAST_ONE(MODEL_EVENTS)], sides[AT_LEAST_ONE(MODEL_EVENTS)];
} Numbers;

/* All functions return MODEL_DONE (0) or why they could not; WRONG_REFERENCE for a variable that cannot be used so. */
#define WRONG_REFERENCE 10

void numbers_reset(Numbers *n, int exchange);
int numbers_update(Numbers *n);
int numbers_initialize(Numbers *n);
int numbers_get(Numbers *n, unsigned int reference, double *value);
int numbers_set(Numbers *n, unsigned int reference, double value);
int numbers_derivative(Numbers *n, const unsigned int unknowns[], unsigned long count, const unsigned int knowns[],
                       unsigned long given, const double seed[], double sensitivity[]);
int numbers_drifted(Numbers *n); /* whether the constraints should be projected */
int numbers_event(Numbers *n, int *changed); /* at an event: projects, looks for terminal events */
void numbers_settled(Numbers *n); /* after events: remembers the sides of the event functions */
int numbers_step(Numbers *n, double from, double length); /* co-simulation; sets reached and ended */
const char *status_text(int status);

#endif
