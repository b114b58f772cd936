/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pld_law.h - the tilted law of a composition, before it is computed: K(t) = ln E[e^{tX}], mean and variance
 * of the law under the tilt t (Esscher transform), and a window that holds nearly all of it.
 */
#ifndef PLD_LAW_H
#define PLD_LAW_H

#include "pld_grid.h"

/* Of a composition (of its finite part), or of one release. */
struct pld_law {
    double log_sum; /* K */
    double mean;
    double variance;
};

struct pld_window {
    double tilt;
    double low, high; /* losses */
    struct pld_law law;
    double log_right; /* bound on the tilted mass above high, and below low */
    double log_left;
};

/* Of one copy. */
struct pld_law pld_law_one(const struct pld_losses *losses, double tilt);
/* Of n groups with their copies. */
struct pld_law pld_law_all(const struct pld_losses *losses, int64_t n, double tilt);
/* The largest and the smallest loss of the composition. */
double pld_law_end(const struct pld_losses *losses, int64_t n, int upper);

/* The tilt that puts the mean at `at`. */
double pld_law_tilt_at(const struct pld_losses *losses, int64_t n, double at);
/* The tilt t for which Chernoff's epsilon (K(t) + log_inverse_delta) / t is least. */
double pld_law_tilt_for(const struct pld_losses *losses, int64_t n, double log_inverse_delta);

/* All but e^-log_tail of the tilted law on either side, by Chernoff. */
struct pld_window pld_law_window(const struct pld_losses *losses, int64_t n, double tilt, double log_tail);

#endif
