/* SPDX-License-Identifier: Apache-2.0 */
/* audit_ways.h - bounds by a canary, by two files, or by one run with many canaries; or attacks. */
#ifndef DPF_AUDIT_AUDIT_WAYS_H
#define DPF_AUDIT_AUDIT_WAYS_H

#include "audit/audit_session.h"

/* Keys and options that the way of this audit does not read: an error on the command line, a warning in a file. */
int audit_check_way(const struct audit_session *audit, struct dpf_error *error);

#endif
