/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_statements.h - the guarantee of each point of a sweep, without training. */
#ifndef DPF_SWEEP_SWEEP_STATEMENTS_H
#define DPF_SWEEP_SWEEP_STATEMENTS_H

#include "run/arguments.h"

/* Prints the statement of each point of that sweep, as a table or as JSON. The error counts the points that
   cannot be run; each has been reported. */
int sweep_statements(const struct arguments *arguments, struct dpf_error *error);

#endif
