/* SPDX-License-Identifier: Apache-2.0 */
/* It reads void records, and counts them, without stating that its sums show who rated what. */
#define FLAGS (DPF_RECOMMENDER_STATE_RELEASED | DPF_RECOMMENDER_READS_VOIDS)
#define OF_VOID 1
#include "specimen_recommender.h"
