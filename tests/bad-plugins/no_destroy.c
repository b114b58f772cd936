/* SPDX-License-Identifier: Apache-2.0 */
#define SPECIMEN_DESTROY NULL
#include "specimen.h"
