/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paired_users.h - compares two models on the same test records, user by user.
 *
 * The test asks whether the difference of a metric is more than chance among these users: if both models were alike, each
 * user's two results could change places (sign flips; all of them to 16 users, 9,999 draws to 20,000, above that the
 * normal law of their sum). The interval is that of the bootstrap over users, with the same weights on both sides; above
 * 20,000 users that of the normal law. Both know the models as they are: one draw of noise and of initial values each.
 */
#ifndef DPF_EVALUATE_PAIRED_USERS_H
#define DPF_EVALUATE_PAIRED_USERS_H

#include "base/random.h"
#include "evaluate/user_values.h"

struct paired_users {
    int64_t users, wins, losses, ties; /* of a against b, among users with test records; wins: a is better */
    double a, b;                       /* the metric of each */
    double difference, low, high;      /* a - b, with its 95 % interval */
    double p;                          /* two-sided */
    double visible;                    /* a difference that such a test would find with probability .8 */
    const char *why_not;               /* why there can be no p; NULL: there is one, where it was asked for */
};

/*
 * Metric ma of a against metric mb of b. chosen: the users that take part, as pairs of their rows in a and in b; NULL:
 * all, which are the same on both sides. with_p: a test is asked for, not just the
 * interval, which is then that of the normal law. The draws follow from
 * seeded. Fails only for want of memory.
 */
int paired_users_compare(const struct user_values *a, const struct user_values *b, int ma, int mb,
                         const int64_t (*chosen)[2], int64_t n, int smaller_is_better, int with_p,
                         const struct random_root *seeded, struct paired_users *out, struct dpf_error *error);

#define PAIRED_BANDS 4 /* quarters of the users, by their training records */

struct paired_band {
    double least, most; /* training records of its users */
    struct paired_users paired;
};

/*
 * The same comparison in each quarter of the users who have the metric, by their training records in a; users with equally
 * many stay together, so that there may be fewer. No test: four more of them would have to be corrected for.
 */
int paired_users_bands(const struct user_values *a, const struct user_values *b, int ma, int mb,
                       const int64_t (*chosen)[2], int64_t n, int smaller_is_better,
                       const struct random_root *seeded, struct paired_band out[PAIRED_BANDS], int *n_bands,
                       struct dpf_error *error);

#endif
