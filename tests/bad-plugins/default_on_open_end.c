/* SPDX-License-Identifier: Apache-2.0 */
#include "dpframe/dpframe.h"

static const dpf_param specimen_params[] = {
    DPF_PARAM_REAL_F("factor", 0.0, 0.0, 1.0, DPF_PARAM_OPEN_LO, "", "what rows are multiplied by"),
};
#define SPECIMEN_PARAMS
#include "specimen.h"
