/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_tally.h - statistics of noise that is declared to have mean 0 and variance 1, and to be fresh.
 *
 * Numbers are noise over its declared standard deviation; NaN: none is declared, and nothing is counted.
 */
#ifndef DPF_AUDIT_NOISE_TALLY_H
#define DPF_AUDIT_NOISE_TALLY_H

#include <stdint.h>

enum noise_aspect { NOISE_VARIANCE, NOISE_MEAN, NOISE_ROUNDS, NOISE_ROWS, NOISE_COLUMNS, NOISE_ASPECTS };

struct noise_tally {
    double n, sum, squares;
    double fourth; /* moment of the declared law, which sets the spread of squares */
    double pairs[NOISE_ASPECTS], products[NOISE_ASPECTS];
};

/* Of one term. value: the variance over the declared one, the mean over the declared deviation, or a
   correlation; deviations: how many standard deviations it is from 1 (below) or from 0, were the noise as
   declared. */
struct noise_finding {
    int side, term;
    enum noise_aspect aspect;
    int64_t n;
    double value, deviations;
    int failed;
};

/* A sound mechanism is beyond this once in a thousand million tests. */
#define NOISE_ALARM 6.0

void noise_tally_number(struct noise_tally *tally, double x);
/* A correlation: the same number elsewhere. */
void noise_tally_pair(struct noise_tally *tally, enum noise_aspect aspect, double x, double y);
/* The result for one aspect; n is 0 if there were too few numbers. */
struct noise_finding noise_tally_find(const struct noise_tally *tally, enum noise_aspect aspect);
const char *noise_aspect_name(enum noise_aspect aspect);

#endif
