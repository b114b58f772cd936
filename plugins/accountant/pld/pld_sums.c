/* SPDX-License-Identifier: Apache-2.0 */
#include "pld_sums.h"

#include <float.h>
#include <math.h>

/* ---- terms --------------------------------------------------------------------------------------- */

/* Tilted masses below that are beside any error, and near the end of the range of a double. */
#define LOG_LEAST -650.0

int64_t pld_around(double index, int64_t n)
{
    const double rest = fmod(index, (double)n);
    return (int64_t)(rest < 0.0 ? rest + (double)n : rest);
}

void pld_sum_add(struct pld_sum *sum, double x)
{
    const double next = sum->value + x, more = next - sum->value;
    sum->rest += (sum->value - (next - more)) + (x - more);
    sum->value = next;
}

void pld_terms_read(const struct pld_losses *losses, double tilt, int from_below, int64_t n,
                    struct pld_terms *out)
{
    const struct pld_law law = pld_law_one(losses, tilt);
    const double log_sum = law.log_sum - tilt * losses->offset;
    const double step = tilt * losses->h, side = from_below ? -DBL_EPSILON : DBL_EPSILON;
    struct pld_sum total = {-1.0, 0.0};
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
        int64_t at = pld_around(losses->at[i] - out->centre, n);
        at -= 2 * at > n ? n : 0;
        out->terms[out->n++] = (struct pld_term){mass, at};
        pld_sum_add(&total, mass);
    }
    out->surplus = total.value + total.rest;
}

void pld_terms_free(const dpf_host *host, struct pld_terms *groups, int64_t n)
{
    const dpf_memory_service *memory = dpf_memory(host);
    for (int64_t i = 0; groups && i < n; i++)
        memory->release(host, groups[i].terms);
    memory->release(host, groups);
}

struct pld_terms *pld_terms_new(const dpf_host *host, const struct pld_losses *losses, int64_t n)
{
    const dpf_memory_service *memory = dpf_memory(host);
    struct pld_terms *groups = memory->allocate(host, (uint64_t)n * sizeof *groups);
    int failed = 0;
    for (int64_t i = 0; groups && i < n; i++) {
        groups[i].terms = memory->allocate(host, (uint64_t)losses[i].n * sizeof *groups[i].terms);
        failed |= !groups[i].terms;
    }
    if (!failed)
        return groups;
    pld_terms_free(host, groups, n);
    return NULL;
}

/* ---- sums ---------------------------------------------------------------------------------------- */

/* Roundings of a sum: of a term, within a run and of the runs. */
#define SUM_ROUNDINGS 48.0
#define RUN 32

void pld_circle_free(const dpf_host *host, struct pld_circle *c)
{
    const dpf_memory_service *memory = dpf_memory(host);
    memory->release(host, c->fine_re);
    memory->release(host, c->fine_im);
    memory->release(host, c->coarse_re);
    memory->release(host, c->coarse_im);
}

void pld_less_one(double turn, double *re, double *im)
{
    const double half = sin(3.14159265358979323846 * turn);
    *re = -2.0 * half * half;
    *im = -sin(6.28318530717958647693 * turn);
}

dpf_status pld_circle_new(const dpf_host *host, int64_t n, struct pld_circle *c)
{
    const dpf_memory_service *memory = dpf_memory(host);
    *c = (struct pld_circle){.n = n, .block = 2 * (int64_t)ceil(sqrt((double)n) / 2.0)};
    c->blocks = n / (2 * c->block) + 1;
    double **const tables[] = {&c->fine_re, &c->fine_im, &c->coarse_re, &c->coarse_im};
    for (size_t i = 0; i < 4; i++) {
        const int64_t length = i < 2 ? c->block + 1 : 2 * c->blocks + 1;
        *tables[i] = memory->allocate(host, (uint64_t)length * sizeof(double));
        if (!*tables[i]) {
            pld_circle_free(host, c);
            return DPF_E_MEMORY;
        }
    }
    for (int64_t i = 0; i <= c->block; i++)
        pld_less_one((double)(i - c->block / 2) / (double)n, &c->fine_re[i], &c->fine_im[i]);
    for (int64_t i = 0; i <= 2 * c->blocks; i++)
        pld_less_one((double)((i - c->blocks) * c->block) / (double)n, &c->coarse_re[i], &c->coarse_im[i]);
    return DPF_OK;
}

/* The masses sum to 1 + surplus. */
void pld_sums_near_one(const struct pld_circle *c, const struct pld_terms *group, int64_t k, double *re,
                       double *im)
{
    const struct pld_term *const terms = group->terms;
    const int64_t n = group->n;
    struct pld_sum real = {group->surplus, 0.0}, imaginary = {0.0, 0.0};
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
        pld_sum_add(&real, run_re);
        pld_sum_add(&imaginary, run_im);
    }
    *re = real.value + real.rest;
    *im = imaginary.value + imaginary.rest;
}

double pld_sums_power(const struct pld_circle *c, const struct pld_terms *groups, int64_t n, int64_t k,
                      double *out_re, double *out_im)
{
    double log_re = 0.0, log_im = 0.0, error = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double re, im;
        pld_sums_near_one(c, &groups[i], k, &re, &im);
        const double one_re = 0.5 * log1p(2.0 * re + re * re + im * im), one_im = atan2(im, 1.0 + re);
        const double spread = sqrt(re < 0.0 ? -2.0 * re : 0.0) + 1e-15, size = exp(one_re);
        log_re += groups[i].copies * one_re;
        log_im += groups[i].copies * one_im;
        error += groups[i].copies * DBL_EPSILON *
                 (SUM_ROUNDINGS * spread / size + 4.0 * (fabs(one_re) + fabs(one_im)));
    }
    const double size = exp(log_re);
    *out_re = size * cos(log_im);
    *out_im = size * sin(log_im);
    return error * (1.0 + 4.0 * error) + 8.0 * DBL_EPSILON;
}
