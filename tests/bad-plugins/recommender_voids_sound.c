/* SPDX-License-Identifier: Apache-2.0 */
/* It reads void records, which count nothing. */
#define FLAGS (DPF_RECOMMENDER_STATE_RELEASED | DPF_RECOMMENDER_READS_VOIDS)
#include "specimen_recommender.h"
