/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe.h - one training, with everything written down that an observer sees.
 *
 * Mechanisms and samplers are replaced by spies, which stand where numbers meet noise: what goes into encode
 * is exact, what leaves decode is what was released. A training can also be *replayed* with another data set:
 * every release is replaced by the one that was seen, so that what the parties compute from it is what they
 * would have computed, and the exact values are those that the other data set would have had at each point.
 * The observer that is modelled knows all records but the canary and the whole configuration, as the
 * definition of differential privacy has it, and can do the same.
 *
 * One training at a time in a process, on a pool of one worker: spies are called without a context.
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
