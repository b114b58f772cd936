/* SPDX-License-Identifier: Apache-2.0 */
/* What is its own. What it has in common with others: ../noise-shares/test_noise_shares.c. */
#include "gamma_shares.h"
#include "shares_fixture.h"

static const dpf_component *component;
static dpf_stream *stream;

/* ---- the shares themselves ------------------------------------------------------------------- */

#define WIDTH SHARES_WIDTH

/* One coordinate of the sum of `parties` shares of 1/t; each party reads an index of its own. */
static void sum_shares(uint64_t s, uint64_t parties, uint64_t t, uint32_t row, int64_t *out)
{
    dpf_cursor cursor;
    memset(out, 0, WIDTH * sizeof(*out));
    for (uint64_t p = 0; p < parties; p++) {
        random_seek(stream, (uint32_t)t, (uint32_t)p, row, &cursor);
        assert_int_equal(gamma_shares_add(&plain_random, &cursor, s, 1, t, WIDTH, out), 0);
    }
}

/* Cells for values -half .. half and the two tails. */
static double fit_integers(const int64_t *values, int n, double (*mass)(int64_t k, double a, double b),
                           double a, double b, int half)
{
    int cells = 2 * half + 3;
    int64_t *counts = calloc((size_t)cells, sizeof(*counts));
    double *p = calloc((size_t)cells, sizeof(*p));
    assert_true(counts);
    assert_true(p);
    for (int i = 0; i < n; i++) {
        int64_t k = values[i] < -half - 1 ? -half - 1 : values[i] > half + 1 ? half + 1 : values[i];
        counts[k + half + 1]++;
    }
    double inside = 0;
    for (int k = -half; k <= half; k++)
        inside += p[k + half + 1] = mass(k, a, b);
    p[0] = p[cells - 1] = (1 - inside) / 2; /* the laws are symmetric */
    double z = goodness_chi_square(counts, p, cells);
    free(counts);
    free(p);
    return z;
}

static double discrete_laplace(int64_t k, double s, double unused)
{
    (void)unused;
    return tanh(1 / (2 * s)) * exp(-fabs((double)k) / s);
}

/* t = 1, 2, 17, 1000 parties add up to the exact discrete law. */
TEST(shares_of_any_number_of_parties_are_discrete_laplace)
{
    static const struct {
        uint64_t parties, s;
        int rows;
    } cases[] = {{1, 1, 3000},  {1, 7, 3000},  {1, 40, 2000},  {2, 5, 3000},
                 {2, 64, 2000}, {17, 3, 3000}, {17, 33, 1500}, {1000, 12, 200}};
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        int n = cases[c].rows * WIDTH;
        int64_t *values = malloc((size_t)n * sizeof(*values));
        assert_non_null(values);
        for (int r = 0; r < cases[c].rows; r++)
            sum_shares(cases[c].s, cases[c].parties, cases[c].parties, (uint32_t)r,
                       values + (int64_t)r * WIDTH);
        double z = fit_integers(values, n, discrete_laplace, (double)cases[c].s, 0, (int)(6 * cases[c].s));
        goodness_assert(z, "sum of shares", (double)cases[c].parties);
        /* Power: the same numbers do not fit a law a quarter wider. */
        z = fit_integers(values, n, discrete_laplace, (double)cases[c].s * 5 / 4, 0, (int)(6 * cases[c].s));
        if (n >= 15000)
            assert_true(fabs(z) > GOODNESS_LIMIT);
        free(values);
    }
}

/* Pr[k] of NB(r, q), by its logarithm. */
static double negative_binomial(int64_t k, double r, double q)
{
    return exp(lgamma((double)k + r) - lgamma((double)k + 1) - lgamma(r) + r * log1p(-q) +
               (double)k * log(q));
}

static double share_mass(int64_t k, double r, double q)
{
    double sum = 0;
    k = k < 0 ? -k : k;
    for (int64_t j = 0; j < 400; j++)
        sum += negative_binomial(j, r, q) * negative_binomial(j + k, r, q);
    return sum;
}

/* A single share has the difference of two Polya laws, which none of the sums above can tell by itself. */
TEST(one_share_is_a_difference_of_polya_variables)
{
    static const struct {
        uint64_t shares, t, s;
    } cases[] = {{1, 2, 6}, {1, 17, 10}, {3, 2, 4}, {5, 7, 9}};
    static int64_t values[60000];
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        memset(values, 0, sizeof(values));
        for (uint32_t r = 0; r < 6000; r++) {
            dpf_cursor cursor;
            random_seek(stream, 77 + (uint32_t)c, 0, r, &cursor);
            assert_int_equal(gamma_shares_add(&plain_random, &cursor, cases[c].s, cases[c].shares, cases[c].t,
                                              WIDTH, values + (int64_t)r * WIDTH),
                             0);
        }
        double z = fit_integers(values, 60000, share_mass, (double)cases[c].shares / (double)cases[c].t,
                                exp(-1 / (double)cases[c].s), (int)(6 * cases[c].s));
        goodness_assert(z, "one share", (double)cases[c].t);
    }
}

/* What a simulation draws at once for n survivors is what n shares of 1/t add up to: one law, met by both. */
TEST(the_shortcut_has_the_law_of_summed_shares)
{
    static const struct {
        uint64_t n, t, s;
    } cases[] = {{5, 3, 6}, {25, 15, 9}, {40, 40, 8}};
    static int64_t summed[30000], drawn[30000];
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        const double r = (double)cases[c].n / (double)cases[c].t, q = exp(-1 / (double)cases[c].s);
        memset(drawn, 0, sizeof(drawn));
        for (uint32_t row = 0; row < 3000; row++) {
            dpf_cursor cursor;
            sum_shares(cases[c].s, cases[c].n, cases[c].t, 9000 + row, summed + (int64_t)row * WIDTH);
            random_seek(stream, 200 + (uint32_t)c, DPF_PARTY_AGGREGATE, row, &cursor);
            assert_int_equal(gamma_shares_add(&plain_random, &cursor, cases[c].s, cases[c].n, cases[c].t,
                                              WIDTH, drawn + (int64_t)row * WIDTH),
                             0);
        }
        const int half = (int)(6 * cases[c].s);
        goodness_assert(fit_integers(summed, 30000, share_mass, r, q, half), "summed", r);
        goodness_assert(fit_integers(drawn, 30000, share_mass, r, q, half), "drawn at once", r);
        /* Power: neither is what one survivor fewer in five would give. */
        assert_true(fabs(fit_integers(summed, 30000, share_mass, 0.8 * r, q, half)) > GOODNESS_LIMIT);
        assert_true(fabs(fit_integers(drawn, 30000, share_mass, 0.8 * r, q, half)) > GOODNESS_LIMIT);
    }
}

/* Large scales, powers of two and their neighbours: mean, variance, and the share of zeros. */
TEST(large_scales_have_the_right_moments)
{
    static const uint64_t scales[] = {(UINT64_C(1) << 20) - 1, UINT64_C(1) << 20, (UINT64_C(1) << 20) + 1,
                                      UINT64_C(3) << 33, GAMMA_MAX_SCALE};
    for (size_t c = 0; c < sizeof(scales) / sizeof(scales[0]); c++) {
        double s = (double)scales[c], sum = 0, square = 0, far = 0, n = 1500.0 * WIDTH;
        for (uint32_t r = 0; r < 1500; r++) {
            int64_t out[WIDTH];
            sum_shares(scales[c], 3, 3, r, out);
            for (int i = 0; i < WIDTH; i++) {
                double x = (double)out[i] / s;
                sum += x;
                square += x * x;
                far += fabs(x) > 3;
            }
        }
        goodness_assert(goodness_mean(sum, n, 0, 2), "mean", s);
        goodness_assert(goodness_mean(square, n, 2, 20), "variance", s);
        goodness_assert(goodness_count(far, n, exp(-3)), "beyond three scales", s);
    }
}

/* ---- the mechanism --------------------------------------------------------------------------- */

#define ROWS 300
#define CELLS (WIDTH * ROWS)
static double laplace_below(double x)
{
    return x < 0 ? 0.5 * exp(x) : 1 - 0.5 * exp(-x);
}

static double fit_laplace(const double *x, double scale)
{
    int64_t counts[60] = {0};
    double p[60];
    for (int i = 0; i < CELLS; i++) {
        int bin = (int)floor(x[i] / scale * 5) + 30;
        counts[bin < 0 ? 0 : bin > 59 ? 59 : bin]++;
    }
    for (int b = 0; b < 60; b++)
        p[b] = (b == 59 ? 1 : laplace_below((b - 29) / 5.0)) - (b == 0 ? 0 : laplace_below((b - 30) / 5.0));
    return goodness_chi_square(counts, p, 60);
}

static double variance_of(const double *x)
{
    double square = 0;
    for (int i = 0; i < CELLS; i++)
        square += x[i] * x[i];
    return square / CELLS;
}

/* Both ways of simulating give the law that was planned; those beyond the honest ones only add to it. */
TEST(sums_are_noised_as_planned_with_and_without_dropouts)
{
    static const char *const settings[] = {"epsilon=0.8", "epsilon=0.8; simulate=sum"};
    static double x[CELLS];
    for (int i = 0; i < 2; i++) {
        struct plain_host host;
        struct plain_release r;
        dpf_noise_plan plan;
        dpf_event events[2 * DPF_MAX_BLOCKS];
        shares_release(&r, ROWS, 15);
        plain_open_random(&host, component, settings[i]);
        plain_plan(&host, &r, &plan, events);
        shares_sum(&host, &r, &plan, 15, x);
        goodness_assert(fit_laplace(x, plan.scale[0]), settings[i], 15);
        shares_sum(&host, &r, &plan, SHARES_PARTIES, x);
        assert_true(variance_of(x) > 2 * plan.scale[0] * plan.scale[0] * 1.3);
        assert_true(fabs(variance_of(x) / plan.variance[0] - 1) < 0.2);
        assert_true(fabs(plan.variance[0] / (2 * plan.scale[0] * plan.scale[0] * 25 / 15) - 1) < 1e-6);
        plain_close(&host);
    }
}

TEST(events_state_exact_noise_in_shares)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    shares_release(&r, ROWS, SHARES_PARTIES);
    plain_release_bound(&r, 0, 3, 3);
    plain_open_random(&host, component, "epsilon=0.5");
    assert_int_equal(plain_plan(&host, &r, &plan, events), 1);
    double t = plan.scale[0] / plan.grid[0];
    assert_true(t == floor(t));
    double spent = events[0].sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l1 / events[0].scale;
    assert_true(spent <= 0.5);
    assert_true(spent > 0.49);
    plain_close(&host);
}

static int setup(void **state)
{
    struct dpf_error error = {0};
    (void)state;
    plain_random_start(23);
    stream = random_stream_open(plain_root, "test", "shares", &error);
    assert_non_null(stream);
    component = plain_component("laplace-gamma", DPF_ROLE_MECHANISM, "laplace-gamma");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    random_stream_free(stream);
    plain_random_stop();
    return 0;
}

FIXTURE(setup, teardown)
