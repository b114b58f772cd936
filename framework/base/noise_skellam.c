/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_skellam.c - Skellam noise: the difference of two Poisson numbers of one integer mean m.
 *
 * No floating-point number decides anything: as in noise_discrete.c, everything is a comparison of integers
 * or of uniform reals whose digits are drawn as they are needed. A Poisson number is drawn by rejection; its
 * masses, with the two modes m and m - 1 as the unit, are rational,
 *
 *    at m + k        the product of 1/(1 + i/m), i = 1 .. k
 *    at m - 1 - k    the product of 1 - i/m,     i = 1 .. k.
 *
 *  (1) Proposals. A fair coin for the side, a block j = 0, 1, 2, ... of w values with weights 1, 1, e^-1,
 * e^-2,
 *      ..., and k uniform in block j, j w <= k < (j + 1) w. w is an integer with w^2 > m.
 *  (2) A proposal is kept with probability exp(-I), where I = -ln mass(k) - max(j - 1, 0). As an integral
 * over t in [0, 1], -ln mass(k) = sum over i = 1 .. k of i/(m + t i) on the right, i/(m - t i) on the left.
 *      For w < i <= j w these are at least 1/w, since w^2 > m, and there are (j - 1) w of them: taking 1/w
 *      from each leaves I as the integral of a function that is nowhere negative.
 *  (3) exp(-I) is the probability that a Poisson process of that intensity has no point. Points are proposed
 *      at the largest intensity, k/m on the right and k/(m - k) on the left, at a uniform (i, t), and each is
 *      left out with the probability that is missing. Their number is Poisson with a rational mean, k^2/m or
 *      k^2/(m - k), which is seldom more than a few.
 *  (4) The probabilities are a/b, t, and 1/(1 + x): n successes of probability x in a row are an even number
 *      of them with probability (1 - x)(1 + x^2 + x^4 + ...) = 1/(1 + x).
 *
 * Values beyond block 60, more than 60 sqrt(m) away, are not drawn; for m >= 2^14 that is a distance of at
 * most m/2, as (3) needs on the left, and all of them together have a probability below e^-1500.
 */
#include "base/random.h"

#include "base/random_real.h"

#define LEAST_MEAN (UINT64_C(1) << 14)
#define MOST_MEAN (UINT64_C(1) << 47)
#define LAST_BLOCK 60

/* What is constant over a call. */
struct poisson {
    struct random_cursor *c;
    struct coins coins;
    uint64_t mean;
    uint64_t w;
};

/* One point of the process; t is drawn when it is first needed. */
struct point {
    uint64_t i;
    int drawn;
    struct real t;
};

/* True with probability a / b. */
static inline int flip(struct random_cursor *c, uint64_t a, uint64_t b)
{
    return random_word_below(c, b) < a;
}

/* True with probability t. */
static inline int flip_time(struct random_cursor *c, struct point *point)
{
    struct real u;
    if (!point->drawn) {
        real_draw(c, &point->t);
        point->drawn = 1;
    }
    real_draw(c, &u);
    return real_less(c, &u, &point->t);
}

/* True with probability exp(-1). */
static inline int flip_e(struct random_cursor *c)
{
    struct real u;
    real_draw(c, &u);
    return !chain_is_even(c, &u); /* u is uniform: 1 - 1/e */
}

/* Poisson of mean 1 by rejection: n from fair coins, Pr = 2^-(n+1), kept with probability 2^(n-1) / n!. */
static inline uint64_t poisson_one(struct poisson *p)
{
    for (;;) {
        uint64_t n = 0;
        while (coin(p->c, &p->coins))
            n++;
        int kept = n > 0 || coin(p->c, &p->coins);
        for (uint64_t i = 3; kept && i <= n; i++)
            kept = flip(p->c, 2, i);
        if (kept)
            return n;
    }
}

/* (3) on the right: i/(m + t i) of k/m, and not the 1/w of a block that is paid for. */
static inline int stays_right(struct poisson *p, struct point *point, uint64_t k, int paid)
{
    const uint64_t m = p->mean, i = point->i;
    int even = 1;
    if (!flip(p->c, i, k))
        return 0;
    while (flip(p->c, i, m) && flip_time(p->c, point))
        even = !even;
    if (!even || !paid)
        return even;
    const uint64_t x = random_word_below(p->c, i * p->w); /* (m + t i) / (i w) of it is paid */
    return x >= m && (x >= m + i || !flip_time(p->c, point));
}

/* On the left: i/(m - t i) of k/(m - k). */
static inline int stays_left(struct poisson *p, struct point *point, uint64_t k, int paid)
{
    const uint64_t m = p->mean, i = point->i;
    int even = 1;
    if (!flip(p->c, i, k))
        return 0;
    for (;; even = !even) { /* (k - t i) / (m - k) */
        const uint64_t x = random_word_below(p->c, m - k);
        if (x >= k || (x >= k - i && flip_time(p->c, point)))
            break;
    }
    if (!even || !paid)
        return even;
    const uint64_t x = random_word_below(p->c, i * p->w); /* (m - t i) / (i w) of it is paid */
    return x >= m || (x >= m - i && flip_time(p->c, point));
}

/* (2): no point of the process. */
static inline int keeps_value(struct poisson *p, uint64_t k, uint64_t block, int left)
{
    const uint64_t below = left ? p->mean - k : p->mean;
    const random_u128 square = (random_u128)k * k;
    const uint64_t copies = (uint64_t)((square + below - 1) / below);
    for (uint64_t copy = 0; copy < copies; copy++)
        for (uint64_t n = poisson_one(p); n > 0; n--) {
            struct point point = {.i = 0};
            if (!flip(p->c, (uint64_t)square, below * copies))
                continue;
            point.i = 1 + random_word_below(p->c, k);
            const int paid = block > 0 && point.i > p->w && point.i <= block * p->w;
            if (left ? stays_left(p, &point, k, paid) : stays_right(p, &point, k, paid))
                return 0;
        }
    return 1;
}

/* A Poisson number less its mean. */
static inline int64_t poisson_draw(struct poisson *p)
{
    for (;;) {
        const int left = coin(p->c, &p->coins), first = coin(p->c, &p->coins);
        uint64_t block = first ? 0 : 1;
        while (block <= LAST_BLOCK && flip_e(p->c))
            block++;
        if (block > (first ? 0 : LAST_BLOCK)) /* the first block has the weight of the second alone */
            continue;
        const uint64_t k = block * p->w + random_word_below(p->c, p->w);
        if (keeps_value(p, k, block, left))
            return left ? -1 - (int64_t)k : (int64_t)k;
    }
}

/* The least integer whose square is above x. */
static uint64_t root_above(uint64_t x)
{
    uint64_t low = 0, high = UINT64_C(1) << 31;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (middle * middle > x)
            high = middle;
        else
            low = middle;
    }
    return high;
}

dpf_status random_poisson(dpf_cursor *cursor, uint64_t mean, int64_t *out, int64_t n)
{
    if (mean < LEAST_MEAN || mean > MOST_MEAN)
        return DPF_E_RANGE;
    struct poisson p = {.c = random_cursor_of(cursor), .mean = mean, .w = root_above(mean)};
    random_cursor_expect(p.c, n);
    for (int64_t i = 0; i < n; i++)
        out[i] = (int64_t)mean + poisson_draw(&p);
    return DPF_OK;
}

dpf_status random_skellam(dpf_cursor *cursor, uint64_t mean, int64_t *out, int64_t n)
{
    if (mean < LEAST_MEAN || mean > MOST_MEAN)
        return DPF_E_RANGE;
    struct poisson p = {.c = random_cursor_of(cursor), .mean = mean, .w = root_above(mean)};
    random_cursor_expect(p.c, n);
    for (int64_t i = 0; i < n; i++) {
        const int64_t plus = poisson_draw(&p);
        out[i] = plus - poisson_draw(&p);
    }
    return DPF_OK;
}
