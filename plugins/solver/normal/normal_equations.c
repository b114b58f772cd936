/* SPDX-License-Identifier: Apache-2.0 */
#include "normal_equations.h"

#include <string.h>

const dpf_block *normal_block(const dpf_query *query, int32_t kind)
{
    for (int32_t b = 0; b < query->n_blocks; b++) {
        if (query->blocks[b].kind == kind)
            return &query->blocks[b];
    }
    return NULL;
}

/* matrix (lower) += the quadratic block of a row. */
static void add_quadratic(const dpf_block *a, const float *row, int64_t d, int64_t padded, float *matrix)
{
    const float *from = row + a->offset;
    for (int64_t i = 0; i < d; i++) {
        float *to = matrix + i * padded;
        if (a->layout == DPF_LAYOUT_FULL) { /* asymmetric after i.i.d. noise */
            for (int64_t j = 0; j <= i; j++)
                to[j] += 0.5f * (from[i * a->ld + j] + from[j * a->ld + i]);
            continue;
        }
        const float *line = from + (a->layout == DPF_LAYOUT_PACKED ? i * (i + 1) / 2 : i * a->ld);
        for (int64_t j = 0; j <= i; j++)
            to[j] += line[j];
    }
}

void normal_add_symmetric(const dpf_block *a, const float *row, int64_t d, double *matrix)
{
    const float *from = row + a->offset;
    for (int64_t i = 0; i < d; i++) {
        const float *line = from + (a->layout == DPF_LAYOUT_PACKED ? i * (i + 1) / 2 : i * a->ld);
        for (int64_t j = 0; j <= i; j++) {
            const double x =
                a->layout == DPF_LAYOUT_FULL ? 0.5 * ((double)line[j] + from[j * a->ld + i]) : line[j];
            matrix[i * d + j] += x;
            if (j < i)
                matrix[j * d + i] += x;
        }
    }
}

static void prepare_gram(const dpf_solve *batch, const dpf_query *query, struct normal *n)
{
    const dpf_block *a = normal_block(query, DPF_BLOCK_QUADRATIC);
    const dpf_block *b = normal_block(query, DPF_BLOCK_LINEAR);
    const dpf_block *count = normal_block(query, DPF_BLOCK_COUNT);
    add_quadratic(a, batch->gram, n->d, n->padded, n->base);
    for (int64_t i = 0; b && i < n->d; i++)
        n->base_b[i] = batch->gram[b->offset + i];
    for (int64_t i = 0; count && query->ridge_per_count && i < n->d; i++)
        n->base[i * n->padded + i] += query->ridge_per_count[i] * batch->gram[count->offset];
}

dpf_status normal_blocks_find(const dpf_host *host, const dpf_query *query, const char *text,
                              struct normal_blocks *out)
{
    *out = (struct normal_blocks){.a = normal_block(query, DPF_BLOCK_QUADRATIC),
                                  .b = normal_block(query, DPF_BLOCK_LINEAR),
                                  .count = normal_block(query, DPF_BLOCK_COUNT)};
    if (query->form == DPF_FORM_QUADRATIC && out->a && out->b && out->a->layout != DPF_LAYOUT_OPERATOR)
        return DPF_OK;
    return host->fail(host, DPF_E_UNSUPPORTED, -1, text);
}

void normal_gram(const dpf_solve *batch, int64_t d, double *matrix, double *b, double *count)
{
    const dpf_query *query = batch->gram_query ? batch->gram_query : batch->query;
    const dpf_block *linear = normal_block(query, DPF_BLOCK_LINEAR);
    const dpf_block *n = normal_block(query, DPF_BLOCK_COUNT);
    memset(matrix, 0, (size_t)(d * d) * sizeof(double));
    memset(b, 0, (size_t)d * sizeof(double));
    *count = 0;
    if (!batch->gram)
        return;
    normal_add_symmetric(normal_block(query, DPF_BLOCK_QUADRATIC), batch->gram, d, matrix);
    for (int64_t i = 0; linear && i < d; i++)
        b[i] = batch->gram[linear->offset + i];
    if (n)
        *count = batch->gram[n->offset];
}

dpf_status normal_prepare(const dpf_host *host, const dpf_solve *batch, float *base, float *base_b,
                          struct normal *out)
{
    const dpf_query *query = batch->query;
    const int64_t d = query->dimension, padded = (d + 15) / 16 * 16;
    *out = (struct normal){batch,
                           normal_block(query, DPF_BLOCK_QUADRATIC),
                           normal_block(query, DPF_BLOCK_LINEAR),
                           normal_block(query, DPF_BLOCK_COUNT),
                           d,
                           padded,
                           base,
                           base_b};
    if (query->form != DPF_FORM_QUADRATIC || !out->a || !out->b)
        return host->fail(host, DPF_E_UNSUPPORTED, -1,
                          "this solver needs a quadratic query: use a loss such as implicit-als");
    memset(base, 0, (size_t)(padded * padded) * sizeof(float));
    memset(base_b, 0, (size_t)padded * sizeof(float));
    for (int64_t i = 0; i < padded; i++) {
        if (i >= d)
            base[i * padded + i] = 1;
        else if (query->ridge_constant)
            base[i * padded + i] = query->ridge_constant[i];
    }
    if (batch->gram)
        prepare_gram(batch, batch->gram_query ? batch->gram_query : query, out);
    return DPF_OK;
}

void normal_matrix_general(const struct normal *normal, int64_t row, float *matrix)
{
    const float *blocks = normal->batch->blocks + row * normal->batch->blocks_stride;
    memcpy(matrix, normal->base, (size_t)(normal->padded * normal->padded) * sizeof(float));
    add_quadratic(normal->a, blocks, normal->d, normal->padded, matrix);
}

void normal_add_count(const struct normal *normal, int64_t row, float *matrix)
{
    const float *ridge = normal->batch->query->ridge_per_count;
    if (!ridge || !normal->count)
        return;
    const float count = normal->batch->blocks[row * normal->batch->blocks_stride + normal->count->offset];
    for (int64_t i = 0; i < normal->d; i++)
        matrix[i * normal->padded + i] += ridge[i] * count;
}

void normal_rhs(const struct normal *normal, int64_t row, float *rhs)
{
    const float *b = normal->batch->blocks + row * normal->batch->blocks_stride + normal->b->offset;
    memset(rhs, 0, (size_t)normal->padded * sizeof(float));
    for (int64_t i = 0; i < normal->d; i++)
        rhs[i] = 0.5f * (b[i] + normal->base_b[i]);
}

void normal_settle_void(const struct normal *normal, float *matrix, const float *rhs)
{
    int64_t d = normal->d, p = normal->padded;
    for (int64_t i = 0; i < d; i++) {
        if (rhs[i] != 0 || matrix[i * p + i] != 0)
            continue;
        int alone = 1;
        for (int64_t j = 0; j < d && alone; j++)
            alone = j == i || matrix[j < i ? i * p + j : j * p + i] == 0;
        if (alone)
            matrix[i * p + i] = 1;
    }
}

dpf_status normal_fail(const dpf_host *host, const dpf_solve *batch, int64_t row, const char *text)
{
    char line[256];
    char digits[24];
    size_t n = 0, used = 0;
    int64_t number = batch->first_row + row;
    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    const char *const head = batch->side == DPF_SIDE_USERS ? "user row " : "item row ";
    memcpy(line, head, strlen(head));
    used = strlen(head);
    while (n > 0)
        line[used++] = digits[--n];
    line[used++] = ':';
    line[used++] = ' ';
    const size_t room = sizeof(line) - used - 1, length = strlen(text) < room ? strlen(text) : room;
    memcpy(line + used, text, length);
    line[used + length] = '\0';
    return host->fail(host, DPF_E_NUMERIC, -1, line);
}
