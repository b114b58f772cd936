/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_real.h - uniform reals on [0, 1) whose digits are drawn as they are needed, and fair coins.
 *
 * A comparison draws 64 digits at once and more only on a tie, so that it is exact and no floating-point
 * number is involved. A real of which 512 bits were not enough ends the program: that has probability 2^-448
 * and would be a fault of the generator. For the samplers of this room only.
 */
#ifndef DPF_BASE_RANDOM_REAL_H
#define DPF_BASE_RANDOM_REAL_H

#include "base/random_cursor.h"

#define MAX_DIGITS 8

/* A uniform real on [0, 1): its first base-2^64 digits. */
struct real {
    uint64_t head;
    uint32_t n_tail; /* further digits known so far */
    uint64_t tail[MAX_DIGITS - 1];
};

/* What is left over of a call's random bits, for signs. */
struct coins {
    uint64_t bits;
    int left;
};

/* Ends the program. */
_Noreturn void random_generator_fault(void);

static inline void real_draw(struct random_cursor *c, struct real *u)
{
    u->head = random_word(c);
    u->n_tail = 0;
}

static inline uint64_t real_tail(struct random_cursor *c, struct real *u, uint32_t i)
{
    if (i >= MAX_DIGITS - 1)
        random_generator_fault();
    if (i == u->n_tail)
        u->tail[u->n_tail++] = random_word(c);
    return u->tail[i];
}

static __attribute__((noinline, cold, unused)) int real_less_tail(struct random_cursor *c, struct real *a,
                                                                  struct real *b)
{
    for (uint32_t i = 0;; i++) {
        uint64_t x = real_tail(c, a, i);
        uint64_t y = real_tail(c, b, i);
        if (x != y)
            return x < y;
    }
}

static inline int real_less(struct random_cursor *c, struct real *a, struct real *b)
{
    return __builtin_expect(a->head != b->head, 1) ? a->head < b->head : real_less_tail(c, a, b);
}

/* Whether the digits after the head carry into floor(u m): u m = whole + (low + x m) / 2^64, x in [0, 1). */
static __attribute__((noinline, cold, unused)) int real_carries(struct random_cursor *c, struct real *u,
                                                                uint64_t m, uint64_t low)
{
    uint64_t gap = 0 - low; /* carries if x m >= gap = 2^64 - low, where gap <= m */
    for (uint32_t i = 0;; i++) {
        random_u128 product = (random_u128)real_tail(c, u, i) * m;
        uint64_t whole = (uint64_t)(product >> 64);
        uint64_t rest = (uint64_t)product;
        if (whole >= gap)
            return 1;
        /* x m < whole + (rest + m) / 2^64, so a carry needs whole + 1 >= gap and a carry out of rest */
        if (whole + 1 < gap || rest <= UINT64_MAX - (m - 1))
            return 0;
        gap = 0 - rest;
    }
}

/* floor(u m) for 0 < m < 2^63. */
static inline uint64_t real_scaled(struct random_cursor *c, struct real *u, uint64_t m)
{
    random_u128 product = (random_u128)u->head * m;
    uint64_t low = (uint64_t)product;
    uint64_t whole = (uint64_t)(product >> 64);
    if (__builtin_expect(low > 0 - m, 0)) /* low + m > 2^64: a carry is possible */
        whole += (uint64_t)real_carries(c, u, m, low);
    return whole;
}

/* Whether the chain b > u1 > u2 > ... of uniform reals has an even number of links: that has probability
   exp(-b). Further digits of b may become known. */
static inline int chain_is_even(struct random_cursor *c, struct real *b)
{
    struct real links[2];
    struct real *last = b;
    for (uint32_t n = 0;; n++) {
        struct real *next = &links[n & 1];
        real_draw(c, next);
        if (!real_less(c, next, last))
            return (n & 1) == 0;
        last = next;
    }
}

static inline int coin(struct random_cursor *c, struct coins *coins)
{
    if (coins->left == 0) {
        coins->bits = random_word(c);
        coins->left = 64;
    }
    coins->left--;
    int bit = (int)(coins->bits & 1);
    coins->bits >>= 1;
    return bit;
}

#endif
