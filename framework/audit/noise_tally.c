/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/noise_tally.h"

#include <math.h>

const char *noise_aspect_name(enum noise_aspect aspect)
{
    static const char *const names[NOISE_ASPECTS] = {"variance over the declared one",
                                                     "mean over the declared deviation",
                                                     "correlation with the round before",
                                                     "correlation with the next row",
                                                     "correlation with the next column or block",
                                                     "correlation with another user"};
    return names[aspect];
}

void noise_tally_number(struct noise_tally *tally, double x)
{
    if (isnan(x))
        return;
    tally->n += 1;
    tally->sum += x;
    tally->squares += x * x;
}

void noise_tally_pair(struct noise_tally *tally, enum noise_aspect aspect, double x, double y)
{
    if (isnan(x) || isnan(y))
        return;
    tally->pairs[aspect] += 1;
    tally->products[aspect] += x * y;
}

struct noise_finding noise_tally_find(const struct noise_tally *tally, enum noise_aspect aspect)
{
    const int own = aspect == NOISE_VARIANCE || aspect == NOISE_MEAN;
    const double n = own ? tally->n : tally->pairs[aspect];
    const int enough = n >= (own ? NOISE_FEWEST_NUMBERS : NOISE_FEWEST_PAIRS);
    struct noise_finding f = {.aspect = aspect, .n = enough ? (int64_t)n : 0};
    if (!enough)
        return f;
    f.value = (aspect == NOISE_VARIANCE ? tally->squares
               : aspect == NOISE_MEAN   ? tally->sum
                                        : tally->products[aspect]) /
              n;
    f.deviations = aspect == NOISE_VARIANCE ? (f.value - 1) * sqrt(n / fmax(tally->fourth - 1, 1e-3))
                                            : f.value * sqrt(n);
    return f;
}

int noise_fails(const struct noise_finding *finding, double alarm)
{
    return finding->aspect == NOISE_VARIANCE ? finding->deviations < -alarm
                                             : fabs(finding->deviations) > alarm;
}

double noise_alarm(int64_t m)
{
    const double rate = NOISE_FALSE_ALARMS / (double)(m > 0 ? m : 1);
    double lo = 0, hi = 40;
    for (int i = 0; i < 100; i++) {
        const double z = (lo + hi) / 2;
        if (erfc(z / sqrt(2)) > rate)
            lo = z;
        else
            hi = z;
    }
    return hi;
}
