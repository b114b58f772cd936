/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gaussian.c - i.i.d. Gaussian noise on every number of a query.
 *
 * Why it is private. Let D_b be the L2 sensitivity of block b after rounding to its grid, z the noise
 * multiplier, beta_b shares that add up to 1. Block b has discrete Gaussian noise of sigma_b >= z D_b /
 * sqrt(beta_b). Divide each block by its sigma: the concatenation has sensitivity
 * sqrt(sum (D_b/sigma_b)^2) <= sqrt(sum beta_b / z^2) = 1/z and noise of sigma 1. So all blocks together
 * are one Gaussian mechanism of multiplier z, whichever way they share. Where blocks share a bound, such as
 * one clip for the whole message, D is the largest norm of the concatenation under that bound, which is
 * charged once: sigma_b = z C w_b for one ball of radius C with weights w_b, for the Gram row's blocks too.
 * The discrete Gaussian has the concentrated DP of the continuous one, rho = 1/(2 z^2) (Canonne, Kamath,
 * Steinke, arXiv 2004.00010, Theorem 14). Calibration only chooses z; what is proved about the release is
 * what an accountant derives from its events, one for each block.
 *
 * Calibration, for sensitivity 1:
 *   classic   z = sqrt(2 ln(1.25/delta)) / epsilon, for epsilon < 1 (Dwork, Roth 2014, Theorem A.1)
 *   analytic  the least z with Phi(1/(2z) - epsilon z) - e^epsilon Phi(-1/(2z) - epsilon z) <= delta
 *             (Balle, Wang, ICML 2018, Theorem 8), from the private side of a bracket
 */
#include <float.h>

#include "dpframe/additive_mechanism.h"

enum { P_CALIBRATION, P_EPSILON, P_DELTA, P_MULTIPLIER, P_SIGMA, P_SHARED };

enum { CALIBRATION_CLASSIC, CALIBRATION_ANALYTIC, CALIBRATION_MULTIPLIER, CALIBRATION_SIGMA };
static const dpf_enum_value calibrations[] = {
    {"classic", "sigma = sensitivity * sqrt(2 ln(1.25/delta)) / epsilon; holds for epsilon < 1 only."},
    {"analytic", "The least sigma that is (epsilon, delta)-DP for one release, any epsilon."},
    {"noise-multiplier", "sigma = noise-multiplier * sensitivity; [privacy] budget = total chooses it."},
    {"sigma", "sigma as given, for any sensitivity."},
};

static const dpf_param params[] = {
    [P_CALIBRATION] = DPF_PARAM_ENUM_F("calibration", CALIBRATION_MULTIPLIER, calibrations, DPF_PARAM_PRIVACY,
                                       "How sigma is computed."),
    [P_EPSILON] = DPF_PARAM_REAL_F("epsilon", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                   "Budget of one release, for classic and analytic."),
    [P_DELTA] = DPF_PARAM_REAL_F("delta", 0.0, 0.0, 1.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_HI, "",
                                 "Delta of one release, above 0 for classic and analytic; others take none."),
    [P_MULTIPLIER] =
        DPF_PARAM_REAL_F("noise-multiplier", 1.0, 0.0, 1e9, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                         "sigma over L2 sensitivity of all blocks together."),
    [P_SIGMA] = DPF_PARAM_REAL_F("sigma", 1.0, 0.0, 1e30, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                 "Standard deviation of the noise on every number, for calibration = sigma."),
    DPF_ADDITIVE_PARAMS,
};

#define DENSITY_AT_0 0.39894228040143267794
#define ROOT_HALF 0.70710678118654752440

/* Phi(-x) over the normal density at x, x >= 0. */
static double mills(double x)
{
    double below = 0;
    if (x < 6)
        return 0.5 * erfc(x * ROOT_HALF) * exp(x * x / 2) / DENSITY_AT_0;
    for (int k = 60; k > 0; k--) /* Laplace's continued fraction */
        below = k / (x + below);
    return 1 / (x + below);
}

/*
 * Whether multiplier z gives (epsilon, delta) for certain: rounding errors count against it. With a = epsilon z -
 * 1/(2z) and b = epsilon z + 1/(2z) the density at a is e^epsilon times that at b, since b^2 - a^2 = 2 epsilon. So
 * e^epsilon Phi(-b) is the density at a times Mills' ratio at b, which neither overflows nor vanishes at any epsilon.
 * a is known to DBL_EPSILON b, which moves the density by |a| times that.
 */
static int is_private(double z, double epsilon, double delta)
{
    const double a = epsilon * z - 0.5 / z, b = epsilon * z + 0.5 / z;
    const double density = DENSITY_AT_0 * exp(-a * a / 2);
    const double below = a < 0 ? 0.5 * erfc(a * ROOT_HALF) : density * mills(a);
    const double error = DBL_EPSILON * (64 + 4 * b * (1 + fabs(a))) * below;
    return below - density * mills(b) + error <= delta;
}

static double analytic_multiplier(double epsilon, double delta)
{
    double lo = 1, hi = 1;
    while (!is_private(hi, epsilon, delta) && hi < 1e12)
        hi *= 2;
    while (is_private(lo, epsilon, delta) && lo > 1e-12)
        lo /= 2;
    for (int i = 0; i < 200 && hi - lo > 1e-13 * hi; i++) {
        double middle = lo + (hi - lo) / 2;
        if (is_private(middle, epsilon, delta))
            hi = middle;
        else
            lo = middle;
    }
    return is_private(hi, epsilon, delta) ? hi : INFINITY;
}

static dpf_status multiplier(const dpf_host *host, const dpf_value *values, double *out)
{
    const double epsilon = values[P_EPSILON].real, delta = values[P_DELTA].real;
    const int64_t calibration = values[P_CALIBRATION].integer;
    const int is_given = calibration == CALIBRATION_MULTIPLIER || calibration == CALIBRATION_SIGMA;
    *out = values[calibration == CALIBRATION_SIGMA ? P_SIGMA : P_MULTIPLIER].real;
    if (is_given && delta > 0) /* whoever gives a delta may count on it */
        dpf_log(host)->message(
            host, DPF_LOG_WARNING,
            "delta has no effect with calibration = noise-multiplier or sigma; calibration = "
            "analytic and classic read it");
    if (is_given)
        return DPF_OK;
    if (!(delta > 0))
        return host->fail(
            host, DPF_E_CONFIG, P_DELTA,
            "delta = 0: calibration = analytic and classic need a delta of one release above 0, "
            "well below one over the number of users, such as 1e-6; calibration = "
            "noise-multiplier needs none, and [privacy] budget = total chooses its noise");
    if (calibration == CALIBRATION_CLASSIC && !(epsilon < 1))
        return host->fail(
            host, DPF_E_CONFIG, P_EPSILON,
            "the classic calibration is proved for epsilon < 1 only; use calibration = analytic");
    *out = calibration == CALIBRATION_CLASSIC ? sqrt(2 * log(1.25 / delta)) / epsilon
                                              : analytic_multiplier(epsilon, delta);
    if (!isfinite(*out))
        return host->fail(host, DPF_E_NUMERIC, P_DELTA,
                          "no noise multiplier was found for this epsilon and delta");
    return DPF_OK;
}

static double epsilon_asked(const dpf_value *values)
{
    const int64_t calibration = values[P_CALIBRATION].integer;
    return calibration == CALIBRATION_CLASSIC || calibration == CALIBRATION_ANALYTIC ? values[P_EPSILON].real
                                                                                     : NAN;
}

static int32_t is_sigma(const dpf_value *values)
{
    return values[P_CALIBRATION].integer == CALIBRATION_SIGMA;
}

/* The discrete Gaussian's variance differs from sigma^2 by a factor 1 - exp(-2 pi^2 sigma^2) or so. */
static double variance(const dpf_noise_source *from, double steps, int64_t n)
{
    (void)from, (void)n;
    return steps * steps;
}

static const dpf_additive_mechanism gaussian = {
    .norm = DPF_NORM_L2,
    .event = DPF_EVENT_DISCRETE_GAUSSIAN,
    .bits = 21,
    .max_bits = 24, /* of dpf_random_service.discrete_gaussian */
    .shared = P_SHARED,
    .multiplier = multiplier,
    .is_scale = is_sigma,
    .epsilon = epsilon_asked,
    .draw = dpf_draw_discrete_gaussian,
    .variance = variance,
};

DPF_ADDITIVE_COMPONENT(
    component, gaussian, dpf_additive_functions, .id = "gaussian", .version = "1.0.0",
    .summary = "Discrete Gaussian noise on the grid, four ways of calibration",
    .citation = "Balle, Wang, ICML 2018, Theorem 8; Canonne, Kamath, Steinke, arXiv 2004.00010",
    DPF_PARAMS(params))
DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.mechanism.gaussian", "1.0.0", "Apache-2.0", component)
