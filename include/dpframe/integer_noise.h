/* SPDX-License-Identifier: Apache-2.0 */
/*
 * integer_noise.h - bounds integer noise by continuous noise that is no more private; a convenience, not part
 * of the ABI.
 *
 * Gaussian. Integer noise against a shift of any vector of integers is dominated by a Gaussian pair, in
 * hockey-stick divergence at every epsilon, and so in every composition and under every draw.
 *
 * The proofs are in sdk/integer_noise.c of the sources.
 */
#ifndef DPFRAME_INTEGER_NOISE_H
#define DPFRAME_INTEGER_NOISE_H

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

/* K of the discrete Gaussian, scale in grid steps; INFINITY if the noise is too little. A shift of norm D in
   grid steps is that of a Gaussian mechanism with noise multiplier 1/(K D). */
double dpf_discrete_gaussian_shift(double scale);

/* K of Skellam noise, variance in squared grid steps; INFINITY if it is too little. */
double dpf_skellam_shift(double variance);

/* E of Laplace noise that is no more private than discrete Laplace noise for a shift by `steps` steps, of
   `step` scales each; INFINITY if the grid is too coarse. */
double dpf_discrete_laplace_epsilon(double step, double steps);

#ifdef __cplusplus
}
#endif
#endif
