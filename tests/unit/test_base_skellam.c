/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions of the Poisson sampler against products in 600 digits, at random and where digits nearly tie. */
#include "base/noise_skellam.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static dpf_stream *stream;

static int start(void **state)
{
    (void)state;
    struct dpf_error error = {0};
    struct random_root *root = random_root_seeded(78, "noise", &error);
    stream = root ? random_stream_open(root, "skellam", "test", &error) : NULL;
    random_root_free(root);
    return stream ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    random_stream_free(stream);
    return 0;
}

/* Whether u < p, u of 64 + 64 n digits; p has 600. */
static int reference_below(const struct exact_real *u, const mpfr_t p)
{
    mpfr_t low, high;
    mpfr_inits2(600, low, high, (mpfr_ptr)NULL);
    exact_bounds(u, 6, low, high);
    assert_true(mpfr_lessequal_p(high, p) || mpfr_greaterequal_p(low, p));
    const int below = mpfr_lessequal_p(high, p);
    mpfr_clears(low, high, (mpfr_ptr)NULL);
    return below;
}

/* e^paid times the product of the masses' factors. */
static void reference_keeps(mpfr_t p, uint64_t mean, uint64_t k, int left, uint64_t paid)
{
    mpfr_t m, factor;
    mpfr_inits2(600, m, factor, (mpfr_ptr)NULL);
    mpfr_set_d(m, (double)mean, MPFR_RNDN);
    mpfr_set_d(p, (double)paid, MPFR_RNDN);
    mpfr_exp(p, p, MPFR_RNDN);
    for (uint64_t i = 1; i <= k; i++) {
        mpfr_set_d(factor, (double)(left ? mean - i : mean + i), MPFR_RNDN);
        mpfr_mul(p, p, left ? factor : m, MPFR_RNDN);
        mpfr_div(p, p, left ? m : factor, MPFR_RNDN);
    }
    mpfr_clears(m, factor, (mpfr_ptr)NULL);
}

static void values_are_kept_as_the_masses_say(void **state)
{
    (void)state;
    static const uint64_t means[] = {LEAST_MEAN, 100003, 1 << 20, UINT64_C(1) << 40, MOST_MEAN};
    static const uint64_t ks[] = {0, 1, 2, 5, 127, 128, 129, 200, 400, 1000, 3000};
    struct exact_source source = {.stream = stream, .row = 1};
    mpfr_t p, scaled;
    mpfr_inits2(600, p, scaled, (mpfr_ptr)NULL);
    for (size_t a = 0; a < sizeof(means) / sizeof(means[0]); a++)
        for (size_t b = 0; b < sizeof(ks) / sizeof(ks[0]); b++)
            for (int left = 0; left < 2; left++) {
                const uint64_t block = ks[b] / root_above(means[a]), paid = block > 1 ? block - 1 : 0;
                reference_keeps(p, means[a], ks[b], left, paid);
                assert_true(mpfr_cmp_ui(p, 1) <= 0); /* I >= 0 */
                mpfr_mul_2ui(scaled, p, 64, MPFR_RNDN);
                const uint64_t head = mpfr_cmp_ui(p, 1) == 0 ? UINT64_MAX : mpfr_get_uj(scaled, MPFR_RNDD);
                for (int step = -3; step <= 3; step++) {
                    const uint64_t at = step == 3    ? head ^ UINT64_C(1) << 40
                                        : step == -3 ? head / 2
                                                     : head + (uint64_t)step;
                    const struct exact_real u = {&source, 100 * a + b, 0, 0, 64, at};
                    assert_int_equal(keeps_value(&u, means[a], ks[b], left, paid), reference_below(&u, p));
                    assert_int_equal(exact_poisson_keeps(&u, means[a], ks[b], left, paid),
                                     reference_below(&u, p));
                }
            }
    mpfr_clears(p, scaled, (mpfr_ptr)NULL);
    exact_close(&source);
}

static void blocks_have_their_weights(void **state)
{
    (void)state;
    struct exact_source source = {.stream = stream, .row = 2};
    mpfr_t e, p;
    mpfr_inits2(600, e, p, (mpfr_ptr)NULL);
    for (int j = 1; j <= N_BLOCKS; j++) {
        mpfr_set_ui(e, 1, MPFR_RNDN);
        mpfr_exp(e, e, MPFR_RNDN);
        mpfr_mul_ui(e, e, 2, MPFR_RNDN);
        mpfr_sub_ui(e, e, 1, MPFR_RNDN);
        mpfr_set_si(p, 2 - j, MPFR_RNDN);
        mpfr_exp(p, p, MPFR_RNDN);
        mpfr_div(p, p, e, MPFR_RNDN);
        mpfr_mul_2ui(e, p, 63, MPFR_RNDN);
        const uint64_t head = mpfr_get_uj(e, MPFR_RNDD);
        assert_int_equal(block_tails[j - 1], head);
        for (uint64_t step = 0; step < 3; step++) {
            const struct exact_real v = {&source, (uint64_t)j, 0, 0, 63, head + step - (head > 0)};
            const uint64_t block = block_of(&v);
            assert_int_equal(block, exact_poisson_block(&v));
            if (block <= (uint64_t)j)
                assert_int_equal(block == (uint64_t)j, reference_below(&v, p));
        }
    }
    const struct exact_real none = {&source, 99, 0, 0, 63, 0};
    assert_true(block_of(&none) >= N_BLOCKS);
    mpfr_clears(e, p, (mpfr_ptr)NULL);
    exact_close(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_kept_as_the_masses_say),
        cmocka_unit_test(blocks_have_their_weights),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
