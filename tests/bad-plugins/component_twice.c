/* SPDX-License-Identifier: Apache-2.0 */
#include "dpframe/dpframe.h"

static const dpf_component *const specimen_components[2];
#define SPECIMEN_COMPONENTS
#include "specimen.h"

static const dpf_component *const specimen_components[2] = {&specimen_component, &specimen_component};
