/* SPDX-License-Identifier: Apache-2.0 */
#include "run/at_home.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/engine.h"

/* Rows that were trained stay as they are: a step more would be another model. */
static int solve(const struct at_home *home, const struct dataset *dataset, struct pool *pool,
                 struct plan *plan, struct model *model, struct dpf_error *error)
{
    struct side_factors *users = &model->sides[DPF_SIDE_USERS];
    const size_t row = (size_t)model->stride * sizeof *users->data;
    const int64_t rounds = plan->run.params.values[RUN_ROUNDS].integer;
    float *trained = memory_raw((size_t)users->rows + 1, row);
    if (!trained)
        return error_memory(error);
    memcpy(trained, users->data, (size_t)users->rows * row);
    const int status =
        engine_fit_side(plan, &home->view, pool, model, DPF_SIDE_USERS, rounds > 0 ? rounds : 1, error);
    for (int64_t u = 0; u < users->rows; u++)
        if (dataset->known.ptr[u + 1] == dataset->known.ptr[u])
            memcpy(users->data + u * model->stride, trained + u * model->stride, row);
    free(trained);
    return status;
}

int at_home_open(struct at_home *home, const struct dataset *dataset, struct pool *pool, struct plan *plan,
                 struct model *model, struct dpf_error *error)
{
    *home = (struct at_home){.view = *dataset};
    if (!dataset->known.ptr)
        return 0;
    if (dataset_at_home(dataset, &home->view.train.by_user, error) != 0)
        return -1;
    home->has_rows = 1;
    return plan->sides[DPF_SIDE_USERS].updated ? solve(home, dataset, pool, plan, model, error)
                                               : model_read(model, &home->view, error);
}

void at_home_close(struct at_home *home)
{
    if (home->has_rows)
        csr_free(&home->view.train.by_user);
    *home = (struct at_home){.has_rows = 0};
}
