/* SPDX-License-Identifier: Apache-2.0 */
#include "als_records.h"

#include <string.h>

#define BLOCK_FLOATS 8192 /* a gathered block and its tiles stay in the first-level cache */
#define BLOCK_MOST 128
#define BLOCK_LEAST 16

/* Scratch of one call. */
struct workspace {
    int64_t padded;
    int64_t rows; /* records of a block */
    double *aw, *t, *factors;
    float *aw32, *t32;
    float *block, *scaled;
    double *block64;
    double *triangle; /* for the Gram row */
    float *lower;     /* for accumulate_local in a layout other than LOWER */
    float *linear;
};

static int64_t padded16(int64_t n)
{
    return (n + 15) / 16 * 16;
}

const dpf_block *als_block(const dpf_query *query, int32_t kind)
{
    for (int32_t b = 0; b < query->n_blocks; b++) {
        if (query->blocks[b].kind == kind)
            return &query->blocks[b];
    }
    return NULL;
}

static void add_block(dpf_query *query, int32_t kind, uint32_t layout, int32_t length, int32_t ld, int pad)
{
    query->blocks[query->n_blocks++] =
        (dpf_block){.kind = kind, .layout = layout, .offset = query->width, .length = length, .ld = ld};
    query->width += pad ? (int32_t)padded16(length) : length;
}

dpf_status als_query(const dpf_host *host, const dpf_side_info *info, int with_count, dpf_query *out)
{
    const int32_t d = info->dimension, ld = (int32_t)padded16(d);
    /* A released row holds what is asked for and nothing else; local rows are aligned for speed. */
    const int aligned = (info->layout & (DPF_LAYOUT_LOWER | DPF_LAYOUT_OPERATOR)) != 0;
    if (aligned && info->is_released)
        return host->fail(host, DPF_E_UNSUPPORTED, -1,
                          "layouts LOWER and OPERATOR serve local sides only; ask for PACKED or FULL");
    if (d < 1 || d > 16384)
        return host->fail(host, DPF_E_RANGE, -1, "a row must have 1 to 16384 unknowns");
    out->form = DPF_FORM_QUADRATIC;
    out->dimension = d;
    out->first = info->first;
    out->width = out->n_blocks = out->support = out->has_gram = 0;
    out->ridge_per_count = out->ridge_constant = NULL;
    switch (info->layout) {
    case DPF_LAYOUT_PACKED:
        add_block(out, DPF_BLOCK_QUADRATIC, info->layout, dpf_packed_length(d), 0, 0);
        break;
    case DPF_LAYOUT_FULL:
        add_block(out, DPF_BLOCK_QUADRATIC, info->layout, d * d, d, 0);
        break;
    case DPF_LAYOUT_LOWER:
        add_block(out, DPF_BLOCK_QUADRATIC, info->layout, d * ld, ld, 1);
        break;
    case DPF_LAYOUT_OPERATOR:
        add_block(out, DPF_BLOCK_QUADRATIC, info->layout, 0, 0, 1);
        break;
    default:
        return host->fail(host, DPF_E_UNSUPPORTED, -1, "the host asked for an unknown layout");
    }
    add_block(out, DPF_BLOCK_LINEAR, 0, d, 0, aligned);
    if (with_count)
        add_block(out, DPF_BLOCK_COUNT, 0, 1, 0, 0);
    return DPF_OK;
}

dpf_status als_ridge_new(const dpf_host *host, struct als_ridge *ridge, int32_t dimension)
{
    if (ridge->dimension == dimension)
        return DPF_OK;
    if (ridge->dimension != 0)
        return host->fail(host, DPF_E_INTERNAL, -1, "the dimension of a side changed after it was set up");
    const dpf_memory_service *memory = dpf_memory(host);
    ridge->per_count = memory->allocate(host, (uint64_t)dimension * sizeof(float));
    ridge->constant = memory->allocate(host, (uint64_t)dimension * sizeof(float));
    if (!ridge->per_count || !ridge->constant) {
        als_ridge_free(host, ridge);
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory for the regularisation");
    }
    ridge->dimension = dimension;
    return DPF_OK;
}

void als_ridge_free(const dpf_host *host, struct als_ridge *ridge)
{
    const dpf_memory_service *memory = dpf_memory(host);
    memory->release(host, ridge->per_count);
    memory->release(host, ridge->constant);
    *ridge = (struct als_ridge){0};
}

static void *carve(char **at, int64_t bytes)
{
    char *block = *at;
    *at += (bytes + 63) / 64 * 64;
    return block;
}

#define WANT_LOCAL 1
#define WANT_EXACT 2
#define WANT_TRIANGLE 4
#define WANT_LOWER 8

static dpf_status workspace_get(const dpf_call *call, const dpf_host *host, int64_t d, int wants,
                                struct workspace *w)
{
    const int64_t p = padded16(d);
    int64_t n = BLOCK_FLOATS / p;
    n = n > BLOCK_MOST ? BLOCK_MOST : n < BLOCK_LEAST ? BLOCK_LEAST : n;
    *w = (struct workspace){.padded = p, .rows = n};
    const int64_t local = wants & WANT_LOCAL ? n * p * 4 : 0, exact = wants & WANT_EXACT ? n * p * 8 : 0;
    const int64_t triangle = wants & WANT_TRIANGLE ? dpf_packed_length((int32_t)d) * 8 : 0;
    const int64_t lower = wants & WANT_LOWER ? d * p * 4 : 0;
    const int64_t bytes = 32 * n + 2 * local + exact + triangle + lower + 4 * p + 16 * 64;
    char *at = call->scratch(call, (uint64_t)bytes);
    if (!at)
        return host->fail(host, DPF_E_MEMORY, -1, "out of scratch memory for a block of records");
    w->aw = (double *)carve(&at, 8 * n);
    w->t = (double *)carve(&at, 8 * n);
    w->factors = (double *)carve(&at, 8 * n);
    w->aw32 = (float *)carve(&at, 4 * n);
    w->t32 = (float *)carve(&at, 4 * n);
    w->block = (float *)carve(&at, local);
    w->scaled = (float *)carve(&at, local);
    w->block64 = (double *)carve(&at, exact);
    w->triangle = (double *)carve(&at, triangle);
    w->lower = (float *)carve(&at, lower);
    w->linear = (float *)carve(&at, 4 * p);
    return DPF_OK;
}

static void to_float(const double *from, int64_t n, float *to)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = (float)from[i];
}

static double group_count(const dpf_groups *groups, int64_t g)
{
    const int64_t begin = groups->offsets[g], end = groups->offsets[g + 1];
    if (!groups->weights)
        return (double)(end - begin);
    double sum = 0;
    for (int64_t r = begin; r < end; r++)
        sum += groups->weights[r];
    return sum;
}

/* A quadratic predicts from the rows that it multiplies; the rows before a transform are others. */
static dpf_status check_groups(const struct als_model *model, const dpf_groups *groups)
{
    const int has = groups->size >= offsetof(dpf_groups, residual) + sizeof(groups->residual);
    if (!has || !groups->residual || groups->residual->data == groups->other->data)
        return DPF_OK;
    return model->host->fail(model->host, DPF_E_UNSUPPORTED, -1,
                             "least squares predict from the transformed rows: set residual = transformed");
}

/* ---- float64 on the grid -------------------------------------------------------------------- */

static void widen_rows(const dpf_factors *factors, int64_t first, const int32_t *index, int64_t from,
                       int64_t n, int64_t d, int64_t padded, double *block)
{
    for (int64_t r = 0; r < n; r++, block += padded) {
        const float *y = dpf_row(factors, index ? index[r] : from + r) + first;
        for (int64_t i = 0; i < d; i++)
            block[i] = y[i];
        for (int64_t i = d; i < padded; i++)
            block[i] = 0;
    }
}

static void exact_linear(const double *block, const double *t, int64_t d, int64_t padded, int64_t n,
                         double grid, double *out)
{
    for (int64_t r = 0; r < n; r++, block += padded) {
        for (int64_t i = 0; i < d; i++)
            out[i] += dpf_on_grid(t[r] * block[i], grid);
    }
}

static void exact_count(const dpf_groups *groups, int64_t begin, int64_t n, double grid, double *out)
{
    for (int64_t r = begin; r < begin + n; r++)
        *out += dpf_on_grid(groups->weights ? (double)groups->weights[r] : 1.0, grid);
}

static void mirror(double *full, int64_t d, int64_t ld)
{
    for (int64_t i = 0; i < d; i++) {
        for (int64_t j = 0; j < i; j++)
            full[j * ld + i] = full[i * ld + j];
    }
}

/* A message's record without a grid: its row is written, not added to. */
static void exact_record(const struct als_model *model, const dpf_query *query, const dpf_groups *groups,
                         int64_t r, const struct workspace *w, double *out)
{
    const dpf_block *a = als_block(query, DPF_BLOCK_QUADRATIC), *b = als_block(query, DPF_BLOCK_LINEAR);
    const dpf_block *count = als_block(query, DPF_BLOCK_COUNT);
    const int64_t d = query->dimension;
    const int plain = model->coefficients(model->loss, query, groups, r, 1, w->aw, w->t);
    widen_rows(groups->other, query->first, groups->others + r, 0, 1, d, w->padded, w->block64);
    model->kernels->exact_one(w->block64, plain ? 1.0 : w->aw[0], d, out + a->offset, a->ld);
    for (int64_t i = 0; i < d; i++)
        out[b->offset + i] = w->t[0] * w->block64[i] + 0.0;
    if (count)
        out[count->offset] = groups->weights ? (double)groups->weights[r] : 1.0;
}

/* A loss's blocks fill its rows, whose layouts have no padding when they are released. */
static void exact_group(const struct als_model *model, const dpf_query *query, const dpf_groups *groups,
                        int64_t g, const double *grid, const struct workspace *w, double *out)
{
    const dpf_block *a = als_block(query, DPF_BLOCK_QUADRATIC), *b = als_block(query, DPF_BLOCK_LINEAR);
    const dpf_block *count = als_block(query, DPF_BLOCK_COUNT);
    const int64_t d = query->dimension;
    const int64_t end = groups->offsets[g + 1];
    const int alone = !grid && end - groups->offsets[g] == 1 && a->layout != DPF_LAYOUT_LOWER;
    if (alone)
        exact_record(model, query, groups, end - 1, w, out);
    else
        memset(out, 0, (size_t)query->width * sizeof(double));
    for (int64_t begin = groups->offsets[g]; begin < end && !alone; begin += w->rows) {
        const int64_t n = end - begin < w->rows ? end - begin : w->rows;
        const int plain = model->coefficients(model->loss, query, groups, begin, n, w->aw, w->t);
        widen_rows(groups->other, query->first, groups->others + begin, 0, n, d, w->padded, w->block64);
        model->kernels->exact(w->block64, plain ? NULL : w->aw, d, w->padded, n,
                              grid ? grid[a - query->blocks] : 0, out + a->offset, a->ld);
        exact_linear(w->block64, w->t, d, w->padded, n, grid ? grid[b - query->blocks] : 0, out + b->offset);
        if (count)
            exact_count(groups, begin, n, grid ? grid[count - query->blocks] : 0, out + count->offset);
    }
    if (model->diagonal) {
        const double more = model->diagonal(model->loss, groups->side, group_count(groups, g));
        for (int64_t i = 0; i < d; i++)
            out[a->offset + (a->ld ? i * a->ld + i : i * (i + 3) / 2)] += more;
    }
    if (a->layout == DPF_LAYOUT_FULL)
        mirror(out + a->offset, d, a->ld);
}

/* The workspace of a call whose groups hold what the model can take. */
static dpf_status workspace_for(const struct als_model *model, const dpf_call *call, const dpf_query *query,
                                const dpf_groups *groups, int wanted, struct workspace *w)
{
    const dpf_status status = check_groups(model, groups);
    return status == DPF_OK ? workspace_get(call, model->host, query->dimension, wanted, w) : status;
}

dpf_status als_accumulate(const struct als_model *model, const dpf_call *call, const dpf_query *query,
                          const dpf_groups *groups, const double *grid, double *out, int64_t stride)
{
    if (als_block(query, DPF_BLOCK_QUADRATIC)->layout == DPF_LAYOUT_OPERATOR)
        return model->host->fail(model->host, DPF_E_UNSUPPORTED, -1,
                                 "layout OPERATOR has no float64 sums; it serves local sides only");
    struct workspace w;
    const dpf_status status = workspace_for(model, call, query, groups, WANT_EXACT, &w);
    if (status != DPF_OK)
        return status;
    for (int64_t g = 0; g < groups->n_groups; g++)
        exact_group(model, query, groups, g, grid, &w, out + g * stride);
    return DPF_OK;
}

/* Records that are left out become zeros, whatever they hold. */
static void take_factors(const struct workspace *w, const dpf_groups *groups, int64_t begin, int64_t n,
                         const double *factors)
{
    for (int64_t r = 0; r < n; r++) {
        w->factors[r] = factors[groups->others[begin + r]];
        if (w->factors[r] != 0)
            continue;
        w->aw[r] = w->t[r] = 0;
        memset(w->block64 + r * w->padded, 0, (size_t)w->padded * sizeof(double));
    }
}

static void scaled_count(const dpf_groups *groups, int64_t begin, int64_t n, const double *factors,
                         double grid, int64_t *out)
{
    for (int64_t r = 0; r < n; r++) {
        const double weight = groups->weights ? (double)groups->weights[begin + r] : 1.0;
        if (factors[r] != 0)
            *out += (int64_t)(dpf_on_grid(factors[r] * weight, grid) / grid);
    }
}

static void mirror_integers(int64_t *full, int64_t d, int64_t ld)
{
    for (int64_t i = 0; i < d; i++) {
        for (int64_t j = 0; j < i; j++)
            full[j * ld + i] = full[i * ld + j];
    }
}

static void scaled_group(const struct als_model *model, const dpf_query *query, const dpf_groups *groups,
                         int64_t g, const double *factors, const double *grid, const struct workspace *w,
                         int64_t *out)
{
    const dpf_block *a = als_block(query, DPF_BLOCK_QUADRATIC), *b = als_block(query, DPF_BLOCK_LINEAR);
    const dpf_block *count = als_block(query, DPF_BLOCK_COUNT);
    const int64_t d = query->dimension, end = groups->offsets[g + 1];
    memset(out, 0, (size_t)query->width * sizeof(int64_t));
    for (int64_t begin = groups->offsets[g]; begin < end; begin += w->rows) {
        const int64_t n = end - begin < w->rows ? end - begin : w->rows;
        const int plain = model->coefficients(model->loss, query, groups, begin, n, w->aw, w->t);
        widen_rows(groups->other, query->first, groups->others + begin, 0, n, d, w->padded, w->block64);
        take_factors(w, groups, begin, n, factors);
        model->kernels->exact_scaled(w->block64, plain ? NULL : w->aw, w->factors, d, w->padded, n,
                                     grid[a - query->blocks], out + a->offset, a->ld);
        model->kernels->linear_scaled(w->block64, w->t, w->factors, d, w->padded, n, grid[b - query->blocks],
                                      out + b->offset);
        if (count)
            scaled_count(groups, begin, n, w->factors, grid[count - query->blocks], out + count->offset);
    }
    if (a->layout == DPF_LAYOUT_FULL)
        mirror_integers(out + a->offset, d, a->ld);
}

dpf_status als_accumulate_scaled(const struct als_model *model, const dpf_call *call, const dpf_query *query,
                                 const dpf_groups *groups, const double *factors, const double *grid,
                                 int64_t *out, int64_t stride)
{
    const uint32_t layout = als_block(query, DPF_BLOCK_QUADRATIC)->layout;
    if (model->diagonal || (layout != DPF_LAYOUT_PACKED && layout != DPF_LAYOUT_FULL))
        return model->host->fail(model->host, DPF_E_UNSUPPORTED, -1,
                                 "sums of scaled records are of records alone, packed or full");
    struct workspace w;
    const dpf_status status = workspace_for(model, call, query, groups, WANT_EXACT, &w);
    if (status != DPF_OK)
        return status;
    for (int64_t g = 0; g < groups->n_groups; g++)
        scaled_group(model, query, groups, g, factors, grid, &w, out + g * stride);
    return DPF_OK;
}

dpf_status als_gram(const struct als_model *model, const dpf_call *call, const dpf_query *query,
                    const dpf_factors *other, int64_t first, int64_t count, double factor, double *out)
{
    const dpf_block *a = als_block(query, DPF_BLOCK_QUADRATIC);
    const int64_t d = query->dimension;
    struct workspace w;
    const dpf_status status = workspace_get(call, model->host, d, WANT_EXACT | WANT_TRIANGLE, &w);
    if (status != DPF_OK)
        return status;
    memset(w.triangle, 0, (size_t)dpf_packed_length((int32_t)d) * sizeof(double));
    for (int64_t done = 0; done < count; done += w.rows) {
        const int64_t n = count - done < w.rows ? count - done : w.rows;
        widen_rows(other, query->first, NULL, first + done, n, d, w.padded, w.block64);
        model->kernels->exact(w.block64, NULL, d, w.padded, n, 0, w.triangle, 0);
    }
    const double *from = w.triangle;
    for (int64_t i = 0; i < d; i++) {
        double *row = out + a->offset + (a->ld ? i * a->ld : i * (i + 1) / 2);
        for (int64_t j = 0; j <= i; j++, from++) {
            row[j] += factor * *from;
            if (a->layout == DPF_LAYOUT_FULL && j < i)
                out[a->offset + j * a->ld + i] += factor * *from;
        }
    }
    return DPF_OK;
}

/* ---- float32 for local sides ---------------------------------------------------------------- */

static struct als_rows rows_at(const dpf_query *query, const dpf_groups *groups, int64_t begin, int64_t n)
{
    return (struct als_rows){groups->other,
                             query->first,
                             query->dimension,
                             groups->others + begin,
                             n,
                             groups->offsets[groups->n_groups] - begin};
}

/* A block of records into the lower triangle and b, both overwritten unless add is set. */
static void local_block(const struct als_model *model, const dpf_query *query, const dpf_groups *groups,
                        int64_t begin, int64_t n, const struct workspace *w, float *lower, float *linear,
                        int add)
{
    const struct als_kernels *kernels = model->kernels;
    const struct als_rows rows = rows_at(query, groups, begin, n);
    const int plain = model->coefficients(model->loss, query, groups, begin, n, w->aw, w->t);
    to_float(w->t, n, w->t32);
    kernels->gather(&rows, w->block);
    const float *left = w->block;
    if (!plain) {
        to_float(w->aw, n, w->aw32);
        kernels->scale(w->block, w->aw32, w->padded, n, w->scaled);
        left = w->scaled;
    }
    kernels->gram(&rows, left, w->block, lower, w->padded, add);
    kernels->linear(w->block, w->t32, w->padded, n, linear, add);
}

static void local_lower(const struct als_model *model, const dpf_query *query, const dpf_groups *groups,
                        int64_t g, const struct workspace *w, float *lower, float *linear)
{
    const int64_t begin = groups->offsets[g], end = groups->offsets[g + 1], d = query->dimension;
    if (begin == end) {
        memset(lower, 0, (size_t)(d * w->padded) * sizeof(float));
        memset(linear, 0, (size_t)w->padded * sizeof(float));
    }
    for (int64_t at = begin; at < end; at += w->rows) {
        const int64_t n = end - at < w->rows ? end - at : w->rows;
        local_block(model, query, groups, at, n, w, lower, linear, at > begin);
    }
    if (model->diagonal) {
        const float more = (float)model->diagonal(model->loss, groups->side, group_count(groups, g));
        for (int64_t i = 0; i < d; i++)
            lower[i * w->padded + i] += more;
    }
}

static void local_linear_only(const struct als_model *model, const dpf_query *query, const dpf_groups *groups,
                              int64_t g, const struct workspace *w, float *linear)
{
    const int64_t end = groups->offsets[g + 1];
    memset(linear, 0, (size_t)w->padded * sizeof(float));
    for (int64_t at = groups->offsets[g]; at < end; at += w->rows) {
        const int64_t n = end - at < w->rows ? end - at : w->rows;
        const struct als_rows rows = rows_at(query, groups, at, n);
        model->coefficients(model->loss, query, groups, at, n, w->aw, w->t);
        to_float(w->t, n, w->t32);
        model->kernels->combine(&rows, w->t32, linear);
    }
}

static void lower_to(const float *lower, int64_t d, int64_t padded, const dpf_block *a, float *out)
{
    for (int64_t i = 0; i < d; i++) {
        for (int64_t j = 0; j <= i; j++) {
            const float x = lower[i * padded + j];
            if (a->layout == DPF_LAYOUT_FULL)
                out[i * a->ld + j] = out[j * a->ld + i] = x;
            else
                out[i * (i + 1) / 2 + j] = x;
        }
    }
}

/* Results in PACKED and FULL are not aligned, so they take a detour over scratch memory. */
static void local_group(const struct als_model *model, const dpf_query *query, const dpf_groups *groups,
                        int64_t g, const struct workspace *w, float *out)
{
    const dpf_block *a = als_block(query, DPF_BLOCK_QUADRATIC), *b = als_block(query, DPF_BLOCK_LINEAR);
    const dpf_block *count = als_block(query, DPF_BLOCK_COUNT);
    if (a->layout == DPF_LAYOUT_OPERATOR) {
        local_linear_only(model, query, groups, g, w, out + b->offset);
    } else if (a->layout == DPF_LAYOUT_LOWER) {
        local_lower(model, query, groups, g, w, out + a->offset, out + b->offset);
    } else {
        local_lower(model, query, groups, g, w, w->lower, w->linear);
        lower_to(w->lower, query->dimension, w->padded, a, out + a->offset);
        memcpy(out + b->offset, w->linear, (size_t)query->dimension * sizeof(float));
    }
    if (count)
        out[count->offset] = (float)group_count(groups, g);
}

dpf_status als_accumulate_local(const struct als_model *model, const dpf_call *call, const dpf_query *query,
                                const dpf_groups *groups, float *out, int64_t stride)
{
    struct workspace w;
    const uint32_t layout = als_block(query, DPF_BLOCK_QUADRATIC)->layout;
    const int detour = layout == DPF_LAYOUT_PACKED || layout == DPF_LAYOUT_FULL;
    const dpf_status status =
        workspace_for(model, call, query, groups, WANT_LOCAL | (detour ? WANT_LOWER : 0), &w);
    if (status != DPF_OK)
        return status;
    for (int64_t g = 0; g < groups->n_groups; g++)
        local_group(model, query, groups, g, &w, out + g * stride);
    return DPF_OK;
}

dpf_status als_apply(const struct als_model *model, const dpf_call *call, const dpf_query *query,
                     const dpf_groups *groups, const float *x, int64_t x_stride, float *out,
                     int64_t out_stride)
{
    struct workspace w;
    const dpf_status status = workspace_get(call, model->host, query->dimension, 0, &w);
    if (status != DPF_OK)
        return status;
    for (int64_t g = 0; g < groups->n_groups; g++, x += x_stride, out += out_stride) {
        const int64_t end = groups->offsets[g + 1];
        memset(out, 0, (size_t)w.padded * sizeof(float));
        for (int64_t at = groups->offsets[g]; at < end; at += w.rows) {
            const int64_t n = end - at < w.rows ? end - at : w.rows;
            const struct als_rows rows = rows_at(query, groups, at, n);
            const int plain = model->coefficients(model->loss, query, groups, at, n, w.aw, NULL);
            if (!plain)
                to_float(w.aw, n, w.aw32);
            model->kernels->multiply(&rows, plain ? NULL : w.aw32, x, out);
        }
        if (model->diagonal) {
            const float more = (float)model->diagonal(model->loss, groups->side, group_count(groups, g));
            for (int64_t i = 0; i < query->dimension; i++)
                out[i] += more * x[i];
        }
    }
    return DPF_OK;
}
