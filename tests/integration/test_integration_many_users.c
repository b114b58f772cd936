/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Among hundreds of users, who are solved and summed in blocks, what one of them sends does not depend on who
 * else is there, to the last bit: blocks, lanes and threads move when somebody leaves. Of a sum over the
 * items that the one who leaves has no record of, nothing may change; a difference of one step of the grid in
 * each of many messages would be covered by no sensitivity.
 */
#include "kit/test.h"
#include "audit/observe.h"
#include "seen/laws.h"
#include "kit/training.h"

#define USERS 701
#define ITEMS 40

/* Some have one record, of the first item: the first user, one in the middle, the last. */
static int is_sparse(int user)
{
    return user == 0 || user == USERS / 2 || user == USERS - 1;
}

static void write_users(int without)
{
    static char text[USERS * 20 * 16];
    size_t at = (size_t)sprintf(text, "user,item,rating\n");
    for (int u = 0; u < USERS; u++) {
        const int n = is_sparse(u) ? 1 : 3 + u % 17;
        for (int k = 0; k < n && u != without; k++)
            at += (size_t)sprintf(text + at, "u%03d,i%02d,%d\n", u,
                                  is_sparse(u) ? 0 : (u * 7 + k * 3) % ITEMS, 1 + (u * 31 + k * k * 17) % 5);
    }
    training_file("ratings.csv", text);
}

static void write_items(void)
{
    char text[ITEMS * 4 + 1] = "";
    for (int i = 0; i < ITEMS; i++)
        sprintf(text + 4 * i, "i%02d\n", i);
    training_file("items.txt", text);
}

/* Both data sets with a plan of their own, as two runs have them. */
static void load_both(const char *format, const char *parties, int without, struct training sets[2],
                      struct pool *pool)
{
    char text[4096];
    struct dpf_error error = {0};
    snprintf(text, sizeof text,
             "[data]\npath = %s/ratings.csv\nheader = yes\nitems-file = %s/items.txt\nvalue-min = 1\n"
             "value-max = 5\n[split]\nkind = none\n[model]\nusers = %d\n[parties]\nkind = %s\n"
             "[privacy]\nunit = user\nadjacency = add-remove\nrandomness = reproducible\n"
             "[accountants]\nlist = rdp\n%s",
             training_directory, training_directory, USERS, parties, format);
    for (int w = 0; w < 2; w++) {
        struct training *t = &sets[w];
        memset(t, 0, sizeof *t);
        write_users(w ? without : -1);
        if (training_plan(&t->plan, text, "", &error) != 0 ||
            data_load(&t->plan.data, &t->plan.split, t->plan.seeded, pool, &t->dataset, &error) != 0 ||
            plan_complete(&t->plan, t->dataset.users.n, t->dataset.items.n, &error) != 0)
            fail_msg("%s\n%s", error.text, text);
        assert_true(t->plan.guarantee.plan_holds);
    }
}

/* What is seen of a training, and of both replays of it. */
static void replay_both(struct training sets[2], struct pool *pool, struct trace *seen, struct trace both[2])
{
    struct dpf_error error = {0};
    struct observe request = {.plan = &sets[0].plan,
                              .dataset = &sets[0].dataset,
                              .pool = pool,
                              .view = OBSERVE_SUMS,
                              .user = -1,
                              .item = -1};
    if (observe_run(&request, seen, &error) != 0)
        fail_msg("%s", error.text);
    for (int w = 0; w < 2; w++) {
        request.plan = &sets[w].plan;
        request.dataset = &sets[w].dataset;
        request.given = seen;
        if (observe_run(&request, &both[w], &error) != 0)
            fail_msg("%s", error.text);
    }
}

/* The sums of two trainings that see the same releases. */
static void compare_sums(const char *format, const char *parties, int without)
{
    struct training sets[2];
    struct trace seen, both[2];
    struct pool *pool = pool_new(1);
    load_both(format, parties, without, sets, pool);
    replay_both(sets, pool, &seen, both);
    int64_t touched = 0, others = 0;
    assert_int_equal(both[0].sums.n, both[1].sums.n);
    for (size_t i = 0; i < both[0].sums.n; i++) {
        const struct observation *a = &both[0].sums.items[i], *b = &both[1].sums.items[i];
        for (int64_t at = 0; at < a->n_rows * a->width; at++) {
            const int64_t row = a->rows ? a->rows[at / a->width] : a->first_row + at / a->width;
            const int differs = a->exact[at] < b->exact[at] || a->exact[at] > b->exact[at];
            *(row == 0 || row >= ITEMS ? &touched : &others) += differs;
        }
    }
    if (touched == 0 || others > 0)
        fail_msg("without user %d of %s: %d sums of others move\n%s", without, parties, (int)others, format);
    trace_free(&seen);
    for (int w = 0; w < 2; w++) {
        trace_free(&both[w]);
        training_free(&sets[w]);
    }
    pool_free(pool);
}

#define ROUNDS "[run]\nrounds = 3\norder = users, items\nseed = 2\nthreads = 2\n"
#define GAUSSIAN                                                                                             \
    "mechanism = gaussian\n[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 1\n"        \
    "where = sum\n"

TEST(messages_do_not_depend_on_who_else_is_there)
{
    static const char *const formats[] = {
        ROUNDS "[users]\nloss = explicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.2\n"
               "[items]\nloss = explicit-als\ntransforms = clip-user\nsolver = ball\n" GAUSSIAN,
        ROUNDS "[users]\nloss = implicit-als\nsolver = cholesky\n[users.loss]\nunobserved-weight = 0.1\n"
               "[items]\nloss = implicit-als\ntransforms = clip-user\nsolver = ball\n" GAUSSIAN
               "[items.loss]\nunobserved-weight = 0.1\n",
        ROUNDS "[users]\nloss = squared-error\nsolver = gradient-descent\n[users.solver]\nrate = 0.05\n"
               "[items]\nloss = squared-error\ntransforms = clip-user\nsolver = gradient-descent\n" GAUSSIAN
               "[items.solver]\nrate = 0.01\n",
        ROUNDS "[users]\nloss = explicit-als\nsolver = cg\n"
               "[items]\nloss = squared-error\ntransforms = clip-rows, clip-user\n"
               "solver = gradient-descent\n" GAUSSIAN "[items.solver]\nrate = 0.01\n",
    };
    static const char *const ranks[] = {"[model]\nrank = 3\n", "[model]\nrank = 16\n"};
    char text[2048];
    write_items();
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
        for (int k = 0; k < 4; k++) {
            snprintf(text, sizeof text, "%s%s", formats[f], ranks[k % 2]);
            compare_sums(text, k / 2 ? "users" : "curator", k == 0 ? 0 : k == 1 ? USERS - 1 : USERS / 2);
        }
}

/* ---- recommenders ------------------------------------------------------------------------------------- */

/* Exact releases of both data sets given the same earlier ones. Numbers that move are counted by release. */
static void compare_releases(const char *format, int without, int64_t most_moved)
{
    struct training sets[2];
    struct trace seen, both[2];
    struct pool *pool = pool_new(1);
    load_both(format, "curator", without, sets, pool);
    replay_both(sets, pool, &seen, both);
    assert_int_equal(both[0].sums.n, both[1].sums.n);
    for (size_t i = 0; i < both[0].sums.n; i++) {
        const struct observation *a = &both[0].sums.items[i], *b = &both[1].sums.items[i];
        const int64_t n = a->n_rows * a->width;
        int64_t moved = 0;
        assert_true(observation_matches(a, b));
        for (int64_t k = 0; k < n; k++)
            moved += a->exact[k] < b->exact[k] || a->exact[k] > b->exact[k];
        if (moved > most_moved)
            fail_msg("without user %d: %d of %d numbers of release %d move\n%s", without, (int)moved, (int)n,
                     a->term, format);
        assert_true(law_share_of_move(a, b, sets[0].plan.guarantee.unit, sets[0].plan.guarantee.adjacency) <=
                    1 + 1e-9);
    }
    assert_int_equal(both[0].state_bytes, both[1].state_bytes);
    assert_memory_equal(both[0].state, both[1].state, both[0].state_bytes);
    trace_free(&seen);
    for (int w = 0; w < 2; w++) {
        trace_free(&both[w]);
        training_free(&sets[w]);
    }
    pool_free(pool);
}

TEST(recommenders_sums_do_not_depend_on_who_else_is_there)
{
    /* With one record a user moves the numbers of one item: its row, its count, its own square of a Gram
     * matrix. */
    static const struct {
        const char *format;
        int64_t most;
    } cases[] = {
        {"[model]\nrecommender = private-popularity\n[model.recommender]\nnoise-multiplier = 1\n", 1},
        {"[model]\nrecommender = private-biases\n[model.recommender]\nnoise-multiplier = 1\n", 2},
        {"[model]\nrecommender = private-als\n[model.recommender]\nnoise-multiplier = 1\nrank = 3\n"
         "rounds = 2\n",
         32},
        {"[model]\nrecommender = private-ratings\n[model.recommender]\nnoise-multiplier = 1\nrank = 3\n"
         "rounds = 2\n",
         32},
    };
    write_items();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int k = 0; k < 3; k++)
            compare_releases(cases[c].format, k == 0 ? 0 : k == 1 ? USERS / 2 : USERS - 1, cases[c].most);
}

FIXTURE(training_begin, training_end)
