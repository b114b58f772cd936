/* SPDX-License-Identifier: Apache-2.0 */
/* serving.h - the server of a run: what it keeps, and what serve.c, serve_joined.c and serve_round.c share. */
#ifndef DPF_FEDERATION_SERVING_H
#define DPF_FEDERATION_SERVING_H

#include "base/text.h"
#include "federation/agreement.h"
#include "federation/channel.h"
#include "federation/exchange.h"
#include "federation/enrolled.h"
#include "federation/members.h"
#include "federation/metrics.h"

#define NOBODY INT64_C(-1)

/* A connection, from its opening on; a party once it has consented. */
struct joined {
    int64_t peer;
    char name[256]; /* that the link vouches for; "" : nobody */
    int64_t party;  /* NOBODY: it has not said */
    int ready;
    uint32_t in_round; /* that its process is in the middle of, plus 1; 0: none */
    uint32_t next;     /* it answers rounds from this one on */
    double since;      /* it has been connected */
};

/* What the server knows of a party over all connections. */
struct known {
    int is_known;
    uint8_t instance[16]; /* of the party's directory */
    int64_t misses;       /* phases in a row that it has not answered in time */
};

struct serve {
    const char *address;
    int insecure;
    struct checkpoint *checkpoint; /* NULL: none is kept */
    uint32_t round;                /* that is made, or comes next */
    uint32_t repeats;              /* rounds that were begun again, so far */
    struct plan *plan;
    const struct dataset *dataset;
    struct members members;
    struct channel channel;
    struct agreement agreement;
    struct metrics metrics;
    uint8_t session[16];
    struct joined *joined;
    int64_t n_joined, room;
    struct known *known; /* of each party */
    uint64_t step_up, step_down;
    uint64_t largest; /* bytes of a step of the round */
    struct enrolled enrolled;
    int begun;
};

/* ---- who is there: serve_joined.c ---- */

struct joined *serve_joined_peer(struct serve *serve, int64_t peer);
struct joined *serve_joined_party(struct serve *serve, int64_t party);
int64_t serve_count_ready(const struct serve *serve);
/* What has nothing to do with a phase. */
int serve_event(struct serve *serve, const struct channel_event *event, struct dpf_error *error);
/* The party's name, fit for a message. */
const char *serve_name(const struct serve *serve, int64_t party, char shown[TEXT_SHOWN]);
/* The party's directory, for a server that continues the run. */
int serve_remember(struct serve *serve, int64_t party, struct dpf_error *error);
/* What comes next, in a second at most. 1: there is an event; 0: the time is over; -1: an error. */
int serve_next_event(struct serve *serve, double until, struct channel_event *event, struct dpf_error *error);

/* ---- a round: serve_round.c ---- */

/* engine_remote.gather; the context is struct serve. */
int serve_gather(void *context, const struct remote_release *release, struct dpf_error *error);

#endif
