/* SPDX-License-Identifier: Apache-2.0 */
/*
 * projection_utility.h - the error and convergence theory of DPMF-RP, as published and as it can be derived.
 *
 * m item rows of k numbers are projected to p rows by a sparse S (one sign in each column) and summed over n
 * clients by the Poisson binomial mechanism with q trials and scale theta. Delta_1 = 4 e (1 + kappa) B_1
 * bounds what a rating moves of the undivided sum; the publication divides sum and Delta_1 by beta, which
 * changes both sides of each line alike.
 *
 *   Eq. 41       |grad V|_F^2 <= n m Delta_1^2 / 4
 *   Lemma 5.1    E |S'S grad V - grad V|_F^2 <= 2 m / p |grad V|_F^2. Exactly it is (m - 1) / p |grad V|_F^2
 * on average over S: a row meets each of the m - 1 others with probability 1 / p, and its own part comes back
 * unchanged. Lemma 5.2    E |S'(noise)|_F^2 <= m k Delta_1^2 / (4 n q theta^2). The variance of a client's
 * Binomial(q, 1/2 + theta x / c) is at most q / 4, and c = Delta_1 / sqrt(p') is the clip, so a coordinate of
 * the sum over the clients has c^2 n / (4 q theta^2); each of m k numbers of S'(..) is one coordinate of p'
 * k. With the sum in place of its mean n stands in the numerator: n m k Delta_1^2 / (4 p' q theta^2). Eq. 45
 * L_g <= mu + k B_1^2 (1 + kappa). It takes sum_o |u_oh| for the norm of one user's row; the sum is over
 * users. For n users |u_o|_1 <= B_1 the largest eigenvalue of U'CU is at most n (1 + kappa) B_1^2, and the
 * Hessian of the undivided objective (Eq. 4) has twice of it, so L_g <= 2 (mu + n (1 + kappa) B_1^2).
 *   Theorem 5.7  min_t E |grad f|^2 = O(L_g (m k Delta_1^2 sqrt(alpha) / sqrt(beta epsilon) + L_f^2) / log T)
 * for steps gamma_t in proportion to 1/t and plain gradient descent, not Adam. L_f, by which f is assumed
 * Lipschitz in V, is not given; Eq. 49 lets it be any bound on |grad V|, so Eq. 41's is taken unless another
 * is named. The constant of O() is taken as 1.
 */
#ifndef PROJECTION_UTILITY_H
#define PROJECTION_UTILITY_H

struct projection_setting {
    double m, k, p;       /* rows, numbers in a row, rows after the projection */
    double padded;        /* p', rows after flattening */
    double users, beta;   /* all users, and the share of them in a round */
    double theta, trials; /* of the Poisson binomial mechanism */
    double kappa, clip;   /* of the loss: a rated cell weighs 1 + kappa; e, of residuals */
    double bound;         /* B_1 */
    double mu;
    double alpha, epsilon; /* of the publication's Renyi budget */
    double rounds;
    double lipschitz; /* L_f; NaN: Eq. 41's bound */
};

struct projection_bounds {
    double delta1;             /* Delta_1 of the undivided sum */
    double gradient;           /* Eq. 41 */
    double projection;         /* Lemma 5.1 with Eq. 41 */
    double projection_derived; /* its mean over S */
    double noise;              /* Lemma 5.2 */
    double noise_derived;      /* of the sum, at this p' */
    double smoothness;         /* Eq. 45 */
    double smoothness_derived;
    double convergence; /* Theorem 5.7 with 1 for the constant of O(); infinity for one round */
};

void projection_bounds(const struct projection_setting *setting, struct projection_bounds *out);

#endif
