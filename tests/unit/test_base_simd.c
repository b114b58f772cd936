/* SPDX-License-Identifier: Apache-2.0 */
/* Each kind of processor gives the bytes of one number after the other, with the roundings that simd.h states. */
#include "kit/test.h"

#include <math.h>
#include <string.h>

#define TABLE 64

enum { ADD, SUB, MUL, FMA, FNMA, ALL, LEAST, MOST, LOOK_UP, FIRST, LANES = FIRST + 17 };

struct sixteen {
    float a[16], b[16], c[16];
    float odd[16];    /* equal to b in places, or not a number */
    float places[16]; /* in the table */
};

struct results {
    float lanes[LANES][16];
    uint32_t mask;
    int64_t n_places;
    int32_t places[32];
    float sums[4];
};

#define SIMD_TEMPLATE "unit/simd_operations.h"
#include "simd/each_kind.h"

static uint64_t seed = 11;

/* Of any size, with all 24 bits: products and sums round. */
static float draw(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ldexpf((float)(int32_t)(seed >> 32), -31 + (int)(seed >> 20 & 15) - 8);
}

static void fill(struct sixteen *in, float *table)
{
    for (int i = 0; i < TABLE; i++)
        table[i] = draw();
    for (int i = 0; i < 16; i++) {
        in->a[i] = draw();
        in->b[i] = draw();
        in->c[i] = draw();
        in->odd[i] = seed >> 40 & 1 ? draw() : seed >> 41 & 1 ? in->b[i] : NAN;
        in->places[i] = (float)((uint32_t)(seed >> 33) % TABLE) + 0.75f * (float)(seed >> 30 & 1);
        if (in->places[i] >= TABLE)
            in->places[i] = TABLE - 1;
    }
}

static float sum_of(const float *x, int fused)
{
    float h[8];
    for (int i = 0; i < 8; i++)
        h[i] = x[i] + x[i + 8];
    if (fused)
        return ((h[0] + h[1]) + (h[2] + h[3])) + ((h[4] + h[5]) + (h[6] + h[7]));
    for (int i = 0; i < 4; i++)
        h[i] += h[i + 4];
    return (h[0] + h[2]) + (h[1] + h[3]);
}

static void operate_one_by_one(const struct sixteen *in, const float *table, int fused, struct results *out)
{
    float both[16];
    out->mask = 0;
    out->n_places = 0;
    for (int i = 0; i < 16; i++) {
        const float a = in->a[i], b = in->b[i], c = in->c[i], odd = in->odd[i];
        out->lanes[ADD][i] = a + b;
        out->lanes[SUB][i] = a - b;
        out->lanes[MUL][i] = a * b;
        out->lanes[FMA][i] = fused ? fmaf(a, b, c) : c + a * b;
        out->lanes[FNMA][i] = fused ? fmaf(-a, b, c) : c - a * b;
        out->lanes[ALL][i] = in->a[3];
        out->lanes[LEAST][i] = odd < b ? odd : b;
        out->lanes[MOST][i] = odd > b ? odd : b;
        out->lanes[LOOK_UP][i] = table[(int)in->places[i]];
        for (int n = 1; n <= 16; n++)
            out->lanes[FIRST + n][i] = i < n ? a : 0;
        if (odd >= b) {
            out->mask |= 1u << i;
            out->places[out->n_places++] = 100 + i;
        }
        both[i] = a + c;
    }
    out->sums[0] = sum_of(in->a, fused);
    out->sums[1] = sum_of(in->b, fused);
    out->sums[2] = sum_of(in->c, fused);
    out->sums[3] = sum_of(both, fused);
}

TEST(kinds_give_the_bytes_of_one_by_one)
{
    static struct sixteen in;
    static struct results got, expected;
    static float table[TABLE];
    for (int kind = SIMD_KIND_AVX512; kind <= SIMD_KIND_PORTABLE; kind++)
        for (int again = 0; simd_choose(kind) == kind && again < 2000; again++) {
            fill(&in, table);
            SIMD_PICK(kind, operate)(&in, table, &got);
            operate_one_by_one(&in, table, kind != SIMD_KIND_PORTABLE, &expected);
            memset(got.lanes[FIRST], 0, sizeof(got.lanes[FIRST])); /* of no numbers: not written */
            for (int l = 0; l < LANES; l++)
                assert_memory_equal(got.lanes[l], expected.lanes[l], sizeof(got.lanes[l]));
            assert_int_equal(got.mask, expected.mask);
            assert_int_equal(got.n_places, expected.n_places);
            assert_memory_equal(got.places, expected.places, (size_t)got.n_places * sizeof(got.places[0]));
            assert_memory_equal(got.sums, expected.sums, sizeof(got.sums));
        }
}

/* So that the test above has run for the kind that this processor uses. */
TEST(a_kind_is_found)
{
    assert_in_range(simd_choose(SIMD_KIND_AUTO), SIMD_KIND_AVX512, SIMD_KIND_PORTABLE);
    assert_int_equal(simd_choose(SIMD_KIND_PORTABLE), SIMD_KIND_PORTABLE);
    assert_int_equal(simd_choose(SIMD_KIND_NEON), SIMD_ARM ? SIMD_KIND_NEON : -1);
    assert_null(SIMD_PICK(-1, operate));
}
