/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pbm_mixes.h - laws of one coordinate of the Poisson binomial mechanism, the worst ones: exact up to 512
 * trials of the others.
 *
 * Let B(p) be a trial of probability p, W the others' trials, h = 1/2 + theta, l = 1/2 - theta.
 *
 * The client. Bin(q, p) + W grows in the likelihood ratio order with p, since W has a log-concave mass
 * function and that order survives sums with such (Shanthikumar, Yao, 1986). For three laws in that order the
 * likelihood ratio of the outer two dominates that of the inner two in the convex order, so every
 * f-divergence grows when p and p' move apart: the extremes are the ends, h against l, or h against 1/2
 * for zero-out (l against 1/2 is its mirror image).
 *
 * The others. A trial of probability p in [l, h] is a mixture of B(l) and B(h), the same one in both
 * neighbours, and f-divergences are jointly convex in (P, Q): the worst case has every trial at an end. So W
 * = Bin(i, h) + Bin(N - i, l), and the worst is the largest value over i = 0 .. N, N = (n - 1) q, in both
 * directions.
 *
 * Many trials. Dropping some of the others' trials adds nothing but a sum with them, so divergence does not
 * fall (data processing). For i in [i0, i1] the law with i0 trials at h and N - i1 at l is therefore an upper
 * bound: N is cut into blocks of i, which costs about one part in the number of blocks.
 *
 * Tails. Masses of W below a cut are left out; `rest` bounds their sum.
 *
 * Rounding. All masses are sums and products of positive numbers: relative errors, bounded by `rounding`.
 */
#ifndef DPF_PLUGINS_PBM_MIXES_H
#define DPF_PLUGINS_PBM_MIXES_H

#include "dpframe/accounting.h"

/* P and Q at successive values of Z, for one mix of the others. P/Q grows with Z. */
struct pbm_mix {
    double *p;
    double *q;
    int64_t n;
    double rest; /* mass that is left out, of either */
};

struct pbm_mixes {
    const dpf_host *host;
    int64_t n;
    struct pbm_mix *mix;
    double pure;     /* epsilon of the client alone */
    double rounding; /* relative error of a mass */
    int complete;    /* 1: every mix is there, and none stands for several */
};

/*
 * clients >= 1 of them, trials q = 1 .. 256 for each, 0 < theta <= 1/4. zero_out: the client against one that
 * sends the middle; else a client at one end against one at the other. NULL if memory runs out.
 */
struct pbm_mixes *pbm_mixes_new(const dpf_host *host, double theta, int64_t trials, int64_t clients,
                                int zero_out);
void pbm_mixes_free(const dpf_host *host, struct pbm_mixes *pbm);

/* Masses of more trials leave the range of a double. */
#define PBM_MOST_TRIALS 256

/* Why an event's numbers cannot be served, or NULL. */
const char *pbm_parameters_fault(const dpf_event_numbers *p);
/* Why a question about such an event cannot be answered, or NULL. */
const char *pbm_question_fault(const dpf_event *event, const dpf_question *question);

#endif
