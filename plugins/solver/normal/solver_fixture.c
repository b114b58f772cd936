/* SPDX-License-Identifier: Apache-2.0 */
#include "solver_fixture.h"

static uint64_t solver_state = 7;

double solver_uniform(void)
{
    uint64_t z = solver_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void systems_layout(dpf_query *q, int64_t d, uint32_t layout, const float *ridge)
{
    const int32_t n = (int32_t)d, padded = (n + 15) / 16 * 16;
    const int32_t ld = layout == DPF_LAYOUT_FULL ? n : layout == DPF_LAYOUT_LOWER ? padded : 0;
    const int32_t length = layout == DPF_LAYOUT_PACKED     ? dpf_packed_length(n)
                           : layout == DPF_LAYOUT_OPERATOR ? 0
                                                           : n * ld;
    *q = (dpf_query){
        .size = sizeof(*q), .form = DPF_FORM_QUADRATIC, .dimension = n, .first = 1, .n_blocks = 3};
    q->blocks[0] = (dpf_block){DPF_BLOCK_QUADRATIC, layout, 0, length, ld, {0}};
    q->blocks[1] = (dpf_block){DPF_BLOCK_LINEAR, 0, length, n, 0, {0}};
    q->blocks[2] = (dpf_block){DPF_BLOCK_COUNT, 0, length + n, 1, 0, {0}};
    q->width = length + n + 1;
    q->has_gram = 1;
    q->ridge_per_count = ridge;
    q->ridge_constant = ridge + d;
}

static void systems_put(const dpf_query *q, const double *a, int64_t d, float *row)
{
    for (int64_t i = 0; i < d && q->blocks[0].length > 0; i++) {
        for (int64_t j = 0; j <= i; j++) {
            const float x = (float)a[i * d + j];
            if (q->blocks[0].layout == DPF_LAYOUT_PACKED) {
                row[i * (i + 1) / 2 + j] = x;
            } else if (q->blocks[0].layout == DPF_LAYOUT_LOWER) {
                row[i * q->blocks[0].ld + j] = x;
            } else { /* as after i.i.d. noise: only the mean of the two halves is right */
                const float skew = i == j ? 0 : 0.125f * (float)(i - j);
                row[i * d + j] = x + skew;
                row[j * d + i] = x - skew;
            }
        }
    }
}

static void systems_gram(int64_t d, int64_t n, double *a)
{
    double *y = malloc((size_t)d * sizeof(double));
    assert_non_null(y);
    for (int64_t r = 0; r < n; r++) {
        for (int64_t i = 0; i < d; i++)
            y[i] = 2 * solver_uniform() - 1;
        for (int64_t i = 0; i < d * d; i++)
            a[i] += y[i / d] * y[i % d];
    }
    free(y);
}

/* The operator as a host would give it, with the promises of role/solver.h checked. */
static dpf_status systems_product(void *context, int64_t first, int64_t count, const float *x,
                                  int64_t x_stride, float *out, int64_t out_stride)
{
    const struct systems *s = context;
    const int64_t d = s->d;
    assert_true(first >= 0 && count > 0 && first + count <= SYSTEMS);
    assert_true(x_stride % 16 == 0 && out_stride % 16 == 0);
    assert_true(x_stride >= d && out_stride >= d);
    assert_true((uintptr_t)x % 64 == 0 && (uintptr_t)out % 64 == 0);
    for (int64_t r = 0; r < count; r++, x += x_stride, out += out_stride) {
        for (int64_t i = d; i < x_stride; i++)
            assert_true(x[i] == 0);
        memset(out, 0, (size_t)out_stride * sizeof(float));
        for (int64_t i = 0; i < d; i++) {
            double sum = 0;
            for (int64_t j = 0; j < d; j++)
                sum += s->records[first + r][i * d + j] * x[j];
            out[i] = (float)sum;
        }
    }
    return DPF_OK;
}

void systems_new(struct systems *s, int64_t d, uint32_t layout)
{
    memset(s, 0, sizeof(*s));
    s->d = d;
    s->stride = (d + 2 + 15) / 16 * 16;
    s->ridge = calloc((size_t)(2 * d), sizeof(float));
    assert_non_null(s->ridge);
    for (int64_t i = 0; i < d; i++) {
        s->ridge[i] = (float)(0.02 + 0.01 * solver_uniform());
        s->ridge[d + i] = (float)(0.3 + solver_uniform());
    }
    systems_layout(&s->query, d, layout, s->ridge);
    systems_layout(&s->gram_query, d, layout == DPF_LAYOUT_OPERATOR ? DPF_LAYOUT_FULL : layout, s->ridge);
    const int64_t width = (s->query.width + 15) / 16 * 16;
    s->blocks = aligned_alloc(64, (size_t)(SYSTEMS * width) * sizeof(float));
    s->gram = calloc((size_t)s->gram_query.width, sizeof(float));
    s->rows = aligned_alloc(64, (size_t)(SYSTEMS * s->stride) * sizeof(float));
    s->rhs = calloc((size_t)(SYSTEMS * d), sizeof(double));
    double *g = calloc((size_t)(d * d), sizeof(double));
    assert_true(s->blocks);
    assert_true(s->gram);
    assert_true(s->rows);
    assert_true(s->rhs);
    assert_true(g);
    for (int64_t i = 0; i < SYSTEMS * width; i++)
        s->blocks[i] = NAN; /* what a layout does not define must not matter */
    systems_gram(d, d / 2, g);
    systems_put(&s->gram_query, g, d, s->gram);
    for (int64_t r = 0; r < SYSTEMS; r++) {
        const int64_t n = r * r;
        float *row = s->blocks + r * width;
        s->a[r] = calloc((size_t)(d * d), sizeof(double));
        s->records[r] = calloc((size_t)(d * d), sizeof(double));
        assert_true(s->a[r]);
        assert_true(s->records[r]);
        systems_gram(d, n, s->records[r]);
        systems_put(&s->query, s->records[r], d, row);
        row[s->query.blocks[2].offset] = (float)n;
        for (int64_t i = 0; i < d; i++) {
            const float b = r == 3 ? 0 : (float)(4 * solver_uniform() - 2);
            row[s->query.blocks[1].offset + i] = b;
            s->rhs[r * d + i] = 0.5 * b;
        }
        for (int64_t i = 0; i < d * d; i++) {
            s->a[r][i] = s->records[r][i] + g[i];
            if (i / d == i % d)
                s->a[r][i] += (double)s->ridge[i / d] * (double)n + s->ridge[d + i / d];
        }
    }
    free(g);
    for (int64_t i = 0; i < SYSTEMS * s->stride; i++) /* iterations start near their goal's size */
        s->rows[i] = i % s->stride >= 1 && i % s->stride <= d ? 0.01f : 9;
    s->batch = (dpf_solve){.size = sizeof(dpf_solve),
                           .side = DPF_SIDE_ITEMS,
                           .n_rounds = 1,
                           .n_rows = SYSTEMS,
                           .first_row = 100,
                           .query = &s->query,
                           .blocks = s->blocks,
                           .blocks_stride = width,
                           .gram = s->gram,
                           .current = s->rows,
                           .current_stride = s->stride,
                           .next = s->rows,
                           .next_stride = s->stride,
                           .gram_query = &s->gram_query};
    if (layout == DPF_LAYOUT_OPERATOR) {
        s->batch.product = systems_product;
        s->batch.product_context = s;
    }
}

void systems_free(struct systems *s)
{
    for (int r = 0; r < SYSTEMS; r++) {
        free(s->a[r]);
        free(s->records[r]);
    }
    free(s->blocks);
    free(s->gram);
    free(s->ridge);
    free(s->rows);
    free(s->rhs);
}

/* |A x - rhs| / (|A| |x| + |rhs|), largest coordinate. */
static double systems_residual(const struct systems *s, int64_t r, const float *x)
{
    double worst = 0;
    for (int64_t i = 0; i < s->d; i++) {
        double sum = -s->rhs[r * s->d + i], size = fabs(sum);
        for (int64_t j = 0; j < s->d; j++) {
            sum += s->a[r][i * s->d + j] * x[j];
            size += fabs(s->a[r][i * s->d + j] * x[j]);
        }
        worst = fmax(worst, size > 0 ? fabs(sum) / size : 0);
    }
    return worst;
}

void systems_check(const struct systems *s, double tolerance)
{
    for (int64_t r = 0; r < SYSTEMS; r++) {
        const float *row = s->rows + r * s->stride;
        const double residual = systems_residual(s, r, row + 1);
        if (!(residual <= tolerance))
            fail_msg("d %d, row %d: residual %g", (int)s->d, (int)r, residual);
        assert_true(row[0] == 9);
        assert_true(row[s->d + 1] == 9); /* other columns are left alone */
    }
}
