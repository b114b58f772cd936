/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DPIMF's pipeline end to end on small data: what the ledger says of weighted records, how long joined rows
 * may be, the refit at the end, and that silent records cost nothing at alpha0 = 1.
 */
#include "kit/test.h"
#include "kit/training.h"

static const char base[] =
    "[run]\nrounds = 3\nthreads = 2\n"
    "[data]\nformat = synthetic\nfeedback = implicit\nsynthetic.users = 60\nsynthetic.items = 30\n"
    "synthetic.ratings = 600\n"
    "[split]\nkind = none\n"
    "[model]\nrank = 3\ninit = uniform\ninit-scale = 1\n"
    "[parties]\nkind = silos-by-users\ncount = 5\nlocal-iterations = 2\n"
    "[privacy]\nunit = record\nadjacency = flip\nobserver = server\n"
    "[users]\nloss = implicit-als\nsolver = cholesky\n"
    "[users.loss]\nlambda = 0.05\nunobserved-weight = 1\n"
    "[items]\nloss = complementary\nmechanism = laplace\naggregator = mean\nsolver = ball\n"
    "solve-at = party\nbounds = empirical\n"
    "[items.loss]\nlambda = 0.05\nunobserved-weight = 1\ncells = own\n"
    "[items.mechanism]\nepsilon = 1\nwhere = party\nlifetime = solve\n"
    "[items.solver]\nlambda = 0.05\n";

static double event_epsilon(const struct training *t, int32_t block)
{
    double sum = 0;
    int found = 0;
    for (int64_t i = 0; i < t->plan.ledger.n; i++) {
        const dpf_event *event = &t->plan.ledger.entries[i].event;
        if (event->blocks != UINT32_C(1) << block || event->kind != DPF_EVENT_DISCRETE_LAPLACE)
            continue;
        sum += event->sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l1 / event->scale;
        assert_int_equal(event->count, 6); /* rounds of two passes */
        found++;
    }
    assert_int_equal(found, 1);
    return sum;
}

/* The budget is that of weight 1; the ledger's sensitivities have the weight in them. */
TEST(weights_are_in_the_ledger)
{
    struct training plain, drawn;
    const double budget = log1p(4 * expm1(1)); /* brought to 1 by keeping a quarter: Eq. 22 */
    char changes[256];
    training_run(&plain, base, "");
    assert_true(fabs(event_epsilon(&plain, 1) - 1) < 1e-6);
    training_free(&plain);
    snprintf(changes, sizeof changes,
             "items.sampler=importance\nitems.sampler.profile=fixed-maximum\nitems.sampler.target=1\n"
             "items.sample-secrecy=server\nitems.mechanism.epsilon=%.12g",
             budget);
    training_run(&drawn, base, changes);
    assert_true(fabs(event_epsilon(&drawn, 1) / (4 * budget) - 1) < 1e-5);
    const dpf_sampling *sampling = &drawn.plan.sides[DPF_SIDE_ITEMS].terms[0].sampling;
    assert_true(fabs(sampling->weight_max - 4) < 1e-5);
    assert_int_equal(sampling->hidden_from, DPF_OBSERVER_SERVER); /* a draw for each pass amplifies */
    training_free(&drawn);
}

/* With alpha0 below 1 all three blocks are noised, with sensitivities of Eq. 15-18. */
TEST(all_orders_are_charged)
{
    struct training t;
    training_run(&t, base, "items.loss.unobserved-weight=0.8\nitems.block-shares=0.8, 0.1, 0.1");
    assert_true(fabs(event_epsilon(&t, 0) - 0.8) < 1e-6);
    assert_true(fabs(event_epsilon(&t, 1) - 0.1) < 1e-6);
    assert_true(fabs(event_epsilon(&t, 2) - 0.1) < 1e-6);
    training_free(&t);
}

/* The lengths of initial rows of a side, over all rows: least and most. */
static void initial_lengths(const char *changes, int side, double *radius, double *least, double *most)
{
    struct training t;
    training_run(&t, base, changes);
    const int64_t rows = side == DPF_SIDE_USERS ? t.dataset.users.n : t.dataset.items.n;
    *radius = t.plan.sides[side].radius;
    *least = INFINITY;
    *most = 0;
    for (int64_t i = 0; i < rows; i++) {
        double square = 0;
        for (int c = 0; c < 7; c++)
            square += pow((double)training_row(&t, side, i)[c], 2);
        *least = fmin(*least, sqrt(square));
        *most = fmax(*most, sqrt(square));
    }
    training_free(&t);
}

/* Bounds hold before the first step, to the last bit, and no more than that is taken from the rows. */
TEST(rows_start_inside_their_ball)
{
    double radius, least, most;
    for (int i = 0; i < 40; i++) {
        char changes[256];
        snprintf(changes, sizeof changes,
                 "run.rounds=0\nmodel.rank=7\nmodel.init-scale=100\nitems.solver.lambda=%.17g\n",
                 exp(0.37 * i - 7));
        initial_lengths(changes, DPF_SIDE_ITEMS, &radius, &least, &most);
        assert_true(most <= radius);
        assert_true(least >= radius * (1 - 2 * 0x1p-22));
        snprintf(changes, sizeof changes, "run.rounds=0\nmodel.rank=7\nmodel.init-norm=%.17g\n",
                 exp(0.11 * i - 3));
        initial_lengths(changes, DPF_SIDE_USERS, &radius, &least, &most);
        assert_true(most <= exp(0.11 * i - 3));
        assert_true(least >= exp(0.11 * i - 3) * (1 - 2 * 0x1p-22));
    }
}

/* A mean of rows in the ball lies in it, a sum need not. */
TEST(joined_rows_have_a_bound)
{
    struct training t;
    const double radius = 1 / sqrt(0.05);
    training_run(&t, base, "");
    assert_true(fabs(t.plan.sides[DPF_SIDE_ITEMS].radius / radius - 1) < 1e-5);
    for (int64_t i = 0; i < t.dataset.items.n; i++) {
        double square = 0;
        for (int c = 0; c < 3; c++)
            square += (double)training_row(&t, DPF_SIDE_ITEMS, i)[c] * training_row(&t, DPF_SIDE_ITEMS, i)[c];
        assert_true(sqrt(square) <= t.plan.sides[DPF_SIDE_ITEMS].radius);
    }
    training_free(&t);
    training_run(&t, base, "items.aggregator=sum");
    assert_true(fabs(t.plan.sides[DPF_SIDE_ITEMS].radius / (5 * radius) - 1) < 1e-5);
    training_free(&t);
}

/* Phase 3: users' rows minimise their loss on the joined items. */
TEST(users_fit_the_joined_items)
{
    struct training t;
    training_run(&t, base, "");
    const struct csr *csr = &t.dataset.train.by_user;
    const int64_t n = t.dataset.items.n;
    for (int64_t u = 0; u < t.dataset.users.n; u++) {
        const float *p = training_row(&t, DPF_SIDE_USERS, u);
        const double ridge = 0.05 * (double)(csr->ptr[u + 1] - csr->ptr[u] + n);
        double gradient[3], size = 1e-6;
        for (int c = 0; c < 3; c++)
            gradient[c] = ridge * (double)p[c];
        for (int64_t i = 0; i < n; i++) {
            const float *q = training_row(&t, DPF_SIDE_ITEMS, i);
            double predicted = 0, slope;
            int observed = 0;
            for (int64_t e = csr->ptr[u]; e < csr->ptr[u + 1]; e++)
                observed |= csr->others[e] == i;
            for (int c = 0; c < 3; c++)
                predicted += (double)p[c] * q[c];
            slope = predicted + (observed ? predicted - 1 : 0);
            for (int c = 0; c < 3; c++) {
                gradient[c] += slope * (double)q[c];
                size += fabs(slope * (double)q[c]);
            }
        }
        for (int c = 0; c < 3; c++)
            assert_true(fabs(gradient[c]) <= 1e-4 * size);
    }
    training_free(&t);
}

FIXTURE(training_begin, training_end)
