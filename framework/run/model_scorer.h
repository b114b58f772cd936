/* SPDX-License-Identifier: Apache-2.0 */
/* model_scorer.h - a model, as the evaluation sees it. */
#ifndef DPF_RUN_MODEL_SCORER_H
#define DPF_RUN_MODEL_SCORER_H

#include "engine/model_scores.h"
#include "evaluate/evaluate.h"

static inline struct scorer model_scorer(struct model *model)
{
    struct scorer scorer = {.context = model, .scores = model_scores};
    if (model_scores_are_products(model))
        scorer.factors =
            (struct score_factors){model->sides[DPF_SIDE_USERS].data, model->sides[DPF_SIDE_ITEMS].data,
                                   model->stride, model->offset};
    return scorer;
}

#endif
