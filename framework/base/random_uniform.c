/* SPDX-License-Identifier: Apache-2.0 */
/* random_uniform.c - uniform words, reals, integers and permutations, and exact coin flips. */
#include "base/random.h"

#include <math.h>

#include "base/random_cursor.h"

void random_bits(dpf_cursor *cursor, uint64_t *out, int64_t n)
{
    struct random_cursor *c = random_cursor_of(cursor);
    for (int64_t i = 0; i < n;) {
        for (; i < n && c->position < c->filled; i++)
            out[i] = random_word(c);
        i += random_cursor_bulk(c, out + i, n - i);
        random_cursor_expect(c, n - i);
        if (i < n)
            out[i++] = random_word(c);
    }
}

void random_uniform(dpf_cursor *cursor, double *out, int64_t n)
{
    struct random_cursor *c = random_cursor_of(cursor);
    random_cursor_expect(c, n);
    for (int64_t i = 0; i < n; i++)
        out[i] = random_unit(random_word(c));
}

void random_below(dpf_cursor *cursor, uint64_t bound, uint64_t *out, int64_t n)
{
    struct random_cursor *c = random_cursor_of(cursor);
    if (n == 1) { /* as rejection asks for them */
        *out = random_word_below(c, bound);
        return;
    }
    random_cursor_expect(c, n);
    for (int64_t i = 0; i < n; i++)
        out[i] = random_word_below(c, bound);
}

/*
 * The binary expansion of a float64 p in [0, 1): mantissa * 2^(-last), 53 bits of which the lowest
 * has weight 2^(-last). Digit i is the number formed by the bits of weight 2^(-64i-1) .. 2^(-64i-64).
 */
struct expansion {
    uint64_t mantissa;
    int last;
};

static struct expansion expand(double p)
{
    int exponent;
    double fraction = frexp(p, &exponent);
    struct expansion e = {(uint64_t)(fraction * 0x1p53), 53 - exponent};
    return e;
}

static uint64_t expansion_digit(const struct expansion *e, int i)
{
    int shift = 64 * (i + 1) - e->last; /* floor(p 2^(64(i+1))) mod 2^64 = mantissa << shift, modulo 2^64 */
    if (shift >= 64 || shift <= -64)
        return 0;
    return shift >= 0 ? e->mantissa << shift : e->mantissa >> -shift;
}

/* Compares a uniform real, of which further digits are drawn as they are needed, with p. */
static uint8_t flip(struct random_cursor *c, const struct expansion *e)
{
    for (int i = 0; 64 * i < e->last; i++) {
        uint64_t word = random_word(c);
        uint64_t digit = expansion_digit(e, i);
        if (word != digit)
            return word < digit;
    }
    return 0; /* all of p's digits were met: the real is p or more */
}

void random_bernoulli(dpf_cursor *cursor, double p, uint8_t *out, int64_t n)
{
    struct random_cursor *c = random_cursor_of(cursor);
    random_cursor_expect(c, n);
    if (!(p > 0) || p >= 1) {
        for (int64_t i = 0; i < n; i++)
            out[i] = p >= 1;
        return;
    }
    struct expansion e = expand(p);
    for (int64_t i = 0; i < n; i++)
        out[i] = flip(c, &e);
}

void random_permutation(dpf_cursor *cursor, int64_t *out, int64_t n)
{
    struct random_cursor *c = random_cursor_of(cursor);
    random_cursor_expect(c, n);
    for (int64_t i = 0; i < n; i++) { /* Fisher-Yates, inside out */
        int64_t j = (int64_t)random_word_below(c, (uint64_t)i + 1);
        if (j != i)
            out[i] = out[j];
        out[j] = i;
    }
}

void random_permutation32(dpf_cursor *cursor, uint32_t *out, int64_t n)
{
    struct random_cursor *c = random_cursor_of(cursor);
    random_cursor_expect(c, n);
    for (int64_t i = 0; i < n; i++) {
        const int64_t j = (int64_t)random_word_below(c, (uint64_t)i + 1);
        if (j != i)
            out[i] = out[j];
        out[j] = (uint32_t)i;
    }
}
