/* SPDX-License-Identifier: Apache-2.0 */
/* ball.h - what the files of the solver ball share. */
#ifndef BALL_H
#define BALL_H

#include "dpframe/role/solver.h"

struct ball {
    const dpf_host *host;
    double radius;
};

/* dpf_solver.utility: DPIMF's bounds on what perturbed objectives cost (objective_utility.h). */
dpf_status ball_utility(void *self, const dpf_utility_setup *setup, dpf_utility *report);

#endif
