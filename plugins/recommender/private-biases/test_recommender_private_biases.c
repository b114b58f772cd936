/* SPDX-License-Identifier: Apache-2.0 */
/* private-biases as a whole: releases are the sums that are stated, with the noise that is stated, and biases
 * follow the ratings. */
#include "ratings_audit.h"

#include "kit/plain_scores.h"
#include "kit/goodness.h"

#define N (RELEASE_BIASES + 1)
#define HEADER 8 /* doubles before the biases in a state */

static const dpf_component *component;

/* ---- the server again, told what was released ------------------------------------------------------------
 */

/* Settings are the component's defaults; grids are those that its events state. */
static void replay_open(struct case_replay *replay, const struct plain_host *host, int64_t n_items,
                        int silent)
{
    const dpf_recommender_setup setup = case_setup(silent);
    const dpf_recommender *functions = component->functions;
    dpf_recommender_release releases[N];
    int32_t n;
    memset(replay, 0, sizeof *replay);
    memset(releases, 0, sizeof releases);
    assert_int_equal(functions->releases(host->self, &setup, releases, N, &n), DPF_OK);
    assert_int_equal(n, N);
    replay->rule = (struct ratings_rule){.centre = 3,
                                         .unit = 1,
                                         .lo = 1,
                                         .hi = 5,
                                         .loadings = RATINGS_MAX_LOADINGS,
                                         .silent = silent,
                                         .exponent = 0.2,
                                         .count_offset = RATINGS_COUNT_OFFSET,
                                         .count_weight = RATINGS_COUNT_WEIGHT,
                                         .clip = 2,
                                         .residual_variance = 0.75,
                                         .item_sd = 0.45};
    for (int r = 0; r < N; r++) {
        struct noise_grid *grid = &replay->rule.grid[r];
        if (silent)
            noise_grid_silent(grid);
        else
            *grid = (struct noise_grid){.bits = (int32_t)lround(-log2(releases[r].event.grid)),
                                        .sigma = releases[r].event.scale};
    }
    replay->memory =
        calloc((size_t)ratings_server_size(&replay->rule, &replay->features, n_items), sizeof(double));
    assert_non_null(replay->memory);
    ratings_server_place(&replay->server, &replay->rule, &replay->features, n_items, replay->memory);
    replay->work = calloc((size_t)ratings_user_size(&replay->server, n_items), sizeof(double));
    assert_non_null(replay->work);
}

/* ---- sums ------------------------------------------------------------------------------------------------
 */

struct follower {
    struct case_replay replay;
    const struct case_data *data;
    double square[N], numbers[N]; /* of noise over sigma */
    double most;                  /* norm of a user's message */
    int noisy;
};

static void compare_part(struct follower *f, int32_t release, const int64_t *sums, const double *released,
                         int64_t n)
{
    const struct noise_grid *grid = &f->replay.rule.grid[release];
    for (int64_t k = 0; k < n; k++) {
        const double noise = released[k] - (double)sums[k] * noise_grid_size(grid);
        if (!f->noisy)
            assert_true(noise == 0);
        f->square[release] += noise * noise / (grid->sigma * grid->sigma);
        f->numbers[release] += 1;
    }
}

static void note_norm(struct follower *f, const int64_t *steps, int64_t n, const struct noise_grid *grid)
{
    double square = 0;
    for (int64_t k = 0; k < n; k++)
        square += (double)steps[k] * (double)steps[k];
    f->most = fmax(f->most, sqrt(square) * noise_grid_size(grid));
}

static void follow(void *context, const dpf_witnessed *what)
{
    const int32_t release = what->release;
    const double *numbers = what->numbers;
    const int64_t n = what->n;
    static struct case_message message;
    static int64_t items[CASE_ITEMS * 2], users;
    struct follower *f = context;
    double values[CASE_ITEMS];
    memset(items, 0, sizeof items);
    users = 0;
    for (int64_t user = 0; release != RELEASE_USERS && user < f->data->n_users; user++) {
        const struct own_records own = case_own(f->data, user, values);
        if (own.n == 0)
            continue;
        case_message_of(&f->replay, &own, release, &message);
        note_norm(f, message.items, CASE_ITEMS * message.width, &f->replay.rule.grid[release]);
        for (int64_t k = 0; k < CASE_ITEMS * message.width; k++)
            items[k] += message.items[k];
    }
    for (int64_t user = 0; release == RELEASE_USERS && user < f->data->n_users; user++)
        if (f->data->offsets[user] < f->data->offsets[user + 1])
            users += INT64_C(1) << f->replay.rule.grid[RELEASE_USERS].bits;
    compare_part(f, release, release == RELEASE_USERS ? &users : items, numbers, n);
    case_replay_take(&f->replay, release, numbers, n);
}

static void follow_training(struct plain_host *host, const struct case_data *data, int noisy,
                            struct follower *f)
{
    uint64_t bytes;
    f->data = data;
    f->noisy = noisy;
    replay_open(&f->replay, host, CASE_ITEMS, !noisy);
    const dpf_witness witness = {f, follow};
    double *state = case_fit(host, data, !noisy, &witness, &bytes);
    assert_int_equal(bytes, (HEADER + 2 * CASE_ITEMS) * sizeof(double));
    assert_memory_equal(state + HEADER, f->replay.server.bias, CASE_ITEMS * sizeof(double));
    assert_memory_equal(state + HEADER + CASE_ITEMS, f->replay.server.variance, CASE_ITEMS * sizeof(double));
    free(state);
    case_replay_close(&f->replay);
}

/* Every release is the sum of what users send to the server as it then stands, and what is kept follows. */
AUDIT_TEST(releases_are_sums_of_messages)
{
    static struct case_data data;
    static struct follower f;
    struct plain_host host;
    plain_open_random(&host, component, "");
    memset(&f, 0, sizeof f);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        case_fill(&data, CASE_USERS, CASE_ITEMS, seed);
        follow_training(&host, &data, 0, &f);
    }
    assert_true(f.numbers[RELEASE_COUNTS] == 5 * CASE_ITEMS);
    assert_true(f.numbers[RELEASE_BIASES] == 10 * CASE_ITEMS);
    assert_true(f.most <= 1);
    assert_true(f.most > 0.9999);
    plain_close(&host);
}

/* Mean square of noise over sigma is 1, with a standard deviation of sqrt(2/n); messages have norm 1 at most
   whatever the first release was. */
AUDIT_TEST(releases_carry_the_stated_noise)
{
    static struct case_data data;
    static struct follower f;
    struct plain_host host;
    plain_open_random(&host, component, "noise-multiplier=2");
    memset(&f, 0, sizeof f);
    for (uint32_t seed = 1; seed <= 80; seed++) {
        case_fill(&data, CASE_USERS, CASE_ITEMS, seed);
        host.call.draw = seed;
        follow_training(&host, &data, 1, &f);
    }
    for (int r = 0; r < N; r++)
        goodness_assert((f.square[r] - f.numbers[r]) / sqrt(2 * f.numbers[r]), "noise of a release", r);
    assert_true(f.most <= 1);
    assert_true(f.most > 0.9999);
    plain_close(&host);
}

/* Shares of the budget add up: 1/z^2 is the sum of (norm/sigma)^2. */
AUDIT_TEST(all_releases_are_one_gaussian_mechanism)
{
    static const char *const settings[] = {"noise-multiplier=2", "noise-multiplier=0.3; count-share=0.5"};
    static const double multipliers[] = {2, 0.3};
    const dpf_recommender_setup setup = case_setup(0);
    const dpf_recommender *functions = component->functions;
    for (int c = 0; c < 2; c++) {
        struct plain_host host;
        dpf_recommender_release releases[N];
        double all = 0;
        int32_t n;
        memset(releases, 0xff, sizeof releases); /* NaN: not stated */
        plain_open_random(&host, component, settings[c]);
        assert_int_equal(functions->releases(host.self, &setup, releases, N, &n), DPF_OK);
        for (int r = 0; r < n; r++) {
            const dpf_event *event = &releases[r].event;
            const double norm = event->sensitivity.at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE].l2;
            assert_true(norm == 1);
            assert_true(event->count == 1);
            /* Constants, counts, and signed numbers: squares of 1, 2 and 4. */
            const double replaced = event->sensitivity.at[DPF_UNIT_USER][DPF_ADJ_REPLACE].l2;
            assert_true(replaced * replaced >= 1 << r && replaced * replaced < (1 << r) + 1e-9);
            all += norm * norm / (event->scale * event->scale);
        }
        assert_true(all <= 1 / (multipliers[c] * multipliers[c]));
        assert_true(all > 0.999 / (multipliers[c] * multipliers[c]));
        plain_close(&host);
    }
}

AUDIT_TEST(the_order_of_users_changes_nothing)
{
    static struct case_data data, turned;
    struct plain_host host;
    uint64_t bytes;
    case_fill(&data, CASE_USERS, CASE_ITEMS, 4);
    turned = data;
    for (int64_t u = 0; u < CASE_USERS; u++)
        memcpy(turned.stars[u], data.stars[(u * 7 + 13) % CASE_USERS], sizeof data.stars[u]);
    case_index(&turned);
    plain_open_random(&host, component, "");
    void *one = case_fit(&host, &data, 0, NULL, &bytes), *other = case_fit(&host, &turned, 0, NULL, &bytes);
    assert_memory_equal(one, other, (size_t)bytes);
    free(one);
    free(other);
    plain_close(&host);
}

struct first {
    double counts[CASE_ITEMS], users;
};

static void keep_first(void *context, const dpf_witnessed *what)
{
    const int32_t release = what->release;
    const double *numbers = what->numbers;
    const int64_t n = what->n;
    struct first *first = context;
    if (release == RELEASE_COUNTS)
        memcpy(first->counts, numbers, (size_t)n * sizeof *numbers);
    else if (release == RELEASE_USERS)
        first->users = numbers[0];
}

/* The first, a middle and the last user leave. Later sums read the first release: what they are sums of is
   the previous tests' business. */
AUDIT_TEST(one_user_moves_counts_by_one)
{
    static struct case_data data, fewer;
    static struct first all, rest;
    struct plain_host host;
    uint64_t bytes;
    plain_open_random(&host, component, "");
    case_fill(&data, CASE_USERS, CASE_ITEMS, 6);
    data.stars[0][3] = data.stars[CASE_USERS / 2][0] = data.stars[CASE_USERS - 1][9] = 4;
    case_index(&data);
    const dpf_witness first = {&all, keep_first}, second = {&rest, keep_first};
    free(case_fit(&host, &data, 1, &first, &bytes));
    for (int c = 0; c < 3; c++) {
        double square = 0;
        case_leave(&data, c, &fewer);
        free(case_fit(&host, &fewer, 1, &second, &bytes));
        for (int k = 0; k < CASE_ITEMS; k++)
            square += (all.counts[k] - rest.counts[k]) * (all.counts[k] - rest.counts[k]);
        assert_true(square <= 1);
        assert_true(square > 0.9999);
        assert_true(all.users - rest.users == 1);
    }
    plain_close(&host);
}

/* ---- predictions -----------------------------------------------------------------------------------------
 */

static void scores_of(struct plain_host *host, const struct case_data *data, const void *fitted, int32_t user,
                      float *scores)
{
    const dpf_scoring scoring = {sizeof scoring, user, &data->records, fitted, scores};
    assert_int_equal(plain_scores(host, &scoring), DPF_OK);
    for (int i = 0; i < CASE_ITEMS; i++)
        assert_true(isfinite(scores[i]));
}

/* Items that everybody rates 2 or 4 are predicted so, a user who rates everything one lower gets one less,
   and an item that few have is nearer to the others. */
AUDIT_TEST(predictions_are_biases_and_the_users_mean)
{
    static struct case_data data;
    struct plain_host host;
    uint64_t bytes;
    float scores[CASE_ITEMS], lower[CASE_ITEMS];
    case_fill(&data, CASE_USERS, CASE_ITEMS, 12);
    for (int u = 0; u < CASE_USERS; u++)
        for (int i = 0; i < CASE_ITEMS; i++)
            data.stars[u][i] = (uint8_t)(i == 1 && u > 2      ? 0
                                         : i < CASE_ITEMS / 2 ? 2 - (u == 5)
                                                              : 4 - (u == 5));
    case_index(&data);
    plain_open_random(&host, component, "");
    void *fitted = case_fit(&host, &data, 1, NULL, &bytes);
    scores_of(&host, &data, fitted, 0, scores);
    scores_of(&host, &data, fitted, 5, lower);
    assert_true(fabsf(scores[0] - 2) < 0.3F);
    assert_true(fabsf(scores[CASE_ITEMS - 1] - 4) < 0.3F);
    for (int i = 0; i < CASE_ITEMS; i++)
        assert_true(fabsf(scores[i] - lower[i] - 0.9F) < 0.2F);
    assert_true(scores[1] > scores[0]); /* toward the rest */
    free(fitted);
    plain_close(&host);
}

/* No records, one, noise that drowns everything: training ends, and predicts (C12). */
AUDIT_TEST(it_ends_whatever_the_records_are)
{
    static struct case_data data;
    for (int c = 0; c < 6; c++) {
        struct plain_host host;
        uint64_t bytes;
        float scores[CASE_ITEMS];
        case_fill(&data, c % 3 == 2 ? CASE_USERS : c % 3, CASE_ITEMS, 4);
        plain_open_random(&host, component, c < 3 ? "" : "noise-multiplier=1000");
        void *fitted = case_fit(&host, &data, 0, NULL, &bytes);
        assert_int_equal(plain_form_fits(&host, data.n_users, CASE_ITEMS, fitted), DPF_OK);
        for (int32_t user = 0; user < data.n_users; user++)
            scores_of(&host, &data, fitted, user, scores);
        free(fitted);
        plain_close(&host);
    }
}

/* ---- audit -----------------------------------------------------------------------------------------------
 */

static void score_release(void *context, const dpf_witnessed *what)
{
    static struct case_message canary, rest;
    struct attack *attack = context;
    const int32_t release = what->release;
    const int users = release == RELEASE_USERS;
    double values[2][CASE_ITEMS];
    const struct own_records own = case_own(attack->with, 0, values[0]),
                             other = case_own(attack->with, 1, values[1]);
    case_message_of(&attack->replay, &own, users ? RELEASE_COUNTS : release, &canary);
    case_message_of(&attack->replay, &other, users ? RELEASE_COUNTS : release, &rest);
    attack_score(attack, release, users ? canary.all : canary.items, users ? rest.all : rest.items,
                 what->numbers, what->n);
    case_replay_take(&attack->replay, release, what->numbers, what->n);
}

AUDIT_TEST(an_attack_finds_half_of_epsilon)
{
    attack_audit(component, "noise-multiplier=1.5", replay_open, score_release);
}

static int set_up(void **state)
{
    (void)state;
    component = plain_component("private-biases", DPF_ROLE_RECOMMENDER, "private-biases");
    return 0;
}

FIXTURE(set_up, NULL)
