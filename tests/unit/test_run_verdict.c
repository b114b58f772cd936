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

static void rival(struct verdict_input *input, const char *name, double epsilon,
                  const struct metrics *metrics)
{
    input->rivals[input->n_rivals++] = (struct verdict_rival){name, epsilon, metrics};
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
    rival(&input, "popularity", 0, metric_of(&popular, "ndcg@10", 0.20, 1000));
    says(&input, VERDICT_BETTER,
         "ranks better than a list of popular items: ndcg@10 is 0.3000 against 0.2000 (+50 %)", "");
    own.item.value = 0.21; /* 1000 users cannot tell that from 0.20 */
    says(&input, VERDICT_SAME, "does not rank reliably better than", "which may be chance with 1000 users");
    assert_false(verdict_gives_reason(&input)); /* so nothing is trained for it */
    own.item.n = 1000000;                       /* a million can */
    says(&input, VERDICT_BETTER, "ranks better than", "");
    own.item.n = 1000;
    own.item.value = 0.10;
    says(&input, VERDICT_WORSE, "ranks worse than", "compare = non-private shows");
    assert_true(verdict_gives_reason(&input));
    input.model = "private-popularity"; /* the simplest model has no reason to give */
    assert_false(verdict_gives_reason(&input));
}

static void ratings_are_compared_with_their_mean(void **state)
{
    struct one own, mean;
    (void)state;
    struct verdict_input input = {.users = 1000, .items = 10, .records = 100000};
    input.test = metric_of(&own, "rmse", 0.9, 5000);
    rival(&input, "mean", 0, metric_of(&mean, "rmse", 1.1, 5000));
    says(&input, VERDICT_BETTER,
         "predicts better than the mean of all ratings: rmse is 0.9000 against 1.1000", "");
    own.item.value = 1.1005;
    says(&input, VERDICT_SAME, "does not predict reliably better than", "");
    own.item.value = 1.3;
    says(&input, VERDICT_WORSE, "predicts worse than", "");
    assert_string_equal(verdict_rivals(&own.metrics, 0)[0], "mean");
    assert_string_equal(verdict_rivals(&own.metrics, 0)[2], "private-biases");
    /* Ratings of implicit feedback are no ratings. */
    assert_null(verdict_rivals(&own.metrics, 1));
    input.n_rivals = 0;
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
    rival(&input, "popularity", 0, metric_of(&popular, "hr@10", 0.20, 500));
    says(&input, VERDICT_WORSE, "only 10 records an item", "compare = non-private shows");
    input.non_private = metric_of(&twin, "hr@10", 0.40, 500);
    says(&input, VERDICT_WORSE, "Noise and clips are the cause: without them hr@10 is 0.4000",
         "only 10 records an item");
    input.records = 1000000;
    says(&input, VERDICT_WORSE, "Noise and clips are the cause", "larger epsilon");
    twin.item.value = 0.15;
    says(&input, VERDICT_WORSE,
         "Noise and clips cost accuracy, but even without them hr@10 would be 0.1500, ",
         "better than a list of popular items.");
    char *sentence = verdict_text(&input);
    assert_null(strstr(sentence, "larger epsilon"));
    assert_null(strstr(sentence, "are the cause"));
    free(sentence);
    twin.item.value = 0.06;
    says(&input, VERDICT_WORSE, "Noise is not the cause", "other parameters");
    says(&input, VERDICT_WORSE, "configs/recommended", "");
    /* The recommended models themselves are not sent to configs/recommended, nor to keys that they lack. */
    input.model = "private-gram";
    says(&input, VERDICT_WORSE, "There is little to learn", "");
    sentence = verdict_text(&input);
    assert_null(strstr(sentence, "configs/recommended"));
    free(sentence);
    twin.item.value = 0.40;
    sentence = verdict_text(&input);
    assert_non_null(strstr(sentence, "larger epsilon, or more users"));
    assert_null(strstr(sentence, "rank."));
    free(sentence);
}

/* What could be released instead decides, and is advised where it is better. */
static void the_fallback_of_the_same_epsilon_decides(void **state)
{
    struct one own, popular, released;
    char *sentence;
    (void)state;
    struct verdict_input input = {.implicit = 1,
                                  .has_noise = 1,
                                  .model = "private-gram",
                                  .users = 500,
                                  .items = 100,
                                  .records = 100000};
    input.test = metric_of(&own, "ndcg@10", 0.20, 5000);
    rival(&input, "popularity", 0, metric_of(&popular, "ndcg@10", 0.25, 5000));
    rival(&input, "private-popularity", 1, metric_of(&released, "ndcg@10", 0.10, 5000));
    says(&input, VERDICT_BETTER,
         "ranks better than a list of popular items released with the same epsilon (private-popularity): "
         "ndcg@10 is 0.2000 against 0.1000 (+100 %).",
         "Without privacy a list of popular items would have 0.2500.");
    says(&input, VERDICT_BETTER, "These figures are private", "no epsilon covers it (C10)");
    released.item.value = 0.24;
    says(&input, VERDICT_WORSE, "ranks worse than", "dpframe start FILE recipe=private-popularity");
    released.item.value = 0.201;
    says(&input, VERDICT_SAME, "which may be chance", "configs/corrected/private-popularity.ini");
    /* The fallback itself is not advised to itself, nor blamed. */
    input.model = "private-popularity";
    says(&input, VERDICT_WORSE, "ranks worse than a list of popular items: ndcg@10 is 0.2000 against 0.2500",
         "");
    sentence = verdict_text(&input);
    assert_null(strstr(sentence, "recipe="));
    assert_null(strstr(sentence, "epsilon"));
    free(sentence);
}

/* Of ratings: with noise the released biases decide, or the mean where there are none; without, exact ones.
 */
static void ratings_are_compared_with_biases(void **state)
{
    struct one own, mean, biases, released;
    (void)state;
    struct verdict_input input = {.users = 1000, .items = 10, .records = 100000, .model = "private-ratings"};
    input.test = metric_of(&own, "rmse", 0.95, 5000);
    rival(&input, "mean", 0, metric_of(&mean, "rmse", 1.1, 5000));
    rival(&input, "biases", 0, metric_of(&biases, "rmse", 0.9, 5000));
    says(&input, VERDICT_WORSE,
         "predicts worse than biases of users and items: rmse is 0.9500 against 0.9000",
         "Without privacy the mean of all ratings would have 1.1000.");
    input.has_noise = 1;
    says(&input, VERDICT_BETTER, "predicts better than the mean of all ratings",
         "Without privacy biases of users and items would have 0.9000.");
    rival(&input, "private-biases", 1, metric_of(&released, "rmse", 0.94, 5000));
    says(&input, VERDICT_WORSE, "worse than biases released with the same epsilon (private-biases)",
         "recipe=private-biases");
    says(&input, VERDICT_WORSE, "(+1.1 %)",
         "Without privacy biases of users and items would have 0.9000, the mean of all ratings 1.1000.");
    released.item.value = 1;
    says(&input, VERDICT_BETTER, "predicts better than biases released", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_compared_with_popular_items),
        cmocka_unit_test(ratings_are_compared_with_their_mean),
        cmocka_unit_test(the_reason_is_named),
        cmocka_unit_test(the_fallback_of_the_same_epsilon_decides),
        cmocka_unit_test(ratings_are_compared_with_biases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
