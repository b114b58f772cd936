/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_skellam.c - Skellam noise: the difference of two Poisson numbers of one integer mean m.
 *
 * A Poisson number is drawn by rejection, and every decision is exact: it compares a uniform real, whose
 * digits are made as they are needed, with a number known in double precision within a stated error; where
 * the error reaches the real, interval arithmetic decides, to any number of digits (exact_laws.c). The
 * masses, with the two modes m and m - 1 as the unit, are
 *
 *    at m + k        the product of 1/(1 + i/m), i = 1 .. k
 *    at m - 1 - k    the product of 1 - i/m,     i = 1 .. k.
 *
 * (1) Proposals: a fair coin for the side, a block j = 0, 1, 2, ... of w values with weights 1, 1, e^-1,
 * e^-2, ..., and k uniform in block j, j w <= k < (j + 1) w. w is an integer with w^2 > m. The blocks from j
 * on, j >= 1, have the part e^(2 - j) / (2 e - 1) of all weights.
 *
 * (2) A proposal is kept with probability exp(-I), where I = -ln mass(k) - max(j - 1, 0). As an integral over
 * t in [0, 1], -ln mass(k) is the sum over i = 1 .. k of i/(m + t i) on the right, i/(m - t i) on the left.
 * For i > w each is at least 1/w: on the right as i (w - t) >= (w + 1)(w - 1) >= m, on the left as i w >= (w
 * + 1) w > m. There are (j - 1) w of them at least, so I is not negative.
 *
 * (3) In double precision, Stirling's series for both factorials gives, with r = 1 on the right and -1 on the
 * left,
 *
 *       -ln mass(k) = (m + r (k + 1/2)) ln(1 + r k/m) - r k + (1/(m + r k) - 1/m)/12
 *
 *     within 1/(360 (m/2)^3) < 2^-40, as k <= m/2. The first product is about k; its roundings and those of a
 *     library's log1p, of which 4 units are expected at most, move it by less than 2^-49 k.
 *
 * Values beyond block 60, more than 60 sqrt(m) away, are not drawn; for m >= 2^14 that is a distance of at
 * most m/2, as (3) needs on the left, and all of them together have a probability below e^-1500.
 */
#include "base/random.h"

#include <math.h>

#include "base/exact_laws.h"

#define LEAST_MEAN (UINT64_C(1) << 14)
#define MOST_MEAN (UINT64_C(1) << 47)
#define LAST_BLOCK 60
#define N_BLOCKS 45 /* P below is 0 from there on */

/* floor(2^63 P), P = e^(2 - j) / (2 e - 1), j = 1 .. N_BLOCKS: test_base_skellam computes them again. */
static const uint64_t block_tails[N_BLOCKS] = {
    UINT64_C(5651158541544738637),
    UINT64_C(2078945046234701466),
    UINT64_C(764801141834960295),
    UINT64_C(281354616665526191),
    UINT64_C(103504579149919147),
    UINT64_C(38077206736357576),
    UINT64_C(14007821535540704),
    UINT64_C(5153189558524009),
    UINT64_C(1895752495040324),
    UINT64_C(697408368474801),
    UINT64_C(256562200862797),
    UINT64_C(94383959079121),
    UINT64_C(34721918121575),
    UINT64_C(12773479834965),
    UINT64_C(4699100623501),
    UINT64_C(1728702511382),
    UINT64_C(635954113838),
    UINT64_C(233954444009),
    UINT64_C(86067030121),
    UINT64_C(31662290944),
    UINT64_C(11647905898),
    UINT64_C(4285025112),
    UINT64_C(1576372643),
    UINT64_C(579915087),
    UINT64_C(213338838),
    UINT64_C(78482972),
    UINT64_C(28872272),
    UINT64_C(10621515),
    UINT64_C(3907437),
    UINT64_C(1437465),
    UINT64_C(528814),
    UINT64_C(194539),
    UINT64_C(71567),
    UINT64_C(26328),
    UINT64_C(9685),
    UINT64_C(3563),
    UINT64_C(1310),
    UINT64_C(482),
    UINT64_C(177),
    UINT64_C(65),
    UINT64_C(24),
    UINT64_C(8),
    UINT64_C(3),
    UINT64_C(1),
    UINT64_C(0),
};

/* What is constant over a call. */
struct poisson {
    struct random_cursor *c;
    struct exact_source source;
    uint64_t mean;
    uint64_t w;
};

/* A word of the sequence, as a real of its lower n_bits digits. */
static inline struct exact_real next_real(struct poisson *p, int n_bits, uint64_t *word)
{
    const uint64_t cell = exact_next_cell(p->c);
    *word = random_word(p->c);
    return (struct exact_real){&p->source, cell, 0, 0, n_bits, *word << (64 - n_bits) >> (64 - n_bits)};
}

/* (1): how many j >= 1 have v < P. A tie leaves v on either side of it. */
static inline uint64_t block_of(const struct exact_real *v)
{
    uint64_t j = 0;
    while (v->head < block_tails[j]) /* the last is 0 */
        j++;
    return __builtin_expect(v->head == block_tails[j], 0) ? exact_poisson_block(v) : j;
}

/* (3) */
static inline double minus_log_mass(double m, double k, double r)
{
    return (m + r * (k + 0.5)) * log1p(r * k / m) - r * k + (1 / (m + r * k) - 1 / m) / 12;
}

/* (2) */
static inline int keeps_value(const struct exact_real *u, uint64_t mean, uint64_t k, int left, uint64_t paid)
{
    const double kept = exp((double)paid - minus_log_mass((double)mean, (double)k, left ? -1 : 1));
    const double error = (double)k * 0x1p-49 + 0x1p-38;
    const double distance = ((double)u->head + 0.5) * 0x1p-64 - kept;
    if (__builtin_expect(fabs(distance) > error, 1))
        return distance < 0;
    return exact_poisson_keeps(u, mean, k, left, paid);
}

/* A Poisson number less its mean. */
static inline int64_t poisson_draw(struct poisson *p)
{
    for (;;) {
        uint64_t word;
        const struct exact_real v = next_real(p, 63, &word);
        const int left = (int)(word >> 63);
        const uint64_t block = block_of(&v);
        if (block > LAST_BLOCK)
            continue;
        const uint64_t k = block * p->w + random_word_below(p->c, p->w);
        const struct exact_real u = next_real(p, 64, &word);
        if (keeps_value(&u, p->mean, k, left, block > 1 ? block - 1 : 0))
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
    struct poisson p = {.c = random_cursor_of(cursor),
                        .source = exact_source_of(random_cursor_of(cursor)),
                        .mean = mean,
                        .w = root_above(mean)};
    random_cursor_expect(p.c, n);
    for (int64_t i = 0; i < n; i++)
        out[i] = (int64_t)mean + poisson_draw(&p);
    exact_close(&p.source);
    return DPF_OK;
}

dpf_status random_skellam(dpf_cursor *cursor, uint64_t mean, int64_t *out, int64_t n)
{
    if (mean < LEAST_MEAN || mean > MOST_MEAN)
        return DPF_E_RANGE;
    struct poisson p = {.c = random_cursor_of(cursor),
                        .source = exact_source_of(random_cursor_of(cursor)),
                        .mean = mean,
                        .w = root_above(mean)};
    random_cursor_expect(p.c, n);
    for (int64_t i = 0; i < n; i++) {
        const int64_t plus = poisson_draw(&p);
        out[i] = plus - poisson_draw(&p);
    }
    exact_close(&p.source);
    return DPF_OK;
}
