/* SPDX-License-Identifier: Apache-2.0 */
#include "pld_table.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define CURVE_HALF 4096 /* points of a curve at positive losses */
/* -ln of the divergence at the last of them. */
#define CURVE_END 690.0

/* ---- tables of points --------------------------------------------------------------------------- */

static struct pld_table *table_new(const dpf_host *host, int64_t n)
{
    const dpf_memory_service *memory = dpf_memory(host);
    struct pld_table *table = memory->allocate(host, sizeof *table);
    if (!table)
        return NULL;
    double **const arrays[] = {&table->loss, &table->p_below, &table->q_below, &table->p_above,
                               &table->q_above};
    int failed = 0;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = memory->allocate(host, (uint64_t)(n + 1) * sizeof(double));
        failed |= !*arrays[i];
    }
    if (!failed) {
        table->n = n;
        return table;
    }
    pld_table_free(host, table);
    return NULL;
}

void pld_table_free(const dpf_host *host, struct pld_table *table)
{
    const dpf_memory_service *memory = dpf_memory(host);
    if (!table)
        return;
    memory->release(host, table->loss);
    memory->release(host, table->p_below);
    memory->release(host, table->q_below);
    memory->release(host, table->p_above);
    memory->release(host, table->q_above);
    memory->release(host, table);
}

/* A sum of numbers that are not negative, to two roundings whatever their number. */
struct precise {
    double sum, rest;
};

static double precise_add(struct precise *s, double x)
{
    const double sum = s->sum + x, more = sum - s->sum;
    s->rest += (s->sum - (sum - more)) + (x - more);
    s->sum = sum;
    return sum + s->rest;
}

/* alone[i + 1] holds point i: made sums from the first point, and in `above` from the last. */
static void running_sums(double *alone, double *above, int64_t n)
{
    struct precise s = {0.0, 0.0}, t = {0.0, 0.0};
    above[n] = 0.0;
    for (int64_t i = n; i > 0; i--)
        above[i - 1] = precise_add(&s, alone[i]);
    for (int64_t i = 1; i <= n; i++)
        alone[i] = precise_add(&t, alone[i]);
}

static void table_sum(struct pld_table *table)
{
    running_sums(table->p_below, table->p_above, table->n);
    running_sums(table->q_below, table->q_above, table->n);
}

/* What ln p - ln q may be off by. */
static double loss_error(double p, double q)
{
    return 2.0 * DBL_EPSILON * (fabs(log(p)) + fabs(log(q)) + 1.0);
}

int64_t pld_table_find(const struct pld_table *table, double loss)
{
    int64_t low = 0, high = table->n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (table->loss[middle] <= loss)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- the Poisson binomial mechanism ------------------------------------------------------------- */

/* The line a - y b. */
struct line {
    double a, b;
};

/* Adds a line to an upper envelope whose lines have smaller b. Returns how many there are. */
static int64_t envelope_add(struct line *lines, int64_t n, struct line next)
{
    if (n > 0 && next.a <= lines[n - 1].a)
        return n; /* never above */
    while (n > 0) {
        const struct line last = lines[n - 1];
        if (last.b < next.b && n == 1)
            break;
        if (last.b < next.b) {
            const struct line before = lines[n - 2];
            /* Quotients: products of small masses would vanish. */
            if ((next.a - last.a) / (next.b - last.b) < (last.a - before.a) / (last.b - before.b))
                break;
        }
        n--;
    }
    lines[n] = next;
    return n + 1;
}

/* Two lists of ascending b to one envelope. */
static int64_t envelope_merge(const struct line *x, int64_t n_x, const struct line *y, int64_t n_y,
                              struct line *out)
{
    int64_t n = 0;
    for (int64_t i = 0, j = 0; i < n_x || j < n_y;)
        n = envelope_add(out, n, j == n_y || (i < n_x && x[i].b <= y[j].b) ? x[i++] : y[j++]);
    return n;
}

/* The lines of one mix in one direction, with all errors on the safe side. From the end of small q/p. */
static int64_t mix_lines(const struct pbm_mix *mix, double rounding, int backward, struct line *out)
{
    const double error = rounding + (4.0 * (double)mix->n + 16.0) * DBL_EPSILON;
    const double *p = backward ? mix->q : mix->p, *q = backward ? mix->p : mix->q;
    double a = 0.0, b = 0.0;
    out[0] = (struct line){mix->rest, 0.0};
    for (int64_t i = 0; i < mix->n; i++) {
        const int64_t z = backward ? i : mix->n - 1 - i;
        a += p[z];
        b += q[z];
        const double most = a * (1.0 + error) + mix->rest;
        out[i + 1] = (struct line){most < 1.0 ? most : 1.0, b * (1.0 - error)};
    }
    return mix->n + 1;
}

/* Points where lines meet, the last first. */
static struct pld_table *envelope_table(const dpf_host *host, const struct line *lines, int64_t n)
{
    struct pld_table *table = table_new(host, n - 1);
    if (!table)
        return NULL;
    for (int64_t i = 0; i < n - 1; i++) {
        const int64_t at = n - 2 - i;
        const double p = lines[i + 1].a - lines[i].a, q = lines[i + 1].b - lines[i].b;
        table->loss[at] = log(p) - log(q) + loss_error(p, q);
        table->p_below[at + 1] = p * (1.0 + 2.0 * DBL_EPSILON);
        table->q_below[at + 1] = q * (1.0 - 2.0 * DBL_EPSILON);
    }
    for (int64_t i = 1; i < n - 1; i++) /* rounding may have turned neighbours around */
        table->loss[i] = table->loss[i] > table->loss[i - 1] ? table->loss[i] : table->loss[i - 1];
    table->infinite = lines[0].a;
    table_sum(table);
    return table;
}

struct pld_table *pld_table_pbm(const dpf_host *host, const struct pbm_mixes *pbm)
{
    const dpf_memory_service *memory = dpf_memory(host);
    int64_t most = 2, widest = 0, n = 0;
    for (int64_t m = 0; m < pbm->n; m++) {
        most += 2 * (pbm->mix[m].n + 1);
        widest = pbm->mix[m].n > widest ? pbm->mix[m].n : widest;
    }
    struct line *all = memory->allocate(host, (uint64_t)most * sizeof *all);
    struct line *merged = memory->allocate(host, (uint64_t)most * sizeof *merged);
    struct line *one = memory->allocate(host, (uint64_t)(widest + 1) * sizeof *one);
    struct pld_table *table = NULL;
    if (all && merged && one) {
        for (int64_t m = 0; m < 2 * pbm->n; m++) {
            const int64_t lines = mix_lines(&pbm->mix[m / 2], pbm->rounding, (int)(m & 1), one);
            struct line *const old = all;
            n = envelope_merge(old, n, one, lines, merged);
            all = merged;
            merged = old;
        }
        table = envelope_table(host, all, n);
    }
    memory->release(host, all);
    memory->release(host, merged);
    memory->release(host, one);
    return table;
}

struct pld_table *pld_table_pbm_mix(const dpf_host *host, const struct pbm_mixes *pbm)
{
    const struct pbm_mix *mix = &pbm->mix[0];
    struct pld_table *table = table_new(host, mix->n);
    if (!table)
        return NULL;
    for (int64_t z = 0; z < mix->n; z++) {
        table->loss[z] = log(mix->p[z]) - log(mix->q[z]) - loss_error(mix->p[z], mix->q[z]);
        table->p_below[z + 1] = mix->p[z] * (1.0 - pbm->rounding);
        table->q_below[z + 1] = mix->q[z] * (1.0 + pbm->rounding);
        if (z > 0 && table->loss[z] < table->loss[z - 1])
            table->loss[z] = table->loss[z - 1];
    }
    table_sum(table);
    return table;
}

/* ---- concentrated privacy ----------------------------------------------------------------------- */

/* A bound of the divergence, h, at y = e^x. */
struct knot {
    double x, h;
};

/* Adds a point to a lower hull of points with smaller x; a convex function that is below all of them is below
   the hull. Slopes are compared in units of h over the last y. */
static int64_t hull_add(struct knot *knots, int64_t n, struct knot next)
{
    for (; n > 1; n--) {
        const struct knot last = knots[n - 1], before = knots[n - 2];
        const double down = (before.h - last.h) / -expm1(before.x - last.x);
        if ((last.h - next.h) / expm1(next.x - last.x) < down)
            break;
    }
    knots[n] = next;
    return n + 1;
}

static int64_t concentrated_hull(const struct concentrated *bound, struct knot *knots)
{
    const double end = bound->xi + bound->rho + 2.0 * sqrt(bound->rho * CURVE_END);
    int64_t n = hull_add(knots, 0, (struct knot){-INFINITY, 1.0});
    for (int64_t i = -CURVE_HALF; i <= CURVE_HALF; i++) {
        const double size = end * (double)(i < 0 ? -i : i) / CURVE_HALF;
        const double h = exp(concentrated_log_delta(bound, size));
        const double mirrored = (exp(-size) * h - expm1(-size)) * (1.0 + 8.0 * DBL_EPSILON);
        n = hull_add(knots, n, i < 0 ? (struct knot){-size, fmin(mirrored, 1.0)} : (struct knot){size, h});
    }
    return n;
}

struct pld_table *pld_table_concentrated(const dpf_host *host, const struct concentrated *bound)
{
    const dpf_memory_service *memory = dpf_memory(host);
    struct knot *knots = memory->allocate(host, (2 * CURVE_HALF + 3) * sizeof *knots);
    const int64_t n = knots ? concentrated_hull(bound, knots) : 1;
    struct pld_table *table = knots ? table_new(host, n - 1) : NULL;
    for (int64_t i = 1; table && i < n; i++) {
        const struct knot *at = &knots[i];
        const double left = (at[-1].h - at->h) / -expm1(at[-1].x - at->x);
        const double right = i + 1 < n ? (at->h - at[1].h) / expm1(at[1].x - at->x) : 0.0;
        const double p = fmax(left - right, 0.0) + 8.0 * DBL_EPSILON * (left + right);
        const double q = p > 0.0 ? exp(log(p) - at->x) : 0.0;
        table->loss[i - 1] = at->x;
        table->p_below[i] = p;
        table->q_below[i] = q > 0.0 ? q * (1.0 - loss_error(p, q)) : 0.0;
    }
    if (table) {
        table->infinite = knots[n - 1].h;
        table_sum(table);
    }
    memory->release(host, knots);
    return table;
}
