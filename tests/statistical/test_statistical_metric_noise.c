/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The noise of released metrics: its law, its independence, and what an audit of the worst pair of data sets
 * makes of it. Each release has a key of its own.
 */
#include "kit/goodness.h"

#include <string.h>

#include "audit/held_out.h"
#include "evaluate/noisy_metrics.h"

#define NUMBERS 6
#define RELEASES 6000
#define CELLS 161

static int64_t noise[RELEASES][NUMBERS];

static void release_all(int laplace, uint64_t steps)
{
    struct dpf_error error = {0};
    for (int r = 0; r < RELEASES; r++) {
        struct random_root *root = random_root_seeded((uint64_t)r, "metric noise", &error);
        const struct metric_noise how = {
            .numbers = NUMBERS, .grid = 0x1p-4, .steps = steps, .laplace = laplace, .root = root};
        int64_t sums[NUMBERS] = {5, -7, 1000, 0, 3, 1};
        assert_int_equal(noisy_draw(&how, sums, &error), 0);
        static const int64_t exact[NUMBERS] = {5, -7, 1000, 0, 3, 1};
        for (int i = 0; i < NUMBERS; i++)
            noise[r][i] = sums[i] - exact[i];
        random_root_free(root);
    }
}

/* Masses from their definition, exp(-|x|/t) or exp(-x^2/(2 s^2)) over their sum; tails in the end cells. */
static void masses(int laplace, double scale, double *p)
{
    double sum = 0;
    memset(p, 0, CELLS * sizeof *p);
    for (int x = -5000; x <= 5000; x++) {
        const double mass =
            laplace ? exp(-fabs((double)x) / scale) : exp(-(double)x * x / (2 * scale * scale));
        const int cell = x + CELLS / 2;
        p[cell < 0 ? 0 : cell >= CELLS ? CELLS - 1 : cell] += mass;
        sum += mass;
    }
    for (int i = 0; i < CELLS; i++)
        p[i] /= sum;
}

TEST(noise_has_its_law)
{
    static const struct {
        int laplace;
        uint64_t steps;
    } laws[] = {{0, 1}, {0, 20}, {1, 1}, {1, 6}};
    for (size_t l = 0; l < sizeof laws / sizeof laws[0]; l++) {
        double p[CELLS], cross = 0, next = 0, squares = 0;
        int64_t counts[CELLS] = {0};
        release_all(laws[l].laplace, laws[l].steps);
        masses(laws[l].laplace, (double)laws[l].steps, p);
        for (int r = 0; r < RELEASES; r++)
            for (int i = 0; i < NUMBERS; i++) {
                const int64_t cell = noise[r][i] + CELLS / 2;
                counts[cell < 0 ? 0 : cell >= CELLS ? CELLS - 1 : cell]++;
                squares += (double)(noise[r][i] * noise[r][i]);
                cross += (double)(noise[r][i] * noise[r][(i + 1) % NUMBERS]);
                next += (double)(noise[r][i] * noise[(r + 1) % RELEASES][i]);
            }
        goodness_assert(goodness_chi_square(counts, p, CELLS), laws[l].laplace ? "Laplace" : "Gaussian",
                        (double)laws[l].steps);
        /* Products of independent numbers have mean 0 and the product of the variances as variance. */
        const double n = (double)RELEASES * NUMBERS, variance = squares / n;
        goodness_assert(cross / (variance * sqrt(n)), "numbers of a release", (double)laws[l].steps);
        goodness_assert(next / (variance * sqrt(n)), "releases", (double)laws[l].steps);
    }
}

/* ---- an audit ------------------------------------------------------------------------------------------ */

/* Five metrics and a count, in steps of the grid: a user changes from the best to the worst in all metrics.
 */
#define STEP 16 /* a contribution of 1 */
static const int64_t with_best[NUMBERS] = {STEP, STEP, STEP, STEP, STEP, STEP};
static const int64_t with_worst[NUMBERS] = {-STEP, -STEP, -STEP, -STEP, -STEP, STEP};

static double score_of(int laplace, double scale, const int64_t *seen)
{
    double score = 0;
    for (int i = 0; i < NUMBERS; i++) {
        const double best = (double)(seen[i] - with_best[i]), worst = (double)(seen[i] - with_worst[i]);
        score += laplace ? (fabs(worst) - fabs(best)) / scale
                         : (worst * worst - best * best) / (2 * scale * scale);
    }
    return score;
}

static double audited(int laplace, uint64_t steps, double delta)
{
    static double scores[2][RELEASES];
    release_all(laplace, steps);
    for (int r = 0; r < RELEASES; r++)
        for (int set = 0; set < 2; set++) {
            int64_t seen[NUMBERS];
            /* Other releases for the other data set. */
            for (int i = 0; i < NUMBERS; i++)
                seen[i] =
                    (set == 0 ? with_best[i] : with_worst[i]) + noise[(r + set * RELEASES / 2) % RELEASES][i];
            scores[set][r] = score_of(laplace, (double)steps, seen);
        }
    const int64_t half = RELEASES / 2;
    const struct held_out_scores choosing = {{scores[0], scores[1]}, half};
    const struct held_out_scores judging = {{scores[0] + half, scores[1] + half}, half};
    const struct held_out_rule rule = held_out_choose(&choosing, delta, 0.01);
    return held_out_judge(&rule, &judging, delta, 0.01).epsilon;
}

static double normal_below(double x)
{
    return erfc(-x * M_SQRT1_2) / 2;
}

/* The epsilon of a Gaussian release that moves by mu standard deviations (Balle, Wang 2018, Theorem 8). */
static double gaussian_epsilon(double mu, double delta)
{
    double low = 0, high = 50;
    for (int i = 0; i < 60; i++) {
        const double e = (low + high) / 2;
        *(normal_below(mu / 2 - e / mu) - exp(e) * normal_below(-mu / 2 - e / mu) > delta ? &low : &high) = e;
    }
    return high;
}

/* The stated norms, 2 sqrt(5) and 10 contributions: bounds from experiments come near to what they give and
   do not exceed it. */
TEST(an_audit_confirms_the_stated_epsilon)
{
    const double mu = 2 * sqrt(5) * STEP / 80, proved = gaussian_epsilon(mu, 0.05);
    const double gaussian = audited(0, 80, 0.05);
    if (!(gaussian <= proved && gaussian > 0.55 * proved))
        fail_msg("Gaussian: at least %g of %g", gaussian, proved);
    const double epsilon = 10.0 * STEP / 80, laplace = audited(1, 80, 0);
    if (!(laplace <= epsilon && laplace > 0.5 * epsilon))
        fail_msg("Laplace: at least %g of %g", laplace, epsilon);
    /* Half of the noise would be found out. */
    assert_true(audited(0, 40, 0.05) > proved);
    assert_true(audited(1, 40, 0) > epsilon);
}
