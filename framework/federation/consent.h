/* SPDX-License-Identifier: Apache-2.0 */
/* consent.h - what a party says of a run before it sends anything, and what it asks of it. */
#ifndef DPF_FEDERATION_CONSENT_H
#define DPF_FEDERATION_CONSENT_H

#include "federation/federation_options.h"
#include "plan/plan.h"

/* Refuses a run that gives less than [consent] asks for. What all runs cost together is the ledger's matter.
 */
int consent_judge(const struct plan *plan, const struct config_values *consent, struct dpf_error *error);
/* What the party will send, who learns what, and what is proved. name: its own; address: the server's. Free
   it; NULL: out of memory. */
char *consent_statement(const struct plan *plan, const char *name, int64_t n_parties, const char *address,
                        int insecure, int width);

#endif
