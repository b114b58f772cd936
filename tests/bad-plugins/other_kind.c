/* SPDX-License-Identifier: Apache-2.0 */
/* A factor function in a component that says it transforms records. */
#define SPECIMEN_KIND DPF_TRANSFORM_STATE
#include "specimen.h"
