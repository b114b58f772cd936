/* SPDX-License-Identifier: Apache-2.0 */
#include "base/exact_laws.h"

#include <stdlib.h>

#include "base/memory.h"

#define FIRST_PRECISION 128

static mpfr_prec_t precision_of(int n_words)
{
    return FIRST_PRECISION + 64 * (mpfr_prec_t)(n_words + 1);
}

/* An interval. */
struct range {
    mpfr_t low, high;
};

static void range_new(struct range *r, mpfr_prec_t precision)
{
    mpfr_inits2(precision, r->low, r->high, (mpfr_ptr)NULL);
}

static void range_free(struct range *r)
{
    mpfr_clears(r->low, r->high, (mpfr_ptr)NULL);
}

/* ---- discrete Laplace -------------------------------------------------------------------------- */

/* One end of the interval of y = -t (ln((1 + exp(-1/t)) / 2) + ln v); for the lower one v is high. */
static void laplace_end(mpfr_t y, const mpfr_t v, uint64_t t, int upper)
{
    const mpfr_rnd_t outward = upper ? MPFR_RNDU : MPFR_RNDD, inward = upper ? MPFR_RNDD : MPFR_RNDU;
    mpfr_t q, scale;
    mpfr_inits2(mpfr_get_prec(y), q, scale, (mpfr_ptr)NULL);
    mpfr_set_uj(scale, t, MPFR_RNDN); /* exact */
    mpfr_si_div(q, -1, scale, inward);
    mpfr_exp(q, q, inward);
    mpfr_add_ui(q, q, 1, inward);
    mpfr_div_2ui(q, q, 1, inward);
    mpfr_log(q, q, inward);
    mpfr_log(y, v, inward);
    mpfr_add(y, y, q, inward);
    mpfr_neg(y, y, outward);
    mpfr_mul(y, y, scale, outward);
    mpfr_clears(q, scale, (mpfr_ptr)NULL);
}

uint64_t exact_laplace(const struct exact_real *v, uint64_t t)
{
    for (int n = 0;; n++) {
        mpfr_t low, high, least, most;
        mpfr_inits2(precision_of(n), low, high, least, most, (mpfr_ptr)NULL);
        exact_bounds(v, n, low, high);
        laplace_end(least, high, t, 0);
        laplace_end(most, low, t, 1);
        mpfr_floor(least, least);
        mpfr_floor(most, most);
        const int decided = mpfr_sgn(least) >= 0 && mpfr_equal_p(least, most);
        const uint64_t k = decided ? mpfr_get_uj(least, MPFR_RNDN) : 0;
        mpfr_clears(low, high, least, most, (mpfr_ptr)NULL);
        mpfr_free_cache();
        if (decided)
            return k;
    }
}

/* ---- discrete Gaussian, small scale ------------------------------------------------------------ */

/* exp(-j^2 / (2 s^2)), one end. */
static void gaussian_weight(mpfr_t w, uint64_t j, uint64_t s, mpfr_rnd_t direction)
{
    mpfr_set_uj(w, j * j, MPFR_RNDN);
    mpfr_neg(w, w, MPFR_RNDN);
    mpfr_div_ui(w, w, (unsigned long)(2 * s * s), direction);
    mpfr_exp(w, w, direction);
}

/*
 * One end of Pr[|X| >= k] = 2 S_k / (1 + 2 S_1), where S_k is the sum of the weights from k on. The sum ends
 * where a weight at j >= s is below 2^-precision of the first one of S_k, after which weights fall by a
 * factor of exp(-1/s) at least: what is left out is below s + 1 times the last weight.
 */
static void gaussian_sum(mpfr_t sum, uint64_t k, uint64_t s, mpfr_rnd_t direction)
{
    mpfr_t w;
    mpfr_init2(w, mpfr_get_prec(sum));
    mpfr_set_ui(sum, 0, MPFR_RNDN);
    for (uint64_t j = k;; j++) {
        gaussian_weight(w, j, s, direction);
        mpfr_add(sum, sum, w, direction);
        if (j >= s && mpfr_get_exp(w) < mpfr_get_exp(sum) - mpfr_get_prec(sum))
            break;
    }
    if (direction == MPFR_RNDU) {
        mpfr_mul_ui(w, w, (unsigned long)(s + 1), MPFR_RNDU);
        mpfr_add(sum, sum, w, MPFR_RNDU);
    }
    mpfr_clear(w);
}

/* 2 S_k / (1 + 2 S_1) = 1 / (1/(2 S_k) + S_1/S_k): one end. */
static void gaussian_tail(mpfr_t p, uint64_t k, uint64_t s, int upper)
{
    const mpfr_rnd_t outward = upper ? MPFR_RNDU : MPFR_RNDD, inward = upper ? MPFR_RNDD : MPFR_RNDU;
    mpfr_t all;
    mpfr_init2(all, mpfr_get_prec(p));
    gaussian_sum(all, 1, s, inward);
    mpfr_mul_2ui(all, all, 1, inward);
    mpfr_add_ui(all, all, 1, inward);
    gaussian_sum(p, k, s, outward);
    mpfr_mul_2ui(p, p, 1, outward);
    mpfr_div(p, p, all, outward);
    mpfr_clear(all);
}

/* 1 if v < Pr[|X| >= k], 0 if it is at least that, -1 if these digits do not tell. */
static int is_beyond(const mpfr_t low, const mpfr_t high, uint64_t k, uint64_t s)
{
    mpfr_t p;
    mpfr_init2(p, mpfr_get_prec(low));
    gaussian_tail(p, k, s, 0);
    int beyond = mpfr_lessequal_p(high, p) ? 1 : -1;
    gaussian_tail(p, k, s, 1);
    if (mpfr_greaterequal_p(low, p))
        beyond = 0;
    mpfr_clear(p);
    return beyond;
}

uint64_t exact_gaussian_inverse(const struct exact_real *v, uint64_t s, uint64_t guess)
{
    uint64_t k = guess;
    for (int n = 0;; n++) {
        mpfr_t low, high;
        mpfr_inits2(precision_of(n), low, high, (mpfr_ptr)NULL);
        exact_bounds(v, n, low, high);
        int above, here = 1;
        while ((above = is_beyond(low, high, k + 1, s)) == 1)
            k++;
        while (above == 0 && k > 0 && (here = is_beyond(low, high, k, s)) == 0)
            k--;
        mpfr_clears(low, high, (mpfr_ptr)NULL);
        mpfr_free_cache();
        if (above == 0 && (k == 0 || here == 1))
            return k;
    }
}

/* Sums of weights from the last that counts down to k = 1: low and high of S_k in sums[k - 1], for k <= n. */
static void tail_sums(uint64_t s, int n, struct range *sums, mpfr_prec_t precision)
{
    struct range sum, w;
    range_new(&sum, precision);
    range_new(&w, precision);
    uint64_t last = s;
    do {
        last++;
        gaussian_weight(w.high, last, s, MPFR_RNDU);
    } while (mpfr_get_exp(w.high) > -2 * precision || last < (uint64_t)n);
    mpfr_set_ui(sum.low, 0, MPFR_RNDN);
    mpfr_mul_ui(sum.high, w.high, (unsigned long)(s + 1), MPFR_RNDU); /* as in gaussian_sum */
    for (uint64_t k = last; k > 0; k--) {
        gaussian_weight(w.low, k, s, MPFR_RNDD);
        gaussian_weight(w.high, k, s, MPFR_RNDU);
        mpfr_add(sum.low, sum.low, w.low, MPFR_RNDD);
        mpfr_add(sum.high, sum.high, w.high, MPFR_RNDU);
        if (k <= (uint64_t)n) {
            mpfr_set(sums[k - 1].low, sum.low, MPFR_RNDD);
            mpfr_set(sums[k - 1].high, sum.high, MPFR_RNDU);
        }
    }
    range_free(&sum);
    range_free(&w);
}

/* floor(2^63 2 S_k / (1 + 2 S_1)); returns -1 if the ends differ. */
static int tail_head(const struct range *sum, const struct range *first, uint64_t *head)
{
    struct range p, all;
    range_new(&p, mpfr_get_prec(sum->low));
    range_new(&all, mpfr_get_prec(sum->low));
    mpfr_mul_2ui(all.low, first->low, 1, MPFR_RNDD);
    mpfr_mul_2ui(all.high, first->high, 1, MPFR_RNDU);
    mpfr_add_ui(all.low, all.low, 1, MPFR_RNDD);
    mpfr_add_ui(all.high, all.high, 1, MPFR_RNDU);
    mpfr_div(p.low, sum->low, all.high, MPFR_RNDD);
    mpfr_div(p.high, sum->high, all.low, MPFR_RNDU);
    mpfr_mul_2ui(p.low, p.low, 64, MPFR_RNDD); /* 2^63 and the 2 of 2 S_k */
    mpfr_mul_2ui(p.high, p.high, 64, MPFR_RNDU);
    mpfr_floor(p.low, p.low);
    mpfr_floor(p.high, p.high);
    const int decided = mpfr_equal_p(p.low, p.high);
    *head = mpfr_get_uj(p.low, MPFR_RNDN);
    range_free(&p);
    range_free(&all);
    return decided ? 0 : -1;
}

int exact_gaussian_table(uint64_t s, uint64_t *heads, int n)
{
    struct range *sums = memory_new((size_t)n, sizeof *sums);
    if (!sums)
        return -1;
    mpfr_prec_t precision = 2 * FIRST_PRECISION;
    for (int decided = 0; !decided; precision *= 2) {
        for (int k = 0; k < n; k++)
            range_new(&sums[k], precision);
        tail_sums(s, n, sums, precision);
        decided = 1;
        for (int k = 0; k < n; k++)
            decided &= tail_head(&sums[k], &sums[0], &heads[k]) == 0;
        for (int k = 0; k < n; k++)
            range_free(&sums[k]);
    }
    mpfr_free_cache();
    free(sums);
    return 0;
}

/* ---- discrete Gaussian by rejection ------------------------------------------------------------ */

/* -ln u. */
static void range_exponential(const struct exact_real *u, int n, struct range *out)
{
    struct range bounds;
    range_new(&bounds, mpfr_get_prec(out->low));
    exact_bounds(u, n, bounds.low, bounds.high);
    mpfr_log(out->low, bounds.high, MPFR_RNDU);
    mpfr_neg(out->low, out->low, MPFR_RNDD);
    mpfr_log(out->high, bounds.low, MPFR_RNDD);
    mpfr_neg(out->high, out->high, MPFR_RNDU);
    range_free(&bounds);
}

/* Cosine or sine of 2 pi (u - 1/8): its slope is at most 1, so an end is no further than the angle moves. */
static void range_direction(const struct exact_real *u, int n, int sine, struct range *out)
{
    struct range angle;
    mpfr_t pi;
    mpfr_init2(pi, mpfr_get_prec(out->low));
    range_new(&angle, mpfr_get_prec(out->low));
    exact_bounds(u, n, angle.low, angle.high);
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_sub(angle.high, angle.high, angle.low, MPFR_RNDU);
    mpfr_mul_2ui(angle.high, angle.high, 3, MPFR_RNDU); /* 8 for 2 pi and for roundings: 2^-precision each */
    mpfr_sub_d(angle.low, angle.low, 0.125, MPFR_RNDN);
    mpfr_mul_2ui(angle.low, angle.low, 1, MPFR_RNDN);
    mpfr_mul(angle.low, angle.low, pi, MPFR_RNDN);
    (sine ? mpfr_sin : mpfr_cos)(angle.low, angle.low, MPFR_RNDN);
    mpfr_sub(out->low, angle.low, angle.high, MPFR_RNDD);
    mpfr_add(out->high, angle.low, angle.high, MPFR_RNDU);
    range_free(&angle);
    mpfr_clear(pi);
}

/* sqrt(s^2 + s/2) sqrt(2 e) c, e >= 0. */
static void range_position(const struct range *e, const struct range *c, uint64_t s, struct range *y)
{
    for (int end = 0; end < 2; end++) {
        const mpfr_rnd_t outward = end ? MPFR_RNDU : MPFR_RNDD;
        mpfr_ptr to = end ? y->high : y->low;
        mpfr_srcptr factor = end ? c->high : c->low;
        /* towards the outside: the larger radius where it makes the product larger in size */
        const int larger = end == (mpfr_sgn(factor) > 0);
        const mpfr_rnd_t inner = larger ? MPFR_RNDU : MPFR_RNDD;
        mpfr_mul_ui(to, larger ? e->high : e->low, (unsigned long)(2 * s + 1), inner);
        mpfr_mul_ui(to, to, (unsigned long)s, inner); /* 2 (s^2 + s/2) e */
        mpfr_sqrt(to, to, inner);
        mpfr_mul(to, to, factor, outward);
    }
}

void exact_gaussian_proposal(const struct exact_real *u1, const struct exact_real *u2, int sine, uint64_t s,
                             int64_t *k)
{
    for (int n = 0, decided = 0; !decided; n++) {
        struct range e, c, y;
        range_new(&e, precision_of(n));
        range_new(&c, precision_of(n));
        range_new(&y, precision_of(n));
        range_exponential(u1, n, &e);
        range_direction(u2, n, sine, &c);
        range_position(&e, &c, s, &y);
        mpfr_add_d(y.low, y.low, 0.5, MPFR_RNDD);
        mpfr_add_d(y.high, y.high, 0.5, MPFR_RNDU);
        mpfr_floor(y.low, y.low);
        mpfr_floor(y.high, y.high);
        decided = mpfr_number_p(y.high) && mpfr_equal_p(y.low, y.high);
        *k = decided ? mpfr_get_sj(y.low, MPFR_RNDN) : 0;
        range_free(&e);
        range_free(&c);
        range_free(&y);
    }
    mpfr_free_cache();
}

/* One end of 1 - exp(-D), D = 1/(4 s) + k^2/(2 s^2) - e c^2. */
static void refusal_end(mpfr_t p, const struct range *e, const struct range *c, uint64_t s, uint64_t k,
                        int upper)
{
    const mpfr_rnd_t outward = upper ? MPFR_RNDU : MPFR_RNDD, inward = upper ? MPFR_RNDD : MPFR_RNDU;
    mpfr_t square, x;
    mpfr_inits2(mpfr_get_prec(p), square, x, (mpfr_ptr)NULL);
    mpfr_srcptr least = mpfr_cmpabs(c->low, c->high) < 0 ? c->low : c->high;
    mpfr_srcptr most = least == c->low ? c->high : c->low;
    mpfr_sqr(square, upper ? least : most, inward);
    if (upper && mpfr_sgn(c->low) < 0 && mpfr_sgn(c->high) > 0)
        mpfr_set_ui(square, 0, MPFR_RNDN);
    mpfr_mul(square, square, upper ? e->low : e->high, inward);
    mpfr_set_uj(x, k, MPFR_RNDN);
    mpfr_div_ui(x, x, (unsigned long)s, outward);
    mpfr_sqr(x, x, outward);
    mpfr_div_2ui(x, x, 1, outward);
    mpfr_sub(x, x, square, outward);
    mpfr_set_ui(p, 1, MPFR_RNDN);
    mpfr_div_ui(p, p, (unsigned long)(4 * s), outward);
    mpfr_add(x, x, p, outward);
    mpfr_neg(x, x, inward);
    mpfr_expm1(x, x, inward);
    mpfr_neg(p, x, outward);
    mpfr_clears(square, x, (mpfr_ptr)NULL);
}

int exact_gaussian_keeps(const struct exact_real *u1, const struct exact_real *u2, int sine,
                         const struct exact_real *u3, uint64_t s, int64_t k)
{
    int kept = -1;
    for (int n = 1; kept < 0; n++) {
        struct range e, c, refused, u;
        range_new(&e, precision_of(n));
        range_new(&c, precision_of(n));
        range_new(&refused, precision_of(n));
        range_new(&u, precision_of(n));
        range_exponential(u1, n, &e);
        range_direction(u2, n, sine, &c);
        exact_bounds(u3, n, u.low, u.high);
        refusal_end(refused.low, &e, &c, s, (uint64_t)llabs(k), 0);
        refusal_end(refused.high, &e, &c, s, (uint64_t)llabs(k), 1);
        if (mpfr_greaterequal_p(u.low, refused.high))
            kept = 1;
        else if (mpfr_lessequal_p(u.high, refused.low))
            kept = 0;
        range_free(&e);
        range_free(&c);
        range_free(&refused);
        range_free(&u);
    }
    mpfr_free_cache();
    return kept;
}

/* ---- Poisson ----------------------------------------------------------------------------------- */

/* Adds one end of 2 - ln(2 e - 1). */
static void add_block_offset(mpfr_t to, mpfr_rnd_t outward, mpfr_rnd_t inward)
{
    mpfr_t x;
    mpfr_init2(x, mpfr_get_prec(to));
    mpfr_set_ui(x, 1, MPFR_RNDN);
    mpfr_exp(x, x, inward);
    mpfr_mul_2ui(x, x, 1, inward);
    mpfr_sub_ui(x, x, 1, inward);
    mpfr_log(x, x, inward);
    mpfr_ui_sub(x, 2, x, outward);
    mpfr_add(to, to, x, outward);
    mpfr_clear(x);
}

uint64_t exact_poisson_block(const struct exact_real *v)
{
    for (int n = 0;; n++) {
        struct range e;
        range_new(&e, precision_of(n));
        range_exponential(v, n, &e);
        add_block_offset(e.low, MPFR_RNDD, MPFR_RNDU);
        add_block_offset(e.high, MPFR_RNDU, MPFR_RNDD);
        mpfr_floor(e.low, e.low);
        mpfr_floor(e.high, e.high);
        const int decided = mpfr_number_p(e.high) && mpfr_equal_p(e.low, e.high);
        const uint64_t j = decided ? mpfr_get_uj(e.low, MPFR_RNDN) : 0;
        range_free(&e);
        mpfr_free_cache();
        if (decided)
            return j;
    }
}

/* ln (n - 1)!, one end. */
static void log_factorial(mpfr_t out, uint64_t n, mpfr_rnd_t direction)
{
    mpfr_set_uj(out, n, MPFR_RNDN); /* exact */
    mpfr_lngamma(out, out, direction);
}

/*
 * One end of e^paid mass: ln mass is ln m! + k ln m - ln (m + k)! on the right, ln (m - 1)! - k ln m - ln (m
 * - 1 - k)! on the left.
 */
static void poisson_end(mpfr_t p, uint64_t mean, uint64_t k, int left, uint64_t paid, int upper)
{
    const mpfr_rnd_t outward = upper ? MPFR_RNDU : MPFR_RNDD, inward = upper ? MPFR_RNDD : MPFR_RNDU;
    mpfr_t x, times;
    mpfr_inits2(mpfr_get_prec(p), x, times, (mpfr_ptr)NULL);
    log_factorial(p, left ? mean : mean + 1, outward);
    log_factorial(x, left ? mean - k : mean + k + 1, inward);
    mpfr_sub(p, p, x, outward);
    mpfr_set_uj(x, mean, MPFR_RNDN);
    mpfr_log(x, x, left ? inward : outward);
    mpfr_set_uj(times, k, MPFR_RNDN);
    mpfr_mul(x, x, times, left ? inward : outward);
    (left ? mpfr_sub : mpfr_add)(p, p, x, outward);
    mpfr_add_ui(p, p, (unsigned long)paid, outward);
    mpfr_exp(p, p, outward);
    mpfr_clears(x, times, (mpfr_ptr)NULL);
}

int exact_poisson_keeps(const struct exact_real *u, uint64_t mean, uint64_t k, int left, uint64_t paid)
{
    int kept = -1;
    for (int n = 0; kept < 0; n++) {
        struct range p, bounds;
        range_new(&p, precision_of(n));
        range_new(&bounds, precision_of(n));
        exact_bounds(u, n, bounds.low, bounds.high);
        poisson_end(p.low, mean, k, left, paid, 0);
        poisson_end(p.high, mean, k, left, paid, 1);
        if (mpfr_lessequal_p(bounds.high, p.low))
            kept = 1;
        else if (mpfr_greaterequal_p(bounds.low, p.high))
            kept = 0;
        range_free(&p);
        range_free(&bounds);
    }
    mpfr_free_cache();
    return kept;
}
