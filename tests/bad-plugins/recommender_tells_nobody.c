/* SPDX-License-Identifier: Apache-2.0 */
/* Tells no witness what it releases. */
#define TELLS 0
#include "specimen_recommender.h"
