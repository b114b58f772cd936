/* SPDX-License-Identifier: Apache-2.0 */
/* audit_run.h - one audit: the data, the trials, and what they say about the statement. */
#ifndef DPF_AUDIT_AUDIT_RUN_H
#define DPF_AUDIT_AUDIT_RUN_H

#include "run/arguments.h"

/* Audits the configuration, which may be made for one component alone (of_plugin), and prints the report. violations: how many statements and findings about the
   noise the audit refutes. */
int audit_run(const struct arguments *arguments, int of_plugin, int *violations, struct dpf_error *error);

#endif
