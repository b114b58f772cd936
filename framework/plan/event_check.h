/* SPDX-License-Identifier: Apache-2.0 */
/* event_check.h - do a mechanism's events match the release that they are about? */
#ifndef DPF_PLAN_EVENT_CHECK_H
#define DPF_PLAN_EVENT_CHECK_H

#include "plan/plan.h"

/*
 * The loss and the transforms say how far one unit moves each block of a release; the mechanism states what that costs.
 * Accountants read its events alone, so an event that denies what the release does would make a proof false. This
 * refuses, with an error that names component and event:
 *  - events of blocks that the release has not, and two events of one block;
 *  - a block that some unit moves and no event names;
 *  - such a block in an event that costs nothing: no-op, data-blind, or one that states a sensitivity of 0 where the
 *    block has another;
 *  - such a block without noise, by the mechanism's own plan, in an event of noise.
 * The Gram row's blocks count as blocks of their own. events: side and term are filled in.
 */
int event_check(const struct term_plan *term, const struct term_sensitivity *sensitivity,
                const dpf_event *events, int32_t n, struct dpf_error *error);

#endif
