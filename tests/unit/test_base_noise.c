/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact noise: what is found fast is what the definition says, cell by cell; and the definition is checked by
 * a reference that knows neither, and looks at one binary digit after another.
 */
#include "base/noise_discrete.c"
#include "kit/test.h"

#include <string.h>

static dpf_stream *stream;

static int start(void **state)
{
    (void)state;
    struct dpf_error error = {0};
    struct random_root *root = random_root_seeded(77, "noise", &error);
    stream = root ? random_stream_open(root, "noise", "test", &error) : NULL;
    random_root_free(root);
    choose_kernels();
    return stream ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    random_stream_free(stream);
    return 0;
}

static void read_words(uint32_t row, uint64_t *words, int64_t n)
{
    dpf_cursor cursor;
    random_seek(stream, 0, 0, row, &cursor);
    random_bits(&cursor, words, n);
}

static struct exact_source source_at(uint32_t row)
{
    return (struct exact_source){.stream = stream, .row = row};
}

/* ---- the reference: one digit after another ---------------------------------------------------- */

/* Pr[|X| >= k], k >= 1, from a sum or a power in 400 digits, unlike the intervals of exact_laws.c. */
static void reference_tail(mpfr_t p, int gaussian, uint64_t scale, uint64_t k)
{
    mpfr_t all, w;
    mpfr_inits2(400, all, w, (mpfr_ptr)NULL);
    mpfr_set_ui(p, 0, MPFR_RNDN);
    mpfr_set_ui(all, 0, MPFR_RNDN);
    if (gaussian) {
        for (uint64_t j = 0; j < 25 * scale + k; j++) {
            mpfr_set_d(w, -(double)(j * j), MPFR_RNDN);
            mpfr_div_ui(w, w, (unsigned long)(2 * scale * scale), MPFR_RNDN);
            mpfr_exp(w, w, MPFR_RNDN);
            mpfr_mul_ui(w, w, j ? 2 : 1, MPFR_RNDN);
            mpfr_add(all, all, w, MPFR_RNDN);
            if (j >= k)
                mpfr_add(p, p, w, MPFR_RNDN);
        }
        mpfr_div(p, p, all, MPFR_RNDN);
    } else { /* 2 q^k / (1 + q) */
        mpfr_set_d(w, -1, MPFR_RNDN);
        mpfr_div_d(w, w, (double)scale, MPFR_RNDN);
        mpfr_exp(all, w, MPFR_RNDN);
        mpfr_add_ui(all, all, 1, MPFR_RNDN);
        mpfr_mul_ui(w, w, (unsigned long)k, MPFR_RNDN);
        mpfr_exp(p, w, MPFR_RNDN);
        mpfr_mul_ui(p, p, 2, MPFR_RNDN);
        mpfr_div(p, p, all, MPFR_RNDN);
    }
    mpfr_clears(all, w, (mpfr_ptr)NULL);
}

/* The digit of weight 2^-(i + 1). */
static int reference_digit(const struct exact_real *v, int i)
{
    if (i < v->n_bits)
        return (int)(v->head >> (v->n_bits - 1 - i) & 1);
    const int behind = i - v->n_bits;
    return (int)(exact_word(v, behind / 64 + 1) >> (63 - behind % 64) & 1);
}

/* Whether v < Pr[|X| >= k]: the first digit in which they differ decides. */
static int reference_beyond(const struct exact_real *v, int gaussian, uint64_t scale, uint64_t k)
{
    mpfr_t p;
    mpfr_init2(p, 400);
    reference_tail(p, gaussian, scale, k);
    int answer = -1;
    for (int i = 0; answer < 0; i++) {
        assert_true(i < 300);
        mpfr_mul_2ui(p, p, 1, MPFR_RNDN);
        const int digit = mpfr_cmp_ui(p, 1) >= 0;
        if (digit)
            mpfr_sub_ui(p, p, 1, MPFR_RNDN);
        if (digit != reference_digit(v, i))
            answer = digit;
    }
    mpfr_clear(p);
    return answer;
}

/* The result is right if v lies between its two tails. */
static void assert_inverse(const struct exact_real *v, int gaussian, uint64_t scale, int64_t drawn)
{
    const uint64_t k = (uint64_t)llabs(drawn);
    assert_false(reference_beyond(v, gaussian, scale, k + 1));
    assert_true(k == 0 || reference_beyond(v, gaussian, scale, k));
}

/* Words for which the first digits do not decide, or nearly: v next to each tail, and the ends of the range.
 */
static int64_t hard_words(int gaussian, uint64_t scale, uint64_t *words, int64_t most)
{
    int64_t n = 0;
    mpfr_t p;
    mpfr_init2(p, 400);
    words[n++] = 0;
    words[n++] = UINT64_C(1) << 63;
    words[n++] = UINT64_MAX;
    words[n++] = UINT64_MAX >> 1;
    for (uint64_t i = 0; n + 3 <= most; i++) {
        const uint64_t k = i < 12 ? i + 1 : scale * (i - 11) / 2 + 1;
        reference_tail(p, gaussian, scale, k);
        mpfr_mul_2ui(p, p, 63, MPFR_RNDN);
        const uint64_t head = mpfr_get_uj(p, MPFR_RNDD);
        for (uint64_t step = 0; step < 3; step++)
            words[n++] = (head + step - 1) & (UINT64_MAX >> 1);
    }
    mpfr_clear(p);
    return n;
}

TEST(inverses_are_those_of_the_reference)
{
    static const struct {
        int gaussian;
        uint64_t scale;
    } laws[] = {
        {0, 1}, {0, 2}, {0, 7}, {0, 1000}, {0, 1 << 20},    {0, UINT64_C(1) << 36}, {0, MAX_LAPLACE_SCALE},
        {1, 1}, {1, 2}, {1, 5}, {1, 17},   {1, TABLE_SCALE}};
    enum { HARD = 90, N = 180 };
    uint64_t words[N];
    int64_t drawn[N];
    for (size_t l = 0; l < sizeof(laws) / sizeof(laws[0]); l++) {
        const uint32_t row = (uint32_t)l;
        const int64_t n_hard = hard_words(laws[l].gaussian, laws[l].scale, words, HARD);
        read_words(row, words + n_hard, N - n_hard);
        struct exact_source source = source_at(row);
        if (laws[l].gaussian)
            table_cells(table_of(laws[l].scale), words, N, laws[l].scale, &source, 0, drawn);
        else
            laplace_cells(words, N, laws[l].scale, laplace_offset((double)laws[l].scale), &source, 0, drawn);
        const int64_t looked_at = laws[l].gaussian && laws[l].scale > 20 ? 24 : N; /* its sums are long */
        for (int64_t i = 0; i < looked_at; i++) {
            const struct exact_real v = {&source, (uint64_t)i, 0, 0, 63, words[i] << 1 >> 1};
            assert_inverse(&v, laws[l].gaussian, laws[l].scale, drawn[i]);
            assert_true(drawn[i] == 0 || (drawn[i] < 0) == (words[i] >> 63 == 1));
        }
        assert_true(source.opened); /* some had to be refined */
        exact_close(&source);
    }
}

/* What a second look in long double calls certain is what intervals say, also where words are next to a tail. */
TEST(certain_in_long_double_is_certain)
{
    static const uint64_t scales[] = {1000, UINT64_C(1) << 36, MAX_LAPLACE_SCALE};
    enum { HARD = 90, N = 1000 };
    uint64_t words[N], k;
    if (!long_digits)
        skip();
    for (size_t s = 0; s < sizeof(scales) / sizeof(scales[0]); s++) {
        const int64_t n_hard = hard_words(0, scales[s], words, HARD);
        int64_t certain = 0, unsure = 0;
        read_words((uint32_t)s, words + n_hard, N - n_hard);
        struct exact_source source = source_at((uint32_t)s);
        for (int64_t i = 0; i < N; i++) {
            const struct exact_real v = {&source, (uint64_t)i, 0, 0, 63, words[i] << 1 >> 1};
            if (laplace_in_long(words[i], scales[s], &k)) {
                assert_int_equal(k, exact_laplace(&v, scales[s]));
                certain += i >= n_hard;
            }
            unsure += i < n_hard && !laplace_in_long(words[i], scales[s], &k);
        }
        assert_true(certain >= N - n_hard - 2);
        assert_true(unsure >= n_hard / 3); /* the word that has the tail at least */
        exact_close(&source);
    }
}

/* ---- rejection --------------------------------------------------------------------------------- */

/* The definition alone: no word is looked at but by exact_laws.c. */
static int64_t defined_cell(const uint64_t pair[2], struct exact_source *source, uint64_t cell, uint64_t s,
                            int *attempts)
{
    const int sine = (int)(cell & 1);
    const uint64_t even = cell & ~UINT64_C(1);
    struct exact_real u[3] = {{source, even, 0, 0, 64, pair[0]},
                              {source, even, 0, 1, 44, pair[1] >> 20},
                              {source, cell, 0, 2, 10, (sine ? pair[1] : pair[1] >> 10) & 1023}};
    for (uint64_t n = 1;; n++) {
        int64_t k;
        ++*attempts;
        exact_gaussian_proposal(&u[0], &u[1], n == 1 ? sine : 0, s, &k);
        if (exact_gaussian_keeps(&u[0], &u[1], n == 1 ? sine : 0, &u[2], s, k))
            return k;
        uint64_t heads[EXACT_REALS];
        exact_heads(source, cell, n, heads);
        for (int i = 0; i < 3; i++)
            u[i] = (struct exact_real){source, cell, n, i, 64, heads[i]};
    }
}

TEST(rejection_is_that_of_the_definition)
{
    static const uint64_t scales[] = {1, 3, 65, 1000, 1 << 20, MAX_GAUSSIAN_SCALE};
    enum { N = 256 };
    uint64_t words[N];
    int64_t drawn[N];
    for (size_t k = 0; k < sizeof(scales) / sizeof(scales[0]); k++) {
        const uint32_t row = 100 + (uint32_t)k;
        read_words(row, words, N);
        /* Radii that are not known, tiny or huge; directions at the corners; u3 too small to tell. */
        static const uint64_t first[] = {
            0, 1, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 39, ~(UINT64_C(1) << 43)};
        static const uint64_t second[] = {0, UINT64_MAX, UINT64_C(1) << 62, (UINT64_C(1) << 63) - 1, 1 << 20};
        for (int i = 0; i < 30; i++) {
            words[2 * i] = first[i % 6];
            words[2 * i + 1] = second[i % 5];
        }
        for (int i = 60; i < 100; i += 2)
            words[i + 1] &= ~UINT64_C(0xfffff);
        struct exact_source source = source_at(row);
        const struct gaussian_scale g = scale_of(scales[k]);
        gaussian_cells(words, N, &g, &source, 0, drawn);
        int attempts = 0;
        for (int64_t i = 0; i < N; i++)
            assert_int_equal(drawn[i],
                             defined_cell(words + i / 2 * 2, &source, (uint64_t)i, scales[k], &attempts));
        assert_true(scales[k] > 3 || attempts > N + N / 10);
        exact_close(&source);
    }
}

/* ---- processors, rows and ends ----------------------------------------------------------------- */

TEST(every_processor_finds_the_same)
{
    enum { N = CHUNK };
    uint64_t words[N], open[2][N];
    int64_t drawn[2][N];
    const struct gaussian_scale g = scale_of(1 << 20);
    for (uint32_t row = 0; row < 200; row++) {
        read_words(row, words, N);
        for (int kind = SIMD_KIND_AVX512; kind <= SIMD_KIND_PORTABLE; kind++) {
            if (simd_choose(kind) < 0)
                continue;
            const struct discrete_kernels one = kernels_of(SIMD_KIND_PORTABLE), k = kernels_of(kind);
            for (int law = 0; law < 2; law++) {
                for (int64_t i = 0; i < N; i += 2) /* no vectors */
                    if (law)
                        one.gaussian(words + i, 1, &g, drawn[0] + i, open[0] + i);
                    else
                        for (int64_t j = i; j < i + 2; j++)
                            one.laplace(words + j, 1, 1e9, 0.5, drawn[0] + j, open[0] + j);
                if (law)
                    k.gaussian(words, N / 2, &g, drawn[1], open[1]);
                else
                    k.laplace(words, N, 1e9, 0.5, drawn[1], open[1]);
                assert_memory_equal(drawn[0], drawn[1], sizeof(drawn[0]));
                assert_memory_equal(open[0], open[1], sizeof(open[0]));
            }
        }
    }
}

/* A cell that overruns its words reads from its own overflow: neither its neighbours nor the next row move.
 */
TEST(an_overrun_stays_with_its_cell)
{
    enum { N = 64 };
    uint64_t words[N];
    int64_t before[N], after[N];
    const struct gaussian_scale g = scale_of(65);
    struct exact_source source = source_at(7);
    read_words(7, words, N);
    gaussian_cells(words, N, &g, &source, 0, before);
    for (int64_t cell = 0; cell < N; cell++) { /* refused: it goes on with further attempts */
        uint64_t changed[N];
        memcpy(changed, words, sizeof(words));
        changed[cell | 1] &= ~(UINT64_C(1023) << (cell & 1 ? 0 : 10));
        gaussian_cells(changed, N, &g, &source, 0, after);
        for (int64_t i = 0; i < N; i++)
            assert_true(i == cell || after[i] == before[i]);
    }
    uint64_t heads[2][EXACT_REALS];
    for (uint64_t cell = 0; cell < 40; cell++)
        for (uint64_t n = 1; n < 5; n++)
            for (uint64_t other = 0; other < 40; other++)
                for (uint64_t m = 1; m < 5 && (other != cell || m != n); m++) {
                    exact_heads(&source, cell, n, heads[0]);
                    exact_heads(&source, other, m, heads[1]);
                    assert_true(heads[0][0] != heads[1][0]);
                }
    struct exact_source next = source_at(8);
    exact_heads(&source, 3, 1, heads[0]);
    exact_heads(&next, 3, 1, heads[1]);
    assert_true(heads[0][0] != heads[1][0]);
    exact_close(&source);
    exact_close(&next);
}

/* Reading in one call or in several is the same, where pairs are not cut. */
TEST(pieces_of_a_sequence_are_the_same)
{
    enum { N = 1000 };
    static const uint64_t scales[] = {3, 100, 1 << 20};
    int64_t all[N], pieces[N];
    for (int law = 0; law < 2; law++)
        for (int k = 0; k < 3; k++)
            for (int64_t piece = 2; piece < N; piece = piece * 3 / 2 / 2 * 2 + 2) {
                dpf_status (*sampler)(dpf_cursor *, uint64_t, int64_t *, int64_t) =
                    law ? random_discrete_gaussian : random_discrete_laplace;
                dpf_cursor cursor;
                random_seek(stream, 9, 9, 9, &cursor);
                assert_int_equal(sampler(&cursor, scales[k], all, N), DPF_OK);
                random_seek(stream, 9, 9, 9, &cursor);
                for (int64_t i = 0; i < N; i += piece)
                    assert_int_equal(sampler(&cursor, scales[k], pieces + i, N - i < piece ? N - i : piece),
                                     DPF_OK);
                assert_memory_equal(all, pieces, sizeof(all));
            }
}

FIXTURE(start, stop)
