/* SPDX-License-Identifier: Apache-2.0 */
#include "secagg_shamir.h"

#include "secagg_wire.h"

__extension__ typedef unsigned __int128 wide;

/* x below 2^64 to 0 .. p-1. */
static inline uint64_t reduce(uint64_t x)
{
    x = (x & SECAGG_PRIME) + (x >> 61);
    return x - (SECAGG_PRIME & (0 - (uint64_t)(x >= SECAGG_PRIME)));
}

/* Operands below p. 2^61 = 1, so the two halves of a product add. */
static inline uint64_t multiply(uint64_t a, uint64_t b)
{
    const wide product = (wide)a * b;
    return reduce(((uint64_t)product & SECAGG_PRIME) + (uint64_t)(product >> 61));
}

static inline uint64_t subtract(uint64_t a, uint64_t b)
{
    return reduce(a + SECAGG_PRIME - b);
}

/* a^(p-2). The exponent is public: 60 ones but for bit 1. */
static uint64_t invert(uint64_t a)
{
    const uint64_t exponent = SECAGG_PRIME - 2;
    uint64_t result = 1;
    for (int bit = 60; bit >= 0; bit--) {
        result = multiply(result, result);
        if (exponent >> bit & 1)
            result = multiply(result, a);
    }
    return result;
}

void secagg_secret_bytes(const secagg_secret secret, uint8_t out[SECAGG_SHARE_BYTES])
{
    for (int lane = 0; lane < SECAGG_LANES; lane++)
        secagg_put64(out + 8 * lane, secret[lane]);
}

void secagg_share(secagg_secret *coefficients, uint32_t threshold, uint64_t point,
                  uint8_t share[SECAGG_SHARE_BYTES])
{
    secagg_secret value = {0};
    for (uint32_t k = threshold; k-- > 0;)
        for (int lane = 0; lane < SECAGG_LANES; lane++)
            value[lane] = reduce(multiply(value[lane], point) + coefficients[k][lane]);
    secagg_secret_bytes(value, share);
}

int secagg_share_check(const uint8_t share[SECAGG_SHARE_BYTES])
{
    int bad = 0;
    for (int lane = 0; lane < SECAGG_LANES; lane++)
        bad |= secagg_get64(share + 8 * lane) >= SECAGG_PRIME;
    return bad ? -1 : 0;
}

/*
 * weight_j = prod_{i != j} x_i / (x_i - x_j). The denominators are inverted together: one inversion of
 * their product, from which each is had by multiplications (Montgomery).
 */
int secagg_weights(const uint64_t *points, uint32_t n, uint64_t *weights, uint64_t *work)
{
    uint64_t product = 1;
    for (uint32_t j = 0; j < n; j++) {
        uint64_t above = 1, below = 1;
        for (uint32_t i = 0; i < n; i++) {
            if (i == j)
                continue;
            above = multiply(above, points[i]);
            below = multiply(below, subtract(points[i], points[j]));
        }
        if (below == 0)
            return -1;
        weights[j] = multiply(above, product); /* times the denominators before this one */
        work[j] = below;
        product = multiply(product, below);
    }
    uint64_t inverse = invert(product);
    for (uint32_t j = n; j-- > 0;) {
        weights[j] = multiply(weights[j], inverse);
        inverse = multiply(inverse, work[j]);
    }
    return 0;
}

void secagg_combine(uint64_t weight, const uint8_t share[SECAGG_SHARE_BYTES], secagg_secret sum)
{
    for (int lane = 0; lane < SECAGG_LANES; lane++)
        sum[lane] = reduce(sum[lane] + multiply(weight, secagg_get64(share + 8 * lane)));
}
