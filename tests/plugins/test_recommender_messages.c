/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What users send through an aggregator, of every recommender that can: the integers of the plain sum, as far
 * apart between neighbours as stated, and shares of the noise.
 *
 * A training is replayed: each sum is answered with that of a first training, so that later messages are made
 * from the same releases whoever is in the data. Shares depend on user and place alone, so the difference of
 * the messages of a training with a user's records and of one without them is what the records add.
 */
#include "kit/plain_random.h"
#include "kit/goodness.h"

#define USERS 50
#define ITEMS 24
#define SHARES 36 /* that make up the noise */
#define ABSENT 49 /* a user without records */
#define MOST_SUMS 12
#define WORKERS 3

/* ---- records ---------------------------------------------------------------------------------------------
 */

struct data {
    int64_t offsets[USERS + 1];
    int32_t items[USERS * ITEMS];
    float values[USERS * ITEMS];
    dpf_interactions records;
};

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Records of all users but ABSENT and `without` (USERS: of all; -1: of nobody). */
static void fill_data(struct data *d, int explicit_values, int64_t without)
{
    int64_t n = 0;
    memset(d, 0, sizeof *d);
    for (int64_t u = 0; u < USERS; u++) {
        for (int32_t i = 0; i < ITEMS && without >= 0 && u != without && u != ABSENT; i++) {
            const uint64_t z = mix((uint64_t)(u * ITEMS + i + 1) * UINT64_C(0x9e3779b97f4a7c15));
            if (u == 0 ? i != 3 : z % 100 >= (u % 2 == i % 2 ? 40u : 8u)) /* the first user has one item */
                continue;
            d->items[n] = i;
            d->values[n++] = (float)(1 + z / 100 % 5);
        }
        d->offsets[u + 1] = n;
    }
    d->records =
        (dpf_interactions){.size = sizeof d->records,
                           .n_users = USERS,
                           .n_items = ITEMS,
                           .n = n,
                           .by_user = {USERS, d->offsets, d->items, explicit_values ? d->values : NULL, {0}}};
}

/* ---- trainings -------------------------------------------------------------------------------------------
 */

struct heard_sum {
    int32_t release;
    int64_t n, width, told; /* told: numbers of the release, which has more where half of a matrix is sent */
    int64_t *messages;      /* USERS x n */
    int64_t *sums;          /* with all noise */
    double *exact, *scales;
};

struct hearing {
    struct plain_host *host;
    const struct hearing *given; /* is replayed */
    struct heard_sum sums[MOST_SUMS];
    int n, n_told;
};

static void *new_copy(const void *from, size_t bytes)
{
    void *out = calloc(1, bytes + 1);
    assert_non_null(out);
    if (from)
        memcpy(out, from, bytes);
    return out;
}

struct making {
    const dpf_user_sum *sum;
    int64_t *out;
};

static void make_one(void *context, int64_t task, int32_t worker)
{
    const struct making *making = context;
    assert_int_equal(making->sum->message(making->sum->context, (uint32_t)task, worker,
                                          making->out + task * making->sum->n),
                     DPF_OK);
}

static dpf_status add_up(void *context, dpf_user_sum *sum)
{
    struct hearing *hearing = context;
    assert_true(hearing->n < MOST_SUMS);
    struct heard_sum *heard = &hearing->sums[hearing->n];
    heard->release = sum->release;
    heard->n = sum->n;
    heard->messages = new_copy(NULL, (size_t)(USERS * sum->n) * sizeof(int64_t));
    struct making making = {sum, heard->messages};
    dpf_run_tasks(&hearing->host->call, USERS, make_one, &making);
    memset(sum->sums, 0, (size_t)sum->n * sizeof(int64_t));
    for (int64_t u = 0; u < USERS; u++)
        for (int64_t k = 0; k < sum->n; k++)
            sum->sums[k] += heard->messages[u * sum->n + k];
    if (hearing->given)
        memcpy(sum->sums, hearing->given->sums[hearing->n].sums, (size_t)sum->n * sizeof(int64_t));
    heard->sums = new_copy(sum->sums, (size_t)sum->n * sizeof(int64_t));
    sum->survivors = USERS;
    hearing->n++;
    return DPF_OK;
}

static void saw(void *context, const dpf_witnessed *what)
{
    struct hearing *hearing = context;
    struct heard_sum *heard = &hearing->sums[hearing->n_told];
    const size_t bytes = (size_t)what->n * sizeof(double);
    assert_true(hearing->n_told < MOST_SUMS);
    heard->told = what->n;
    heard->width = what->width;
    heard->release = what->release;
    heard->exact = new_copy(what->exact, bytes);
    assert_non_null(what->scales);
    heard->scales = new_copy(what->scales, bytes);
    hearing->n_told++;
}

static void forget(struct hearing *hearing)
{
    for (int k = 0; k < MOST_SUMS; k++) {
        free(hearing->sums[k].messages);
        free(hearing->sums[k].sums);
        free(hearing->sums[k].exact);
        free(hearing->sums[k].scales);
    }
}

static void backwards(const dpf_call *call, int64_t n_tasks, dpf_task task, void *context)
{
    for (int64_t i = n_tasks; i-- > 0;)
        task(context, i, (int32_t)(i % call->n_workers));
}

static dpf_recommender_setup setup_of(int explicit_values, int64_t shares)
{
    return (dpf_recommender_setup){.size = sizeof(dpf_recommender_setup),
                                   .parties = DPF_PARTIES_USERS,
                                   .n_users = USERS,
                                   .n_items = ITEMS,
                                   .value_lo = 1,
                                   .value_hi = explicit_values ? 5 : 1,
                                   .noise_factor = 1,
                                   .unit = DPF_UNIT_USER,
                                   .adjacency = DPF_ADJ_ZERO_OUT,
                                   .shares = shares};
}

static uint64_t room_of(struct plain_host *host)
{
    uint64_t bytes = 0;
    const dpf_recommender *recommender = host->component->functions;
    assert_int_equal(recommender->state_bytes(host->self, USERS, ITEMS, &bytes), DPF_OK);
    return bytes;
}

/* Trains; returns the state, to be freed. */
static void *train(struct plain_host *host, const struct data *d, struct hearing *hearing)
{
    const dpf_recommender *recommender = host->component->functions;
    const dpf_recommender_setup setup = setup_of(d->records.by_user.values != NULL, SHARES);
    const dpf_summing summing = {hearing, add_up};
    const dpf_witness witness = {hearing, saw};
    const uint64_t bytes = room_of(host);
    hearing->host = host;
    host->call.n_workers = WORKERS;
    host->call.run_tasks = backwards;
    void *state = plain_block(bytes);
    memset(state, 0, (size_t)bytes);
    dpf_fit fit = {.size = sizeof fit,
                   .setup = &setup,
                   .records = &d->records,
                   .state = state,
                   .state_bytes = bytes,
                   .witness = &witness,
                   .summing = &summing};
    plain_clear(host);
    if (recommender->fit(host->self, plain_call(host), &fit) != DPF_OK)
        fail_msg("fit: %s", host->report);
    return state;
}

/* ---- comparisons -----------------------------------------------------------------------------------------
 */

static int state_releases(struct plain_host *host, int explicit_values, int64_t shares,
                          dpf_recommender_release *out)
{
    const dpf_recommender *recommender = host->component->functions;
    const dpf_recommender_setup setup = setup_of(explicit_values, shares);
    int32_t n = 0;
    memset(out, 0, DPF_MAX_RELEASES * sizeof *out);
    for (int r = 0; r < DPF_MAX_RELEASES; r++)
        out[r].event.count = 1;
    assert_int_equal(recommender->releases(host->self, &setup, out, DPF_MAX_RELEASES, &n), DPF_OK);
    return n;
}

/* In shares there is as much noise as at the sum, of the same grid, and the statement says who adds it. */
static void compare_statements(struct plain_host *host, int explicit_values, dpf_recommender_release *shared)
{
    static dpf_recommender_release plain[DPF_MAX_RELEASES];
    const int n = state_releases(host, explicit_values, SHARES, shared);
    assert_int_equal(state_releases(host, explicit_values, 0, plain), n);
    for (int r = 0; r < n; r++) {
        const dpf_recommender_release *release = &shared[r];
        if (release->event.count == 0)
            continue;
        assert_int_equal(release->noise_where, DPF_NOISE_IN_SHARES);
        assert_int_equal(plain[r].noise_where, DPF_NOISE_AT_SUM);
        assert_int_equal(release->sees, DPF_SEES_SUM);
        assert_true(release->flags & DPF_RELEASE_NOISE_BY_USERS);
        assert_false(plain[r].flags & DPF_RELEASE_NOISE_BY_USERS);
        assert_int_equal(release->event.flags, DPF_EVENT_NOISE_SHARED);
        assert_true(release->event.grid == plain[r].event.grid);
        assert_true(release->event.scale >= plain[r].event.scale * (1 - 1e-12));
        assert_true(release->event.scale <= plain[r].event.scale * 1.001);
        assert_true(release->share_steps >= 256);
        assert_true((double)release->share_steps * sqrt(SHARES) * release->event.grid >=
                    release->event.scale * (1 - 1e-12));
    }
}

/* The number of the release that the k-th integer of a message adds to. */
static int64_t place_of(const struct heard_sum *heard, int64_t k)
{
    int64_t row = 0;
    if (heard->n == heard->told)
        return k;
    while (k >= heard->width - row) /* an upper triangle, row by row */
        k -= heard->width - row++;
    return row * heard->width + row + k;
}

/* Scale of a user's share in the k-th integer. */
static double share_at(const struct heard_sum *heard, const dpf_event *event, int64_t k)
{
    return heard->scales[place_of(heard, k)] * event->scale / event->grid / sqrt(USERS);
}

/* The noise that the statement counts on, likewise. */
static double noise_at(const struct heard_sum *heard, const dpf_event *event, int64_t k)
{
    return share_at(heard, event, k) * sqrt(SHARES);
}

static void check_shares(const struct heard_sum *empty, const struct heard_sum *scales,
                         const dpf_event *event)
{
    double squares = 0, products = 0;
    for (int64_t k = 0; k < empty->n; k++)
        for (int64_t u = 0; u < USERS; u++) {
            const double z = (double)empty->messages[u * empty->n + k] / share_at(scales, event, k);
            const double y =
                (double)empty->messages[(u + 1) % USERS * empty->n + k] / share_at(scales, event, k);
            squares += z * z;
            products += z * y;
        }
    const double n = (double)(empty->n * USERS);
    goodness_assert(goodness_mean(squares, n, 1, 2), "variance of shares", (double)empty->release);
    goodness_assert(goodness_mean(products, n, 0, 1), "independence of shares", (double)empty->release);
}

/* What users' records add, which is the plain sum that an audit is told, and how far a user moves it. */
static void check_messages(const struct heard_sum *full, const struct heard_sum *empty,
                           const dpf_recommender_release *release, double *nearest)
{
    const dpf_event *event = &release->event;
    const double l2 = event->sensitivity.at[DPF_UNIT_USER][DPF_ADJ_ZERO_OUT].l2 / event->scale;
    int64_t *sum = new_copy(NULL, (size_t)full->n * sizeof *sum);
    for (int64_t u = 0; u < USERS; u++) {
        double squares = 0;
        for (int64_t k = 0; k < full->n; k++) {
            const int64_t own = full->messages[u * full->n + k] - empty->messages[u * full->n + k];
            assert_true(own <= release->largest && own >= -release->largest);
            assert_true(u != ABSENT || own == 0);
            squares += pow((double)own / noise_at(full, event, k), 2);
            sum[k] += own;
        }
        assert_true(squares <= l2 * l2 * (1 + 1e-9));
        *nearest = fmax(*nearest, squares / (l2 * l2));
    }
    for (int64_t k = 0; k < full->n; k++)
        assert_true((double)sum[k] * event->grid == full->exact[place_of(full, k)]);
    free(sum);
}

/* Whoever leaves, nobody else's message changes. */
static void check_others(const struct heard_sum *full, const struct heard_sum *without, int64_t left)
{
    for (int64_t u = 0; u < USERS; u++)
        if (u != left)
            assert_memory_equal(full->messages + u * full->n, without->messages + u * full->n,
                                (size_t)full->n * sizeof(int64_t));
}

static void check_recommender(const char *id, const char *settings, int explicit_values, double reached)
{
    static struct data data;
    static dpf_recommender_release releases[DPF_MAX_RELEASES];
    struct plain_host host;
    struct hearing first = {0}, full = {.given = &first}, empty = {.given = &first},
                   without = {.given = &first};
    double nearest = 0;
    plain_open_random(&host, plain_component(id, DPF_ROLE_RECOMMENDER, id), settings);
    compare_statements(&host, explicit_values, releases);
    fill_data(&data, explicit_values, USERS);
    void *state = train(&host, &data, &first), *again = train(&host, &data, &full);
    assert_memory_equal(state, again, (size_t)room_of(&host));
    free(state);
    free(again);
    fill_data(&data, explicit_values, -1);
    free(train(&host, &data, &empty));
    fill_data(&data, explicit_values, 0);
    free(train(&host, &data, &without));
    assert_true(first.n > 0);
    assert_int_equal(first.n, first.n_told);
    for (int k = 0; k < first.n; k++) {
        const dpf_recommender_release *release = &releases[first.sums[k].release];
        check_messages(&full.sums[k], &empty.sums[k], release, &nearest);
        check_shares(&empty.sums[k], &first.sums[k], &release->event);
        check_others(&full.sums[k], &without.sums[k], 0);
    }
    assert_true(nearest > reached);
    forget(&first);
    forget(&full);
    forget(&empty);
    forget(&without);
    plain_close(&host);
}

static int start(void **state)
{
    (void)state;
    plain_random_start(17);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    plain_random_stop();
    return 0;
}

TEST_WITH(messages_of_gram, start, stop)
{
    check_recommender("private-gram", "form=gram; items=20; noise-multiplier=2", 0, 0.99);
    /* So little noise that rows are centred: each user sends all pairs of columns. */
    check_recommender("private-gram", "form=gram; items=20; noise-multiplier=0.05", 0, 0.99);
}

TEST_WITH(messages_of_a_projected_gram, start, stop)
{
    check_recommender("private-gram", "form=projected; items=20; noise-multiplier=2", 0, 0.99);
}

TEST_WITH(messages_of_popularity, start, stop)
{
    check_recommender("private-popularity", "noise-multiplier=2; history=2", 0, 0.99);
}

TEST_WITH(messages_of_biases, start, stop)
{
    check_recommender("private-biases", "noise-multiplier=2", 1, 0.9);
}

TEST_WITH(messages_of_ratings, start, stop)
{
    check_recommender("private-ratings", "noise-multiplier=0.2; rounds=1; rank=1", 1, 0.9);
}

TEST_WITH(messages_of_als, start, stop)
{
    check_recommender("private-als", "noise-multiplier=0.2; rank=1; rounds=2", 1, 0.9);
}

/* As many shares as users of the world would be too small for the grid. */
TEST_WITH(too_small_shares_are_refused, start, stop)
{
    static const char *const ids[] = {"private-gram", "private-popularity"};
    for (int k = 0; k < 2; k++) {
        struct plain_host host;
        dpf_recommender_release releases[DPF_MAX_RELEASES];
        dpf_recommender_setup setup = setup_of(0, INT32_MAX);
        int32_t n;
        plain_open_random(&host, plain_component(ids[k], DPF_ROLE_RECOMMENDER, ids[k]),
                          "noise-multiplier=0.1");
        setup.n_users = INT32_MAX;
        const dpf_recommender *recommender = host.component->functions;
        assert_int_equal(recommender->releases(host.self, &setup, releases, DPF_MAX_RELEASES, &n),
                         DPF_E_RANGE);
        assert_non_null(strstr(host.report, "lower [privacy] min-honest"));
        plain_close(&host);
    }
}
