/* SPDX-License-Identifier: Apache-2.0 */
/* solver_fixture.h - for the tests of solvers of quadratics: random systems, float64 reference solutions. */
#ifndef DPF_SOLVER_FIXTURE_H
#define DPF_SOLVER_FIXTURE_H

#include "kit/plain_host.h"

#include "dpframe/privacy.h"
#include "dpframe/role/solver.h"

#define SYSTEMS 11

double solver_uniform(void);

/* Systems of order d: records' Gram matrices, a gram matrix, both ridges, one column left alone. */
struct systems {
    int64_t d;
    int64_t stride; /* of factor rows */
    dpf_query query, gram_query;
    dpf_solve batch;
    double *a[SYSTEMS];       /* complete matrices */
    double *records[SYSTEMS]; /* their part that the blocks hold */
    double *rhs;              /* SYSTEMS x d */
    float *blocks, *gram, *ridge, *rows;
};

void systems_new(struct systems *s, int64_t d, uint32_t layout);

void systems_free(struct systems *s);

void systems_check(const struct systems *s, double tolerance);

#endif
