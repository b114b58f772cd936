/* SPDX-License-Identifier: Apache-2.0 */
#define REFUSES(X) ((X) > 1e9 || (X) < -1e9)
#include "specimen_mechanism.h"
