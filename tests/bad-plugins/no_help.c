/* SPDX-License-Identifier: Apache-2.0 */
#include "dpframe/dpframe.h"

static const dpf_param specimen_params[] = {
    DPF_PARAM_REAL_F("factor", 0.5, 0.0, 1.0, 0, "", ""),
};
#define SPECIMEN_PARAMS
#include "specimen.h"
