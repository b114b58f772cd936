/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_tally.h - statistics of noise that is declared to have mean 0 and variance 1, and to be fresh.
 *
 * Numbers are noise over its declared standard deviation; NaN: none is declared, and nothing is counted.
 */
#ifndef DPF_AUDIT_NOISE_TALLY_H
#define DPF_AUDIT_NOISE_TALLY_H

#include <stdint.h>

enum noise_aspect {
    NOISE_VARIANCE,
    NOISE_MEAN,
    NOISE_ROUNDS,  /* the same number a round before */
    NOISE_ROWS,    /* and in the next row */
    NOISE_COLUMNS, /* the next number of the row, and the one at the same place of the block before */
    NOISE_USERS,   /* the same number of another user's message */
    NOISE_ASPECTS
};

struct noise_tally {
    double n, sum, squares;
    double fourth; /* moment of the declared law, which sets the spread of squares */
    double pairs[NOISE_ASPECTS], products[NOISE_ASPECTS];
};

/* Of one block of a term. value: the variance over the declared one, the mean over the declared deviation, or a
   correlation; deviations: how many standard deviations it is from 1 (below) or from 0, were the noise as
   declared. */
struct noise_finding {
    int side, term, block; /* block: DPF_GRAM_BIT and above are those of the Gram row */
    enum noise_aspect aspect;
    int64_t n;
    double value, deviations;
    int failed;
};

/*
 * How often an audit of sound noise says that it is not as declared: at most this, over all of its tests together.
 * Each of m tests may do so with the m-th part of it (Bonferroni), so that their number does not matter.
 */
#define NOISE_FALSE_ALARMS 1e-6
/* Statistics of fewer numbers have tails that a normal law does not bound, and say nothing. */
#define NOISE_FEWEST_NUMBERS 100
#define NOISE_FEWEST_PAIRS 1000

/* Standard deviations beyond which one of m tests fails. */
double noise_alarm(int64_t m);

void noise_tally_number(struct noise_tally *tally, double x);
/* A correlation: the same number elsewhere. */
void noise_tally_pair(struct noise_tally *tally, enum noise_aspect aspect, double x, double y);
/* The result for one aspect, not judged yet; n is 0 if there were too few numbers. */
struct noise_finding noise_tally_find(const struct noise_tally *tally, enum noise_aspect aspect);
/* Whether it is beyond the alarm; a variance only below: more noise than is declared breaks no promise. */
int noise_fails(const struct noise_finding *finding, double alarm);
const char *noise_aspect_name(enum noise_aspect aspect);

#endif
