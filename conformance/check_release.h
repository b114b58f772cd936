/* SPDX-License-Identifier: Apache-2.0 */
/* check_release.h - a release that the kit has planned with a mechanism, for the rules that run it. */
#ifndef DPF_CONFORMANCE_CHECK_RELEASE_H
#define DPF_CONFORMANCE_CHECK_RELEASE_H

#include "conformance/check_scenario.h"

enum { ROWS = 130, WIDTH = 6, BLOCKS = 3, MAX_PARTIES = 16, DRAWS = CHECK_CASES(300, 75), MAX_EVENTS = 64 };
/* Of a run, for noise that is correlated between rounds: a unit is in rounds 0 and 4 at worst. */
#define GRAM_SHARE 0.2 /* of the budget, where a release has a Gram row */
enum { RUN_ROUNDS = 8, RUN_SEPARATION = 4, RUN_PARTICIPATIONS = 2 };

/* A release with everything that it points to. */
struct release {
    struct instance *instance;
    const struct random_root *key; /* of its noise */
    dpf_query query;
    dpf_sensitivity blocks[BLOCKS], gram[BLOCKS];
    dpf_release release;
    int shape;
    dpf_noise_plan plan;
    int parties;
    double *values; /* ROWS x WIDTH */
    int64_t *sums;
    int32_t contributors[ROWS]; /* every party sends every row */
};

/* Whether a block, by its bit (DPF_GRAM_BIT), is in the release; its place in a row, and what its plan says. */
int check_release_has(const struct release *r, int bit);
static inline const dpf_block *check_release_block(const struct release *r, int bit)
{
    return &r->query.blocks[bit % DPF_GRAM_BIT];
}
double check_release_scale(const struct release *r, int bit);
double check_release_variance(const struct release *r, int bit);
double check_release_grid(const struct release *r, int bit);
const dpf_norms *check_release_norms(const struct release *r, int bit);
/* "block 1", "block 1 of the Gram row" */
const char *check_release_name(int bit, char out[48]);
/* The events of the release, in memory of the rule; NULL if they are refused or impossible (mechanism.events). */
dpf_event *check_release_events(struct check *check, const struct release *r, int32_t *n);
/* Rows of a message that belong to items, and with the Gram row. */
static inline int64_t check_release_rows(const struct release *r)
{
    return ROWS - (r->query.has_gram ? 1 : 0);
}
/* The whole way for one draw: every party sends these rows, the sum is decoded. */
dpf_status check_release_estimate(const struct release *r, struct worker *worker, uint32_t draw,
                                  const double *values, int64_t first, int64_t count, double *out);

/* Calls look with a gradient, and with a quadratic of three blocks, with a Gram row if the mechanism plans it. */
void check_each_release(struct check *check, void (*look)(struct check *check, struct release *r));
/* Plans the release anew for so many parties that send in full. */
dpf_status check_release_parties(struct release *r, int parties, struct dpf_error *error);
/* The encoding of rows first .. first + count - 1 of values, and the estimate from sums. */
dpf_status check_release_encode(const struct release *r, struct worker *worker, uint32_t draw, uint32_t party,
                                const double *values, int64_t first, int64_t count, int64_t *out);
dpf_status check_release_decode(const struct release *r, struct worker *worker, uint32_t draw, int64_t *sums,
                                int64_t first, int64_t count, double *out);
/*
 * The estimates of a round of a run of `count` rows from first on, after all rounds before it; values are
 * sent in full by one party. Rows stand for draws, as each has noise of its own.
 */
struct check_rows {
    int64_t first, count;
    unsigned char *state; /* of each row; NULL: the mechanism has none */
    uint64_t bytes;
};
/* Runs have keys of their own: another one for the instance, until it gets its own back. NULL: no memory. */
struct random_root *check_release_rekey(const struct release *r, uint32_t run);
void check_release_unkey(const struct release *r, struct random_root *root);
int check_rows_open(const struct release *r, int64_t first, int64_t count, struct check_rows *out);
void check_rows_close(struct check_rows *rows);
dpf_status check_rows_round(const struct release *r, struct worker *worker, struct check_rows *rows,
                            uint32_t round, const double *values, double *out);
/* Whether noise is correlated between rounds. */
int check_is_correlated(const struct release *r);
/* mechanism.noise: of each block, number and row, the Gram row too. */
void check_rule_mechanism_noise(struct check *check);
/* mechanism.events: they cover what the release does, block by block. */
void check_rule_events(struct check *check);
/* mechanism.privacy: what events state, measured. */
void check_rule_privacy(struct check *check);
/* mechanism.correlation: noise between rounds is as stated. */
void check_rule_correlation(struct check *check);

#endif
