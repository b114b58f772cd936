/* SPDX-License-Identifier: Apache-2.0 */
#include "objective_utility.h"

#include <math.h>

/* A sensitivity under its share of epsilon; nothing to hide needs none. */
static double under_share(double sensitivity, double share)
{
    return sensitivity == 0 ? 0 : sensitivity / share;
}

static void publish(const struct objective_setting *s, double out[OBJECTIVE_SCHEMES])
{
    const double d = (double)s->d, n = s->radius, rest = 1 - s->alpha0;
    const double common = sqrt(2) * s->largest * d * n / s->epsilon;
    const double first = under_share(4 * sqrt(d), s->beta[1]);
    out[OBJECTIVE_STR] = common * (n + 2 / sqrt(d)) * (d + 1) * (d + 1);
    out[OBJECTIVE_COM] = common * (under_share(n * d * d * rest, s->beta[2]) + first);
    out[OBJECTIVE_SYM] = common * (under_share(n * d * (d + 1) * rest / 2, s->beta[2]) + first);
    out[OBJECTIVE_OPT] = common * 4 * sqrt(d);
}

/* From the scales of the noise on A, b and n. */
static double derive(const struct objective_setting *s, double quadratic, double linear, double count)
{
    const double d = (double)s->d, n = s->radius;
    return sqrt(2) * d * n * n * quadratic + sqrt(2 * d) * n * linear + count;
}

static void derive_all(const struct objective_setting *s, double out[OBJECTIVE_SCHEMES])
{
    const double cd = s->largest * (double)s->d, rest = 1 - s->alpha0, epsilon = s->epsilon;
    const double joint = (cd + 1) * (cd + 1) / epsilon; /* Eq. 9: 2 c d + (c d)^2 + 1 */
    const double linear = under_share(2 * cd, s->beta[1] * epsilon);
    const double count = under_share(rest, s->beta[3] * epsilon);
    const double triangle = cd * (cd + s->largest) / 2;
    out[OBJECTIVE_STR] = derive(s, joint, joint, joint);
    out[OBJECTIVE_COM] = derive(s, under_share(rest * cd * cd, s->beta[2] * epsilon), linear, count);
    out[OBJECTIVE_SYM] = derive(s, under_share(rest * triangle, s->beta[2] * epsilon), linear, count);
    out[OBJECTIVE_OPT] = derive(s, 0, 2 * cd / epsilon, 0);
}

struct objective_change objective_change(const struct objective_setting *s, double records)
{
    const double reach = (double)s->d * s->largest * s->largest * s->radius * s->radius;
    return (struct objective_change){s->alpha0 * records * (1 + 2 * reach),
                                     s->alpha0 * records * (1 + reach)};
}

void objective_bounds(const struct objective_setting *setting, struct objective_bounds *out)
{
    const double d = (double)setting->d, beta1 = setting->beta[1];
    const int wide = setting->alpha0 >= 1 - setting->beta[2];
    publish(setting, out->published);
    derive_all(setting, out->derived);
    out->claimed = wide && d >= sqrt(1 / beta1) - 1;
    out->separated = wide && beta1 * (d + 1) * (d + 1) >= 2 * d;
}
