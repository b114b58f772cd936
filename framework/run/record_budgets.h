/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_budgets.h - heterogeneous privacy: what each record and user spends, as quantiles by group.
 *
 * The numbers are those of an accountant that knows privacy weights (dpf_accountant.units), for each term's
 * releases and for the whole run: of each record as the unit and adjacency of the run say, and of each user
 * by group composition, all of whose records may differ so. They hold as far as the conditions of the
 * statement do. Which records there are is private, hence so is the table.
 */
#ifndef DPF_RUN_RECORD_BUDGETS_H
#define DPF_RUN_RECORD_BUDGETS_H

#include "dataset/dataset.h"
#include "plan/plan.h"

/* 1 if there is a table: records have privacy weights, and an accountant of the run knows them. */
int record_budgets_exist(const struct plan *plan, const struct dataset *dataset);
/* The lines of the table; none if there is no table. Free them. */
struct record_budgets {
    struct budget_line *lines;
    int64_t n;
    size_t room;
};
int record_budgets_make(const struct plan *plan, const struct dataset *dataset, struct record_budgets *out,
                        struct dpf_error *error);
void record_budgets_free(struct record_budgets *budgets);
/* As CSV; *out is NULL if there are no lines. Free it. */
char *record_budgets_text(const struct record_budgets *budgets);
/* The lines that are about the whole run, for run.json; NULL if there are none. New reference. */
json_t *record_budgets_json(const struct record_budgets *budgets);

#endif
