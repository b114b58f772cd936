/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_replay.h - trainings of a recommender on small data, written down release by release, and played again.
 *
 * A play is one call of fit under a key: everything that it tells its witness, or, with users' messages, every
 * message, and the state that it makes. A play may be *given* an earlier one: each release is then replaced by
 * the earlier one's as soon as it is told, so that the two differ by their records alone.
 */
#ifndef DPF_CONFORMANCE_CHECK_REPLAY_H
#define DPF_CONFORMANCE_CHECK_REPLAY_H

#include "conformance/check_tools.h"

#include "dpframe/role/recommender.h"

enum { REPLAY_MOST_USERS = 52, REPLAY_MOST_ITEMS = 61, REPLAY_MOST_CELLS = 640 };

/* ---- data ---- */

/* What the kit trains on: cells[user][item] is a value, NaN where there is no record; voids: whether it is void. */
struct replay_data {
    int32_t n_users, n_items;
    float cells[REPLAY_MOST_CELLS];
    uint8_t voids[REPLAY_MOST_CELLS];
    /* What a component reads; replay_index fills it in. */
    int64_t user_offsets[REPLAY_MOST_USERS + 1], item_offsets[REPLAY_MOST_ITEMS + 1];
    int32_t items[REPLAY_MOST_CELLS], users[REPLAY_MOST_CELLS];
    float user_values[REPLAY_MOST_CELLS], item_values[REPLAY_MOST_CELLS];
    uint8_t user_voids[REPLAY_MOST_CELLS], item_voids[REPLAY_MOST_CELLS];
    dpf_interactions records;
};

static inline float *replay_row(struct replay_data *data, int32_t user)
{
    return data->cells + (int64_t)user * data->n_items;
}

/* ---- setups ---- */

/* A way in which a run may be set up. */
struct replay_setup {
    char name[64];
    int32_t n_users, n_items; /* of the data */
    int has_values, features;
    int sparse; /* few users have records */
    int sends;  /* users send messages with shares of the noise */
    double lo, hi, noise_factor;
};

#define REPLAY_STEPS 9 /* values of a record: the ends of the range and seven between them */
float replay_value(const struct replay_setup *setup, int step);

/* A component under a setup, with the releases that it states. */
struct replay {
    struct check *check;
    struct instance *instance;
    const dpf_recommender *table;
    struct replay_setup how;
    dpf_recommender_setup setup;
    dpf_recommender_release releases[DPF_MAX_RELEASES];
    int32_t n_releases;
    uint64_t state_bytes; /* for the data's users and items */
    uint32_t flags;
    struct worker *worker;
    dpf_features features;
    struct random_root *key; /* NULL: the rule's */
};

/* Calls look with every setup that the component takes; how many there were. Stops once the rule has failed. */
int replay_each(struct check *check, int sends, void (*look)(struct replay *replay));
/* Users of all kinds: without records, with one, with all items, with the ends of the range. */
void replay_fill(struct replay *replay, struct replay_data *data);
/* After cells have changed. */
void replay_index(const struct replay *replay, struct replay_data *data);
/* States releases for a unit and an adjacency; -1 if the component refuses. */
int replay_state(struct replay *replay, int unit, int adjacency);
/* Whether the noise of the release has a law that the kit knows, with its standard deviation. */
int replay_law(const dpf_event *event, double *deviation);

/* ---- plays ---- */

/* One release as it was told, or one user's message. Places are in `numbers` of its play. */
struct replay_told {
    int32_t release;
    int64_t row; /* the user, or 0 */
    int64_t n, width;
    int64_t seen;   /* what training goes on with */
    int64_t drawn;  /* what the component has told */
    int64_t exact;  /* -1: not told */
    int64_t scales; /* -1: all 1 */
};

struct replay_play {
    struct replay_told *told;
    size_t n_told, told_capacity;
    double *numbers;
    size_t n_numbers, numbers_capacity;
    unsigned char *state;
    uint64_t state_room, used;
    dpf_status status;
    char error[300];
    const char *strange; /* NULL, or what no host understands */
};

/* watched 0: nobody is told. given: NULL, or a play whose releases are released again. -1 with the rule failed. */
int replay_run(struct replay *replay, const struct replay_data *data, int watched,
               const struct replay_play *given, struct replay_play *out);
void replay_free(struct replay_play *play);
static inline const double *replay_at(const struct replay_play *play, int64_t place)
{
    return play->numbers + place;
}
/* Noise is drawn under another key from now on; 0 is that of the rule. */
void replay_rekey(struct replay *replay, uint64_t key);

/* The rules. */
void check_rule_witness(struct check *check);
void check_rule_noise(struct check *check);
void check_rule_moves(struct check *check);
void check_rule_voids(struct check *check);
void check_rule_messages(struct check *check);

#endif
