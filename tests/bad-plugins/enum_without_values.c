/* SPDX-License-Identifier: Apache-2.0 */
#include "dpframe/dpframe.h"

static const dpf_param specimen_params[] = {
    {"mode", DPF_TYPE_ENUM, 0, 0, 0, 0, 0, NULL, NULL, 0, "", "how to multiply"},
};
#define SPECIMEN_PARAMS
#include "specimen.h"
