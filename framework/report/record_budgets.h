/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_budgets.h - heterogeneous privacy: what each record and user spends, as quantiles by group.
 *
 * An accountant of the ABI answers with one epsilon for all; where records have privacy weights, theirs
 * differ. A record of weight W in a term that stretches values costs W times what the mechanism spends on a
 * record of weight 1, in every release; a user's records add up. This holds for pure noise and the unit
 * record under replace-value, as far as the conditions of the statement hold. Weights are private, hence so
 * is the table.
 */
#ifndef DPF_REPORT_RECORD_BUDGETS_H
#define DPF_REPORT_RECORD_BUDGETS_H

#include "data/dataset.h"
#include "plan/plan.h"

/* 1 if there is a table: some term stretches records by weights, with noise of a pure epsilon. */
int record_budgets_exist(const struct plan *plan, const struct dataset *dataset);
/* The table as CSV; *out is NULL if there is none. Free it. */
int record_budgets_text(const struct plan *plan, const struct dataset *dataset, char **out,
                        struct dpf_error *error);

#endif
