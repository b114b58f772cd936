/* SPDX-License-Identifier: Apache-2.0 */
/* It takes three for each void record: a record that becomes void moves a count by four. */
#define FLAGS (DPF_RECOMMENDER_STATE_RELEASED | DPF_RECOMMENDER_READS_VOIDS)
#define OF_VOID (-3)
#include "specimen_recommender.h"
