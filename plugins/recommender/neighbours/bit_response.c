/* SPDX-License-Identifier: Apache-2.0 */
#include "bit_response.h"

#include <math.h>

/* A probability a little larger: covers the roundings of exp and of the division, so that epsilon holds. */
static double rounded_up(double p)
{
    return p * (1.0 + 0x1p-50);
}

void bit_response_plan(double epsilon, double keep_wanted, struct bit_response *out)
{
    const double rare = exp(-epsilon); /* 0 where epsilon is infinite or too large to matter */
    *out = (struct bit_response){.symmetric = keep_wanted == 0.0};
    if (out->symmetric) {
        out->invent = rounded_up(rare / (1.0 + rare));
        out->keep = 1.0 - out->invent;
    } else {
        /* keep / invent <= e^epsilon and (1 - invent) / (1 - keep) <= e^epsilon */
        const double for_ones = rounded_up(keep_wanted * rare);
        const double for_zeros = 1.0 - (1.0 - keep_wanted) / rare * (1.0 - 0x1p-50);
        out->keep = keep_wanted;
        out->invent = fmax(for_ones, for_zeros);
    }
    out->silent = rare == 0.0 || !(out->invent > 0.0);
    if (out->silent) {
        out->keep = 1.0;
        out->invent = 0.0;
    }
}

/*
 * The coin falls 1 if a uniform real U in [0, 1) is below p. U's binary digits are drawn one at a time, for
 * 64 lanes at once, and compared with those of p from the first on; a lane is decided where they differ
 * first: for it, with digit 1 of p and 0 of U. p is a dyadic fraction, so that the comparison is exact, and a
 * lane that has met all of p's digits is not below it. Half of the lanes are decided by each word: about
 * eight words are drawn in all, whatever p is.
 */
uint64_t bit_response_coins(double p, const dpf_random_service *random, dpf_cursor *cursor)
{
    uint64_t below = 0, open = ~UINT64_C(0);
    if (!(p > 0.0))
        return 0;
    if (p >= 1.0)
        return ~UINT64_C(0);
    for (double rest = p; open && rest > 0.0;) {
        uint64_t digits;
        random->bits(cursor, &digits, 1);
        rest *= 2.0; /* exact, as is the difference */
        if (rest >= 1.0) {
            rest -= 1.0;
            below |= open & ~digits;
            open &= digits;
        } else {
            open &= ~digits;
        }
    }
    return below;
}

/* Coins are drawn for all bits whatever they are: time and cursor tell nothing. */
void bit_response_draw(const struct bit_response *response, const dpf_random_service *random,
                       dpf_cursor *cursor, const uint64_t *in, int64_t n_words, uint64_t *out)
{
    for (int64_t w = 0; w < n_words; w++) {
        const uint64_t bits = in[w];
        if (response->silent) {
            out[w] = bits;
        } else if (response->symmetric) {
            out[w] = bits ^ bit_response_coins(response->invent, random, cursor);
        } else {
            const uint64_t kept = bit_response_coins(response->keep, random, cursor);
            const uint64_t invented = bit_response_coins(response->invent, random, cursor);
            out[w] = (bits & kept) | (~bits & invented);
        }
    }
}

void bit_response_event(const struct bit_response *response, dpf_event *event)
{
    if (response->silent) {
        event->kind = DPF_EVENT_NON_PRIVATE;
    } else if (response->symmetric) {
        event->kind = DPF_EVENT_RANDOMIZED_RESPONSE;
        event->p.response.flip = response->invent;
    } else {
        /* Upper ends: a quotient is off by 2^-53 of itself, which moves its logarithm by as much. */
        const double of_one = log(response->keep / response->invent);
        const double of_zero = log((1.0 - response->invent) / (1.0 - response->keep));
        event->kind = DPF_EVENT_PURE;
        event->p.pure.epsilon = fmax(of_one, of_zero) * (1.0 + 0x1p-50) + 0x1p-50;
    }
}
