/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kit/test.h"
#include "score/little_known.h"

static dpf_array column_of(const char *name, const void *data, int64_t rows, int64_t stride)
{
    return (dpf_array){.name = name, .rows = rows, .columns = 1, .stride = stride, .data = data};
}

static void expect(const struct score_form *form, int64_t n, const uint8_t *items)
{
    uint8_t by_item[8];
    memset(by_item, 7, sizeof by_item);
    int64_t wanted = 0;
    for (int64_t i = 0; i < form->n_items; i++)
        wanted += items[i];
    assert_int_equal(wanted, n);
    assert_int_equal(little_known_items(form, by_item), n);
    assert_memory_equal(by_item, items, (size_t)form->n_items);
    assert_int_equal(by_item[form->n_items], 7);
}

TEST(variances_that_no_count_has_lowered)
{
    /* Every second number: rows of a state may have more columns. */
    const float variance[] = {.1F, 9, .02F, 9, .1F, 9, .0999999F, 9, .09F, 9};
    struct score_form form = {.formula = SCORE_RIDGE, .n_items = 5};
    form.arrays[RIDGE_VARIANCE] = column_of("variance", variance, 5, 2);
    expect(&form, 3, (const uint8_t[]){1, 0, 1, 1, 0});
    /* One that is not there, as of private-als, tells nothing. */
    form.arrays[RIDGE_VARIANCE].name = NULL;
    expect(&form, 0, (const uint8_t[]){0, 0, 0, 0, 0});
}

TEST(popularities_at_the_floor)
{
    const float popularity[] = {.5F, .01F, .01F, .02F};
    const int32_t column[] = {0, 1, -1, -1};
    struct score_form form = {.formula = SCORE_EASE, .n_items = 4};
    form.arrays[EASE_POPULARITY] = column_of("popularity", popularity, 4, 1);
    form.arrays[EASE_COLUMN] = column_of("column", column, 4, 1);
    expect(&form, 1, (const uint8_t[]){0, 0, 1, 0});
}

TEST(all_or_none)
{
    const float variance[] = {.1F, .1F};
    struct score_form form = {.formula = SCORE_RIDGE, .n_items = 2};
    form.arrays[RIDGE_VARIANCE] = column_of("variance", variance, 2, 1);
    expect(&form, 0, (const uint8_t[]){0, 0});
}

TEST(others_have_no_counts)
{
    const double sums[] = {3, -1};
    struct score_form base = {.formula = SCORE_BASE, .n_items = 2};
    base.arrays[BASE_BASE] = column_of("base", sums, 2, 1);
    expect(&base, 0, (const uint8_t[]){0, 0}); /* they are last in its order */
    const struct score_form rows = {.formula = SCORE_ROWS, .n_items = 2}, none = {.formula = SCORE_RIDGE};
    expect(&rows, 0, (const uint8_t[]){0, 0});
    expect(&none, 0, (const uint8_t[]){0});
}
