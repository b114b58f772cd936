/* SPDX-License-Identifier: Apache-2.0 */
/* session_warnings.h - what a configuration can mean and most likely does not, told, or refused where nothing
 * could come of it, before anything is trained or charged. */
#ifndef DPF_RUN_SESSION_WARNINGS_H
#define DPF_RUN_SESSION_WARNINGS_H

#include "run/session.h"

/* For check and for runs alike; not for twins and baselines, which are made from the same file. The plan is
   complete. */
int session_check(const struct session *session, struct dpf_error *error);

#endif
