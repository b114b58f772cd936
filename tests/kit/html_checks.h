/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_checks.h - what every page must keep: it is well-formed XML, has each id and each heading once,
 * fetches nothing, runs nothing, and its links lead somewhere. For tests; CMocka before it.
 */
#ifndef DPF_TESTS_HTML_CHECKS_H
#define DPF_TESTS_HTML_CHECKS_H

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit/test.h"

#define HTML_DEPTH 64

struct html_names {
    char **items;
    size_t n;
};

struct html_page_facts {
    struct html_names ids, targets, files, headings;
    size_t plots, values;
};

/* directory: where the page lies. Counts the plots and the values that they show, if asked for. */
void html_check_page(const char *page, const char *directory, size_t *plots, size_t *values);

#endif
