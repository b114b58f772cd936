/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Void records: lines at fault, and values that are dropped, where it is public who rated what. A pair of neighbours
 * differs in the lines of one user: valid on one side, void on the other. Both have the same cells; with the same
 * noise all other rows are equal, and the numbers that noise changes are the same.
 */
#include "kit/test.h"
#include "base/text.h"
#include "engine/engine.h"
#include "kit/training.h"

#define USERS 16
#define ITEMS 10 /* the last is the victim's alone, unless a further line says otherwise */

/* ---- data ------------------------------------------------------------------------------------------------ */

/* The others' ratings, and then these lines of user 1. */
static void write_data(const char *lines)
{
    struct text text = {0};
    text_add(&text, "user,item,rating,time\n");
    for (int u = 2; u <= USERS; u++)
        for (int k = 0; k < 5; k++)
            text_add(&text, "%d,%d,%d,%d\n", u, 1 + (2 * u + 2 * k) % (ITEMS - 1), 1 + (u + k) % 5,
                     100 * u + k);
    text_add(&text, "%s\n", lines);
    training_file("lines.csv", text.data);
    text_free(&text);
}

static void read_data(struct training *t, const char *base, const char *changes)
{
    char text[2048];
    struct pool *pool = pool_new(2);
    memset(t, 0, sizeof *t);
    snprintf(text, sizeof text, "data.path=%s/lines.csv\n%s", training_directory, changes);
    t->status = training_plan(&t->plan, base, text, &t->error);
    if (t->status == 0)
        t->status = data_read(&t->plan.data, &t->plan.split, t->plan.seeded, pool, &t->dataset, &t->error);
    if (t->status != 0)
        fail_msg("%s: %s", changes, t->error.text);
    pool_free(pool);
}

static void train(struct training *t, const char *base, const char *changes, int seed)
{
    char text[1024];
    struct pool *pool = pool_new(2);
    snprintf(text, sizeof text, "privacy.noise-seed=%d\n%s", seed, changes);
    read_data(t, base, text);
    t->status = plan_complete(&t->plan, t->dataset.users.n, t->dataset.items.n, &t->error);
    if (t->status == 0)
        t->status = model_init(&t->model, &t->plan, &t->dataset, &t->error);
    if (t->status == 0)
        t->status = engine_run(&t->plan, &t->dataset, pool, &t->model, NULL, &t->stats, &t->error);
    if (t->status != 0)
        fail_msg("%s: %s", changes, t->error.text);
    pool_free(pool);
}

/* ---- what is compared -------------------------------------------------------------------------------------- */

static void assert_same_cells(const struct csr *a, const struct csr *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_memory_equal(a->ptr, b->ptr, ((size_t)a->rows + 1) * sizeof *a->ptr);
    assert_memory_equal(a->others, b->others, (size_t)a->ptr[a->rows] * sizeof *a->others);
}

static void assert_same_ids(const struct id_map *a, const struct id_map *b)
{
    assert_int_equal(a->n, b->n);
    for (int64_t i = 0; i < a->n; i++)
        assert_string_equal(id_map_text(a, i), id_map_text(b, i));
}

static int is_victims(const struct training *t, int side, int64_t row)
{
    const char *id = id_map_text(side == DPF_SIDE_USERS ? &t->dataset.users : &t->dataset.items, row);
    return side == DPF_SIDE_USERS ? strcmp(id, "1") == 0 : strcmp(id, "10") == 0 || strcmp(id, "9") == 0;
}

/* first: with one seed, second: with another; of the data with a valid record, and with a void one. */
static void compare(const char *what, const struct training first[2], const struct training second[2])
{
    for (int side = 0; side < 2; side++)
        for (int64_t r = 0; r < first[0].model.sides[side].rows; r++) {
            const float *a = training_row(&first[0], side, r), *b = training_row(&first[1], side, r);
            const float *c = training_row(&second[0], side, r), *d = training_row(&second[1], side, r);
            const size_t n = (size_t)first[0].model.columns;
            if (!is_victims(&first[0], side, r) && memcmp(a, b, n * sizeof *a) != 0)
                fail_msg("%s: row %lld of side %d differs", what, (long long)r, side);
            for (size_t i = 0; i < n; i++)
                if ((a[i] < c[i] || a[i] > c[i]) != (b[i] < d[i] || b[i] > d[i]))
                    fail_msg("%s: noise on number %d of row %lld of side %d is on one side only", what,
                             (int)i, (long long)r, side);
        }
}

static void compare_pair(const char *base, const char *changes, const char *valid, const char *lines)
{
    struct training first[2], second[2];
    char what[256];
    for (int side = 0; side < 2; side++) {
        write_data(side ? lines : valid);
        train(&first[side], base, changes, 1);
        train(&second[side], base, changes, 2);
        assert_true(first[side].plan.guarantee.plan_holds);
    }
    snprintf(what, sizeof what, "%.100s (%.100s)", lines, changes);
    assert_same_ids(&first[0].dataset.users, &first[1].dataset.users);
    assert_same_ids(&first[0].dataset.items, &first[1].dataset.items);
    assert_same_cells(&first[0].dataset.train.by_user, &first[1].dataset.train.by_user);
    assert_same_cells(&first[0].dataset.train.by_item, &first[1].dataset.train.by_item);
    compare(what, first, second);
    for (int side = 0; side < 2; side++) {
        training_free(&first[side]);
        training_free(&second[side]);
    }
}

/* ---- configurations ------------------------------------------------------------------------------------------ */

#define HEAD(ORDER, PRIVACY)                                                                                 \
    "[run]\nrounds = 1\nthreads = 2\norder = " ORDER "\n"                                                    \
    "[data]\nformat = csv\nheader = yes\nvalue-min = 1\nvalue-max = 5\nout-of-range = drop\n"                \
    "[split]\nkind = none\n[model]\nrank = 3\ninit = normal\ninit-scale = 0.5\ninit-norm = 1\n"              \
    "[privacy]\n" PRIVACY "interaction-pattern = public\ndelta = 1e-5\nrandomness = reproducible\n"          \
    "[accountants]\nlist = pld\n"
#define SIDE(NAME, LOSS, KEYS, SOLVER, SOLVER_KEYS)                                                          \
    "[" NAME "]\nloss = " LOSS                                                                               \
    "\ntransforms = clip-rows\nmechanism = gaussian\naggregator = sum\nsolver = " SOLVER "\n[" NAME          \
    ".loss]\n" KEYS "[" NAME ".transform.clip-rows]\nnorm = l2\nbound = 1\n"                                 \
    "[" NAME ".mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 4\n[" NAME                     \
    ".solver]\n" SOLVER_KEYS
#define BOTH(LOSS, KEYS, SOLVER, SOLVER_KEYS)                                                                \
    HEAD("items, users\nupdate = simultaneous", "unit = record\nadjacency = zero-out\n")                     \
    SIDE("items", LOSS, KEYS, SOLVER, SOLVER_KEYS) SIDE("users", LOSS, KEYS, SOLVER, SOLVER_KEYS)

static const char squared[] =
    BOTH("squared-error", "objective = half\nclip-error = 10\n", "gradient-descent", "rate = 0.01\n");
static const char degrees[] = BOTH("squared-error", "objective = half\nclip-error = 10\n",
                                   "damped-gradient-descent", "rate = 0.01\ncurvature = 100\n");
static const char explicit_als[] = BOTH("explicit-als", "lambda = 0.1\n", "ball", "radius = 1\n");
static const char implicit_als[] = BOTH("implicit-als", "lambda = 0.1\n", "ball", "radius = 1\n");
static const char weighted_gradient[] =
    BOTH("weighted-gradient", "confidence = 2\nclip-error = 2\n", "gradient-descent", "rate = 0.01\n");
static const char complementary[] = BOTH("complementary", "unobserved-weight = 1\n", "ball", "radius = 1\n");

/* The noise of a row is divided by the users who have it. */
static const char contributors[] =
    HEAD("items",
         "unit = record\nadjacency = zero-out\n") "[parties]\nkind = users\n"
                                                  "[items]\nloss = squared-error\ntransforms = "
                                                  "clip-rows\nmechanism = laplace-mixture\naggregator = sum\n"
                                                  "solver = gradient-descent\n[items.loss]\nobjective = "
                                                  "half\nclip-error = 10\n"
                                                  "[items.transform.clip-rows]\nnorm = l1\nbound = "
                                                  "1\n[items.mechanism]\nepsilon = 1\n"
                                                  "[items.solver]\nrate = 0.01\n";
static const char of_users[] = HEAD(
    "items", "unit = user\nadjacency = zero-out\n") "[items]\nloss = squared-error\ntransforms = clip-rows, "
                                                    "clip-user\nmechanism = gaussian\naggregator = sum\n"
                                                    "solver = gradient-descent\n[items.loss]\nobjective = "
                                                    "half\nclip-error = 10\n"
                                                    "[items.transform.clip-rows]\nnorm = l2\nbound = "
                                                    "1\n[items.transform.clip-user]\nnorm = l2\nbound = 1\n"
                                                    "[items.mechanism]\ncalibration = "
                                                    "noise-multiplier\nnoise-multiplier = "
                                                    "4\n[items.solver]\nrate = 0.01\n";
/* Users' rows stay at home, and sums are made of scaled records. */
static const char at_home[] = HEAD(
    "users, items",
    "unit = user\nadjacency = zero-out\n") "[users]\nloss = explicit-als\nsolver = "
                                           "cholesky\n[users.loss]\nlambda = 0.1\n"
                                           "[items]\nloss = explicit-als\ntransforms = clip-user\nmechanism "
                                           "= gaussian\naggregator = sum\nsolver = ball\n"
                                           "[items.loss]\nlambda = 0.1\n[items.transform.clip-user]\nnorm = "
                                           "l2\nbound = 5\n"
                                           "[items.mechanism]\ncalibration = "
                                           "noise-multiplier\nnoise-multiplier = 2\nwhere = "
                                           "sum\n[items.solver]\nradius = 1\n";

#define PARTIES "parties.kind=users\nitems.mechanism.where=party\nusers.mechanism.where=party\n"
#define ODD_TIMES "1,10,5,much", "1,10,x", "1,10"

/* ---- tests ----------------------------------------------------------------------------------------------------- */

TEST(records_keep_their_cells)
{
    static const char *const voids[] = {"1,10,9,7", "1,10,x,7", "1,10,3,5,7", "1,10,\"5,7", ODD_TIMES};
    static const struct {
        const char *base, *changes;
    } cases[] = {
        {squared, ""},
        {squared, PARTIES},
        {squared, "parties.kind=silos-by-users\nparties.count=3\n"},
        {degrees, ""},
        {explicit_als, ""},
        {weighted_gradient, ""},
        {implicit_als, "data.feedback=counts\nmodel.offset=none\n"},
        {complementary, "data.feedback=implicit\nmodel.offset=none\n"},
        {squared, "data.filter.user-min=1\ndata.filter.item-min=1\n"},
        {squared, "data.duplicates=mean\n"},
        {contributors, ""},
        {complementary,
         "data.feedback=implicit\nmodel.offset=none\nitems.sampler=uniform\nitems.sampler.rate=0.5\n"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t v = 0; v < sizeof voids / sizeof *voids; v += c == 0 ? 1 : 2)
            compare_pair(cases[c].base, cases[c].changes, "1,10,5,7", voids[v]);
}

TEST(values_below_the_threshold_keep_their_cells)
{
    compare_pair(complementary, "data.feedback=implicit\ndata.threshold=3\nmodel.offset=none\n", "1,10,5,7",
                 "1,10,2,7");
    compare_pair(complementary,
                 "data.feedback=implicit\ndata.threshold=3\nmodel.offset=none\ndata.filter.item-min=2\n",
                 "2,10,4,3\n1,10,5,7", "2,10,4,3\n1,10,2,7");
}

TEST(users_keep_their_cells)
{
    static const char *const voids[] = {"1,10,9,7\n1,9,9,8", "1,10,x,7\n1,9", "1,10\n1,9,3,4,5"};
    for (size_t v = 0; v < sizeof voids / sizeof *voids; v++) {
        compare_pair(of_users, "", "1,10,5,7\n1,9,2,8", voids[v]);
        compare_pair(of_users, "parties.kind=users\nitems.mechanism.where=party\n", "1,10,5,7\n1,9,2,8",
                     voids[v]);
        compare_pair(at_home, "", "1,10,5,7\n1,9,2,8", voids[v]);
        compare_pair(of_users, "data.filter.item-min=2\n", "2,10,4,3\n1,10,5,7\n1,9,2,8",
                     v ? "2,10,4,3\n1,10,x\n1,9" : "2,10,4,3\n1,10,9,7\n1,9,9,8");
    }
}

/* Which cells are trained on, and what is tested. */
TEST(splits_do_not_look_at_values)
{
    static const char *const changes[] = {
        "split.kind=random\nsplit.fraction=0.5\n",
        "split.kind=k-fold\nsplit.folds=2\n",
        "split.kind=per-user\nsplit.fraction=0.5\n",
        "split.kind=leave-one-out\nsplit.by=random\n",
        "split.kind=candidates\nsplit.fraction=0.5\n",
        "split.kind=cold-items\nsplit.fraction=0.5\n",
        "split.kind=per-user\nsplit.n=1\ndata.filter.user-min=3\n",
        "split.kind=random\nsplit.fraction=0.5\nsplit.train-fraction=0.5\ndata.filter.user-max=3\n"
        "data.filter.keep=random\n",
        "split.kind=random\nsplit.fraction=0.3\ndata.filter.item-min=4\ndata.filter.user-min=2\n",
    };
    int tested = 0;
    for (size_t c = 0; c < sizeof changes / sizeof *changes; c++)
        for (int seed = 1; seed < 5; seed++) {
            struct training t[2];
            char text[512];
            snprintf(text, sizeof text, "run.seed=%d\n%s", seed, changes[c]);
            for (int side = 0; side < 2; side++) {
                write_data(side ? "1,10,9,3\n1,9,x,3\n1,3\n2,10,4,3"
                                : "1,10,5,3\n1,9,1,3\n1,3,3,3\n2,10,4,3");
                read_data(&t[side], squared, text);
            }
            assert_same_cells(&t[0].dataset.train.by_user, &t[1].dataset.train.by_user);
            assert_same_cells(&t[0].dataset.train.by_item, &t[1].dataset.train.by_item);
            /* Of the test part the victim's records are gone, since they have no value; others' are the same. */
            const struct csr *all = &t[0].dataset.test.by_user, *left = &t[1].dataset.test.by_user;
            assert_null(left->voids);
            assert_int_equal(left->ptr[1], 0);
            tested += all->ptr[1] > 0;
            for (int64_t r = 1; r < all->rows; r++)
                assert_int_equal(all->ptr[r + 1] - all->ptr[r], left->ptr[r + 1] - left->ptr[r]);
            assert_int_equal(t[1].dataset.test.n, left->ptr[left->rows]);
            training_free(&t[0]);
            training_free(&t[1]);
        }
    assert_true(tested > 8);
}

static const struct csr *cells_of(struct training *t, const char *lines, const char *changes)
{
    write_data(lines);
    read_data(t, squared, changes);
    return &t->dataset.train.by_user;
}

/* A pair is what its valid lines say, in whatever order they come. */
TEST(valid_lines_of_a_pair_count)
{
    static const char *const lines[] = {"1,10,5,7\n1,10,x,9", "1,10,x,9\n1,10,5,7",
                                        "1,10,9,1\n1,10,5,7\n1,10"};
    static const char *const policies[] = {"", "data.duplicates=first\n", "data.duplicates=mean\n",
                                           "data.duplicates=error\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
            struct training t;
            const struct csr *csr = cells_of(&t, lines[i], policies[p]);
            assert_int_equal(csr->ptr[1], 1);
            assert_true(csr->values[0] == 5 && !csr->voids[0]);
            training_free(&t);
        }
    struct training t;
    const struct csr *csr = cells_of(&t, "1,10,x,9\n1,10,9,7", "");
    assert_true(csr->ptr[1] == 1 && csr->voids[0] && csr->values[0] >= 1 && csr->values[0] <= 5);
    training_free(&t);
    /* A sum that is out of range is dropped like a value. */
    csr = cells_of(&t, "1,10,4,9\n1,10,3,7", "data.duplicates=sum\n");
    assert_true(csr->ptr[1] == 1 && csr->voids[0]);
    training_free(&t);
}

/* Only a line whose ids can be read has a cell; whether it is there follows from the promise alone. */
TEST(cells_follow_from_ids_and_promises)
{
    static const char *const none[] = {",10,5,7", "1,,5,7", "1", "nan,10,5,7", "\"1,10,5,7"};
    static const char *const promises[] = {"privacy.interaction-pattern=private\n",
                                           "privacy.adjacency=add-remove\n", "privacy.adjacency=flip\n"};
    struct training t;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_int_equal(cells_of(&t, none[i], "")->ptr[USERS - 1], 5 * (USERS - 1));
        assert_int_equal(t.dataset.users.n, USERS - 1);
        training_free(&t);
    }
    for (size_t i = 0; i < sizeof promises / sizeof *promises; i++) {
        assert_null(cells_of(&t, "1,10,x,7", promises[i])->voids);
        assert_int_equal(t.dataset.users.n, USERS - 1);
        training_free(&t);
        char text[256];
        snprintf(text, sizeof text, "%sprivacy.id-lists=public\n", promises[i]);
        static const char *const lines[] = {"1,10,x,7", "1,10,9,7", "1,10"};
        for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
            const struct csr *csr = cells_of(&t, lines[k], text);
            assert_null(csr->voids);
            assert_int_equal(csr->ptr[1], 0);
            assert_int_equal(t.dataset.users.n, USERS);
            assert_int_equal(t.dataset.items.n, ITEMS);
            training_free(&t);
        }
    }
    /* Values alone are protected: the record has one, and counts like any other. */
    static const char *const lines[] = {"1,10,x,7", "1,10,9,7", "1,10", "1,10,3,5,7"};
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        const struct csr *csr = cells_of(&t, lines[k], "privacy.adjacency=replace-value\n");
        assert_null(csr->voids);
        assert_true(csr->ptr[1] == 1 && csr->values[0] == 1);
        training_free(&t);
    }
}

/* ---- recommenders ------------------------------------------------------------------------------------------------ */

static const char counting[] =
    "[run]\nthreads = 2\n[data]\nformat = csv\nheader = yes\nvalue-min = 1\nvalue-max = 5\nout-of-range = "
    "drop\n"
    "[split]\nkind = none\n[model]\nrecommender = test-counts-cells\n[privacy]\nunit = record\nadjacency = "
    "zero-out\n"
    "interaction-pattern = public\ndelta = 1e-5\nrandomness = reproducible\n[accountants]\nlist = pld\n";

static void fit_counts(struct training *t, const char *changes)
{
    struct pool *pool = pool_new(2);
    write_data("1,10,9,7\n2,10,4,3");
    read_data(t, counting, changes);
    t->status = plan_complete(&t->plan, t->dataset.users.n, t->dataset.items.n, &t->error);
    if (t->status == 0)
        t->status = model_init(&t->model, &t->plan, &t->dataset, &t->error);
    if (t->status == 0)
        t->status = engine_run(&t->plan, &t->dataset, pool, &t->model, NULL, &t->stats, &t->error);
    if (t->status != 0)
        fail_msg("%s", t->error.text);
    pool_free(pool);
}

/* Who says that it reads void records gets them; for others they are not there, and C8 fails. */
TEST(recommenders_say_that_they_read_voids)
{
    for (int reads = 0; reads < 2; reads++) {
        struct training t;
        fit_counts(&t, reads ? "model.recommender.reads-voids=yes\n" : "model.recommender.reads-voids=no\n");
        const double *last = (const double *)t.model.state + 2 * (ITEMS - 1);
        assert_true(last[0] == 1 + reads && last[1] == 4);
        const struct condition *c8 = &t.plan.guarantee.conditions[7];
        assert_string_equal(c8->id, "C8");
        assert_int_equal(c8->holds, reads);
        if (!reads)
            assert_non_null(strstr(c8->why, "READS_VOIDS"));
        training_free(&t);
    }
}

FIXTURE(training_begin, training_end)
