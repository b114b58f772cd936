/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recommender_fit.h - a component of the role recommender: its state, training, and scores.
 *
 * The state belongs to struct model, which saves it. Training spreads the component's tasks over the pool;
 * the bytes do not depend on the division.
 */
#ifndef DPF_ENGINE_RECOMMENDER_FIT_H
#define DPF_ENGINE_RECOMMENDER_FIT_H

#include "base/pool.h"
#include "engine/component_sums.h"
#include "engine/engine_stats.h"
#include "engine/model.h"

struct observer;

/* Trains; model was made by model_init for a plan with a component. */
int recommender_fit_run(struct model *model, struct pool *pool, struct engine_stats *stats,
                        struct dpf_error *error);
/* The same while an observer looks on. */
int recommender_fit_observed(struct model *model, struct pool *pool, const struct observer *observer,
                             struct engine_stats *stats, struct dpf_error *error);
/* The same with users in processes of their own; sums outlives it and says what was released. */
int recommender_fit_remote(struct model *model, struct pool *pool, const struct engine_remote *remote,
                           struct component_sums *sums, struct engine_stats *stats, struct dpf_error *error);
/* Asks the component whether the state, read from a file named path, can be one of its own. */
int recommender_fit_check(const struct model *model, const char *path, struct dpf_error *error);
/* A user's scores of items (NULL: all); see model_scores. Thread-safe. */
int recommender_fit_scores(const struct model *model, int32_t user, const int32_t *items, int64_t n,
                           double *out, struct dpf_error *error);

/*
 * What the item says of each other one: n_items numbers, from the state alone. Of lists, the scores of
 * somebody who has that item and nothing else, which are the weights of a model that is linear in records; of
 * ratings, how much more is predicted of somebody who rated it at the upper end of the declared range than of
 * somebody unknown. All 0 where it says nothing. -1 with an error where nothing is made of a user's own
 * records.
 */
int recommender_fit_similar(const struct model *model, int32_t item, double *out, struct dpf_error *error);

/* Scores of somebody of whom nothing is known: n_items numbers, from the state alone. */
int recommender_fit_nobody(const struct model *model, float *scores, struct dpf_error *error);

#endif
