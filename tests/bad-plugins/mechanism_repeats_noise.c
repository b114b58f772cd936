/* SPDX-License-Identifier: Apache-2.0 */
/* Two rows share one index of the stream. */
#define NOISE_ROW(ROW) ((ROW) / 2)
#include "specimen_mechanism.h"
