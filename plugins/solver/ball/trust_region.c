/* SPDX-License-Identifier: Apache-2.0 */
#include "trust_region.h"

#include <float.h>
#include <math.h>

#define MOST_STEPS 200           /* a bisection of any bracket of float64 numbers ends before */
#define SLACK (64 * DBL_EPSILON) /* rounding of T, by order and norm */

/* The problem, and T + s I = L D L' of the last shift. */
struct region {
    const struct tridiagonal *t;
    const double *c;
    double radius;
    double *x;
    double *pivots, *factors; /* D, and L below its diagonal */
    double *other, *direction;
    double size;  /* a norm of T */
    double least; /* a lower bound on T's eigenvalues, and an upper one */
    double most;
};

static double norm_of(const double *x, int64_t d)
{
    double sum = 0;
    for (int64_t i = 0; i < d; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static double inner(const double *x, const double *y, int64_t d)
{
    double sum = 0;
    for (int64_t i = 0; i < d; i++)
        sum += x[i] * y[i];
    return sum;
}

/* Gershgorin from below; from above the smallest eigenvalue of any principal 2 x 2 part (Cauchy). */
static void bound_eigenvalues(struct region *r)
{
    const double *a = r->t->diagonal, *e = r->t->off;
    const int64_t d = r->t->d;
    r->size = 0;
    r->least = INFINITY;
    r->most = a[0];
    for (int64_t i = 0; i < d; i++) {
        const double around = (i > 0 ? fabs(e[i - 1]) : 0) + fabs(e[i]);
        r->least = fmin(r->least, a[i] - around);
        r->size = fmax(r->size, fabs(a[i]) + around);
        r->most = fmin(r->most, a[i]);
        if (i + 1 < d)
            r->most = fmin(r->most, 0.5 * (a[i] + a[i + 1] - hypot(a[i] - a[i + 1], 2 * e[i])));
    }
}

/* 1 if T + shift I is positive definite, to rounding. */
static int factor(struct region *r, double shift)
{
    const double *a = r->t->diagonal, *e = r->t->off;
    const int64_t d = r->t->d;
    double pivot = a[0] + shift;
    for (int64_t i = 0; i < d; i++) {
        if (!(pivot > 0))
            return 0;
        r->pivots[i] = pivot;
        r->factors[i] = e[i] / pivot;
        if (i + 1 < d)
            pivot = a[i + 1] + shift - e[i] * r->factors[i];
    }
    return 1;
}

static double smallest_pivot(const struct region *r)
{
    double least = r->pivots[0];
    for (int64_t i = 1; i < r->t->d; i++)
        least = fmin(least, r->pivots[i]);
    return least;
}

static void solve(const struct region *r, const double *c, double *x)
{
    const int64_t d = r->t->d;
    x[0] = c[0];
    for (int64_t i = 1; i < d; i++)
        x[i] = c[i] - r->factors[i - 1] * x[i - 1];
    x[d - 1] /= r->pivots[d - 1];
    for (int64_t i = d - 2; i >= 0; i--)
        x[i] = x[i] / r->pivots[i] - r->factors[i] * x[i + 1];
}

/* x'(T + s I)^-1 x for the last shift. */
static double curvature(const struct region *r, const double *x)
{
    double y = x[0], sum = y * y / r->pivots[0];
    for (int64_t i = 1; i < r->t->d; i++) {
        y = x[i] - r->factors[i - 1] * y;
        sum += y * y / r->pivots[i];
    }
    return sum;
}

static double objective(const struct region *r, const double *x)
{
    const double *a = r->t->diagonal, *e = r->t->off;
    double sum = 0;
    for (int64_t i = 0; i < r->t->d; i++) {
        sum += x[i] * (a[i] * x[i] - 2 * r->c[i]);
        if (i + 1 < r->t->d)
            sum += 2 * e[i] * x[i] * x[i + 1];
    }
    return sum;
}

static double finish_on_sphere(struct region *r, double norm, double shift)
{
    const double factor = r->radius / norm;
    for (int64_t i = 0; i < r->t->d; i++)
        r->x[i] *= factor;
    return shift;
}

/* A unit vector of T's smallest eigenvalue, by inverse iteration with the last shift. */
static void lowest_direction(const struct region *r, double *u)
{
    const int64_t d = r->t->d;
    for (int64_t i = 0; i < d; i++)
        u[i] =
            1 + 0.37 * (double)(i % 7) - 0.21 * (double)(i % 3); /* not orthogonal to it, but by accident */
    for (int step = 0; step < 4; step++) {
        const double norm = norm_of(u, d);
        for (int64_t i = 0; i < d; i++)
            r->other[i] = u[i] / norm;
        solve(r, r->other, u);
    }
    const double norm = norm_of(u, d);
    for (int64_t i = 0; i < d; i++)
        u[i] /= norm;
}

/*
 * The hard case: c has no part along the lowest eigenvector, and at s = -lambda_1 the solution is still
 * shorter than the radius. What is missing goes along that eigenvector, in the better of the two directions.
 */
static double finish_hard(struct region *r, double shift)
{
    const int64_t d = r->t->d;
    solve(r, r->c, r->x);
    const double norm = norm_of(r->x, d);
    if (norm >= r->radius)
        return finish_on_sphere(r, norm, shift);
    if (shift <= 2 * SLACK * (double)d * r->size) /* singular, not indefinite: the short solution */
        return shift;
    double *u = r->direction;
    lowest_direction(r, u);
    const double along = inner(r->x, u, d);
    const double root = sqrt(along * along + (r->radius - norm) * (r->radius + norm));
    for (int64_t i = 0; i < d; i++)
        r->other[i] = r->x[i] + (root - along) * u[i];
    for (int64_t i = 0; i < d; i++)
        r->x[i] -= (root + along) * u[i];
    if (objective(r, r->other) < objective(r, r->x))
        for (int64_t i = 0; i < d; i++)
            r->x[i] = r->other[i];
    return finish_on_sphere(r, norm_of(r->x, d), shift);
}

/*
 * Newton's method on 1/radius - 1/|x(s)| between lower, where s is too small, and upper, where it is not; a
 * bisection where it leaves the bracket. From below it is monotone and soon quadratic.
 */
static double search(struct region *r, double lower, double upper, double start)
{
    const int64_t d = r->t->d;
    double shift = start;
    for (int step = 0; step < MOST_STEPS; step++) {
        double next = NAN;
        if (factor(r, shift)) {
            solve(r, r->c, r->x);
            const double norm = norm_of(r->x, d);
            if (fabs(norm - r->radius) <= 1e-12 * r->radius)
                return finish_on_sphere(r, norm, shift);
            *(norm < r->radius ? &upper : &lower) = shift;
            if (isfinite(norm))
                next = shift + norm * norm / curvature(r, r->x) * ((norm - r->radius) / r->radius);
        } else {
            lower = shift;
        }
        if (upper - lower <= 2 * DBL_EPSILON * (upper + r->size))
            break;
        shift = next > lower && next < upper ? next : lower + 0.5 * (upper - lower);
    }
    for (int step = 0; step < MOST_STEPS; step++) {
        if (factor(r, upper))
            return finish_hard(r, upper);
        upper += (double)(1 + step) * DBL_EPSILON * (upper + r->size);
    }
    return NAN;
}

double trust_region(const struct tridiagonal *t, const double *c, double radius, double *x, double *work)
{
    const int64_t d = t->d;
    struct region r = {.t = t, .c = c, .radius = radius, .x = x};
    r.pivots = work;
    r.factors = work + d;
    r.other = work + 2 * d;
    r.direction = work + 3 * d;
    const double force = norm_of(c, d);
    bound_eigenvalues(&r);
    for (int64_t i = 0; i < d; i++)
        x[i] = 0;
    if (r.size == 0 && force == 0)
        return 0;
    double lower = fmax(0, -r.most);
    /* Singular to rounding: what lies along a null vector is rounding too, and a tiny shift removes it. */
    const double slack = SLACK * (double)d * r.size;
    if (r.most > -slack && ((factor(&r, 0) && smallest_pivot(&r) > slack) || factor(&r, slack))) {
        solve(&r, c, x);
        if (norm_of(x, d) <= radius)
            return 0;
    }
    /* There |x| <= |c| / (least + s) <= radius. */
    const double upper = fmax(0, force / radius - r.least) + 4 * DBL_EPSILON * r.size + DBL_MIN;
    return search(&r, lower, upper, lower > 0 ? lower + 0.05 * (upper - lower) : 0);
}
