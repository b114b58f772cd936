/* SPDX-License-Identifier: Apache-2.0 */
/* Clients of the Poisson binomial mechanism send the rows that they have rated alone: the others' trials,
   which the guarantee of a row counts on and decoding takes off, are missing. */
#define SABOTAGED "pbm-sparse"
#include "sabotage.h"

#include "../../plugins/mechanism/pbm/pbm.c"

static const dpf_mechanism spoilt = {.plan = pbm_plan,
                                     .events = pbm_events,
                                     .encode = pbm_encode,
                                     .decode = pbm_decode,
                                     .flags = DPF_MECHANISM_PER_USER};
#define CREATE pbm_create
#define INSTANCE .instance_bytes = sizeof(struct pbm)
SABOTAGE(DPF_ROLE_MECHANISM)
