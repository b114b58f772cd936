/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sum.h - what parties send, added: here, over ranks, or by parties elsewhere. The only code that drives an aggregator.
 *
 * A sum is opened for messages of one shape, takes messages, and is closed once, which joins the workers' parts and the
 * ranks, or asks the parties of a link. Only a closed sum has a result; a sum that fails sets its numbers to 0.
 *
 * What is checked. A sum of fewer messages than its noise needs is not believed, nor one with a number that honest
 * messages cannot add up to (plan/sum_range.h). Nothing else of such a round is opened or released.
 *
 * Would the outcome of that check differ if one other person were not in the data? Not by more than what is released
 * anyway: where messages carry noise the check is a function of the noisy sum, whose release is charged; where noise is
 * added to the sum afterwards, honest messages keep to a bound that has no exception, so the check passes whatever
 * records there are. With noise in messages it stops a run of honest parties with a probability far below 2^-40.
 */
#ifndef DPF_ENGINE_SUM_H
#define DPF_ENGINE_SUM_H

#include "base/pool.h"
#include "engine/engine_stats.h"
#include "engine/remote.h"
#include "plan/sum_range.h"

enum sum_state {
    SUM_EMPTY,  /* zeroed, or after sum_clear: may be opened */
    SUM_OPEN,   /* takes messages */
    SUM_SENT,   /* at a party of a link: its message has gone to the server, which adds */
    SUM_CLOSED, /* numbers are final, of the rows of this rank */
    SUM_FAILED  /* numbers are 0 */
};

/* Whose messages are added, and who has the result. */
enum sum_span {
    SUM_ALONE,     /* those of this process */
    SUM_BY_OWNER,  /* of all ranks; each has its own rows */
    SUM_EVERYWHERE /* of all ranks; each has all rows */
};

struct sum_shape {
    struct instance *aggregator;
    int64_t rows;
    int32_t width;
    int32_t round;     /* of the run, or the number of a recommender's sum: draws are read there */
    int64_t n_parties; /* invited */
    uint64_t modulus;  /* 0: not modular */
    int64_t least;     /* messages without which the noise is not enough */
    /* What honest messages hold: of each column, then of each of the last row, if `gram`. NULL: nothing is known. Read
       when the sum is opened and closed. */
    const struct sum_bound *bounds;
    int gram;
    enum sum_span span;
    const int64_t *owners; /* SUM_BY_OWNER: rows owners[r] .. owners[r+1]-1 become final on rank r */
};

/* Where messages come over a link. */
struct sum_link {
    const struct engine_remote *remote; /* NULL: all messages are made here */
    struct remote_rows known;           /* what all ends know, and messages are made from */
    const float *weights;               /* who was drawn; NULL: all */
    int64_t n_listed;                   /* parties that there are */
};

/* Who works on a sum. Everything stays with the caller. */
struct sum_hands {
    struct worker **workers;
    int n;             /* parts: worker w adds to part w; 1: every worker to the first, one at a time */
    struct pool *pool; /* for the end of an aggregation; NULL: others use it now */
    char step[64];     /* names the sum in errors: "round 3, items" */
    struct sum_link link;
};

struct sum_part {
    dpf_aggregation aggregation;
    size_t numbers, bytes; /* room for sums and state, kept by sum_clear */
};

struct sum {
    struct sum_shape shape;
    struct sum_hands hands;
    enum sum_state state;
    struct sum_part *parts;
    int n_parts, n_room;
};

/* Parts that workers can have: all of them, or 1 where the aggregator cannot merge. */
int sum_most_parts(const struct instance *aggregator, int n_workers);
/* All functions: 0, or -1 with an error; then the sum has failed, unless the call was out of order. */
int sum_open(struct sum *sum, const struct sum_shape *shape, const struct sum_hands *hands,
             struct dpf_error *error);
/* A party's message; at a party of a link it is the answer of this round. */
int sum_add(struct sum *sum, int worker, uint32_t party, const dpf_encoded *message, struct dpf_error *error);
/* The numbers, for a caller that adds in the place of an aggregator with DPF_AGGREGATOR_ADDS and no modulus, in one part;
   then sum_plain_counts says of how many messages. NULL: it may not. */
int64_t *sum_plain(struct sum *sum);
void sum_plain_counts(struct sum *sum, int64_t messages, uint64_t bytes_up);
int sum_close(struct sum *sum, struct dpf_error *error);
/* NULL unless closed. */
const dpf_aggregation *sum_result(const struct sum *sum);
/* Adds what was sent to the stats, any thread: bytes, and messages where asked for. */
void sum_tally(const struct sum *sum, int messages, struct engine_stats *stats);
/* The factor that makes the estimate of a closed sum. */
double sum_scale(const struct sum *sum);
void sum_clear(struct sum *sum); /* to be opened again; keeps its memory */
void sum_free(struct sum *sum);

#endif
