/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic modulo 2^255 - 19 of each kind of processor, with limbs at their bounds, which keys do not reach. Whole
 * exchanges are compared with libsodium's in test_secagg_parts.c. */
#include <string.h>

#include "kit/test.h"
#include "x25519_lanes.h"

#if SIMD_X86
#define WIDTH 8 /* of the widest kind */

__extension__ typedef __int128 wide;

typedef int64_t limbs[5][WIDTH];

/* What a kind makes of tight a and b, loose c, in this order: a c, b^2, a + b, a - b, and a + 121666 b times a. */
enum { PRODUCT, SQUARE, SUM, DIFFERENCE, TIMES_121666, N_RESULTS };
static const char *const result_names[N_RESULTS] = {"product", "square", "sum", "difference", "121666"};

typedef void kind_function(limbs a, limbs b, limbs c, uint64_t out[N_RESULTS][5][WIDTH]);

#define TARGET_FMA __attribute__((target("avx2,fma")))
#define TARGET_IFMA __attribute__((target("avx512f,avx512ifma")))

static inline __attribute__((always_inline)) TARGET_FMA x25519_fma load_fma(limbs from)
{
    x25519_fma x;
    for (int i = 0; i < 5; i++)
        x.limb[i] =
            _mm256_set_pd((double)from[i][3], (double)from[i][2], (double)from[i][1], (double)from[i][0]);
    return x;
}

static inline __attribute__((always_inline)) TARGET_IFMA x25519_ifma load_ifma(limbs from)
{
    x25519_ifma x;
    for (int i = 0; i < 5; i++)
        x.limb[i] = _mm512_loadu_si512(from[i]);
    return x;
}

#define DEFINE_RESULTS(kind, target, width)                                                                  \
    static target void results_##kind(limbs a, limbs b, limbs c, uint64_t out[N_RESULTS][5][WIDTH])          \
    {                                                                                                        \
        const x25519_##kind x = load_##kind(a), y = load_##kind(b), z = load_##kind(c);                      \
        const x25519_##kind made[N_RESULTS] = {                                                              \
            x25519_##kind##_multiply(x, z), x25519_##kind##_square(y), x25519_##kind##_add(x, y),            \
            x25519_##kind##_subtract(x, y), x25519_##kind##_multiply(x, x25519_##kind##_add_121666(x, y))};  \
        for (int r = 0; r < N_RESULTS; r++) {                                                                \
            uint64_t stored[5][width];                                                                       \
            x25519_##kind##_store(made[r], stored);                                                          \
            for (int i = 0; i < 5; i++)                                                                      \
                memcpy(out[r][i], stored[i], sizeof(stored[i]));                                             \
        }                                                                                                    \
    }
DEFINE_RESULTS(fma, TARGET_FMA, 4)
DEFINE_RESULTS(ifma, TARGET_IFMA, 8)

/* Limbs of any size and sign, as bytes of the number modulo p. */
static void bytes_of(const wide from[5], uint8_t out[32])
{
    wide x[5];
    uint64_t small[5];
    memcpy(x, from, sizeof(x));
    for (int pass = 0; pass < 4; pass++) {
        for (int i = 0; i < 4; i++) {
            x[i + 1] += x[i] >> 51;
            x[i] &= (wide)X25519_LOW;
        }
        x[0] += 19 * (x[4] >> 51);
        x[4] &= (wide)X25519_LOW;
    }
    for (int i = 0; i < 5; i++) /* and p, as the lowest limb may still be below 0 */
        small[i] = (uint64_t)(x[i] + (wide)(X25519_LOW - (i == 0 ? 18 : 0)));
    x25519_bytes(small, out);
}

static void multiply(const wide a[5], const wide b[5], wide out[5])
{
    memset(out, 0, 5 * sizeof(*out));
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            out[(i + j) % 5] += a[i] * b[j] * (i + j < 5 ? 1 : 19);
}

static void expected_of(const wide a[5], const wide b[5], const wide c[5], uint8_t out[N_RESULTS][32])
{
    wide x[N_RESULTS][5], times[5];
    multiply(a, c, x[PRODUCT]);
    multiply(b, b, x[SQUARE]);
    for (int i = 0; i < 5; i++) {
        x[SUM][i] = a[i] + b[i];
        x[DIFFERENCE][i] = a[i] - b[i];
        times[i] = a[i] + 121666 * b[i];
    }
    multiply(a, times, x[TIMES_121666]);
    for (int r = 0; r < N_RESULTS; r++)
        bytes_of(x[r], out[r]);
}

static uint64_t drawn(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 33;
}

/* A bound, close to one, close to zero, or anything between. */
static int64_t limb_between(int64_t least, int64_t most, uint64_t *state)
{
    const uint64_t how = drawn(state) % 8, off = drawn(state) % 3;
    const int64_t anything =
        least + (int64_t)((drawn(state) << 31 | drawn(state)) % (uint64_t)(most - least + 1));
    return how < 3 ? most - (int64_t)off : how < 6 ? least + (int64_t)off : how < 7 ? (int64_t)off : anything;
}

static void fill(limbs x, int64_t least, int64_t most, uint64_t *state)
{
    for (int l = 0; l < WIDTH; l++) {
        const int same = drawn(state) % 4 == 0; /* all limbs at once is where sums are largest */
        for (int i = 0; i < 5; i++)
            x[i][l] = same && i > 0 ? x[0][l] : limb_between(least, most, state);
    }
}

static void check_kind(kind_function *results, int width, const int64_t tight[2], const int64_t loose[2])
{
    uint64_t state = 7;
    for (int turn = 0; turn < 3000; turn++) {
        limbs a, b, c;
        uint64_t made[N_RESULTS][5][WIDTH];
        fill(a, tight[0], tight[1], &state);
        fill(b, tight[0], tight[1], &state);
        fill(c, loose[0], loose[1], &state);
        results(a, b, c, made);
        for (int l = 0; l < width; l++) {
            wide x[3][5];
            uint8_t expected[N_RESULTS][32], bytes[32];
            for (int i = 0; i < 5; i++) {
                x[0][i] = a[i][l];
                x[1][i] = b[i][l];
                x[2][i] = c[i][l];
            }
            expected_of(x[0], x[1], x[2], expected);
            for (int r = 0; r < N_RESULTS; r++) {
                uint64_t one[5];
                for (int i = 0; i < 5; i++)
                    one[i] = made[r][i][l];
                x25519_bytes(one, bytes);
                if (memcmp(bytes, expected[r], sizeof(bytes)) != 0)
                    fail_msg("%s of turn %d, lane %d", result_names[r], turn, l);
            }
        }
    }
}
#endif

TEST(arithmetic_at_the_bounds_of_limbs)
{
#if SIMD_X86
    const int64_t at = INT64_C(1) << 50;
    if (x25519_width() == 8)
        check_kind(results_ifma, 8, (int64_t[]){0, 2 * at + (1 << 15)}, (int64_t[]){0, 2 * at + (1 << 15)});
    if (simd_choose(SIMD_KIND_AVX2) >= 0)
        check_kind(results_fma, 4, (int64_t[]){-at - (1 << 13), at + (1 << 13)},
                   (int64_t[]){-2 * at - (1 << 23), 2 * at + (1 << 23)});
#endif
}
