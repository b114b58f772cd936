/* SPDX-License-Identifier: Apache-2.0 */
/* account_files.h - files about a ledger: delta by epsilon, epsilon by round, the ledger itself, the certificate. */
#ifndef DPF_ACCOUNT_ACCOUNT_FILES_H
#define DPF_ACCOUNT_ACCOUNT_FILES_H

#include "plan/plan.h"

/* Paths; NULL: not wanted. */
struct account_files {
    const char *curve, *odometer, *ledger, *certificate;
};

/* Of a plan that is complete. Pictures go beside the first two, where gnuplot is installed. */
int account_files_write(const struct plan *plan, const struct account_files *files, struct dpf_error *error);

#endif
