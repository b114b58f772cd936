/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_discrete.c - exact discrete Laplace and discrete Gaussian noise.
 *
 * Everything is decided by comparing uniform reals on [0, 1) whose binary digits are drawn as they
 * are needed: 64 at once, and more only on a tie. So the distributions are exact and no floating-point
 * number is involved. The distributions, and the rejection step of the Gaussian, are those of Canonne,
 * Kamath, Steinke, arXiv 2004.00010 (Algorithms 2 and 3); the Laplace is drawn in fewer steps by
 * von Neumann's method for the exponential, with real digits in place of rational coin flips:
 *
 *  (1) Let b be a real in [0, 1], and u1, u2, ... uniform. The chain b > u1 > u2 > ... has at least n
 *      links with probability b^n/n!, hence an even number of them with probability
 *      sum (-b)^n/n! = exp(-b).
 *  (2) Draw b uniform until its chain is even, and let v be the number of failures. An attempt
 *      succeeds with probability 1 - 1/e whatever v is, so v + b is exponential of rate 1 (von
 *      Neumann 1951; Karney, ACM TOMS 42(1), 2016).
 *  (3) If e is exponential then Pr[floor(t e) >= k] = exp(-k/t): floor(t e) = t v + floor(t b) is
 *      geometric. With a random sign, and minus zero rejected, it is the discrete Laplace
 *      distribution.
 *  (4) A discrete Laplace y of scale s, kept with probability exp(-(|y| - s)^2 / (2 s^2)), has mass
 *      proportional to exp(-|y|/s - (|y| - s)^2/(2 s^2)) = exp(-1/2) exp(-y^2/(2 s^2)): the discrete
 *      Gaussian.
 */
#include "base/random.h"

#include "base/random_real.h"

#define MAX_LAPLACE_SCALE (UINT64_C(1) << 42)
#define MAX_GAUSSIAN_SCALE (UINT64_C(1) << 24)
/* v beyond this has probability exp(-2^20). It keeps t v below 2^62 and d^2 below 2^92. */
#define MAX_FAILURES (UINT64_C(1) << 20)

/* (2) and (3): Pr[k] proportional to exp(-k/t), k = 0, 1, 2, ... */
static inline uint64_t geometric(struct random_cursor *c, uint64_t t)
{
    struct real b;
    for (uint64_t v = 0; v <= MAX_FAILURES; v++) {
        real_draw(c, &b);
        if (chain_is_even(c, &b))
            return t * v + real_scaled(c, &b, t);
    }
    random_generator_fault();
}

static inline int64_t signed_by(uint64_t magnitude, int negative)
{
    return negative ? -(int64_t)magnitude : (int64_t)magnitude;
}

dpf_status random_discrete_laplace(dpf_cursor *cursor, uint64_t t, int64_t *out, int64_t n)
{
    if (t < 1 || t > MAX_LAPLACE_SCALE)
        return DPF_E_RANGE;
    struct random_cursor *c = random_cursor_of(cursor);
    random_cursor_expect(c, n);
    struct coins coins = {0};
    for (int64_t i = 0; i < n;) {
        uint64_t k = geometric(c, t);
        int negative = coin(c, &coins);
        if (negative && k == 0)
            continue;
        out[i++] = signed_by(k, negative);
    }
    return DPF_OK;
}

/* True with probability exp(-(whole + part/parts)), part < parts: the product of whole times exp(-1) and
   one fraction, each by (1). Below b = 1 the first link is certain; below b = part/parts it is made if
   floor(u parts) < part. The rest of the chain hangs below that link. */
static inline int survives(struct random_cursor *c, uint64_t whole, uint64_t part, uint64_t parts)
{
    struct real u;
    for (; whole; whole--) {
        real_draw(c, &u);
        if (chain_is_even(c, &u))
            return 0;
    }
    real_draw(c, &u);
    return real_scaled(c, &u, parts) >= part || !chain_is_even(c, &u);
}

/* (4): s <= 2^24, so 2 s^2 <= 2^49; a magnitude k <= s (2^20 + 1) gives d^2 < 2^90. */
static inline int keeps(struct random_cursor *c, uint64_t k, uint64_t s)
{
    uint64_t d = k > s ? k - s : s - k;
    uint64_t parts = 2 * s * s;
    if (__builtin_expect(d < UINT64_C(1) << 32, 1)) {
        uint64_t square = d * d;
        return square < parts ? survives(c, 0, square, parts)
                              : survives(c, square / parts, square % parts, parts);
    }
    random_u128 square = (random_u128)d * d;
    return survives(c, (uint64_t)(square / parts), (uint64_t)(square % parts), parts);
}

dpf_status random_discrete_gaussian(dpf_cursor *cursor, uint64_t s, int64_t *out, int64_t n)
{
    if (s < 1 || s > MAX_GAUSSIAN_SCALE)
        return DPF_E_RANGE;
    struct random_cursor *c = random_cursor_of(cursor);
    random_cursor_expect(c, n);
    struct coins coins = {0};
    for (int64_t i = 0; i < n;) {
        uint64_t k = geometric(c, s);
        if (!keeps(c, k, s))
            continue;
        int negative = coin(c, &coins);
        if (negative && k == 0)
            continue;
        out[i++] = signed_by(k, negative);
    }
    return DPF_OK;
}
