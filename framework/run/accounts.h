/* SPDX-License-Identifier: Apache-2.0 */
/* accounts.h - reads the statement of privacy in a run.json. */
#ifndef DPF_RUN_ACCOUNTS_H
#define DPF_RUN_ACCOUNTS_H

#include <jansson.h>

/* The least epsilon of one side of "guarantee", "proved" or "published"; NaN without any. plan, unless NULL: whether it is that
   of the plan, the noise of the run being reproducible. */
double least_account(const json_t *guarantee, const char *side, int *plan);

#endif
