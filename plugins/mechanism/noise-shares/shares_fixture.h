/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shares_fixture.h - what is the same in the tests of all mechanisms whose noise comes in shares: sums of empty
 * messages, their statistics, and what must be refused.
 */
#ifndef DPF_PLUGINS_SHARES_FIXTURE_H
#define DPF_PLUGINS_SHARES_FIXTURE_H

#include "kit/plain_random.h"
#include "kit/plain_release.h"
#include "kit/goodness.h"

#define SHARES_WIDTH 10
#define SHARES_MOST_ROWS 400
#define SHARES_MOST_CELLS (SHARES_WIDTH * SHARES_MOST_ROWS)
#define SHARES_PARTIES 25

/* A gradient of SHARES_WIDTH numbers and that many rows, sent by SHARES_PARTIES parties, so many of them honest. */
void shares_release(struct plain_release *r, int64_t rows, int64_t honest);

void shares_sum(struct plain_host *host, const struct plain_release *r, const dpf_noise_plan *plan,
                int64_t senders, double *out);

/*
 * A Gram row, which a unit moves 3 times as far as the rows: it and the rows are an event each, with a quarter and three
 * quarters of the budget, and each has the noise that its event and the plan state. Without a gram-share the Gram row has
 * no noise, and its event says so.
 */
void shares_check_gram(const dpf_component *component, const char *settings);

/* Mean, variance, and the share beyond one and two deviations: those of a normal law. */
void shares_assert_normal(const double *x, int64_t n, double deviation);

/* One message fewer than the shares were made for; and those who know their own share are not counted on. */
void shares_check_too_few(const dpf_component *component);

/* More honest parties than parties, alone or with the curious, or none; a Gram row of unknown sensitivity; sensitivities unknown or
   unbounded; bad settings; no memory. `bad` is a setting that is out of range. */
void shares_check_refusals(const dpf_component *component, const char *bad);

#endif
