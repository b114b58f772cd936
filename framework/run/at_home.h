/* SPDX-License-Identifier: Apache-2.0 */
/*
 * at_home.h - held-out users ([split] kind = users), as they meet a model that was trained without them: their rows and
 * scores are made from what is known of them, and everybody else's stay what they are.
 */
#ifndef DPF_RUN_AT_HOME_H
#define DPF_RUN_AT_HOME_H

#include "base/pool.h"
#include "engine/model.h"

/* The data set that a model is evaluated on; the model reads it until the end. */
struct at_home {
    struct dataset view; /* of the data set, with a row for held-out users */
    int has_rows;        /* that are the view's own */
};

/* Without held-out users nothing changes. plan is that of the model. */
int at_home_open(struct at_home *home, const struct dataset *dataset, struct pool *pool, struct plan *plan,
                 struct model *model, struct dpf_error *error);
void at_home_close(struct at_home *home);

#endif
