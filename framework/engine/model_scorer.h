/* SPDX-License-Identifier: Apache-2.0 */
/* model_scorer.h - a model as a scorer: the form of its factor rows or of a component's state, or a function. */
#ifndef DPF_ENGINE_MODEL_SCORER_H
#define DPF_ENGINE_MODEL_SCORER_H

#include "engine/model.h"
#include "score/scorer.h"

/* For as long as the model and its data set stay as they are; scorer_close it. On failure *out is empty. */
int model_scorer(struct model *model, struct scorer *out, struct dpf_error *error);
/* The same without home terms ([model] home-terms): what the state says, whoever asks. It needs no file of features. */
int model_scorer_of_state(struct model *model, struct scorer *out, struct dpf_error *error);

/* Whether scores predict values of records, so that what is shown of them is clipped to the declared range. */
int model_predicts_values(const struct model *model);

#endif
