/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of users' clipped messages without the messages (engine/step_scaled.h): the same bytes as with them,
 * for any number of threads; and what one user brings into the sums, in integers, against the bound of the
 * clip.
 */
#include "kit/test.h"
#include "kit/training.h"
#include "seen/seen.h"

static const char base[] =
    "[run]\nrounds = 3\nthreads = 2\norder = users, items\n"
    "[data]\nformat = synthetic\nsynthetic.users = 150\nsynthetic.items = 70\n"
    "synthetic.ratings = 3000\nvalue-min = 1\nvalue-max = 5\n"
    "[split]\nkind = none\n"
    "[model]\nrank = 5\nuser-bias = yes\nitem-bias = yes\noffset = midpoint\n"
    "[privacy]\nunit = user\nadjacency = zero-out\nrandomness = reproducible\nnoise-seed = 1\n"
    "delta = 1e-5\n"
    "[users]\nloss = explicit-als\nsolver = cholesky\n"
    "[users.loss]\nlambda = 0.1\n"
    "[items]\nloss = explicit-als\ntransforms = clip-rows, clip-user\nsolver = psd\n"
    "mechanism = gaussian\naggregator = sum\n"
    "[items.loss]\nlambda = 1\nregularization = constant\n"
    "[items.transform.clip-rows]\nbound = 1\n"
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 1\nwhere = sum\n";

static const char implicit[] =
    "[run]\nrounds = 3\nthreads = 2\norder = users, items\n"
    "[data]\nformat = synthetic\nfeedback = implicit\nsynthetic.users = 150\nsynthetic.items = 70\n"
    "synthetic.ratings = 3000\n"
    "[split]\nkind = none\n"
    "[model]\nrank = 5\nusers = 150\n[parties]\nkind = users\n"
    "[privacy]\nunit = user\nadjacency = zero-out\nrandomness = reproducible\nnoise-seed = 1\n"
    "delta = 1e-5\n"
    "[users]\nloss = implicit-als\nsolver = cholesky\n"
    "[users.loss]\nunobserved-weight = 0.1\nlambda = 0.1\n"
    "[items]\nloss = implicit-als\nsolver = ball\nmechanism = none\naggregator = sum\n"
    "[items.loss]\nunobserved-weight = 0.1\nlambda = 0.1\n";
static const char *configuration = base;

/* ---- the term's functions, watched ----------------------------------------------------------------------
 */

static struct {
    int messages;    /* they have to be made */
    int64_t failing; /* the loss refuses this user's records; -1: none */
    int64_t calls;   /* of accumulate_scaled */
    int64_t rows;    /* of the items' messages */
    int64_t *sums;   /* of the last round: rows x width */
    int32_t width;
    double grid[DPF_MAX_BLOCKS];
    dpf_query query;
} watched = {.failing = -1};

static const dpf_loss *real_loss;
static dpf_loss spy_loss;
static dpf_mechanism spy_mechanism;

static dpf_status spy_scaled(void *self, const dpf_call *call, const dpf_query *query,
                             const dpf_groups *groups, const double *factors, const double *grid,
                             int64_t *out, int64_t stride)
{
    const dpf_status status =
        real_loss->accumulate_scaled(self, call, query, groups, factors, grid, out, stride);
    __atomic_add_fetch(&watched.calls, 1, __ATOMIC_RELAXED);
    for (int64_t g = 0; watched.sums && g < groups->n_groups; g++)
        memcpy(watched.sums + groups->rows[g] * query->width, out + g * stride,
               (size_t)query->width * sizeof *out);
    watched.query = *query;
    memcpy(watched.grid, grid, (size_t)query->n_blocks * sizeof *grid);
    return status;
}

static dpf_status spy_accumulate(void *self, const dpf_call *call, const dpf_query *query,
                                 const dpf_groups *groups, const double *grid, double *out, int64_t stride)
{
    if (groups->side == DPF_SIDE_ITEMS)
        __atomic_add_fetch(&watched.rows, groups->n_groups, __ATOMIC_RELAXED);
    if (groups->side == DPF_SIDE_ITEMS && (int64_t)call->party == watched.failing)
        return (call->host->fail)(call->host, DPF_E_NUMERIC, -1, "this user's records are at fault");
    return real_loss->accumulate(self, call, query, groups, grid, out, stride);
}

static void watch(struct plan *plan)
{
    struct term_plan *term = &plan->sides[DPF_SIDE_ITEMS].terms[0];
    real_loss = term->loss->functions;
    spy_loss = *real_loss;
    spy_loss.accumulate_scaled = real_loss->accumulate_scaled ? spy_scaled : NULL;
    spy_loss.accumulate = spy_accumulate;
    term->loss->functions = &spy_loss;
    spy_mechanism = *(const dpf_mechanism *)term->mechanism->functions;
    spy_mechanism.flags &= ~(watched.messages ? DPF_MECHANISM_ROUNDS : 0);
    term->mechanism->functions = &spy_mechanism;
}

/* ---- the same bytes
 * ---------------------------------------------------------------------------------------- */

static void run(struct training *t, const char *changes, int threads, int messages)
{
    char text[1024];
    snprintf(text, sizeof text, "%srun.threads=%d\n", changes, threads);
    watched.messages = messages;
    watched.calls = watched.rows = 0;
    training_run(t, configuration, text);
}

/* taken: 1 where the sums are to be made without messages. */
static void assert_same_sums(const char *changes, int taken)
{
    static const int threads[] = {1, 2, 7};
    struct training slow, fast;
    run(&slow, changes, 2, 1);
    assert_int_equal(watched.calls, 0);
    for (int i = 0; i < 3; i++) {
        run(&fast, changes, threads[i], 0);
        assert_int_equal(watched.calls > 0, taken);
        assert_true(training_same(&slow, &fast));
        assert_true(fast.stats.bytes_up == slow.stats.bytes_up && fast.stats.messages == slow.stats.messages);
        assert_int_equal(fast.stats.violations, slow.stats.violations);
        training_free(&fast);
    }
    training_free(&slow);
}

#define BOUND(B) "items.transform.clip-user.bound=" B "\n"

TEST(sums_are_those_of_messages)
{
    assert_same_sums(BOUND("0.7"), 1);
    assert_same_sums(BOUND("1e6"), 1); /* nobody is clipped */
    assert_same_sums("items.transform.clip-user.block-bounds=2,3\n", 1);
    assert_same_sums(BOUND("2") "items.mechanism=none\n", 1);
    assert_same_sums(BOUND("2") "items.mechanism=none\nitems.mechanism.grid-bits=4\n", 1); /* halves occur */
    assert_same_sums(BOUND("2") "items.aggregator=mean\n", 1);
    assert_same_sums(BOUND("2") "items.sampler=poisson-users\nitems.sampler.rate=0.4\n", 1);
    assert_same_sums(BOUND("2") "items.loss.regularization=frequency\nitems.solver=ball\n", 1);
    assert_same_sums("items.transforms=clip-rows,scale-user\nitems.transform.scale-user.bound=2\n", 1);
    assert_same_sums("items.transform.clip-user.norm=l1\n" BOUND(
                         "4") "items.mechanism=laplace\n"
                              "items.mechanism.epsilon=1\nitems.mechanism.where=sum\n",
                     1);
}

TEST(other_steps_make_messages)
{
    assert_same_sums(BOUND("2") "items.mechanism.where=party\nparties.kind=users\n", 0);
    assert_same_sums(BOUND("2") "items.loss=squared-error\nitems.loss.objective=half\n"
                                "items.solver=gradient-descent\nitems.solver.rate=0.02\n",
                     0);
}

/* Messages of all rows, where rows of zeros need not be made: the same sums, bytes sent and faults. */
TEST(rows_of_zeros_are_left_out)
{
    static const char *const changes[] = {
        BOUND("0.7") "items.aggregator=modular-sum\n",
        "items.transform.clip-user.block-bounds=2,3\nitems.aggregator=modular-sum\n"
        "items.sampler=poisson-users\nitems.sampler.rate=0.4\n",
        "items.transform.clip-user.norm=l1\n" BOUND(
            "4") "items.loss=squared-error\nitems.loss.objective=half\nitems.solver=gradient-descent\n"
                 "items.solver.rate=0.02\nitems.mechanism=laplace-gamma\nitems.mechanism.epsilon=1\n"
                 "items.mechanism.simulate=sum\nprivacy.min-honest=100\n"
                 "items.aggregator=modular-sum\nparties.kind=users\n"};
    struct training t;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        assert_same_sums(changes[i], 0);
        watched.failing = 41;
        assert_same_sums(changes[i], 0);
        watched.failing = -1;
        run(&t, changes[i], 2, 1);
        const int64_t all = watched.rows;
        training_free(&t);
        run(&t, changes[i], 2, 0);
        assert_true(watched.rows > 0 && watched.rows < all / 2);
        training_free(&t);
    }
}

#define GAUSSIAN                                                                                             \
    "items.mechanism=gaussian\nitems.mechanism.calibration=noise-multiplier\n"                               \
    "items.mechanism.noise-multiplier=1\nitems.gram-share=0.2\nitems.mechanism.where=sum\n"

/* The loss says that rows without records are 0 beside a Gram row (DPF_LOSS_ZERO_WITHOUT_RECORDS). */
static void rows_that_the_loss_calls_zeros(const char *changes, int left_out)
{
    struct training t;
    configuration = implicit;
    assert_same_sums(changes, 0);
    for (int threads = 1; threads <= 4; threads += 3) {
        run(&t, changes, threads, 1);
        const int64_t all = watched.rows;
        const uint64_t bytes = (uint64_t)t.stats.bytes_up;
        assert_true(all > 0 && bytes > 0);
        training_free(&t);
        run(&t, changes, threads, 0);
        assert_true(left_out ? watched.rows > 0 && watched.rows < all / 2 : watched.rows == all);
        assert_true((uint64_t)t.stats.bytes_up == bytes);
        training_free(&t);
    }
    configuration = base;
}

TEST(rows_without_records_are_left_out_where_sums_are_added)
{
    rows_that_the_loss_calls_zeros("", 1);
    rows_that_the_loss_calls_zeros("items.aggregator=mean\n", 1);
    rows_that_the_loss_calls_zeros("items.aggregator=modular-sum\n", 1);
    rows_that_the_loss_calls_zeros("items.sampler=poisson-users\nitems.sampler.rate=0.4\n", 1);
    rows_that_the_loss_calls_zeros("items.loss.unobserved-weight=0\n", 1);
    rows_that_the_loss_calls_zeros("items.transforms=clip-user\n" BOUND("2") GAUSSIAN, 1);
    rows_that_the_loss_calls_zeros(
        "items.transforms=clip-user\n" BOUND("2") GAUSSIAN "items.aggregator=mean\n", 1);
    watched.failing = 41;
    rows_that_the_loss_calls_zeros("items.transforms=clip-user\n" BOUND("2") GAUSSIAN, 1);
    watched.failing = -1;
}

/* Who only masks, or adds noise of the party's own to each row, gets every row. */
TEST(every_row_is_sent_where_it_shows)
{
    /* Keys are agreed on by every two users, so there are few. */
    rows_that_the_loss_calls_zeros(
        "data.synthetic.users=40\ndata.synthetic.ratings=800\nmodel.users=40\nitems.aggregator=secagg\n", 0);
    rows_that_the_loss_calls_zeros(
        "items.transforms=clip-user\n" BOUND("2") GAUSSIAN "items.mechanism.where=party\n", 0);
}

static dpf_status look(void *context, const struct seen *seen)
{
    (void)context;
    (void)seen;
    return DPF_OK;
}

/* What every party adds is looked at, so all of it is made. */
TEST(every_row_is_made_where_somebody_looks_on)
{
    static const struct observer observer = {.wants = SEES_PARTS, .saw = look};
    static const struct engine_hooks hooks = {.observer = &observer};
    struct training t;
    int64_t rows[2];
    configuration = implicit;
    for (int looks = 0; looks < 2; looks++) {
        training_hooks = looks ? &hooks : NULL;
        run(&t, "", 1, 0);
        rows[looks] = watched.rows;
        training_free(&t);
    }
    training_hooks = NULL;
    run(&t, "", 1, 1);
    assert_true(rows[0] < watched.rows / 2);
    assert_true(rows[1] == watched.rows);
    training_free(&t);
    configuration = base;
}

/* One user's fault is that user's alone, whichever way it is met. */
TEST(faults_fall_back_to_messages)
{
    watched.failing = 41;
    assert_same_sums(BOUND("0.7"), 0);
    watched.failing = -1;
}

/* ---- what one user brings, in integers
 * ------------------------------------------------------------------------ */

#define USERS 60
#define ITEMS 40
#define WIDTH (6 * 7 / 2 + 6)

/* Each item has 15 raters or more, so that nobody takes an item along. */
static const char *write_ratings(int without)
{
    char *text = memory_new(USERS * ITEMS, 16), *at = text;
    const char *path;
    for (int u = 0; u < USERS; u++)
        for (int i = 0; i < ITEMS && u != without; i++)
            if ((u * 7 + i * 3) % 4 == 0 || (u == 11 && i % 3) || (u < 20 && i % 5 == u % 5))
                at += sprintf(at, "%d\t%d\t%d\n", u, i, 1 + (u * 5 + i * 11 + u * i) % 5);
    path = training_file("ratings.tsv", text);
    free(text);
    return path;
}

/* The sums of the first round by the items' ids. */
static void sums_without(int user, const char *changes, int64_t *out)
{
    char text[1024];
    struct training t;
    int64_t sums[ITEMS * WIDTH] = {0};
    snprintf(text, sizeof text,
             "data.format=tsv\ndata.header=no\ndata.fields=3\ndata.column.user=1\ndata.column.item=2\n"
             "data.column.rating=3\ndata.path=%s\nmodel.users=%d\nmodel.items=%d\nrun.rounds=1\n%s",
             write_ratings(user), USERS, ITEMS, changes);
    watched.sums = sums;
    watched.messages = 0;
    watched.calls = 0;
    training_run(&t, base, text);
    watched.sums = NULL;
    assert_true(watched.calls > 0);
    assert_int_equal(watched.query.width, WIDTH);
    assert_int_equal(t.dataset.items.n, ITEMS);
    for (int i = 0; i < ITEMS; i++)
        memcpy(out + atoi(id_map_text(&t.dataset.items, i)) * WIDTH, sums + i * WIDTH, WIDTH * sizeof *out);
    training_free(&t);
}

/*
 * The user's integers x in block b, whose clipped norm is at most C: |x| <= C/g + sqrt(n)/2 with n numbers
 * that are not zero, so sum x^2 <= K^2 + K sqrt(n) + n/4 for K = C/g, in exact integers with roots rounded
 * up.
 */
static void assert_within(const int64_t *with, const int64_t *without, int32_t b, double bound, int full)
{
    const dpf_block *block = &watched.query.blocks[b];
    unsigned __int128 squares = 0;
    int64_t n = 0, root = 0;
    for (int i = 0; i < ITEMS; i++)
        for (int32_t k = block->offset; k < block->offset + block->length; k++) {
            const __int128 x = (__int128)with[i * WIDTH + k] - without[i * WIDTH + k];
            squares += (unsigned __int128)(x * x);
            n += x != 0;
        }
    while (root * root < n)
        root++;
    const double steps = bound / watched.grid[b];
    assert_true(steps >= 1 && steps < 0x1p60 && steps == floor(steps));
    const unsigned __int128 most = (unsigned __int128)(int64_t)steps;
    assert_true(4 * squares <= 4 * most * most + 4 * most * (unsigned __int128)root + (unsigned __int128)n);
    if (full) /* the ball is filled: the bound is not met by luck */
        assert_true(squares > most * most / 100 * 99);
}

TEST(a_user_moves_the_sums_by_the_bound_at_most)
{
    static int64_t with[ITEMS * WIDTH], without[ITEMS * WIDTH];
    static const int users[] = {0, 11, USERS - 1};
    static const char bounds[] = "items.transform.clip-user.block-bounds=0.5,64\n";
    sums_without(-1, bounds, with);
    for (int i = 0; i < 3; i++) {
        sums_without(users[i], bounds, without);
        assert_within(with, without, 0, 0.5, 1);
        assert_within(with, without, 1, 64, 0);
    }
}

static int begin(void **state)
{
    training_hook = watch;
    return training_begin(state);
}

FIXTURE(begin, training_end)
