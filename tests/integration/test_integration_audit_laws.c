/* SPDX-License-Identifier: Apache-2.0 */
/* What an audit takes the noise of the Poisson binomial mechanism to be, in a whole training: the sum of the
 * binomials of all messages, and of a message its own. */
#include "kit/test.h"
#include "audit/observe.h"
#include "audit/score.h"
#include "kit/training.h"

#define TRIALS 3
#define BOUND 0.001

/* Three users, each with one extreme rating of the only item, so that each number is at an end of the clip.
 */
static const char config[] =
    "[run]\nrounds = 2\norder = items\nseed = 2\n"
    "[data]\npath = %s/three.csv\nheader = yes\nvalue-min = 1\nvalue-max = 5\n[split]\nkind = none\n"
    "[model]\nrank = 1\ninit = normal-by-rank\ninit-scale = 1\ninit-norm = 1.7320508\nusers = 3\n"
    "[parties]\nkind = users\n[items]\nloss = squared-error\ntransforms = clip-user\nmechanism = pbm\n"
    "solver = gradient-descent\n[items.transform.clip-user]\nnorm = l2\nbound = 1\n"
    "[items.mechanism]\nbound = 0.001\ntrials = 3\n[items.solver]\nrate = 1e-6\n"
    "[privacy]\nunit = user\nadjacency = replace\nid-lists = public\nrandomness = reproducible\n"
    "[accountants]\nlist = rdp\n";

static double choose(int n, int k)
{
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1));
}

static double binomial(int n, double p, int k)
{
    return k < 0 || k > n ? 0 : choose(n, k) * pow(p, k) * pow(1 - p, n - k);
}

/* ln P of so many successes where `up` of n messages have the chance 3/4 and the others 1/4. */
static double expected_log(int n, int up, int k)
{
    double sum = 0;
    for (int j = 0; j <= k; j++)
        sum += binomial(TRIALS * up, 0.75, j) * binomial(TRIALS * (n - up), 0.25, k - j);
    return log(sum);
}

static void compare(const struct observations *seen, const struct observations *replayed, int n)
{
    const double step = BOUND / (0.25 * TRIALS);
    assert_int_equal(seen->n, replayed->n);
    assert_true(seen->n > 0);
    for (size_t i = 0; i < seen->n; i++) {
        const struct observation *o = &replayed->items[i];
        assert_non_null(o->log_law);
        for (int64_t at = 0; at < o->n_rows * o->width; at++) {
            const int up = (int)lrint((o->exact[at] / BOUND + n) / 2);
            const int k = (int)lrint(seen->items[i].seen[at] / step + n * TRIALS / 2.0);
            if (!(fabs(fabs(o->exact[at]) - fabs((2.0 * up - n) * BOUND)) < 1e-12))
                fail_msg("%g is not at an end", o->exact[at]);
            if (!(fabs(o->log_law[at] - expected_log(n, up, k)) < 1e-9))
                fail_msg("%d successes, %d of %d up: %.12g for %.12g", k, up, n, o->log_law[at],
                         expected_log(n, up, k));
        }
    }
}

/* Trains with one data set, replays with both, and asks for the laws. */
static void observe_both(enum observe_view view, const char *changes)
{
    static const char *const ratings[2] = {"user,item,rating\na,x,5\nb,x,1\nc,x,5\n",
                                           "user,item,rating\na,x,5\nb,x,1\nc,x,1\n"};
    char text[sizeof config + 256];
    struct training sets[2];
    struct trace seen, replayed[2];
    snprintf(text, sizeof text, config, training_directory);
    for (int w = 0; w < 2; w++) {
        training_file("three.csv", ratings[w]);
        training_run(&sets[w], text, changes);
    }
    struct pool *pool = pool_new(1);
    struct observe request = {.plan = &sets[0].plan,
                              .dataset = &sets[0].dataset,
                              .pool = pool,
                              .view = view,
                              .user = 2,
                              .item = -1};
    struct dpf_error error;
    assert_int_equal(observe_run(&request, &seen, &error), 0);
    for (int w = 0; w < 2; w++) {
        request.dataset = &sets[w].dataset;
        request.given = &seen;
        assert_int_equal(observe_run(&request, &replayed[w], &error), 0);
        if (view == OBSERVE_SUMS)
            compare(&seen.sums, &replayed[w].sums, 3);
        else
            compare(&seen.messages, &replayed[w].messages, 1);
    }
    /* The score is the ratio of the two laws, over all rounds. */
    double expected = 0;
    for (int w = 0; w < 2; w++) {
        const struct observations *list = view == OBSERVE_SUMS ? &replayed[w].sums : &replayed[w].messages;
        for (size_t i = 0; i < list->n; i++)
            for (int64_t at = 0; at < list->items[i].n_rows * list->items[i].width; at++)
                expected += (w ? -1 : 1) * list->items[i].log_law[at];
    }
    const struct explanation two[2] = {{&replayed[0], NULL}, {&replayed[1], NULL}};
    const double score = score_ratio(&sets[0].plan, &seen, two);
    if (!(fabs(score - expected) < 1e-9) || !(fabs(score) > 1e-3))
        fail_msg("score %.12g, laws %.12g", score, expected);
    trace_free(&seen);
    for (int w = 0; w < 2; w++) {
        trace_free(&replayed[w]);
        training_free(&sets[w]);
    }
    pool_free(pool);
}

TEST(a_sum_is_a_sum_of_binomials)
{
    observe_both(OBSERVE_SUMS, "privacy.observer=outsider\nitems.aggregator=modular-sum");
}

TEST(a_message_is_a_binomial)
{
    observe_both(OBSERVE_MESSAGES, "privacy.observer=server\nprivacy.min-honest=1\nitems.aggregator=sum");
}

FIXTURE(training_begin, training_end)
