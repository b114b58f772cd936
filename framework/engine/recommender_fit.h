/* SPDX-License-Identifier: Apache-2.0 */
/* recommender_fit.h - a component of the role recommender: the row component_work of model_work.h. */
#ifndef DPF_ENGINE_RECOMMENDER_FIT_H
#define DPF_ENGINE_RECOMMENDER_FIT_H

#include "engine/model.h"

/* Asks the component whether the state, read from a file named path, can be one of its own. */
int recommender_fit_check(const struct model *model, const char *path, struct dpf_error *error);

#endif
