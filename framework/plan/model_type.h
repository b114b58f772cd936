/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_type.h - the plan's half of the table of models: what each type of model does before data is read. The
 * engine has the other half (engine/model_work.h).
 *
 * Only the rows of the two tables know which type a model has. Whoever needs to know something about a model finds it in
 * plan->model_facts.
 */
#ifndef DPF_PLAN_MODEL_TYPE_H
#define DPF_PLAN_MODEL_TYPE_H

#include "plan/plan.h"

enum model_types { TYPE_FACTORIZATION, TYPE_COMPONENT, TYPE_BASELINE, MODEL_TYPES };

struct model_type {
    enum model_types number; /* of its row in either half */
    /* Makes components, refuses keys that belong to other types, and fills in model_facts. A stage of plan_open (components.h). */
    void (*make)(struct plan *plan);
    /* What is released, and its events into the ledger. Part of plan_complete. */
    int (*complete)(struct plan *plan, struct dpf_error *error);
    /* Noise and ledger again, for another plan->noise_factor. */
    int (*replan)(struct plan *plan, struct dpf_error *error);
};

/* Two sides that are solved; [model] recommender; [model] kind of a baseline. */
extern const struct model_type factorization_type, component_type, baseline_type;

/* Of the values of [model]. */
const struct model_type *model_type_of(const struct config_values *model);

#endif
