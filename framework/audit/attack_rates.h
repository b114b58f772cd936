/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack_rates.h - how well an attacker tells two kinds of trainings apart, and the most that a proof allows.
 *
 * A decision has the score of one training about one target, and the true form of the target. Rates are over
 * all decisions. All targets share the thresholds, since the score is a likelihood ratio.
 */
#ifndef DPF_AUDIT_ATTACK_RATES_H
#define DPF_AUDIT_ATTACK_RATES_H

#include <stdint.h>

#include "base/error.h"
#include "base/random.h"

#define ATTACK_N_RATES 2
extern const double attack_false_positives[ATTACK_N_RATES]; /* 1 %, 0.1 % */

struct attack_estimate {
    double value, low, high;
};

struct attack_rates {
    struct attack_estimate auc;
    struct attack_estimate true_positives[ATTACK_N_RATES]; /* at most so many false ones */
};

/*
 * scores[training * targets + target]; positive: the same with 1 where the target was in. A score that says
 * nothing counts half in the AUC, and is not among the positives at a rate that it would exceed.
 *
 * The intervals are by the bootstrap of both trainings and targets, each with a Poisson(1) number of copies
 * (Owen, The pigeonhole bootstrap, 2007): decisions of one training share its noise, those about one target
 * its records. They are somewhat too wide, never too narrow by this. root keys the copies.
 */
int attack_rates_find(const double *scores, const uint8_t *positive, int64_t trainings, int64_t targets,
                      double confidence, const struct random_root *root, struct attack_rates *out,
                      struct dpf_error *error);

/*
 * What (epsilon, delta) leaves: TPR <= e^epsilon FPR + delta, and by exchanging the two
 * TPR <= 1 - e^-epsilon (1 - delta - FPR) (Kairouz, Oh, Viswanath 2015, Theorem 2.1). As each target's rates
 * obey both, so do their means.
 */
double attack_bound_tpr(double fpr, double epsilon, double delta);
/* The area under that curve. */
double attack_bound_auc(double epsilon, double delta);

#endif
