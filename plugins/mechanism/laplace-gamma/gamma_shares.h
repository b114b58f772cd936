/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gamma_shares.h - shares of discrete Laplace noise: differences of negative binomial numbers, exactly.
 *
 * Law. Let q = exp(-1/s). Geometric G has Pr[k] = (1 - q) q^k, and G - G' is discrete Laplace of scale s. The
 * negative binomial (Polya) NB(r, q) has generating function ((1 - q) / (1 - q z))^r, so the sum of t of them
 * with r = 1/t is geometric: t differences of NB(1/t, q) add up to discrete Laplace noise (Goryczka, Xiong,
 * IEEE TDSC 2017; Kairouz, Liu, Steinke, arXiv 2102.06387, for the use).
 *
 * Sampling. log of that function is r sum_k q^k (z^k - 1) / k: NB(r, q) is the sum of the jumps of a Poisson
 * process whose rate at jump size k = 1, 2, ... is r q^k / k. Jumps are thinned from a process with rational
 * rates that dominates it. Let 2^J be the first power of two >= s. slot j < J          rate r, k uniform in
 * [2^j, 2^(j+1)): density r 2^-j; kept with probability (2^j / k) exp(-k/s); slots J and J + 1   rate 2 r
 * together, m with Pr[m] = 2^-(m+1), k uniform in 2^J + m s + [0, s): density r 2^-m / s; kept with
 * probability (s / k) (2 / e)^m exp(-(k - m s) / s). Each leaves r exp(-k/s) / k, and each probability is a
 * product of rationals, of exp(-x) with rational x, and of 2/e, for all of which a coin can be flipped with
 * integers alone. The number of candidates of a row is Poisson with a rational rate, also exact. No
 * floating-point number takes part.
 */
#ifndef DPF_PLUGINS_GAMMA_SHARES_H
#define DPF_PLUGINS_GAMMA_SHARES_H

#include "dpframe/host.h"

#define GAMMA_MAX_SCALE (UINT64_C(1) << 42)
#define GAMMA_MAX_WIDTH (UINT64_C(1) << 20)
#define GAMMA_MAX_PARTIES (UINT64_C(1) << 31)

/*
 * Adds to out[0 .. width-1] independent differences of two NB(shares / t, exp(-1/s)) numbers. 0, or -1 if a
 * sum leaves +-2^62, which has a probability below exp(-2^19).
 */
int gamma_shares_add(const dpf_random_service *random, dpf_cursor *cursor, uint64_t s, uint64_t shares,
                     uint64_t t, uint64_t width, int64_t *out);

#endif
