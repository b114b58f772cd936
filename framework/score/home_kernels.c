/* SPDX-License-Identifier: Apache-2.0 */
#include "score/home_kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define LEAST_ITEMS 2 /* that have a word, for it to say something; */
#define MOST_ITEMS 12 /* and not nothing */
#define MOST_WORDS 1.5

/* ---- words -------------------------------------------------------------------------------------------------- */

/* Items by word, and words by item. */
struct words {
    int64_t *item_ptr, *word_ptr;
    int32_t *words, *items;
};

static void words_free(struct words *w)
{
    free(w->item_ptr);
    free(w->word_ptr);
    free(w->words);
    free(w->items);
}

/* Words of titles, and after them the columns of fields that are text. */
static int list_words(const struct feature_table *titles, const struct feature_table *f,
                      const unsigned char *wide, struct words *out)
{
    const int64_t rows = f->rows, all = (titles->rows ? titles->ptr[titles->rows] : 0) + f->ptr[rows];
    int64_t n = 0;
    out->item_ptr = memory_new((size_t)rows + 1, sizeof *out->item_ptr);
    out->words = memory_raw((size_t)all + 1, sizeof *out->words);
    if (!out->item_ptr || !out->words)
        return -1;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t k = titles->rows ? titles->ptr[i] : 0; titles->rows && k < titles->ptr[i + 1]; k++)
            out->words[n++] = titles->at[k];
        for (int64_t k = f->ptr[i]; k < f->ptr[i + 1]; k++)
            if (wide[f->at[k]])
                out->words[n++] = (int32_t)titles->columns + f->at[k];
        out->item_ptr[i + 1] = n;
    }
    return 0;
}

static int turn_words(struct words *w, int64_t rows, int64_t columns)
{
    w->word_ptr = memory_new((size_t)columns + 2, sizeof *w->word_ptr);
    w->items = memory_raw((size_t)w->item_ptr[rows] + 1, sizeof *w->items);
    if (!w->word_ptr || !w->items)
        return -1;
    for (int64_t k = 0; k < w->item_ptr[rows]; k++)
        w->word_ptr[w->words[k] + 2]++;
    for (int64_t c = 0; c < columns; c++)
        w->word_ptr[c + 2] += w->word_ptr[c + 1];
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = w->item_ptr[i]; k < w->item_ptr[i + 1]; k++)
            w->items[w->word_ptr[w->words[k] + 1]++] = (int32_t)i;
    return 0;
}

/* Sums of a row of K_T into `row`, and the items in `found`; returns how many. */
static int64_t sum_row(const struct words *w, int64_t i, double *row, int32_t *found)
{
    int64_t n = 0;
    for (int64_t k = w->item_ptr[i]; k < w->item_ptr[i + 1]; k++) {
        const int64_t word = w->words[k], first = w->word_ptr[word], end = w->word_ptr[word + 1],
                      shared = end - first;
        for (int64_t s = first; s < end && shared >= LEAST_ITEMS && shared <= MOST_ITEMS; s++) {
            if (w->items[s] == i)
                continue;
            if (row[w->items[s]] <= 0)
                found[n++] = w->items[s];
            row[w->items[s]] += 1 / log1p((double)shared);
        }
    }
    return n;
}

static int sum_rows(const struct words *words, struct home_kernels *out)
{
    size_t room = 0, room_values = 0;
    const int64_t n_items = out->n_items;
    double *row = memory_new((size_t)n_items + 1, sizeof *row);
    int32_t *found = memory_raw((size_t)n_items + 1, sizeof *found);
    out->near_ptr = memory_new((size_t)n_items + 1, sizeof *out->near_ptr);
    int status = row && found && out->near_ptr ? 0 : -1;
    for (int64_t i = 0; i < n_items && status == 0; i++) {
        const int64_t first = out->near_ptr[i], n = sum_row(words, i, row, found);
        int32_t *at = memory_grow(out->near_item, &room, (size_t)(first + n) + 1, sizeof *at);
        out->near_item = at ? at : out->near_item;
        float *values = memory_grow(out->near_value, &room_values, (size_t)(first + n) + 1, sizeof *values);
        out->near_value = values ? values : out->near_value;
        status = at && values ? 0 : -1;
        for (int64_t k = 0; k < n && status == 0; k++) {
            at[first + k] = found[k];
            values[first + k] = (float)fmin(row[found[k]], MOST_WORDS);
            row[found[k]] = 0;
        }
        out->near_ptr[i + 1] = first + n;
    }
    free(row);
    free(found);
    return status;
}

static int make_words(const struct feature_table *features, const struct feature_table *titles,
                      const unsigned char *wide, struct home_kernels *out)
{
    struct words words = {NULL, NULL, NULL, NULL};
    int status = list_words(titles, features, wide, &words);
    if (status == 0)
        status = turn_words(&words, features->rows, titles->columns + features->columns);
    if (status == 0)
        status = sum_rows(&words, out);
    words_free(&words);
    return status;
}

double home_kernel_of_words(const struct home_kernels *kernels, int64_t item, int32_t other)
{
    for (int64_t s = kernels->near_ptr[item]; s < kernels->near_ptr[item + 1]; s++)
        if (kernels->near_item[s] == other)
            return (double)kernels->near_value[s];
    return 0;
}

/* ---- classes ------------------------------------------------------------------------------------------------ */

/* What two rows, ascending by column, have in common. */
struct common {
    double shared, in_a, in_b, far;
};

static struct common compare_items(const struct feature_table *f, const unsigned char *wide, int64_t a,
                                   int64_t b)
{
    struct common c = {0, 0, 0, 0};
    int64_t i = f->ptr[a], j = f->ptr[b];
    for (int64_t k = f->ptr[a]; k < f->ptr[a + 1]; k++)
        c.in_a += f->column[f->at[k]].kind == DPF_FEATURE_CATEGORY && !wide[f->at[k]];
    for (int64_t k = f->ptr[b]; k < f->ptr[b + 1]; k++)
        c.in_b += f->column[f->at[k]].kind == DPF_FEATURE_CATEGORY && !wide[f->at[k]];
    while (i < f->ptr[a + 1] && j < f->ptr[b + 1]) {
        const dpf_feature_column *column = &f->column[f->at[i]];
        if (f->at[i] != f->at[j]) {
            *(f->at[i] < f->at[j] ? &i : &j) += 1;
            continue;
        }
        const double off =
            ((double)f->values[i] - (double)f->values[j]) / (FEATURE_WIDTH * column->deviation);
        if (column->kind == DPF_FEATURE_NUMBER)
            c.far += off * off;
        else
            c.shared += !wide[f->at[i]];
        i++;
        j++;
    }
    return c;
}

/* items: one of each set. of_numbers: of the table of sets of numbers. any: the file has categories that are no text. */
static float *make_table(const struct feature_table *f, const unsigned char *wide, const int32_t *items,
                         int64_t n, int of_numbers, int any)
{
    float *table = memory_raw((size_t)(n * n) + 1, sizeof *table);
    for (int64_t a = 0; a < n && table; a++)
        for (int64_t b = 0; b <= a; b++) {
            const struct common c = compare_items(f, wide, items[a], items[b]);
            const double all = c.in_a * c.in_b, of_categories = !any      ? 1
                                                                : all > 0 ? c.shared * c.shared / all
                                                                          : 0;
            table[a * n + b] = table[b * n + a] = (float)(of_numbers ? exp(-c.far) : of_categories);
        }
    return table;
}

static int make_classes(const struct feature_table *features, const unsigned char *wide,
                        struct home_kernels *out, struct dpf_error *error)
{
    struct feature_classes *c = &out->classes;
    int any = 0;
    if (feature_classes_make(features, wide, c) != 0)
        return error_memory(error);
    if (feature_classes_check(c, error) != 0)
        return -1;
    for (int64_t k = 0; k < features->columns; k++)
        any |= features->column[k].kind == DPF_FEATURE_CATEGORY && !wide[k];
    out->by_categories = make_table(features, wide, c->item_of_categories, c->n_categories, 0, any);
    out->by_numbers = make_table(features, wide, c->item_of_numbers, c->n_numbers, 1, any);
    return out->by_categories && out->by_numbers ? 0 : error_memory(error);
}

void home_kernels_spread(const struct home_kernels *kernels, const double *weights, double *out)
{
    const struct feature_classes *c = &kernels->classes;
    memset(out, 0, (size_t)c->n * sizeof *out);
    for (int64_t a = 0; a < c->n; a++) {
        if (!(weights[a] > 0))
            continue;
        const float *numbers = kernels->by_numbers + c->numbers[a] * c->n_numbers;
        for (int64_t set = 0; set < c->n_categories; set++) {
            const double alike =
                weights[a] * (double)kernels->by_categories[c->categories[a] * c->n_categories + set];
            for (int64_t b = c->first[set]; alike > 0 && b < c->first[set + 1]; b++)
                out[b] += alike * (double)numbers[c->numbers[b]];
        }
    }
}

/* ---- both --------------------------------------------------------------------------------------------------- */

int home_kernels_make(const struct feature_table *features, const struct feature_table *words,
                      struct home_kernels *out, struct dpf_error *error)
{
    unsigned char *wide = feature_wide_columns(features);
    *out = (struct home_kernels){.n_items = features->rows};
    int status = wide && make_words(features, words, wide, out) == 0 ? 0 : error_memory(error);
    if (status == 0)
        status = make_classes(features, wide, out, error);
    free(wide);
    if (status != 0)
        home_kernels_free(out);
    return status;
}

void home_kernels_free(struct home_kernels *kernels)
{
    free(kernels->near_ptr);
    free(kernels->near_item);
    free(kernels->near_value);
    feature_classes_free(&kernels->classes);
    free(kernels->by_categories);
    free(kernels->by_numbers);
    *kernels = (struct home_kernels){.n_items = 0};
}
