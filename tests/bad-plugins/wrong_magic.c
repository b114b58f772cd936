/* SPDX-License-Identifier: Apache-2.0 */
#define SPECIMEN_MAGIC 1
#include "specimen.h"
