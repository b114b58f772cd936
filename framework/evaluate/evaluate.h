/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluate.h - rating and ranking metrics of a model.
 *
 * docs/metrics.md states the conventions as formulas, evaluate_convention() in one line each. Ties count by
 * the expectation over their orders, never by index, so a constant model scores like a random order. A NaN
 * score is an error.
 */
#ifndef DPF_EVALUATE_EVALUATE_H
#define DPF_EVALUATE_EVALUATE_H

#include <stdint.h>

#include "base/error.h"
#include "base/pool.h"
#include "base/random.h"
#include "config/config.h"
#include "dataset/dataset.h"
#include "dpframe/privacy.h"
#include "score/scorer.h"

/* One result. */
struct metric {
    char name[48];          /* "rmse", "hr@10", ... */
    double value;           /* NaN: not applicable (no user had a positive) */
    double low, high;       /* confidence interval, by the bootstrap over users; NaN: none */
    double noise;           /* standard deviation of the noise in a released value; NaN: there is none */
    int64_t n;              /* users or ratings averaged over */
    const char *convention; /* one line */
};
struct user_values; /* user_values.h */
struct metrics {
    struct metric *items;
    int64_t n;
    int64_t capacity;
    struct user_values *by_user; /* of the test part; NULL: of the training part, or released */
};
void metrics_free(struct metrics *metrics);
/* The value by name, or NaN. */
double metrics_find(const struct metrics *metrics, const char *name);

const dpf_param *evaluate_params(int64_t *n); /* section [evaluate] */
/* Whether [evaluate] asks for the metrics of the training part too. */
int evaluate_on_train(const struct config_values *options);
/* The convention of a metric in full ranking, by name with or without @k; NULL if there is none. */
const char *evaluate_convention(const char *name);
/* 1 if the configuration names a rating metric; 0 if the choice depends on the kind of data. */
int evaluate_rates(const struct config_values *options);
/* The same of a ranking metric. */
int evaluate_ranks(const struct config_values *options);
/* 1 if positives are ranked among all items, not among a sample alone. */
int evaluate_ranks_all(const struct config_values *options);
/* Checks what bounds alone cannot, before any data is read. smallest
   and largest: the declared ends of values, 1 where all are 1; infinite where they are not declared. */
int evaluate_check(const struct config_values *options, int implicit, double smallest, double largest,
                   struct dpf_error *error);
/* Whether [evaluate] names metrics. */
int evaluate_is_asked_for(const struct config_values *options);

/*
 * Evaluates on test (or on the training records if train_part). The negatives of sampled ranking
 * come from the seeded root, without replacement, once per split. Metrics are those that
 * [evaluate] metrics names; "auto" is rating metrics for explicit and ranking metrics for both.
 * Names of results on the training records begin with "train-": such a figure must not be taken for
 * a test error. Counts of what the averages leave out follow the metrics ("cold-records",
 * "users-without-positives", ...). On failure out is empty.
 */
int evaluate_model(const struct config_values *options, const struct dataset *dataset,
                   const struct scorer *scorer, const struct random_root *seeded, struct pool *pool,
                   int train_part, struct metrics *out, struct dpf_error *error);

/* ---- metrics that are released with noise ([evaluate] release = noisy) --------------------------------- */

/* How far one user moves the released numbers, where the largest contribution to a number is 1. */
struct metric_moves {
    int numbers;              /* 0: nothing is released */
    int laplace;              /* the noise asked for is Laplace noise, else Gaussian */
    dpf_norms comes, changes; /* a user comes or goes; has other records, or one other record */
    double epsilon, share;    /* asked for: of the release alone, or as a part of a total */
};
/* From the configuration alone, before any data is read. */
int evaluate_release_moves(const struct config_values *options, int implicit, double value_lo,
                           double value_hi, struct metric_moves *out, struct dpf_error *error);

/* The names of the metrics that are released, without values; none if no metric is. Free out. */
int evaluate_release_names(const struct config_values *options, int implicit, double value_lo,
                           double value_hi, struct metrics *out, struct dpf_error *error);

/* The noise of each released number, chosen by the caller that accounts for it. */
struct metric_noise {
    int numbers;      /* that it is for */
    double grid;      /* a power of two, at most 1 */
    uint64_t steps;   /* scale of the noise in steps of the grid */
    double deviation; /* its standard deviation, in units of a contribution */
    int laplace;
    const struct random_root *root; /* its key */
};
/*
 * As evaluate_model on the test part, and from the same contributions of users the metrics with noise into
 * *released (see noisy_metrics.h). A user whose scores cannot be made is left out of both.
 */
int evaluate_and_release(const struct config_values *options, const struct dataset *dataset,
                         const struct scorer *scorer, const struct random_root *seeded, struct pool *pool,
                         const struct metric_noise *noise, struct metrics *out, struct metrics *released,
                         struct dpf_error *error);

/* Only the training RMSE of explicit or 0/1-observed cells: cheap, for progress by round. */
int evaluate_train_rmse(const struct dataset *dataset, const struct scorer *scorer, struct pool *pool,
                        double *rmse, struct dpf_error *error);

#endif
