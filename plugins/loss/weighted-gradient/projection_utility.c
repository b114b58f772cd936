/* SPDX-License-Identifier: Apache-2.0 */
#include "projection_utility.h"

#include <math.h>

void projection_bounds(const struct projection_setting *s, struct projection_bounds *out)
{
    const double n = s->users * s->beta;
    const double delta1 = 4 * s->clip * (1 + s->kappa) * s->bound, square = delta1 * delta1;
    const double largest = isnan(s->lipschitz) ? n * s->m * square / 4 : s->lipschitz * s->lipschitz;
    const double mechanism = s->trials * s->theta * s->theta;
    *out = (struct projection_bounds){
        .delta1 = delta1,
        .gradient = n * s->m * square / 4,
        .projection = 2 * s->m / s->p * (n * s->m * square / 4),
        .projection_derived = s->p < s->m ? (s->m - 1) / s->p * (n * s->m * square / 4) : 0,
        .noise = s->m * s->k * square / (4 * n * mechanism),
        .noise_derived = n * s->m * s->k * square / (4 * s->padded * mechanism),
        .smoothness = s->mu + s->k * s->bound * s->bound * (1 + s->kappa),
        .smoothness_derived = 2 * (s->mu + n * (1 + s->kappa) * s->bound * s->bound),
    };
    out->convergence = out->smoothness *
                       (s->m * s->k * square * sqrt(s->alpha) / sqrt(s->beta * s->epsilon) + largest) /
                       log(s->rounds);
}
