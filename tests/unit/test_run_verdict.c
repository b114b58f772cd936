/* SPDX-License-Identifier: Apache-2.0 */
/* The sentence after training: better, the same, worse, and the reason. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "sanitized.h"
#include "evaluate/user_values.h"
#include "run/verdict.h"

/* A model with that value of one metric, and users whose results spread around it. */
struct one {
    struct metric item;
    struct metrics metrics;
};

#define MOST 64
static struct one *made[MOST];
static int n_made;
static struct random_root *seeded;

/* In [0, 1], evenly over the users, in an order of the model's own. */
static double spread(int64_t user, int model, int64_t n)
{
    static const int64_t steps[] = {1009, 2003, 3001, 4001, 4507, 5003, 6007, 7001, 7507, 8009, 9001, 9511};
    return ((double)((user * steps[model % 12] + 131 * model) % n) + 0.5) / (double)n;
}

/* A list's result is 0 or 1 with that mean; an error spreads by a tenth of itself. */
static void set(struct one *one, double value)
{
    struct user_values *values = one->metrics.by_user;
    const int is_root = values->metrics[0].is_root;
    static int model;
    double sum = 0;
    model++;
    for (int64_t user = 0; user < values->n_users; user++) {
        double *row = user_values_row(values, user), u = spread(user, model, values->n_users);
        row[0] = is_root ? value * value * (0.9 + 0.2 * u) : u < value;
        row[1] = 1;
        sum += row[0];
    }
    one->item.value = is_root ? sqrt(sum / (double)values->n_users) : sum / (double)values->n_users;
}

static const struct metrics *metric_of(struct one *one, const char *name, double value, int64_t n)
{
    struct user_values *values = calloc(1, sizeof *values);
    *one = (struct one){0};
    snprintf(one->item.name, sizeof one->item.name, "%s", name);
    one->item.low = one->item.high = (double)NAN;
    one->item.n = n;
    one->metrics.items = &one->item;
    one->metrics.n = 1;
    one->metrics.by_user = values;
    assert_non_null(values);
    values->n_users = n;
    values->n_metrics = 1;
    values->metrics = calloc(1, sizeof *values->metrics);
    values->rows = calloc((size_t)n * 4, sizeof *values->rows);
    assert_true(values->metrics && values->rows && n_made < MOST);
    snprintf(values->metrics[0].name, sizeof values->metrics[0].name, "%s", name);
    values->metrics[0].is_root = strcmp(name, "rmse") == 0;
    made[n_made++] = one;
    set(one, value);
    return &one->metrics;
}

static int forget(void **state)
{
    (void)state;
    while (n_made > 0)
        user_values_free(made[--n_made]->metrics.by_user);
    random_root_free(seeded);
    seeded = NULL;
    return 0;
}

static int prepare(void **state)
{
    struct dpf_error error;
    (void)state;
    seeded = random_root_seeded(1, "run", &error);
    return seeded ? 0 : -1;
}

static void rival(struct verdict_input *input, const char *name, double epsilon,
                  const struct metrics *metrics)
{
    input->rivals[input->n_rivals++] = (struct verdict_rival){name, epsilon, metrics};
}

static void says(const struct verdict_input *input, enum verdict verdict, const char *text, const char *more)
{
    char *sentence = verdict_text(input);
    if (!SANITIZED) /* it draws what the sentence has drawn */
        assert_int_equal(verdict_judge(input), verdict);
    assert_non_null(sentence);
    if (!strstr(sentence, text) || !strstr(sentence, more))
        fail_msg("neither \"%s\" nor \"%s\" may be missing in: %s", text, more, sentence);
    free(sentence);
}

TEST_WITH(lists_are_compared_with_popular_items, prepare, forget)
{
    static struct one own, popular;
    struct verdict_input input = {
        .seeded = seeded, .implicit = 1, .has_noise = 1, .users = 1000, .items = 10, .records = 100000};
    input.test = metric_of(&own, "ndcg@10", 0.30, 1000);
    rival(&input, "popularity", 0, metric_of(&popular, "ndcg@10", 0.20, 1000));
    says(&input, VERDICT_BETTER,
         "ranks better than a list of popular items: ndcg@10 is 0.3000 against 0.2000 (+50 %)", "");
    set(&own, 0.22); /* 1000 users cannot tell that from 0.20 */
    says(&input, VERDICT_OPEN, "this test part cannot tell whether the model ranks better than",
         "would have been found");
    assert_false(verdict_gives_reason(&input)); /* so nothing is trained for it */
    static struct one many, others;
    input.test = metric_of(&many, "ndcg@10", 0.22, 4000); /* 4,000 can */
    input.rivals[0].metrics = metric_of(&others, "ndcg@10", 0.20, 4000);
    says(&input, VERDICT_BETTER, "ranks better than", "4000 users");
    input.test = &own.metrics;
    input.rivals[0].metrics = &popular.metrics;
    set(&own, 0.10);
    says(&input, VERDICT_WORSE, "ranks worse than", "compare = non-private shows");
    assert_true(verdict_gives_reason(&input));
    input.model = "private-popularity"; /* the simplest model has no reason to give */
    assert_false(verdict_gives_reason(&input));
}

TEST_WITH(ratings_are_compared_with_their_mean, prepare, forget)
{
    static struct one own, mean;
    struct verdict_input input = {.seeded = seeded, .users = 1000, .items = 10, .records = 100000};
    input.test = metric_of(&own, "rmse", 0.9, 2000);
    rival(&input, "mean", 0, metric_of(&mean, "rmse", 1.1, 2000));
    says(&input, VERDICT_BETTER,
         "predicts better than the mean of all ratings: rmse is 0.9000 against 1.1000", "");
    set(&own, 1.1005);
    says(&input, VERDICT_OPEN, "cannot tell whether the model predicts better than", "difference +0.0005");
    set(&own, 1.3);
    says(&input, VERDICT_WORSE, "predicts worse than", "");
    assert_string_equal(verdict_rivals(&own.metrics, 0)[0], "mean");
    assert_string_equal(verdict_rivals(&own.metrics, 0)[2], "private-biases");
    /* Ratings of implicit feedback are no ratings. */
    assert_null(verdict_rivals(&own.metrics, 1));
    input.n_rivals = 0;
    assert_null(verdict_text(&input));
    assert_int_equal(verdict_judge(&input), VERDICT_NONE);
}

TEST_WITH(the_reason_is_named, prepare, forget)
{
    static struct one own, popular, twin;
    struct verdict_input input = {
        .seeded = seeded, .implicit = 1, .has_noise = 1, .users = 500, .items = 1000, .records = 10000};
    input.test = metric_of(&own, "hr@10", 0.05, 500);
    rival(&input, "popularity", 0, metric_of(&popular, "hr@10", 0.20, 500));
    says(&input, VERDICT_WORSE, "only 10 records an item", "compare = non-private shows");
    input.non_private = metric_of(&twin, "hr@10", 0.40, 500);
    says(&input, VERDICT_WORSE, "Noise and clips are the cause: without them hr@10 is 0.4000",
         "only 10 records an item");
    input.records = 1000000;
    says(&input, VERDICT_WORSE, "Noise and clips are the cause", "larger epsilon");
    set(&twin, 0.15);
    says(&input, VERDICT_WORSE,
         "Noise and clips cost accuracy, but even without them hr@10 would be 0.1500, ",
         "better than a list of popular items.");
    input.sampled = 300; /* an estimate, with how far it may be off */
    twin.item.high = twin.item.value + 0.004;
    says(&input, VERDICT_WORSE, "would be 0.1500 ± 0.0040 (from 300 of the users), ", "");
    input.sampled = 0;
    char *sentence = verdict_text(&input);
    assert_null(strstr(sentence, "±"));
    assert_null(strstr(sentence, "larger epsilon"));
    assert_null(strstr(sentence, "are the cause"));
    free(sentence);
    set(&twin, 0.06);
    says(&input, VERDICT_WORSE, "Noise is not the cause", "other parameters");
    says(&input, VERDICT_WORSE, "configs/recommended", "");
    /* The recommended models themselves are not sent to configs/recommended, nor to keys that they lack. */
    input.model = "private-gram";
    says(&input, VERDICT_WORSE, "There is little to learn", "");
    sentence = verdict_text(&input);
    assert_null(strstr(sentence, "configs/recommended"));
    free(sentence);
    set(&twin, 0.40);
    sentence = verdict_text(&input);
    assert_non_null(strstr(sentence, "larger epsilon, or more users"));
    assert_null(strstr(sentence, "rank."));
    free(sentence);
}

/* What the release shows before any test: said of models better and worse, and where nobody looked it is not. */
TEST_WITH(noise_that_hides_every_direction_is_told, prepare, forget)
{
    static struct one own[4], popular[4];
    static const char words[] = "No direction stood out of the noise";
    for (int better = 0; better < 2; better++)
        for (int hidden = 0; hidden < 2; hidden++) {
            struct verdict_input input = {.seeded = seeded,
                                          .implicit = 1,
                                          .has_noise = 1,
                                          .model = "private-gram",
                                          .no_direction = hidden,
                                          .users = 500,
                                          .items = 100,
                                          .records = 100000};
            const int i = 2 * better + hidden;
            input.test = metric_of(&own[i], "ndcg@10", better ? 0.30 : 0.10, 2000);
            rival(&input, "private-popularity", 1, metric_of(&popular[i], "ndcg@10", 0.20, 2000));
            char *sentence = verdict_text(&input);
            assert_non_null(sentence);
            assert_true((strstr(sentence, words) != NULL) == hidden);
            free(sentence);
        }
}

/* What could be released instead decides, and is advised where it is better. */
TEST_WITH(the_fallback_of_the_same_epsilon_decides, prepare, forget)
{
    static struct one own, popular, released;
    char *sentence;
    struct verdict_input input = {.seeded = seeded,
                                  .implicit = 1,
                                  .has_noise = 1,
                                  .model = "private-gram",
                                  .users = 500,
                                  .items = 100,
                                  .records = 100000};
    input.test = metric_of(&own, "ndcg@10", 0.20, 2000);
    rival(&input, "popularity", 0, metric_of(&popular, "ndcg@10", 0.25, 2000));
    rival(&input, "private-popularity", 1, metric_of(&released, "ndcg@10", 0.10, 2000));
    says(&input, VERDICT_BETTER,
         "ranks better than a list of popular items released with the same epsilon (private-popularity): "
         "ndcg@10 is 0.2000 against 0.1000 (+100 %)",
         "Without privacy a list of popular items would have 0.2500.");
    says(&input, VERDICT_BETTER, "These figures are private", "no epsilon covers it (C10)");
    input.at_home = 1;
    says(&input, VERDICT_BETTER,
         "Without privacy, and without home terms, a list of popular items would have 0.2500.", "");
    input.at_home = 0;
    set(&released, 0.24);
    says(&input, VERDICT_WORSE, "ranks worse than", "dpframe start FILE recipe=private-popularity");
    set(&released, 0.201);
    says(&input, VERDICT_OPEN, "cannot tell", "configs/corrected/private-popularity.ini");
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
TEST_WITH(ratings_are_compared_with_biases, prepare, forget)
{
    static struct one own, mean, biases, released;
    struct verdict_input input = {
        .seeded = seeded, .users = 1000, .items = 10, .records = 100000, .model = "private-ratings"};
    input.test = metric_of(&own, "rmse", 0.95, 2000);
    rival(&input, "mean", 0, metric_of(&mean, "rmse", 1.1, 2000));
    rival(&input, "biases", 0, metric_of(&biases, "rmse", 0.9, 2000));
    says(&input, VERDICT_WORSE,
         "predicts worse than biases of users and items: rmse is 0.9500 against 0.9000",
         "Without privacy the mean of all ratings would have 1.1000.");
    input.has_noise = 1;
    says(&input, VERDICT_BETTER, "predicts better than the mean of all ratings",
         "Without privacy biases of users and items would have 0.9000.");
    rival(&input, "private-biases", 1, metric_of(&released, "rmse", 0.94, 2000));
    says(&input, VERDICT_WORSE, "worse than biases released with the same epsilon (private-biases)",
         "recipe=private-biases");
    says(&input, VERDICT_WORSE, "(+1.1 %)",
         "Without privacy biases of users and items would have 0.9000, the mean of all ratings 1.1000.");
    set(&released, 1);
    says(&input, VERDICT_BETTER, "predicts better than biases released", "");
}

/* It says what it rests on: one draw of the noise, and how many users. */
TEST_WITH(the_grounds_are_named, prepare, forget)
{
    static struct one own, popular, few, fewer, same;
    struct verdict_input input = {
        .seeded = seeded, .implicit = 1, .has_noise = 1, .users = 1000, .items = 10, .records = 9};
    input.test = metric_of(&own, "ndcg@10", 0.30, 1000);
    rival(&input, "popularity", 0, metric_of(&popular, "ndcg@10", 0.20, 1000));
    says(&input, VERDICT_BETTER, "its one draw of the noise", "1000 users");
    char *sentence = verdict_text(&input);
    assert_null(strstr(sentence, "is small"));
    free(sentence);
    input.test = metric_of(&few, "ndcg@10", 0.9, 50);
    input.rivals[0].metrics = metric_of(&fewer, "ndcg@10", 0.1, 50);
    says(&input, VERDICT_BETTER, "This test part is small", "p = 0.0001");
    input.rivals[0].metrics = &few.metrics; /* a model against itself */
    says(&input, VERDICT_OPEN, "all users have equal results", "cannot tell");
    metric_of(&same, "ndcg@10", 0.5, 1);
    input.test = input.rivals[0].metrics = &same.metrics;
    says(&input, VERDICT_OPEN, "one user has test records", "cannot tell");
}

/* Four quarters of users by training records: one that loses, one that is alike, two that win. A mean hides the first. */
TEST_WITH(losers_are_named_by_activity, prepare, forget)
{
    static struct one own, popular;
    struct verdict_input input = {.users = 1000, .items = 500, .records = 40000, .seeded = seeded};
    input.test = metric_of(&own, "ndcg@10", 0.30, 1000);
    rival(&input, "popularity", 0, metric_of(&popular, "ndcg@10", 0.20, 1000));
    static const double values[4] = {0.05, 0.20, 0.45, 0.50};
    struct user_values *a = own.metrics.by_user, *b = popular.metrics.by_user;
    double sum[2] = {0, 0};
    for (int64_t u = 0; u < 1000; u++) {
        double *mine = user_values_row(a, u), *other = user_values_row(b, u);
        const int64_t quarter = u / 250;
        mine[0] = values[quarter] + 0.02 * (double)(u % 7 - 3);
        other[0] = 0.20 + 0.02 * (double)(u * 3 % 7 - 3);
        mine[2 + USER_RECORDS] = (double)(10 * quarter + u % 5);
        sum[0] += mine[0];
        sum[1] += other[0];
    }
    own.item.value = sum[0] / 1000;
    popular.item.value = sum[1] / 1000;
    says(&input, VERDICT_BETTER, "Users with 0 to 4 training records (-0.15", ") are worse off than with");
    for (int64_t u = 0; u < 250; u++)
        user_values_row(a, u)[0] += 0.20;
    char *text = verdict_text(&input);
    assert_null(strstr(text, "worse off"));
    free(text);
}
