/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A solver that steps after each record: its rows against steps worked out here in the order of the records' keys, what
 * does not depend on threads or on others, its noise and its ledger, and what cannot be combined with it.
 */
#include "kit/test.h"
#include "kit/training.h"

static const char base[] =
    "[run]\nrounds = 3\nthreads = 2\nseed = 5\n"
    "[data]\nformat = synthetic\nsynthetic.users = 30\nsynthetic.items = 60\n"
    "synthetic.ratings = 200\nsynthetic.min-per-user = 2\nvalue-min = 1\nvalue-max = 5\n"
    "[split]\nkind = none\n[model]\nrank = 3\noffset = none\n[parties]\nkind = users\n"
    "[privacy]\nunit = record\nadjacency = replace-value\nobserver = server\n"
    "randomness = reproducible\nnoise-seed = 1\n"
    "[users]\nloss = squared-error\nsolver = sgd\n[users.solver]\nrate = 0.05\nradius = 1\n"
    "[items]\nloss = squared-error\nsolver = sgd\n[items.solver]\nrate = 0.05\n";

/* One step at a time over the records of a row: v <- v - rate (2 (u v - r) u + 2 lambda v), rows within the radius. */
static void step_by_hand(const struct training *t, int side, int64_t row, const int64_t *order, double *v)
{
    const struct csr *csr = side == DPF_SIDE_USERS ? &t->dataset.train.by_user : &t->dataset.train.by_item;
    for (int64_t k = 0; k < csr->ptr[row + 1] - csr->ptr[row]; k++) {
        const int64_t at = csr->ptr[row] + order[k];
        const float *u = training_row(t, 1 - side, csr->others[at]);
        double error = -(double)csr->values[at];
        for (int i = 0; i < 3; i++)
            error += (double)u[i] * v[i];
        for (int i = 0; i < 3; i++)
            v[i] -= 0.05 * 2 * error * (double)u[i];
    }
}

/* With the other side fixed and one round, a row is one of the results that orders of its records give. */
TEST(steps_are_those_of_some_order)
{
    struct training before, after;
    int compared = 0;
    training_run(&before, base, "run.rounds=0\nusers.update=no\nitems.loss.regularization=0\n");
    training_run(&after, base, "run.rounds=1\nusers.update=no\nitems.loss.regularization=0\n");
    const struct csr *csr = &after.dataset.train.by_item;
    for (int64_t item = 0; item < csr->rows; item++) {
        const int64_t n = csr->ptr[item + 1] - csr->ptr[item];
        if (n < 2 || n > 4)
            continue;
        int64_t order[4], found = 0, codes = 1;
        for (int64_t i = 0; i < n; i++)
            codes *= n;
        for (int64_t code = 0; code < codes && !found; code++) {
            int seen = 0;
            for (int64_t i = 0, rest = code; i < n; i++, rest /= n) {
                order[i] = rest % n;
                seen |= 1 << order[i];
            }
            if (seen != (1 << n) - 1)
                continue;
            double v[3], far = 0;
            for (int i = 0; i < 3; i++)
                v[i] = (double)training_row(&before, DPF_SIDE_ITEMS, item)[i];
            step_by_hand(&after, DPF_SIDE_ITEMS, item, order, v);
            for (int i = 0; i < 3; i++)
                far = fmax(far, fabs(v[i] - (double)training_row(&after, DPF_SIDE_ITEMS, item)[i]));
            found = far < 1e-5;
        }
        if (!found)
            fail_msg("item %lld with %lld records has no row of any order", (long long)item, (long long)n);
        compared++;
    }
    assert_true(compared > 2);
    training_free(&before);
    training_free(&after);
}

static int same_rows(const struct training *a, const struct training *b)
{
    int same = 1;
    for (int64_t i = 0; i < a->dataset.items.n; i++)
        same &= memcmp(training_row(a, DPF_SIDE_ITEMS, i), training_row(b, DPF_SIDE_ITEMS, i),
                       3 * sizeof(float)) == 0;
    return same;
}

TEST(results_follow_from_the_seed_alone)
{
    static const char noise[] =
        "items.mechanism=laplace-mixture\nitems.mechanism.epsilon=20\nitems.aggregator=sum\n";
    char changes[512];
    struct training one, more, other;
    training_run(&one, base, noise);
    snprintf(changes, sizeof changes, "%srun.threads=1\n", noise);
    training_run(&more, base, changes);
    assert_true(same_rows(&one, &more));
    snprintf(changes, sizeof changes, "%srun.seed=6\nprivacy.noise-seed=1\n", noise);
    training_run(&other, base, changes);
    assert_false(same_rows(&one, &other));
    training_free(&one);
    training_free(&more);
    training_free(&other);
}

/* The ledger is that of the same step on sums, and degrees show. */
TEST(the_ledger_is_that_of_sums)
{
    struct plan by_record, by_sum;
    struct dpf_error error = {0};
    static const char noise[] =
        "items.mechanism=gaussian\nitems.mechanism.calibration=noise-multiplier\n"
        "items.mechanism.where=party\nitems.aggregator=sum\nitems.loss.clip-error=1\n"
        "privacy.delta=1e-5\nusers.update=no\nmodel.init-norm=1\nprivacy.interaction-pattern=public\n";
    char changes[1024];
    if (training_plan(&by_record, base, noise, &error) != 0 || plan_complete(&by_record, 30, 60, &error) != 0)
        fail_msg("%s", error.text);
    snprintf(changes, sizeof changes, "%sitems.solver=gradient-descent\n", noise);
    assert_int_equal(training_plan(&by_sum, base, changes, &error), 0);
    assert_int_equal(plan_complete(&by_sum, 30, 60, &error), 0);
    assert_int_equal(by_record.ledger.n, by_sum.ledger.n);
    for (int64_t i = 0; i < by_sum.ledger.n; i++)
        assert_memory_equal(&by_record.ledger.entries[i].event, &by_sum.ledger.entries[i].event,
                            sizeof(dpf_event));
    plan_free(&by_record);
    plan_free(&by_sum);
}

TEST(what_needs_sums_is_refused)
{
    static const char *const wrong[][2] = {
        {"run.update=simultaneous", "alternating"},
        {"items.loss=explicit-als", "quadratic"},
        {"items.mechanism=gaussian\nitems.mechanism.calibration=noise-multiplier\nitems.mechanism.where=sum\n"
         "items.aggregator=sum\nitems.loss.clip-error=1\nprivacy.delta=1e-5",
         "where = party"},
        {"items.mechanism=gaussian\nitems.mechanism.calibration=noise-multiplier\nitems.mechanism.where="
         "party\n"
         "items.aggregator=modular-sum\nitems.loss.clip-error=1\nprivacy.delta=1e-5",
         "aggregator = sum"},
        {"items.mechanism=skellam\nitems.aggregator=sum\nitems.loss.clip-error=1\nprivacy.delta=1e-5",
         "whole messages"},
        {"items.mechanism=gaussian\nitems.mechanism.calibration=noise-multiplier\nitems.mechanism.where="
         "party\n"
         "items.aggregator=sum\nitems.transforms=clip-user\nitems.transform.clip-user.bound=1\nprivacy.delta="
         "1e-5",
         "whole messages"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        training_refused(base, wrong[i][0], DPF_FAULT_CONFIG, wrong[i][1]);
}

FIXTURE(training_begin, training_end)
