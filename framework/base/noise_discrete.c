/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_discrete.c - exact discrete Laplace and discrete Gaussian noise.
 *
 * A cell has one 64-bit word, the first digits of its uniform reals; further digits have fixed places
 * (exact_cell.h). What a cell becomes is a function of these reals, decided without error by exact_laws.c.
 * Here the same is found from the first digits in double precision, in vectors, wherever the error, bounded
 * below, cannot matter; the other cells are "open" and go there. So the arithmetic of a processor decides how
 * long a draw takes and never what it is.
 *
 * Discrete Laplace, Pr[x] proportional to q^|x|, q = exp(-1/t). Pr[X >= k] = Pr[X <= -k] = q^k / (1 + q) for
 * k >= 1. Let the sign be a fair coin and v uniform, and |X| the number of k >= 1 with v < 2 q^k / (1 + q):
 * that has half of these probabilities on each side, and what is left, (1 - q)/(1 + q), at 0 of either sign.
 * Taking logarithms, it is floor(y), y = -t ln v + d, d = t ln(2/(1 + q)).
 *
 *   Error: v is known within a part 1/(2 w + 1) <= 2^-e and rounded by 2^-53, which moves ln v by as much;
 * the logarithm is right within 2^-51 of itself, and t |ln v| <= y; the product and the difference add 2^-52
 * of y. d, of the library's expm1 and log1p, lies in [1/3, 1/2] and would be allowed an error of 2^-40, some
 * 2^12 units. For large scales that error reaches an integer once in some thousand cells. They are looked at again in long double,
 * where it has 64 digits or more: v is 2 w + 1 units then, without rounding; for w >= 2^39 its error moves ln v by less than
 * 1.01/(2 w + 1); the logarithm is right within 2^-58 of itself, where libraries state 2^-63; and d within 2^-40.
 *
 * Discrete Gaussian, s <= 64: as above, |X| is the number of k >= 1 with v < Pr[|X| >= k], found in a table
 * of these probabilities' first 63 digits. Where v agrees with one of them in all 63, the cell is open; as it
 * is where v is 0, so nothing is cut off.
 *
 * Discrete Gaussian, s > 64: rejection. Let y be normal of variance s^2 + s/2, k the integer nearest to it,
 * and keep k with probability exp(-D), D = 1/(4 s) + k^2/(2 s^2) - y^2/(2 s^2 + s). D >= 0: with A = 1/(2 s^2
 * + s), B = 1/(2 s^2) and |y| <= |k| + 1/2, y^2 A - k^2 B <= A B / (4 (B - A)) = 1/(4 s). The density of y
 * times exp(-D) is exp(-1/(4 s)) exp(-k^2/(2 s^2)), constant over the interval of k, whose length is 1: so k
 * is kept with a probability proportional to exp(-k^2/(2 s^2)), for every k. A pair of words gives the two
 * independent normal numbers of Box and Muller: 64 digits of u1 for the radius sqrt(-2 ln u1), 44 of u2 for
 * the direction, and 10 of u3 for each of the two. It is kept if u3 >= 1 - exp(-D), certainly if u3 >= D; D
 * is about 1/(2 s). A cell that is rejected goes on with attempts of its own.
 *
 *   Error of y / sqrt(s^2 + s/2), at most 9.42 in size: of u2's digits 9.42 pi 2^-44 < 2^-39; u1 and its
 * logarithm, where the word is at least 2^40 and -ln u1 at least 2^-20, move the radius by less than 2^-42;
 * roundings add less than 2^-46. 2^-38 is allowed. Error of D: k^2/(2 s^2) and -ln u1 cos^2 are below 46 and
 * right within 2^-35; 2^-30 is allowed.
 */
#include "base/random.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/exact_laws.h"
#include "base/memory.h"
#include "base/real_math.h"

#define MAX_LAPLACE_SCALE (UINT64_C(1) << 42)
#define MAX_GAUSSIAN_SCALE (UINT64_C(1) << 24)
#define TABLE_SCALE 64 /* the largest with a table */
#define CHUNK 256      /* cells; even */

#define GAUSSIAN_LEAST_WORD (UINT64_C(1) << 40)
#define GAUSSIAN_LEAST_EXPONENT 0x1p-20
#define GAUSSIAN_SLACK 0x1p-30

/* What is constant over a call. */
struct gaussian_scale {
    uint64_t s;
    double wide;    /* sqrt(s^2 + s/2) */
    double error;   /* of y */
    double inverse; /* 1/s */
    double offset;  /* 1/(4 s) */
};

/* -ln u1, u1 = (w + 1/2) 2^-64. */
REAL_INLINE double gaussian_exponent(uint64_t w)
{
    return -real_log((real_of_word(w) + 0.5) * 0x1p-64);
}

/* Of the first 44 digits of u2. */
REAL_INLINE void gaussian_direction(uint64_t digits, double *x, double *y)
{
    const double fraction = real_of_bits((digits << 10 & REAL_FRACTION) | 512 | REAL_ONE);
    real_turn(digits >> 42, fraction - 1.5, x, y);
}

/* D. */
REAL_INLINE double gaussian_refusal(const struct gaussian_scale *g, double k, double exponent,
                                    double direction)
{
    const double z = k * g->inverse;
    return g->offset + (0.5 * (z * z) - exponent * (direction * direction));
}

/* Whether the integer k is certain to be the one nearest to y and to be kept by the ten digits of u. */
REAL_INLINE uint64_t gaussian_open(const struct gaussian_scale *g, double y, double k, double exponent,
                                   double direction, uint64_t u)
{
    const double distance = y - k, size = distance < 0 ? -distance : distance;
    return (size > 0.5 - g->error) |
           (real_of_word(u) * 0x1p-10 < gaussian_refusal(g, k, exponent, direction) + GAUSSIAN_SLACK);
}

#define SIMD_TEMPLATE "base/noise_discrete_loops.h"
#include "simd/each_kind.h"

struct discrete_kernels {
    void (*laplace)(const uint64_t *words, int64_t n, double t, double d, int64_t *out, uint64_t *open);
    void (*gaussian)(const uint64_t *words, int64_t n_pairs, const struct gaussian_scale *g, int64_t *out,
                     uint64_t *open);
};

static struct discrete_kernels kernels_of(int kind)
{
    return (struct discrete_kernels){SIMD_PICK(kind, make_laplace_cells),
                                     SIMD_PICK(kind, make_gaussian_cells)};
}

static struct discrete_kernels kernels;
static int long_digits;
static pthread_once_t kernels_once = PTHREAD_ONCE_INIT;

/* Not where a long double is a double, nor where something (valgrind) computes it as one. */
static int has_long_digits(void)
{
    const volatile long double one = 1, least = 0x1p-63L;
    const volatile long double sum = one + least;
    return sum - one == least;
}

static void choose_kernels(void)
{
    long_digits = has_long_digits();
    kernels = kernels_of(simd_choose(SIMD_KIND_AUTO));
}

/* ---- discrete Laplace -------------------------------------------------------------------------- */

/* t ln(2 / (1 + exp(-1/t))) */
static double laplace_offset(double t)
{
    return -t * log1p(0.5 * expm1(-1 / t));
}

static int64_t signed_by(uint64_t magnitude, uint64_t word)
{
    return word >> 63 ? -(int64_t)magnitude : (int64_t)magnitude;
}

#define LONG_LEAST (UINT64_C(1) << 40)

/* |X| of the lower 63 bits of a word, and whether that is certain. */
static int laplace_in_long(uint64_t word, uint64_t t, uint64_t *k)
{
    const uint64_t odd = word << 1 | 1;
    const long double scale = (long double)t, x = (long double)odd;
    const long double d = -scale * log1pl(0.5L * expm1l(-1 / scale)), y = d - scale * logl(x * 0x1p-64L);
    const long double error = y * 0x1p-57L + scale * (1.01L / x + 0x1p-62L) + 0x1p-40L;
    const long double low = floorl(y - error), high = floorl(y + error);
    *k = (uint64_t)low;
    return odd >= LONG_LEAST && low == high && low >= 0;
}

static __attribute__((noinline)) uint64_t laplace_again(uint64_t word, uint64_t t,
                                                        struct exact_source *source, uint64_t cell)
{
    uint64_t k;
    if (long_digits && laplace_in_long(word, t, &k))
        return k;
    const struct exact_real v = {source, cell, 0, 0, 63, word << 1 >> 1};
    return exact_laplace(&v, t);
}

/* Cells first_cell .. first_cell + n - 1 of the source, n <= CHUNK. */
static void laplace_cells(const uint64_t *words, int64_t n, uint64_t t, double d, struct exact_source *source,
                          uint64_t first_cell, int64_t *out)
{
    uint64_t open[CHUNK];
    kernels.laplace(words, n, (double)t, d, out, open);
    for (int64_t i = 0; i < n; i++)
        if (__builtin_expect(open[i] != 0, 0))
            out[i] = signed_by(laplace_again(words[i], t, source, first_cell + (uint64_t)i), words[i]);
}

/* ---- discrete Gaussian, small scale ------------------------------------------------------------ */

struct gaussian_table {
    int n;               /* tails */
    uint64_t *tails;     /* floor(2^63 Pr[|X| >= k]) for k = 1 .. n, of which the last is 0 */
    uint16_t guide[256]; /* how many k have v below their tail, whatever the digits of v after the first 8 */
};

static _Atomic(struct gaussian_table *) tables[TABLE_SCALE + 1]; /* live as long as the process */
static pthread_mutex_t tables_lock = PTHREAD_MUTEX_INITIALIZER;

static struct gaussian_table *make_table(uint64_t s)
{
    const int most = (int)(10 * s) + 10; /* exp(-50) is below 2^-63 */
    struct gaussian_table *table = memory_new(1, sizeof *table);
    uint64_t *tails = memory_new((size_t)most, sizeof *tails);
    if (!table || !tails || exact_gaussian_table(s, tails, most) != 0) {
        free(table);
        free(tails);
        return NULL;
    }
    table->tails = tails;
    while (tails[table->n] > 0)
        table->n++;
    table->n++;
    for (uint64_t b = 0; b < 256; b++) {
        int k = 0;
        while (tails[k] >= (b + 1) << 55)
            k++;
        table->guide[b] = (uint16_t)k;
    }
    return table;
}

static const struct gaussian_table *table_of(uint64_t s)
{
    struct gaussian_table *table = atomic_load_explicit(&tables[s], memory_order_acquire);
    if (table)
        return table;
    pthread_mutex_lock(&tables_lock);
    table = atomic_load_explicit(&tables[s], memory_order_relaxed);
    if (!table) {
        table = make_table(s);
        atomic_store_explicit(&tables[s], table, memory_order_release);
    }
    pthread_mutex_unlock(&tables_lock);
    return table;
}

static void table_cells(const struct gaussian_table *table, const uint64_t *words, int64_t n, uint64_t s,
                        struct exact_source *source, uint64_t first_cell, int64_t *out)
{
    for (int64_t i = 0; i < n; i++) {
        const uint64_t v = words[i] << 1 >> 1;
        uint64_t k = table->guide[v >> 55];
        while (v < table->tails[k]) /* the last is 0 */
            k++;
        if (__builtin_expect(v == table->tails[k], 0)) {
            const struct exact_real real = {source, first_cell + (uint64_t)i, 0, 0, 63, v};
            k = exact_gaussian_inverse(&real, s, k);
        }
        out[i] = signed_by(k, words[i]);
    }
}

/* ---- discrete Gaussian by rejection ------------------------------------------------------------ */

static struct gaussian_scale scale_of(uint64_t s)
{
    const double real = (double)s, wide = sqrt(real * real + 0.5 * real);
    return (struct gaussian_scale){
        .s = s, .wide = wide, .error = wide * 0x1p-38, .inverse = 1 / real, .offset = 0.25 / real};
}

/* One attempt of a cell, whose reals are these. Returns whether *k is kept. */
static int attempt(const struct gaussian_scale *g, const struct exact_real *u1, const struct exact_real *u2,
                   int sine, const struct exact_real *u3, int64_t *k)
{
    const double exponent = gaussian_exponent(u1->head);
    double c[2];
    gaussian_direction(u2->head >> (u2->n_bits - 44), &c[0], &c[1]);
    const double y = g->wide * sqrt(2 * exponent) * c[sine], nearest = real_nearest(y);
    const int unsure = u1->head < GAUSSIAN_LEAST_WORD || exponent < GAUSSIAN_LEAST_EXPONENT;
    if (unsure || fabs(y - nearest) > 0.5 - g->error)
        exact_gaussian_proposal(u1, u2, sine, g->s, k);
    else
        *k = real_integer(nearest);
    if (unsure)
        return exact_gaussian_keeps(u1, u2, sine, u3, g->s, *k);
    const double refused = -expm1(-gaussian_refusal(g, (double)*k, exponent, c[sine]));
    const double u = ldexp((double)u3->head + ldexp((double)exact_word(u3, 1), -64), -u3->n_bits);
    if (fabs(u - refused) > GAUSSIAN_SLACK)
        return u > refused;
    return exact_gaussian_keeps(u1, u2, sine, u3, g->s, *k);
}

/* An open cell, from its pair of words on. */
static __attribute__((noinline)) int64_t open_cell(const struct gaussian_scale *g, const uint64_t pair[2],
                                                   struct exact_source *source, uint64_t cell)
{
    const int sine = (int)(cell & 1);
    struct exact_real u1 = {source, cell - (uint64_t)sine, 0, 0, 64, pair[0]};
    struct exact_real u2 = {source, cell - (uint64_t)sine, 0, 1, 44, pair[1] >> 20};
    struct exact_real u3 = {source, cell, 0, 2, 10, pair[1] >> (sine ? 0 : 10) & 1023};
    int64_t k;
    if (attempt(g, &u1, &u2, sine, &u3, &k))
        return k;
    for (uint64_t n = 1;; n++) {
        uint64_t heads[EXACT_REALS];
        exact_heads(source, cell, n, heads);
        u1 = (struct exact_real){source, cell, n, 0, 64, heads[0]};
        u2 = (struct exact_real){source, cell, n, 1, 64, heads[1]};
        u3 = (struct exact_real){source, cell, n, 2, 64, heads[2]};
        if (attempt(g, &u1, &u2, 0, &u3, &k))
            return k;
    }
}

/* n and first_cell are even. */
static void gaussian_cells(const uint64_t *words, int64_t n, const struct gaussian_scale *g,
                           struct exact_source *source, uint64_t first_cell, int64_t *out)
{
    uint64_t open[CHUNK];
    kernels.gaussian(words, n / 2, g, out, open);
    for (int64_t i = 0; i < n; i++)
        if (__builtin_expect(open[i] != 0, 0))
            out[i] = open_cell(g, words + i / 2 * 2, source, first_cell + (uint64_t)i);
}

/* ---- reading a sequence ------------------------------------------------------------------------ */

dpf_status random_discrete_laplace(dpf_cursor *cursor, uint64_t t, int64_t *out, int64_t n)
{
    if (t < 1 || t > MAX_LAPLACE_SCALE)
        return DPF_E_RANGE;
    pthread_once(&kernels_once, choose_kernels);
    struct exact_source source = exact_source_of(random_cursor_of(cursor));
    const double d = laplace_offset((double)t);
    uint64_t words[CHUNK];
    for (int64_t i = 0; i < n; i += CHUNK) {
        const int64_t now = n - i < CHUNK ? n - i : CHUNK;
        const uint64_t cell = exact_next_cell(random_cursor_of(cursor));
        random_bits(cursor, words, now);
        laplace_cells(words, now, t, d, &source, cell, out + i);
    }
    exact_close(&source);
    return DPF_OK;
}

/* Pairs begin at even words: a word may be left out. */
static void rejected_sequence(dpf_cursor *cursor, const struct gaussian_scale *g, struct exact_source *source,
                              int64_t *out, int64_t n)
{
    uint64_t words[CHUNK];
    int64_t drawn[CHUNK];
    if (exact_next_cell(random_cursor_of(cursor)) & 1)
        random_bits(cursor, words, 1);
    for (int64_t i = 0; i < n; i += CHUNK) {
        const int64_t now = n - i < CHUNK ? n - i : CHUNK, even = now + (now & 1);
        const uint64_t cell = exact_next_cell(random_cursor_of(cursor));
        random_bits(cursor, words, even);
        gaussian_cells(words, even, g, source, cell, drawn);
        memcpy(out + i, drawn, (size_t)now * sizeof(*out));
    }
}

dpf_status random_discrete_gaussian(dpf_cursor *cursor, uint64_t s, int64_t *out, int64_t n)
{
    if (s < 1 || s > MAX_GAUSSIAN_SCALE)
        return DPF_E_RANGE;
    pthread_once(&kernels_once, choose_kernels);
    struct exact_source source = exact_source_of(random_cursor_of(cursor));
    if (s > TABLE_SCALE) {
        const struct gaussian_scale g = scale_of(s);
        rejected_sequence(cursor, &g, &source, out, n);
        exact_close(&source);
        return DPF_OK;
    }
    const struct gaussian_table *table = table_of(s);
    if (!table)
        return DPF_E_MEMORY;
    uint64_t words[CHUNK];
    for (int64_t i = 0; i < n; i += CHUNK) {
        const int64_t now = n - i < CHUNK ? n - i : CHUNK;
        const uint64_t cell = exact_next_cell(random_cursor_of(cursor));
        random_bits(cursor, words, now);
        table_cells(table, words, now, s, &source, cell, out + i);
    }
    exact_close(&source);
    return DPF_OK;
}
