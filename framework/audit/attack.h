/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack.h - inference attacks: what an attacker learns from the releases of a run, or from lists made of
 * them.
 *
 * Two games. In each training a fair coin puts each target into one of two forms. The attacker knows the
 * configuration and all records but the targets' forms, and guesses the coins.
 *
 *   membership   the training part has all records of a user, or none.
 *   attribute    a user has a record of a given item, or not; the attacker knows all other records.
 *
 * Three views.
 *
 *   factors      the releases: the items' released rows (the target's own row where users are released), and
 *                scores of the target's items; for them the attacker solves the target's row from the records
 *                that the attacker knows. Of a recommender the scores alone.
 *   lists        how many lists of other users contain each of these items. Joint privacy protects a user
 *                from all others together.
 *   own-list     the target's own list, shared. No guarantee covers it. In the attribute game alone.
 */
#ifndef DPF_AUDIT_ATTACK_H
#define DPF_AUDIT_ATTACK_H

#include "audit/audit_session.h"
#include "audit/attack_rates.h"
#include "audit/pairs.h"

enum attack_game { ATTACK_MEMBERSHIP, ATTACK_ATTRIBUTE, ATTACK_N_GAMES };
enum attack_view { ATTACK_FACTORS, ATTACK_LISTS, ATTACK_OWN_LIST, ATTACK_N_VIEWS };
enum attack_games {
    ATTACKS_NONE,
    ATTACKS_MEMBERSHIP,
    ATTACKS_ATTRIBUTE,
    ATTACKS_RAREST,
    ATTACKS_ALL
};                                                           /* [audit] attack */
enum attack_item { ATTACK_ITEM_RANDOM, ATTACK_ITEM_RAREST }; /* rarest: [audit] attack */

#define ATTACK_PROBES 32      /* items of a target that are looked at */
#define ATTACK_NUMBERS 256    /* of a training and a target, at most */
#define ATTACK_WITNESSES 1000 /* users whose lists are looked at */

/* The items of a target that are looked at, the fewest records first; in the attribute game the item that is
   in question comes before all others. */
struct attack_probe {
    int32_t items[ATTACK_PROBES];
    int32_t n;
};

#define ATTACK_LIST_LENGTH 10 /* of the lists that an attack sees, at most */

/* A game with its trainings. */
struct attack {
    struct plan *plan;
    const struct dataset *base;
    enum attack_game game;
    struct canary *targets; /* item -1: all records */
    struct attack_probe *probes;
    int64_t n_targets, trainings;
    int32_t *witnesses; /* users, no targets */
    int64_t n_witnesses, list_length;
    struct dataset known; /* what the attacker knows of the targets, and nobody else's records */
    uint64_t seed;
    uint8_t *in;                    /* coins: trainings x targets */
    float *numbers[ATTACK_N_VIEWS]; /* in memory shared with the jobs; NULL: not looked at */
    int64_t width[ATTACK_N_VIEWS];
};

/* Chooses targets, items and coins by the seed; shared memory for what is seen. */
int attack_open(struct attack *attack, int64_t n_targets, enum attack_item which, struct dpf_error *error);
void attack_close(struct attack *attack);
/* One training, in a process that may end with it. */
int attack_train(struct attack *attack, struct pool *pool, int64_t training, struct dpf_error *error);

/* The result of an attack. */
struct attack_finding {
    enum attack_game game;
    enum attack_view view;
    struct attack_rates rates;
    int covered;           /* something is proved about this game and view */
    double epsilon, delta; /* that it is, for one change of a coin */
    char why[160];         /* if not covered */
    int exceeded;          /* a rate exceeds the proved one by more than its interval */
};
#define ATTACK_MOST_FINDINGS (ATTACK_N_GAMES * ATTACK_N_VIEWS)

const char *attack_game_name(enum attack_game game);
const char *attack_view_name(enum attack_view view);

/* The limits that the plan's guarantee sets for a game in a view. */
void attack_covered(const struct plan *plan, struct attack_finding *finding);

/* Runs the games that [audit] attack names, and prints what they found. exceeded: how many findings. */
int attack_run(struct audit_session *audit, int *exceeded, struct dpf_error *error);
void attack_report(const struct audit_session *audit, const struct attack_finding *findings, int n,
                   int64_t targets);

#endif
