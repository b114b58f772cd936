/* SPDX-License-Identifier: Apache-2.0 */
/* design_parse.h - parses lists of values in [sweep]. */
#ifndef DPF_SWEEP_DESIGN_PARSE_H
#define DPF_SWEEP_DESIGN_PARSE_H

#include "sweep/design_list.h"

#define DESIGN_PROBLEM 200

/*
 * Splits at separators outside of braces and quotes, trims, takes braces off, and counts integer ranges "1..5" out.
 * Returns 0; -1 with a clause in problem (an empty element, a brace without its partner); -2 if memory ran
 * out.
 */
int design_split(const char *text, char separator, struct design_list *out, char problem[DESIGN_PROBLEM]);
/* One text for all spellings of a value: 1, 01 and 1e0; yes and true; "0.1,2" and "0.10, 2". Free it. */
char *design_canonical(const char *text);

#endif
