/* SPDX-License-Identifier: Apache-2.0 */
#include "pld_spectrum.h"

#include <math.h>
#include <string.h>

/* Frequencies with a smaller |G| are nothing. */
#define LEAST 1e-28
/* Terms of all sums, for a point of the circle: what FFTs take a few times as long for. */
#define TERMS_PER_POINT 2.0
/* A search that keeps more frequencies than that part of the circle's points gives up: reading would be slower. */
#define POINTS_PER_FREQUENCY 256
/* More than the rounding of |phi|. */
#define ROUNDING 1e-13

void pld_spectrum_free(const dpf_host *host, struct pld_spectrum *s)
{
    const dpf_memory_service *memory = dpf_memory(host);
    memory->release(host, s->at);
    memory->release(host, s->re);
    memory->release(host, s->im);
    memset(s, 0, sizeof *s);
}

static dpf_status make_room(const dpf_host *host, int64_t length, int64_t most, struct pld_spectrum *s)
{
    const dpf_memory_service *memory = dpf_memory(host);
    s->length = length;
    s->at = memory->allocate(host, (uint64_t)most * sizeof *s->at);
    s->re = memory->allocate(host, (uint64_t)most * sizeof *s->re);
    s->im = memory->allocate(host, (uint64_t)most * sizeof *s->im);
    if (s->at && s->re && s->im)
        return DPF_OK;
    pld_spectrum_free(host, s);
    return DPF_E_MEMORY;
}

/* ---- which frequencies --------------------------------------------------------------------------- */

/* E|x|, in grid points; at rounding's mercy it may only be too large. */
static double spread_of(const struct pld_terms *group)
{
    double sum = 0.0;
    for (int64_t i = 0; i < group->n; i++)
        sum += group->terms[i].mass * fabs((double)group->terms[i].at);
    return sum * (1.0 + 1e-9);
}

struct search {
    const struct pld_circle *circle;
    const struct pld_terms *groups;
    int64_t n;
    double *spread; /* of each group */
    double terms;   /* that may still be summed */
    double of_all;  /* of a sum of all groups */
    int64_t most;
};

/* Whether no frequency within `radius` of k counts. */
static int is_nothing(const struct search *search, int64_t k, int64_t radius)
{
    const double angle = 6.2831853071795869 * (double)radius / (double)search->circle->n;
    double log_most = 0.0;
    for (int64_t i = 0; i < search->n; i++) {
        double re, im;
        pld_sums_near_one(search->circle, &search->groups[i], k, &re, &im);
        const double square = 1.0 + (2.0 * re + re * re + im * im);
        const double size = sqrt(square > 0.0 ? square : 0.0);
        log_most += search->groups[i].copies * log(size + angle * search->spread[i] + ROUNDING);
    }
    return log_most < log(LEAST) - 1.0;
}

/* Intervals that are still to be looked at: halves of halves, so never more than the bits of a frequency. */
struct interval {
    int64_t low, high;
};

/* Returns whether it came to an end. */
static int search_all(struct search *search, struct pld_spectrum *s)
{
    struct interval stack[72];
    int depth = 0;
    s->n = 0;
    stack[depth++] = (struct interval){0, s->length / 2};
    while (depth > 0) {
        const struct interval i = stack[--depth];
        const int64_t middle = i.low + (i.high - i.low) / 2;
        search->terms -= search->of_all;
        if (search->terms < 0.0)
            return 0;
        if (is_nothing(search, middle, i.high - middle))
            continue;
        if (i.low == i.high) {
            if (s->n == search->most)
                return 0;
            s->at[s->n++] = middle;
            continue;
        }
        stack[depth++] = (struct interval){middle + 1, i.high};
        stack[depth++] = (struct interval){i.low, middle};
    }
    return 1;
}

/* Frequency 0 and, for an even length, the last one are there once, the others with their conjugates. */
static double times(const struct pld_spectrum *s, int64_t k)
{
    return k == 0 || 2 * k == s->length ? 1.0 : 2.0;
}

/* G at all of them. Returns whether rounding leaves something of it. */
static int sum_all(struct search *search, struct pld_spectrum *s, double *squares)
{
    *squares = (double)s->length * LEAST * LEAST;
    for (int64_t i = 0; i < s->n; i++) {
        const double relative =
            pld_sums_power(search->circle, search->groups, search->n, s->at[i], &s->re[i], &s->im[i]);
        const double error = relative * hypot(s->re[i], s->im[i]);
        if (!(relative < 0.1))
            return 0;
        *squares += times(s, s->at[i]) * error * error;
    }
    return 1;
}

static int search_and_sum(struct search *search, struct pld_spectrum *s, double *squares)
{
    for (int64_t i = 0; i < search->n; i++) {
        search->spread[i] = spread_of(&search->groups[i]);
        search->of_all += (double)search->groups[i].n;
    }
    return search_all(search, s) && sum_all(search, s, squares);
}

dpf_status pld_spectrum_find(const dpf_host *host, const struct pld_terms *groups, int64_t n, int64_t length,
                             struct pld_spectrum *s, double *squares)
{
    const dpf_memory_service *memory = dpf_memory(host);
    struct pld_circle circle;
    struct search search = {.circle = &circle,
                            .groups = groups,
                            .n = n,
                            .terms = TERMS_PER_POINT * (double)length,
                            .most = length / POINTS_PER_FREQUENCY};
    memset(s, 0, sizeof *s);
    if (pld_circle_new(host, length, &circle) != DPF_OK)
        return DPF_E_MEMORY;
    search.spread = memory->allocate(host, (uint64_t)n * sizeof *search.spread);
    dpf_status status = search.spread ? make_room(host, length, search.most, s) : DPF_E_MEMORY;
    if (status == DPF_OK && !search_and_sum(&search, s, squares))
        pld_spectrum_free(host, s);
    memory->release(host, search.spread);
    pld_circle_free(host, &circle);
    return status;
}

/* ---- sums of masses ------------------------------------------------------------------------------ */

double pld_spectrum_norm(const struct pld_spectrum *s)
{
    double squares = 0.0;
    for (int64_t i = 0; i < s->n; i++)
        squares += times(s, s->at[i]) * (s->re[i] * s->re[i] + s->im[i] * s->im[i]);
    return sqrt(squares / (double)s->length);
}

struct complex {
    double re, im;
};

static struct complex times_complex(struct complex a, struct complex b)
{
    return (struct complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* k m / n, less whole turns. */
static double turn_of(int64_t k, int64_t m, int64_t n)
{
    int64_t rest = k * m % n;
    rest -= 2 * rest > n ? n : 0;
    return (double)rest / (double)n;
}

/* e^{2 pi i turn} - 1. */
static struct complex turned(double turn)
{
    struct complex out;
    pld_less_one(-turn, &out.re, &out.im);
    return out;
}

/* e^{-x}, and what it is less than 1. */
struct shrink {
    double left, lost;
};

static struct shrink shrink_of(double x)
{
    return (struct shrink){exp(-x), -expm1(-x)};
}

/* 1 - e^{-x} (1 + turned): both parts of the real part are at least 0. */
static struct complex one_less(struct shrink shrink, struct complex turned)
{
    return (struct complex){shrink.lost - shrink.left * turned.re, -shrink.left * turned.im};
}

/* z (1 - z^M) / (1 - z) for both decays, where G and the place of the first point are in g. */
void pld_spectrum_sums(const struct pld_spectrum *s, int64_t start, int64_t count, const double decay[2],
                       double sums[2])
{
    const struct shrink one[2] = {shrink_of(decay[0]), shrink_of(decay[1])};
    const struct shrink all[2] = {shrink_of(decay[0] * (double)count), shrink_of(decay[1] * (double)count)};
    struct pld_sum sum[2] = {{0.0, 0.0}, {0.0, 0.0}};
    for (int64_t i = 0; i < s->n; i++) {
        const int64_t k = s->at[i];
        const double angle = 6.28318530717958647693 * turn_of(k, (start + 1) % s->length, s->length);
        const struct complex g =
            times_complex((struct complex){s->re[i], s->im[i]}, (struct complex){cos(angle), sin(angle)});
        const struct complex step = turned(turn_of(k, 1, s->length));
        const struct complex end = turned(turn_of(k, count, s->length));
        for (int d = 0; d < 2; d++) {
            const struct complex top = times_complex(g, one_less(all[d], end));
            const struct complex bottom = one_less(one[d], step);
            const double square = bottom.re * bottom.re + bottom.im * bottom.im;
            pld_sum_add(&sum[d],
                        times(s, k) * one[d].left * (top.re * bottom.re + top.im * bottom.im) / square);
        }
    }
    for (int d = 0; d < 2; d++)
        sums[d] = (sum[d].value + sum[d].rest) / (double)s->length;
}
