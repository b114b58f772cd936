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
#include "score/scorer.h"

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
/* plugin/1, a component without a form: all items' scores of a user (see struct scorer), or of somebody else who has
   these records. Thread-safe; context is the model. */
int recommender_fit_scores(void *context, int32_t user, const int32_t *items, int64_t n, double *out,
                           struct dpf_error *error);
int recommender_fit_scores_of(void *context, const struct score_records *own, double *out,
                              struct dpf_error *error);
/* The component's form of the state, checked; formula SCORE_FUNCTION if it has none. from: what is named in errors. */
int recommender_fit_form(const struct model *model, struct score_form *out, struct dpf_error *error);

#endif
