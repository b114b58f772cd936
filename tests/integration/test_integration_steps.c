/* SPDX-License-Identifier: Apache-2.0 */
/* Side steps against arithmetic by hand: what is read when, what is summed, and with which sign. */
#include "kit/test.h"
#include "kit/training.h"

static const char base[] =
    "[run]\nrounds = 1\nthreads = 1\n"
    "[data]\nformat = csv\npath = ratings.csv\nheader = yes\nvalue-min = 1\nvalue-max = 5\n"
    "[split]\nkind = none\n"
    "[model]\nrank = 2\ninit = uniform\ninit-scale = 1\n"
    "[users]\nloss = squared-error\nsolver = gradient-descent\n"
    "[users.loss]\nobjective = half\n"
    "[users.solver]\nrate = 0.125\n"
    "[items]\nloss = squared-error\nsolver = gradient-descent\n"
    "[items.loss]\nobjective = half\n"
    "[items.solver]\nrate = 0.25\n";

/* Users 1, 2 and 3, items 1 and 2; cell (2, 1) is not rated. */
static const char ratings[] = "user,item,rating\n1,1,5\n1,2,2\n2,2,4\n3,1,1\n3,2,3\n";
static const double rated[3][2] = {{5, 2}, {NAN, 4}, {1, 3}};

#define N 3
#define M 2
#define MAX_COLUMNS 4

/* The same model in plain doubles. */
struct twin {
    double u[N][MAX_COLUMNS], v[M][MAX_COLUMNS];
};

static void twin_start(struct twin *twin, const char *changes)
{
    struct training t;
    char text[1024];
    snprintf(text, sizeof text, "%srun.rounds=0\n", changes);
    training_run(&t, base, text);
    memset(twin, 0, sizeof *twin);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < t.model.columns; c++)
            twin->u[i][c] = (double)training_row(&t, DPF_SIDE_USERS, i)[c];
    for (int j = 0; j < M; j++)
        for (int c = 0; c < t.model.columns; c++)
            twin->v[j][c] = (double)training_row(&t, DPF_SIDE_ITEMS, j)[c];
    training_free(&t);
}

static double inner(const double *x, const double *y)
{
    double sum = 0;
    for (int c = 0; c < MAX_COLUMNS; c++)
        sum += x[c] * y[c];
    return sum;
}

/* One gradient step of the users on rows v; columns first .. first+d-1 are unknown. */
static void step_users(const struct twin *old, const double v[M][MAX_COLUMNS], double offset, int first,
                       int d, double weight, struct twin *new)
{
    for (int i = 0; i < N; i++)
        for (int c = first; c < first + d; c++) {
            double gradient = 0;
            for (int j = 0; j < M; j++)
                if (!isnan(rated[i][j]))
                    gradient += weight * (offset + inner(old->u[i], v[j]) - rated[i][j]) * v[j][c];
            new->u[i][c] = old->u[i][c] - 0.125 * gradient;
        }
}

static void step_items(const struct twin *old, const double u[N][MAX_COLUMNS], double offset, int first,
                       int d, struct twin *new)
{
    for (int j = 0; j < M; j++)
        for (int c = first; c < first + d; c++) {
            double gradient = 0;
            for (int i = 0; i < N; i++)
                if (!isnan(rated[i][j]))
                    gradient += (offset + inner(u[i], old->v[j]) - rated[i][j]) * u[i][c];
            new->v[j][c] = old->v[j][c] - 0.25 * gradient;
        }
}

static void assert_model(const struct twin *twin, const char *changes)
{
    struct training t;
    training_run(&t, base, changes);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < t.model.columns; c++)
            assert_float_equal(training_row(&t, DPF_SIDE_USERS, i)[c], twin->u[i][c], 2e-5);
    for (int j = 0; j < M; j++)
        for (int c = 0; c < t.model.columns; c++)
            assert_float_equal(training_row(&t, DPF_SIDE_ITEMS, j)[c], twin->v[j][c], 2e-5);
    training_free(&t);
}

#define ITEMS_RELEASED "items.mechanism=none\n"
#define USERS_RELEASED "users.mechanism=none\n"

TEST(alternating_reads_new_rows)
{
    struct twin start, end;
    twin_start(&start, "");
    end = start;
    step_users(&start, start.v, 0, 0, 2, 1, &end);
    step_items(&start, end.u, 0, 0, 2, &end);
    assert_model(&end, "");
    assert_model(&end, ITEMS_RELEASED);
    assert_model(&end, ITEMS_RELEASED USERS_RELEASED);
    assert_model(&end, ITEMS_RELEASED USERS_RELEASED "parties.kind=users\n");
}

TEST(order_is_followed)
{
    struct twin start, end;
    twin_start(&start, "");
    end = start;
    step_items(&start, start.u, 0, 0, 2, &end);
    step_users(&start, end.v, 0, 0, 2, 1, &end);
    assert_model(&end, "run.order=items, users\n");
    assert_model(&end, "run.order=items, users\n" ITEMS_RELEASED);
}

/* A local side may be solved once more; one that sends may not: its release would be in no ledger. */
TEST(a_local_side_finishes)
{
    struct twin start, end, last;
    twin_start(&start, "");
    end = start;
    step_users(&start, start.v, 0, 0, 2, 1, &end);
    step_items(&start, end.u, 0, 0, 2, &end);
    last = end;
    step_users(&end, end.v, 0, 0, 2, 1, &last);
    assert_model(&last, "run.final-step=users\n");
    assert_model(&last, "run.final-step=users\n" ITEMS_RELEASED);
    assert_model(&last, "run.final-step=users\nparties.kind=users\n" ITEMS_RELEASED);
    training_refused(base, "run.final-step=users\n" USERS_RELEASED, DPF_FAULT_CONFIG, "not in the ledger");
    training_refused(base, "run.final-step=items\nitems.update=no\n", DPF_FAULT_CONFIG, "never solved");
}

TEST(simultaneous_reads_old_rows)
{
    struct twin start, end;
    twin_start(&start, "");
    end = start;
    step_users(&start, start.v, 0, 0, 2, 1, &end);
    step_items(&start, start.u, 0, 0, 2, &end);
    assert_model(&end, "run.update=simultaneous\n");
    assert_model(&end, "run.update=simultaneous\nrun.order=items, users\n");
    assert_model(&end, "run.update=simultaneous\n" ITEMS_RELEASED USERS_RELEASED);
    assert_model(&end, "run.update=simultaneous\nparties.kind=users\n" ITEMS_RELEASED);
}

TEST(offset_is_part_of_predictions)
{
    struct twin start, end;
    twin_start(&start, "model.offset=midpoint\n");
    end = start;
    step_users(&start, start.v, 3, 0, 2, 1, &end);
    step_items(&start, end.u, 3, 0, 2, &end);
    assert_model(&end, "model.offset=midpoint\n");
    assert_model(&end, "model.offset=value\nmodel.offset-value=3\n" ITEMS_RELEASED);
    twin_start(&start, "");
    end = start;
    step_users(&start, start.v, 3, 0, 2, 1, &end); /* the mean of the ratings is 3, too */
    step_items(&start, end.u, 3, 0, 2, &end);
    assert_model(&end, "model.offset=mean\n");
}

/* Columns are [user bias | factors | item bias]; the other side's bias pairs with a constant 1. */
TEST(biases_are_columns)
{
    static const char both[] = "model.user-bias=yes\nmodel.item-bias=yes\n";
    struct twin start, end;
    twin_start(&start, both);
    for (int i = 0; i < N; i++) {
        assert_true(start.u[i][3] == 1);
        assert_true(start.u[i][0] == 0);
    }
    for (int j = 0; j < M; j++) {
        assert_true(start.v[j][0] == 1);
        assert_true(start.v[j][3] == 0);
    }
    end = start;
    step_users(&start, start.v, 0, 0, 3, 1, &end);
    step_items(&start, end.u, 0, 1, 3, &end);
    assert_model(&end, both);
    assert_model(&end, "model.user-bias=yes\nmodel.item-bias=yes\n" ITEMS_RELEASED USERS_RELEASED);
    assert_model(&end, "model.user-bias=yes\nmodel.item-bias=yes\nparties.kind=users\n" ITEMS_RELEASED);
}

static void clip(double v[MAX_COLUMNS], double bound)
{
    double norm = sqrt(inner(v, v));
    for (int c = 0; c < MAX_COLUMNS && norm > bound; c++)
        v[c] *= bound / norm;
}

/* With residual = raw predictions use the rows as they are, features the clipped ones. */
TEST(residuals_are_raw_or_transformed)
{
    static const char clipped[] =
        "items.update=no\nusers.transforms=clip-rows\nusers.transform.clip-rows.bound=0.25\n";
    struct twin start, short_rows, transformed, raw;
    twin_start(&start, clipped);
    short_rows = start;
    for (int j = 0; j < M; j++)
        clip(short_rows.v[j], 0.25);
    assert_true(fabs(short_rows.v[0][0] - start.v[0][0]) + fabs(short_rows.v[1][0] - start.v[1][0]) > 0.1);
    transformed = start;
    step_users(&start, short_rows.v, 0, 0, 2, 1, &transformed);
    assert_model(&transformed, clipped);
    raw = start;
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 2; c++)
            for (int j = 0; j < M; j++)
                if (!isnan(rated[i][j]))
                    raw.u[i][c] -= 0.125 * (inner(start.u[i], start.v[j]) - rated[i][j]) * short_rows.v[j][c];
    char text[512];
    snprintf(text, sizeof text, "%susers.residual=raw\n", clipped);
    assert_model(&raw, text);
    snprintf(text, sizeof text, "%susers.residual=raw\n" USERS_RELEASED, clipped);
    assert_model(&raw, text);
}

/* returned = transformed: the run ends with the rows that the loss read, and nothing else changes. */
TEST(rows_are_returned_as_read)
{
    static const char clipped[] = "items.update=no\nusers.transforms=clip-rows\nusers.transform.clip-rows."
                                  "bound=0.25\nusers.residual=raw\n";
    struct twin kept, returned;
    struct training t;
    char text[512];
    snprintf(text, sizeof text, "%srun.rounds=1\n", clipped);
    training_run(&t, base, text);
    memset(&kept, 0, sizeof kept);
    for (int c = 0; c < 2; c++) {
        for (int i = 0; i < N; i++)
            kept.u[i][c] = (double)training_row(&t, DPF_SIDE_USERS, i)[c];
        for (int j = 0; j < M; j++)
            kept.v[j][c] = (double)training_row(&t, DPF_SIDE_ITEMS, j)[c];
    }
    training_free(&t);
    assert_model(&kept, clipped);
    returned = kept;
    for (int j = 0; j < M; j++)
        clip(returned.v[j], 0.25);
    assert_true(fabs(returned.v[0][0] - kept.v[0][0]) + fabs(returned.v[1][0] - kept.v[1][0]) > 0.1);
    snprintf(text, sizeof text, "%susers.returned=transformed\n", clipped);
    assert_model(&returned, text);
    snprintf(text, sizeof text, "%susers.returned=transformed\n" USERS_RELEASED, clipped);
    assert_model(&returned, text);
    training_try(&t, base, "users.returned=transformed\n");
    assert_true(t.status != 0);
    assert_true(strstr(t.error.text, "clip-rows"));
    training_free(&t);
}

/* Terms are summed before the solver: two of the same weigh twice. */
static const char two_terms[] =
    "[run]\nrounds = 1\nthreads = 1\n"
    "[data]\nformat = csv\npath = ratings.csv\nheader = yes\nvalue-min = 1\nvalue-max = 5\n"
    "relation.path = friends.txt\nrelation.header = no\n"
    "[split]\nkind = none\n"
    "[model]\nrank = 2\ninit = uniform\ninit-scale = 1\n"
    "[users]\nterms = one, two\nsolver = gradient-descent\n"
    "[users.one]\nloss = squared-error\n[users.one.loss]\nobjective = half\n"
    "[users.two]\nloss = squared-error\n[users.two.loss]\nobjective = half\n"
    "[users.solver]\nrate = 0.125\n"
    "[items]\nupdate = no\n";

static void assert_users(const struct twin *twin, const char *changes)
{
    struct training t;
    training_run(&t, two_terms, changes);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 2; c++)
            assert_float_equal(training_row(&t, DPF_SIDE_USERS, i)[c], twin->u[i][c], 2e-5);
    training_free(&t);
}

TEST(terms_are_summed)
{
    struct twin start, end;
    twin_start(&start, "");
    end = start;
    step_users(&start, start.v, 0, 0, 2, 2, &end);
    assert_users(&end, "");
    assert_users(&end, "users.one.mechanism=none\nusers.two.mechanism=none\n");
    assert_users(&end, "users.one.mechanism=none\n");
    assert_users(&end, "users.two.mechanism=none\nparties.kind=users\n");
}

/* Links 1 -> 2 and 3 -> 1: a row is drawn towards <x, y> = 1 with each friend's old row y. */
TEST(relations_read_rows_of_friends)
{
    static const int links[2][2] = {{0, 1}, {2, 0}};
    struct twin start, end;
    twin_start(&start, "");
    end = start;
    step_users(&start, start.v, 0, 0, 2, 1, &end);
    for (int l = 0; l < 2; l++)
        for (int c = 0; c < 2; c++) {
            const double *x = start.u[links[l][0]], *y = start.u[links[l][1]];
            end.u[links[l][0]][c] -= 0.125 * (inner(x, y) - 1) * y[c];
        }
    assert_users(&end, "users.two.source=relation\n");
    assert_users(&end, "users.two.source=relation\nusers.two.mechanism=none\n");
    assert_users(&end, "users.two.source=relation\nusers.one.mechanism=none\nusers.two.mechanism=none\n");
    assert_users(&end, "users.two.source=relation\nusers.two.mechanism=none\nparties.kind=users\n");
}

static const char terms_with_gram_rows[] =
    "[run]\nrounds = 1\n[data]\nformat = csv\npath = ratings.csv\nheader = yes\nfeedback = implicit\n"
    "[split]\nkind = none\n[model]\nrank = 2\n[users]\nterms = one, two\nsolver = cholesky\n"
    "[users.one]\nloss = implicit-als\nmechanism = none\n[users.two]\nloss = implicit-als\n[items]\nupdate = "
    "no\n";

TEST(unsound_terms_are_refused)
{
    training_refused(two_terms, "users.update=no\nitems.update=no\n", DPF_FAULT_CONFIG,
                     "neither side is solved");
    training_refused(two_terms, "users.terms=one, one\n", DPF_FAULT_CONFIG, "one is listed twice");
    training_refused(two_terms, "users.terms=one, solver\n", DPF_FAULT_CONFIG, "cannot be called solver");
    training_refused(terms_with_gram_rows, "", DPF_FAULT_CONFIG, "it needs one, too");
    training_refused(terms_with_gram_rows, "users.one.mechanism=\nusers.two.loss=explicit-als\n",
                     DPF_FAULT_CONFIG, "must have the same blocks");
    training_refused(base, "items.source=relation\n", DPF_FAULT_CONFIG, "links are between users");
    training_refused(base, "users.transforms=clip-user\n", DPF_FAULT_CONFIG,
                     "[users] sends none without a mechanism");
    training_refused(base,
                     "items.mechanism=none\nitems.transforms=clip-user\nparties.kind=silos-by-items\n"
                     "parties.count=2\n",
                     DPF_FAULT_CONFIG, "no silo has all records of a user");
}

/* A row without records and without regularisation of its own has nothing to say: it becomes 0. */
TEST(cold_rows_become_zero)
{
    static const char als[] = "users.loss=explicit-als\nusers.loss.lambda=0.5\nitems.loss=explicit-als\n"
                              "items.loss.lambda=0.5\nsplit.kind=files\nsplit.test.path=%s/cold.csv\n"
                              "users.solver=%s\nitems.solver=%s\n";
    training_file("cold.csv", "user,item,rating\n4,3,4\n1,3,2\n");
    static const char *const solvers[] = {"cholesky", "cg"};
    for (int i = 0; i < 2; i++) {
        char text[512];
        snprintf(text, sizeof text, als, training_directory, solvers[i], solvers[i]);
        struct training t;
        training_run(&t, base, text);
        assert_int_equal(t.dataset.users.n, 4);
        assert_int_equal(t.dataset.items.n, 3);
        for (int c = 0; c < 2; c++) {
            assert_true(training_row(&t, DPF_SIDE_USERS, 3)[c] == 0.0f);
            assert_true(training_row(&t, DPF_SIDE_ITEMS, 2)[c] == 0.0f);
        }
        assert_true(training_row(&t, DPF_SIDE_USERS, 0)[0] != 0.0f);
        training_free(&t);
    }
}

static int begin(void **state)
{
    if (training_begin(state) != 0)
        return -1;
    training_file("ratings.csv", ratings);
    training_file("friends.txt", "1 2\n3 1\n");
    return 0;
}

FIXTURE(begin, training_end)
