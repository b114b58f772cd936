/* SPDX-License-Identifier: Apache-2.0 */
/* Says that rows without records are 0. They are not. */
#define LOSS_FLAGS DPF_LOSS_ZERO_WITHOUT_RECORDS
#define FIRST_OF(N) ((N) == 0 ? 0.25 : 0.0)
#include "specimen_loss.h"
