/* SPDX-License-Identifier: Apache-2.0 */
/* Says that rows without records are 0, which they are. */
#define LOSS_FLAGS DPF_LOSS_ZERO_WITHOUT_RECORDS
#include "specimen_loss.h"
