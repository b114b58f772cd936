/* SPDX-License-Identifier: Apache-2.0 */
/*
 * score.h - how much more likely an observation is with one data set than with its neighbour.
 *
 * The logarithm of the likelihood ratio: by Neyman and Pearson no other statistic tells the two apart better.
 * Densities are those of the declared noise, coordinate by coordinate. If the real noise differs, the
 * statistic is less powerful; the bound stays valid, as it does for any statistic.
 */
#ifndef DPF_AUDIT_SCORE_H
#define DPF_AUDIT_SCORE_H

#include "plan/plan.h"
#include "seen/laws.h"

/* A sign that only one of the data sets can give: messages or rows that the other does not have. */
#define SCORE_CERTAIN LAW_CERTAIN

/* One explanation of the observation: a training, or a replay, with one data set. */
struct explanation {
    const struct trace *canary_in; /* the canary takes part, or no draw of it is hidden */
    const struct trace *out;       /* it does not; NULL where no draw is hidden */
};

/*
 * ln of the density of what seen holds under explanations [0] and [1], the one less the other. It depends on
 * the observation and the two explanations, and not on which of them is true; otherwise the bound would not
 * be valid.
 */
double score_ratio(const struct plan *plan, const struct trace *seen, const struct explanation two[2]);

/* The same of one row of estimates of the released side alone, over all rounds. No hidden draws. */
double score_row(const struct plan *plan, const struct trace *seen, const struct trace *const two[2],
                 int side, int64_t row);

/* How far apart the exact values of two traces are, in noise: expected log-likelihood ratio. */
double score_distance(const struct plan *plan, const struct trace *first, const struct trace *second);

/* The event that states the noise of a block of an observation, or of its Gram row; NULL: none does. */
const dpf_event *score_event(const struct plan *plan, const struct observation *o, int32_t block, int gram);
/* The declared law of a number: row r of the observation, a column of the block. */
struct law score_law(const struct plan *plan, const struct observation *o, int64_t r, int32_t block,
                     int32_t column);
/* Whether all that was seen has exact values and noise of a law that is known. */
int score_has_laws(const struct plan *plan, const struct trace *trace);

#endif
