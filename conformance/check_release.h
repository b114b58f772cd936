/* SPDX-License-Identifier: Apache-2.0 */
/* check_release.h - a release that the kit has planned with a mechanism, for the rules that run it. */
#ifndef DPF_CONFORMANCE_CHECK_RELEASE_H
#define DPF_CONFORMANCE_CHECK_RELEASE_H

#include "conformance/check_scenario.h"

enum { ROWS = 130, WIDTH = 5, MAX_PARTIES = 16, DRAWS = 300, STAT_ROWS = 40, MAX_EVENTS = 64 };

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
/* mechanism.privacy: what events state, measured. */
void check_rule_privacy(struct check *check);

#endif
