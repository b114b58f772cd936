/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/model_scores.h"

#include <stdlib.h>

#include "base/memory.h"
#include "engine/recommender_fit.h"

/* One record transform undone for a user's scores of items. */
static int undo_transform(const struct model *model, struct instance *instance, int32_t user,
                          const int32_t *items, int64_t n, double *scores, struct dpf_error *error)
{
    const dpf_transform *transform = instance->functions;
    int weighted = dataset_has_weights(model->dataset);
    int32_t *pairs = memory_raw((size_t)(2 * n + 1), sizeof *pairs);
    float *weights = memory_raw((size_t)n + 1, sizeof *weights);
    struct worker *worker = worker_new(0, 1, error);
    int status = pairs && weights && worker ? 0 : error_memory(error);
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

int model_scores_are_products(const struct model *model)
{
    const struct side_plan *sides = model->plan->sides;
    if (model->plan->recommender.instance)
        return 0;
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < sides[side].n_terms; t++)
            for (int i = 0; i < sides[side].terms[t].n_transforms; i++) {
                const dpf_transform *transform = sides[side].terms[t].transforms[i]->functions;
                if (transform->kind == DPF_TRANSFORM_RECORD && transform->predictions)
                    return 0;
            }
    return 1;
}

int model_scores(void *context, int32_t user, const int32_t *items, int64_t n, double *out,
                 struct dpf_error *error)
{
    const struct model *model = context;
    if (model->plan->recommender.instance)
        return recommender_fit_scores(model, user, items, n, out, error);
    const float *u = model->sides[DPF_SIDE_USERS].data + (int64_t)user * model->stride;
    const float *base = model->sides[DPF_SIDE_ITEMS].data;
    for (int64_t k = 0; k < n; k++) {
        const float *v = base + (items ? items[k] : k) * model->stride;
        /* Sixteen partial sums: vectorises, and the order of additions is fixed. */
        float part[16] = {0};
        for (int64_t c = 0; c < model->stride; c += 16)
            for (int l = 0; l < 16; l++)
                part[l] += u[c + l] * v[c + l];
        double sum = model->offset;
        for (int l = 0; l < 16; l++)
            sum += (double)part[l];
        out[k] = sum;
    }
    return undo_record_transforms(model, user, items, n, out, error);
}
