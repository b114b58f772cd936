/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_out.h - a lower bound of epsilon from scores of trials with two neighbouring data sets.
 *
 * One part of the trials chooses a rule "the score is above (or at most) a threshold"; the other part tests it.
 * A bound from trials that chose their own threshold would not be valid.
 */
#ifndef DPF_AUDIT_HELD_OUT_H
#define DPF_AUDIT_HELD_OUT_H

#include <stdint.h>

/* Scores of trials: [0] with the first data set, [1] with the other, n of each. */
struct held_out_scores {
    const double *of[2];
    int64_t n;
};

struct held_out_rule {
    double threshold;
    int above;   /* 1: score > threshold; 0: score <= threshold */
    int favours; /* which data set the event speaks for */
};

struct held_out_verdict {
    struct held_out_rule rule;
    int64_t hits[2]; /* trials in the event, with the data set that it speaks for, and with the other */
    int64_t n;       /* of each */
    double epsilon;  /* lower bound at delta */
};

/* The rule with the largest bound on these scores. */
struct held_out_rule held_out_choose(const struct held_out_scores *chosen_on, double delta, double alpha);
/* 1 - alpha is the confidence of the bound. */
struct held_out_verdict held_out_judge(const struct held_out_rule *rule,
                                       const struct held_out_scores *judged_on, double delta, double alpha);

#endif
