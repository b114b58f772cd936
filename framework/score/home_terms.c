/* SPDX-License-Identifier: Apache-2.0 */
#include "score/home_terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "score/home_loadings.h"

#define LEAST_POPULARITY 0.02
#define LEAST_EXPECTED 0.3
#define BEST 10
#define OF_BEST (1.0 / 6)
#define OF_WORDS 0.6
#define USUAL_RECORDS 100.0
#define LEAST_RECORDS 10.0
#define MOST_RESIDUAL 2.0
#define RIDGE 2.5
#define OF_CLASSES 0.15
#define WIDTH_OF_BIAS 0.4

/* ---- popularity --------------------------------------------------------------------------------------------- */

static int make_popularity(const double *popularity, struct home_terms *home)
{
    const struct feature_classes *classes = &home->kernels.classes;
    const int64_t n_items = home->kernels.n_items, n = classes->n;
    double most = 0, *weights = memory_new((size_t)n + 1, sizeof *weights),
           *sums = memory_raw((size_t)n + 1, sizeof *sums);
    home->root = memory_raw((size_t)n_items + 1, sizeof *home->root);
    home->expected = memory_raw((size_t)n_items + 1, sizeof *home->expected);
    const int status = weights && sums && home->root && home->expected ? 0 : -1;
    for (int64_t i = 0; i < n_items && status == 0; i++)
        most = fmax(most, popularity[i]);
    for (int64_t i = 0; i < n_items && status == 0; i++) {
        home->root[i] = fmax(most > 0 ? popularity[i] / most : 0, LEAST_POPULARITY);
        weights[classes->of_item[i]] += home->root[i];
    }
    if (status == 0)
        home_kernels_spread(&home->kernels, weights, sums);
    for (int64_t i = 0; i < n_items && status == 0; i++) {
        const int64_t c = classes->of_item[i];
        home->expected[i] =
            fmax(sums[c] - home->root[i] * home_kernel_of_classes(&home->kernels, c, c), LEAST_EXPECTED);
        home->root[i] = sqrt(home->root[i]);
    }
    free(weights);
    free(sums);
    return status;
}

static int open_kernels(const struct feature_table *features, const struct feature_table *words,
                        int64_t n_items, struct home_terms *out, struct dpf_error *error)
{
    *out = (struct home_terms){.root = NULL};
    if (features->rows != n_items || features->columns == 0)
        return error_set(error, DPF_FAULT_CONFIG,
                         "[model] home-terms reads public facts about items: name their file by [data] "
                         "item-features");
    return home_kernels_make(features, words, &out->kernels, error);
}

int home_terms_open_lists(const struct feature_table *features, const struct feature_table *words,
                          int64_t n_items, const double *popularity, struct home_terms *out,
                          struct dpf_error *error)
{
    if (open_kernels(features, words, n_items, out, error) != 0)
        return -1;
    if (make_popularity(popularity, out) == 0)
        return 0;
    home_terms_close(out);
    return error_memory(error);
}

int home_terms_open_values(const struct feature_table *features, const struct feature_table *words,
                           int64_t n_items, const float *released, int64_t n, int64_t stride,
                           struct home_terms *out, struct dpf_error *error)
{
    if (open_kernels(features, words, n_items, out, error) != 0)
        return -1;
    out->loadings = home_loadings_make(features, released, n, stride, &out->n_loadings);
    if (out->loadings)
        return 0;
    home_terms_close(out);
    return error_memory(error);
}

void home_terms_close(struct home_terms *home)
{
    home_kernels_free(&home->kernels);
    free(home->root);
    free(home->expected);
    free(home->loadings);
    *home = (struct home_terms){.root = NULL};
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
    return home->kernels.n_items + 2 * home->kernels.classes.n;
}

/* How far the largest scores are above the mean; the user's own items are not among the largest. */
static double height_of_best(const double *scores, int64_t n_items, const int32_t *own, int64_t n_own)
{
    double best[BEST], mean = 0, sum = 0;
    int64_t kept = 0;
    for (int64_t i = 0, k = 0; i < n_items; i++) {
        mean += scores[i] / (double)n_items;
        if (k < n_own && own[k] == i) {
            k++;
            continue;
        }
        if (kept == BEST && scores[i] <= best[BEST - 1])
            continue;
        int64_t at = kept < BEST ? kept++ : BEST - 1;
        for (; at > 0 && best[at - 1] < scores[i]; at--)
            best[at] = best[at - 1];
        best[at] = scores[i];
    }
    for (int64_t k = 0; k < kept; k++)
        sum += best[k] - mean;
    return kept > 0 ? fmax(sum / (double)kept, 0) : 0;
}

void home_terms_lists(const struct home_terms *home, const int32_t *items, int64_t n, int same, double *work,
                      double *scores)
{
    const struct home_kernels *kernels = &home->kernels;
    const struct feature_classes *classes = &kernels->classes;
    const int64_t n_items = kernels->n_items, c = classes->n;
    double *content = work, *weights = content + n_items, *sums = weights + c;
    for (int64_t i = 0; i < n_items && same; i++)
        scores[i] = 2 * log(home->root[i]);
    const double scale =
                     same ? deviation(scores, n_items) : OF_BEST * height_of_best(scores, n_items, items, n),
                 of_words = scale * OF_WORDS * sqrt(USUAL_RECORDS / fmax((double)n, LEAST_RECORDS));
    memset(weights, 0, (size_t)c * sizeof *weights);
    for (int64_t k = 0; k < n; k++)
        weights[classes->of_item[items[k]]]++;
    home_kernels_spread(kernels, weights, sums);
    for (int64_t i = 0; i < n_items; i++)
        content[i] = sums[classes->of_item[i]] / home->expected[i];
    for (int64_t k = 0; k < n; k++) {
        const int64_t class = classes->of_item[items[k]];
        content[items[k]] -= home_kernel_of_classes(kernels, class, class) / home->expected[items[k]];
    }
    const double spread_of = fmax(deviation(content, n_items), 1e-9);
    for (int64_t i = 0; i < n_items; i++)
        scores[i] += scale * content[i] / spread_of * home->root[i];
    for (int64_t k = 0; k < n; k++)
        for (int64_t s = kernels->near_ptr[items[k]]; s < kernels->near_ptr[items[k] + 1]; s++)
            scores[kernels->near_item[s]] += of_words * (double)kernels->near_value[s];
}

/* ---- values ------------------------------------------------------------------------------------------------- */

double home_terms_value(const struct home_terms *home, const int32_t *items, const double *residuals,
                        int64_t n, const float *bias, int64_t item)
{
    double sum = 0, all = RIDGE;
    const struct home_kernels *kernels = &home->kernels;
    const int32_t *class_of = kernels->classes.of_item;
    for (int64_t k = 0; k < n; k++) {
        if (items[k] == item)
            continue;
        const double content = home_kernel_of_classes(kernels, class_of[item], class_of[items[k]]),
                     off = ((double)bias[item] - (double)bias[items[k]]) / WIDTH_OF_BIAS;
        const double weight = home_kernel_of_words(kernels, item, items[k]) +
                              (content > 0 ? OF_CLASSES * content * exp(-off * off) : 0);
        sum += weight * fmin(fmax(residuals[k], -MOST_RESIDUAL), MOST_RESIDUAL);
        all += weight;
    }
    return sum / all;
}
