/* SPDX-License-Identifier: Apache-2.0 */
#include "ease_state.h"

#include <math.h>
#include <string.h>

#define LARGEST 1e9F          /* of a number in a state, so that scores are finite */
#define LEAST_POPULARITY 0.02 /* of the largest count: what is less is noise, mostly */

/* ---- layout ---------------------------------------------------------------------------------------------
 */

static uint64_t padded(uint64_t numbers)
{
    return (numbers * 4 + 63) / 64 * 64;
}

int64_t ease_state_width(const struct ease_header *header)
{
    return (header->whole ? 0 : header->r) + header->d;
}

static uint64_t layout_bytes(const struct ease_header *h)
{
    return sizeof *h + 3 * padded((uint64_t)h->n_items) + padded((uint64_t)h->m) +
           padded((uint64_t)(h->m * ease_state_width(h))) + padded((uint64_t)(h->r * h->m)) +
           padded((uint64_t)(h->d * h->n_items));
}

uint64_t ease_state_room(int64_t n_items, int64_t most_columns)
{
    const int64_t m = most_columns < n_items ? most_columns : n_items;
    const struct ease_header largest = {
        .n_items = n_items, .m = m, .r = m + 2 * GRAM_MOST_SPAN, .d = GRAM_MOST_CROSSING};
    return n_items < 0 || n_items > INT32_MAX || m > 46340 ? 0 : layout_bytes(&largest);
}

struct ease_state ease_state_at(void *bytes)
{
    struct ease_state s = {.header = bytes};
    const struct ease_header *h = s.header;
    unsigned char *at = bytes;
    at += sizeof *h;
    s.column = (int32_t *)(void *)at;
    at += padded((uint64_t)h->n_items);
    s.popularity = (float *)(void *)at;
    at += padded((uint64_t)h->n_items);
    s.undo = (float *)(void *)at;
    at += padded((uint64_t)h->n_items);
    s.weight = (float *)(void *)at;
    at += padded((uint64_t)h->m);
    s.in = (float *)(void *)at;
    at += padded((uint64_t)(h->m * ease_state_width(h)));
    s.out = (float *)(void *)at;
    at += padded((uint64_t)(h->r * h->m));
    s.span = (float *)(void *)at;
    return s;
}

/* ---- the model -------------------------------------------------------------------------------------------
 */

struct ease {
    struct matrix u, v; /* m x r; u NULL: 1 on the diagonal, r = m */
    struct matrix tail; /* m x d: P crossing */
};

/* What is not a number becomes the least. */
static double as_number(double x)
{
    const double above = x > -(double)LARGEST ? x : -(double)LARGEST;
    return above < (double)LARGEST ? above : (double)LARGEST;
}

static void divide_rows(struct matrix *a, const double *by)
{
    for (int32_t k = 0; k < a->columns; k++)
        for (int32_t i = 0; i < a->rows; i++)
            matrix_column(a, k)[i] /= by[i];
}

static int copy_matrix(const dpf_call *call, const struct matrix *from, struct matrix *out)
{
    if (matrix_new(call, from->rows, from->columns, out) != 0)
        return -1;
    memcpy(out->at, from->at, (size_t)from->rows * (size_t)from->columns * sizeof(double));
    return 0;
}

/* diagonal is D. */
static int solve(const dpf_call *call, const struct gram_estimate *estimate, struct ease *out)
{
    const struct matrix *f = &estimate->factor;
    const double *diagonal = estimate->diagonal;
    struct matrix n, projected;
    if (copy_matrix(call, f, &out->u) != 0 || matrix_new(call, f->columns, f->columns, &n) != 0 ||
        matrix_new(call, f->rows, f->columns, &out->v) != 0 ||
        matrix_new(call, f->columns, estimate->crossing.columns, &projected) != 0)
        return -1;
    divide_rows(&out->u, diagonal);
    matrix_multiply(1.0, f, CblasTrans, &out->u, CblasNoTrans, 0.0, &n);
    for (int32_t k = 0; k < n.rows; k++)
        n.at[k + (int64_t)k * n.rows] += 1.0;
    if (positive_inverse(call, &n) != 0)
        return -1;
    matrix_multiply(1.0, &out->u, CblasNoTrans, &n, CblasNoTrans, 0.0, &out->v);
    /* P crossing = crossing / D - v (u' crossing), while v is not yet over P_jj. */
    if (copy_matrix(call, &estimate->crossing, &out->tail) != 0)
        return -1;
    divide_rows(&out->tail, diagonal);
    matrix_multiply(1.0, &out->u, CblasTrans, &estimate->crossing, CblasNoTrans, 0.0, &projected);
    matrix_multiply(-1.0, &out->v, CblasNoTrans, &projected, CblasNoTrans, 1.0, &out->tail);
    for (int32_t j = 0; j < f->rows; j++) {
        double own = 0.0;
        for (int32_t k = 0; k < f->columns; k++)
            own += matrix_column(&out->u, k)[j] * matrix_column(&out->v, k)[j];
        const double p = fmax(1.0 / diagonal[j] - own, 1e-9 / diagonal[j]);
        for (int32_t k = 0; k < f->columns; k++)
            matrix_column(&out->v, k)[j] /= p;
    }
    return 0;
}

/* The Gram as it is, with what is added to its diagonal: EASE by its formula. */
static int solve_whole(const dpf_call *call, struct gram_estimate *estimate, struct ease *out)
{
    struct matrix *p = &estimate->whole;
    const int64_t m = p->rows;
    for (int64_t j = 0; j < m; j++)
        p->at[j * m + j] += estimate->diagonal[j];
    if (positive_inverse(call, p) != 0 ||
        matrix_new(call, p->rows, estimate->crossing.columns, &out->tail) != 0)
        return -1;
    matrix_multiply(1.0, p, CblasNoTrans, &estimate->crossing, CblasNoTrans, 0.0, &out->tail);
    double *own = call->scratch(call, (uint64_t)(m + 1) * sizeof *own);
    if (!own)
        return -1;
    for (int64_t j = 0; j < m; j++)
        own[j] = p->at[j * m + j];
    for (int64_t k = 0; k < m; k++)
        for (int64_t j = 0; j < m; j++)
            p->at[k * m + j] = k == j ? 0.0 : -p->at[k * m + j] / own[j];
    out->u = (struct matrix){NULL, p->rows, p->rows};
    out->v = *p;
    return 0;
}

/* ---- writing it ------------------------------------------------------------------------------------------
 */

static void write_items(const struct gram_plan *plan, const struct item_span *span,
                        const struct ease_state *s)
{
    double most = 1.0;
    for (int64_t i = 0; i < span->n_items; i++)
        most = fmax(most, span->count[i]);
    for (int64_t i = 0; i < span->n_items; i++) {
        s->column[i] = span->column[i];
        s->popularity[i] = (float)(span->count[i] / most);
        s->undo[i] = (float)(pow(span->weight[i], -plan->rescale) *
                             pow(fmax(span->count[i] / most, LEAST_POPULARITY), -plan->discount));
        for (int32_t k = 0; k < span->all.columns; k++)
            s->span[k * span->n_items + i] = (float)as_number(matrix_column(&span->all, k)[i]);
    }
}

static void write_columns(const struct item_span *span, const struct ease *ease, const struct ease_state *s)
{
    const int64_t m = span->m, r = ease->u.columns, d = ease->tail.columns,
                  width = ease_state_width(s->header), factors = width - d;
    for (int64_t k = 0; k < r; k++)
        for (int64_t j = 0; j < m; j++)
            s->out[k * m + j] = (float)as_number(matrix_column(&ease->v, (int32_t)k)[j]);
    for (int64_t j = 0; j < m; j++) {
        s->weight[j] = (float)span->weight[span->item[j]];
        for (int32_t k = 0; k < factors; k++)
            s->in[j * width + k] = (float)as_number(matrix_column(&ease->u, k)[j]);
        for (int32_t k = 0; k < d; k++)
            s->in[j * width + factors + k] = (float)as_number(matrix_column(&ease->tail, k)[j]);
    }
}

uint64_t ease_state_make(const dpf_call *call, const struct gram_plan *plan, const struct item_span *span,
                         struct gram_estimate *estimate, void *bytes, uint64_t room)
{
    struct ease ease;
    double mean = 0.0;
    for (int32_t k = 0; k < span->m; k++)
        mean += estimate->diagonal[k] / span->m;
    for (int32_t k = 0; k < span->m; k++)
        estimate->diagonal[k] = plan->diagonal * estimate->diagonal[k] + fmax(plan->ridge * mean, 1e-6);
    if ((estimate->whole.at ? solve_whole(call, estimate, &ease) : solve(call, estimate, &ease)) != 0)
        return 0;
    const int64_t r = ease.u.columns, d = ease.tail.columns;
    struct ease_header *header = bytes;
    *header = (struct ease_header){.magic = EASE_MAGIC,
                                   .n_items = span->n_items,
                                   .m = span->m,
                                   .r = r,
                                   .d = d,
                                   .values = plan->values,
                                   .whole = !ease.u.at};
    header->bytes = layout_bytes(header);
    if (header->bytes > room) {
        call->host->fail(call->host, DPF_E_INTERNAL, -1, "the model is larger than was planned");
        return 0;
    }
    const struct ease_state state = ease_state_at(bytes);
    write_items(plan, span, &state);
    write_columns(span, &ease, &state);
    return header->bytes;
}
