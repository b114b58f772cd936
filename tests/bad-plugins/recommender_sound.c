/* SPDX-License-Identifier: Apache-2.0 */
/* Breaks nothing. */
#include "specimen_recommender.h"
