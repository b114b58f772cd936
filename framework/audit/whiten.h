/* SPDX-License-Identifier: Apache-2.0 */
/* whiten.h - sums whose noise is correlated between rounds, as sums whose noise is not. */
#ifndef DPF_AUDIT_WHITEN_H
#define DPF_AUDIT_WHITEN_H

#include "plan/plan.h"
#include "seen/trace.h"

/* Sums of terms with correlated noise become those of y = C x + z; see struct observation in trace.h. */
int trace_whiten(const struct plan *plan, struct trace *out, struct dpf_error *error);

#endif
