/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_scenario.h - a [run] callback with small inputs, in a form that rules for all roles can use.
 *
 * A scenario has n units (rows, groups, records, parties). Running a range of them writes unit_bytes
 * of output for each. All that a correct callback may depend on is in the scenario, so the bytes must
 * be the same for every way of cutting 0 .. n-1 into ranges and of spreading these over workers.
 */
#ifndef DPF_CONFORMANCE_CHECK_SCENARIO_H
#define DPF_CONFORMANCE_CHECK_SCENARIO_H

#include "conformance/check.h"
#include "conformance/check_tools.h"

struct scenario {
    char name[64];
    int64_t n;
    size_t unit_bytes;
    int one_by_one; /* a call covers one unit, never more */
    int strict;     /* what is not finite must not come out: otherwise that is only a warning */
    struct instance *instance;
    void *data;      /* the role's */
    uint64_t inputs; /* digest of all that is kept, before the first run */
    dpf_status (*run)(const struct scenario *scenario, struct worker *worker, int64_t first, int64_t count,
                      void *out);
    /* Puts this value into one of the inputs of unit 0; NULL: there are none to put it into. */
    void (*poison)(const struct scenario *scenario, double value);
    /* 1 if the output holds nothing that is NaN or infinite; NULL: it is made of integers. */
    int (*finite)(const struct scenario *scenario, const void *out);
};

/*
 * Makes scenario `index` of the component. 1: made; 0: there are no more; -1: this one does not
 * apply. Memory comes from check_keep.
 */
typedef int (*scenario_maker)(struct check *check, int index, struct scenario *out);

int check_loss_scenario(struct check *check, int index, struct scenario *out);
int check_sampler_scenario(struct check *check, int index, struct scenario *out);
int check_transform_scenario(struct check *check, int index, struct scenario *out);
int check_mechanism_scenario(struct check *check, int index, struct scenario *out);
int check_solver_scenario(struct check *check, int index, struct scenario *out);
int check_recommender_scenario(struct check *check, int index, struct scenario *out);

#endif
