/* SPDX-License-Identifier: Apache-2.0 */
/* Baselines: rows that are filled in from the training records, without noise; the row of the table of models. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "dataset/shares.h"
#include "engine/model_work.h"

static void fill_popularity(struct model *model, const struct dataset *dataset)
{
    const int64_t *ptr = dataset->train.by_item.ptr;
    struct side_factors *users = &model->sides[DPF_SIDE_USERS], *items = &model->sides[DPF_SIDE_ITEMS];
    for (int64_t u = 0; u < users->rows; u++)
        users->data[u * model->stride] = 1.0f;
    for (int64_t i = 0; i < items->rows; i++)
        items->data[i * model->stride] = (float)(ptr[i + 1] - ptr[i]);
}

#define BIAS_RIDGE 5.0
#define BIAS_ROUNDS 15

/* Ridge regression of one side's biases on what the other's leave: the rank's rows, then everybody's. */
static int solve_biases(const struct dataset *dataset, int side, double mean, const double *others,
                        double *biases, struct dpf_error *error)
{
    const struct csr *csr = side == DPF_SIDE_USERS ? &dataset->train.by_user : &dataset->train.by_item;
    int64_t *offsets = memory_new((size_t)ranks_size() + 1, sizeof *offsets);
    if (!offsets)
        return error_memory(error);
    for (int64_t r = shares_first(dataset, side); r < shares_last(dataset, side); r++) {
        double sum = 0, n = 0;
        for (int64_t k = csr->ptr[r]; k < csr->ptr[r + 1]; k++) {
            if (csr->voids && csr->voids[k])
                continue;
            sum += (csr->values ? (double)csr->values[k] : 1.0) - mean - others[csr->others[k]];
            n++;
        }
        biases[r] = sum / (n + BIAS_RIDGE);
    }
    shares_offsets(dataset, side, offsets);
    const int status = ranks_gather(biases, sizeof *biases, offsets, error);
    free(offsets);
    return status;
}

/* Columns: [user bias | item bias], each beside a constant 1. */
static int fill_biases(struct model *model, const struct dataset *dataset, struct dpf_error *error)
{
    struct side_factors *users = &model->sides[DPF_SIDE_USERS], *items = &model->sides[DPF_SIDE_ITEMS];
    double *of_users = memory_new((size_t)users->rows + 1, sizeof *of_users),
           *of_items = memory_new((size_t)items->rows + 1, sizeof *of_items);
    int status = of_users && of_items ? 0 : error_memory(error);
    for (int round = 0; round < BIAS_ROUNDS && status == 0; round++) {
        status = solve_biases(dataset, DPF_SIDE_ITEMS, model->offset, of_users, of_items, error);
        if (status == 0)
            status = solve_biases(dataset, DPF_SIDE_USERS, model->offset, of_items, of_users, error);
    }
    for (int64_t u = 0; u < users->rows && status == 0; u++) {
        users->data[u * model->stride] = (float)of_users[u];
        users->data[u * model->stride + 1] = 1.0f;
    }
    for (int64_t i = 0; i < items->rows && status == 0; i++) {
        items->data[i * model->stride] = 1.0f;
        items->data[i * model->stride + 1] = (float)of_items[i];
    }
    free(of_users);
    free(of_items);
    return status;
}

static int open_baseline(struct model *model, struct dpf_error *error)
{
    const int64_t kind = model->plan->model.params.values[MODEL_KIND].integer;
    if (kind != MODEL_POPULARITY && model_mean_value(model->dataset, &model->offset, error) != 0)
        return -1;
    if (model_make_rows(model, kind == MODEL_BIASES ? 2 : 1, error) != 0)
        return -1;
    if (kind == MODEL_POPULARITY)
        fill_popularity(model, model->dataset);
    return kind == MODEL_BIASES ? fill_biases(model, model->dataset, error) : 0;
}

/* Popularity is one order for everybody. */
static int form(struct model *model, struct scorer *out, struct dpf_error *error)
{
    (void)error;
    model_form_of_rows(model, &out->form);
    if (model->plan->model.params.values[MODEL_KIND].integer != MODEL_POPULARITY)
        return 0;
    dpf_array counts = out->form.arrays[ROWS_ITEMS];
    counts.name = "base";
    out->form = (struct score_form){
        .formula = SCORE_BASE, .n_items = out->form.n_items, .arrays = {[BASE_BASE] = counts}};
    return 0;
}

const struct model_work baseline_work = {.open = open_baseline, .form = form};
