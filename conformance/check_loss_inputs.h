/* SPDX-License-Identifier: Apache-2.0 */
/* check_loss_inputs.h - what the rules of losses share. */
#ifndef DPF_CONFORMANCE_CHECK_LOSS_INPUTS_H
#define DPF_CONFORMANCE_CHECK_LOSS_INPUTS_H

#include "conformance/check.h"

#define CHECK_LOSS_D 5
#define CHECK_LOSS_STRIDE 16

/* 1 if the loss has a query for that side and layout that the kit's buffers hold. */
int check_loss_query(struct instance *instance, int side, uint32_t layout, int released, dpf_query *query);

void check_rule_sensitivity(struct check *check);
void check_rule_sensitivity_monotone(struct check *check);

#endif
