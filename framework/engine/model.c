/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "dataset/shares.h"

/* By chunks of users, in their order: the same for any number of ranks. */
int model_mean_value(const struct dataset *dataset, double *mean, struct dpf_error *error)
{
    const struct csr *csr = &dataset->train.by_user;
    const int64_t chunk = shares_chunk(csr->rows), n_chunks = (csr->rows + chunk - 1) / chunk;
    *mean = dataset->train.n ? 1 : 0;
    if (!dataset->train.n || !csr->values)
        return 0;
    double *sums = memory_new((size_t)n_chunks, sizeof *sums), all = 0;
    int64_t n = 0;
    int64_t *offsets = memory_new((size_t)ranks_size() + 1, sizeof *offsets);
    int status = sums && offsets ? 0 : error_memory(error);
    for (int64_t u = shares_first(dataset, DPF_SIDE_USERS);
         u < shares_last(dataset, DPF_SIDE_USERS) && status == 0; u++)
        for (int64_t i = csr->ptr[u]; i < csr->ptr[u + 1]; i++)
            if (!csr->voids || !csr->voids[i]) {
                sums[u / chunk] += csr->values[i];
                n++;
            }
    if (status == 0) {
        shares_offsets(dataset, DPF_SIDE_USERS, offsets);
        for (int r = 0; r <= ranks_size(); r++)
            offsets[r] = (offsets[r] + chunk - 1) / chunk;
        status = ranks_gather(sums, sizeof *sums, offsets, error);
    }
    if (status == 0)
        status = ranks_sum(&n, 1, error);
    for (int64_t c = 0; c < n_chunks && status == 0; c++)
        all += sums[c];
    *mean = n > 0 ? all / (double)n : 0;
    free(sums);
    free(offsets);
    return status;
}

/*
 * Items are on every rank: each predicts for its own users with all of them. Users are where somebody reads
 * others' rows than the own ones: not where items are made from messages, of which each user's is made by the
 * rank that has the user.
 */
int model_shares_rows(const struct plan *plan, int side)
{
    const struct side_plan *items = &plan->sides[DPF_SIDE_ITEMS];
    if (ranks_size() == 1 || side == DPF_SIDE_ITEMS || plan->sides[DPF_SIDE_USERS].released)
        return 1;
    for (int t = 0; items->updated && t < items->n_terms; t++)
        if (!items->terms[t].mechanism || !items->terms[t].by_user || items->terms[t].bounds_from_data)
            return 1;
    return 0;
}

void model_rows_here(const struct model *model, const struct dataset *dataset, int side, int64_t *first,
                     int64_t *last)
{
    const int all = model_shares_rows(model->plan, side);
    *first = all ? 0 : shares_first(dataset, side);
    *last = all ? model->sides[side].rows : shares_last(dataset, side);
}

int model_gather_rows(const struct model *model, const struct dataset *dataset, int side, float *rows,
                      struct dpf_error *error)
{
    int64_t *offsets = memory_new((size_t)ranks_size() + 1, sizeof *offsets);
    if (!offsets)
        return error_memory(error);
    shares_offsets(dataset, side, offsets);
    const int status = ranks_gather(rows, (size_t)model->stride * sizeof *rows, offsets, error);
    free(offsets);
    return status;
}

/* A component that does not say that it reads which records are void gets those that are not. */
int model_read(struct model *model, const struct dataset *dataset, struct dpf_error *error)
{
    const int reads = plan_has(model->plan, MODEL_READS_VOIDS);
    records_free(&model->sound);
    model->dataset = dataset;
    model->train = &dataset->train;
    if (reads || !dataset->train.by_user.voids)
        return 0;
    model->train = &model->sound;
    return shares_sound_records(dataset, &model->sound, error);
}

int model_make_rows(struct model *model, int32_t columns, struct dpf_error *error)
{
    model->columns = columns;
    model->stride = (columns + 15) / 16 * 16;
    model->sides[DPF_SIDE_USERS].rows = model->dataset->users.n;
    model->sides[DPF_SIDE_ITEMS].rows = model->dataset->items.n;
    for (int side = 0; side < 2; side++) {
        struct side_factors *factors = &model->sides[side];
        factors->data = memory_sparse((size_t)(factors->rows * model->stride), sizeof(float));
        if (!factors->data)
            return error_memory(error);
    }
    return 0;
}

void model_free(struct model *model)
{
    for (int side = 0; side < 2; side++) {
        memory_sparse_free(model->sides[side].data);
        free(model->sides[side].state_space);
        free(model->sides[side].solver_state);
    }
    records_free(&model->sound);
    free(model->state);
    free(model->told);
    score_form_free(&model->form);
    *model = (struct model){0};
}

dpf_factors model_factors(const struct model *model, int side)
{
    return (dpf_factors){.data = model->sides[side].data,
                         .rows = model->sides[side].rows,
                         .stride = model->stride,
                         .cols = model->columns};
}
