/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe.h - one training, and a record of everything that an observer sees; or the replay of such a record with
 * another data set (seen/recorder.h).
 */
#ifndef DPF_AUDIT_OBSERVE_H
#define DPF_AUDIT_OBSERVE_H

#include "base/pool.h"
#include "dataset/dataset.h"
#include "plan/plan.h"
#include "seen/trace.h"

enum observe_view {
    OBSERVE_AUTO,
    OBSERVE_SUMS,     /* estimates: what leaves decode */
    OBSERVE_MESSAGES, /* each party's message, where the aggregator shows them */
    OBSERVE_ROWS      /* released factor rows alone, after each round */
};

/* The forced outcome of a secret draw of the canary. */
enum observe_force { FORCE_NOTHING, FORCE_IN, FORCE_OUT };

struct observe {
    struct plan *plan;
    const struct dataset *dataset;
    struct pool *pool; /* of one worker */
    enum observe_view view;
    int32_t user, item; /* the canary; item -1: all of the user's; user -1: nobody, or many */
    int64_t n_users;    /* messages of the first users; 0: of the canary's, or of all where there is none */
    enum observe_force force;
    const int32_t *watched; /* view rows: rows of the released side */
    int64_t n_watched;
    const struct trace *given; /* replays it; NULL: draws noise */
};

/* On failure the trace is empty. */
int observe_run(const struct observe *request, struct trace *out, struct dpf_error *error);

#endif
