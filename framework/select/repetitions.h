/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repetitions.h - the law of the number of runs of a private selection, and exact draws from it.
 *
 * The number must neither depend on the data nor be visible; dpframe/selection.h has the theorems. The draw is
 * exact: every decision compares an integer with a bound, or random digits with those of a double.
 */
#ifndef DPF_SELECT_REPETITIONS_H
#define DPF_SELECT_REPETITIONS_H

#include "base/random.h"
#include "dpframe/selection.h"

#define REPETITIONS_LEAST_GAMMA 1e-6 /* so that a draw takes well under a second */
#define REPETITIONS_MOST_ETA 100.0
#define REPETITIONS_MOST_MEAN 10000.0

struct repetitions {
    int32_t law;       /* DPF_REPETITIONS_* */
    double eta, gamma; /* of the truncated negative binomial law */
    double mean;
};

/* The truncated negative binomial law with that eta whose mean is nearest. -1: no gamma in range has it. */
int repetitions_negative_binomial(double eta, double mean, struct repetitions *out);
int repetitions_poisson(double mean, struct repetitions *out);

/* From 1 for the negative binomial, from 0 for Poisson. */
int64_t repetitions_draw(const struct repetitions *law, dpf_cursor *cursor);
/* Pr[K = k]; for tests and for whoever wants to know how long it may take. */
double repetitions_probability(const struct repetitions *law, int64_t k);
/* The event that opens a selection among so many candidates. */
dpf_event repetitions_event(const struct repetitions *law, int64_t candidates);

#endif
