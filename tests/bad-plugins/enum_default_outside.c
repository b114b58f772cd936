/* SPDX-License-Identifier: Apache-2.0 */
#include "dpframe/dpframe.h"

static const dpf_enum_value modes[] = {{"up", "upwards"}, {"down", "downwards"}};

static const dpf_param specimen_params[] = {
    DPF_PARAM_ENUM_F("mode", 2, modes, 0, "how to multiply"),
};
#define SPECIMEN_PARAMS
#include "specimen.h"
