/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The links of a term's chain, one kind at a time, with plugins that make each visible: every kind of
 * transform, dense queries, where and how often noise is read, and what averaging parties get.
 */
#include "kit/test.h"
#include "engine/model_scorer.h"
#include "kit/training.h"

static const char base[] =
    "[run]\nrounds = 2\nthreads = 2\n"
    "[data]\nformat = synthetic\nsynthetic.users = 40\nsynthetic.items = 20\n"
    "synthetic.ratings = 300\nsynthetic.min-per-user = 2\nvalue-min = 1\nvalue-max = 5\n"
    "[split]\nkind = none\n"
    "[model]\nrank = 3\ninit = uniform\ninit-scale = 0.5\n"
    "[users]\nloss = squared-error\nsolver = gradient-descent\n"
    "[users.loss]\nobjective = half\n"
    "[users.solver]\nrate = 0.02\n"
    "[items]\nloss = squared-error\nsolver = gradient-descent\nmechanism = none\n"
    "[items.loss]\nobjective = half\n"
    "[items.solver]\nrate = 0.02\n";

static void assert_same_items(const char *a_changes, const char *b_changes)
{
    struct training a, b;
    training_run(&a, base, a_changes);
    training_run(&b, base, b_changes);
    assert_true(training_same(&a, &b));
    training_free(&a);
    training_free(&b);
}

/* ---- transforms ------------------------------------------------------------------------------------ */

/* Of user 1, for the three items. */
static void scores_of(struct training *training, double scores[3])
{
    struct scorer scorer;
    struct score_desk desk = {.user = 0};
    assert_int_equal(model_scorer(&training->model, &scorer, &training->error), 0);
    assert_int_equal(scorer_scores(&scorer, &desk, 1, NULL, 3, scores, &training->error), 0);
    score_desk_free(&desk);
    scorer_close(&scorer);
}

/* Values doubled in the loss: the same as ratings twice as large; predictions come back halved. */
TEST(record_transforms_change_values_and_predictions)
{
    char csv[1024] = "user,item,rating\n", doubled[1024] = "user,item,rating\n", line[64];
    for (int i = 0; i < 12; i++) {
        snprintf(line, sizeof line, "%d,%d,%d\n", i % 4, i / 4, 1 + i * 7 % 5);
        strcat(csv, line);
        snprintf(line, sizeof line, "%d,%d,%d\n", i % 4, i / 4, 2 * (1 + i * 7 % 5));
        strcat(doubled, line);
    }
    training_file("plain.csv", csv);
    training_file("doubled.csv", doubled);
    char plain_text[512], doubled_text[512];
    static const char *const kinds[] = {"curator", "users", "silos-by-users", "silos-by-items"};
    for (int k = 0; k < 4; k++) {
        snprintf(plain_text, sizeof plain_text,
                 "data.format=csv\ndata.path=%s/plain.csv\nusers.transforms=test-double\n"
                 "items.transforms=test-double\nparties.kind=%s\nparties.count=2\n",
                 training_directory, kinds[k]);
        snprintf(doubled_text, sizeof doubled_text,
                 "data.format=csv\ndata.path=%s/doubled.csv\ndata.value-max=10\n", training_directory);
        struct training a, b;
        training_run(&a, base, plain_text);
        training_run(&b, base, doubled_text);
        assert_true(training_same(&a, &b));
        double halved[3], full[3];
        scores_of(&a, halved);
        scores_of(&b, full);
        for (int i = 0; i < 3; i++) {
            assert_true(halved[i] == full[i] / 2);
            assert_true(full[i] != 0);
        }
        training_free(&a);
        training_free(&b);
    }
}

/* Rows that a message transform adds are taken away again; the sum in between has them. */
TEST(message_transforms_may_change_rows)
{
    assert_same_items("items.transforms=test-pad\nparties.kind=users\n", "");
    assert_same_items("items.transforms=test-pad\n", "");
    assert_same_items("items.transforms=test-pad\nparties.kind=silos-by-users\nparties.count=3\n", "");
    assert_same_items("items.transforms=clip-user, test-pad\nitems.transform.clip-user.bound=1e6\n", "");
    assert_same_items("items.transforms=test-pad\nitems.aggregator=test-whole\n", "");
    assert_same_items("items.aggregator=test-whole\nparties.kind=users\n", "");
    /* Declared sizes are bounds: the rows of the data count. */
    assert_same_items("items.transforms=test-pad\nparties.kind=users\nmodel.items=1000\n", "");
}

/* A clip that binds: the users' messages have exactly the bound's norm, so the first step is known. */
TEST(clipped_messages_have_the_norm)
{
    struct training clipped, start;
    training_run(&start, base, "run.rounds=0\n");
    training_run(
        &clipped, base,
        "run.rounds=1\nrun.order=items\nitems.transforms=clip-user\nitems.transform.clip-user.bound=0.01\n"
        "items.solver.rate=1\n");
    double expected[20][3] = {{0}};
    for (int64_t u = 0; u < start.dataset.users.n; u++) {
        const struct csr *csr = &start.dataset.train.by_user;
        const float *x = training_row(&start, DPF_SIDE_USERS, u);
        double square = 0, message[20][3] = {{0}};
        for (int64_t i = csr->ptr[u]; i < csr->ptr[u + 1]; i++) {
            const float *y = training_row(&start, DPF_SIDE_ITEMS, csr->others[i]);
            double error = (double)x[0] * y[0] + (double)x[1] * y[1] + (double)x[2] * y[2] - csr->values[i];
            for (int c = 0; c < 3; c++) {
                message[csr->others[i]][c] = error * x[c];
                square += error * x[c] * error * x[c];
            }
        }
        for (int j = 0; j < 20 && square > 0; j++)
            for (int c = 0; c < 3; c++)
                expected[j][c] += message[j][c] * fmin(1, 0.01 / sqrt(square));
    }
    for (int j = 0; j < 20; j++)
        for (int c = 0; c < 3; c++)
            assert_float_equal(training_row(&clipped, DPF_SIDE_ITEMS, j)[c],
                               training_row(&start, DPF_SIDE_ITEMS, j)[c] - expected[j][c], 1e-6);
    training_free(&clipped);
    training_free(&start);
}

/* Adam in the projected space of p rows: B moves by its own gradient S g, and items are seen as S'B. */
TEST(state_transforms_solve_in_their_space)
{
    enum { P = 6 };
    static const char folded[] =
        "run.order=items\nitems.transforms=test-fold\nitems.transform.test-fold.rows=6\n"
        "items.solver=adam\nitems.solver.rate=0.1\nparties.kind=users\n";
    char none[512];
    snprintf(none, sizeof none, "%srun.rounds=0\n", folded);
    struct training end, start;
    training_run(&start, base, none);
    training_run(&end, base, folded);
    int64_t m = start.dataset.items.n;
    double b[P][3], first[P][3] = {{0}}, second[P][3] = {{0}};
    assert_int_equal(start.model.sides[DPF_SIDE_ITEMS].state_rows, P);
    for (int r = 0; r < P; r++)
        for (int c = 0; c < 3; c++)
            b[r][c] = (double)start.model.sides[DPF_SIDE_ITEMS].state_space[r * start.model.stride + c];
    for (int64_t j = 0; j < m; j++) /* readers see S'B from the start */
        for (int c = 0; c < 3; c++)
            assert_float_equal(training_row(&start, DPF_SIDE_ITEMS, j)[c], (j / P % 2 ? -1 : 1) * b[j % P][c],
                               1e-6);
    for (int t = 1; t <= 2; t++) {
        double gradient[P][3] = {{0}};
        for (int64_t u = 0; u < start.dataset.users.n; u++) {
            const struct csr *csr = &start.dataset.train.by_user;
            const float *x = training_row(&start, DPF_SIDE_USERS, u);
            for (int64_t i = csr->ptr[u]; i < csr->ptr[u + 1]; i++) {
                int64_t j = csr->others[i];
                double sign = j / P % 2 ? -1 : 1, error = -(double)csr->values[i];
                for (int c = 0; c < 3; c++)
                    error += (double)x[c] * sign * b[j % P][c];
                for (int c = 0; c < 3; c++)
                    gradient[j % P][c] += sign * error * x[c];
            }
        }
        for (int r = 0; r < P; r++)
            for (int c = 0; c < 3; c++) {
                first[r][c] = 0.9 * first[r][c] + 0.1 * gradient[r][c];
                second[r][c] = 0.999 * second[r][c] + 0.001 * gradient[r][c] * gradient[r][c];
                b[r][c] -=
                    0.1 * first[r][c] / (1 - pow(0.9, t)) / (sqrt(second[r][c] / (1 - pow(0.999, t))) + 1e-8);
            }
    }
    for (int64_t j = 0; j < m; j++)
        for (int c = 0; c < 3; c++)
            assert_float_equal(training_row(&end, DPF_SIDE_ITEMS, j)[c], (j / P % 2 ? -1 : 1) * b[j % P][c],
                               1e-4);
    training_free(&end);
    training_free(&start);
    training_refused(base, "items.transforms=test-fold\nrun.update=simultaneous\n", DPF_FAULT_CONFIG,
                     "alternating");
    training_refused(base, "items.transforms=test-fold\nitems.mechanism=\n", DPF_FAULT_CONFIG, "mechanism");
}

/* Cells without a rating count as 0: against the sum over all cells. */
TEST(dense_queries_reach_every_cell)
{
    static const char dense[] = "run.rounds=1\nrun.order=items\nitems.loss=test-dense\n";
    struct training start, one_by_one;
    training_run(&start, base, "run.rounds=0\nitems.loss=test-dense\n");
    char text[256];
    snprintf(text, sizeof text, "%sparties.kind=users\n", dense);
    training_run(&one_by_one, base, text);
    double expected[20][3] = {{0}};
    const struct csr *csr = &start.dataset.train.by_user;
    for (int64_t u = 0; u < start.dataset.users.n; u++) {
        const float *x = training_row(&start, DPF_SIDE_USERS, u);
        int64_t at = csr->ptr[u];
        for (int j = 0; j < (int)start.dataset.items.n; j++) {
            const float *y = training_row(&start, DPF_SIDE_ITEMS, j);
            double error = (double)x[0] * y[0] + (double)x[1] * y[1] + (double)x[2] * y[2];
            if (at < csr->ptr[u + 1] && csr->others[at] == j)
                error -= csr->values[at++];
            for (int c = 0; c < 3; c++)
                expected[j][c] += error * x[c];
        }
    }
    for (int64_t j = 0; j < start.dataset.items.n; j++)
        for (int c = 0; c < 3; c++)
            assert_float_equal(training_row(&one_by_one, DPF_SIDE_ITEMS, j)[c],
                               training_row(&start, DPF_SIDE_ITEMS, j)[c] - 0.02 * expected[j][c], 1e-5);
    training_free(&start);
    training_free(&one_by_one);
    assert_same_items("items.loss=test-dense\nparties.kind=users\n", "items.loss=test-dense\n");
    struct training local, released;
    training_run(&local, base, "items.loss=test-dense\nitems.mechanism=\n");
    training_run(&released, base, "items.loss=test-dense\n");
    assert_true(training_distance(&local, &released, DPF_SIDE_ITEMS) < 1e-4);
    training_free(&local);
    training_free(&released);
}

/* ---- samplers -------------------------------------------------------------------------------------- */

/* One round on the records that the sampler takes: the same as a file with these alone. */
TEST(record_samplers_reach_every_path)
{
    char all[1024] = "user,item,rating\n", even[1024] = "user,item,rating\n", line[64];
    for (int u = 0; u < 4; u++)
        for (int i = 0; i < 4; i++) {
            snprintf(line, sizeof line, "%d,%d,%d\n", u, i, 1 + (u * 7 + i * 3) % 5);
            strcat(all, line);
            if ((u + i) % 2 == 0)
                strcat(even, line);
        }
    training_file("all.csv", all);
    training_file("even.csv", even);
    static const char *const kinds[] = {"curator", "users", "silos-by-users", "silos-by-items"};
    char whole_text[512], part_text[512];
    snprintf(part_text, sizeof part_text,
             "run.rounds=1\nrun.order=items\ndata.format=csv\ndata.path=%s/even.csv\n", training_directory);
    for (int k = 0; k < 4; k++) {
        snprintf(whole_text, sizeof whole_text,
                 "run.rounds=1\nrun.order=items\ndata.format=csv\ndata.path=%s/all.csv\nparties.kind=%s\n"
                 "parties.count=2\nitems.sampler=test-even\n",
                 training_directory, kinds[k]);
        assert_same_items(whole_text, part_text);
    }
    /* A draw of the run takes the same records in each round, one of a round the others in the second. */
    struct training run, rounds;
    training_run(&run, base, "run.order=items\nitems.sampler=test-even\nitems.sampler.lifetime=run\n");
    training_run(&rounds, base, "run.order=items\nitems.sampler=test-even\n");
    assert_false(training_same(&run, &rounds));
    training_free(&run);
    training_free(&rounds);
}

/* Weights beyond what a sampler states would break the sensitivity: nothing is released. */
TEST(samplers_are_held_to_their_weights)
{
    training_refused(base, "items.sampler=test-even\nitems.sampler.weight=2\n", DPF_FAULT_PLUGIN,
                     "states that weights lie in [0, 1]");
    training_refused(base, "items.sampler=test-even\nitems.sampler.weight=2\nparties.kind=users\n",
                     DPF_FAULT_PLUGIN, "states that weights lie in [0, 1]");
    training_refused(base, "items.sampler=test-even\nitems.sampler.weight=-1\n", DPF_FAULT_PLUGIN,
                     "states that weights lie in [0, 1]");
}

/* A sample that serves all rounds amplifies none of them on its own. */
TEST(reused_samples_do_not_amplify)
{
    struct training fresh, reused;
    training_run(&fresh, base, "items.sampler=test-even\nitems.sample-secrecy=server\n");
    training_run(&reused, base,
                 "items.sampler=test-even\nitems.sample-secrecy=server\nitems.sampler.lifetime=run\n");
    assert_int_equal(fresh.plan.ledger.entries[0].event.sampling.hidden_from, DPF_OBSERVER_SERVER);
    assert_int_equal(reused.plan.ledger.entries[0].event.sampling.hidden_from, -1);
    training_free(&fresh);
    training_free(&reused);
}

/* ---- where noise is read ------------------------------------------------------------------------------ */

/* Without signal and with rate 1 an item's row is minus the sum of what the probe added. */
#define SILENT                                                                                               \
    "model.init-scale=0\nmodel.offset=midpoint\nrun.order=items\nitems.solver.rate=1\n"                      \
    "items.mechanism=test-probe\n"

static void assert_probe(const char *changes, int64_t row, double draws, double parties, double rows)
{
    struct training t;
    char text[512];
    snprintf(text, sizeof text, SILENT "%s", changes);
    training_run(&t, base, text);
    const float *item = training_row(&t, DPF_SIDE_ITEMS, row);
    assert_float_equal(-item[0], draws, 1e-3);
    assert_float_equal(-item[1], parties, 1e-3);
    assert_float_equal(-item[2], rows, 1e-3);
    training_free(&t);
}

TEST(noise_of_a_round_is_fresh)
{
    /* Draws 0, 1, 2 for rounds; the only party is 0; row 7 of 20. */
    assert_probe("run.rounds=3\n", 7, 1 + 2 + 3, 3 * 1, 3 * 8);
    assert_probe("run.rounds=3\nitems.mechanism.lifetime=run\n", 7, 3 * 1, 3 * 1, 3 * 8);
    assert_probe("run.rounds=3\nitems.mechanism.where=sum\n", 7, 1 + 2 + 3, 3 * 1000, 3 * 8);
    assert_probe("run.rounds=3\nitems.mechanism.where=sum\nitems.mechanism.lifetime=run\n", 19, 3, 3000,
                 3 * 20);
}

TEST(each_party_has_its_own_noise)
{
    assert_probe("run.rounds=1\nparties.kind=silos-by-users\nparties.count=4\n", 3, 4, 1 + 2 + 3 + 4, 4 * 4);
    assert_probe("run.rounds=1\nparties.kind=silos-by-items\nparties.count=4\n", 3, 4, 1 + 2 + 3 + 4, 4 * 4);
    assert_probe("run.rounds=1\nparties.kind=silos-by-users\nparties.count=4\nitems.aggregator=test-whole\n",
                 3, 4, 10, 16);
    /* With dense messages all 40 users send each row. */
    assert_probe("run.rounds=1\nparties.kind=users\nitems.aggregator=test-whole\n", 0, 40, 40 * 41 / 2.0, 40);
    assert_probe("run.rounds=1\nparties.kind=users\nitems.mechanism.where=sum\n", 5, 1, 1000, 6);
    /* After padding, item j is row j + 1 of the message, and the noise is read there. */
    assert_probe("run.rounds=1\nitems.transforms=test-pad\n", 5, 1, 1, 7);
    assert_probe("run.rounds=1\nitems.transforms=test-pad\nitems.mechanism.where=sum\nparties.kind=users\n",
                 5, 1, 1000, 7);
}

/* ---- solving at the party --------------------------------------------------------------------------------
 */

#define SILOS                                                                                                \
    "run.rounds=1\nrun.order=items\nparties.kind=silos-by-users\nparties.count=3\n"                          \
    "items.aggregator=test-mean\nitems.solve-at=party\n"

/* The mean over silos of y - rate * g_p equals y - rate / 3 * g. */
TEST(averaged_rows_are_the_mean_of_each_solve)
{
    struct training averaged, third;
    training_run(&averaged, base, SILOS "items.solver.rate=0.03\n");
    training_run(&third, base, "run.rounds=1\nrun.order=items\nitems.solver.rate=0.01\n");
    assert_true(training_distance(&averaged, &third, DPF_SIDE_ITEMS) < 1e-6);
    training_free(&averaged);
    training_free(&third);
    /* Averaging gradients at the server is another way to the same rows. */
    struct training server;
    training_run(&server, base,
                 "run.rounds=1\nrun.order=items\nitems.solver.rate=0.03\nparties.kind=silos-by-users\n"
                 "parties.count=3\nitems.aggregator=test-mean\n");
    training_run(&third, base, "run.rounds=1\nrun.order=items\nitems.solver.rate=0.01\n");
    assert_true(training_distance(&server, &third, DPF_SIDE_ITEMS) < 1e-6);
    training_free(&server);
    training_free(&third);
}

/* Noise that is added to the sum, or in shares, would leave a party's solved rows without enough of it. */
TEST(parties_that_solve_need_noise_of_their_own)
{
    training_refused(base, SILOS "items.mechanism=test-probe\nitems.mechanism.where=sum\n", DPF_FAULT_CONFIG,
                     "must add all of the noise at the party");
    training_refused(base, SILOS "items.mechanism=test-probe\nitems.mechanism.where=shares\n",
                     DPF_FAULT_CONFIG, "must add all of the noise at the party");
    struct training t;
    training_run(
        &t, base,
        SILOS "model.init-scale=0\nmodel.offset=midpoint\nitems.solver.rate=1\nitems.mechanism=test-probe\n");
    assert_float_equal(-training_row(&t, DPF_SIDE_ITEMS, 2)[1], (1 + 2 + 3) / 3.0, 1e-3);
    assert_float_equal(-training_row(&t, DPF_SIDE_ITEMS, 2)[2], 3, 1e-3);
    training_free(&t);
}

/* Passes within a round: each draws anew only where the mechanism says so, and the ledger knows. */
TEST(passes_of_a_party_are_counted)
{
    static const char passes[] =
        SILOS "run.rounds=2\nparties.local-iterations=2\nmodel.init-scale=0\nmodel.offset=midpoint\n"
              "items.solver.rate=1\nitems.mechanism=test-probe\nitems.mechanism.lifetime=%s\n";
    static const char *const lifetimes[] = {"solve", "round", "run"};
    static const double draws[] = {1 + 2 + 3 + 4, 1 + 1 + 2 + 2, 4};
    /* Noise that two passes share is as good as noise that serves the whole run: not enough. */
    static const int32_t counted[] = {DPF_LIFETIME_SOLVE, DPF_LIFETIME_RUN, DPF_LIFETIME_RUN};
    for (int i = 0; i < 3; i++) {
        struct training t;
        char text[512];
        snprintf(text, sizeof text, passes, lifetimes[i]);
        training_run(&t, base, text);
        assert_float_equal(-training_row(&t, DPF_SIDE_ITEMS, 4)[0], draws[i], 1e-3);
        assert_int_equal(t.plan.ledger.entries[0].event.count, 4);
        assert_int_equal(t.plan.ledger.entries[0].event.lifetime, counted[i]);
        training_free(&t);
    }
}

FIXTURE(training_begin, training_end)
