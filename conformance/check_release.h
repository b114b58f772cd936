/* SPDX-License-Identifier: Apache-2.0 */
/* check_release.h - a release that the kit has planned with a mechanism, for the rules that run it. */
#ifndef DPF_CONFORMANCE_CHECK_RELEASE_H
#define DPF_CONFORMANCE_CHECK_RELEASE_H

#include "conformance/check_scenario.h"

enum { ROWS = 130, WIDTH = 5, MAX_PARTIES = 16, DRAWS = 300, STAT_ROWS = 40, MAX_EVENTS = 64 };
/* Of a run, for noise that is correlated between rounds: a unit is in rounds 0 and 4 at worst. */
enum { RUN_ROUNDS = 8, RUN_SEPARATION = 4, RUN_PARTICIPATIONS = 2 };

/* A release with everything that it points to. */
struct release {
    struct instance *instance;
    dpf_query query;
    dpf_sensitivity blocks[2];
    dpf_release release;
    int shape;
    dpf_noise_plan plan;
    int parties;
    double *values; /* ROWS x WIDTH */
    int64_t *sums;
    int32_t contributors[ROWS]; /* every party sends every row */
};

/* Calls look with both shapes, as far as the mechanism plans them. */
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
int check_rows_open(const struct release *r, int64_t first, int64_t count, struct check_rows *out);
void check_rows_close(struct check_rows *rows);
dpf_status check_rows_round(const struct release *r, struct worker *worker, struct check_rows *rows,
                            uint32_t round, const double *values, double *out);
/* Whether noise is correlated between rounds. */
int check_is_correlated(const struct release *r);
/* mechanism.privacy: what events state, measured. */
void check_rule_privacy(struct check *check);
/* mechanism.correlation: noise between rounds is as stated. */
void check_rule_correlation(struct check *check);

#endif
