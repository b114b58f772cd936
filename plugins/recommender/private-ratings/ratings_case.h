/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratings_case.h - for the tests of private-ratings: users with ratings, training as a host does it, and a
 * replay: a server that is told what was released and the messages that users would have sent to it.
 */
#ifndef DPF_PRIVATE_RATINGS_CASE_H
#define DPF_PRIVATE_RATINGS_CASE_H

#include "kit/plain_random.h"

#include "message_grid.h"
#include "ratings_params.h"
#include "ratings_server.h"
#include "ratings_user.h"

#define CASE_USERS 60
#define CASE_ITEMS 25
#define CASE_ROOM 1024 /* numbers of a release */

struct case_data {
    int64_t n_users, n_items;
    uint8_t stars[CASE_USERS][CASE_ITEMS]; /* 0: no rating */
    int64_t offsets[CASE_USERS + 1], item_offsets[CASE_ITEMS + 1];
    int32_t items[CASE_USERS * CASE_ITEMS], users[CASE_USERS * CASE_ITEMS];
    float values[CASE_USERS * CASE_ITEMS], item_values[CASE_USERS * CASE_ITEMS];
    dpf_interactions records;
};

static inline void case_index(struct case_data *data)
{
    int64_t n = 0, m = 0;
    for (int64_t u = 0; u < data->n_users; u++) {
        for (int32_t i = 0; i < data->n_items; i++)
            if (data->stars[u][i]) {
                data->values[n] = data->stars[u][i];
                data->items[n++] = i;
            }
        data->offsets[u + 1] = n;
    }
    for (int64_t i = 0; i < data->n_items; i++) {
        for (int32_t u = 0; u < data->n_users; u++)
            if (data->stars[u][i]) {
                data->item_values[m] = data->stars[u][i];
                data->users[m++] = u;
            }
        data->item_offsets[i + 1] = m;
    }
    data->records = (dpf_interactions){
        .size = sizeof(dpf_interactions),
        .n_users = data->n_users,
        .n_items = data->n_items,
        .n = n,
        .by_user = {data->n_users, data->offsets, data->items, data->values, {0}},
        .by_item = {data->n_items, data->item_offsets, data->users, data->item_values, {0}}};
}

static inline double case_uniform(uint64_t *z)
{
    *z = *z * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*z >> 11) * 0x1p-53;
}

/* Users of very different activity, some with one record or none. */
static inline void case_fill(struct case_data *data, int64_t n_users, int64_t n_items, uint64_t seed)
{
    memset(data, 0, sizeof *data);
    data->n_users = n_users;
    data->n_items = n_items;
    for (int64_t u = 0; u < n_users; u++)
        for (int64_t i = 0; i < n_items; i++)
            if (case_uniform(&seed) < (u % 7 == 3 ? 0.03 : 0.1 + 0.1 * (double)(u % 8)))
                data->stars[u][i] = (uint8_t)(1 + (int)(4.999 * case_uniform(&seed)));
    case_index(data);
}

static inline dpf_recommender_setup case_setup(int without_noise)
{
    return (dpf_recommender_setup){.size = sizeof(dpf_recommender_setup),
                                   .parties = DPF_PARTIES_CURATOR,
                                   .n_users = CASE_USERS,
                                   .n_items = CASE_ITEMS,
                                   .value_lo = 1,
                                   .value_hi = 5,
                                   .noise_factor = 1,
                                   .without_noise = without_noise,
                                   .unit = DPF_UNIT_USER,
                                   .adjacency = DPF_ADJ_ADD_REMOVE};
}

/* ---- training -------------------------------------------------------------------------------------------
 */

static inline void case_tasks(const dpf_call *call, int64_t n_tasks, dpf_task task, void *context)
{
    for (int64_t i = n_tasks; i-- > 0;)
        task(context, i, (int32_t)(i % call->n_workers));
}

/* A new state; free it. */
static inline void *case_fit(struct plain_host *host, const struct case_data *data, int without_noise,
                             const dpf_witness *witness, uint64_t *bytes)
{
    const dpf_recommender *functions = host->component->functions;
    const dpf_recommender_setup setup = case_setup(without_noise);
    assert_int_equal(functions->state_bytes(host->self, data->n_users, data->n_items, bytes), DPF_OK);
    void *state = aligned_alloc(64, (size_t)((*bytes + 63) / 64 * 64));
    assert_non_null(state);
    memset(state, 0, (size_t)*bytes);
    dpf_fit fit = {.size = sizeof fit,
                   .setup = &setup,
                   .records = &data->records,
                   .state = state,
                   .state_bytes = *bytes,
                   .witness = witness};
    host->call.n_workers = 3;
    host->call.run_tasks = case_tasks;
    if (functions->fit(host->self, plain_call(host), &fit) != DPF_OK)
        fail_msg("fit: %s", host->report);
    return state;
}

/* ---- replay ---------------------------------------------------------------------------------------------
 */

/* What one user sends in a pass: steps of the grid, dense; to items, then to all. */
struct case_message {
    int32_t to_items, to_all;
    int64_t width, n_all;
    int64_t items[CASE_ITEMS * (RATINGS_MAX_LOADINGS + 1)], all[CASE_ROOM];
};

struct case_replay {
    struct ratings_rule rule;
    struct item_features features;
    struct ratings_server server;
    double *memory, *work;
    double released[CASE_ITEMS * (RATINGS_MAX_LOADINGS + 1)], latent[CASE_ITEMS * RATINGS_MAX_LATENT];
};

static inline void case_replay_open(struct case_replay *replay, const struct plain_host *host,
                                    int64_t n_items, int without_noise)
{
    const dpf_recommender_setup setup = case_setup(without_noise);
    memset(replay, 0, sizeof *replay);
    assert_int_equal(ratings_rule_make(&host->host, host->values, &setup, &replay->rule), DPF_OK);
    replay->memory =
        calloc((size_t)ratings_server_size(&replay->rule, &replay->features, n_items), sizeof(double));
    assert_non_null(replay->memory);
    ratings_server_place(&replay->server, &replay->rule, &replay->features, n_items, replay->memory);
    replay->work = calloc((size_t)ratings_user_size(&replay->server, n_items), sizeof(double));
    assert_non_null(replay->work);
}

static inline void case_replay_close(struct case_replay *replay)
{
    free(replay->memory);
    free(replay->work);
}

static inline struct own_records case_own(const struct case_data *data, int64_t user, double *values)
{
    const int64_t first = data->offsets[user], n = data->offsets[user + 1] - first;
    for (int64_t k = 0; k < n; k++)
        values[k] = (double)data->values[first + k] - 3;
    return (struct own_records){n, data->items + first, values};
}

static inline void case_message_of(struct case_replay *replay, const struct own_records *own, int32_t kind,
                                   struct case_message *out)
{
    static double to_items[CASE_ITEMS * (RATINGS_MAX_LOADINGS + 1)], to_all[CASE_ROOM];
    int64_t steps[CASE_ITEMS * (RATINGS_MAX_LOADINGS + 1)];
    const int64_t d = replay->server.n_loadings, e = replay->server.rank + 1;
    memset(out, 0, sizeof *out);
    out->to_items = out->to_all = -1;
    if (kind == RELEASE_COUNTS) {
        *out = (struct case_message){.to_items = kind, .to_all = RELEASE_USERS, .width = 1, .n_all = 1};
        ratings_send_counts(own, to_items);
        to_all[0] = 1;
    } else if (kind == RELEASE_BIASES) {
        *out = (struct case_message){.to_items = kind, .to_all = -1, .width = 2};
        ratings_send_biases(&replay->server, own, to_items, replay->work);
    } else if (kind == RELEASE_LOADINGS) {
        *out = (struct case_message){.to_items = -1, .to_all = kind, .n_all = d * (d + 1) / 2};
        ratings_send_moments(&replay->server, own, to_all, replay->work);
    } else {
        *out = (struct case_message){
            .to_items = RELEASE_FACTORS, .to_all = RELEASE_GRAM, .width = e, .n_all = e * (e + 1) / 2};
        ratings_send_round(&replay->server, own, to_items, to_all, replay->work);
    }
    if (own->n == 0)
        return;
    if (out->to_items >= 0)
        grid_round(to_items, own->n * out->width, replay->rule.grid[out->to_items].bits, steps);
    for (int64_t k = 0; k < own->n * out->width; k++)
        out->items[own->items[k / out->width] * out->width + k % out->width] = steps[k];
    if (out->to_all >= 0)
        grid_round(to_all, out->n_all, replay->rule.grid[out->to_all].bits, out->all);
}

/* Which pass a release ends, or -1 if it has another part. */
static inline int32_t case_pass_of(int32_t release)
{
    return release == RELEASE_USERS      ? RELEASE_COUNTS
           : release == RELEASE_BIASES   ? RELEASE_BIASES
           : release == RELEASE_LOADINGS ? RELEASE_LOADINGS
           : release == RELEASE_GRAM     ? RELEASE_FACTORS
                                         : -1;
}

/* The server takes a release, as fit hands them over: items' part first. */
static inline void case_replay_take(struct case_replay *replay, int32_t release, const double *numbers,
                                    int64_t n)
{
    if (release == RELEASE_COUNTS || release == RELEASE_FACTORS)
        memcpy(replay->released, numbers, (size_t)n * sizeof *numbers);
    else if (release == RELEASE_USERS)
        ratings_take_counts(&replay->server, numbers[0], replay->released);
    else if (release == RELEASE_BIASES)
        ratings_take_biases(&replay->server, numbers);
    else if (release == RELEASE_LOADINGS)
        ratings_take_moments(&replay->server, numbers, replay->latent);
    else
        ratings_take_round(&replay->server, replay->released, numbers);
}

#endif
