/* SPDX-License-Identifier: Apache-2.0 */
/* Of private-ratings: what leaves a user is never longer than the noise was chosen for, and is what it says.
 */
#include "ratings_case.h"

#include "count_posterior.h"
#include "small_matrix.h"

static const dpf_component *component;

/* ---- the grid -------------------------------------------------------------------------------------------
 */

static double norm_of_steps(const int64_t *steps, int64_t n, int32_t bits)
{
    double square = 0;
    for (int64_t k = 0; k < n; k++)
        square += ldexp((double)steps[k], -bits) * ldexp((double)steps[k], -bits);
    return sqrt(square);
}

/* Vectors of norm 1, made a little too long, and absurd ones: bits 10 to 24. */
TEST(steps_are_never_too_long)
{
    uint64_t z = 99;
    for (int trial = 0; trial < 3000; trial++) {
        double x[40], square = 0;
        int64_t steps[40], n = 1 + trial % 40;
        const int32_t bits = 10 + trial % 15;
        for (int64_t k = 0; k < n; k++) {
            x[k] = case_uniform(&z) - 0.5;
            square += x[k] * x[k];
        }
        const double longer = trial % 3 == 0 ? 1 : trial % 3 == 1 ? 1 + 1e-15 : 1 + 8 * case_uniform(&z);
        for (int64_t k = 0; k < n; k++)
            x[k] *= longer / sqrt(square);
        if (trial % 50 == 0)
            x[n / 2] = trial % 100 ? (double)INFINITY : (double)NAN;
        grid_round(x, n, bits, steps);
        assert_true(norm_of_steps(steps, n, bits) <= 1.0);
        for (int64_t k = 0; k < n && longer == 1; k++)
            if (isfinite(x[k]))
                assert_true(fabs(ldexp((double)steps[k], -bits)) <= fabs(x[k]));
    }
}

/* One value of exactly 1 stays 1: nothing is lost where nothing is too long. */
TEST(what_fits_stays)
{
    int64_t steps[2];
    grid_round((double[2]){-1.0, 0.0}, 2, 20, steps);
    assert_true(steps[0] == -(INT64_C(1) << 20));
    assert_true(steps[1] == 0);
}

/* ---- messages -------------------------------------------------------------------------------------------
 */

/* A server of random numbers, as releases with much noise make them. */
static void disturb(struct case_replay *replay, uint64_t seed)
{
    struct ratings_server *server = &replay->server;
    double numbers[CASE_ITEMS * (RATINGS_MAX_LOADINGS + 1)];
    for (size_t k = 0; k < sizeof replay->latent / sizeof *replay->latent; k++)
        replay->latent[k] = 4 * case_uniform(&seed) - 2;
    for (int64_t k = 0; k < server->n_items; k++)
        numbers[k] = 20 * case_uniform(&seed) - 5;
    ratings_take_counts(server, 60 * case_uniform(&seed), numbers);
    for (int64_t k = 0; k < 2 * server->n_items; k++)
        numbers[k] = 20 * case_uniform(&seed) - 8;
    ratings_take_biases(server, numbers);
}

static void disturb_moments(struct case_replay *replay, uint64_t seed)
{
    double numbers[CASE_ROOM];
    for (int64_t k = 0; k < CASE_ROOM; k++)
        numbers[k] = 30 * case_uniform(&seed) - 10;
    ratings_take_moments(&replay->server, numbers, replay->latent);
}

static void assert_short(const struct case_replay *replay, const struct case_message *message)
{
    const int64_t n = replay->server.n_items * message->width;
    if (message->to_items >= 0)
        assert_true(norm_of_steps(message->items, n, replay->rule.grid[message->to_items].bits) <= 1.0);
    if (message->to_all >= 0)
        assert_true(norm_of_steps(message->all, message->n_all, replay->rule.grid[message->to_all].bits) <=
                    1.0);
}

/* An item whose count is lost in noise: the least popular one, or, by option, as a typical record's. */
TEST(items_without_counts_are_rare_or_typical)
{
    static const char *const choices[2] = {"uncounted=rare", "uncounted=typical"};
    for (int typical = 0; typical < 2; typical++) {
        static struct case_replay replay;
        struct plain_host host;
        double counts[CASE_ITEMS], all = 0, sum = 0;
        plain_open_random(&host, component, choices[typical]);
        case_replay_open(&replay, &host, CASE_ITEMS, 0);
        const double noise = replay.rule.grid[RELEASE_COUNTS].sigma;
        for (int32_t i = 0; i < CASE_ITEMS; i++)
            counts[i] = i % 2 ? noise * (10 + 5 * i) : noise * (i % 4);
        ratings_take_counts(&replay.server, 50, counts);
        for (int32_t i = 1; i < CASE_ITEMS; i += 2) {
            all += counts[i];
            sum += counts[i] * replay.server.popularity[i];
        }
        const double lost = replay.server.popularity[0], least = replay.server.popularity[1];
        assert_true(typical ? fabs(lost - sum / all) < 1e-9 : lost < least);
        assert_true(fabs(replay.server.popularity[2] - lost) < (typical ? 1e-12 : 1.0));
        case_replay_close(&replay);
        plain_close(&host);
    }
}

/* Light, heavy, contented and angry users against servers that noise has made strange. */
TEST(no_message_is_longer_than_one)
{
    static struct case_data data;
    static struct case_message message;
    struct plain_host host;
    double values[CASE_ITEMS], longest = 0;
    plain_open_random(&host, component, "rank=2; latent=3; rounds=2");
    for (uint64_t seed = 1; seed <= 25; seed++) {
        static struct case_replay replay;
        case_fill(&data, CASE_USERS, CASE_ITEMS, seed);
        case_replay_open(&replay, &host, CASE_ITEMS, 0);
        disturb(&replay, seed);
        for (int32_t pass = RELEASE_COUNTS; pass <= RELEASE_FACTORS; pass++) {
            if (pass == RELEASE_FACTORS)
                disturb_moments(&replay, seed);
            for (int64_t user = 0; user < CASE_USERS; user++) {
                const struct own_records own = case_own(&data, user, values);
                if (own.n == 0)
                    continue;
                case_message_of(&replay, &own, pass, &message);
                assert_short(&replay, &message);
                if (pass == RELEASE_FACTORS)
                    longest = fmax(longest, norm_of_steps(message.items, CASE_ITEMS * message.width,
                                                          replay.rule.grid[RELEASE_FACTORS].bits));
            }
        }
        case_replay_close(&replay);
    }
    assert_true(longest > 0.9999); /* users are scaled up as well: noise is not wasted on light ones */
    plain_close(&host);
}

/* Of each record of a user: residual and row from a ridge regression on the other records alone. */
TEST(rounds_leave_each_record_out)
{
    static struct case_data data;
    static struct case_replay replay;
    struct plain_host host;
    double values[CASE_ITEMS], to_items[CASE_ITEMS * 8], packed[64], expected[CASE_ITEMS * 8] = {0},
                                                                                           square = 0;
    plain_open_random(&host, component, "rank=2; latent=1; rounds=2");
    case_fill(&data, CASE_USERS, CASE_ITEMS, 5);
    case_replay_open(&replay, &host, CASE_ITEMS, 0);
    disturb(&replay, 5);
    disturb_moments(&replay, 6);
    const struct ratings_server *server = &replay.server;
    const int64_t d = server->n_loadings, e = server->rank + 1;
    const struct own_records own = case_own(&data, 7, values);
    assert_true(own.n > 10);
    assert_true(e == 4);
    assert_true(d == 4);
    ratings_send_round(server, &own, to_items, packed, replay.work);
    for (int64_t k = 0; k < own.n; k++) {
        int32_t items[CASE_ITEMS];
        double others[CASE_ITEMS], t[8], factor[64], y[8] = {1}, length = 1;
        for (int64_t j = 0, m = 0; j < own.n; j++)
            if (j != k) {
                items[m] = own.items[j];
                others[m++] = own.values[j];
            }
        const struct own_records rest = {own.n - 1, items, others};
        home_solve(d, server->loadings, server->bias, server->variance, server->rule->residual_variance,
                   &rest, t, factor);
        double residual = own.values[k] - server->bias[own.items[k]];
        for (int64_t r = 0; r < d; r++)
            residual -= server->loadings[own.items[k] * d + r] * t[r];
        residual = fmin(fmax(residual, -server->rule->clip), server->rule->clip);
        for (int64_t r = 1; r < e; r++)
            length += t[r - 1] * t[r - 1];
        const double shrink = fmin(1, sqrt(1.3 * 1.3 * (double)e / length));
        for (int64_t r = 0; r < e; r++) {
            y[r] = (r ? t[r - 1] : 1) * shrink;
            expected[k * e + r] = server->weight[own.items[k]] * residual * y[r];
            square += expected[k * e + r] * expected[k * e + r];
        }
    }
    for (int64_t k = 0; k < own.n * e; k++)
        assert_true(fabs(to_items[k] - expected[k] / sqrt(square)) < 1e-9);
    case_replay_close(&replay);
    plain_close(&host);
}

/* With features and no rounds: of each record the residual from a regression on the others alone, about the prior. */
TEST(biases_leave_each_record_out)
{
    static struct case_data data;
    static struct case_replay replay;
    static double features[CASE_ITEMS * 2];
    static const uint8_t is_number[2] = {1, 0};
    struct plain_host host;
    double values[CASE_ITEMS], to_items[CASE_ITEMS * 2], counts[CASE_ITEMS], expected[CASE_ITEMS], square = 0;
    plain_open_random(&host, component, "rounds=0");
    case_fill(&data, CASE_USERS, CASE_ITEMS, 5);
    case_replay_open(&replay, &host, CASE_ITEMS, 0);
    for (int64_t i = 0; i < CASE_ITEMS; i++) {
        features[2 * i] = sin((double)i);
        features[2 * i + 1] = (double)(i % 3 == 0);
        counts[i] = 2.0 + (double)(i % 7);
    }
    replay.features = (struct item_features){2, features, is_number};
    const int64_t size = ratings_server_size(&replay.rule, &replay.features, CASE_ITEMS);
    double *memory = calloc((size_t)size, sizeof *memory), work[2000];
    assert_non_null(memory);
    ratings_server_place(&replay.server, &replay.rule, &replay.features, CASE_ITEMS, memory);
    ratings_take_counts(&replay.server, 50, counts);
    const struct ratings_server *server = &replay.server;
    const struct own_records own = case_own(&data, 7, values);
    assert_true(ratings_user_size(server, own.n) <= 2000);
    ratings_send_biases(server, &own, to_items, work);
    for (int64_t k = 0; k < own.n; k++) {
        int32_t items[CASE_ITEMS];
        double others[CASE_ITEMS], t[8], factor[64];
        for (int64_t j = 0, m = 0; j < own.n; j++)
            if (j != k) {
                items[m] = own.items[j];
                others[m++] = own.values[j];
            }
        const struct own_records rest = {own.n - 1, items, others};
        home_solve(server->n_loadings, server->loadings, server->prior, server->variance,
                   server->rule->residual_variance, &rest, t, factor);
        expected[k] = own.values[k] - server->prior[own.items[k]];
        for (int64_t r = 0; r < server->n_loadings; r++)
            expected[k] -= server->loadings[own.items[k] * server->n_loadings + r] * t[r];
        expected[k] = fmin(fmax(expected[k], -server->rule->clip), server->rule->clip);
        const double h = server->weight[own.items[k]], beta = server->rule->count_weight;
        square += h * h * (expected[k] * expected[k] + beta * beta);
    }
    for (int64_t k = 0; k < own.n; k++)
        assert_true(fabs(to_items[2 * k] - server->weight[own.items[k]] * expected[k] / sqrt(square)) < 1e-9);
    free(memory);
    case_replay_close(&replay);
    plain_close(&host);
}

/* ---- what follows from a release ------------------------------------------------------------------------
 */

/* The mean of an item's correction given its signal, with everything written out for one direction. */
TEST(a_round_is_the_posterior_mean)
{
    static struct case_replay replay;
    struct plain_host host;
    double sums[CASE_ITEMS * 2], gram[3] = {0};
    plain_open_random(&host, component, "rank=1; latent=0; rounds=1");
    case_replay_open(&replay, &host, CASE_ITEMS, 0);
    disturb(&replay, 8);
    disturb_moments(&replay, 9);
    struct ratings_server *server = &replay.server;
    double total = 0, before[CASE_ITEMS][2];
    for (int64_t i = 0; i < CASE_ITEMS; i++) {
        total += server->effective[i];
        before[i][0] = server->bias[i];
        before[i][1] = server->loadings[i * server->n_loadings];
        sums[2 * i] = 0.3 * (double)(i % 5) - 0.4;
        sums[2 * i + 1] = 0.2 * (double)(i % 3) - 0.1;
    }
    /* C = ((2, .5), (.5, 1)) for one unit of weight. */
    const double scale = total / server->gram_cap, c00 = 2, c01 = 0.5, c11 = 1;
    gram[0] = c00 * scale;
    gram[1] = c01 * sqrt(2.0) * scale;
    gram[2] = c11 * scale;
    ratings_take_round(server, sums, gram);
    for (int64_t i = 0; i < CASE_ITEMS; i++) {
        const double n = server->effective[i], p0 = server->bias_variance[i],
                     p1 = replay.rule.factor_sd * replay.rule.factor_sd,
                     noise =
                         replay.rule.grid[RELEASE_FACTORS].sigma * replay.rule.grid[RELEASE_FACTORS].sigma,
                     spread = replay.rule.residual_variance * n * c00 * server->typical_weight[i];
        const double s00 = n * n * (c00 * c00 * p0 + c01 * c01 * p1) + spread * c00 + noise,
                     s01 = n * n * (c00 * p0 * c01 + c01 * p1 * c11) + spread * c01,
                     s11 = n * n * (c01 * c01 * p0 + c11 * c11 * p1) + spread * c11 + noise;
        const double det = s00 * s11 - s01 * s01, x = (s11 * sums[2 * i] - s01 * sums[2 * i + 1]) / det,
                     y = (s00 * sums[2 * i + 1] - s01 * sums[2 * i]) / det;
        assert_true(fabs(server->bias[i] - before[i][0] - p0 * n * (c00 * x + c01 * y)) < 1e-9);
        assert_true(fabs(server->loadings[i * server->n_loadings] - before[i][1] -
                         p1 * n * (c01 * x + c11 * y)) < 1e-9);
    }
    case_replay_close(&replay);
    plain_close(&host);
}

/* Counts of which most are small: the posterior is nearer to them, and to their logarithms, than the noisy ones. */
TEST(counts_are_shrunk_toward_their_distribution)
{
    enum { N = 1500 };
    static double truth[N], sums[N], mean[N], logs[N], work[(N + 3) * 80];
    const double root = 5, sigma = 3;
    double error[2] = {0, 0}, of_logs[2] = {0, 0};
    uint64_t z = 11;
    assert_true(count_posterior_size(N) <= (int64_t)(sizeof work / sizeof *work));
    for (int i = 0; i < N; i++) {
        truth[i] = floor(pow(case_uniform(&z), 6) * 900);
        sums[i] = truth[i] / root;
        for (int k = 0; k < 12; k++) /* about normal */
            sums[i] += sigma * (case_uniform(&z) - 0.5);
    }
    count_posterior(sums, N, sigma, root, 20, work, mean, logs);
    for (int i = 0; i < N; i++) {
        const double seen = fmax(sums[i], 0) * root;
        error[0] += pow(seen - truth[i], 2);
        error[1] += pow(mean[i] - truth[i], 2);
        of_logs[0] += pow(log(fmax(seen, sigma * root) + 20) - log(truth[i] + 20), 2);
        of_logs[1] += pow(logs[i] - log(truth[i] + 20), 2);
        assert_true(mean[i] >= 0);
        assert_true(logs[i] >= log(20) - 1e-9);
    }
    assert_true(error[1] < 0.9 * error[0]);
    assert_true(of_logs[1] < 0.4 * of_logs[0]);
    count_posterior(sums, N, 0, root, 20, work, mean, logs);
    for (int i = 0; i < N; i++)
        assert_true(mean[i] >= fmax(sums[i], 0) * root && mean[i] <= fmax(sums[i], 0) * root);
    /* Whatever noise makes, results are numbers. */
    for (int i = 0; i < N; i++)
        sums[i] = i % 3 ? -1e6 * i : 1e9;
    count_posterior(sums, N, 1e-3, root, 20, work, mean, logs);
    for (int i = 0; i < N; i++)
        assert_true(isfinite(mean[i]) && isfinite(logs[i]));
}

static int set_up(void **state)
{
    (void)state;
    component = plain_component("private-ratings", DPF_ROLE_RECOMMENDER, "private-ratings");
    plain_random_start(3);
    return 0;
}

FIXTURE(set_up, plain_random_end)
