/* SPDX-License-Identifier: Apache-2.0 */
/* Scores read another user's records. */
#define BONUS(SCORING) ((float)(SCORING)->records->by_user.others[(SCORING)->records->by_user.offsets[1]])
#include "specimen_recommender.h"
