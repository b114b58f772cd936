/* SPDX-License-Identifier: Apache-2.0 */
#include "dataset/feature_classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

unsigned char *feature_wide_columns(const struct feature_table *features)
{
    unsigned char *wide = memory_new((size_t)features->columns + 1, 1);
    for (int64_t c = 0; wide && c < features->columns;) {
        int64_t end = c;
        while (end < features->columns && features->column[end].field == features->column[c].field)
            end++;
        for (const int is_wide = end - c > FEATURE_WIDE_FIELD; c < end; c++)
            wide[c] = (unsigned char)is_wide;
    }
    return wide;
}

/* ---- sets of one kind --------------------------------------------------------------------------------------- */

/* The part of items' rows that is of one kind. */
struct part {
    int64_t *ptr;
    int32_t *at;
    float *values;
};

static void part_free(struct part *part)
{
    free(part->ptr);
    free(part->at);
    free(part->values);
}

/* step: numbers are rounded to so many deviations, or 0. */
static int part_make(const struct feature_table *f, const unsigned char *wide, int kind, double step,
                     struct part *out)
{
    const int64_t all = f->ptr[f->rows];
    int64_t n = 0;
    *out = (struct part){.ptr = memory_new((size_t)f->rows + 1, sizeof *out->ptr),
                         .at = memory_raw((size_t)all + 1, sizeof *out->at),
                         .values = memory_raw((size_t)all + 1, sizeof *out->values)};
    if (!out->ptr || !out->at || !out->values)
        return -1;
    for (int64_t i = 0; i < f->rows; i++) {
        for (int64_t k = f->ptr[i]; k < f->ptr[i + 1]; k++) {
            const dpf_feature_column *column = &f->column[f->at[k]];
            if (column->kind != kind || wide[f->at[k]])
                continue;
            const double grid = step * column->deviation;
            out->at[n] = f->at[k];
            out->values[n++] =
                step > 0 ? (float)(grid * nearbyint((double)f->values[k] / grid)) : f->values[k];
        }
        out->ptr[i + 1] = n;
    }
    return 0;
}

struct by_row {
    const struct part *part;
    int32_t item;
};

static int row_order(const struct part *p, int64_t a, int64_t b)
{
    const int64_t na = p->ptr[a + 1] - p->ptr[a], nb = p->ptr[b + 1] - p->ptr[b];
    int order = na != nb ? (na > nb) - (na < nb)
                         : memcmp(p->at + p->ptr[a], p->at + p->ptr[b], (size_t)na * sizeof *p->at);
    for (int64_t k = 0; order == 0 && k < na; k++) {
        const float x = p->values[p->ptr[a] + k], y = p->values[p->ptr[b] + k];
        order = (x > y) - (x < y);
    }
    return order;
}

static int compare_rows(const void *a, const void *b)
{
    const struct by_row *x = a, *y = b;
    const int order = row_order(x->part, x->item, y->item);
    return order ? order : (x->item > y->item) - (x->item < y->item);
}

/* Sets are numbered in the order of their rows; `of` has an item of each. Returns how many, or -1. */
static int64_t find_sets(const struct part *part, int64_t items, int32_t *set_of, int32_t *of)
{
    int64_t n = 0;
    struct by_row *rows = memory_raw((size_t)items + 1, sizeof *rows);
    if (!rows)
        return -1;
    for (int64_t i = 0; i < items; i++)
        rows[i] = (struct by_row){part, (int32_t)i};
    qsort(rows, (size_t)items, sizeof *rows, compare_rows);
    for (int64_t i = 0; i < items; i++) {
        if (i == 0 || row_order(part, rows[i - 1].item, rows[i].item) != 0)
            of[n++] = rows[i].item;
        set_of[rows[i].item] = (int32_t)(n - 1);
    }
    free(rows);
    return n;
}

static int64_t sets_of(const struct feature_table *f, const unsigned char *wide, int kind, double step,
                       int32_t *set_of, int32_t *of)
{
    struct part part = {NULL, NULL, NULL};
    const int64_t n = part_make(f, wide, kind, step, &part) == 0 ? find_sets(&part, f->rows, set_of, of) : -1;
    part_free(&part);
    return n;
}

/* ---- classes ------------------------------------------------------------------------------------------------ */

struct by_sets {
    int32_t categories, numbers, item;
};

static int compare_sets(const void *a, const void *b)
{
    const struct by_sets *x = a, *y = b;
    if (x->categories != y->categories)
        return x->categories < y->categories ? -1 : 1;
    if (x->numbers != y->numbers)
        return x->numbers < y->numbers ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

/* categories, numbers: the sets of each item. */
static int pair_sets(const int32_t *categories, const int32_t *numbers, int64_t items,
                     struct feature_classes *out)
{
    struct by_sets *pairs = memory_raw((size_t)items + 1, sizeof *pairs);
    out->first = memory_new((size_t)out->n_categories + 1, sizeof *out->first);
    if (!pairs || !out->first) {
        free(pairs);
        return -1;
    }
    for (int64_t i = 0; i < items; i++)
        pairs[i] = (struct by_sets){categories[i], numbers[i], (int32_t)i};
    qsort(pairs, (size_t)items, sizeof *pairs, compare_sets);
    for (int64_t i = 0; i < items; i++) {
        const struct by_sets *pair = &pairs[i], *last = i ? &pairs[i - 1] : NULL;
        if (!last || last->categories != pair->categories || last->numbers != pair->numbers) {
            out->categories[out->n] = pair->categories;
            out->numbers[out->n++] = pair->numbers;
        }
        out->of_item[pair->item] = (int32_t)(out->n - 1);
        out->first[pair->categories + 1] = out->n;
    }
    free(pairs);
    return 0;
}

int feature_classes_make(const struct feature_table *features, const unsigned char *wide,
                         struct feature_classes *out)
{
    const size_t room = (size_t)features->rows + 1;
    int32_t *categories = memory_raw(room, sizeof *categories), *numbers = memory_raw(room, sizeof *numbers);
    *out = (struct feature_classes){.of_item = memory_raw(room, sizeof *out->of_item),
                                    .categories = memory_raw(room, sizeof *out->categories),
                                    .numbers = memory_raw(room, sizeof *out->numbers),
                                    .item_of_categories = memory_raw(room, sizeof *out->item_of_categories),
                                    .item_of_numbers = memory_raw(room, sizeof *out->item_of_numbers)};
    int status = categories && numbers && out->of_item && out->categories && out->numbers &&
                         out->item_of_categories && out->item_of_numbers
                     ? 0
                     : -1;
    for (int rounded = 0; status == 0 && rounded < 2; rounded++)
        if (!rounded || out->n_numbers > FEATURE_MOST_SETS)
            out->n_numbers = sets_of(features, wide, DPF_FEATURE_NUMBER, rounded ? FEATURE_WIDTH / 4 : 0,
                                     numbers, out->item_of_numbers);
    if (status == 0)
        out->n_categories =
            sets_of(features, wide, DPF_FEATURE_CATEGORY, 0, categories, out->item_of_categories);
    if (status == 0)
        status = out->n_numbers < 0 || out->n_categories < 0
                     ? -1
                     : pair_sets(categories, numbers, features->rows, out);
    free(categories);
    free(numbers);
    if (status != 0)
        feature_classes_free(out);
    return status;
}

int feature_classes_check(const struct feature_classes *classes, struct dpf_error *error)
{
    const int of_numbers = classes->n_categories <= FEATURE_MOST_SETS;
    const int64_t n = of_numbers ? classes->n_numbers : classes->n_categories;
    return n <= FEATURE_MOST_SETS
               ? 0
               : error_set(
                     error, DPF_FAULT_CONFIG,
                     "[model] home-terms: the items of [data] item-features have %lld combinations of %s, "
                     "more than %d: name fewer of these columns there, or set home-terms = no",
                     (long long)n, of_numbers ? "numbers" : "categories", FEATURE_MOST_SETS);
}

void feature_classes_free(struct feature_classes *classes)
{
    free(classes->of_item);
    free(classes->first);
    free(classes->categories);
    free(classes->numbers);
    free(classes->item_of_categories);
    free(classes->item_of_numbers);
    *classes = (struct feature_classes){.n = 0};
}
