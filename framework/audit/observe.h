/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe.h - one training, and a record of everything that an observer sees.
 *
 * Spies replace mechanisms and samplers: they see exact values enter encode, and releases leave decode. The host
 * can also *replay* a training with another data set: it replaces every release by the recorded one. The parties
 * then compute from these releases what they would have computed, and their exact values are those of the other
 * data set. As in the definition of differential privacy, the observer knows the whole configuration and all
 * records but the canary, and can do the same.
 *
 * A process observes one training at a time, on a pool of one worker, since spies get no context.
 */
#ifndef DPF_AUDIT_OBSERVE_H
#define DPF_AUDIT_OBSERVE_H

#include "audit/trace.h"
#include "engine/engine.h"

enum observe_view {
    OBSERVE_AUTO,
    OBSERVE_SUMS,     /* estimates: what leaves decode */
    OBSERVE_MESSAGES, /* each party's message, where the aggregator shows them */
    OBSERVE_ROWS      /* released factor rows alone, after each round */
};

/* What a secret draw of the canary is made to be. */
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

/* Whether the plan's observer sees the messages of a term that is solved. */
int observe_sees_messages(const struct plan *plan, const struct term_plan *term);
/* Whether the draw of a term's sampler is hidden from the plan's observer. */
int observe_hidden_draw(const struct plan *plan, const struct term_plan *term);

#endif
