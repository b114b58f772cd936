/* SPDX-License-Identifier: Apache-2.0 */
/* metric_table.h - all metrics: names, kinds, conventions. */
#ifndef DPF_EVALUATE_METRIC_TABLE_H
#define DPF_EVALUATE_METRIC_TABLE_H

#include "evaluate/evaluate.h"

enum metric_id {
    /* Of predicted values, over records or by user. */
    METRIC_RMSE,
    METRIC_MAE,
    METRIC_MSE,
    METRIC_RMSE_USER,
    METRIC_MAE_USER,
    METRIC_MSE_USER,
    /* Of a ranked list cut at k, averaged over users. */
    METRIC_HR,
    METRIC_NDCG,
    METRIC_PRECISION,
    METRIC_RECALL,
    METRIC_RECALL_CAPPED,
    METRIC_F1,
    METRIC_MAP,
    METRIC_MAP_HITS,
    METRIC_MAP_RELEVANT,
    METRIC_MRR,
    METRIC_POPULARITY,
    METRIC_NOVELTY,
    /* Of all lists cut at k together. */
    METRIC_F1_OF_MEANS,
    METRIC_COVERAGE,
    METRIC_GINI,
    /* Of whole lists, averaged over users. */
    METRIC_MRANK,
    METRIC_COUNT
};
#define METRIC_FIRST_BY_LIST METRIC_HR
#define METRIC_LAST_BY_LIST METRIC_NOVELTY
#define METRIC_N_BY_LIST (METRIC_LAST_BY_LIST - METRIC_FIRST_BY_LIST + 1)

#define FULL_PREFIX "full-" /* of metrics of the full ranking, where others are of sampled negatives */

int metric_is_rating(enum metric_id id);
/* 1 if the metric is stated for a cut-off k. */
int metric_has_cutoff(enum metric_id id);
/* 1 if it is a user's number between 0 and 1 that follows from the own records alone: only such metrics of lists can be
   released with noise. */
int metric_is_own(enum metric_id id);
/* 1 if "auto" includes it. */
int metric_is_automatic(enum metric_id id, int implicit);
const char *metric_name(enum metric_id id);
/* -1 if there is none of that name. */
int metric_by_name(const char *name);
/* The known name nearest to a wrong one, or NULL. */
const char *metric_nearest(const char *name);
/* By a result's name, such as "train-rmse" or "ndcg@10". */
int metric_smaller_is_better(const char *name);
const char *metric_convention(enum metric_id id, int sampled);

/* Appends a result; the name is formatted, and the convention a constant. */
void metrics_add(struct metrics *metrics, double value, int64_t n, const char *convention, const char *format,
                 ...) DPF_PRINTF(5, 6);

#endif
