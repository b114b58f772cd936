/* SPDX-License-Identifier: Apache-2.0 */
/*
 * als_fixture.h - for the tests of the ALS losses: random records, and naive float64 sums to compare with.
 */
#ifndef DPF_ALS_FIXTURE_H
#define DPF_ALS_FIXTURE_H

#include "kit/plain_host.h"

#include "dpframe/role/loss.h"

#define CHECK_OTHERS 400
#define CHECK_GROUPS 7

double check_uniform(void);

/* Records of seven rows, some with values and weights, and the other side they point to. */
struct check_data {
    dpf_groups groups;
    dpf_factors self, other;
    float *factors;
    int32_t rows[CHECK_GROUPS];
    int64_t offsets[CHECK_GROUPS + 1];
    int32_t *others;
    float *values, *weights;
};

void check_data_new(struct check_data *c, int32_t columns, int with_values, int with_weights);

void check_data_free(struct check_data *c);

/* The coefficients of one record: a w, t and w of als_records.h, in the loss's own formula. */
typedef void (*check_formula)(const dpf_query *query, const dpf_groups *groups, int64_t record, double *aw,
                              double *t, double *w);

int64_t check_position(const dpf_block *a, int64_t i, int64_t j);

/* All blocks of a group, records from the last to the first; magnitude gets the sums of absolute values. */
void check_naive(const dpf_query *q, const dpf_groups *groups, int64_t g, const double *grid,
                 check_formula formula, double *out, double *magnitude);

dpf_side_info check_info(int32_t columns, int32_t first, int32_t dimension, int32_t bias, uint32_t layout,
                         int released);

/* Float64 sums: near the naive ones without a grid, equal to them with one. */
void check_accumulate(struct plain_host *host, const dpf_query *q, const struct check_data *c,
                      check_formula formula);

/* Integer sums of scaled records, exactly, on a fine grid and on one where halves are frequent. */
void check_scaled(struct plain_host *host, const dpf_query *q, const struct check_data *c,
                  check_formula formula);

/* Float32 sums: near the naive ones, and the same bytes one group at a time. */
void check_local(struct plain_host *host, const dpf_query *q, const struct check_data *c,
                 check_formula formula);

/* Products: near A x with A from the float64 sums in layout FULL. */
void check_apply(struct plain_host *host, const dpf_query *operator_query, const dpf_query *full,
                 const struct check_data *c, check_formula formula);

#endif
