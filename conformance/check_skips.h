/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_skips.h - rules that may be skipped, from a file.
 *
 * A rule that does not run finds nothing. Where a list is given, every skip has to be in it, with a reason. A
 * line is "ROLE ID RULE REASON...": "*" stands for any role or id, and a rule that ends in "*" for all that
 * begin so. Empty lines and lines that begin with '#' are comments.
 */
#ifndef DPF_CONFORMANCE_CHECK_SKIPS_H
#define DPF_CONFORMANCE_CHECK_SKIPS_H

#include "base/error.h"

struct check_skips;
struct check_skips *check_skips_read(const char *path, struct dpf_error *error);
void check_skips_free(struct check_skips *skips);
/* 1: listed by name, 2: listed by a pattern, 0: not. */
int check_skips_find(const struct check_skips *skips, const char *role, const char *id, const char *rule);

#endif
