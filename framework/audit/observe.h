/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe.h - one training, and a record of everything that an observer sees.
 *
 * Spies replace mechanisms and samplers: they see exact values enter encode, and releases leave decode. The
 * host can also *replay* a training with another data set: it replaces every release by the recorded one. The
 * parties then compute from these releases what they would have computed, and their exact values are those of
 * the other data set. As in the definition of differential privacy, the observer knows the whole
 * configuration and all records but the canary, and can do the same.
 *
 * A process observes one training at a time, on a pool of one worker, since spies get no context.
 */
#ifndef DPF_AUDIT_OBSERVE_H
#define DPF_AUDIT_OBSERVE_H

#include "engine/engine.h"

enum observe_view {
    OBSERVE_AUTO,
    OBSERVE_SUMS,     /* estimates: what leaves decode */
    OBSERVE_MESSAGES, /* each party's message, where the aggregator shows them */
    OBSERVE_ROWS      /* released factor rows alone, after each round */
};

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

/* The forced outcome of a secret draw of the canary. */
enum observe_force { FORCE_NOTHING, FORCE_IN, FORCE_OUT };

struct observe {
    struct plan *plan;
    const struct dataset *dataset;
    struct pool *pool; /* of one worker */
    enum observe_view view;
    int32_t user, item; /* the canary; item -1: all of the user's; user -1: nobody, or many */
    enum observe_force force;
    const int32_t *watched; /* view rows: rows of the released side */
    int64_t n_watched;
    const struct trace *given; /* replays it; NULL: draws noise */
};

/* On failure the trace is empty. */
int observe_run(const struct observe *request, struct trace *out, struct dpf_error *error);

/* The scale of the noise in row r of an observation, as in the event; 0: none. The Gram row has its own. */
double observation_scale(const struct plan *plan, const struct observation *o, int64_t r, int32_t block);

/* Whether the plan's observer sees the messages of a term that is solved. */
int observe_sees_messages(const struct plan *plan, const struct term_plan *term);
/* Whether the draw of a term's sampler is hidden from the plan's observer. */
int observe_hidden_draw(const struct plan *plan, const struct term_plan *term);

#endif
