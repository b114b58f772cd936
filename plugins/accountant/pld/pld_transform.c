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
dpf_status pld_transform_fit(const dpf_host *host, double length, struct pld_transform *t)
{
    const dpf_memory_service *memory = dpf_memory(host);
    if ((double)t->n >= length && (double)t->n <= 2.0 * length)
        return DPF_OK;
    const int64_t n = good_length(length);
    const uint64_t half = (uint64_t)n / 2 + 1;
    pld_transform_free(host, t);
    t->n = n;
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

/* Tilted masses below that are beside any error, and near the end of the range of a double. */
#define LOG_LEAST -650.0

static int64_t around(double index, int64_t n)
{
    const double rest = fmod(index, (double)n);
    return (int64_t)(rest < 0.0 ? rest + (double)n : rest);
}

struct term {
    double mass;
    int64_t at; /* from -n/2 to n/2 */
};

/* A group's tilted masses around the circle. */
struct group_terms {
    struct term *terms;
    int64_t n;
    double copies, centre;
    double surplus; /* of their sum above 1 */
};

struct sum {
    double value, rest;
};

static void sum_add(struct sum *sum, double x)
{
    const double next = sum->value + x, more = next - sum->value;
    sum->rest += (sum->value - (next - more)) + (x - more);
    sum->value = next;
}

/* Roundings of a tilted mass are on the safe side. */
static void read_terms(const struct pld_losses *losses, double tilt, int from_below, int64_t n,
                       struct group_terms *out)
{
    const struct pld_law law = pld_law_one(losses, tilt);
    const double log_sum = law.log_sum - tilt * losses->offset;
    const double step = tilt * losses->h, side = from_below ? -DBL_EPSILON : DBL_EPSILON;
    struct sum total = {-1.0, 0.0};
    out->n = 0;
    out->copies = losses->copies;
    out->centre = nearbyint((law.mean - losses->offset) / losses->h);
    for (int64_t i = 0; i < losses->n; i++) {
        const double moved = step * losses->at[i], x = losses->logs[i] + moved - log_sum;
        if (!(x > LOG_LEAST) && (from_below || !(losses->mass[i] > 0.0)))
            continue;
        const double error =
            2.0 * (fabs(losses->logs[i]) + fabs(moved) + fabs(law.log_sum) + fabs(tilt * losses->offset)) +
            4.0;
        const double mass = exp(x > LOG_LEAST ? x : LOG_LEAST) * (1.0 + side * error);
        int64_t at = around(losses->at[i] - out->centre, n);
        at -= 2 * at > n ? n : 0;
        out->terms[out->n++] = (struct term){mass, at};
        sum_add(&total, mass);
    }
    out->surplus = total.value + total.rest;
}

static void groups_free(const dpf_host *host, struct group_terms *groups, int64_t n)
{
    const dpf_memory_service *memory = dpf_memory(host);
    for (int64_t i = 0; groups && i < n; i++)
        memory->release(host, groups[i].terms);
    memory->release(host, groups);
}

static struct group_terms *groups_new(const dpf_host *host, const struct pld_losses *losses, int64_t n)
{
    const dpf_memory_service *memory = dpf_memory(host);
    struct group_terms *groups = memory->allocate(host, (uint64_t)n * sizeof *groups);
    int failed = 0;
    for (int64_t i = 0; groups && i < n; i++) {
        groups[i].terms = memory->allocate(host, (uint64_t)losses[i].n * sizeof *groups[i].terms);
        failed |= !groups[i].terms;
    }
    if (!failed)
        return groups;
    groups_free(host, groups, n);
    return NULL;
}

/* Around the circle. Returns the sum of their squares. */
static double place(const struct group_terms *group, struct pld_transform *t)
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

/* ---- by sums ------------------------------------------------------------------------------------- */

/* Frequencies with a smaller G are nothing: the square of its logarithm. */
#define LEAST_SQUARE 1e-56
/* Terms of all sums, at most: a fraction of a second. */
#define MOST_TERMS 6e7
/* Roundings of a sum: of a term, within a run and of the runs. */
#define SUM_ROUNDINGS 48.0
#define RUN 32

/* e^{-2 pi i m / n} - 1 for whole m from -n/2 to n/2, by two tables: with m = a b + c, |c| <= b/2, it is
   (A + 1)(C + 1) - 1, and no small difference of large numbers. */
struct circle {
    int64_t n, block, blocks;
    double *fine_re, *fine_im;     /* of c + block/2 */
    double *coarse_re, *coarse_im; /* of a + blocks */
};

static void circle_free(const dpf_host *host, struct circle *c)
{
    const dpf_memory_service *memory = dpf_memory(host);
    memory->release(host, c->fine_re);
    memory->release(host, c->fine_im);
    memory->release(host, c->coarse_re);
    memory->release(host, c->coarse_im);
}

static void less_one(double turn, double *re, double *im)
{
    const double half = sin(3.14159265358979323846 * turn);
    *re = -2.0 * half * half;
    *im = -sin(6.28318530717958647693 * turn);
}

static dpf_status circle_new(const dpf_host *host, int64_t n, struct circle *c)
{
    const dpf_memory_service *memory = dpf_memory(host);
    *c = (struct circle){.n = n, .block = 2 * (int64_t)ceil(sqrt((double)n) / 2.0)};
    c->blocks = n / (2 * c->block) + 1;
    double **const tables[] = {&c->fine_re, &c->fine_im, &c->coarse_re, &c->coarse_im};
    for (size_t i = 0; i < 4; i++) {
        const int64_t length = i < 2 ? c->block + 1 : 2 * c->blocks + 1;
        *tables[i] = memory->allocate(host, (uint64_t)length * sizeof(double));
        if (!*tables[i]) {
            circle_free(host, c);
            return DPF_E_MEMORY;
        }
    }
    for (int64_t i = 0; i <= c->block; i++)
        less_one((double)(i - c->block / 2) / (double)n, &c->fine_re[i], &c->fine_im[i]);
    for (int64_t i = 0; i <= 2 * c->blocks; i++)
        less_one((double)((i - c->blocks) * c->block) / (double)n, &c->coarse_re[i], &c->coarse_im[i]);
    return DPF_OK;
}

/* phi - 1 at frequency k; the masses sum to 1 + surplus. */
static void near_one(const struct circle *c, const struct term *terms, int64_t n, int64_t k, double surplus,
                     double *re, double *im)
{
    struct sum real = {surplus, 0.0}, imaginary = {0.0, 0.0};
    const double inverse = 1.0 / (double)c->block;
    for (int64_t start = 0; start < n; start += RUN) {
        const int64_t end = start + RUN < n ? start + RUN : n;
        double run_re = 0.0, run_im = 0.0;
        for (int64_t i = start; i < end; i++) {
            int64_t m = terms[i].at * k % c->n;
            m -= 2 * m > c->n ? c->n : 0;
            m += 2 * m < -c->n ? c->n : 0;
            const int64_t a = (int64_t)nearbyint((double)m * inverse), f = m - a * c->block + c->block / 2;
            const double x = c->coarse_re[a + c->blocks], y = c->coarse_im[a + c->blocks];
            const double u = c->fine_re[f], v = c->fine_im[f];
            run_re += terms[i].mass * (x * u - y * v + x + u);
            run_im += terms[i].mass * (x * v + y * u + y + v);
        }
        sum_add(&real, run_re);
        sum_add(&imaginary, run_im);
    }
    *re = real.value + real.rest;
    *im = imaginary.value + imaginary.rest;
}

/* G at frequency k, and a bound of its relative error. */
static double sum_power(const struct circle *c, const struct group_terms *groups, int64_t n, int64_t k,
                        fftw_complex *out)
{
    double log_re = 0.0, log_im = 0.0, error = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double re, im;
        near_one(c, groups[i].terms, groups[i].n, k, groups[i].surplus, &re, &im);
        const double one_re = 0.5 * log1p(2.0 * re + re * re + im * im), one_im = atan2(im, 1.0 + re);
        const double spread = sqrt(re < 0.0 ? -2.0 * re : 0.0) + 1e-15, size = exp(one_re);
        log_re += groups[i].copies * one_re;
        log_im += groups[i].copies * one_im;
        error += groups[i].copies * DBL_EPSILON *
                 (SUM_ROUNDINGS * spread / size + 4.0 * (fabs(one_re) + fabs(one_im)));
    }
    const double size = exp(log_re);
    (*out)[0] = size * cos(log_im);
    (*out)[1] = size * sin(log_im);
    return error * (1.0 + 4.0 * error) + 8.0 * DBL_EPSILON;
}

/* ---- both ---------------------------------------------------------------------------------------- */

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
static dpf_status refine(const dpf_host *host, const struct group_terms *groups, int64_t n,
                         const struct rounding *r, struct pld_transform *t, double *squares)
{
    struct circle circle;
    const double growth = exp(8.0 * r->weighted);
    if (circle_new(host, t->n, &circle) != DPF_OK)
        return DPF_E_MEMORY;
    *squares = 0.0;
    for (int64_t k = 0; k <= t->n / 2; k++) {
        const double old = sqrt(square(t->product[k])), both = k == 0 || 2 * k == t->n ? 1.0 : 2.0;
        double error = growth * (2.0 * r->weighted * old + r->flat);
        if (old * old > LEAST_SQUARE) {
            const double relative = sum_power(&circle, groups, n, k, &t->product[k]);
            error = relative < 0.1 ? relative * sqrt(square(t->product[k])) : INFINITY;
        }
        *squares += both * error * error;
    }
    circle_free(host, &circle);
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

static struct rounding multiply_all(const struct group_terms *groups, int64_t n, struct pld_transform *t)
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

dpf_status pld_transform_compose(const dpf_host *host, const struct pld_losses *losses, int64_t n,
                                 double tilt, int from_below, struct pld_transform *t)
{
    struct group_terms *groups = groups_new(host, losses, n);
    double terms = 0.0;
    if (!groups)
        return DPF_E_MEMORY;
    t->shift = 0.0;
    for (int64_t i = 0; i < n; i++) {
        read_terms(&losses[i], tilt, from_below, t->n, &groups[i]);
        t->shift += groups[i].copies * groups[i].centre;
        terms += (double)groups[i].n;
    }
    const struct rounding r = multiply_all(groups, n, t);
    double squares = fft_error(&r, t);
    dpf_status status = DPF_OK;
    if (r.weighted > MUCH_ROUNDING && r.weighted < 0.1 && terms * (double)count_live(t) < MOST_TERMS)
        status = refine(host, groups, n, &r, t, &squares);
    groups_free(host, groups, n);
    if (status == DPF_OK)
        inverse(squares, t);
    return status;
}

int64_t pld_transform_index(const struct pld_transform *t, double x)
{
    return around(x - t->shift, t->n);
}
