/* SPDX-License-Identifier: Apache-2.0 */
/* guarantee_fixture.h - plans from texts, and which conditions fail. */
#ifndef INTEGRATION_GUARANTEE_FIXTURE_H
#define INTEGRATION_GUARANTEE_FIXTURE_H

#include "kit/test.h"
#include "kit/training.h"
#include "plan/plan_make.h"

#define DATA                                                                                                 \
    "[run]\nrounds = 100\n"                                                                                  \
    "[data]\nformat = synthetic\nvalue-min = 1\nvalue-max = 5\n"                                             \
    "[split]\nkind = none\n"

/* Algorithm 1 of Mugdho and Imtiaz: epsilon_i 0.4, delta 0.01, J 100. */
extern const char published[];

/* Items released by clipped messages of users, whose own rows stay local. */
extern const char by_users[];

void plan_of(struct plan *plan, const char *base, const char *changes);

double epsilon_of(const struct plan *plan, const char *accountant);

extern const char terms[];

/* Three blocks: quadratic, linear, count; clipped at once, or each by itself. */
#define ONE_BALL                                                                                             \
    "items.loss=explicit-als\nitems.solver=psd\nmodel.user-bias=no\nmodel.item-bias=no\n"                    \
    "model.offset=midpoint\n"
#define BLOCKS ONE_BALL "items.transform.clip-user.block-bounds=1, 1, 1\n"

/* The sum over events of (D / s)^2 in L2, of those that cost something. */
double squared_multipliers(const struct plan *plan, int32_t *charged);

#endif
