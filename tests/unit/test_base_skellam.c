/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions of the Poisson sampler against products in 600 digits, at random and where digits nearly tie. */
#include "base/noise_skellam.c"
#include "kit/test.h"

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

TEST(values_are_kept_as_the_masses_say)
{
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

TEST(blocks_have_their_weights)
{
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

/* ---- in vectors as one by one
 * ------------------------------------------------------------------------------ */

static const int kinds[] = {SIMD_KIND_AVX512, SIMD_KIND_AVX2, SIMD_KIND_NEON, SIMD_KIND_PORTABLE};

/* n numbers, proposal by proposal. */
static void reference_draws(dpf_cursor *cursor, uint64_t mean, int64_t *out, int64_t n)
{
    struct poisson p;
    int64_t kept[2];
    open_poisson(&p, cursor, mean);
    for (int64_t i = 0; i < n;) {
        if (one_by_one(&p, exact_next_cell(p.c), 1, 1, kept))
            out[i++] = kept[0];
    }
    exact_close(&p.source);
}

/* From any place of a row, and the words behind them. */
static void check_draws(uint64_t mean, uint32_t row, int64_t skipped, int64_t n)
{
    enum { MOST = 3000 };
    static int64_t expected[2 * MOST], got[MOST];
    uint64_t words[90], next[2][40];
    dpf_cursor one, many;
    assert_true(n <= MOST);
    random_seek(stream, 5, 6, row, &one);
    random_bits(&one, words, skipped);
    reference_draws(&one, mean, expected, 2 * n);
    random_bits(&one, next[0], 40);
    random_seek(stream, 5, 6, row, &many);
    random_bits(&many, words, skipped);
    assert_int_equal(random_skellam(&many, mean, got, n), DPF_OK);
    for (int64_t i = 0; i < n; i++)
        assert_true(got[i] == expected[2 * i] - expected[2 * i + 1]);
    random_bits(&many, next[1], 40);
    assert_memory_equal(next[0], next[1], sizeof(next[0]));
    random_seek(stream, 5, 6, row, &many);
    random_bits(&many, words, skipped);
    assert_int_equal(random_poisson(&many, mean, got, n), DPF_OK);
    for (int64_t i = 0; i < n; i++)
        assert_true(got[i] == expected[i] + (int64_t)mean);
}

TEST(vectors_draw_what_single_proposals_do)
{
    static const uint64_t means[] = {LEAST_MEAN, 99991, UINT64_C(1) << 31, MOST_MEAN};
    static const int64_t counts[] = {1, 2, 3, 17, 50, 127, 128, 129, 1000, 2999};
    for (int k = 0; k < 4; k++) {
        if (simd_choose(kinds[k]) < 0)
            continue;
        pthread_once(&judge_once, choose_judge);
        judge = judge_of(kinds[k]);
        for (uint32_t a = 0; a < 4; a++)
            for (uint32_t b = 0; b < 10; b++)
                check_draws(means[a], 100 * a + b, (int64_t)(7 * b + a) % 90, counts[b]);
    }
    choose_judge();
}

/* Each proposal's verdict, where it is certain, is that of the exact decision. */
static void check_verdicts(uint64_t mean, int kind, int64_t certain[4])
{
    struct exact_source source = {.stream = stream, .row = 9};
    dpf_cursor cursor;
    uint64_t words[3 * PROPOSALS], verdicts[PROPOSALS];
    int64_t values[PROPOSALS];
    struct poisson p;
    random_seek(stream, 7, 8, (uint32_t)(mean % 1000), &cursor);
    random_bits(&cursor, words, 3 * PROPOSALS);
    words[4] = 0; /* product 0 */
    words[8] = JUDGED_LEAST_WORD - 1;
    words[9] = block_tails[3];
    words[12] = block_tails[JUDGED_BLOCKS - 1] - 1;
    open_poisson(&p, &cursor, mean);
    judge_of(kind)(words, PROPOSALS, &p.real, values, verdicts);
    assert_int_equal(verdicts[1], VERDICT_AGAIN);
    for (int i = 2; i < 5; i++)
        assert_int_equal(verdicts[i], VERDICT_OPEN);
    for (uint64_t i = 0; i < PROPOSALS; i++) {
        const uint64_t place = (uint64_t)((random_u128)words[3 * i + 1] * p.real.w >> 64);
        const int left = (int)(words[3 * i] >> 63);
        const struct exact_real v = {&source, 3 * i, 0, 0, 63, words[3 * i] << 1 >> 1};
        const struct exact_real u = {&source, 3 * i + 2, 0, 0, 64, words[3 * i + 2]};
        certain[verdicts[i]]++;
        if (verdicts[i] > VERDICT_KEPT)
            continue;
        const uint64_t block = exact_poisson_block(&v), k = block * p.real.w + place;
        assert_true(values[i] == (left ? -1 - (int64_t)k : (int64_t)k));
        assert_int_equal(verdicts[i], exact_poisson_keeps(&u, mean, k, left, block > 1 ? block - 1 : 0));
    }
    exact_close(&p.source);
    exact_close(&source);
}

TEST(verdicts_are_those_of_exact_arithmetic)
{
    for (int k = 0; k < 4; k++) {
        int64_t certain[4] = {0};
        if (simd_choose(kinds[k]) < 0)
            continue;
        for (uint64_t mean = LEAST_MEAN; mean < MOST_MEAN; mean = mean * 5 + 3)
            check_verdicts(mean, kinds[k], certain);
        assert_true(certain[VERDICT_NO] > 500 && certain[VERDICT_KEPT] > 500);
        assert_true(certain[VERDICT_OPEN] * 12 < certain[VERDICT_KEPT]); /* of which most are made above */
    }
}

TEST(widths_are_the_least)
{
    for (uint64_t root = 128; root * root < MOST_MEAN; root += root / 50)
        for (uint64_t mean = root * root - 1; mean <= root * root + 1; mean++) {
            const uint64_t w = root_above(mean);
            assert_true(w * w > mean && (w - 1) * (w - 1) <= mean);
        }
}

/* A place that takes further words moves all that follows: they are read again one by one, until enough are kept. */
static void check_further_words(int64_t most)
{
    struct words_ahead ahead;
    struct poisson p;
    dpf_cursor cursor;
    int64_t expected[PROPOSALS + 1], got[PROPOSALS + 1];
    random_seek(stream, 3, 4, 5, &cursor);
    open_poisson(&p, &cursor, 1 << 20);
    const int64_t n = one_by_one(&p, 5, 100, most, expected);
    const uint64_t next = random_word(p.c);
    exact_close(&p.source);
    assert_true(n <= most);
    random_seek(stream, 3, 4, 5, &cursor);
    random_bits(&cursor, ahead.words, 5);
    ahead.begin = ahead.end = 0;
    open_poisson(&p, &cursor, 1 << 20);
    read_ahead(&ahead, &cursor, 300, 100);
    ahead.words[3 * 60 + 1] = 0; /* as if this one did; what is read again does not */
    assert_int_equal(propose(&p, &ahead, 5, 100, most, got), n);
    assert_memory_equal(got, expected, (size_t)n * sizeof(got[0]));
    unread(&ahead, p.c);
    assert_true(random_word(p.c) == next);
    exact_close(&p.source);
}

TEST(further_words_are_waited_for)
{
    for (int64_t most = 1; most <= 100; most++) /* before that place, and behind it */
        check_further_words(most);
}

FIXTURE(start, stop)
