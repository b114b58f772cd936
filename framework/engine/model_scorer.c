/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/model_scorer.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/model_work.h"

/* One record transform undone for a user's scores of items. */
static int undo_transform(const struct model *model, struct instance *instance, int32_t user,
                          const int32_t *items, int64_t n, double *scores, struct dpf_error *error)
{
    const dpf_transform *transform = instance->functions;
    int weighted = dataset_has_weights(model->dataset);
    int32_t *pairs = memory_raw((size_t)(2 * n + 1), sizeof *pairs);
    float *weights = memory_raw((size_t)n + 1, sizeof *weights);
    struct worker *worker = worker_new(0, 1);
    int status = pairs && weights ? 0 : error_memory(error);
    for (int64_t k = 0; k < n && status == 0; k++) {
        pairs[k] = user;
        pairs[n + k] = items ? items[k] : (int32_t)k;
    }
    if (status == 0 && weighted)
        status = dataset_weights(model->dataset, user, items, n, weights, error);
    if (status == 0) {
        dpf_records records = {sizeof records, 0, n, pairs, pairs + n, weighted ? weights : NULL};
        dpf_call *call = worker_call(worker, instance, 0, 0, 0);
        status = instance_result(instance, transform->predictions(instance->self, call, &records, scores),
                                 "prediction", error);
    }
    worker_free(worker);
    free(weights);
    free(pairs);
    return status;
}

static int undo_record_transforms(const struct model *model, int32_t user, const int32_t *items, int64_t n,
                                  double *scores, struct dpf_error *error)
{
    const struct side_plan *sides = model->plan->sides;
    /* Both sides read the same records; the first term that transforms them says how to undo it. */
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < sides[side].n_terms; t++) {
            const struct term_plan *term = &sides[side].terms[t];
            int undone = 0;
            for (int i = term->n_transforms - 1; i >= 0; i--) {
                const dpf_transform *transform = term->transforms[i]->functions;
                if (transform->kind != DPF_TRANSFORM_RECORD)
                    continue;
                undone = 1;
                if (transform->predictions &&
                    undo_transform(model, term->transforms[i], user, items, n, scores, error) != 0)
                    return -1;
            }
            if (undone)
                return 0;
        }
    return 0;
}

static int are_transformed(const struct model *model)
{
    const struct side_plan *sides = model->plan->sides;
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < sides[side].n_terms; t++)
            for (int i = 0; i < sides[side].terms[t].n_transforms; i++) {
                const dpf_transform *transform = sides[side].terms[t].transforms[i]->functions;
                if (transform->kind == DPF_TRANSFORM_RECORD && transform->predictions)
                    return 1;
            }
    return 0;
}

static dpf_array rows_of(const struct model *model, const char *name, int side)
{
    return (dpf_array){.name = name,
                       .type = DPF_ARRAY_F4,
                       .rows = model->sides[side].rows,
                       .columns = model->columns,
                       .stride = model->stride,
                       .data = model->sides[side].data};
}

void model_form_of_rows(const struct model *model, struct score_form *out)
{
    *out = (struct score_form){.formula = SCORE_ROWS, .n_items = model->sides[DPF_SIDE_ITEMS].rows};
    out->arrays[ROWS_ITEMS] = rows_of(model, "items", DPF_SIDE_ITEMS);
    out->arrays[ROWS_USERS] = rows_of(model, "users", DPF_SIDE_USERS);
    out->scalars[ROWS_OFFSET] = model->offset;
}

/* Rows' products, with the inverses of record transforms applied. */
static int transformed_scores(void *context, int32_t user, const int32_t *items, int64_t n, double *out,
                              struct dpf_error *error)
{
    const struct model *model = context;
    struct scorer rows = {.context = NULL};
    struct score_desk desk = {.user = 0};
    model_form_of_rows(model, &rows.form);
    int status = scorer_open(&rows, error);
    if (status == 0)
        status = scorer_scores(&rows, &desk, user, items, n, out, error);
    scorer_close(&rows);
    score_desk_free(&desk);
    return status == 0 ? undo_record_transforms(model, user, items, n, out, error) : -1;
}

int factorization_form(struct model *model, struct scorer *out, struct dpf_error *error)
{
    (void)error;
    if (are_transformed(model))
        out->scores = transformed_scores;
    else
        model_form_of_rows(model, &out->form);
    return 0;
}

int model_predicts_values(const struct model *model)
{
    return !plan_has(model->plan, MODEL_RANKS_ONLY) && !model->dataset->implicit;
}

int model_scorer_of_state(struct model *model, struct scorer *out, struct dpf_error *error)
{
    *out = (struct scorer){.context = model,
                           .records = &model->train->by_user,
                           .users = &model->dataset->users,
                           .items = &model->dataset->items};
    if (model->form.formula) { /* its arrays stay the model's */
        out->form = model->form;
        memset(out->form.owned, 0, sizeof out->form.owned);
    } else if (model_work_of(model->plan)->form(model, out, error) != 0) {
        return -1;
    }
    return scorer_open(out, error);
}

int model_scorer(struct model *model, struct scorer *out, struct dpf_error *error)
{
    if (model_scorer_of_state(model, out, error) != 0)
        return -1;
    const int at_home = model->plan->model.params.values[MODEL_HOME_TERMS].integer != 0;
    if (at_home && scorer_add_home(out, &model->dataset->features, &model->dataset->words, error) != 0) {
        scorer_close(out);
        return -1;
    }
    return 0;
}
