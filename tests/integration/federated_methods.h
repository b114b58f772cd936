/* SPDX-License-Identifier: Apache-2.0 */
/* federated_methods.h - configurations of methods over links, for the parties of party_processes.h, and sites with some of them each. */
#ifndef INTEGRATION_FEDERATED_METHODS_H
#define INTEGRATION_FEDERATED_METHODS_H

#include "integration/party_processes.h"

void all_end_well(pid_t server, const char *name, const pid_t pids[N_PARTIES + 1], int n);

/* Files of the sites, and who is where, as the simulation has it. */
void divide_users(void);

pid_t start_site(const char *run, int site, const char *options);

/* Writes hdpmf.ini, open.ini, gram.ini, ratings.ini, dpimf.ini and pooled.ini beside what parties_begin writes. */
int methods_begin(void **state);

#endif
