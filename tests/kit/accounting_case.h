/* SPDX-License-Identifier: Apache-2.0 */
/* accounting_case.h - events and questions for the tests of accountants. */
#ifndef DPF_TESTS_ACCOUNTING_CASE_H
#define DPF_TESTS_ACCOUNTING_CASE_H

#include "kit/plain_host.h"

#include "dpframe/accounting.h"

#define CASE_MAX_EVENTS 64
#define CASE_MAX_ORDERS 512

/* An accountant with its orders replaced by a list of any length. */
struct case_accountant {
    struct plain_host host;
    const dpf_accountant *functions;
    double orders[CASE_MAX_ORDERS];
};

/* orders: see case_expand; NULL leaves the default. */
void case_open(struct case_accountant *accountant, const char *id, const char *settings, const char *orders);

void case_close(struct case_accountant *accountant);

/* A release without sampling whose sensitivity is d in every norm, for every unit and adjacency. */
dpf_event case_event(int32_t kind, double scale, double d);

/* A secret Poisson draw of users. */
dpf_event case_sampled(dpf_event event, double rate);

/* Of the questions below. */
extern int32_t case_adjacency;

dpf_question case_question(double delta);

double case_epsilon(struct case_accountant *accountant, const dpf_event *events, int64_t n, double delta);

double case_delta(struct case_accountant *accountant, const dpf_event *events, int64_t n, double epsilon);

/*
 * The Renyi divergence at one order: the classic conversion with that order alone is r + ln(1/delta)/(a-1),
 * and a delta next to 1 makes the second part 1e-16/(a-1).
 */
double case_divergence(const dpf_event *events, int64_t n, double order);

/* ---- events as text: "gaussian scale=2.5 q=.01 count=50; laplace scale=1" ------------------------ */

int64_t case_parse(char *text, dpf_event *events);

#endif
