/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves out what a later version states in reserved fields. */
#define IS_NEW(EVENT) 0
#include "specimen_accountant.h"
