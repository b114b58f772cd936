/* SPDX-License-Identifier: Apache-2.0 */
#include "dpframe/dpframe.h"

static const dpf_param specimen_params[] = {
    DPF_PARAM_LIST_F("weights", DPF_TYPE_REAL_LIST, "0.5, 2", 0.0, 1.0, 0, "", "some weights"),
};
#define SPECIMEN_PARAMS
#include "specimen.h"
