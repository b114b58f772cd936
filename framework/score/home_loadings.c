/* SPDX-License-Identifier: Apache-2.0 */
#include "score/home_loadings.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "dataset/feature_classes.h"

#define MOST_CATEGORIES 64
#define MOST_NUMBERS 8
#define BUMPS 9
#define OF_FACTS 0.3 /* standard deviations of users' weights */
#define OF_BUMPS 0.15
#define LEAST_SQUARE 0.003    /* of released loadings that say what facts do */
#define REACH 3.0             /* of numbers, */
#define REACH_OF_PRODUCTS 1.5 /* and of those that multiply categories */

struct layout {
    int32_t categories[MOST_CATEGORIES], numbers[MOST_NUMBERS]; /* columns of the features */
    int64_t n_categories, n_numbers;
    double middles[MOST_NUMBERS][BUMPS];
};

/* The most common categories, in any order, and the first numbers. */
static void choose(const struct feature_table *f, const unsigned char *wide, struct layout *out)
{
    for (int32_t c = 0; c < f->columns; c++) {
        if (f->column[c].kind == DPF_FEATURE_NUMBER) {
            if (out->n_numbers < MOST_NUMBERS)
                out->numbers[out->n_numbers++] = c;
            continue;
        }
        int64_t least = 0;
        for (int64_t k = 1; k < out->n_categories; k++)
            if (f->column[out->categories[k]].mean < f->column[out->categories[least]].mean)
                least = k;
        if (wide[c])
            continue;
        if (out->n_categories < MOST_CATEGORIES)
            out->categories[out->n_categories++] = c;
        else if (f->column[c].mean > f->column[out->categories[least]].mean)
            out->categories[least] = c;
    }
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double standardized(const struct feature_table *f, int64_t entry)
{
    const dpf_feature_column *column = &f->column[f->at[entry]];
    return ((double)f->values[entry] - column->mean) / column->deviation;
}

static int find_middles(const struct feature_table *f, struct layout *out)
{
    double *x = memory_raw((size_t)f->rows + 1, sizeof *x);
    for (int64_t c = 0; c < out->n_numbers && x; c++) {
        int64_t n = 0;
        for (int64_t i = 0; i < f->rows; i++)
            for (int64_t k = f->ptr[i]; k < f->ptr[i + 1]; k++)
                if (f->at[k] == out->numbers[c])
                    x[n++] = standardized(f, k);
        qsort(x, (size_t)n, sizeof *x, compare_numbers);
        for (int64_t b = 0; b < BUMPS; b++)
            out->middles[c][b] = n ? x[(2 * b + 1) * n / (2 * BUMPS)] : 0;
    }
    free(x);
    return x ? 0 : -1;
}

/* Into a row of zeros: categories, numbers, bumps, products. */
static void fill_row(const struct feature_table *f, const struct layout *layout, const unsigned char *wide,
                     int64_t item, float *row)
{
    const int64_t n = layout->n_categories, m = layout->n_numbers;
    double categories = 0, first = 0;
    for (int64_t k = f->ptr[item]; k < f->ptr[item + 1]; k++)
        categories += f->column[f->at[k]].kind == DPF_FEATURE_CATEGORY && !wide[f->at[k]];
    for (int64_t k = f->ptr[item]; k < f->ptr[item + 1]; k++) {
        for (int64_t c = 0; c < n; c++)
            if (layout->categories[c] == f->at[k])
                row[c] = (float)(OF_FACTS / sqrt(categories));
        for (int64_t c = 0; c < m; c++) {
            if (layout->numbers[c] != f->at[k])
                continue;
            const double x = standardized(f, k);
            first = c == 0 ? fmin(fmax(x, -REACH_OF_PRODUCTS), REACH_OF_PRODUCTS) : first;
            row[n + c] = (float)(OF_FACTS * fmin(fmax(x, -REACH), REACH));
            for (int64_t b = 0; b < BUMPS; b++) {
                const double off = (x - layout->middles[c][b]) / FEATURE_WIDTH;
                row[n + m + c * BUMPS + b] = (float)(OF_BUMPS * exp(-off * off / 2));
            }
        }
    }
    for (int64_t c = 0; c < n && m > 0; c++)
        row[n + m + m * BUMPS + c] = (float)(OF_BUMPS / OF_FACTS * (double)row[c] * first);
}

/* Takes the part along the rows of `basis`, of norm 1 or 0, off a column of n numbers, twice for accuracy. */
static void take_off(const double *basis, int64_t n_basis, double *column, int64_t n)
{
    for (int64_t b = 0; b < 2 * n_basis; b++) {
        const double *along = basis + b % n_basis * n;
        double product = 0;
        for (int64_t i = 0; i < n; i++)
            product += along[i] * column[i];
        for (int64_t i = 0; i < n; i++)
            column[i] -= product * along[i];
    }
}

static double norm_of(const double *column, int64_t n)
{
    double squares = 0;
    for (int64_t i = 0; i < n; i++)
        squares += column[i] * column[i];
    return sqrt(squares);
}

/* The first `facts` columns lose what released loadings have: their ridge regression on these, which is Gram and Schmidt's where each
   released column has a further number of its own. */
static int leave_new(const float *released, int64_t d, int64_t stride, int64_t n_items, float *rows,
                     int64_t columns, int64_t facts)
{
    const int64_t n = n_items + d;
    const double ridge = sqrt(LEAST_SQUARE * (double)n_items);
    double *basis = memory_raw((size_t)((d + 1) * n) + 1, sizeof *basis), *column = basis + d * n;
    for (int64_t c = 0; basis && c < d + facts; c++) {
        double *to = c < d ? basis + c * n : column;
        for (int64_t i = 0; i < n_items; i++)
            to[i] = (double)(c < d ? released[i * stride + c] : rows[i * columns + c - d]);
        for (int64_t k = 0; k < d; k++)
            to[n_items + k] = k == c ? ridge : 0;
        const double before = norm_of(to, n);
        take_off(basis, c < d ? c : d, to, n);
        const double after = norm_of(to, n);
        for (int64_t i = 0; i < n && c < d; i++)
            to[i] = after > 1e-6 * before ? to[i] / after : 0;
        for (int64_t i = 0; i < n_items && c >= d; i++)
            rows[i * columns + c - d] = (float)to[i];
    }
    const int status = basis ? 0 : -1;
    free(basis);
    return status;
}

float *home_loadings_make(const struct feature_table *features, const float *released, int64_t n,
                          int64_t stride, int64_t *columns)
{
    struct layout layout = {.n_categories = 0};
    unsigned char *wide = feature_wide_columns(features);
    float *rows = NULL;
    if (wide) {
        choose(features, wide, &layout);
        const int64_t facts = layout.n_categories + layout.n_numbers;
        *columns = facts + layout.n_numbers * BUMPS + (layout.n_numbers > 0 ? layout.n_categories : 0);
        if (find_middles(features, &layout) == 0)
            rows = memory_new((size_t)features->rows + 1, (size_t)(*columns + 1) * sizeof *rows);
        for (int64_t i = 0; rows && i < features->rows; i++)
            fill_row(features, &layout, wide, i, rows + i * *columns);
        if (rows && leave_new(released, n, stride, features->rows, rows, *columns, facts) != 0) {
            free(rows);
            rows = NULL;
        }
    }
    free(wide);
    return rows;
}
