/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expectation.h - the accuracy to expect from declared facts, by measurements on public data sets.
 *
 * docs/accuracy.md ("What start lets expect") has the measurements, the sets and the command.
 */
#ifndef DPF_START_EXPECTATION_H
#define DPF_START_EXPECTATION_H

#include "start/start_facts.h"

/* The mu of the Gaussian mechanism that costs (epsilon, delta): sensitivity over standard deviation. */
double expectation_mu(double epsilon, double delta);
/* users x mu: how many standard deviations of the noise all users together are. */
double expectation_reach(const struct start_facts *facts);
/* Records of a user, from which on users have many: the sets on either side differ in what lists gain. */
#define EXPECTATION_MANY_RECORDS 40
/* One line without an end, for a personal or a simple model of what the facts want. Free it. */
char *expectation_text(int is_simple, const struct start_facts *facts);

#endif
