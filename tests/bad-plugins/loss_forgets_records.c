/* SPDX-License-Identifier: Apache-2.0 */
/* States for a user what holds for one record. */
#define RECORDS_OF(N) ((void)(N), 1.0)
#include "specimen_loss.h"
