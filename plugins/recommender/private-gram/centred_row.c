/* SPDX-License-Identifier: Apache-2.0 */
#include "centred_row.h"

#include <math.h>
#include <string.h>

#define STEPS_OF_TWO 16.0 /* levels between beta and 2 beta */
#define LARGEST_LEVEL 2.0 /* beta over 2^bits: L is 1/sqrt(t) at most, and q z at most 1 */
#define REFINEMENTS 6

/* ---- levels ----------------------------------------------------------------------------------------------
 */

static void count_number(struct row_sums *sums, int64_t y, int sign)
{
    const row_sum square = (row_sum)y * y;
    sums->squares += sign * square;
    sums->fourths += sign * square * square;
}

int row_centre_make(const dpf_call *call, int64_t m, int32_t bits, int32_t spared, double part,
                    const double *along, struct row_centre *out)
{
    *out = (struct row_centre){.m = m, .bits = bits, .spared = spared, .part = part, .along = along};
    if (!(part > 0.0))
        return 0;
    out->level = call->scratch(call, (uint64_t)(CENTRE_LEVELS * m + 1) * sizeof *out->level);
    if (!out->level)
        return -1;
    for (int32_t k = 0; k < CENTRE_LEVELS; k++) {
        out->beta[k] = ldexp(LARGEST_LEVEL, bits) * exp2(-k / STEPS_OF_TWO);
        for (int64_t i = 0; i < m; i++) {
            out->level[k * m + i] = -(int32_t)lround(out->beta[k] * along[i]);
            count_number(&out->sums[k], out->level[k * m + i], 1);
        }
    }
    for (int64_t i = 0; i < m; i++)
        out->fourths += along[i] * along[i] * along[i] * along[i];
    return 0;
}

/* The level nearest to beta; -1: it is below them all. */
static int32_t nearest_level(const struct row_centre *c, double beta)
{
    const double k = STEPS_OF_TWO * log2(ldexp(LARGEST_LEVEL, c->bits) / beta);
    return !(k <= CENTRE_LEVELS - 1) ? -1 : k > 0.5 ? (int32_t)lround(k) : 0;
}

/* ---- numbers ---------------------------------------------------------------------------------------------
 */

struct sums {
    double squares, fourths, slope; /* slope: of fourths / 4 in L */
};

/* Of L z - beta q over all columns. */
static struct sums sum_numbers(const struct row_centre *c, const int32_t *at, const double *z, int64_t n,
                               double length, double beta, double zq)
{
    struct sums s = {length * length - 2.0 * length * beta * zq + beta * beta,
                     beta * beta * beta * beta * c->fourths, 0.0};
    for (int64_t i = 0; i < n; i++) {
        const double off = beta > 0.0 ? beta * c->along[at[i]] : 0.0, y = length * z[i] - off;
        s.fourths += y * y * y * y - off * off * off * off;
        s.slope += z[i] * y * y * y;
    }
    return s;
}

/* L with the bound just met, beta fixed: Newton's steps on the left side, which rises in L. In units of 2^bits. */
static double find_length(const struct row_centre *c, const int32_t *at, const double *z, int64_t n,
                          double length, double beta, double zq)
{
    const double spared = c->spared / 100.0;
    for (int step = 0; step < REFINEMENTS; step++) {
        const struct sums s = sum_numbers(c, at, z, n, length, beta, zq);
        const double value = s.squares * s.squares - spared * s.fourths,
                     slope = 4.0 * (s.squares * (length - beta * zq) - spared * s.slope);
        if (!(slope > 0.0))
            break;
        length = fmin(fmax(length + (1.0 - value) / slope, 0.5 * length), 2.0 * length);
    }
    return length;
}

/* ---- integers --------------------------------------------------------------------------------------------
 */

/* Whether (sum y^2)^2 - (1 - t^2) sum y^4 > 2^(4 bits). */
static int exceeds(const struct row_centre *c, const struct row_sums *sums)
{
    const row_sum most = (row_sum)1 << 4 * c->bits;
    return 100 * sums->squares * sums->squares - c->spared * sums->fourths > 100 * most;
}

/* Over all columns. */
static struct row_sums sum_integers(const struct row_centre *c, const int32_t *at, const int32_t *row,
                                    int64_t n, int32_t level)
{
    const int32_t *others = row_centre_level(c, level);
    struct row_sums sums = {0, 0};
    if (others)
        sums = c->sums[level];
    for (int64_t i = 0; i < n; i++) {
        if (others)
            count_number(&sums, others[at[i]], -1);
        count_number(&sums, row[i], 1);
    }
    return sums;
}

/* Steps off the largest number of the user's own columns; when these are 0, a lower level. */
static int32_t enforce(const struct row_centre *c, const int32_t *at, int64_t n, int32_t level, int32_t *row)
{
    struct row_sums sums = sum_integers(c, at, row, n, level);
    while (exceeds(c, &sums)) {
        int64_t largest = 0;
        for (int64_t i = 1; i < n; i++)
            if ((row[i] < 0 ? -row[i] : row[i]) > (row[largest] < 0 ? -row[largest] : row[largest]))
                largest = i;
        if (n == 0 || row[largest] == 0) {
            level = level + 1 < CENTRE_LEVELS && level >= 0 ? level + 1 : -1;
            sums = sum_integers(c, at, row, n, level);
            continue;
        }
        count_number(&sums, row[largest], -1);
        row[largest] -= row[largest] < 0 ? -1 : 1;
        count_number(&sums, row[largest], 1);
    }
    return level;
}

/* An integer within the bound, for numbers that are none as well. */
static int32_t rounded(double x, int32_t bits)
{
    const double most = ldexp(2.0, bits);
    return x > -most && x < most ? (int32_t)lround(x)
           : x > 0.0             ? (int32_t)most
           : x < 0.0             ? -(int32_t)most
                                 : 0;
}

/* To norm 1; 0: there is none. */
static int normalise(double *values, int64_t n)
{
    double squares = 0.0;
    for (int64_t i = 0; i < n; i++)
        squares += values[i] * values[i];
    const double norm = sqrt(squares);
    for (int64_t i = 0; i < n; i++)
        values[i] = norm > 0.0 ? values[i] / norm : 0.0;
    return norm > 0.0;
}

int32_t row_centre_apply(const struct row_centre *c, const int32_t *at, double *values, int64_t n,
                         int32_t *out)
{
    const double unit = ldexp(1.0, c->bits), spared = c->spared / 100.0;
    const int some = normalise(values, n);
    double zq = 0.0, beta = 0.0;
    for (int64_t i = 0; i < n && c->part > 0.0; i++)
        zq += values[i] * c->along[at[i]];
    const struct sums one = sum_numbers(c, at, values, n, 1.0, c->part * zq, zq);
    const double value = one.squares * one.squares - spared * one.fourths;
    double length = some && value > 0.0 ? 1.0 / sqrt(sqrt(value)) : 0.0;
    const int32_t level = nearest_level(c, unit * length * c->part * zq);
    if (level >= 0) {
        beta = c->beta[level] / unit;
        length = find_length(c, at, values, n, length, beta, zq);
    }
    for (int64_t i = 0; i < n; i++)
        out[i] = rounded(unit * (length * values[i] - (level >= 0 ? beta * c->along[at[i]] : 0.0)), c->bits);
    return enforce(c, at, n, level, out);
}
