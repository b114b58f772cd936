/* SPDX-License-Identifier: Apache-2.0 */
/*
 * home_terms.h - terms of a score that a user's device computes from public facts about items and the user's own records.
 *
 * The terms are not released. They follow from a release, public features and one user's records, and belong to that user
 * alone. So they are post-processing under joint differential privacy (docs/privacy-derivations.md). home_kernels.h has the
 * kernels K_T and K_C, home_loadings.h the loadings.
 *
 * Lists. With S the scores of a user who has n records x, s a sixth of what the mean of the 10 largest scores of items that the
 * user does not have is above the mean of all, and p = max(popularity / its maximum, .02), the score becomes
 *     S + s (.6 T + C sqrt(p)),   T = (x K_T) sqrt(100 / max(n, 10)),   C = (x K_C) / max(p K_C, .3) over its deviation.
 * So the terms weigh what a list's scores do, however many items a release says nothing of.
 * Where the released scores are the same for everybody, S is log(p): the order is that of p, and the terms have room; s is its deviation.
 * Values. The user's regression has further loadings. With e_k the residual of own record k in a fit that leaves k out, and
 * b the biases, in quarters of the range, the value becomes that of the model
 *     + sum_k K_jk clip(e_k, 2) / (2.5 + sum_k K_jk),   K_jk = K_T + .15 K_C exp(-((b_j - b_k) / .4)^2).
 * The constants of the kernels come from a prototype that was tuned on MovieLens 1M; s, 2.5 and the loadings were chosen on
 * ml-latest-small and MovieLens 100K.
 */
#ifndef DPF_SCORE_HOME_TERMS_H
#define DPF_SCORE_HOME_TERMS_H

#include "score/home_kernels.h"

struct home_terms {
    struct home_kernels kernels;
    double *root; /* sqrt(p), of lists */
    double *expected;
    float *loadings; /* n_items x n_loadings, of values */
    int64_t n_loadings;
};

/* For lists, by items' popularity. Faults of features name the key. */
int home_terms_open_lists(const struct feature_table *features, const struct feature_table *words,
                          int64_t n_items, const double *popularity, struct home_terms *out,
                          struct dpf_error *error);
/* For values; released: items' loadings, n a row, `stride` apart. */
int home_terms_open_values(const struct feature_table *features, const struct feature_table *words,
                           int64_t n_items, const float *released, int64_t n, int64_t stride,
                           struct home_terms *out, struct dpf_error *error);
void home_terms_close(struct home_terms *home);

/* work: of n_items + n_classes numbers. */
int64_t home_terms_work(const struct home_terms *home);
/* scores: of all items; where they are the same for everybody (`same`), they are not read. items: the user's own, ascending. */
void home_terms_lists(const struct home_terms *home, const int32_t *items, int64_t n, int same, double *work,
                      double *scores);
/* What is added to the value of one item, in quarters. residuals: of the own records. bias: of all items. */
double home_terms_value(const struct home_terms *home, const int32_t *items, const double *residuals,
                        int64_t n, const float *bias, int64_t item);

#endif
