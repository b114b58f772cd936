/* SPDX-License-Identifier: Apache-2.0 */
#include "score/little_known.h"

#include <string.h>

#define SAME 0.999F /* of variances that were rounded */

static float float_at(const dpf_array *array, int64_t i)
{
    return ((const float *)array->data)[i * array->stride];
}

static int64_t of_variances(const dpf_array *variance, int64_t n, uint8_t *by_item)
{
    float most = 0;
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++)
        most = float_at(variance, i) > most ? float_at(variance, i) : most;
    for (int64_t i = 0; most > 0 && i < n; i++)
        found += by_item[i] = float_at(variance, i) >= SAME * most;
    return found;
}

static int64_t of_popularity(const dpf_array *popularity, const dpf_array *column, int64_t n,
                             uint8_t *by_item)
{
    float least = float_at(popularity, 0);
    int64_t found = 0;
    for (int64_t i = 1; i < n; i++)
        least = float_at(popularity, i) < least ? float_at(popularity, i) : least;
    for (int64_t i = 0; i < n; i++)
        found += by_item[i] =
            ((const int32_t *)column->data)[i * column->stride] < 0 && float_at(popularity, i) <= least;
    return found;
}

int64_t little_known_items(const struct score_form *form, uint8_t *by_item)
{
    const int64_t n = form->n_items;
    int64_t found = 0;
    memset(by_item, 0, (size_t)n);
    const dpf_array *arrays = form->arrays;
    if (n > 0 && form->formula == SCORE_RIDGE && arrays[RIDGE_VARIANCE].name)
        found = of_variances(&arrays[RIDGE_VARIANCE], n, by_item);
    else if (n > 0 && form->formula == SCORE_EASE)
        found = of_popularity(&arrays[EASE_POPULARITY], &arrays[EASE_COLUMN], n, by_item);
    if (found == n)
        memset(by_item, 0, (size_t)n);
    return found == n ? 0 : found;
}
