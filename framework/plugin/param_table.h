/* SPDX-License-Identifier: Apache-2.0 */
/* param_table.h - checks one row of a parameter table. */
#ifndef DPF_PLUGIN_PARAM_TABLE_H
#define DPF_PLUGIN_PARAM_TABLE_H

#include <stddef.h>

#include "dpframe/params.h"

/* 0 if the row is sound; else 1 with the reason. */
int param_table_fault(const dpf_param *param, char *reason, size_t size);
/* 1 if the number lies within the parameter's bounds, open ends respected; NaN never does. */
int param_table_within(const dpf_param *param, double value);

#endif
