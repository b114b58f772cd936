/* SPDX-License-Identifier: Apache-2.0 */
/* check_runner.h - every rule in a child process of its own, and the report. */
#ifndef DPF_CONFORMANCE_CHECK_RUNNER_H
#define DPF_CONFORMANCE_CHECK_RUNNER_H

#include <stdint.h>

#include "conformance/check_skips.h"

struct check_options {
    const char *path; /* absolute */
    uint64_t seed;
    int json;
    int in_process; /* no children: for debuggers */
    int verbose;    /* tell what passed, too */
    int list_rules;
    const char *component; /* NULL: all */
    const char *rule;      /* only rules whose ids start so; NULL: all */
    const char **settings; /* "key=value" */
    int n_settings;
    const struct check_skips *skips; /* that may happen; NULL: any */
};

/* Exit status of the command: 0, or 1 if a rule failed or crashed. */
int check_run_all(const struct check_options *options);
int check_print_rules(void);

#endif
