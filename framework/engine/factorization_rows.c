/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that a factorization starts from. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/shares.h"
#include "engine/model_work.h"

static void draw_row(const struct plan *plan, int side, dpf_cursor *cursor, float *out)
{
    const dpf_value *v = plan->model.params.values;
    int kind = (int)v[MODEL_INIT].integer;
    int64_t rank = v[MODEL_RANK].integer;
    double scale = v[MODEL_INIT_SCALE].real;
    if (kind == INIT_NORMAL_BY_RANK && rank > 0)
        scale /= sqrt((double)rank);
    double norm = v[MODEL_INIT_NORM].real, radius = plan->sides[side].radius;
    int user_bias = plan->bias[DPF_SIDE_USERS] >= 0;
    double draws[64], square = 0;
    for (int64_t done = 0; done < rank; done += 64) {
        int64_t n = rank - done < 64 ? rank - done : 64;
        if (kind == INIT_UNIFORM)
            random_uniform(cursor, draws, n);
        else
            random_normal(cursor, draws, n);
        for (int64_t i = 0; i < n; i++) {
            out[user_bias + done + i] = (float)(scale * draws[i]);
            square += scale * draws[i] * scale * draws[i];
        }
    }
    /* Rows start inside the ball that the solver keeps them in: its radius is a public bound. The same
       holds for init-norm where the side is never updated. Two roundings to float32, by 2^-24 each, must
       not leave it. */
    const double length = sqrt(square), most = fmin(norm > 0 ? norm : INFINITY, radius) * (1 - 0x1p-22);
    const double target = norm > 0 ? most : fmin(length, most);
    for (int64_t i = 0; i < rank && length > 0 && target != length; i++)
        out[user_bias + i] = (float)((double)out[user_bias + i] * (target / length));
}

/* Each row is drawn at its id: who else is there changes the numbers of rows, and must not change rows. */
static void draw_rows(const struct plan *plan, int side, dpf_stream *stream, const struct dataset *dataset,
                      struct side_factors *factors, int64_t stride)
{
    const struct id_map *ids = side == DPF_SIDE_USERS ? &dataset->users : &dataset->items;
    for (int64_t row = shares_first(dataset, side); row < shares_last(dataset, side); row++) {
        dpf_cursor cursor;
        random_seek_id(stream, id_map_text(ids, row), &cursor);
        draw_row(plan, side, &cursor, factors->data + row * stride);
    }
}

/* A row holds the constant 1 where the other side's bias is. */
static void set_constants(const struct plan *plan, const struct dataset *dataset, int side,
                          struct side_factors *factors, int64_t stride)
{
    int column = plan->bias[1 - side];
    for (int64_t row = shares_first(dataset, side); column >= 0 && row < shares_last(dataset, side); row++)
        factors->data[row * stride + column] = 1.0f;
}

/* One direction of a state transform over the unknown columns: rows of `from` to rows of `to`. */
static int map_state(const struct plan *plan, int side, int forward, const float *from, int64_t from_rows,
                     float *to, int64_t to_rows, int64_t stride, struct dpf_error *error)
{
    struct instance *instance = plan->sides[side].state_transform;
    const dpf_transform *transform = instance->functions;
    int32_t cols = plan->dimension[side], first = plan->first[side];
    double *in = memory_new((size_t)(from_rows * cols), sizeof *in);
    double *out = memory_new((size_t)(to_rows * cols), sizeof *out);
    struct worker *worker = worker_new(0, 1);
    int status = in && out ? 0 : error_memory(error);
    if (status == 0) {
        for (int64_t r = 0; r < from_rows; r++)
            for (int32_t c = 0; c < cols; c++)
                in[r * cols + c] = (double)from[r * stride + first + c];
        dpf_message source = {sizeof source, 0, from_rows, NULL, 0, from_rows, in, cols, cols, 0};
        dpf_message target = {sizeof target, 0, to_rows, NULL, 0, to_rows, out, cols, cols, 0};
        dpf_call *call = worker_call(worker, instance, 0, 0, 0);
        status = instance_result(
            instance,
            (forward ? transform->project : transform->adjoint)(instance->self, call, &source, &target),
            "init", error);
    }
    for (int64_t r = 0; r < to_rows && status == 0; r++)
        for (int32_t c = 0; c < cols; c++)
            to[r * stride + first + c] = (float)out[r * cols + c];
    worker_free(worker);
    free(in);
    free(out);
    return status;
}

/* The projected rows start as the projection of the drawn ones, and readers see those from the start. */
static int project_state(struct model *model, const struct plan *plan, int side, struct dpf_error *error)
{
    struct side_factors *factors = &model->sides[side];
    struct instance *instance = plan->sides[side].state_transform;
    const dpf_transform *transform = instance->functions;
    factors->state_rows = factors->rows;
    if (transform->rows &&
        instance_result(instance, transform->rows(instance->self, factors->rows, &factors->state_rows),
                        "init", error) != 0)
        return -1;
    factors->state_space = memory_new((size_t)(factors->state_rows * model->stride), sizeof(float));
    if (!factors->state_space)
        return error_memory(error);
    if (map_state(plan, side, 1, factors->data, factors->rows, factors->state_space, factors->state_rows,
                  model->stride, error) != 0)
        return -1;
    return map_state(plan, side, 0, factors->state_space, factors->state_rows, factors->data, factors->rows,
                     model->stride, error);
}

static int init_side(struct model *model, const struct plan *plan, const struct dataset *dataset, int side,
                     struct dpf_error *error)
{
    struct side_factors *factors = &model->sides[side];
    const struct side_plan *sp = &plan->sides[side];
    dpf_stream *stream = random_stream_open(plan->seeded, plan_side_name(side), "init", error);
    if (!stream)
        return -1;
    draw_rows(plan, side, stream, dataset, factors, model->stride);
    set_constants(plan, dataset, side, factors, model->stride);
    random_stream_free(stream);
    if (model_shares_rows(plan, side) && model_gather_rows(model, dataset, side, factors->data, error) != 0)
        return -1;
    if (sp->state_transform && project_state(model, plan, side, error) != 0)
        return -1;
    int64_t solved = sp->state_transform ? factors->state_rows : factors->rows;
    if (sp->updated && sp->state_width > 0) {
        factors->solver_state = memory_new((size_t)solved * (size_t)sp->state_width, sizeof(float));
        if (!factors->solver_state)
            return error_memory(error);
    }
    return 0;
}

int model_initial_row(const struct model *model, const struct dataset *dataset, int side, int64_t row,
                      float *out, struct dpf_error *error)
{
    const struct plan *plan = model->plan;
    const int constant = plan->bias[1 - side];
    dpf_stream *stream = random_stream_open(plan->seeded, plan_side_name(side), "init", error);
    dpf_cursor cursor;
    if (!stream)
        return -1;
    memset(out, 0, (size_t)model->stride * sizeof *out);
    random_seek_id(stream, id_map_text(side == DPF_SIDE_USERS ? &dataset->users : &dataset->items, row),
                   &cursor);
    draw_row(plan, side, &cursor, out);
    if (constant >= 0)
        out[constant] = 1.0f;
    random_stream_free(stream);
    return 0;
}

int factorization_open(struct model *model, struct dpf_error *error)
{
    const struct plan *plan = model->plan;
    model->offset = plan->offset;
    if ((plan->model.params.values[MODEL_OFFSET].integer == OFFSET_MEAN &&
         model_mean_value(model->dataset, &model->offset, error) != 0) ||
        model_make_rows(model, plan->columns, error) != 0)
        return -1;
    for (int side = 0; side < 2; side++)
        if (init_side(model, plan, model->dataset, side, error) != 0)
            return -1;
    return 0;
}
