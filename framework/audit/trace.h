/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - what an observer has seen of a training. */
#ifndef DPF_AUDIT_TRACE_H
#define DPF_AUDIT_TRACE_H

#include "plan/plan.h"

/* Rows of one estimate or message. */
struct observation {
    int side, term;
    int32_t round;
    uint32_t party; /* of a message */
    int64_t n_rows, first_row;
    int32_t *rows; /* NULL: from first_row on */
    int32_t width;
    int64_t survivors;
    int told; /* an estimate that tells nothing beside the messages that were seen */
    /*
     * n_rows x width; not kept of replays. Where noise is correlated between rounds, C of
     * dpf_mechanism.correlation times the estimates of all rounds so far, which tell as much: then the noise
     * of each round is independent.
     */
    double *seen;
    double *exact; /* the same without noise */
    double
        *released; /* the estimates themselves, for replays, where they are not what `seen` has; else NULL */
    double *deviation; /* of the noise, where the observer knows more than the plan says; else NULL */
    /* Of a replay: ln of the probability of what was seen, number by number, where the noise's law is not
       that of a sum but of what each message holds; else NULL. */
    double *log_law;
    dpf_noise_plan noise;
};

struct observations {
    struct observation *items;
    size_t n, capacity;
};

struct trace {
    struct observations sums, messages;
    float *rows; /* view rows: of each round the watched rows, one after the other */
    size_t n_rows, rows_capacity;
};
void trace_free(struct trace *trace);

/* What one observation owns, but not itself. */
void observation_free(struct observation *o);
/* The scale of the noise in row r of an observation, as in the event; 0: none. The Gram row has its own. */
double observation_scale(const struct plan *plan, const struct observation *o, int64_t r, int32_t block);

#endif
