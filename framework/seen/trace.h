/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - what was seen of a training, written down. */
#ifndef DPF_SEEN_TRACE_H
#define DPF_SEEN_TRACE_H

#include "seen/seen.h"

/* Rows of one estimate, message, or release of a component. */
struct observation {
    int side, term; /* as in struct seen */
    int32_t round;
    uint32_t party;
    int64_t n_rows, first_row;
    int32_t *rows;    /* NULL: from first_row on */
    int64_t gram_row; /* -1: there is none */
    int32_t width;
    int64_t survivors;
    int told;   /* an estimate that tells nothing beside the messages that were seen */
    int is_one; /* as in struct seen */
    /*
     * n_rows x width; not kept of replays. Where noise is correlated between rounds, C of
     * dpf_mechanism.correlation times the estimates of all rounds so far, which tell as much: then the noise
     * of each round is independent.
     */
    double *seen;
    double *exact; /* the same without noise; NULL: a component does not tell */
    double
        *released; /* the estimates themselves, for replays, where they are not what `seen` has; else NULL */
    double *deviation; /* of the noise; 0: a constant. NULL: that of the noise plan */
    /* Of a replay: ln of the probability of what was seen, number by number, where the noise's law is not
       that of a sum but of what each message holds; else NULL. */
    double *log_law;
    dpf_query query;        /* of a component one block */
    dpf_noise_plan noise;   /* of a component empty */
    const dpf_event *event; /* of a component; else NULL. Not owned */
};

struct observations {
    struct observation *items;
    size_t n, capacity;
};

struct trace {
    struct observations sums, messages; /* releases of components are among sums */
    float *rows;                        /* view rows: of each round the watched rows, one after the other */
    size_t n_rows, rows_capacity;
    unsigned char *state; /* of a component: what it has learned, state_bytes */
    uint64_t state_bytes;
};
void trace_free(struct trace *trace);

/* A copy of what was seen, without its numbers where `numbers` is 0; NULL: memory ran out. */
struct observation *observation_add(struct observations *list, const struct seen *seen, int numbers);
/* What one observation owns, but not itself. */
void observation_free(struct observation *o);
int64_t observation_row(const struct observation *o, int64_t r);
int observation_is_gram(const struct observation *o, int64_t r);
/* Whether both are of the same source, round and rows; party counts too. */
int observation_matches(const struct observation *a, const struct observation *b);
/* The scale of the noise in row r of an observation of a term, as in its event; 0: none. */
double observation_scale(const struct observation *o, int64_t r, int32_t block);
/* The place of the observation of the same rows in an earlier round, or -1. */
int64_t observation_earlier(const struct observations *list, size_t at);

#endif
