/* SPDX-License-Identifier: Apache-2.0 */
/* Takes damaged files for states. */
#define IS_STATE(SIZE_FITS, FINITE) ((SIZE_FITS) || (FINITE))
#include "specimen_recommender.h"
