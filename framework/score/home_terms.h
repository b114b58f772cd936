/* SPDX-License-Identifier: Apache-2.0 */
/*
 * home_terms.h - terms of a score that a user's device computes from public facts about items and the user's own records.
 *
 * The terms are not released. They follow from a release, public features and one user's records, and belong to that user
 * alone. So they are post-processing under joint differential privacy (docs/privacy-derivations.md).
 *
 * Kernels say how alike two items i and j are; they are 0 where i = j:
 *     K_T  min(1.5, sum over shared words w of 1 / log(1 + n_w)), where n_w items, 2 to 12, have the word;
 *     K_C  (g_i g_j)^2 prod exp(-((x_i - x_j) / w)^2): g are the categories, over their norm; x are the numbers, and w is .24
 *          deviations (4 years for films). Items with the same categories and numbers form a class; a table has all pairs.
 *
 * Lists. With S the scores of a user who has n records x, s their deviation over all items, and p = max(popularity / its
 * maximum, .02), the score becomes
 *     S + s (.6 T + C sqrt(p)),   T = (x K_T) sqrt(100 / max(n, 10)),   C = (x K_C) / max(p K_C, .3) over its deviation.
 * Values. With e_k the residual of own record k in a fit that leaves k out, and b the biases, in quarters of the range, the
 * value becomes that of the model
 *     + sum_k K_jk clip(e_k, 2) / (4 + sum_k K_jk),   K_jk = K_T + .15 K_C exp(-((b_j - b_k) / .4)^2).
 * The constants come from a prototype that was tuned on MovieLens 1M.
 */
#ifndef DPF_SCORE_HOME_TERMS_H
#define DPF_SCORE_HOME_TERMS_H

#include "dataset/dataset.h"

#define HOME_MOST_CLASSES 4096 /* classes of items by categories and numbers; their table then has 64 MB */

struct home_terms {
    int64_t n_items;
    int64_t *near_ptr; /* K_T, by item */
    int32_t *near_item;
    float *near_value;
    int64_t n_classes;
    int32_t *class_of;
    float *classes; /* n_classes x n_classes */
    double *root;   /* sqrt(p), of lists */
    double *expected;
};

/* popularity: of items, for lists; NULL for values. Faults of features name the key. */
int home_terms_open(const struct feature_table *features, const struct feature_table *words, int64_t n_items,
                    const double *popularity, struct home_terms *out, struct dpf_error *error);
void home_terms_close(struct home_terms *home);

/* work: of n_items + n_classes numbers. */
int64_t home_terms_work(const struct home_terms *home);
/* scores: of all items; items: the user's own, ascending. */
void home_terms_lists(const struct home_terms *home, const int32_t *items, int64_t n, double *work,
                      double *scores);
/* What is added to the value of one item, in quarters. residuals: of the own records. bias: of all items. */
double home_terms_value(const struct home_terms *home, const int32_t *items, const double *residuals,
                        int64_t n, const float *bias, int64_t item);

#endif
