/* SPDX-License-Identifier: Apache-2.0 */
/*
 * at_home.h - scores of held-out users ([split] kind = users) by a model that was trained without them: their rows and
 * scores are computed from their known records; everybody else's do not change.
 */
#ifndef DPF_RUN_AT_HOME_H
#define DPF_RUN_AT_HOME_H

#include "base/pool.h"
#include "engine/model.h"

/* The data set that a model is evaluated on; the model reads it until at_home_close. */
struct at_home {
    struct dataset view; /* the data set, with a row for each held-out user */
    int has_rows;        /* 1: the view owns these rows */
};

/* Without held-out users the model stays as it is. plan: the model's. */
int at_home_open(struct at_home *home, const struct dataset *dataset, struct pool *pool, struct plan *plan,
                 struct model *model, struct dpf_error *error);
void at_home_close(struct at_home *home);

#endif
