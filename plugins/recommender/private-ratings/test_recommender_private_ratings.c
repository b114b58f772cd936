/* SPDX-License-Identifier: Apache-2.0 */
/* private-ratings as a whole: releases are the sums that are stated, with the noise that is stated. */
#include "ratings_audit.h"

#include "kit/plain_scores.h"
#include "kit/goodness.h"

static const dpf_component *component;
#define SETTINGS "rank=2; latent=1; rounds=2; noise-multiplier=2"

/* ---- sums -----------------------------------------------------------------------------------------------
 */

/* Follows a training: each release against the sum of the users' messages to the server as it then stands. */
struct follower {
    struct case_replay replay;
    const struct case_data *data;
    int noisy;
    double square[N_RELEASES]; /* of noise over sigma */
    double numbers[N_RELEASES];
    int seen[N_RELEASES];
    const double *items_part;
};

static void compare_part(struct follower *f, int32_t release, const int64_t *sums, const double *released,
                         int64_t n)
{
    const double grid = noise_grid_size(&f->replay.rule.grid[release]);
    for (int64_t k = 0; k < n; k++) {
        const double noise = released[k] - (double)sums[k] * grid;
        if (!f->noisy)
            assert_true(noise == 0);
        f->square[release] +=
            noise * noise / (f->replay.rule.grid[release].sigma * f->replay.rule.grid[release].sigma);
        f->numbers[release] += 1;
    }
    f->seen[release]++;
}

static void compare_pass(struct follower *f, int32_t pass, const double *all)
{
    static struct case_message message;
    static int64_t items[CASE_ITEMS * (RATINGS_MAX_LOADINGS + 1)], to_all[CASE_ROOM];
    double values[CASE_ITEMS];
    memset(items, 0, sizeof items);
    memset(to_all, 0, sizeof to_all);
    for (int64_t user = 0; user < f->data->n_users; user++) {
        const struct own_records own = case_own(f->data, user, values);
        case_message_of(&f->replay, &own, pass, &message);
        for (int64_t k = 0; k < f->data->n_items * message.width && own.n; k++)
            items[k] += message.items[k];
        for (int64_t k = 0; k < message.n_all && own.n; k++)
            to_all[k] += message.all[k];
    }
    if (message.to_items >= 0)
        compare_part(f, message.to_items, items, message.to_all >= 0 ? f->replay.released : all,
                     f->data->n_items * message.width);
    if (message.to_all >= 0)
        compare_part(f, message.to_all, to_all, all, message.n_all);
}

static void follow(void *context, const dpf_witnessed *what)
{
    struct follower *f = context;
    if (case_pass_of(what->release) >= 0)
        compare_pass(f, case_pass_of(what->release), what->numbers);
    case_replay_take(&f->replay, what->release, what->numbers, what->n);
}

/* The latent start comes from a stream of its own: read as fit reads it. */
static void read_latent(struct follower *f, int64_t n)
{
    dpf_stream *stream;
    dpf_cursor cursor;
    assert_int_equal(plain_random_open(NULL, "latent", &stream), DPF_OK);
    random_seek(stream, 0, DPF_PARTY_AGGREGATE, 0, &cursor);
    random_normal(&cursor, f->replay.latent, n * f->replay.server.latent);
}

static void follow_training(const struct case_data *data, int noisy, struct follower *f)
{
    struct plain_host host;
    uint64_t bytes;
    memset(f, 0, sizeof *f);
    plain_open_random(&host, component, SETTINGS);
    f->data = data;
    f->noisy = noisy;
    case_replay_open(&f->replay, &host, data->n_items, !noisy);
    read_latent(f, data->n_items);
    const dpf_witness witness = {f, follow};
    free(case_fit(&host, data, !noisy, &witness, &bytes));
    case_replay_close(&f->replay);
    plain_close(&host);
}

TEST(releases_are_sums_of_messages)
{
    static struct case_data data;
    static struct follower f;
    case_fill(&data, CASE_USERS, CASE_ITEMS, 3);
    follow_training(&data, 0, &f);
    for (int r = 0; r < N_RELEASES; r++)
        assert_int_equal(f.seen[r], r >= RELEASE_FACTORS ? 2 : 1);
}

/* Mean square of noise over sigma, 1 with a standard deviation of sqrt(2/n), over several trainings. */
TEST(releases_carry_the_stated_noise)
{
    static struct case_data data;
    static struct follower f;
    double square[N_RELEASES] = {0}, numbers[N_RELEASES] = {0};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        case_fill(&data, CASE_USERS, CASE_ITEMS, seed);
        plain_random_stop();
        plain_random_start(seed);
        follow_training(&data, 1, &f);
        for (int r = 0; r < N_RELEASES; r++) {
            square[r] += f.square[r];
            numbers[r] += f.numbers[r];
        }
    }
    for (int r = 0; r < N_RELEASES; r++)
        goodness_assert((square[r] - numbers[r]) / sqrt(2 * numbers[r]), "noise of a release", 1);
}

struct recorder {
    double numbers[8 * CASE_ITEMS * 8];
    int64_t n;
};

static void record(void *context, const dpf_witnessed *what)
{
    struct recorder *r = context;
    assert_true(r->n + what->n <= (int64_t)(sizeof r->numbers / sizeof *r->numbers));
    memcpy(r->numbers + r->n, what->numbers, (size_t)what->n * sizeof(double));
    r->n += what->n;
}

/* Sums are of integers, and noise is read by item: who comes first changes no byte. */
TEST(the_order_of_users_changes_nothing)
{
    static struct case_data data, turned;
    static struct recorder a, b;
    struct plain_host host;
    uint64_t bytes;
    case_fill(&data, CASE_USERS, CASE_ITEMS, 4);
    turned = data;
    for (int64_t u = 0; u < CASE_USERS; u++)
        memcpy(turned.stars[u], data.stars[(u * 7 + 13) % CASE_USERS], sizeof data.stars[u]);
    case_index(&turned);
    plain_open_random(&host, component, SETTINGS);
    a.n = b.n = 0;
    const dpf_witness first = {&a, record}, second = {&b, record};
    void *one = case_fit(&host, &data, 0, &first, &bytes),
         *other = case_fit(&host, &turned, 0, &second, &bytes);
    assert_true(a.n > 0);
    assert_true(a.n == b.n);
    assert_memory_equal(a.numbers, b.numbers, (size_t)a.n * sizeof(double));
    assert_memory_equal(one, other, (size_t)bytes);
    free(one);
    free(other);
    plain_close(&host);
}

/* A user who leaves, the first, a middle or the last one, moves the first sums by its message alone: at most
   1, and, where counts are concerned, just 1 but for the grid. Later sums are the previous tests' business:
   what they are sums of depends on the releases alone. */
TEST(one_user_moves_counts_by_one)
{
    static struct case_data data, fewer;
    static struct recorder a, b;
    struct plain_host host;
    uint64_t bytes;
    plain_open_random(&host, component, SETTINGS);
    case_fill(&data, CASE_USERS, CASE_ITEMS, 6);
    data.stars[0][3] = data.stars[CASE_USERS / 2][0] = data.stars[CASE_USERS - 1][9] = 4;
    case_index(&data);
    const dpf_witness first = {&a, record}, second = {&b, record};
    a.n = 0;
    free(case_fit(&host, &data, 1, &first, &bytes));
    for (int c = 0; c < 3; c++) {
        double square = 0;
        case_leave(&data, c, &fewer);
        b.n = 0;
        free(case_fit(&host, &fewer, 1, &second, &bytes));
        for (int64_t k = 0; k < CASE_ITEMS; k++)
            square += (a.numbers[k] - b.numbers[k]) * (a.numbers[k] - b.numbers[k]);
        assert_true(square <= 1);
        assert_true(square > 0.9999);
        assert_true(a.numbers[CASE_ITEMS] - b.numbers[CASE_ITEMS] == 1);
    }
    plain_close(&host);
}

/* ---- features -------------------------------------------------------------------------------------------
 */

#define COLUMNS 80 /* more than are read */

/* A number that ratings follow, and categories that say nothing; without noise of releases. */
struct feature_case {
    dpf_feature_column column[COLUMNS];
    int64_t offsets[CASE_ITEMS + 1];
    int32_t at[2 * CASE_ITEMS];
    float values[2 * CASE_ITEMS];
    dpf_features features;
};

static void make_features(struct feature_case *c)
{
    for (int k = 0; k < COLUMNS; k++)
        c->column[k] =
            (dpf_feature_column){.name = "column",
                                 .kind = k == COLUMNS - 1 ? DPF_FEATURE_NUMBER : DPF_FEATURE_CATEGORY,
                                 .field = k == COLUMNS - 1,
                                 .mean = k == COLUMNS - 1 ? 12 : 1.0 / (1 + k % 9),
                                 .deviation = k == COLUMNS - 1 ? 7 : 1};
    for (int i = 0; i < CASE_ITEMS; i++) {
        c->at[2 * i] = i * 3;
        c->at[2 * i + 1] = COLUMNS - 1;
        c->values[2 * i] = 1;
        c->values[2 * i + 1] = (float)i;
        c->offsets[i + 1] = 2 * (i + 1);
    }
    c->features = (dpf_features){.size = sizeof c->features,
                                 .n_fields = 2,
                                 .rows = CASE_ITEMS,
                                 .columns = COLUMNS,
                                 .offsets = c->offsets,
                                 .at = c->at,
                                 .values = c->values,
                                 .column = c->column};
}

/* Mean squared error of the ratings that the first user, who rated the first item alone, would give: those of
   everybody, which rise with the number. */
static double error_of_a_newcomer(struct plain_host *host, const struct case_data *data, const void *state)
{
    float scores[CASE_ITEMS];
    double sum = 0;
    const dpf_scoring scoring = {sizeof scoring, 0, &data->records, state, scores};
    assert_int_equal(plain_scores(host, &scoring), DPF_OK);
    for (int i = 0; i < CASE_ITEMS; i++) {
        const double truth = i < CASE_ITEMS / 2 ? 2 : 4;
        sum += ((double)scores[i] - truth) * ((double)scores[i] - truth) / CASE_ITEMS;
    }
    return sum;
}

TEST(features_stand_in_for_ratings)
{
    static struct case_data data;
    static struct feature_case features;
    struct plain_host host;
    uint64_t bytes;
    double error[2];
    case_fill(&data, CASE_USERS, CASE_ITEMS, 12);
    for (int u = 0; u < CASE_USERS; u++)
        for (int i = 0; i < CASE_ITEMS; i++)
            data.stars[u][i] = i % 3 && data.stars[u][i] ? (i < CASE_ITEMS / 2 ? 2 : 4) : 0;
    memset(data.stars[0], 0, sizeof data.stars[0]);
    data.stars[0][1] = 2;
    case_index(&data);
    make_features(&features);
    plain_open_random(&host, component, "rounds=0");
    for (int with = 0; with < 2; with++) {
        data.records.item_features = with ? &features.features : NULL;
        void *fitted = case_fit(&host, &data, 1, NULL, &bytes);
        error[with] = error_of_a_newcomer(&host, &data, fitted);
        free(fitted);
    }
    assert_true(error[1] < 0.5 * error[0]); /* a third of the items has no rating */
    plain_close(&host);
}

/* No records, one, noise that drowns everything: training ends, and predicts (C12). */
TEST(it_ends_whatever_the_records_are)
{
    static const char *const settings[] = {SETTINGS, "rank=2; latent=2; rounds=3; noise-multiplier=1000"};
    static struct case_data data;
    for (int c = 0; c < 8; c++) {
        struct plain_host host;
        uint64_t bytes;
        float scores[CASE_ITEMS];
        case_fill(&data, c % 4 == 3 ? 0 : CASE_USERS, CASE_ITEMS, 4);
        if (c % 4 < 2)
            memset(data.stars, 0, sizeof data.stars);
        data.stars[0][0] = c % 4 == 1 ? 5 : data.stars[0][0];
        case_index(&data);
        plain_open_random(&host, component, settings[c / 4]);
        void *bytes_of = case_fit(&host, &data, 0, NULL, &bytes);
        assert_int_equal(plain_form_fits(&host, data.n_users, CASE_ITEMS, bytes_of), DPF_OK);
        for (int32_t user = 0; user < data.n_users; user++) {
            const dpf_scoring scoring = {sizeof scoring, user, &data.records, bytes_of, scores};
            assert_int_equal(plain_scores(&host, &scoring), DPF_OK);
            for (int i = 0; i < CASE_ITEMS; i++)
                assert_true(isfinite(scores[i]));
        }
        free(bytes_of);
        plain_close(&host);
    }
}

/* ---- audit ----------------------------------------------------------------------------------------------
 */

static void score_release(void *context, const dpf_witnessed *what)
{
    static struct case_message canary, rest;
    struct attack *attack = context;
    const double *numbers = what->numbers;
    const int32_t pass = case_pass_of(what->release);
    double values[2][CASE_ITEMS];
    if (pass >= 0) {
        const struct own_records own = case_own(attack->with, 0, values[0]),
                                 other = case_own(attack->with, 1, values[1]);
        case_message_of(&attack->replay, &own, pass, &canary);
        case_message_of(&attack->replay, &other, pass, &rest);
        if (canary.to_items >= 0)
            attack_score(attack, canary.to_items, canary.items, rest.items,
                         canary.to_all >= 0 ? attack->replay.released : numbers,
                         attack->with->n_items * canary.width);
        if (canary.to_all >= 0)
            attack_score(attack, canary.to_all, canary.all, rest.all, numbers, canary.n_all);
    }
    case_replay_take(&attack->replay, what->release, numbers, what->n);
}

TEST(an_attack_finds_half_of_epsilon)
{
    attack_audit(component, "rank=1; latent=0; rounds=1; noise-multiplier=1.5", case_replay_open,
                 score_release);
}

static int set_up(void **state)
{
    component = plain_component("private-ratings", DPF_ROLE_RECOMMENDER, "private-ratings");
    return streams_start(state);
}

FIXTURE(set_up, plain_random_end)
