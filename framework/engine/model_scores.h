/* SPDX-License-Identifier: Apache-2.0 */
/* model_scores.h - a model's scores for a user's items. */
#ifndef DPF_ENGINE_MODEL_SCORES_H
#define DPF_ENGINE_MODEL_SCORES_H

#include "engine/model.h"

/*
 * Predictions of a user for items (NULL: all), with the inverses of record transforms applied. The
 * signature is that of a scorer of the evaluation; context is the model. Thread-safe.
 */
int model_scores(void *context, int32_t user, const int32_t *items, int64_t n, double *out,
                 struct dpf_error *error);
/* Whether these are the products of factor rows and the offset, and nothing else. */
int model_scores_are_products(const struct model *model);

#endif
