/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_values.h - what each user contributes to the metrics of a test part, so that two models can be compared user by
 * user (paired_users.h).
 *
 * A metric is the sum of its values over users, divided by the sum of its weights: of NDCG a user's own value and 1, of
 * RMSE the user's squared errors and the number of test records, and then the square root. A user who is left out of a
 * metric has the weight 0. Metrics of all lists together (coverage, gini, f1-of-means) have no such form and are not
 * among them. The numbers are exact results of single persons: private.
 */
#ifndef DPF_EVALUATE_USER_VALUES_H
#define DPF_EVALUATE_USER_VALUES_H

#include <stdint.h>

#include "base/error.h"

struct user_metric {
    char name[48];
    int is_root; /* the metric is the square root of the quotient */
};

struct user_values {
    int64_t n_users;
    int n_metrics;
    struct user_metric *metrics;
    double *rows; /* n_users rows of user_values_width: value and weight of each metric, then the last two */
};
/* Behind the metrics: training records, and a number in [0, 2^53) that follows from the user's test records. */
enum { USER_RECORDS, USER_TEST_PART, USER_EXTRAS };

int64_t user_values_width(const struct user_values *values);
double *user_values_row(const struct user_values *values, int64_t user);
/* The index of a metric, or -1. */
int user_values_find(const struct user_values *values, const char *name);
/* A metric from a sum of values and a sum of weights; NaN without weight. */
double user_metric_value(const struct user_metric *metric, double value, double weight);
/* NULL is nothing. */
void user_values_free(struct user_values *values);

#endif
