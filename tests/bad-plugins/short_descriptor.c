/* SPDX-License-Identifier: Apache-2.0 */
#define SPECIMEN_SIZE (sizeof(dpf_plugin) - 8)
#include "specimen.h"
