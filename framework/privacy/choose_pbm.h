/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose_pbm.h - theta and q of the Poisson binomial mechanism for a target, by an exact accountant.
 *
 * The order of choice is that of DPMF-RP, section 4.3.1: the fewest bits are those of q = 1, so theta is the
 * largest that meets the target with q = 1; where even 1/4, the largest there is, meets it, q grows. In place
 * of the paper's formula with its unknown constant C_0, each pair is judged by composing the whole ledger.
 */
#ifndef DPF_PRIVACY_CHOOSE_PBM_H
#define DPF_PRIVACY_CHOOSE_PBM_H

#include "privacy/guarantee.h"

#define PBM_MOST_THETA 0.25
#define PBM_MOST_TRIALS 65536

struct pbm_choice {
    double theta; /* four digits, rounded to the private side; 0: no theta meets the target */
    int64_t trials;
    double epsilon; /* of the whole run, at most the target */
};

/* The first release of the ledger that is the Poisson binomial mechanism's, or NULL. */
const dpf_event *pbm_event(const struct ledger *ledger);

/*
 * All releases of that mechanism get the same theta and q; the others stay as they are. guarantee: unit,
 * adjacency, observer and delta of the question. A ledger without such a release is DPF_FAULT_CONFIG, and
 * so is one that the accountant refuses.
 */
int pbm_choose(const struct guarantee *guarantee, struct instance *accountant, const struct ledger *ledger,
               int64_t rounds, double target, struct pbm_choice *out, struct dpf_error *error);

#endif
