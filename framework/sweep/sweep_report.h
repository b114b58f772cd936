/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_report.h - tables, plots and the page of a sweep, from its directory. */
#ifndef DPF_SWEEP_SWEEP_REPORT_H
#define DPF_SWEEP_SWEEP_REPORT_H

#include "base/error.h"

/* Prints where the page is, in the directory as its user named it, and which points are missing. */
int sweep_report(const char *directory, const char *shown, struct dpf_error *error);

#endif
