/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dp_event.h - exports a ledger for other accountants, and series of answers.
 *
 * The names are those of Google's dp_accounting: {"module_name": "dp_accounting.dp_event", "class_name":
 * "ComposedDpEvent", "events": [...]}, as its DpEvent.to_named_tuple gives them.
 */
#ifndef DPF_PRIVACY_DP_EVENT_H
#define DPF_PRIVACY_DP_EVENT_H

#include <stdio.h>

#include "privacy/guarantee.h"

/*
 * The ledger as one event, for the guarantee's unit, adjacency and observer: sensitivities are part of noise
 * multipliers, so it is to be read with dp_accounting's ADD_OR_REMOVE_ONE, which leaves these as they are;
 * draws that amplify nothing are left out. Integer noise goes by the Gaussian or Laplace noise that is no
 * more private (integer_noise.h), pure releases and flipped bits as EpsilonDeltaDpEvent, amplified. PBM is an
 * UnsupportedDpEvent, which accountants there refuse. A new reference.
 */
json_t *dp_event_json(const struct ledger *ledger, const struct guarantee *guarantee);
/* The same with what it is for: {"about", "unit", "adjacency", "neighboring_relation", "epsilon" (the least
   of the accounts, or null), "delta", "event"}. A new reference. */
json_t *dp_event_file(const struct ledger *ledger, const struct guarantee *guarantee);
/* How many events of it are an UnsupportedDpEvent. */
int64_t dp_event_unsupported(const json_t *whole);

/* CSV "accountant,epsilon,delta": delta for epsilons from 0 to twice the largest finite answer. */
int curve_write(const struct guarantee *guarantee, struct instance *const *accountants, int n,
                const struct ledger *ledger, int64_t rounds, FILE *file, struct dpf_error *error);
/* Some of these numbers as tables to read, a column for each accountant, and the trade-off curve, for lines
   of that width; added to out. */
void curve_table(const struct guarantee *guarantee, struct instance *const *accountants, int n,
                 const struct ledger *ledger, int64_t rounds, int width, struct text *out);
/* CSV "round,accountant,epsilon": what has been spent after so many rounds, at the guarantee's delta. */
/* {"epsilon-ACCOUNTANT": epsilon} of a run that ended after so many rounds, with what is released at its end,
 * had their number been fixed beforehand; refused accounts are left out. New reference; NULL: failed. */
json_t *odometer_json(const struct guarantee *guarantee, struct instance *const *accountants, int n,
                      const struct ledger *ledger, int64_t round, struct dpf_error *error);
int odometer_write(const struct guarantee *guarantee, struct instance *const *accountants, int n,
                   const struct ledger *ledger, int64_t rounds, FILE *file, struct dpf_error *error);

#endif
