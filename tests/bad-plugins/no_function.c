/* SPDX-License-Identifier: Apache-2.0 */
#define SPECIMEN_FACTORS NULL
#include "specimen.h"
