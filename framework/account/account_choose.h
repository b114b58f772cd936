/* SPDX-License-Identifier: Apache-2.0 */
/* account_choose.h - settings of a mechanism with which a whole run stays within an epsilon. */
#ifndef DPF_ACCOUNT_ACCOUNT_CHOOSE_H
#define DPF_ACCOUNT_ACCOUNT_CHOOSE_H

#include "run/session.h"

/* dpframe account --choose: prints settings of a mechanism for a target. The session has a complete plan. */
int account_choose(const struct arguments *arguments, struct session *session, const char *target,
                   struct dpf_error *error);

#endif
