/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frequencies that a composition is known by, against all frequencies of the circle, one by one in long double: what
 * is left out is next to nothing, and sums of masses are within the stated error.
 */
#include "pld_spectrum.h"

#include <complex.h>
#include <float.h>

#include "kit/plain_host.h"

#define LENGTH 49152
#define MOST_GROUPS 2
#define TAU 6.283185307179586476925286766559L

typedef long double real;

/* A loss by its probabilities, at multiples of .01. */
struct loss {
    double at[4], mass[4];
    int64_t n;
    double copies;
};

struct circle_case {
    const char *name;
    struct loss groups[MOST_GROUPS];
    int64_t n;
    int found; /* whether frequencies are few */
};

static const struct circle_case cases[] = {
    {"two points", {{{-1.0, 1.0}, {0.4, 0.6}, 2, 2.56e7}}, 1, 1},
    {"an asymmetric one", {{{-3.0, 0.0, 11.0}, {0.2, 0.79, 0.01}, 3, 1.92e7}}, 1, 1},
    /* Losses at multiples of 3 but for a rare one: a second run of frequencies, at a third of the circle. */
    {"nearly a lattice", {{{-6.0, 0.0, 9.0, 4.0}, {0.3, 0.499999, 0.2, 0.000001}, 4, 1.28e6}}, 1, 1},
    {"two groups", {{{-7.0, 5.0}, {0.4, 0.6}, 2, 6.4e5}, {{-2.0, 3.0}, {0.5, 0.5}, 2, 1.28e6}}, 2, 1},
    {"few copies", {{{-7.0, 5.0, 6.0}, {0.4, 0.5, 0.1}, 3, 4.0}}, 1, 0},
};

static void losses_of(const struct circle_case *c, struct pld_losses *out, double logs[MOST_GROUPS][4])
{
    for (int64_t g = 0; g < c->n; g++) {
        const struct loss *loss = &c->groups[g];
        for (int64_t i = 0; i < loss->n; i++)
            logs[g][i] = log(loss->mass[i]);
        out[g] = (struct pld_losses){.at = (double *)(uintptr_t)loss->at,
                                     .mass = (double *)(uintptr_t)loss->mass,
                                     .logs = logs[g],
                                     .n = loss->n,
                                     .h = 0.01,
                                     .copies = loss->copies};
    }
}

static long double complex exact_power(const struct pld_terms *groups, int64_t n, int64_t k)
{
    long double complex log_g = 0.0L;
    for (int64_t g = 0; g < n; g++) {
        long double complex one = 0.0L;
        for (int64_t i = 0; i < groups[g].n; i++)
            one += groups[g].terms[i].mass *
                   cexpl(-1.0iL * (TAU * (real)(groups[g].terms[i].at * k % LENGTH) / LENGTH));
        log_g += (real)groups[g].copies * clogl(one);
    }
    return cexpl(log_g);
}

/* The sum over m of e^{-decay m} times the mass at start + m, by all frequencies. */
static real exact_sum(const long double complex *g, int64_t start, int64_t count, double decay)
{
    real sum = 0.0L;
    for (int64_t k = 0; k <= LENGTH / 2; k++) {
        const long double complex turn =
            cexpl(1.0iL * (TAU * (real)(k * (start % LENGTH) % LENGTH) / LENGTH));
        const long double complex z = cexpl(-(real)decay + 1.0iL * (TAU * (real)k / LENGTH));
        const long double complex end =
            cexpl(-(real)decay * (real)count + 1.0iL * (TAU * (real)(k * count % LENGTH) / LENGTH));
        /* 1 - z of small numbers: long double has room for it */
        const real both = k == 0 || 2 * k == LENGTH ? 1.0L : 2.0L;
        sum += both * creall(g[k] * turn * z * (1.0L - end) / (1.0L - z));
    }
    return sum / LENGTH;
}

static void check_frequencies(const struct pld_spectrum *s, const long double complex *g, double squares,
                              const char *name)
{
    real off = 0.0L;
    int64_t next = 0;
    for (int64_t k = 0; k <= LENGTH / 2; k++) {
        const int is_there = next < s->n && s->at[next] == k;
        const long double complex have = is_there ? s->re[next] + 1.0iL * s->im[next] : 0.0L;
        const real both = k == 0 || 2 * k == LENGTH ? 1.0L : 2.0L, size = cabsl(g[k] - have);
        if (!is_there && !(cabsl(g[k]) <= 1e-28L))
            fail_msg("%s: frequency %ld is left out, where G is %Lg", name, (long)k, cabsl(g[k]));
        off += both * size * size;
        next += is_there;
    }
    assert_int_equal(next, s->n); /* ascending, none twice */
    if (!(off <= (real)squares))
        fail_msg("%s: the squares of errors add up to %Lg, for %g", name, off, squares);
}

static void check_sums(const struct pld_spectrum *s, const long double complex *g, double squares,
                       const char *name)
{
    static const struct {
        int64_t start, count;
        double decay[2];
    } sums[] = {{0, 5600, {1e-3, 2e-3}},
                {48000, 12000, {1e-2, 1e-2}},
                {46400, 16000, {1e-7, 0.01}},
                {17, 40, {0.5, 1.5}},
                {0, LENGTH, {1e-5, 0.1}}};
    const double unit = 64.0 * DBL_EPSILON * pld_spectrum_norm(s) + sqrt(squares / LENGTH);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        double have[2];
        pld_spectrum_sums(s, sums[i].start, sums[i].count, sums[i].decay, have);
        for (int d = 0; d < 2; d++) {
            const double decay = sums[i].decay[d];
            const double norm = sqrt(fmin(-1.0 / expm1(-2.0 * decay), (double)sums[i].count));
            const real exact = exact_sum(g, sums[i].start, sums[i].count, decay);
            if (!(fabsl((real)have[d] - exact) <= (real)(unit * norm)))
                fail_msg("%s, sum %zu: %.17g, exactly %.17Lg; allowed %g", name, i, have[d], exact,
                         unit * norm);
        }
    }
}

TEST(test_frequencies_against_all_of_the_circle)
{
    static long double complex g[LENGTH / 2 + 1];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct circle_case *c = &cases[i];
        struct plain_host host;
        struct pld_losses losses[MOST_GROUPS];
        struct pld_spectrum s;
        double logs[MOST_GROUPS][4], squares = 0.0;
        plain_init(&host, NULL);
        losses_of(c, losses, logs);
        struct pld_terms *groups = pld_terms_new(&host.host, losses, c->n);
        assert_non_null(groups);
        for (int64_t j = 0; j < c->n; j++)
            pld_terms_read(&losses[j], 0.02, 0, LENGTH, &groups[j]);
        assert_int_equal(pld_spectrum_find(&host.host, groups, c->n, LENGTH, &s, &squares), DPF_OK);
        if ((s.n > 0) != c->found)
            fail_msg("%s: %ld frequencies", c->name, (long)s.n);
        for (int64_t k = 0; c->found && k <= LENGTH / 2; k++)
            g[k] = exact_power(groups, c->n, k);
        if (c->found) {
            check_frequencies(&s, g, squares, c->name);
            check_sums(&s, g, squares, c->name);
        }
        pld_spectrum_free(&host.host, &s);
        pld_terms_free(&host.host, groups, c->n);
        assert_int_equal(host.live, 0);
    }
}
