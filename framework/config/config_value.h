/* SPDX-License-Identifier: Apache-2.0 */
/* config_value.h - converts one value between text and its type, and checks it against its parameter. */
#ifndef DPF_CONFIG_CONFIG_VALUE_H
#define DPF_CONFIG_CONFIG_VALUE_H

#include <stddef.h>

#include "dpframe/params.h"

#define VALUE_PROBLEM 800

/*
 * Parses text. *block receives what the value points to, from malloc, or NULL; the caller frees it. problem: a clause for
 * the user ("must be > 0 (privacy budget)"), empty if there is none. A path is left as it is written.
 */
void value_parse(const dpf_param *param, const char *text, dpf_value *out, void **block,
                 char problem[VALUE_PROBLEM]);

#endif
