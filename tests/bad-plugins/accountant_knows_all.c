/* SPDX-License-Identifier: Apache-2.0 */
#define KNOWS(KIND) ((KIND) >= 0)
#include "specimen_accountant.h"
