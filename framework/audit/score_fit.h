/* SPDX-License-Identifier: Apache-2.0 */
/*
 * score_fit.h - learns a score for vectors of unknown density from a sample of each of two data sets.
 *
 * It treats numbers as independent. This assumption and the fitted laws decide how powerful the score is. A bound
 * from trials that took no part in the learning is valid for every score.
 */
#ifndef DPF_AUDIT_SCORE_FIT_H
#define DPF_AUDIT_SCORE_FIT_H

#include <stdint.h>

enum learn_kind {
    LEARN_MEANS,     /* Fisher's discriminant: a weight for each number, by how far apart its means are */
    LEARN_DENSITIES, /* the ratio of Laplace densities: also where the spread differs, and robust */
    LEARN_N_KINDS
};

/* What has been learnt of one number. */
struct learnt {
    double centre[2],
        spread[2]; /* of either sample: means and common deviation, or medians and mean distances */
    int counts;    /* it tells more than chance would */
};

/* out has width entries. samples[s]: n vectors of width numbers, one after the other. 0, or -1: no memory. */
int learn_from(enum learn_kind kind, const double *const samples[2], int64_t n, int64_t width,
               struct learnt *out);
/* Large where the vector looks like one of the first sample. */
double learn_score(enum learn_kind kind, const struct learnt *learnt, const double *vector, int64_t width);

#endif
