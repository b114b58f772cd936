/* SPDX-License-Identifier: Apache-2.0 */
/* statement.h - the common part of the statement's two forms. */
#ifndef DPF_PRIVACY_STATEMENT_H
#define DPF_PRIVACY_STATEMENT_H

#include "privacy/guarantee.h"

const char *statement_observer(int observer);
/* 1 if there is something to protect and everything holds that a proof for the plan needs. */
int statement_holds(const struct guarantee *guarantee);
/* 1 if the account's answer is a guarantee: a proof with a finite epsilon, and statement_holds. */
int statement_proves(const struct guarantee *guarantee, const struct account *account);
/* The account with the least epsilon that is proved; NULL if none is. */
const struct account *statement_least(const struct guarantee *guarantee);
/* That epsilon; NaN if none is proved. */
double statement_least_epsilon(const struct guarantee *guarantee);

#endif
