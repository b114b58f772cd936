/* SPDX-License-Identifier: Apache-2.0 */
/*
 * party_state.h - what a party keeps between its starts, in the directory of [federation] state.
 *
 *     instance              16 random bytes in hex: tells this directory from any other
 *     ledger                what all runs that it has joined have cost together, see privacy/data_ledger.h
 *     run-SESSION.json      for each run: what was agreed, the user, the data's hash, the next round, in how
 *                           many rounds the party has taken part, and how many were made again
 *     statement.txt         the last statement that was shown; statement-SESSION.txt: that of a run
 *
 * One process at a time has the directory. Each write is whole and on the disk before it counts.
 */
#ifndef DPF_FEDERATION_PARTY_STATE_H
#define DPF_FEDERATION_PARTY_STATE_H

#include <stdint.h>

#include "base/error.h"

struct party_state {
    char *directory;
    int lock; /* -1 */
    uint8_t instance[16];
    /* Of the run, once it is known. */
    char session[33];
    char agreement[65], data[65];
    char *user;
    uint64_t next_round;
    uint64_t answered; /* rounds that the party has taken part in */
    uint32_t repeats;  /* rounds that the server has begun again, so far as this party knows */
    uint32_t paid;     /* rounds begun again for which the party had sent, and has paid once more */
    int over;          /* the server has ended it */
};

/* Makes the directory if it is not there, with mode 0700, and takes it. */
int party_state_open(struct party_state *state, const char *directory, struct dpf_error *error);
void party_state_close(struct party_state *state);
/* Path of a file of the directory. Free it. */
char *party_state_path(const struct party_state *state, const char *name);
/*
 * The run of that session. *is_known: this directory has joined it before; then the user, what was agreed and
 * the data must be the same, else it is refused.
 */
int party_state_enter(struct party_state *state, const uint8_t session[16], const char *agreement,
                      const char *user, const char *data, int *is_known, struct dpf_error *error);
/* Whether this directory has joined a run with that agreement, as that party, with those records, and has not heard
   that it is over. */
int party_state_knows(const struct party_state *state, const char *agreement, const char *user,
                      const char *data);
/* The run is over: on the disk when it returns. */
int party_state_end(struct party_state *state, struct dpf_error *error);
/* Rounds before this one are refused from now on, whatever happens, and one more counts as answered if the number
 * is new: on the disk when it returns. */
int party_state_keep(struct party_state *state, uint64_t next_round, struct dpf_error *error);
/* Notes that the server has begun rounds again. pays: the party had sent for the last of them, and has paid for it once
   more, so it may send for that round again. On the disk when it returns. */
int party_state_repeat(struct party_state *state, uint32_t repeats, int pays, struct dpf_error *error);

#endif
