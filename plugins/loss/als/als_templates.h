/* SPDX-License-Identifier: Apache-2.0 */
/* als_templates.h - als_kernels for one kind of processor: a template, see simd.h. No include guard. */

#include "simd.h"

#include "gram_tiles.h"

#ifndef ALS_TEMPLATES_ONCE
#define ALS_TEMPLATES_ONCE
#define ALS_PREFETCH 12 /* records ahead: rows are scattered, which no hardware prefetcher foresees */
#endif

SIMD_INLINE const float *SIMD(als_row)(const struct als_rows *rows, int64_t r)
{
    return rows->factors->data + rows->index[r] * rows->factors->stride + rows->first;
}

SIMD_INLINE void SIMD(als_prefetch)(const struct als_rows *rows, int64_t r)
{
    if (r < rows->known) {
        const float *y = SIMD(als_row)(rows, r);
        for (int64_t i = 0; i < rows->dimension; i += 16)
            __builtin_prefetch(y + i);
    }
}

SIMD_TARGET static void SIMD(als_gather)(const struct als_rows *rows, float *block)
{
    const int64_t d = rows->dimension, padded = simd_padded(d);
    for (int64_t r = 0; r < rows->n; r++, block += padded) {
        SIMD(als_prefetch)(rows, r + ALS_PREFETCH);
        const float *y = SIMD(als_row)(rows, r);
        int64_t i = 0;
        for (; i + 16 <= d; i += 16)
            SIMD(v_store)(block + i, SIMD(v_load)(y + i));
        if (i < d)
            SIMD(v_store)(block + i, SIMD(v_load_first)(y + i, d - i));
    }
}

SIMD_TARGET static void SIMD(als_scale)(const float *block, const float *weights, int64_t padded, int64_t n,
                                        float *scaled)
{
    for (int64_t r = 0; r < n; r++, block += padded, scaled += padded) {
        const SIMD(v16) w = SIMD(v_all)(weights[r]);
        for (int64_t i = 0; i < padded; i += 16)
            SIMD(v_store)(scaled + i, SIMD(v_mul)(w, SIMD(v_load)(block + i)));
    }
}

/* Strip i / SIMD_ROWS looks after one cache line of each record that follows. */
SIMD_INLINE struct gram_ahead SIMD(als_ahead)(const struct als_rows *rows, int64_t i)
{
    const int64_t line = i / SIMD_ROWS * 16, after = rows->known - rows->n;
    return (struct gram_ahead){.base = rows->factors->data + rows->first + line,
                               .index = rows->index + rows->n,
                               .stride = rows->factors->stride,
                               .n = line < rows->dimension ? after : 0};
}

SIMD_TARGET static void SIMD(als_gram)(const struct als_rows *rows, const float *left, const float *right,
                                       float *out, int64_t out_ld, int add)
{
    const int64_t d = rows->dimension, ld = simd_padded(d), n = rows->n;
    for (int64_t i = 0; i < d; i += SIMD_ROWS) {
        const int64_t chunks = i / 16 + 1, stored = d - i < SIMD_ROWS ? d - i : SIMD_ROWS;
        const struct gram_ahead ahead = SIMD(als_ahead)(rows, i);
        float *to = out + i * out_ld;
        if (add)
            SIMD(gram_strip)(chunks, left + i, ld, right, ld, n, to, out_ld, stored, GRAM_ADD, &ahead);
        else
            SIMD(gram_strip)(chunks, left + i, ld, right, ld, n, to, out_ld, stored, GRAM_SET, &ahead);
    }
}

SIMD_TARGET static void SIMD(als_linear)(const float *block, const float *t, int64_t padded, int64_t n,
                                         float *out, int add)
{
    for (int64_t i = 0; i < padded; i += 16) {
        SIMD(v16) sum = SIMD(v_zero)();
        for (int64_t r = 0; r < n; r++)
            sum = SIMD(v_fma)(SIMD(v_all)(t[r]), SIMD(v_load)(block + r * padded + i), sum);
        SIMD(v_store)(out + i, add ? SIMD(v_add)(SIMD(v_load)(out + i), sum) : sum);
    }
}

/* out += sum of four t y. */
SIMD_INLINE void SIMD(als_combine4)(const float *const y[4], const float t[4], int64_t d, float *out)
{
    const SIMD(v16) t0 = SIMD(v_all)(t[0]), t1 = SIMD(v_all)(t[1]);
    const SIMD(v16) t2 = SIMD(v_all)(t[2]), t3 = SIMD(v_all)(t[3]);
    int64_t i = 0;
    for (; i + 16 <= d; i += 16) {
        SIMD(v16) sum = SIMD(v_fma)(t0, SIMD(v_load)(y[0] + i), SIMD(v_load)(out + i));
        SIMD(v16) more = SIMD(v_mul)(t1, SIMD(v_load)(y[1] + i));
        sum = SIMD(v_fma)(t2, SIMD(v_load)(y[2] + i), sum);
        more = SIMD(v_fma)(t3, SIMD(v_load)(y[3] + i), more);
        SIMD(v_store)(out + i, SIMD(v_add)(sum, more));
    }
    if (i < d) {
        SIMD(v16) sum = SIMD(v_fma)(t0, SIMD(v_load_first)(y[0] + i, d - i), SIMD(v_load)(out + i));
        SIMD(v16) more = SIMD(v_mul)(t1, SIMD(v_load_first)(y[1] + i, d - i));
        sum = SIMD(v_fma)(t2, SIMD(v_load_first)(y[2] + i, d - i), sum);
        more = SIMD(v_fma)(t3, SIMD(v_load_first)(y[3] + i, d - i), more);
        SIMD(v_store)(out + i, SIMD(v_add)(sum, more));
    }
}

/* Records r .. r+3; those past the end repeat the last one with coefficient 0. */
SIMD_INLINE void SIMD(als_four)(const struct als_rows *rows, int64_t r, const float *given, const float *y[4],
                                float t[4])
{
    for (int64_t i = 0; i < 4; i++) {
        const int64_t at = r + i < rows->n ? r + i : rows->n - 1;
        y[i] = SIMD(als_row)(rows, at);
        t[i] = r + i >= rows->n ? 0.0f : given ? given[at] : 1.0f;
    }
}

SIMD_TARGET static void SIMD(als_combine)(const struct als_rows *rows, const float *t, float *out)
{
    for (int64_t r = 0; r < rows->n; r += 4) {
        const float *y[4];
        float t4[4];
        for (int64_t i = 0; i < 4; i++)
            SIMD(als_prefetch)(rows, r + ALS_PREFETCH + i);
        SIMD(als_four)(rows, r, t, y, t4);
        SIMD(als_combine4)(y, t4, rows->dimension, out);
    }
}

SIMD_INLINE void SIMD(als_dot4)(const float *const y[4], const float *x, int64_t d, float out[4])
{
    SIMD(v16) s0 = SIMD(v_zero)(), s1 = s0, s2 = s0, s3 = s0;
    int64_t i = 0;
    for (; i + 16 <= d; i += 16) {
        const SIMD(v16) v = SIMD(v_load)(x + i);
        s0 = SIMD(v_fma)(v, SIMD(v_load)(y[0] + i), s0);
        s1 = SIMD(v_fma)(v, SIMD(v_load)(y[1] + i), s1);
        s2 = SIMD(v_fma)(v, SIMD(v_load)(y[2] + i), s2);
        s3 = SIMD(v_fma)(v, SIMD(v_load)(y[3] + i), s3);
    }
    if (i < d) {
        const SIMD(v16) v = SIMD(v_load)(x + i);
        s0 = SIMD(v_fma)(v, SIMD(v_load_first)(y[0] + i, d - i), s0);
        s1 = SIMD(v_fma)(v, SIMD(v_load_first)(y[1] + i, d - i), s1);
        s2 = SIMD(v_fma)(v, SIMD(v_load_first)(y[2] + i, d - i), s2);
        s3 = SIMD(v_fma)(v, SIMD(v_load_first)(y[3] + i, d - i), s3);
    }
    SIMD(v_sum4)(s0, s1, s2, s3, out);
}

SIMD_TARGET static void SIMD(als_multiply)(const struct als_rows *rows, const float *weights, const float *x,
                                           float *out)
{
    for (int64_t r = 0; r < rows->n; r += 4) {
        const float *y[4];
        float w[4], dot[4];
        SIMD(als_four)(rows, r, weights, y, w);
        SIMD(als_dot4)(y, x, rows->dimension, dot);
        for (int i = 0; i < 4; i++)
            dot[i] *= w[i];
        SIMD(als_combine4)(y, dot, rows->dimension, out);
    }
}

typedef double SIMD(als_doubles) __attribute__((vector_size(8 * SIMD_DOUBLES)));
typedef uint64_t SIMD(als_words) __attribute__((vector_size(8 * SIMD_DOUBLES)));

#define ALS_ROWS 4

/* Four rows by two vectors of columns of the float64 sum; sum has 2 * SIMD_DOUBLES columns. */
SIMD_INLINE void SIMD(als_exact_tile)(const double *left, const double *right, const double *weights,
                                      int64_t padded, int64_t n, double magic, double *sum)
{
    SIMD(als_doubles) total[ALS_ROWS][2];
    memset(total, 0, sizeof(total));
    for (int64_t r = 0; r < n; r++, left += padded, right += padded) {
        SIMD(als_doubles) y[2];
        memcpy(y, right, sizeof(y));
        SIMD_UNROLL for (int i = 0; i < ALS_ROWS; i++)
        {
            SIMD_UNROLL for (int c = 0; c < 2; c++)
            {
                /* y_i y_j is exact in float64, hence symmetric, whatever the weight does after it. */
                SIMD(als_doubles) x = left[i] * y[c];
                if (weights)
                    x *= weights[r];
                total[i][c] += (x + magic) - magic;
            }
        }
    }
    memcpy(sum, total, sizeof(total));
}

SIMD_TARGET static void SIMD(als_exact)(const double *block, const double *weights, int64_t d, int64_t padded,
                                        int64_t n, double grid, double *out, int64_t ld)
{
    enum { COLUMNS = 2 * SIMD_DOUBLES };
    const double magic = grid > 0 ? 6755399441055744.0 * grid : 0; /* as in dpf_on_grid */
    for (int64_t i = 0; i < d; i += ALS_ROWS) {
        for (int64_t j = 0; j < d && j < i + ALS_ROWS; j += COLUMNS) {
            double sum[ALS_ROWS * COLUMNS];
            if (weights)
                SIMD(als_exact_tile)(block + i, block + j, weights, padded, n, magic, sum);
            else
                SIMD(als_exact_tile)(block + i, block + j, NULL, padded, n, magic, sum);
            for (int64_t a = i; a < d && a < i + ALS_ROWS; a++) {
                double *row = out + (ld ? a * ld : a * (a + 1) / 2);
                for (int64_t b = j; b <= a && b < j + COLUMNS; b++)
                    row[b] += sum[(a - i) * COLUMNS + (b - j)];
            }
        }
    }
}

/* x = round(f w y_i y_j / grid) as the bits of a double near 1.5 * 2^52, whose last bit is worth 1: the bits
   are those of magic plus the integer. All wraps modulo 2^64, so that n times magic's can be taken away in
   the end. */
SIMD_INLINE void SIMD(als_scaled_tile)(const double *left, const double *right, const double *weights,
                                       const double *factors, int64_t padded, int64_t n, double magic,
                                       uint64_t *sum)
{
    SIMD(als_words) total[ALS_ROWS][2];
    memset(total, 0, sizeof(total));
    for (int64_t r = 0; r < n; r++, left += padded, right += padded) {
        SIMD(als_doubles) y[2];
        memcpy(y, right, sizeof(y));
        SIMD_UNROLL for (int i = 0; i < ALS_ROWS; i++)
        {
            SIMD_UNROLL for (int c = 0; c < 2; c++)
            {
                SIMD(als_doubles) x = left[i] * y[c];
                if (weights)
                    x *= weights[r];
                total[i][c] += (SIMD(als_words))(x * factors[r] + magic);
            }
        }
    }
    memcpy(sum, total, sizeof(total));
}

static inline uint64_t SIMD(als_bits)(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

SIMD_TARGET static void SIMD(als_exact_scaled)(const double *block, const double *weights,
                                               const double *factors, int64_t d, int64_t padded, int64_t n,
                                               double grid, int64_t *out, int64_t ld)
{
    enum { COLUMNS = 2 * SIMD_DOUBLES };
    const double magic = 6755399441055744.0 * grid; /* as in dpf_on_grid */
    const uint64_t bits = (uint64_t)n * SIMD(als_bits)(magic);
    for (int64_t i = 0; i < d; i += ALS_ROWS) {
        for (int64_t j = 0; j < d && j < i + ALS_ROWS; j += COLUMNS) {
            uint64_t sum[ALS_ROWS * COLUMNS];
            if (weights)
                SIMD(als_scaled_tile)(block + i, block + j, weights, factors, padded, n, magic, sum);
            else
                SIMD(als_scaled_tile)(block + i, block + j, NULL, factors, padded, n, magic, sum);
            for (int64_t a = i; a < d && a < i + ALS_ROWS; a++) {
                int64_t *row = out + (ld ? a * ld : a * (a + 1) / 2);
                for (int64_t b = j; b <= a && b < j + COLUMNS; b++)
                    row[b] = (int64_t)((uint64_t)row[b] + sum[(a - i) * COLUMNS + (b - j)] - bits);
            }
        }
    }
}

SIMD_TARGET static void SIMD(als_linear_scaled)(const double *block, const double *t, const double *factors,
                                                int64_t d, int64_t padded, int64_t n, double grid,
                                                int64_t *out)
{
    const double magic = 6755399441055744.0 * grid;
    const uint64_t bits = (uint64_t)n * SIMD(als_bits)(magic);
    for (int64_t i = 0; i < d; i += SIMD_DOUBLES) {
        SIMD(als_words) total;
        uint64_t sum[SIMD_DOUBLES];
        memset(&total, 0, sizeof(total));
        for (int64_t r = 0; r < n; r++) {
            SIMD(als_doubles) y;
            memcpy(&y, block + r * padded + i, sizeof(y));
            total += (SIMD(als_words))((y * t[r]) * factors[r] + magic);
        }
        memcpy(sum, &total, sizeof(sum));
        for (int64_t k = i; k < d && k < i + SIMD_DOUBLES; k++)
            out[k] = (int64_t)((uint64_t)out[k] + sum[k - i] - bits);
    }
}

/* Whole vectors where they end within the block: what they write beyond a row is written again by the next.
 */
SIMD_TARGET static void SIMD(als_exact_one)(const double *y, double weight, int64_t d, double *out,
                                            int64_t ld)
{
    const int64_t end = ld ? d * ld : d * (d + 1) / 2;
    for (int64_t i = 0; i < d; i++) {
        const int64_t row = ld ? i * ld : i * (i + 1) / 2;
        int64_t j = 0;
        for (; j <= i && row + j + SIMD_DOUBLES <= end; j += SIMD_DOUBLES) {
            SIMD(als_doubles) x;
            memcpy(&x, y + j, sizeof(x));
            x = (y[i] * x) * weight + 0.0; /* no negative zeros: sums have none */
            memcpy(out + row + j, &x, sizeof(x));
        }
        for (; j <= i; j++)
            out[row + j] = (y[i] * y[j]) * weight + 0.0;
    }
}

#undef ALS_ROWS

static const struct als_kernels SIMD(als_kernels) = {
    .gather = SIMD(als_gather),
    .scale = SIMD(als_scale),
    .gram = SIMD(als_gram),
    .linear = SIMD(als_linear),
    .combine = SIMD(als_combine),
    .multiply = SIMD(als_multiply),
    .exact = SIMD(als_exact),
    .exact_one = SIMD(als_exact_one),
    .exact_scaled = SIMD(als_exact_scaled),
    .linear_scaled = SIMD(als_linear_scaled),
};
