/* SPDX-License-Identifier: Apache-2.0 */
/* private-popularity: what a user adds is bounded whoever comes or goes, sums are exact, noise is as stated.
 */
#include "sums_audit.h"

#include <stdio.h>

#include "message_grid.h"
#include "kit/plain_scores.h"
#include "kit/goodness.h"

#define USERS 60
#define ITEMS 30
#define HEADER 8 /* doubles before the sums in a state */

static const dpf_component *component;

struct data {
    int64_t n_users;
    uint8_t has[USERS][ITEMS];
    int64_t offsets[USERS + 1];
    int32_t items[USERS * ITEMS];
    float values[USERS * ITEMS];
    dpf_interactions records;
};

static void index_records(struct data *data, int with_values)
{
    int64_t n = 0;
    for (int64_t u = 0; u < data->n_users; u++) {
        for (int32_t i = 0; i < ITEMS; i++)
            if (data->has[u][i]) {
                data->values[n] = (float)data->has[u][i];
                data->items[n++] = i;
            }
        data->offsets[u + 1] = n;
    }
    data->records = (dpf_interactions){
        .size = sizeof data->records,
        .n_users = data->n_users,
        .n_items = ITEMS,
        .n = n,
        .by_user = {data->n_users, data->offsets, data->items, with_values ? data->values : NULL, {0}}};
}

/* User u has 0 to 29 items. */
static void fill(struct data *data, int64_t n_users)
{
    memset(data, 0, sizeof *data);
    data->n_users = n_users;
    for (int u = 0; u < n_users; u++)
        for (int i = 0; i < u % 30; i++)
            data->has[u][(i * 7 + u) % ITEMS] = (uint8_t)(1 + (u + i) % 5);
    index_records(data, 0);
}

static int64_t items_of(const struct data *data, int64_t user)
{
    return data->offsets[user + 1] - data->offsets[user];
}

struct seen {
    double sums[ITEMS];
    int n;
};

static void saw(void *context, const dpf_witnessed *what)
{
    const int32_t release = what->release;
    const double *numbers = what->numbers;
    const int64_t n = what->n;
    const int64_t row = what->row;
    struct seen *seen = context;
    assert_int_equal(release, 0);
    assert_int_equal(row, 0);
    assert_int_equal(n, ITEMS);
    memcpy(seen->sums, numbers, sizeof seen->sums);
    seen->n++;
}

static dpf_recommender_setup setup_of(int without_noise)
{
    return (dpf_recommender_setup){.size = sizeof(dpf_recommender_setup),
                                   .parties = DPF_PARTIES_CURATOR,
                                   .n_users = USERS,
                                   .n_items = ITEMS,
                                   .value_lo = 1,
                                   .value_hi = 1,
                                   .noise_factor = 1,
                                   .without_noise = without_noise,
                                   .unit = DPF_UNIT_USER,
                                   .adjacency = DPF_ADJ_ADD_REMOVE};
}

static void tasks_backwards(const dpf_call *call, int64_t n_tasks, dpf_task task, void *context)
{
    for (int64_t i = n_tasks; i-- > 0;)
        task(context, i, (int32_t)(i % call->n_workers));
}

static void train(struct plain_host *host, const struct data *data, int without_noise, struct seen *seen,
                  double *state)
{
    const dpf_recommender *functions = component->functions;
    const dpf_recommender_setup setup = setup_of(without_noise);
    const dpf_witness witness = {seen, saw};
    uint64_t bytes = 0;
    seen->n = 0;
    assert_int_equal(functions->state_bytes(host->self, data->n_users, ITEMS, &bytes), DPF_OK);
    assert_int_equal(bytes, (HEADER + ITEMS) * sizeof(double));
    memset(state, 0, (size_t)bytes);
    dpf_fit fit = {.size = sizeof fit,
                   .setup = &setup,
                   .records = &data->records,
                   .state = state,
                   .state_bytes = bytes,
                   .witness = &witness};
    host->call.n_workers = 3;
    host->call.run_tasks = tasks_backwards;
    if (functions->fit(host->self, plain_call(host), &fit) != DPF_OK)
        fail_msg("fit: %s", host->report);
    assert_int_equal(seen->n, 1);
    assert_int_equal(plain_form_fits(host, data->n_users, ITEMS, state), DPF_OK);
}

/* Of data that is trained once, with its own instance. */
static void train_once(const char *settings, const struct data *data, int without_noise, struct seen *seen,
                       double *state)
{
    struct plain_host host;
    plain_open_random(&host, component, settings);
    train(&host, data, without_noise, seen, state);
    plain_close(&host);
}

static double distance(const double *x, const double *y)
{
    double square = 0;
    for (int i = 0; i < ITEMS; i++)
        square += (x[i] - (y ? y[i] : 0)) * (x[i] - (y ? y[i] : 0));
    return sqrt(square);
}

/* Without noise the release is the sum of what everybody adds, rounded down on the grid. */
AUDIT_TEST(the_sum_is_that_of_all_messages)
{
    static struct data data;
    static struct seen seen;
    double fitted[HEADER + ITEMS];
    fill(&data, USERS);
    train_once("history=9", &data, 1, &seen, fitted);
    for (int i = 0; i < ITEMS; i++) {
        double sum = 0;
        for (int u = 0; u < USERS; u++)
            if (data.has[u][i])
                sum += floor(ldexp(1 / sqrt(fmax((double)items_of(&data, u), 9)), GRID_MOST_BITS));
        assert_true(fabs(seen.sums[i] - ldexp(sum, -GRID_MOST_BITS)) <= USERS * ldexp(1, -GRID_MOST_BITS));
    }
    assert_memory_equal(fitted + HEADER, seen.sums, sizeof seen.sums);
}

/* The first, middle and last users leave; a user's part is never longer than 1, and is 1 from `history` on.
 */
AUDIT_TEST(whoever_leaves_moves_it_by_one_at_most)
{
    static struct data data, fewer;
    static struct seen all, rest;
    struct plain_host host;
    double fitted[HEADER + ITEMS];
    plain_open_random(&host, component, "history=9");
    fill(&data, USERS);
    memset(data.has[0], 3, sizeof data.has[0]); /* the first has everything */
    index_records(&data, 0);
    for (int64_t gone = 0; gone < USERS; gone++) {
        fewer = data;
        for (int64_t u = gone; u + 1 < USERS; u++)
            memcpy(fewer.has[u], data.has[u + 1], sizeof data.has[u]);
        fewer.n_users = USERS - 1;
        index_records(&fewer, 0);
        train(&host, &data, 1, &all, fitted);
        train(&host, &fewer, 1, &rest, fitted);
        const double moved = distance(all.sums, rest.sums), n = (double)items_of(&data, gone);
        assert_true(moved <= 1);
        assert_true(fabs(moved - fmin(sqrt(n / 9), 1)) < 1e-5);
    }
    plain_close(&host);
}

/* Two messages have no negative numbers: a user or a record in the place of another moves the sum by the root
   of 2 at most, and two users of different items reach it. */
AUDIT_TEST(who_is_replaced_moves_it_by_the_root_of_two_at_most)
{
    static struct data data, other;
    static struct seen before, after;
    struct plain_host host;
    double fitted[HEADER + ITEMS], most = 0;
    uint64_t z = 5;
    plain_open_random(&host, component, "history=4");
    for (int trial = 0; trial < 400; trial++) {
        fill(&data, USERS);
        other = data;
        for (int i = 0; i < ITEMS; i++) { /* trial 0: disjoint items */
            z = z * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            data.has[7][i] = trial ? (z >> 40) % 3 == 0 : i < 15;
            other.has[7][i] = trial % 2 ? data.has[7][i] ^ (i == trial % ITEMS)
                                        : (uint8_t)(trial ? (z >> 50) % 2 : i >= 15);
        }
        index_records(&data, 0);
        index_records(&other, 0);
        train(&host, &data, 1, &before, fitted);
        train(&host, &other, 1, &after, fitted);
        most = fmax(most, distance(before.sums, after.sums));
    }
    assert_true(most <= 1.4142135623730952);
    assert_true(most > 1.41421);
    plain_close(&host);
}

AUDIT_TEST(neither_order_nor_values_change_anything)
{
    static struct data data, turned;
    static struct seen a, b;
    double one[HEADER + ITEMS], other[HEADER + ITEMS];
    fill(&data, USERS);
    turned = data;
    for (int u = 0; u < USERS; u++)
        memcpy(turned.has[u], data.has[(u * 7 + 13) % USERS], sizeof data.has[u]);
    index_records(&turned, 1); /* with ratings: they are not read */
    train_once("", &data, 0, &a, one);
    train_once("", &turned, 0, &b, other);
    assert_memory_equal(one, other, sizeof one);
    assert_memory_equal(&a, &b, sizeof a);
}

/* Mean square of noise over the stated scale: 1, with a standard deviation of sqrt(2/n). */
AUDIT_TEST(noise_is_as_stated)
{
    static struct data data;
    static struct seen silent, noisy;
    struct plain_host host;
    dpf_recommender_release release = {0};
    const dpf_recommender *functions = component->functions;
    const dpf_recommender_setup setup = setup_of(0);
    double fitted[HEADER + ITEMS], square = 0, n = 0;
    int32_t n_releases;
    fill(&data, USERS);
    train_once("history=9", &data, 1, &silent, fitted);
    plain_open_random(&host, component, "history=9; noise-multiplier=3");
    assert_int_equal(functions->releases(host.self, &setup, &release, 1, &n_releases), DPF_OK);
    assert_int_equal(n_releases, 1);
    assert_int_equal(release.event.kind, DPF_EVENT_DISCRETE_GAUSSIAN);
    assert_true(release.event.scale >= 3);
    assert_true(release.event.scale < 3.0001);
    for (uint32_t draw = 0; draw < 200; draw++) {
        host.call.draw = draw;
        train(&host, &data, 0, &noisy, fitted);
        for (int i = 0; i < ITEMS; i++, n++)
            square += pow((noisy.sums[i] - silent.sums[i]) / release.event.scale, 2);
    }
    goodness_assert((square - n) / sqrt(2 * n), "noise of counts", 1);
    plain_close(&host);
}

AUDIT_TEST(the_event_states_what_moves)
{
    struct plain_host host;
    dpf_recommender_release release = {0};
    const dpf_recommender *functions = component->functions;
    const dpf_recommender_setup setup = setup_of(0);
    int32_t n;
    plain_open_random(&host, component, "");
    memset(&release.event.sensitivity, 0xff, sizeof release.event.sensitivity); /* NaN: not stated */
    assert_int_equal(functions->releases(host.self, &setup, &release, 1, &n), DPF_OK);
    const dpf_norms *of_users = release.event.sensitivity.at[DPF_UNIT_USER];
    assert_true(of_users[DPF_ADJ_ADD_REMOVE].l2 == 1);
    assert_true(of_users[DPF_ADJ_ZERO_OUT].l2 == 1);
    assert_true(of_users[DPF_ADJ_REPLACE].l2 >= sqrt(2.0));
    assert_true(of_users[DPF_ADJ_ADD_REMOVE].l1 >= sqrt((double)ITEMS));
    assert_true(release.event.sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_ADD_REMOVE].l2 >= sqrt(2.0));
    assert_int_equal(functions->flags(host.self) & DPF_RECOMMENDER_SCORES_AT_HOME, 0);
    plain_close(&host);
}

/* Longer histories count in full where the noise lets them: by the declared number of users alone. */
AUDIT_TEST(history_follows_from_users_and_noise)
{
    static const struct {
        const char *settings;
        double history;
    } cases[] = {{"noise-multiplier=6", 1}, {"noise-multiplier=0.5", 12}, {"noise-multiplier=0.02", 200}};
    static struct data data;
    static struct seen seen;
    memset(&data, 0, sizeof data);
    data.n_users = 1;
    data.has[0][4] = 1;
    index_records(&data, 0);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct plain_host host;
        double fitted[HEADER + ITEMS], mean = 0;
        plain_open_random(&host, component, cases[c].settings);
        for (uint32_t draw = 0; draw < 2000; draw++) {
            host.call.draw = draw;
            train(&host, &data, 0, &seen, fitted);
            mean += seen.sums[4] / 2000;
        }
        const double expected = 1 / sqrt(cases[c].history), spread = 6.0 / sqrt(2000.0);
        assert_true(fabs(mean - expected) < 5 * spread * (c == 0 ? 1 : c == 1 ? 0.5 / 6 : 0.02 / 6));
        plain_close(&host);
    }
}

AUDIT_TEST(it_ends_whatever_the_records_are)
{
    static struct data data;
    static struct seen seen;
    double fitted[HEADER + ITEMS];
    float scores[ITEMS] = {0};
    for (int c = 0; c < 3; c++) {
        struct plain_host host;
        fill(&data, c == 2 ? USERS : c);
        plain_open_random(&host, component, "noise-multiplier=1000");
        train(&host, &data, 0, &seen, fitted);
        for (int32_t user = 0; user < data.n_users; user++) {
            const dpf_scoring scoring = {sizeof scoring, user, &data.records, fitted, scores};
            assert_int_equal(plain_scores(&host, &scoring), DPF_OK);
            for (int i = 0; i < ITEMS; i++)
                assert_true(scores[i] == (float)seen.sums[i]); /* the same for everybody */
        }
        plain_close(&host);
    }
}

/* How often the canary's item gets more than the threshold. */
static int64_t count_above(struct plain_host *host, const struct data *data, double threshold, uint32_t first)
{
    static struct seen seen;
    double fitted[HEADER + ITEMS];
    int64_t above = 0;
    for (uint32_t trial = 0; trial < AUDIT_TRIALS; trial++) {
        host->call.draw = first + trial;
        train(host, data, 0, &seen, fitted);
        above += seen.sums[3] > threshold;
    }
    return above;
}

/* The canary has one item, which only it has: the release at that item is the likelihood ratio. */
AUDIT_TEST(an_attack_finds_half_of_epsilon)
{
    static struct data with, without;
    struct plain_host host;
    memset(&with, 0, sizeof with);
    with.n_users = 2;
    with.has[0][3] = with.has[1][5] = 1;
    without = with;
    without.n_users = 1;
    memcpy(without.has[0], with.has[1], sizeof with.has[0]);
    index_records(&with, 0);
    index_records(&without, 0);
    plain_open_random(&host, component, "history=1; noise-multiplier=1.5");
    /* 2.6 standard deviations above the mean without the canary, which was fixed before any trial. */
    const double threshold = 2.6 * AUDIT_MULTIPLIER;
    const int64_t hits = count_above(&host, &with, threshold, 0);
    audit_expect(hits, count_above(&host, &without, threshold, AUDIT_TRIALS));
    plain_close(&host);
}

static int set_up(void **state)
{
    (void)state;
    component = plain_component("private-popularity", DPF_ROLE_RECOMMENDER, "private-popularity");
    return 0;
}

FIXTURE(set_up, NULL)
