/* SPDX-License-Identifier: Apache-2.0 */
#include "pld_rare.h"

#include <float.h>
#include <math.h>

#define PLACES 512 /* of x: sets that are missed cost tightness alone */

/* Masses of "a loss above x occurs", P from below and Q from above. */
static void masses(const struct pld_problem *problem, double x, double *p, double *q)
{
    double p_none = 0.0, q_none = 0.0; /* logarithms */
    for (int64_t i = 0; i < problem->n; i++) {
        const struct pld_group *group = &problem->groups[i];
        if (!(group->copies_below > 0.0))
            continue;
        const struct pld_tails tails = pld_pair_tails(&group->below, x);
        const double error = tails.error + 4.0 * DBL_EPSILON;
        p_none += group->copies_below * log1p(-tails.p_high * (1.0 - error));
        q_none += group->copies_below * log1p(-fmin(tails.q_high * (1.0 + error) + 0x1p-1070, 1.0));
    }
    *p = -expm1(p_none) * (1.0 - 1e-12);
    *q = -expm1(q_none) * (1.0 + 1e-12);
}

double pld_rare_epsilon(const struct pld_problem *problem, double upper)
{
    double best = 0.0;
    if (!(upper > 0.0) || !isfinite(upper))
        return 0.0;
    for (int i = 0; i < PLACES; i++) {
        double p, q;
        masses(problem, upper * 1.25 * i / PLACES, &p, &q);
        if (p > problem->delta * (1.0 + 1e-12) && q > 0.0)
            best = fmax(best, log((p - problem->delta * (1.0 + 1e-12)) / q) - 1e-11);
    }
    return best;
}
