/* SPDX-License-Identifier: Apache-2.0 */
/* specimen_factors.h - a factor transform made of one function. */
#ifndef DPF_TESTS_SPECIMEN_FACTORS_H
#define DPF_TESTS_SPECIMEN_FACTORS_H

#include "specimen_role.h"

#define SPECIMEN_FACTORS_WITH(FUNCTION, CREATE, DESTROY)                                                     \
    static const dpf_transform specimen_functions = {.kind = DPF_TRANSFORM_FACTOR, .factors = FUNCTION};     \
    SPECIMEN_WITH(DPF_ROLE_TRANSFORM, specimen_functions, CREATE, DESTROY)
#define SPECIMEN_OF_FACTORS(FUNCTION) SPECIMEN_FACTORS_WITH(FUNCTION, specimen_create, specimen_destroy)

#endif
