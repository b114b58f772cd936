/* SPDX-License-Identifier: Apache-2.0 */
/* sums_audit.h - for tests of recommenders that release sums: an attack by likelihood ratio against what is proved. */
#ifndef SUMS_AUDIT_H
#define SUMS_AUDIT_H

#include "kit/plain_random.h"

#include "audit/bounds.h"

#define AUDIT_TRIALS 50000 /* of each of two data sets */
#define AUDIT_MULTIPLIER 1.5

/* epsilon of a Gaussian mechanism of this multiplier at delta (Balle and Wang 2018, Theorem 8). */
static inline double gaussian_epsilon(double z, double delta)
{
    double lo = 0, hi = 50;
    for (int k = 0; k < 100; k++) {
        const double e = (lo + hi) / 2, a = erfc(-(0.5 / z - e * z) / sqrt(2.0)) / 2,
                     b = erfc((0.5 / z + e * z) / sqrt(2.0)) / 2;
        *(a - exp(e) * b > delta ? &lo : &hi) = e;
    }
    return hi;
}

/* What an attack found at AUDIT_MULTIPLIER: at least half of the epsilon that is proved, and no more than it. */
static inline void audit_expect(int64_t hits, int64_t alarms)
{
    const double delta = 1e-5, proved = gaussian_epsilon(AUDIT_MULTIPLIER, delta);
    const double found = bounds_epsilon(hits, AUDIT_TRIALS, alarms, AUDIT_TRIALS, delta, 0.05);
    print_message("proved %.3f, refuted below %.3f (%lld hits, %lld false alarms)\n", proved, found,
                  (long long)hits, (long long)alarms);
    if (!(found >= proved / 2))
        fail_msg("the attack found %g only, less than half of %g", found, proved);
    if (!(found <= proved))
        fail_msg("the attack found %g, but %g is proved", found, proved);
}

/* Streams of its own for each test. */
static inline int streams_start(void **state)
{
    (void)state;
    plain_random_start(3);
    return 0;
}

#define AUDIT_TEST(NAME) TEST_WITH(NAME, streams_start, plain_random_end)

#endif
