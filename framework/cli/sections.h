/* SPDX-License-Identifier: Apache-2.0 */
/* sections.h - the sections that use-cases add to those of the plan's schema. */
#ifndef DPF_CLI_SECTIONS_H
#define DPF_CLI_SECTIONS_H

#include "run/arguments.h"

const struct section *sections_of_use_cases(int *n);

#endif
