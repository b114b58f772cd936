/* SPDX-License-Identifier: Apache-2.0 */
/* privacy_case.h - a run whose conditions all hold, for tests that break one of them. */
#ifndef DPF_TESTS_PRIVACY_CASE_H
#define DPF_TESTS_PRIVACY_CASE_H

#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "dpframe/role/aggregator.h"
#include "dpframe/role/mechanism.h"
#include "privacy/guarantee.h"

struct privacy_case {
    struct config *config;
    struct config_values privacy;
    struct term_facts term;
    struct run_facts facts;
    struct ledger ledger;
    struct guarantee guarantee;
    struct dpf_error error;
};

/* settings: lines of the [privacy] section. */
void case_privacy(struct privacy_case *c, const char *settings);

void case_start(struct privacy_case *c);

void case_judge(struct privacy_case *c);

void case_end(struct privacy_case *c);

#endif
