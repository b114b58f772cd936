/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kalman - the row that is to be expected, given a noisy quadratic whose noise is known.
 *
 * The loss sums records' w y y' to A and w (r - offset) y to c = b / 2. Were there no noise, c = A q + s: q
 * the row, s what ratings scatter about it, of covariance v A with v = residual-variance. A release adds e to
 * c, of a variance that is public (dpf_solve.noise_variance), and E to A. With the prior q ~ N(0, P), P = v /
 * ridge,
 *
 *     q = P A S^-1 c,   S = A P A + v A + V,
 *
 * the update step of a Kalman filter (Kalman, J. Basic Engineering 82, 1960), is the mean of q given c. V is
 * the variance of e, and that of E q with q as the prior has it. Without noise this is (A + ridge)^-1 c, the
 * minimiser that other solvers find; where noise drowns a row, it is 0. No lambda has to be tuned to epsilon.
 *
 * A has negative eigenvalues raised to 0 first, as in the solver psd. With forget > 0 sums of earlier rounds
 * are kept, weighted by forget, forget^2 ...: their noise was drawn anew, so that it averages out, while s is
 * the same in all of them. Users' rows move from round to round: older sums say less of today's.
 */
#include <math.h>
#include <string.h>

#include "dpframe/plugin.h"
#include "eigen.h"
#include "noisy_quadratic.h"
#include "normal_equations.h"

enum { P_RESIDUAL, P_FORGET, P_COUNT };

struct kalman {
    const dpf_host *host;
    double residual, forget;
};

struct workspace {
    int64_t d;
    struct normal_blocks blocks;
    double gram_count;
    double *gram, *gram_b;         /* what all rows have in common */
    double *noise_c, matrix_noise; /* variances of c, and of a number of A */
    int32_t noisy;                 /* 1: c has noise in every number */
    double *a, *s, *vectors, *values, *c, *p, *x, *work;
};

/* State of a row: sum of weights, of their squares, sums of c and of A. */
static int32_t state_width(void *instance, int32_t dimension)
{
    (void)instance;
    return 2 + dimension + dimension * dimension;
}

static void place(struct workspace *w, double *at)
{
    const int64_t d = w->d;
    double **matrices[] = {&w->gram, &w->a, &w->s, &w->vectors};
    double **rows[] = {&w->gram_b, &w->noise_c, &w->values, &w->c, &w->p, &w->x};
    for (size_t k = 0; k < sizeof matrices / sizeof *matrices; k++, at += d * d)
        *matrices[k] = at;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++, at += d)
        *rows[k] = at;
    w->work = at;
}

/* Variances of b / 2 and of A, of a row and of the Gram row together. */
static dpf_status read_noise(const struct kalman *self, const dpf_solve *batch, struct workspace *w)
{
    const double *of[2] = {batch->noise_variance, batch->gram ? batch->gram_noise_variance : NULL};
    double sum = 0;
    memset(w->noise_c, 0, (size_t)w->d * sizeof(double));
    w->matrix_noise = 0;
    for (int k = 0; k < 2; k++) {
        if (!of[k])
            continue;
        for (int64_t i = 0; i < w->d; i++) {
            w->noise_c[i] += of[k][w->blocks.b->offset + i] / 4;
            sum += of[k][w->blocks.b->offset + i];
        }
        for (int32_t i = 0; i < w->blocks.a->length; i++)
            w->matrix_noise += of[k][w->blocks.a->offset + i] / (double)w->blocks.a->length;
    }
    w->noisy = 1;
    for (int64_t i = 0; i < w->d; i++)
        w->noisy &= w->noise_c[i] > 0;
    if (isfinite(sum) && isfinite(w->matrix_noise))
        return DPF_OK;
    return self->host->fail(self->host, DPF_E_UNSUPPORTED, -1,
                            "the variance of the noise is not known behind these transforms: use the solver "
                            "psd or cholesky, or remove the transforms that are not isometries");
}

static dpf_status workspace_get(const struct kalman *self, const dpf_call *call, const dpf_solve *batch,
                                struct workspace *w)
{
    const int64_t d = batch->query->dimension;
    *w = (struct workspace){.d = d};
    const dpf_status status = normal_blocks_find(
        self->host, batch->query,
        "this solver needs the coefficients of a quadratic: use a loss such as explicit-als", &w->blocks);
    if (status != DPF_OK)
        return status;
    double *at = call->scratch(call, (uint64_t)(4 * d * d + 6 * d + eigen_size(d)) * sizeof(double));
    if (!at)
        return self->host->fail(self->host, DPF_E_MEMORY, -1, "out of scratch memory for a matrix");
    place(w, at);
    return read_noise(self, batch, w);
}

/* ---- one row -------------------------------------------------------------------------------------------
 */

/* A, c and the prior's variances; 0 unless all is as it has to be, with the reason. */
static const char *load(const struct kalman *self, const dpf_solve *batch, int64_t index, struct workspace *w)
{
    const float *row = batch->blocks + index * batch->blocks_stride;
    const dpf_query *query = batch->query;
    const double count =
        fmax(w->gram_count + (w->blocks.count ? (double)row[w->blocks.count->offset] : 0), 0);
    double sum = 0;
    memcpy(w->a, w->gram, (size_t)(w->d * w->d) * sizeof(double));
    normal_add_symmetric(w->blocks.a, row, w->d, w->a);
    for (int64_t i = 0; i < w->d; i++) {
        const double ridge = (query->ridge_constant ? (double)query->ridge_constant[i] : 0) +
                             (query->ridge_per_count ? (double)query->ridge_per_count[i] * count : 0);
        if (!(ridge > 0))
            return "a prior needs regularisation of every unknown: set lambda and bias-lambda above 0";
        w->p[i] = self->residual / ridge;
        w->c[i] = 0.5 * ((double)row[w->blocks.b->offset + i] + w->gram_b[i]);
        sum += fabs(w->c[i]);
    }
    for (int64_t i = 0; i < w->d * w->d; i++)
        sum += fabs(w->a[i]);
    return isfinite(sum) ? NULL : "its coefficients are not finite";
}

/*
 * The weighted mean of this round's sums and earlier ones, in place; returns what its noise is less than that
 * of one round, as a factor of the variance.
 */
static double remember(const struct kalman *self, const dpf_solve *batch, int64_t index, struct workspace *w)
{
    const int64_t d = w->d;
    float *sums = batch->state + index * batch->state_width, *c = sums + 2, *a = c + d;
    const float keep = (float)self->forget;
    sums[0] = keep * sums[0] + 1;
    sums[1] = keep * keep * sums[1] + 1;
    for (int64_t i = 0; i < d; i++) {
        c[i] = keep * c[i] + (float)w->c[i];
        w->c[i] = (double)c[i] / (double)sums[0];
    }
    for (int64_t i = 0; i < d * d; i++) {
        a[i] = keep * a[i] + (float)w->a[i];
        w->a[i] = (double)a[i] / (double)sums[0];
    }
    return (double)sums[1] / ((double)sums[0] * (double)sums[0]);
}

/* A without its negative part. 0, or -1 if no eigenvalues were found. */
static int project(struct workspace *w)
{
    const int64_t d = w->d;
    memcpy(w->s, w->a, (size_t)(d * d) * sizeof(double));
    if (eigen_symmetric(w->s, d, w->values, w->vectors, w->work) != 0)
        return -1;
    noisy_raise(w->values, w->vectors, d, 0, w->a);
    return 0;
}

/* S, lower triangle. */
static void innovation_covariance(const struct kalman *self, double fresh, struct workspace *w)
{
    const int64_t d = w->d;
    double spread = 0;
    for (int64_t i = 0; i < d; i++)
        spread += w->matrix_noise * w->p[i];
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = self->residual * w->a[i * d + j];
            for (int64_t k = 0; k < d; k++)
                sum += w->a[i * d + k] * w->p[k] * w->a[k * d + j];
            w->s[i * d + j] = sum + (i == j ? fresh * (w->noise_c[i] + spread) : 0);
        }
}

/* Without noise S may be singular, and P A S^-1 is (A + ridge)^-1: that matrix. */
static void ridge_matrix(const struct kalman *self, struct workspace *w)
{
    memcpy(w->s, w->a, (size_t)(w->d * w->d) * sizeof(double));
    for (int64_t i = 0; i < w->d; i++)
        w->s[i * w->d + i] += self->residual / w->p[i];
}

/* The row, in x; -1 if a pivot is not positive. */
static int expect_row(const struct kalman *self, double fresh, struct workspace *w)
{
    const int64_t d = w->d;
    memcpy(w->x, w->c, (size_t)d * sizeof(double));
    if (!w->noisy) {
        ridge_matrix(self, w);
        return noisy_solve(w->s, d, w->x);
    }
    innovation_covariance(self, fresh, w);
    if (noisy_solve(w->s, d, w->x) != 0)
        return -1;
    memcpy(w->c, w->x, (size_t)d * sizeof(double));
    for (int64_t i = 0; i < d; i++) {
        double sum = 0;
        for (int64_t j = 0; j < d; j++)
            sum += w->a[i * d + j] * w->c[j];
        w->x[i] = w->p[i] * sum;
    }
    return 0;
}

static dpf_status solve_row(const struct kalman *self, const dpf_solve *batch, int64_t index,
                            struct workspace *w)
{
    const char *fault = load(self, batch, index, w);
    if (fault)
        return normal_fail(self->host, batch, index, fault);
    const double fresh = remember(self, batch, index, w);
    if (project(w) != 0)
        return normal_fail(self->host, batch, index, "no eigenvalues of its matrix were found");
    if (expect_row(self, fresh, w) != 0)
        return normal_fail(self->host, batch, index, "its covariance is singular; add regularisation");
    return noisy_store(self->host, batch, index, w->x, w->d);
}

static dpf_status solve(void *instance, const dpf_call *call, const dpf_solve *batch)
{
    const struct kalman *self = instance;
    struct workspace w;
    dpf_status status = workspace_get(self, call, batch, &w);
    if (status != DPF_OK)
        return status;
    normal_gram(batch, w.d, w.gram, w.gram_b, &w.gram_count);
    for (int64_t row = 0; status == DPF_OK && row < batch->n_rows; row++)
        status = solve_row(self, batch, row, &w);
    return status;
}

/* ---- the component --------------------------------------------------------------------------------------
 */

static dpf_status create(const dpf_host *host, const dpf_params *params, void **out)
{
    struct kalman *self = *out;
    *self = (struct kalman){
        .host = host, .residual = params->values[P_RESIDUAL].real, .forget = params->values[P_FORGET].real};
    return DPF_OK;
}

static const dpf_param params[P_COUNT] = {
    [P_RESIDUAL] = DPF_PARAM_REAL_F("residual-variance", 1.0, 0, 1e12, DPF_PARAM_OPEN_LO, "",
                                    "Variance of a record of weight 1 about its prediction. The prior of an "
                                    "unknown has this over its regularisation as variance."),
    [P_FORGET] = DPF_PARAM_REAL_F("forget", 0.0, 0, 1, 0, "",
                                  "The weight that a round's sums keep one round later; 0: none."),
};

static const dpf_solver functions = {
    .flags = DPF_SOLVER_QUADRATIC | DPF_SOLVER_INDEFINITE | DPF_SOLVER_PRIOR,
    .state_width = state_width,
    .solve = solve,
};

DPF_COMPONENT(
    component, DPF_ROLE_SOLVER, functions, .id = "kalman", .version = "1.0.0",
    .summary = "The expected row given a noisy quadratic, from the known variance of its noise",
    .citation = "Kalman, A new approach to linear filtering and prediction problems, 1960: the update step",
    DPF_PARAMS(params), .create = create, .instance_bytes = sizeof(struct kalman))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.kalman", "1.0.0", "Apache-2.0", component)
