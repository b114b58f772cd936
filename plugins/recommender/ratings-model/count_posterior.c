/* SPDX-License-Identifier: Apache-2.0 */
#include "count_posterior.h"

#include <math.h>

#define GRID 80 /* counts: 0, and from LEAST up in equal ratios */
#define LEAST 0.5
#define STEPS 100      /* of EM */
#define CERTAIN 8.0    /* deviations of noise, above which the grid is coarser than the noise */
#define LEAST_ITEMS 50 /* that show how counts are distributed */
#define UNLIKELY 1e-300

int64_t count_posterior_size(int64_t n)
{
    return (n + 3) * GRID;
}

static void place_grid(double most, double *grid)
{
    grid[0] = 0.0;
    for (int k = 1; k < GRID; k++)
        grid[k] = LEAST * pow(most / LEAST, (k - 1) / (GRID - 2.0));
}

/* Likelihood of each item's sum for each count: n x GRID. */
static void fill_likelihood(const double *sums, int64_t n, double sigma, double root, const double *grid,
                            double *out)
{
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < GRID; k++) {
            const double z = (sums[i] - grid[k] / root) / sigma;
            out[i * GRID + k] = exp(-0.5 * z * z) + UNLIKELY;
        }
}

static double product(const double *a, const double *b)
{
    double sum = 0.0;
    for (int k = 0; k < GRID; k++)
        sum += a[k] * b[k];
    return sum;
}

/* The distribution of counts under which all sums together are most likely. */
static void estimate_prior(const double *likelihood, int64_t n, double *prior, double *next)
{
    for (int k = 0; k < GRID; k++)
        prior[k] = 1.0 / GRID;
    for (int step = 0; step < STEPS; step++) {
        for (int k = 0; k < GRID; k++)
            next[k] = 0.0;
        for (int64_t i = 0; i < n; i++) {
            const double *of = likelihood + i * GRID, scale = 1.0 / (product(of, prior) * (double)n);
            for (int k = 0; k < GRID; k++)
                next[k] += scale * of[k];
        }
        for (int k = 0; k < GRID; k++)
            prior[k] *= next[k];
    }
}

void count_posterior(const double *sums, int64_t n, double sigma, double root, double smooth, double *work,
                     double *mean, double *mean_log)
{
    double *likelihood = work, *grid = likelihood + n * GRID, *prior = grid + GRID, *next = prior + GRID,
           most = 10.0;
    double logs[GRID];
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, 1.05 * sums[i] * root);
        mean[i] = fmax(sums[i], 0.0) * root;
        mean_log[i] = log(mean[i] + smooth);
    }
    if (!(sigma > 0.0) || n < LEAST_ITEMS)
        return;
    place_grid(most, grid);
    for (int k = 0; k < GRID; k++)
        logs[k] = log(grid[k] + smooth);
    fill_likelihood(sums, n, sigma, root, grid, likelihood);
    estimate_prior(likelihood, n, prior, next);
    for (int64_t i = 0; i < n; i++) {
        double *of = likelihood + i * GRID;
        if (sums[i] > CERTAIN * sigma)
            continue;
        const double all = product(of, prior);
        for (int k = 0; k < GRID; k++)
            of[k] *= prior[k] / all;
        mean[i] = product(of, grid);
        mean_log[i] = product(of, logs);
    }
}
