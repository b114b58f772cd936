/* SPDX-License-Identifier: Apache-2.0 */
/* Sound in itself, but offers what sound.c offers. */
#define SPECIMEN_PLUGIN_ID "org.dpframe.test.again"
#include "specimen.h"
