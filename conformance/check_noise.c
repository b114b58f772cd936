/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/check_noise.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "conformance/check_tools.h"

/* In standard errors. Of sums of squares the lower tail is the lighter one. */
#define POOLED 6.0
#define ONE_MEAN 6.5
#define ONE_BELOW 5.5
#define ONE_ABOVE 9.0
#define ONE_PAIR 8.0
#define VARIANCE_SLACK 0.02 /* laws are stated to this part of the variance */
#define MOST_PAIRED 800     /* numbers of which all pairs are looked at */

int check_noise_open(struct check *check, int64_t draws, int64_t room, struct noise_table *out)
{
    memset(out, 0, sizeof *out);
    out->draws = draws;
    out->room = room;
    out->z = check_keep(check, (size_t)(draws * room) * sizeof *out->z);
    return out->z ? 0 : -1;
}

/* A mean over draws with its standard error. */
struct estimate {
    double sum, square, n;
};

static void add(struct estimate *e, double x)
{
    e->sum += x;
    e->square += x * x;
    e->n += 1;
}

static double mean_of(const struct estimate *e)
{
    return e->n > 0 ? e->sum / e->n : 0;
}

static double error_of(const struct estimate *e)
{
    const double mean = mean_of(e);
    return e->n > 0 ? sqrt(fmax(e->square / e->n - mean * mean, 0) / e->n) : 0;
}

/* ---- a part as a whole -------------------------------------------------------------------------------- */

/* How much of the law lies beyond x standard deviations. */
static double beyond(enum noise_law law, double x)
{
    return law == LAW_LAPLACE ? exp(-sqrt(2.0) * x) : erfc(x / sqrt(2.0));
}

static const double tails[2] = {1.0, 3.0};

struct part_moments {
    struct estimate mean, variance, tail[2];
    double fourth;  /* moment */
    double numbers; /* of a draw */
};

static void measure(const struct noise_table *t, const struct noise_part *part, struct part_moments *out)
{
    double fourth = 0, all = 0;
    memset(out, 0, sizeof *out);
    for (int64_t d = 0; d < t->draws; d++) {
        const float *z = check_noise_row(t, d) + part->first;
        double n = 0, sum = 0, square = 0, far[2] = {0, 0};
        for (int64_t i = 0; i < part->n; i++) {
            const double x = (double)z[i];
            if (isnan(x))
                continue;
            n += 1;
            sum += x;
            square += x * x;
            fourth += x * x * x * x;
            for (int k = 0; k < 2; k++)
                far[k] += fabs(x) > tails[k];
        }
        if (n == 0)
            continue;
        all += n;
        add(&out->mean, sum / n);
        add(&out->variance, square / n);
        for (int k = 0; k < 2; k++)
            add(&out->tail[k], far[k] / n);
    }
    out->fourth = all > 0 ? fourth / all : 0;
    out->numbers = out->mean.n > 0 ? all / out->mean.n : 1;
}

static int judge_part(struct check *check, const struct noise_part *part, const struct part_moments *m,
                      const char *where)
{
    const double variance = mean_of(&m->variance);
    if (fabs(mean_of(&m->mean)) > POOLED * error_of(&m->mean) + part->bias)
        return check_fail(check,
                          "%s%s: the noise is %.4g standard deviations off on average (standard error %.2g)",
                          part->name, where, mean_of(&m->mean), error_of(&m->mean));
    if (fabs(variance - 1) >
        POOLED * error_of(&m->variance) + VARIANCE_SLACK + part->step * part->step + part->bias * part->bias)
        return check_fail(check, "%s%s: the noise has %.4g times the stated variance (standard error %.2g)",
                          part->name, where, variance, error_of(&m->variance));
    for (int k = 0; k < 2 && part->law != LAW_UNKNOWN; k++) {
        const double stated = beyond(part->law, tails[k]),
                     error = sqrt(stated / (m->tail[k].n * m->numbers)) + 1e-5,
                     slack = part->step + part->bias + VARIANCE_SLACK * stated;
        if (fabs(mean_of(&m->tail[k]) - stated) > POOLED * fmax(error_of(&m->tail[k]), error) + slack)
            return check_fail(
                check, "%s%s: %.4g of the noise lies beyond %g standard deviations, of the stated law %.4g",
                part->name, where, mean_of(&m->tail[k]), tails[k], stated);
    }
    return 0;
}

/* ---- each number by itself ----------------------------------------------------------------------------- */

static int judge_number(struct check *check, const struct noise_table *t, const struct noise_part *part,
                        int64_t i, double fourth, const char *where)
{
    double n = 0, sum = 0, square = 0;
    for (int64_t d = 0; d < t->draws; d++) {
        const double x = (double)check_noise_row(t, d)[part->first + i];
        if (isnan(x))
            continue;
        n += 1;
        sum += x;
        square += x * x;
    }
    if (n < 100)
        return 0;
    const double error = sqrt(fmax(fourth - 1, 0) / n), variance = square / n,
                 slack = VARIANCE_SLACK + part->step * part->step + part->bias * part->bias;
    if (variance < 1 - ONE_BELOW * error - slack || variance > 1 + ONE_ABOVE * error + slack)
        return check_fail(
            check, "%s%s: the noise of number %lld of row %lld has %.4g times the stated variance",
            part->name, where, (long long)(i % part->width), (long long)(i / part->width), variance);
    if (fabs(sum / n) > ONE_MEAN / sqrt(n) + part->bias)
        return check_fail(
            check, "%s%s: the noise of number %lld of row %lld is %.4g standard deviations off on average",
            part->name, where, (long long)(i % part->width), (long long)(i / part->width), sum / n);
    return 0;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

/* The sum of products of two rows over a draw, and how many there are. */
static double row_product(const float *x, const float *y, int64_t n, double *counted)
{
    double sum = 0;
    *counted = 0;
    for (int64_t i = 0; i < n; i++) {
        const double product = (double)x[i] * (double)y[i];
        sum += isnan(product) ? 0 : product;
        *counted += !isnan(product);
    }
    return sum;
}

/* Row r with itself: its variance; with another one: they share nothing. */
static int judge_two_rows(struct check *check, const struct noise_table *t, const struct noise_part *part,
                          int64_t r, int64_t s, const char *where)
{
    struct estimate products = {0, 0, 0};
    for (int64_t d = 0; d < t->draws; d++) {
        const float *z = check_noise_row(t, d) + part->first;
        double counted, sum = row_product(z + r * part->width, z + s * part->width, part->width, &counted);
        if (counted > 0)
            add(&products, sum / counted);
    }
    const double seen = mean_of(&products), slack = part->bias * part->bias + part->step * part->step;
    if (products.n < 100)
        return 0;
    if (r == s && fabs(seen - 1) > ONE_ABOVE * error_of(&products) + VARIANCE_SLACK + slack)
        return check_fail(
            check, "%s%s: the noise of row %lld has %.4g times the stated variance (standard error %.2g)",
            part->name, where, (long long)r, seen, error_of(&products));
    if (r != s && fabs(seen) > ONE_PAIR * error_of(&products) + slack)
        return check_fail(
            check,
            "%s%s: the noise of rows %lld and %lld correlates by %.3g (standard error %.2g): one draw "
            "serves two",
            part->name, where, (long long)s, (long long)r, seen, error_of(&products));
    return 0;
}

#define MOST_ROWS 130 /* of which all pairs are looked at */

static int judge_rows(struct check *check, const struct noise_table *t, const struct noise_part *part,
                      const char *where)
{
    const int64_t rows = part->n / part->width, every = rows / (MOST_ROWS + 1) + 1;
    if (rows < 2 || part->width < 2)
        return 0; /* numbers stand for rows */
    for (int64_t r = 0; r < rows; r++)
        for (int64_t s = r % every; s <= r; s += every)
            if (judge_two_rows(check, t, part, r, s, where) != 0)
                return -1;
    return 0;
}

/* ---- correlations -------------------------------------------------------------------------------------- */

/* Of numbers `apart` from each other, all together: with the draw `later` draws on. */
static int judge_pooled(struct check *check, const struct noise_table *t, const struct noise_part *a,
                        const struct noise_part *b, int64_t apart, int64_t later, const char *what,
                        const char *where)
{
    const int64_t n = (a == b ? a->n - apart : a->n < b->n ? a->n : b->n);
    struct estimate products = {0, 0, 0};
    for (int64_t d = 0; d + later < t->draws; d++) {
        const float *x = check_noise_row(t, d) + a->first,
                    *y = check_noise_row(t, d + later) + b->first + apart;
        double sum = 0, counted = 0;
        for (int64_t i = 0; i < n; i++) {
            const double product = (double)x[i] * (double)y[i];
            sum += isnan(product) ? 0 : product;
            counted += !isnan(product);
        }
        if (counted > 0)
            add(&products, sum / counted);
    }
    if (products.n < 100 ||
        fabs(mean_of(&products)) <= POOLED * error_of(&products) + 0.003 + a->bias * b->bias)
        return 0;
    return check_fail(check,
                      "%s%s: the noise %s correlates by %.4g (standard error %.2g): one draw serves two",
                      a->name, where, what, mean_of(&products), error_of(&products));
}

static int judge_neighbours(struct check *check, const struct noise_table *t, int p, const char *where)
{
    const struct noise_part *part = &t->parts[p];
    int failed = 0;
    for (int64_t apart = 1; apart <= 2 && !failed; apart++)
        failed =
            judge_pooled(check, t, part, part, apart, 0,
                         apart == 1 ? "of a number and the next" : "of a number and the second next", where);
    if (!failed && part->width > 2 && part->width < part->n)
        failed = judge_pooled(check, t, part, part, part->width, 0, "of a row and the next", where);
    if (!failed)
        failed = judge_pooled(check, t, part, part, 0, 1, "of one draw and the next", where);
    for (int q = p + 1; q < t->n_parts && !failed; q++) {
        char what[120];
        snprintf(what, sizeof what, "and that of %s", t->parts[q].name);
        failed = judge_pooled(check, t, part, &t->parts[q], 0, 0, what, where);
    }
    return failed;
}

/* Numbers as columns of all draws, so that pairs are sums over adjacent memory. NaN is 0: it adds nothing. */
static int64_t turn(const struct noise_table *t, float *columns, int32_t *part_of, int32_t *place_of)
{
    const int64_t every = t->n / MOST_PAIRED + 1;
    int64_t kept = 0;
    for (int p = 0; p < t->n_parts; p++)
        for (int64_t i = 0; i < t->parts[p].n && kept < MOST_PAIRED; i += every, kept++) {
            part_of[kept] = p;
            place_of[kept] = (int32_t)i;
            for (int64_t d = 0; d < t->draws; d++) {
                const float z = check_noise_row(t, d)[t->parts[p].first + i];
                columns[kept * t->draws + d] = isnan(z) ? 0 : z;
            }
        }
    return kept;
}

static int judge_pairs(struct check *check, const struct noise_table *t, const char *where)
{
    float *columns = check_keep(check, (size_t)(MOST_PAIRED * t->draws) * sizeof *columns);
    int32_t part_of[MOST_PAIRED], place_of[MOST_PAIRED];
    const double most = ONE_PAIR / sqrt((double)t->draws);
    if (!columns)
        return -1;
    const int64_t n = turn(t, columns, part_of, place_of);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            const float *x = columns + i * t->draws, *y = columns + j * t->draws;
            float sum[8] = {0};
            for (int64_t d = 0; d + 8 <= t->draws; d += 8)
                for (int k = 0; k < 8; k++)
                    sum[k] += x[d + k] * y[d + k];
            const double r = (double)(sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7]) /
                             (double)t->draws;
            if (fabs(r) > most)
                return check_fail(
                    check,
                    "%s%s: the noise of number %d and that of number %d of %s correlate by %.3g over %lld "
                    "draws: one draw serves two",
                    t->parts[part_of[j]].name, where, (int)place_of[j], (int)place_of[i],
                    t->parts[part_of[i]].name, r, (long long)t->draws);
        }
    return 0;
}

int check_noise_judge(struct check *check, const struct noise_table *table, const char *where)
{
    int failed = 0;
    for (int p = 0; p < table->n_parts && !failed; p++) {
        struct part_moments moments;
        measure(table, &table->parts[p], &moments);
        failed = judge_part(check, &table->parts[p], &moments, where);
        for (int64_t i = 0; i < table->parts[p].n && !failed; i++)
            failed = judge_number(check, table, &table->parts[p], i, moments.fourth, where);
    }
    for (int p = 0; p < table->n_parts && !failed; p++)
        failed = judge_rows(check, table, &table->parts[p], where);
    for (int p = 0; p < table->n_parts && !failed; p++)
        failed = judge_neighbours(check, table, p, where);
    return failed ? failed : judge_pairs(check, table, where);
}
