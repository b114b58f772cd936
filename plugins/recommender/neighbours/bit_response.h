/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bit_response.h - randomised response on packed bits, 64 exact coins at a time.
 *
 * A bit that is 1 is reported as 1 with probability keep, a bit that is 0 with probability invent < keep,
 * independently of all others. One bit then costs
 *     epsilon = max(ln(keep / invent), ln((1 - invent) / (1 - keep))),
 * the largest log-ratio of the two reports' probabilities (Warner, JASA 1965; Kairouz, Oh, Viswanath, JMLR
 * 2016). A report is a function of one bit and its own coin, so k bits that change cost k epsilon.
 */
#ifndef DPF_NEIGHBOURS_BIT_RESPONSE_H
#define DPF_NEIGHBOURS_BIT_RESPONSE_H

#include "dpframe/host.h"
#include "dpframe/privacy.h"

struct bit_response {
    int32_t symmetric; /* keep = 1 - invent: a report is the bit, flipped with probability invent */
    int32_t silent;    /* no noise at all: keep 1, invent 0 */
    double keep, invent;
};

/*
 * The response whose bits cost at most epsilon. keep_wanted 0: symmetric, keep = e^epsilon / (1 + e^epsilon);
 * else that probability, and the smallest invent that epsilon allows. Where nothing stays uncertain, silent
 * is set.
 */
void bit_response_plan(double epsilon, double keep_wanted, struct bit_response *out);

/* Reports n_words words of bits, coins read from the cursor in order. in may equal out. */
void bit_response_draw(const struct bit_response *response, const dpf_random_service *random,
                       dpf_cursor *cursor, const uint64_t *in, int64_t n_words, uint64_t *out);

/* 64 exact Bernoulli(p) coins for the float64 p in [0, 1]. */
uint64_t bit_response_coins(double p, const dpf_random_service *random, dpf_cursor *cursor);

/* Kind and parameters of the event of one report of all bits; sensitivities count bits that change. */
void bit_response_event(const struct bit_response *response, dpf_event *event);

#endif
