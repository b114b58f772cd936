/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_work.h - the engine's half of the table of models: what each type of model does with data. The plan has the other
 * half (plan/model_type.h). Callers use model_init, engine_run and model_scorer, which ask the table.
 */
#ifndef DPF_ENGINE_MODEL_WORK_H
#define DPF_ENGINE_MODEL_WORK_H

#include "engine/engine.h"
#include "score/scorer.h"

struct model_work {
    /* Rows with their initial values; model_read has been called. */
    int (*open)(struct model *model, struct dpf_error *error);
    /* See engine_run; NULL: opening has fitted all. */
    int (*train)(struct plan *plan, const struct dataset *dataset, struct pool *pool, struct model *model,
                 const struct engine_hooks *hooks, struct engine_stats *stats, struct dpf_error *error);
    /* How scores follow from it: the form, or functions. */
    int (*form)(struct model *model, struct scorer *out, struct dpf_error *error);
};

extern const struct model_work factorization_work, component_work, baseline_work;
const struct model_work *model_work_of(const struct plan *plan);

/* Initial rows. */
int factorization_open(struct model *model, struct dpf_error *error);
int factorization_form(struct model *model, struct scorer *out, struct dpf_error *error);

/* The form of rows whose products are scores. */
void model_form_of_rows(const struct model *model, struct score_form *out);

#endif
