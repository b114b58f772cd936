/* SPDX-License-Identifier: Apache-2.0 */
#define SPECIMEN_MINOR (DPF_ABI_MINOR + 1)
#include "specimen.h"
