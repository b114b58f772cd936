/* SPDX-License-Identifier: Apache-2.0 */
/* Says that several processes can train it, and counts all records in each of them. */
#define FLAGS (DPF_RECOMMENDER_STATE_RELEASED | DPF_RECOMMENDER_SUMS_USERS)
#include "specimen_recommender.h"
