/* SPDX-License-Identifier: Apache-2.0 */
#include "pld_transform.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- plans --------------------------------------------------------------------------------------- */

/* FFTW's planner is not thread-safe. */
static unsigned char planner;

static void planner_enter(void)
{
    while (__atomic_test_and_set(&planner, __ATOMIC_ACQUIRE)) {
    }
}

static void planner_leave(void)
{
    __atomic_clear(&planner, __ATOMIC_RELEASE);
}

void pld_transform_free(const dpf_host *host, struct pld_transform *t)
{
    const dpf_memory_service *memory = dpf_memory(host);
    planner_enter();
    if (t->forward)
        fftw_destroy_plan(t->forward);
    if (t->backward)
        fftw_destroy_plan(t->backward);
    planner_leave();
    pld_spectrum_free(host, &t->spectrum);
    memory->release(host, t->real);
    memory->release(host, t->one);
    memory->release(host, t->product);
    memset(t, 0, sizeof *t);
}

/* The least length of the form 2^k, 3 2^k or 5 2^k that is at least n. */
static int64_t good_length(double n)
{
    int64_t best = 1024;
    while ((double)best < n)
        best *= 2;
    if ((double)(best / 8 * 5) >= n)
        return best / 8 * 5;
    return (double)(best / 4 * 3) >= n ? best / 4 * 3 : best;
}

/* Planning takes as long as a transform: one that is a little too long is used again. */
void pld_transform_fit(const dpf_host *host, double length, struct pld_transform *t)
{
    if ((double)t->n >= length && (double)t->n <= 2.0 * length)
        return;
    pld_transform_free(host, t);
    t->n = good_length(length);
}

/* Memory and plans, unless they are there. */
static dpf_status make_plans(const dpf_host *host, struct pld_transform *t)
{
    const dpf_memory_service *memory = dpf_memory(host);
    const int64_t n = t->n;
    const uint64_t half = (uint64_t)n / 2 + 1;
    if (t->backward)
        return DPF_OK;
    t->real = memory->allocate(host, (uint64_t)n * sizeof(double));
    t->one = memory->allocate(host, half * sizeof(fftw_complex));
    t->product = memory->allocate(host, half * sizeof(fftw_complex));
    if (t->real && t->one && t->product) {
        planner_enter();
        t->forward = fftw_plan_dft_r2c_1d((int)n, t->real, t->one, FFTW_ESTIMATE);
        t->backward = fftw_plan_dft_c2r_1d((int)n, t->product, t->real, FFTW_ESTIMATE);
        planner_leave();
    }
    if (t->forward && t->backward)
        return DPF_OK;
    pld_transform_free(host, t);
    return DPF_E_MEMORY;
}

/* ---- by FFT -------------------------------------------------------------------------------------- */

/* Around the circle. Returns the sum of their squares. */
static double place(const struct pld_terms *group, struct pld_transform *t)
{
    double squares = 0.0;
    memset(t->real, 0, (size_t)t->n * sizeof(double));
    for (int64_t i = 0; i < group->n; i++) {
        double *const to = &t->real[group->terms[i].at + (group->terms[i].at < 0 ? t->n : 0)];
        const double before = *to;
        *to += group->terms[i].mass;
        squares += *to * *to - before * before;
    }
    return squares * (1.0 + 1e-9);
}

/* Block by block: then the loops over a block have no branches, and compilers use vectors. */
#define BLOCK 64

static void power_block(const fftw_complex *one, int64_t n, uint64_t power, double *out_re, double *out_im)
{
    double re[BLOCK], im[BLOCK];
    for (int64_t i = 0; i < n; i++) {
        re[i] = one[i][0];
        im[i] = one[i][1];
    }
    for (uint64_t rest = power; rest > 0; rest >>= 1) {
        for (int64_t i = 0; (rest & 1) && i < n; i++) {
            const double x = out_re[i] * re[i] - out_im[i] * im[i];
            out_im[i] = out_re[i] * im[i] + out_im[i] * re[i];
            out_re[i] = x;
        }
        for (int64_t i = 0; rest > 1 && i < n; i++) {
            const double x = re[i] * re[i] - im[i] * im[i];
            im[i] = 2.0 * re[i] * im[i];
            re[i] = x;
        }
    }
}

/* product *= one^power, at every frequency. */
static void multiply(fftw_complex *product, const fftw_complex *one, int64_t n, uint64_t power, int first)
{
    double re[BLOCK], im[BLOCK];
    for (int64_t start = 0; start < n; start += BLOCK) {
        const int64_t length = n - start < BLOCK ? n - start : BLOCK;
        for (int64_t i = 0; i < length; i++) {
            re[i] = first ? 1.0 : product[start + i][0];
            im[i] = first ? 0.0 : product[start + i][1];
        }
        power_block(one + start, length, power, re, im);
        for (int64_t i = 0; i < length; i++) {
            product[start + i][0] = re[i];
            product[start + i][1] = im[i];
        }
    }
}

/* ---- errors -------------------------------------------------------------------------------------- */

/* Frequencies with a smaller G are nothing: the square of its logarithm. */
#define LEAST_SQUARE 1e-56
/* Terms of all sums, at most: a fraction of a second. */
#define MOST_TERMS 6e7

/* What FFTs alone are off by. */
struct rounding {
    double weighted; /* w */
    double flat;
};

static double square(const fftw_complex z)
{
    return z[0] * z[0] + z[1] * z[1];
}

/* Frequencies at which the product is not next to nothing. */
static int64_t count_live(const struct pld_transform *t)
{
    int64_t live = 0;
    for (int64_t k = 0; k <= t->n / 2; k++)
        live += square(t->product[k]) > LEAST_SQUARE;
    return live;
}

/* Replaces what counts. *squares is the square of the norm of the error of G, over all n frequencies. */
static dpf_status refine(const dpf_host *host, const struct pld_terms *groups, int64_t n,
                         const struct rounding *r, struct pld_transform *t, double *squares)
{
    struct pld_circle circle;
    const double growth = exp(8.0 * r->weighted);
    if (pld_circle_new(host, t->n, &circle) != DPF_OK)
        return DPF_E_MEMORY;
    *squares = 0.0;
    for (int64_t k = 0; k <= t->n / 2; k++) {
        const double old = sqrt(square(t->product[k])), both = k == 0 || 2 * k == t->n ? 1.0 : 2.0;
        double error = growth * (2.0 * r->weighted * old + r->flat);
        if (old * old > LEAST_SQUARE) {
            const double relative =
                pld_sums_power(&circle, groups, n, k, &t->product[k][0], &t->product[k][1]);
            error = relative < 0.1 ? relative * sqrt(square(t->product[k])) : INFINITY;
        }
        *squares += both * error * error;
    }
    pld_circle_free(host, &circle);
    return DPF_OK;
}

/* Of FFTs alone; infinite if that says nothing. */
static double fft_error(const struct rounding *r, const struct pld_transform *t)
{
    const double growth = exp(8.0 * r->weighted);
    double squares = 0.0;
    for (int64_t k = 0; r->weighted < 0.1 && k <= t->n / 2; k++) {
        const double error = growth * (2.0 * r->weighted * sqrt(square(t->product[k])) + r->flat);
        squares += 2.0 * error * error;
    }
    return r->weighted < 0.1 ? squares : INFINITY;
}

static struct rounding multiply_all(const struct pld_terms *groups, int64_t n, struct pld_transform *t)
{
    const double unit = 8.0 * DBL_EPSILON * log2((double)t->n);
    struct rounding r = {0.0, 0.0};
    for (int64_t i = 0; i < n; i++) {
        const double copies = groups[i].copies, squares = place(&groups[i], t);
        const double eta = unit * sqrt((double)t->n * squares) + 16.0 * DBL_EPSILON;
        fftw_execute(t->forward);
        multiply(t->product, t->one, t->n / 2 + 1, (uint64_t)copies, i == 0);
        r.weighted += copies * eta;
        r.flat += copies * eta * exp2(1.0 - (copies < 1000.0 ? copies : 1000.0));
    }
    return r;
}

static void inverse(double squares, struct pld_transform *t)
{
    double norm = 0.0;
    fftw_execute(t->backward);
    for (int64_t i = 0; i < t->n; i++) {
        t->real[i] /= (double)t->n;
        norm += t->real[i] * t->real[i];
    }
    t->error = sqrt(squares / (double)t->n) * (1.0 + 1e-9) +
               16.0 * DBL_EPSILON * log2((double)t->n) * sqrt(norm) + 1e-300;
}

/* From this error on sums are worth their time. */
#define MUCH_ROUNDING 1e-13

static dpf_status compose_by_fft(const dpf_host *host, const struct pld_terms *groups, int64_t n,
                                 double terms, struct pld_transform *t)
{
    dpf_status status = make_plans(host, t);
    if (status != DPF_OK)
        return status;
    const struct rounding r = multiply_all(groups, n, t);
    double squares = fft_error(&r, t);
    if (r.weighted > MUCH_ROUNDING && r.weighted < 0.1 && terms * (double)count_live(t) < MOST_TERMS)
        status = refine(host, groups, n, &r, t, &squares);
    if (status == DPF_OK)
        inverse(squares, t);
    return status;
}

/* Units of rounding of a sum by frequencies, of both that are read (pld_read.h). */
#define FREQUENCY_ROUNDINGS 128.0

dpf_status pld_transform_compose(const dpf_host *host, const struct pld_losses *losses, int64_t n,
                                 double tilt, int from_below, struct pld_transform *t)
{
    struct pld_terms *groups = pld_terms_new(host, losses, n);
    double terms = 0.0, squares = 0.0;
    if (!groups)
        return DPF_E_MEMORY;
    t->shift = 0.0;
    t->rounding = 0.0;
    pld_spectrum_free(host, &t->spectrum);
    for (int64_t i = 0; i < n; i++) {
        pld_terms_read(&losses[i], tilt, from_below, t->n, &groups[i]);
        t->shift += groups[i].copies * groups[i].centre;
        terms += (double)groups[i].n;
    }
    dpf_status status = pld_spectrum_find(host, groups, n, t->n, &t->spectrum, &squares);
    if (status == DPF_OK && t->spectrum.n > 0) {
        t->error = sqrt(squares / (double)t->n) * (1.0 + 1e-9) + 1e-300;
        t->rounding = FREQUENCY_ROUNDINGS * DBL_EPSILON * pld_spectrum_norm(&t->spectrum) * (1.0 + 1e-9);
    } else if (status == DPF_OK) {
        status = compose_by_fft(host, groups, n, terms, t);
    }
    pld_terms_free(host, groups, n);
    return status;
}

int64_t pld_transform_index(const struct pld_transform *t, double x)
{
    return pld_around(x - t->shift, t->n);
}
