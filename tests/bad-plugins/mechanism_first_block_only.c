/* SPDX-License-Identifier: Apache-2.0 */
/* Gives every block the noise of the first. */
#define BLOCK(B) ((void)(B), 0)
#include "specimen_mechanism.h"
