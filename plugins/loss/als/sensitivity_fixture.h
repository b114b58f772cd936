/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sensitivity_fixture.h - stated sensitivities against all neighbouring pairs of tiny data sets.
 *
 * A query is a sum over records, so what stays the same cancels: a data set is one user's records, a
 * state. All states that respect the bounds are summed by the loss itself, and the largest difference in each
 * norm is compared with the statement: never above, and equal where the statement is tight.
 */
#ifndef DPF_SENSITIVITY_FIXTURE_H
#define DPF_SENSITIVITY_FIXTURE_H

#include "als_fixture.h"

#define STATES_MOST 4096
#define STATE_ROWS 4
#define STATE_WIDTH 64

struct states {
    struct plain_host *host;
    const dpf_query *query;
    const dpf_factors *other;
    double offset;
    int64_t n;
    int64_t n_records[STATES_MOST];
    int32_t row[STATES_MOST][2], others[STATES_MOST][2]; /* of up to two records */
    float values[STATES_MOST][2];
    double (*blocks)[STATE_ROWS * STATE_WIDTH]; /* of each state */
};

void states_new(struct states *s, struct plain_host *host, const dpf_query *query, const dpf_factors *other,
                double offset);

void states_free(struct states *s);

/* Norms of the statement that must be attained, or-ed. */
#define TIGHT_L1 1
#define TIGHT_L2 2
#define TIGHT_LINF 4
#define TIGHT_ALL 7

void check_statement(const struct states *s, const dpf_sensitivity *stated, int32_t block, int32_t unit,
                     int32_t adjacency, int tight);

void states_unknown(dpf_sensitivity *blocks);

/* Rows of the other side: 2 x 16 points on the unit circle (each twice), or the corners of the box. */
int64_t states_vectors(int box, float (*y)[16]);

/* All users of at most two records with values lo or hi. users_solved: all records lie in row 0. */
void states_enumerate(struct states *s, int64_t n_vectors, int users_solved, const float *values,
                      int n_values);

/* A loss with what it states for rows of the box or the ball, and all states of a party with two records. */
struct states_case {
    struct plain_host host;
    struct states states;
    dpf_factors other;
    dpf_query query;
    dpf_sensitivity blocks[DPF_MAX_BLOCKS], gram[DPF_MAX_BLOCKS];
};

void states_open(struct states_case *c, const char *id, const char *settings, int box, int users_solved,
                 uint32_t layout, const float values[2], int n_values, double offset);

void states_close(struct states_case *c);

#endif
