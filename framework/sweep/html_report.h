/* SPDX-License-Identifier: Apache-2.0 */
/* html_report.h - writes a sweep as one HTML file that needs no other file and no network: report.html. */
#ifndef DPF_SWEEP_HTML_REPORT_H
#define DPF_SWEEP_HTML_REPORT_H

#include "sweep/outcomes.h"
#include "sweep/plots.h"

/* Writes DIRECTORY/report.html. Links lead to files of the points where these are there. */
int html_report_write(const struct outcomes *outcomes, const struct plots *plots, struct dpf_error *error);

#endif
