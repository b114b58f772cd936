/* SPDX-License-Identifier: Apache-2.0 */
/* ratings_audit.h - for tests of private-ratings and private-biases: users who leave, and the attack of an audit. */
#ifndef RATINGS_AUDIT_H
#define RATINGS_AUDIT_H

#include "ratings_case.h"
#include "sums_audit.h"

/* The data without the first, a middle or the last user. */
static inline void case_leave(const struct case_data *data, int which, struct case_data *fewer)
{
    const int64_t gone = which == 0 ? 0 : which == 1 ? data->n_users / 2 : data->n_users - 1;
    *fewer = *data;
    for (int64_t u = gone; u + 1 < data->n_users; u++)
        memcpy(fewer->stars[u], data->stars[u + 1], sizeof data->stars[u]);
    fewer->n_users = data->n_users - 1;
    case_index(fewer);
}

/*
 * Likelihood ratio of all raw releases of one training: with the canary, who is user 0, or without. What the
 * canary would have sent to the server as it stands then is the mean that is asked about; another user is there
 * in both.
 */
struct attack {
    struct case_replay replay;
    const struct case_data *with;
    double score;
};

/* Adds the ratio of n released numbers: canary and rest are what the two users send, in steps of the grid. */
static inline void attack_score(struct attack *attack, int32_t release, const int64_t *canary,
                                const int64_t *rest, const double *released, int64_t n)
{
    const double grid = noise_grid_size(&attack->replay.rule.grid[release]),
                 sigma = attack->replay.rule.grid[release].sigma;
    for (int64_t k = 0; k < n; k++) {
        const double v = (double)canary[k] * grid, x = released[k] - (double)rest[k] * grid;
        attack->score += (x * v - v * v / 2) / (sigma * sigma);
    }
}

typedef void (*attack_open)(struct case_replay *replay, const struct plain_host *host, int64_t n_items,
                            int silent);
typedef void (*attack_saw)(void *attack, const dpf_witnessed *what);

/* How often the score of trainings on data exceeds the threshold. */
static inline int64_t attack_count(struct plain_host *host, const struct case_data *data,
                                   const struct case_data *with, attack_open open, attack_saw saw,
                                   double threshold, uint32_t first_draw)
{
    static struct attack attack;
    int64_t above = 0;
    for (uint32_t trial = 0; trial < AUDIT_TRIALS; trial++) {
        uint64_t bytes;
        open(&attack.replay, host, with->n_items, 0);
        attack.with = with;
        attack.score = 0;
        const dpf_witness witness = {&attack, saw};
        host->call.draw = first_draw + trial;
        free(case_fit(host, data, 0, &witness, &bytes));
        above += attack.score > threshold;
        case_replay_close(&attack.replay);
    }
    return above;
}

/* Attacks a component of AUDIT_MULTIPLIER. */
static inline void attack_audit(const dpf_component *attacked, const char *settings, attack_open open,
                                attack_saw saw)
{
    static struct case_data with, without;
    struct plain_host host;
    memset(&with, 0, sizeof with);
    with.n_users = 2;
    with.n_items = 2;
    with.stars[0][0] = with.stars[1][1] = 5;
    with.stars[1][0] = 2;
    case_index(&with);
    case_leave(&with, 0, &without);
    plain_open_random(&host, attacked, settings);
    /* 2.6 standard deviations above the mean without the canary, which was fixed before any trial. */
    const double z = AUDIT_MULTIPLIER, threshold = 2.6 / z - 0.5 / (z * z);
    const int64_t hits = attack_count(&host, &with, &with, open, saw, threshold, 0);
    audit_expect(hits, attack_count(&host, &without, &with, open, saw, threshold, AUDIT_TRIALS));
    plain_close(&host);
}

#endif
