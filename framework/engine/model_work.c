/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/model_work.h"

#include <string.h>

#include "plan/model_type.h"

const struct model_work *model_work_of(const struct plan *plan)
{
    static const struct model_work *const works[MODEL_TYPES] = {[TYPE_FACTORIZATION] = &factorization_work,
                                                                [TYPE_COMPONENT] = &component_work,
                                                                [TYPE_BASELINE] = &baseline_work};
    return works[plan->type->number];
}

int model_init(struct model *model, const struct plan *plan, const struct dataset *dataset,
               struct dpf_error *error)
{
    *model = (struct model){.plan = plan};
    return model_read(model, dataset, error) == 0 ? model_work_of(plan)->open(model, error) : -1;
}

int engine_run(struct plan *plan, const struct dataset *dataset, struct pool *pool, struct model *model,
               const struct engine_hooks *hooks, struct engine_stats *stats, struct dpf_error *error)
{
    const struct model_work *work = model_work_of(plan);
    memset(stats, 0, sizeof *stats);
    return !work->train ? 0 : work->train(plan, dataset, pool, model, hooks, stats, error);
}

struct remote_rows engine_told(const struct model *model)
{
    const struct side_factors *factors = &model->sides[remote_side(model->plan)];
    return model_has_rows(model) ? remote_floats(factors->data, factors->rows, model->stride, model->columns)
                                 : remote_sums(model->told, model->n_told);
}
