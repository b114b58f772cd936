/* SPDX-License-Identifier: Apache-2.0 */
/* Counts blocks from 1 and plans one too many. */
#define LAST_BLOCK(N) ((N) + 1)
#include "specimen_mechanism.h"
