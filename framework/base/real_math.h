/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real_math.h - logarithm, cosine and sine for samplers: sums and products in one fixed order.
 *
 * So the results are the same bytes on every processor, with and without vector instructions (simd_loops.h).
 * The series are Taylor series, whose remainders have simple bounds:
 *
 *   log m = 2 atanh s = 2 (s + s^3/3 + ... + s^21/21), s = (m - 1)/(m + 1), sqrt(1/2) <= m < sqrt(2), so
 *   |s| <= 0.1716 and the remainder is below 2 |s|^23 / (23 (1 - s^2)) < 2^-61 |log m|;
 *   sin a, cos a, |a| <= pi/4: the series alternate, so their remainders are below the first term left out,
 *   |a|^17/17! < 2^-54 |sin a| and a^18/18! < 2^-58.
 *
 * With rounding errors, whose bounds stand beside the functions, all results are within 2 units of the last
 * place (2^-51) of the true value, relative to it. test_base_reals measures this.
 */
#ifndef DPF_BASE_REAL_MATH_H
#define DPF_BASE_REAL_MATH_H

#include <stdint.h>
#include <string.h>

#define REAL_INLINE static inline __attribute__((always_inline))
#define REAL_FRACTION UINT64_C(0x000fffffffffffff) /* the 52 bits behind the point */
#define REAL_ONE UINT64_C(0x3ff0000000000000)

REAL_INLINE double real_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

REAL_INLINE uint64_t real_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

/* (k + 1/2) 2^-52 for the 52 highest bits k of the word: exact, in (0, 1). */
REAL_INLINE double real_unit(uint64_t word)
{
    return real_of_bits(word >> 12 | REAL_ONE) - (1 - 0x1p-53);
}

/* a b + c, rounded once if fused, which takes an instruction of the processor. */
REAL_INLINE double real_fma(double a, double b, double c, int fused)
{
    return fused ? __builtin_fma(a, b, c) : a * b + c;
}

/* x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), of a normal number x > 0: exact. */
struct real_split {
    double e, f;
};

REAL_INLINE struct real_split real_split(double x)
{
    const uint64_t root = UINT64_C(0x3fe6a09e667f3bcd); /* sqrt(1/2) */
    const uint64_t moved = real_bits(x) + (REAL_ONE - root);
    return (struct real_split){real_of_bits(moved >> 52 | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023),
                               real_of_bits((moved & REAL_FRACTION) + root) - 1};
}

/*
 * log x of a normal number x > 0: x = 2^e m. m - 1 is exact; s has two roundings, s (2 + z p) adds two more,
 * all relative to log m. e times the higher part of log 2 is exact. Where e != 0 the sum is at least 0.34,
 * and its parts are at most 2 of it, so the last two roundings stay below 1.5 2^-52 of it, too. Fused, with fewer roundings,
 * it is other bytes: where they decide nothing.
 */
REAL_INLINE double real_log_by(double x, int fused)
{
    const struct real_split split = real_split(x);
    const double e = split.e, f = split.f, s = f / (2 + f), z = s * s;
    double p = 2.0 / 21;
    p = real_fma(p, z, 2.0 / 19, fused);
    p = real_fma(p, z, 2.0 / 17, fused);
    p = real_fma(p, z, 2.0 / 15, fused);
    p = real_fma(p, z, 2.0 / 13, fused);
    p = real_fma(p, z, 2.0 / 11, fused);
    p = real_fma(p, z, 2.0 / 9, fused);
    p = real_fma(p, z, 2.0 / 7, fused);
    p = real_fma(p, z, 2.0 / 5, fused);
    p = real_fma(p, z, 2.0 / 3, fused);
    const double log_f = real_fma(s, z * p, s * 2, fused);
    return e * 0x1.62e42feep-1 + real_fma(e, 0x1.a39ef35793c76p-33, log_f, fused);
}

REAL_INLINE double real_log(double x)
{
    return real_log_by(x, 0);
}

/* The word as a double, rounded once. */
REAL_INLINE double real_of_word(uint64_t word)
{
    const double high = real_of_bits(word >> 32 | UINT64_C(0x4530000000000000)) - 0x1p84;
    const double low = real_of_bits((word & UINT64_C(0xffffffff)) | UINT64_C(0x4330000000000000)) - 0x1p52;
    return high + low;
}

/* The integer nearest to x, |x| < 2^51: adding 1.5 2^52 leaves no digits behind the point. */
REAL_INLINE double real_nearest(double x)
{
    return (x + 0x1.8p52) - 0x1.8p52;
}

/* By the sign of an exact difference: a comparison that chooses a number would be a branch to some compilers, and the loop
 * around it no vectors. */
REAL_INLINE double real_floor(double x)
{
    const double nearest = real_nearest(x);
    return nearest - real_of_bits(REAL_ONE & (0 - (real_bits(x - nearest) >> 63)));
}

/* A double that is an integer, as one; |x| < 2^51. */
REAL_INLINE int64_t real_integer(double x)
{
    return (int64_t)(real_bits(x + 0x1.8p52) - real_bits(0x1.8p52));
}

/* Cosine and sine of (quarter + shifted) pi/2; quarter is 0 .. 3, |shifted| <= 1/2. */
REAL_INLINE void real_turn(uint64_t quarter, double shifted, double *x, double *y)
{
    const double a = shifted * 0x1.921fb54442d18p0, z = a * a;
    double s = -1.0 / 1307674368000;
    s = s * z + 1.0 / 6227020800;
    s = s * z - 1.0 / 39916800;
    s = s * z + 1.0 / 362880;
    s = s * z - 1.0 / 5040;
    s = s * z + 1.0 / 120;
    s = s * z - 1.0 / 6;
    s = a + a * (z * s);
    double c = 1.0 / 20922789888000;
    c = c * z - 1.0 / 87178291200;
    c = c * z + 1.0 / 479001600;
    c = c * z - 1.0 / 3628800;
    c = c * z + 1.0 / 40320;
    c = c * z - 1.0 / 720;
    c = c * z + 1.0 / 24;
    c = c * z - 0.5;
    c = 1 + z * c;
    const uint64_t exchanged = (real_bits(c) ^ real_bits(s)) & (0 - (quarter & 1));
    *x = real_of_bits(real_bits(c) ^ exchanged ^ ((quarter + 1) & 2) << 62);
    *y = real_of_bits(real_bits(s) ^ exchanged ^ (quarter & 2) << 62);
}

/*
 * A uniform direction: (quarter + fraction - 1/2) pi/2, the fraction an odd multiple of 2^-53. quarter is two
 * bits of the word, the fraction the next 52.
 */
REAL_INLINE void real_direction(uint64_t word, double *x, double *y)
{
    const double fraction = real_of_bits((word >> 10 & REAL_FRACTION) | REAL_ONE);
    real_turn(word >> 62, fraction - 1.5 + 0x1p-53, x, y);
}

#endif
