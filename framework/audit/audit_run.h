/* SPDX-License-Identifier: Apache-2.0 */
/* audit_run.h - one audit: the data, the trials, and what they say about the statement. */
#ifndef DPF_AUDIT_AUDIT_RUN_H
#define DPF_AUDIT_AUDIT_RUN_H

#include "run/arguments.h"

/* Audits the configuration and prints the report. violations: how many statements and findings about the
   noise the audit refutes. */
int audit_run(const struct arguments *arguments, int *violations, struct dpf_error *error);

#endif
