/* SPDX-License-Identifier: Apache-2.0 */
/* refusal.h - which plans can be run with users in processes of their own. */
#ifndef DPF_FEDERATION_REFUSAL_H
#define DPF_FEDERATION_REFUSAL_H

#include "plan/plan.h"

/* NULL, or why the plan cannot be run in this way: a clause. */
const char *federation_refusal(const struct plan *plan);

#endif
