/* SPDX-License-Identifier: Apache-2.0 */
#include "gamma_shares.h"

#define LARGEST (INT64_C(1) << 62)
#define MAX_TAIL_BLOCKS (UINT64_C(1) << 20) /* 2^20 (s + 1) stays within +-2^62 */

struct source {
    const dpf_random_service *random;
    dpf_cursor *cursor;
    uint64_t coins;
    int32_t left;
};

static uint64_t below(struct source *source, uint64_t bound)
{
    uint64_t x;
    source->random->below(source->cursor, bound, &x, 1);
    return x;
}

static int coin(struct source *source)
{
    if (source->left == 0) {
        source->random->bits(source->cursor, &source->coins, 1);
        source->left = 64;
    }
    int bit = (int)(source->coins & 1);
    source->coins >>= 1;
    source->left--;
    return bit;
}

/* Coins up to the first that shows 0: how many there were before it. */
static uint64_t run_of_ones(struct source *source)
{
    uint64_t n = 0;
    for (;;) {
        const int32_t ones = source->coins == UINT64_MAX ? 64 : __builtin_ctzll(~source->coins);
        if (ones < source->left) {
            source->coins = source->coins >> ones >> 1;
            source->left -= ones + 1;
            return n + (uint64_t)ones;
        }
        n += (uint64_t)source->left;
        source->left = 64;
        source->random->bits(source->cursor, &source->coins, 1);
    }
}

/* 1 with probability a / b. */
static int flip(struct source *source, uint64_t a, uint64_t b)
{
    return a >= b || below(source, b) < a;
}

/* 1 with probability exp(-a/b), a <= b: Algorithm 1 of Canonne, Kamath, Steinke, arXiv 2004.00010. */
static int flip_exp_small(struct source *source, uint64_t a, uint64_t b)
{
    uint64_t k = 1;
    while (flip(source, a, b) && flip(source, 1, k))
        k++;
    return k & 1;
}

/* 1 with probability exp(-a/b). */
static int flip_exp(struct source *source, uint64_t a, uint64_t b)
{
    for (; a > b; a -= b)
        if (!flip_exp_small(source, 1, 1))
            return 0;
    return flip_exp_small(source, a, b);
}

/* 1 with probability 2/e = 2 (1/2! - 1/3! + 1/4! - ...): n successes of chances 1/3, 1/4, ... in a row have
   probability 2 / (n + 2)!, and n is even with the alternating sum of these. */
static int flip_two_over_e(struct source *source)
{
    uint64_t n = 0;
    while (flip(source, 1, 3 + n))
        n++;
    return (n & 1) == 0;
}

/* Poisson of mean 1 by rejection: n from fair coins, Pr = 2^-(n+1), kept with probability 2^(n-1) / n!. */
static uint64_t poisson_one(struct source *source)
{
    for (;;) {
        const uint64_t n = run_of_ones(source);
        int kept = n > 0 || coin(source);
        for (uint64_t i = 3; kept && i <= n; i++)
            kept = flip(source, 2, i);
        if (kept)
            return n;
    }
}

/* Poisson of mean a/b: enough of mean 1, each unit kept with the same probability. */
static uint64_t poisson(struct source *source, uint64_t a, uint64_t b)
{
    uint64_t copies = (a + b - 1) / b, kept = 0;
    for (uint64_t i = 0; i < copies; i++)
        for (uint64_t n = poisson_one(source); n > 0; n--)
            kept += (uint64_t)flip(source, a, b * copies);
    return kept;
}

/* A candidate's jump, 0 if it is not kept. */
static uint64_t jump(struct source *source, uint64_t s, uint64_t slots)
{
    uint64_t slot = below(source, slots);
    if (slot + 2 < slots) {
        uint64_t start = UINT64_C(1) << slot, k = start + (slot ? below(source, start) : 0);
        return flip(source, start, k) && flip_exp(source, k, s) ? k : 0;
    }
    uint64_t m = 0;
    while (coin(source) && m < MAX_TAIL_BLOCKS)
        m++;
    uint64_t start = (UINT64_C(1) << (slots - 2)) + below(source, s);
    if (!flip(source, s, start + m * s) || !flip_exp(source, start, s))
        return 0;
    for (uint64_t i = 0; i < m; i++)
        if (!flip_two_over_e(source))
            return 0;
    return start + m * s;
}

int gamma_shares_add(const dpf_random_service *random, dpf_cursor *cursor, uint64_t s, uint64_t shares,
                     uint64_t t, uint64_t width, int64_t *out)
{
    struct source source = {random, cursor, 0, 0};
    uint64_t slots = 2;
    while (UINT64_C(1) << (slots - 2) < s)
        slots++;
    /* Both signs, all coordinates and all slots have rate shares / t each. */
    for (uint64_t n = poisson(&source, 2 * width * slots * shares, t); n > 0; n--) {
        uint64_t at = width > 1 ? below(&source, width) : 0;
        int64_t size = (int64_t)jump(&source, s, slots);
        out[at] += coin(&source) ? size : -size;
        if (out[at] >= LARGEST || out[at] <= -LARGEST)
            return -1;
    }
    return 0;
}
