/* SPDX-License-Identifier: Apache-2.0 */
#include "als_fixture.h"

static const int64_t check_degrees[CHECK_GROUPS] = {0, 1, 2, 15, 16, 17, 300};

static uint64_t check_state = 1;

double check_uniform(void)
{
    uint64_t z = check_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

void check_data_new(struct check_data *c, int32_t columns, int with_values, int with_weights)
{
    const int64_t stride = (columns + 15) / 16 * 16;
    int64_t n = 0;
    memset(c, 0, sizeof(*c));
    for (int g = 0; g < CHECK_GROUPS; g++) {
        c->rows[g] = g;
        c->offsets[g] = n;
        n += check_degrees[g];
    }
    c->offsets[CHECK_GROUPS] = n;
    /* Exact size: a read past the last row is a read past the block. */
    c->factors = aligned_alloc(64, (size_t)(CHECK_OTHERS * stride) * sizeof(float));
    c->others = malloc((size_t)n * sizeof(int32_t));
    c->values = malloc((size_t)n * sizeof(float));
    c->weights = malloc((size_t)n * sizeof(float));
    assert_true(c->factors);
    assert_true(c->others);
    assert_true(c->values);
    assert_true(c->weights);
    for (int64_t r = 0; r < CHECK_OTHERS; r++) {
        for (int64_t i = 0; i < stride; i++)
            c->factors[r * stride + i] = i < columns ? (float)(2 * check_uniform() - 1) : 0;
    }
    for (int64_t e = 0; e < n; e++) {
        c->others[e] = (int32_t)(check_uniform() * CHECK_OTHERS);
        c->values[e] = (float)(int)(1 + 5 * check_uniform());
        c->weights[e] = (float)(0.25 + check_uniform());
    }
    c->other = (dpf_factors){c->factors, CHECK_OTHERS, stride, columns, 0};
    c->self = (dpf_factors){c->factors, CHECK_GROUPS, stride, columns, 0};
    c->groups = (dpf_groups){.size = sizeof(dpf_groups),
                             .side = DPF_SIDE_ITEMS,
                             .self = &c->self,
                             .other = &c->other,
                             .n_groups = CHECK_GROUPS,
                             .rows = c->rows,
                             .offsets = c->offsets,
                             .others = c->others,
                             .values = with_values ? c->values : NULL,
                             .weights = with_weights ? c->weights : NULL,
                             .party_row = -1};
}

void check_data_free(struct check_data *c)
{
    free(c->factors);
    free(c->others);
    free(c->values);
    free(c->weights);
}

int64_t check_position(const dpf_block *a, int64_t i, int64_t j)
{
    return a->offset + (a->layout == DPF_LAYOUT_PACKED ? i * (i + 1) / 2 + j : i * a->ld + j);
}

void check_naive(const dpf_query *q, const dpf_groups *groups, int64_t g, const double *grid,
                 check_formula formula, double *out, double *magnitude)
{
    const int32_t d = q->dimension;
    memset(out, 0, (size_t)q->width * sizeof(double));
    memset(magnitude, 0, (size_t)q->width * sizeof(double));
    for (int64_t e = groups->offsets[g + 1] - 1; e >= groups->offsets[g]; e--) {
        const float *y = dpf_row(groups->other, groups->others[e]) + q->first;
        double aw, t, w;
        formula(q, groups, e, &aw, &t, &w);
        for (int32_t b = 0; b < q->n_blocks; b++) {
            const dpf_block *block = &q->blocks[b];
            const double step = grid ? grid[b] : 0;
            for (int64_t i = 0; i < d && block->kind == DPF_BLOCK_QUADRATIC && block->length > 0; i++) {
                for (int64_t j = 0; j <= (block->layout == DPF_LAYOUT_FULL ? d - 1 : i); j++) {
                    const double x = (double)y[i] * y[j] * aw;
                    out[check_position(block, i, j)] += dpf_on_grid(x, step);
                    magnitude[check_position(block, i, j)] += fabs(x);
                }
            }
            for (int64_t i = 0; i < d && block->kind == DPF_BLOCK_LINEAR; i++) {
                out[block->offset + i] += dpf_on_grid(t * y[i], step);
                magnitude[block->offset + i] += fabs(t * y[i]);
            }
            if (block->kind == DPF_BLOCK_COUNT) {
                out[block->offset] += dpf_on_grid(w, step);
                magnitude[block->offset] += fabs(w);
            }
        }
    }
}

/* 1 if the number at this place of a row means something: not padding, not above the diagonal. */
static int check_defined(const dpf_query *q, int64_t place)
{
    for (int32_t b = 0; b < q->n_blocks; b++) {
        const dpf_block *block = &q->blocks[b];
        const int64_t at = place - block->offset;
        if (at < 0 || at >= block->length)
            continue;
        return block->layout != DPF_LAYOUT_LOWER || at % block->ld <= at / block->ld;
    }
    return 0;
}

dpf_side_info check_info(int32_t columns, int32_t first, int32_t dimension, int32_t bias, uint32_t layout,
                         int released)
{
    return (dpf_side_info){.size = sizeof(dpf_side_info),
                           .side = DPF_SIDE_ITEMS,
                           .n_self = CHECK_GROUPS,
                           .n_other = CHECK_OTHERS,
                           .columns = columns,
                           .first = first,
                           .dimension = dimension,
                           .bias = bias,
                           .layout = layout,
                           .is_released = released};
}

static void check_near(const double *expected, const double *magnitude, const dpf_query *q, const double *got,
                       double tolerance)
{
    for (int64_t i = 0; i < q->width; i++) {
        if (check_defined(q, i) && !(fabs(got[i] - expected[i]) <= tolerance * (magnitude[i] + 1e-30)))
            fail_msg("place %d of %d (d %d): %.17g, expected %.17g", (int)i, (int)q->width, (int)q->dimension,
                     got[i], expected[i]);
    }
}

void check_accumulate(struct plain_host *host, const dpf_query *q, const struct check_data *c,
                      check_formula formula)
{
    const dpf_loss *loss = host->component->functions;
    const double grid[3] = {0x1p-20, 0x1p-18, 0x1p-10};
    const int64_t stride = q->width + 3;
    double *out = malloc((size_t)(CHECK_GROUPS * stride + 2 * q->width) * sizeof(double));
    double *expected = out + CHECK_GROUPS * stride, *magnitude = expected + q->width;
    assert_non_null(out);
    for (int on_grid = 0; on_grid < 2; on_grid++) {
        const double *steps = on_grid ? grid : NULL;
        for (int64_t i = 0; i < CHECK_GROUPS * stride; i++)
            out[i] = 77;
        assert_int_equal(loss->accumulate(host->self, plain_call(host), q, &c->groups, steps, out, stride),
                         0);
        for (int64_t g = 0; g < CHECK_GROUPS; g++) {
            check_naive(q, &c->groups, g, steps, formula, expected, magnitude);
            check_near(expected, magnitude, q, out + g * stride, on_grid ? 0 : 1e-13);
            for (int64_t i = q->width; i < stride; i++)
                assert_true(out[g * stride + i] == 77);
        }
    }
    free(out);
}

/* Each record alone, times its factor, rounded and added as integers; those left out may hold anything. */
static void check_scaled_group(const dpf_query *q, const struct check_data *c, int64_t g,
                               check_formula formula, const double *factors, const double *grid,
                               const int64_t *got)
{
    double *one = malloc((size_t)(2 * q->width) * sizeof(double));
    int64_t *sums = calloc((size_t)q->width, sizeof(int64_t));
    assert_true(one && sums);
    for (int64_t e = c->offsets[g]; e < c->offsets[g + 1]; e++) {
        const int64_t alone[2] = {e, e + 1};
        dpf_groups single = c->groups;
        single.offsets = alone;
        if (factors[c->others[e]] == 0)
            continue;
        check_naive(q, &single, 0, NULL, formula, one, one + q->width);
        for (int32_t b = 0; b < q->n_blocks; b++)
            for (int32_t i = q->blocks[b].offset; i < q->blocks[b].offset + q->blocks[b].length; i++)
                sums[i] += (int64_t)nearbyint(factors[c->others[e]] * one[i] / grid[b]);
    }
    assert_memory_equal(got, sums, (size_t)q->width * sizeof(int64_t));
    free(one);
    free(sums);
}

void check_scaled(struct plain_host *host, const dpf_query *q, const struct check_data *c,
                  check_formula formula)
{
    const dpf_loss *loss = host->component->functions;
    static const double grids[2][3] = {{0x1p-40, 0x1p-34, 0x1p-10}, {0x1p-2, 0x1p-1, 2}};
    const int64_t stride = q->width + 3;
    int64_t *out = malloc((size_t)(CHECK_GROUPS * stride) * sizeof(int64_t));
    double factors[CHECK_OTHERS];
    float *left_out = c->factors + 5 * c->other.stride, kept[64];
    const size_t bytes = (size_t)(c->other.stride < 64 ? c->other.stride : 64) * sizeof(float);
    assert_non_null(out);
    memcpy(kept, left_out, bytes);
    for (int coarse = 0; coarse < 2; coarse++) {
        for (int64_t u = 0; u < CHECK_OTHERS; u++)
            factors[u] = u % 5 == 0 && u ? 0 : coarse ? 1 : check_uniform();
        for (int64_t i = 0; coarse && i < CHECK_OTHERS * c->other.stride; i++)
            c->factors[i] = (float)(int)(4 * c->factors[i]) / 4; /* products are multiples of 1/16 */
        left_out[0] = NAN;
        assert_int_equal(loss->accumulate_scaled(host->self, plain_call(host), q, &c->groups, factors,
                                                 grids[coarse], out, stride),
                         0);
        for (int64_t g = 0; g < CHECK_GROUPS; g++)
            check_scaled_group(q, c, g, formula, factors, grids[coarse], out + g * stride);
        memcpy(left_out, kept, bytes);
    }
    free(out);
}

void check_local(struct plain_host *host, const dpf_query *q, const struct check_data *c,
                 check_formula formula)
{
    const dpf_loss *loss = host->component->functions;
    const int64_t stride = (q->width + 15) / 16 * 16, w = q->width;
    float *all = aligned_alloc(64, (size_t)(CHECK_GROUPS * stride) * 4),
          *one = aligned_alloc(64, (size_t)stride * 4);
    double *expected = malloc((size_t)(3 * w) * sizeof(double));
    assert_true(all);
    assert_true(one);
    assert_true(expected);
    double *got = expected + 2 * w;
    assert_int_equal(loss->accumulate_local(host->self, plain_call(host), q, &c->groups, all, stride), 0);
    for (int64_t g = 0; g < CHECK_GROUPS; g++) {
        check_naive(q, &c->groups, g, NULL, formula, expected, expected + w);
        for (int64_t i = 0; i < w; i++)
            got[i] = check_defined(q, i) ? all[g * stride + i] : 0;
        check_near(expected, expected + w, q, got, 1e-6);
        dpf_groups single = c->groups;
        single.n_groups = 1;
        single.rows += g;
        single.offsets += g;
        assert_int_equal(loss->accumulate_local(host->self, plain_call(host), q, &single, one, stride), 0);
        for (int64_t i = 0; i < w; i++) {
            if (check_defined(q, i))
                assert_memory_equal(&one[i], &all[g * stride + i], sizeof(float));
        }
    }
    free(all);
    free(one);
    free(expected);
}

void check_apply(struct plain_host *host, const dpf_query *operator_query, const dpf_query *full,
                 const struct check_data *c, check_formula formula)
{
    const dpf_loss *loss = host->component->functions;
    const int64_t d = full->dimension, p = (d + 15) / 16 * 16;
    float *x = aligned_alloc(64, (size_t)(CHECK_GROUPS * p) * 4),
          *out = aligned_alloc(64, (size_t)(CHECK_GROUPS * p) * 4);
    double *a = malloc((size_t)(2 * full->width) * sizeof(double));
    assert_true(x);
    assert_true(out);
    assert_true(a);
    for (int64_t i = 0; i < CHECK_GROUPS * p; i++)
        x[i] = i % p < d ? (float)(2 * check_uniform() - 1) : 0;
    assert_int_equal(loss->apply(host->self, plain_call(host), operator_query, &c->groups, x, p, out, p), 0);
    for (int64_t g = 0; g < CHECK_GROUPS; g++) {
        check_naive(full, &c->groups, g, NULL, formula, a, a + full->width);
        for (int64_t i = 0; i < p; i++) {
            double sum = 0, size = 1e-30;
            for (int64_t j = 0; j < d && i < d; j++) {
                sum += a[i * d + j] * x[g * p + j];
                size += (a + full->width)[i * d + j] * fabs(x[g * p + j]);
            }
            if (!(fabs(out[g * p + i] - sum) <= 4e-6 * size))
                fail_msg("product %d of %d: %.9g, expected %.9g", (int)i, (int)d, (double)out[g * p + i],
                         sum);
        }
    }
    free(x);
    free(out);
    free(a);
}
