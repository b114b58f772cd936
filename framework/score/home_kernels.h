/* SPDX-License-Identifier: Apache-2.0 */
/*
 * home_kernels.h - how alike two items i and j are by public facts; 0 where i = j.
 *
 *     K_T  min(1.5, sum over shared words w of 1 / log(1 + n_w)), where n_w items, 2 to 12, have the word; words are those of
 *          titles, and categories of fields that are text;
 *     K_C  (g_i g_j)^2 prod exp(-((x_i - x_j) / w)^2): g are the other categories, over their norm, or 1 where the file has
 *          none; x are the numbers, and w is FEATURE_WIDTH deviations. A number that one of both lacks says nothing.
 *
 * K_C is a product of a table of sets of categories and one of sets of numbers.
 */
#ifndef DPF_SCORE_HOME_KERNELS_H
#define DPF_SCORE_HOME_KERNELS_H

#include "dataset/feature_classes.h"

struct home_kernels {
    int64_t n_items;
    int64_t *near_ptr; /* K_T, by item */
    int32_t *near_item;
    float *near_value;
    struct feature_classes classes;
    float *by_categories, *by_numbers; /* squares of the sets' numbers */
};

/* words: of titles. Fails where there are too many sets, naming the key. */
int home_kernels_make(const struct feature_table *features, const struct feature_table *words,
                      struct home_kernels *out, struct dpf_error *error);
void home_kernels_free(struct home_kernels *kernels);

static inline double home_kernel_of_classes(const struct home_kernels *k, int64_t a, int64_t b)
{
    const struct feature_classes *c = &k->classes;
    return (double)k->by_categories[c->categories[a] * c->n_categories + c->categories[b]] *
           (double)k->by_numbers[c->numbers[a] * c->n_numbers + c->numbers[b]];
}
double home_kernel_of_words(const struct home_kernels *kernels, int64_t item, int32_t other);
/* Sums over classes of x K_C: x, weights by class. */
void home_kernels_spread(const struct home_kernels *kernels, const double *weights, double *out);

#endif
