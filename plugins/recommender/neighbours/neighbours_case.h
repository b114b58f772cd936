/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbours_case.h - for the tests of dplcf and ldpicf: random records, training as a host does it (tasks in
 * the opposite order), and everything after the reports once more, naively, from the reported bits.
 */
#ifndef DPF_NEIGHBOURS_CASE_H
#define DPF_NEIGHBOURS_CASE_H

#include "kit/plain_random.h"
#include "kit/plain_scores.h"

#include "bit_columns.h"
#include "neighbours.h"
#include "pair_estimate.h"

#define CASE_USERS 150 /* neither they nor the items fill whole words */
#define CASE_ITEMS 70

struct case_data {
    uint8_t has[CASE_USERS][CASE_ITEMS];
    int64_t user_offsets[CASE_USERS + 1], item_offsets[CASE_ITEMS + 1];
    int32_t users_items[CASE_USERS * CASE_ITEMS], items_users[CASE_USERS * CASE_ITEMS];
    dpf_interactions records;
};

/* From has, for the first n_users users and n_items items. */
static inline void case_index(struct case_data *data, int64_t n_users, int64_t n_items)
{
    int64_t n = 0, m = 0;
    for (int64_t u = 0; u < n_users; u++) {
        for (int32_t i = 0; i < n_items; i++)
            if (data->has[u][i])
                data->users_items[n++] = i;
        data->user_offsets[u + 1] = n;
    }
    for (int64_t i = 0; i < n_items; i++) {
        for (int32_t u = 0; u < n_users; u++)
            if (data->has[u][i])
                data->items_users[m++] = u;
        data->item_offsets[i + 1] = m;
    }
    data->records =
        (dpf_interactions){.size = sizeof(dpf_interactions),
                           .n_users = n_users,
                           .n_items = n_items,
                           .n = n,
                           .by_user = {n_users, data->user_offsets, data->users_items, NULL, {0}},
                           .by_item = {n_items, data->item_offsets, data->items_users, NULL, {0}}};
}

/* Items in two groups, users with a taste for one of them. */
static inline void case_fill(struct case_data *data)
{
    uint64_t z = 12345;
    memset(data, 0, sizeof *data);
    for (int64_t u = 0; u < CASE_USERS; u++)
        for (int64_t i = 0; i < CASE_ITEMS; i++) {
            z = z * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            data->has[u][i] = (double)(z >> 11) * 0x1p-53 < (u % 2 == i % 2 ? 0.4 : 0.1);
        }
    case_index(data, CASE_USERS, CASE_ITEMS);
}

/* ---- a host's part ------------------------------------------------------------------------------------ */

#define CASE_WORKERS 3

static inline void case_tasks(const dpf_call *call, int64_t n_tasks, dpf_task task, void *context)
{
    for (int64_t i = n_tasks; i-- > 0;)
        task(context, i, (int32_t)(i % call->n_workers));
}

static inline dpf_recommender_setup case_setup(const struct case_data *data)
{
    return (dpf_recommender_setup){.size = sizeof(dpf_recommender_setup),
                                   .parties = DPF_PARTIES_USERS,
                                   .n_users = data->records.n_users,
                                   .n_items = data->records.n_items,
                                   .value_lo = 1,
                                   .value_hi = 1,
                                   .noise_factor = 1};
}

static inline uint64_t case_state_bytes(struct plain_host *host, const struct case_data *data)
{
    const dpf_recommender *functions = host->component->functions;
    uint64_t bytes = 0;
    assert_int_equal(functions->state_bytes(host->self, data->records.n_users, data->records.n_items, &bytes),
                     DPF_OK);
    assert_true(bytes > 0);
    return bytes;
}

/* A new state; free it. */
static inline void *case_fit(struct plain_host *host, const struct case_data *data, uint32_t draw)
{
    const dpf_recommender *functions = host->component->functions;
    const dpf_recommender_setup setup = case_setup(data);
    const uint64_t bytes = case_state_bytes(host, data);
    void *state = aligned_alloc(64, (size_t)((bytes + 63) / 64 * 64));
    assert_non_null(state);
    memset(state, 0, (size_t)bytes);
    dpf_fit fit = {
        .size = sizeof fit, .setup = &setup, .records = &data->records, .state = state, .state_bytes = bytes};
    host->call.draw = draw;
    host->call.n_workers = CASE_WORKERS;
    host->call.run_tasks = case_tasks;
    assert_int_equal(functions->fit(host->self, plain_call(host), &fit), DPF_OK);
    assert_int_equal(plain_form_fits(host, data->records.n_users, data->records.n_items, state), DPF_OK);
    return state;
}

static inline void case_scores(struct plain_host *host, const struct case_data *data, const void *state,
                               int32_t user, float *scores)
{
    const dpf_scoring scoring = {sizeof scoring, user, &data->records, state, scores};
    assert_int_equal(plain_scores(host, &scoring), DPF_OK);
}

/* ---- the same, naively ----------------------------------------------------------------------------------
 */

static inline int case_bit(const uint64_t *row, int64_t item)
{
    return (int)(row[item / 64] >> (item % 64) & 1);
}

struct case_reference {
    struct bit_response response;
    int similarity, estimator;
    int64_t iterations;
};

static inline double case_similarity(const struct case_reference *reference, const struct case_data *data,
                                     const uint64_t *rows, int64_t a, int64_t b)
{
    const int64_t words = bit_words(data->records.n_items);
    double reported[PAIR_CELLS] = {0}, cells[PAIR_CELLS];
    for (int64_t u = 0; u < data->records.n_users; u++)
        reported[2 * case_bit(rows + u * words, a) + case_bit(rows + u * words, b)] += 1;
    if (reference->estimator == ESTIMATOR_BAYES)
        pair_estimate_bayes(&reference->response, reported, reference->iterations, cells);
    else
        pair_estimate_inverse(&reference->response, reported, cells);
    return reference->similarity == SIMILARITY_COSINE ? pair_cosine(cells) : pair_jaccard(cells);
}

/* Every slot of every item against a selection by repeated search. State of a component with history =
   reported, so that the bits are there. */
static inline void case_compare(const struct case_reference *reference, const struct case_data *data,
                                const struct neighbours_state *state, int64_t k)
{
    const int64_t n = data->records.n_items;
    for (int64_t item = 0; item < n; item++) {
        float all[CASE_ITEMS];
        for (int64_t other = 0; other < n; other++)
            all[other] =
                other == item ? 0 : (float)case_similarity(reference, data, state->rows, item, other);
        for (int64_t slot = 0; slot < k; slot++) {
            int64_t best = 0;
            for (int64_t other = 1; other < n; other++)
                best = all[other] > all[best] ? other : best;
            const int32_t expected = all[best] > 0 ? (int32_t)best : -1;
            assert_int_equal(state->items[item * k + slot], expected);
            assert_true(state->similarities[item * k + slot] == (expected < 0 ? 0 : all[best]));
            all[best] = 0;
        }
    }
}

#endif
