/* SPDX-License-Identifier: Apache-2.0 */
/* The sentence after training: better, the same, worse, and the reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/verdict.h"

struct one {
    struct metric item;
    struct metrics metrics;
};

static const struct metrics *metric_of(struct one *one, const char *name, double value, int64_t n)
{
    *one = (struct one){0};
    snprintf(one->item.name, sizeof one->item.name, "%s", name);
    one->item.value = value;
    one->item.low = one->item.high = (double)NAN;
    one->item.n = n;
    one->metrics.items = &one->item;
    one->metrics.n = 1;
    return &one->metrics;
}

static void says(const struct verdict_input *input, enum verdict verdict, const char *text, const char *more)
{
    char *sentence = verdict_text(input);
    assert_int_equal(verdict_judge(input), verdict);
    assert_non_null(sentence);
    if (!strstr(sentence, text) || !strstr(sentence, more))
        fail_msg("neither \"%s\" nor \"%s\" may be missing in: %s", text, more, sentence);
    free(sentence);
}

static void lists_are_compared_with_popular_items(void **state)
{
    struct one own, popular;
    (void)state;
    struct verdict_input input = {
        .implicit = 1, .has_noise = 1, .users = 1000, .items = 10, .records = 100000};
    input.test = metric_of(&own, "ndcg@10", 0.30, 1000);
    input.popularity = metric_of(&popular, "ndcg@10", 0.20, 1000);
    says(&input, VERDICT_BETTER,
         "ranks better than a list of popular items: ndcg@10 is 0.3000 against 0.2000 (+50 %)", "");
    own.item.value = 0.21; /* 1000 users cannot tell that from 0.20 */
    says(&input, VERDICT_SAME, "ranks no better for sure than", "which may be chance with 1000 users");
    own.item.n = 1000000; /* a million can */
    says(&input, VERDICT_BETTER, "ranks better than", "");
    own.item.n = 1000;
    own.item.value = 0.10;
    says(&input, VERDICT_WORSE, "ranks worse than", "compare = non-private tells");
}

static void ratings_are_compared_with_their_mean(void **state)
{
    struct one own, mean;
    (void)state;
    struct verdict_input input = {.users = 1000, .items = 10, .records = 100000};
    input.test = metric_of(&own, "rmse", 0.9, 5000);
    input.mean = metric_of(&mean, "rmse", 1.1, 5000);
    says(&input, VERDICT_BETTER,
         "predicts better than the mean of all ratings: rmse is 0.9000 against 1.1000", "");
    own.item.value = 1.1005;
    says(&input, VERDICT_SAME, "predicts no better for sure than", "");
    own.item.value = 1.3;
    says(&input, VERDICT_WORSE, "predicts worse than", "");
    assert_string_equal(verdict_baseline(&own.metrics, 0), "mean");
    /* Ratings of implicit feedback are no ratings. */
    assert_null(verdict_baseline(&own.metrics, 1));
    input.mean = NULL;
    assert_null(verdict_text(&input));
    assert_int_equal(verdict_judge(&input), VERDICT_NONE);
}

static void the_reason_is_named(void **state)
{
    struct one own, popular, twin;
    (void)state;
    struct verdict_input input = {
        .implicit = 1, .has_noise = 1, .users = 500, .items = 1000, .records = 10000};
    input.test = metric_of(&own, "hr@10", 0.05, 500);
    input.popularity = metric_of(&popular, "hr@10", 0.20, 500);
    says(&input, VERDICT_WORSE, "only 10 records an item", "compare = non-private tells");
    input.non_private = metric_of(&twin, "hr@10", 0.40, 500);
    says(&input, VERDICT_WORSE, "Noise and clips are the reason: without them hr@10 is 0.4000",
         "only 10 records an item");
    input.records = 1000000;
    says(&input, VERDICT_WORSE, "Noise and clips are the reason", "larger epsilon");
    twin.item.value = 0.15;
    says(&input, VERDICT_WORSE, "Noise and clips are the reason", "which would be no better either");
    twin.item.value = 0.06;
    says(&input, VERDICT_WORSE, "It is not the noise", "other parameters");
    says(&input, VERDICT_WORSE, "configs/recommended", "");
    /* The recommended models themselves are not sent to configs/recommended, nor to keys that they lack. */
    input.is_recommender = 1;
    says(&input, VERDICT_WORSE, "There is little to learn", "");
    char *sentence = verdict_text(&input);
    assert_null(strstr(sentence, "configs/recommended"));
    free(sentence);
    twin.item.value = 0.40;
    sentence = verdict_text(&input);
    assert_non_null(strstr(sentence, "larger epsilon, or more users"));
    assert_null(strstr(sentence, "rank."));
    free(sentence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_compared_with_popular_items),
        cmocka_unit_test(ratings_are_compared_with_their_mean),
        cmocka_unit_test(the_reason_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
