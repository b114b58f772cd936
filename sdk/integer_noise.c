/* SPDX-License-Identifier: Apache-2.0 */
/*
 * integer_noise.c - continuous noise that is no more private than integer noise.
 *
 * Gaussian. Let f be the mass of symmetric noise on the integers, s_k = ln f(k-1)/f(k), and 0 <= s_{k+1} - s_k <= c for
 * all k. Then noise of that law in every coordinate, against a shift by v, is dominated by N(K|v|, 1) against
 * N(0, 1), |v| in L2, if K^2 (1 - K^2/12) >= c. So it is a Gaussian mechanism with a multiplier close to
 * 1/sqrt(c), composed and sampled as one. This is the discrete form of a contraction theorem by Caffarelli.
 *
 * One coordinate, one step. Let a_j be such that a standard normal number is above a_j with the probability
 * that the noise is j or more. Then a_j - a_{j-1} <= K for every j. For suppose it is larger. Cut the line
 * at a_j + iK, i = 0, +-1, ..., and let w_i be the normal mass from a_j + iK on to the next cut; so
 * w_{-1} < f(j-1).
 * With R(b) the mass of [b, b+K] over that of [b-K, b], r = -ln R satisfies r(b+K) - r(b) >= c (below). If
 * r(a_j) >= s_j, then r(a_j + iK) >= r(a_j) + ic >= s_{j+i} for i >= 0: going right, f falls no faster than
 * w, f(j+i) > w_i for all i, and their sums, which are equal, are not.
 *   Else r(a_j - iK) <= r(a_j) - ic < s_{j-i} for i >= 0: going left, f(j-1-i) > w_{-1-i}, and the same.
 *
 * One coordinate, m steps. Since s grows, so does the loss ln f(k-m)/f(k) in k: the best tests of the shift
 * are "k >= j". Their levels are those of normal tests at a_j, their powers those at a_{j-m} >= a_j - mK: at
 * most the power of the normal test against a mean of mK. At every epsilon the divergence is a maximum over
 * such tests of power - e^epsilon level.
 *
 * All coordinates. Dominating pairs multiply (Zhu, Dong, Wang, arXiv 2106.08567, Theorem 10), and the product
 * of normal pairs of shifts K|v_i| is, rotated, the one of shift K|v|.
 *
 * r. With Z(b) the integral of e^{-bs - s^2/2} over [0, K], R(b) = e^{-bK + K^2/2} Z(b)/Z(b-K), as s -> K - s
 * shows. (ln Z)'' is the variance of a normal law cut to an interval of length K. It is at most that of the
 * exponential law of the same mean on the interval, since the logarithm of their ratio is concave: it changes
 * sign twice. That one is (K/2)^2 (1/x^2 - 1/sinh^2 x) <= K^2/12. So r' >= K - K K^2/12.
 *
 * Which c. Discrete Gaussian of scale s: s_{k+1} - s_k = 1/s^2. Skellam of variance V: f(k) is I_k(V) e^{-V},
 * and the products I_k^2 and I_{k-1} I_{k+1} are power series (DLMF 10.31.3) whose terms have the ratio
 * N/(N+1), N = k, k+1, ... So I_{k-1} I_{k+1} / I_k^2 is the mean of N/(N+1) under weights proportional to
 * (2N)! (V/2)^{2N} / (N!^2 (N-k)! (N+k)!). From k to k+1 these grow by (N-k)/(N+k+1), which grows in N: so
 * does the mean, and c is its value at k = 0, 2 ln(I_0/I_1). With rho_k = I_k/I_{k-1}:
 * rho_k >= V/(k - 1/2 + sqrt((k + 1/2)^2 + V^2)) (Amos, 1974, at orders from 0), and
 * 1/rho_k = 2k/V + rho_{k+1}.
 *
 * Laplace. Discrete Laplace noise on a grid of s scales has, for a shift by m steps, the divergence of
 * Laplace noise for E = s m at x = E - 2 s j, 1 - u e^{-E/2} with u = e^{x/2}, and between these points its
 * chord in e^x = u^2. From u to r u, r = e^s, the chord is above the curve by at most e^{-E/2} u (r-1)^2/(4
 * (r+1)): by less than what the curve of Laplace noise for E + d is above it, e^{-E/2} u (1 - e^{-d/2}), if
 * d = -2 ln(1 - (r-1)^2/(4 (r+1))), about s^2/4. Outside of [-E, E] both have the divergence of everything,
 * 1 - e^x, or none.
 */
#include "dpframe/integer_noise.h"

/* The least K with K^2 (1 - K^2/12) >= c; INFINITY if there is none. */
static double integer_noise_shift(double c)
{
    const double rest = 1.0 - c / 3.0;
    return rest > 0.0 ? sqrt(2.0 * c / (1.0 + sqrt(rest))) * (1.0 + 1e-14) : INFINITY;
}

double dpf_discrete_gaussian_shift(double scale)
{
    return integer_noise_shift(1.0 / (scale * scale) * (1.0 + 1e-15));
}

/* I_1/I_0 at least, from Amos's bound at an odd order: each step back turns a bound from below into one from
   above. */
static double skellam_least_ratio(double variance, int order)
{
    double ratio = variance / (order - 0.5 + sqrt((order + 0.5) * (order + 0.5) + variance * variance));
    for (int k = order - 1; k >= 1; k--)
        ratio = 1.0 / (2.0 * k / variance + ratio);
    return ratio;
}

double dpf_skellam_shift(double variance)
{
    /* Amos's bound at order 1, and sqrt(V^2 + 9/4) <= V + 9/(8 V). From a variance of 1000 on the continued
       fraction gains nothing. */
    double c = 2.0 * log1p(1.0 / (2.0 * variance) + 9.0 / (8.0 * variance * variance)) * (1.0 + 1e-14);
    for (int order = 1; variance < 1000.0 && order <= 63; order += 2)
        c = fmin(c, -2.0 * log(skellam_least_ratio(variance, order) * (1.0 - 1e-14)));
    return integer_noise_shift(c);
}

double dpf_discrete_laplace_epsilon(double step, double steps)
{
    const double r = exp(step), part = (r - 1.0) * (r - 1.0) / (4.0 * (r + 1.0));
    return part < 1.0 ? (step * steps - 2.0 * log1p(-part)) * (1.0 + 1e-14) : INFINITY;
}
