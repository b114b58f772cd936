/* SPDX-License-Identifier: Apache-2.0 */
#include "score/home_terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define LEAST_ITEMS 2 /* that have a word, for it to say something; */
#define MOST_ITEMS 12 /* and not nothing */
#define MOST_WORDS 1.5
#define WIDTH 0.24 /* of numbers, in deviations */
#define LEAST_POPULARITY 0.02
#define LEAST_EXPECTED 0.3
#define OF_WORDS 0.6
#define USUAL_RECORDS 100.0
#define LEAST_RECORDS 10.0
#define MOST_RESIDUAL 2.0
#define RIDGE 4.0
#define OF_CLASSES 0.15
#define WIDTH_OF_BIAS 0.4

/* ---- words -------------------------------------------------------------------------------------------------- */

/* Items by word: the transpose of the table. */
static int transpose(const struct feature_table *words, int64_t **ptr, int32_t **items)
{
    const int64_t n = words->rows ? words->ptr[words->rows] : 0;
    *ptr = memory_new((size_t)words->columns + 2, sizeof **ptr);
    *items = memory_raw((size_t)n + 1, sizeof **items);
    if (!*ptr || !*items)
        return -1;
    for (int64_t k = 0; k < n; k++)
        (*ptr)[words->at[k] + 2]++;
    for (int64_t w = 0; w < words->columns; w++)
        (*ptr)[w + 2] += (*ptr)[w + 1];
    for (int64_t i = 0; i < words->rows; i++)
        for (int64_t k = words->ptr[i]; k < words->ptr[i + 1]; k++)
            (*items)[(*ptr)[words->at[k] + 1]++] = (int32_t)i;
    return 0;
}

/* Sums of a row of K_T into `row`, and the items in `found`; returns how many. */
static int64_t sum_row(const struct feature_table *words, const int64_t *ptr, const int32_t *items, int64_t i,
                       double *row, int32_t *found)
{
    int64_t n = 0;
    for (int64_t k = words->ptr[i]; k < words->ptr[i + 1]; k++) {
        const int64_t w = words->at[k], shared = ptr[w + 1] - ptr[w];
        for (int64_t s = ptr[w]; s < ptr[w + 1] && shared >= LEAST_ITEMS && shared <= MOST_ITEMS; s++) {
            if (items[s] == i)
                continue;
            if (row[items[s]] <= 0)
                found[n++] = items[s];
            row[items[s]] += 1 / log1p((double)shared);
        }
    }
    return n;
}

static int make_words(const struct feature_table *words, struct home_terms *home)
{
    int64_t *ptr = NULL;
    int32_t *items = NULL;
    size_t room = 0, room_values = 0;
    const int64_t n_items = home->n_items;
    double *row = memory_new((size_t)n_items + 1, sizeof *row);
    int32_t *found = memory_raw((size_t)n_items + 1, sizeof *found);
    home->near_ptr = memory_new((size_t)n_items + 1, sizeof *home->near_ptr);
    int status = row && found && home->near_ptr ? transpose(words, &ptr, &items) : -1;
    for (int64_t i = 0; i < n_items && status == 0; i++) {
        const int64_t first = home->near_ptr[i],
                      n = words->columns ? sum_row(words, ptr, items, i, row, found) : 0;
        int32_t *at = memory_grow(home->near_item, &room, (size_t)(first + n) + 1, sizeof *at);
        home->near_item = at ? at : home->near_item;
        float *values = memory_grow(home->near_value, &room_values, (size_t)(first + n) + 1, sizeof *values);
        home->near_value = values ? values : home->near_value;
        status = at && values ? 0 : -1;
        for (int64_t k = 0; k < n && status == 0; k++) {
            at[first + k] = found[k];
            values[first + k] = (float)fmin(row[found[k]], MOST_WORDS);
            row[found[k]] = 0;
        }
        home->near_ptr[i + 1] = first + n;
    }
    free(ptr);
    free(items);
    free(row);
    free(found);
    return status;
}

/* ---- classes ------------------------------------------------------------------------------------------------ */

static int row_order(const struct feature_table *f, int64_t a, int64_t b)
{
    const int64_t na = f->ptr[a + 1] - f->ptr[a], nb = f->ptr[b + 1] - f->ptr[b];
    int order = na != nb ? (na > nb) - (na < nb)
                         : memcmp(f->at + f->ptr[a], f->at + f->ptr[b], (size_t)na * sizeof *f->at);
    return order ? order
                 : memcmp(f->values + f->ptr[a], f->values + f->ptr[b], (size_t)na * sizeof *f->values);
}

struct by_row {
    const struct feature_table *features;
    int32_t item;
};

static int compare_rows(const void *a, const void *b)
{
    const struct by_row *x = a, *y = b;
    const int order = row_order(x->features, x->item, y->item);
    return order ? order : (x->item > y->item) - (x->item < y->item);
}

/* Classes are numbered in the order of their rows; `of` is an item of each. */
static int64_t find_classes(const struct feature_table *features, struct home_terms *home, int32_t *of)
{
    int64_t n = 0;
    struct by_row *rows = memory_raw((size_t)home->n_items + 1, sizeof *rows);
    if (!rows)
        return -1;
    for (int64_t i = 0; i < home->n_items; i++)
        rows[i] = (struct by_row){features, (int32_t)i};
    qsort(rows, (size_t)home->n_items, sizeof *rows, compare_rows);
    for (int64_t i = 0; i < home->n_items; i++) {
        if (i == 0 || row_order(features, rows[i - 1].item, rows[i].item) != 0)
            of[n++] = rows[i].item;
        home->class_of[rows[i].item] = (int32_t)(n - 1);
    }
    free(rows);
    return n;
}

/* Of two rows, ascending by column; a number that one of them lacks says nothing. */
static double alike(const struct feature_table *f, int64_t a, int64_t b)
{
    double shared = 0, na = 0, nb = 0, far = 0;
    int64_t i = f->ptr[a], j = f->ptr[b];
    for (int64_t k = f->ptr[a]; k < f->ptr[a + 1]; k++)
        na += f->column[f->at[k]].kind == DPF_FEATURE_CATEGORY;
    for (int64_t k = f->ptr[b]; k < f->ptr[b + 1]; k++)
        nb += f->column[f->at[k]].kind == DPF_FEATURE_CATEGORY;
    while (i < f->ptr[a + 1] && j < f->ptr[b + 1]) {
        const dpf_feature_column *column = &f->column[f->at[i]];
        if (f->at[i] != f->at[j]) {
            *(f->at[i] < f->at[j] ? &i : &j) += 1;
            continue;
        }
        const double off = ((double)f->values[i] - (double)f->values[j]) / (WIDTH * column->deviation);
        if (column->kind == DPF_FEATURE_CATEGORY)
            shared++;
        else
            far += off * off;
        i++;
        j++;
    }
    const double all = na * nb;
    return all > 0 ? shared * shared / all * exp(-far) : 0;
}

static int make_classes(const struct feature_table *features, struct home_terms *home,
                        struct dpf_error *error)
{
    int32_t *of = memory_raw((size_t)home->n_items + 1, sizeof *of);
    home->class_of = memory_new((size_t)home->n_items + 1, sizeof *home->class_of);
    home->n_classes = of && home->class_of ? find_classes(features, home, of) : -1;
    if (home->n_classes > HOME_MOST_CLASSES) {
        free(of);
        return error_set(
            error, DPF_FAULT_CONFIG,
            "[model] home-terms: items have %lld combinations of categories and numbers, more than %d: "
            "name fewer of them in [data] item-features, or set home-terms = no",
            (long long)home->n_classes, HOME_MOST_CLASSES);
    }
    const int64_t n = home->n_classes;
    home->classes = n < 0 ? NULL : memory_raw((size_t)(n * n) + 1, sizeof *home->classes);
    for (int64_t a = 0; a < n && home->classes; a++)
        for (int64_t b = 0; b <= a; b++)
            home->classes[a * n + b] = home->classes[b * n + a] = (float)alike(features, of[a], of[b]);
    free(of);
    return home->classes ? 0 : error_memory(error);
}

/* ---- popularity --------------------------------------------------------------------------------------------- */

/* Sums over classes of x K_C, x weights by class. */
static void spread(const struct home_terms *home, const double *weights, double *out)
{
    const int64_t n = home->n_classes;
    memset(out, 0, (size_t)n * sizeof *out);
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; weights[a] > 0 && b < n; b++)
            out[b] += weights[a] * (double)home->classes[a * n + b];
}

static int make_popularity(const double *popularity, struct home_terms *home)
{
    const int64_t n_items = home->n_items, n = home->n_classes;
    double most = 0, *weights = memory_new((size_t)n + 1, sizeof *weights),
           *sums = memory_raw((size_t)n + 1, sizeof *sums);
    home->root = memory_raw((size_t)n_items + 1, sizeof *home->root);
    home->expected = memory_raw((size_t)n_items + 1, sizeof *home->expected);
    const int status = weights && sums && home->root && home->expected ? 0 : -1;
    for (int64_t i = 0; i < n_items && status == 0; i++)
        most = fmax(most, popularity[i]);
    for (int64_t i = 0; i < n_items && status == 0; i++) {
        home->root[i] = fmax(most > 0 ? popularity[i] / most : 0, LEAST_POPULARITY);
        weights[home->class_of[i]] += home->root[i];
    }
    if (status == 0)
        spread(home, weights, sums);
    for (int64_t i = 0; i < n_items && status == 0; i++) {
        const int64_t c = home->class_of[i];
        home->expected[i] = fmax(sums[c] - home->root[i] * (double)home->classes[c * n + c], LEAST_EXPECTED);
        home->root[i] = sqrt(home->root[i]);
    }
    free(weights);
    free(sums);
    return status;
}

int home_terms_open(const struct feature_table *features, const struct feature_table *words, int64_t n_items,
                    const double *popularity, struct home_terms *out, struct dpf_error *error)
{
    *out = (struct home_terms){.n_items = n_items};
    if (features->rows != n_items || features->columns == 0)
        return error_set(error, DPF_FAULT_CONFIG,
                         "[model] home-terms = yes reads public facts about items: name their file by [data] "
                         "item-features");
    int status = make_words(words, out) == 0 ? make_classes(features, out, error) : error_memory(error);
    if (status == 0 && popularity && make_popularity(popularity, out) != 0)
        status = error_memory(error);
    if (status != 0)
        home_terms_close(out);
    return status;
}

void home_terms_close(struct home_terms *home)
{
    free(home->near_ptr);
    free(home->near_item);
    free(home->near_value);
    free(home->class_of);
    free(home->classes);
    free(home->root);
    free(home->expected);
    *home = (struct home_terms){.n_items = 0};
}

/* ---- lists -------------------------------------------------------------------------------------------------- */

static double deviation(const double *x, int64_t n)
{
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (int64_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean) / (double)n;
    return sqrt(squares);
}

int64_t home_terms_work(const struct home_terms *home)
{
    return home->n_items + 2 * home->n_classes;
}

void home_terms_lists(const struct home_terms *home, const int32_t *items, int64_t n, double *work,
                      double *scores)
{
    const int64_t n_items = home->n_items, c = home->n_classes;
    double *content = work, *weights = content + n_items, *sums = weights + c;
    const double scale = deviation(scores, n_items),
                 of_words = scale * OF_WORDS * sqrt(USUAL_RECORDS / fmax((double)n, LEAST_RECORDS));
    memset(weights, 0, (size_t)c * sizeof *weights);
    for (int64_t k = 0; k < n; k++)
        weights[home->class_of[items[k]]]++;
    spread(home, weights, sums);
    for (int64_t i = 0; i < n_items; i++)
        content[i] = sums[home->class_of[i]] / home->expected[i];
    for (int64_t k = 0; k < n; k++) {
        const int64_t class = home->class_of[items[k]];
        content[items[k]] -= (double)home->classes[class * c + class] / home->expected[items[k]];
    }
    const double spread_of = fmax(deviation(content, n_items), 1e-9);
    for (int64_t i = 0; i < n_items; i++)
        scores[i] += scale * content[i] / spread_of * home->root[i];
    for (int64_t k = 0; k < n; k++)
        for (int64_t s = home->near_ptr[items[k]]; s < home->near_ptr[items[k] + 1]; s++)
            scores[home->near_item[s]] += of_words * (double)home->near_value[s];
}

/* ---- values ------------------------------------------------------------------------------------------------- */

static double shared_words(const struct home_terms *home, int64_t item, int32_t other)
{
    for (int64_t s = home->near_ptr[item]; s < home->near_ptr[item + 1]; s++)
        if (home->near_item[s] == other)
            return (double)home->near_value[s];
    return 0;
}

double home_terms_value(const struct home_terms *home, const int32_t *items, const double *residuals,
                        int64_t n, const float *bias, int64_t item)
{
    double sum = 0, all = RIDGE;
    const float *of_class = home->classes + home->class_of[item] * home->n_classes;
    for (int64_t k = 0; k < n; k++) {
        if (items[k] == item)
            continue;
        const double content = (double)of_class[home->class_of[items[k]]],
                     off = ((double)bias[item] - (double)bias[items[k]]) / WIDTH_OF_BIAS;
        const double weight =
            shared_words(home, item, items[k]) + (content > 0 ? OF_CLASSES * content * exp(-off * off) : 0);
        sum += weight * fmin(fmax(residuals[k], -MOST_RESIDUAL), MOST_RESIDUAL);
        all += weight;
    }
    return sum / all;
}
