/* SPDX-License-Identifier: Apache-2.0 */
/* group_quantiles.h - quantiles of many numbers, of each of a few groups, in time linear in how many there
 * are. */
#ifndef DPF_RUN_GROUP_QUANTILES_H
#define DPF_RUN_GROUP_QUANTILES_H

#include <stdint.h>

#include "base/error.h"

#define MOST_SETS 513 /* of values: all, and the groups of two kinds */
#define MOST_SHARES 8

struct quantile_question {
    const double *values; /* not NaN; may be infinite */
    int64_t n;
    const uint8_t *groups[2]; /* of each value, of two kinds; NULL: none */
    int n_groups[2];
    const double *shares; /* in [0, 1] */
    int n_shares;
};

/*
 * Set 0 are all values, then come the groups of the first kind, then those of the second. sizes[g]: values of
 * set g. out[g * n_shares + s]: the least value of the set that the share s of it does not exceed, a number
 * that occurs; undefined for an empty set.
 */
int group_quantiles(const struct quantile_question *question, int64_t *sizes, double *out,
                    struct dpf_error *error);

#endif
