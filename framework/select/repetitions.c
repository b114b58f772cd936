/* SPDX-License-Identifier: Apache-2.0 */
#include "select/repetitions.h"

#include <math.h>

/* ---- the law ------------------------------------------------------------------------------------------ */

int repetitions_negative_binomial(double eta, double mean, struct repetitions *out)
{
    double low = log(REPETITIONS_LEAST_GAMMA), high = 0.0;
    *out =
        (struct repetitions){.law = DPF_REPETITIONS_NEGATIVE_BINOMIAL, .eta = eta, .gamma = 1.0, .mean = 1.0};
    if (!(eta > -1.0 && eta <= REPETITIONS_MOST_ETA && mean >= 1.0 && mean <= REPETITIONS_MOST_MEAN) ||
        dpf_negative_binomial_mean(eta, exp(low)) < mean)
        return -1;
    while (high - low > 1e-15 * fabs(low)) { /* the mean falls with gamma */
        const double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high)
            break;
        if (dpf_negative_binomial_mean(eta, exp(middle)) > mean)
            low = middle;
        else
            high = middle;
    }
    out->gamma = exp(high);
    out->mean = dpf_negative_binomial_mean(eta, out->gamma);
    return 0;
}

int repetitions_poisson(double mean, struct repetitions *out)
{
    *out = (struct repetitions){.law = DPF_REPETITIONS_POISSON, .mean = mean};
    return mean > 0.0 && mean <= REPETITIONS_MOST_MEAN ? 0 : -1;
}

double repetitions_probability(const struct repetitions *law, int64_t k)
{
    if (law->law == DPF_REPETITIONS_POISSON)
        return k < 0 ? 0.0 : exp((double)k * log(law->mean) - law->mean - lgamma((double)k + 1.0));
    if (k < 1 || law->gamma >= 1.0)
        return k == 1 ? 1.0 : 0.0;
    /* The first factor, eta, over gamma^-eta - 1. */
    const double fall = -log(law->gamma), x = law->eta * fall;
    double log_term =
        (fabs(x) < 1e-9 ? -log(fall) : log(law->eta / expm1(x))) + (double)k * log1p(-law->gamma);
    for (int64_t l = 1; l < k; l++)
        log_term += log((double)l + law->eta);
    return exp(log_term - lgamma((double)k + 1.0));
}

/* ---- draws -------------------------------------------------------------------------------------------- */

static uint64_t below(dpf_cursor *cursor, uint64_t bound)
{
    uint64_t out;
    random_below(cursor, bound, &out, 1);
    return out;
}

static int happens(dpf_cursor *cursor, double probability)
{
    uint8_t out;
    random_bernoulli(cursor, probability, &out, 1);
    return out;
}

/* With probability (whole + part) / slots, where 0 <= part < 1 is given as it is, or as 1 - lacks. */
static int share_of(dpf_cursor *cursor, int64_t whole, double part, double lacks, int64_t slots)
{
    const int64_t slot = (int64_t)below(cursor, (uint64_t)slots);
    if (slot != whole)
        return slot < whole;
    return lacks > 0.0 ? !happens(cursor, lacks) : happens(cursor, part);
}

/*
 * Failures before m = max(1, ceil(eta)) successes of probability gamma are k with a probability that goes as
 * (1-gamma)^k prod_{l<k} (l+m)/(l+1). Each failure is kept with probability (l+eta)/(l+m), and all begins
 * anew with the first that is not: what comes to an end has the law of eta. With m = 1 the first failure is
 * taken for granted, since 0 is not among the values, and its factor is the same for all others.
 */
static int64_t draw_negative_binomial(const struct repetitions *law, dpf_cursor *cursor)
{
    const int64_t m = law->eta <= 1.0 ? 1 : (int64_t)ceil(law->eta);
    const int64_t whole = (int64_t)floor(law->eta);
    const double part = law->eta < 0.0 ? 0.0 : law->eta - (double)whole,
                 lacks = law->eta < 0.0 ? -law->eta : 0.0;
    const int64_t start = m == 1;
    if (law->gamma >= 1.0)
        return 1;
    for (;;) {
        int64_t failures = start, successes = 0;
        while (successes < m) {
            if (happens(cursor, law->gamma)) {
                successes++;
            } else if (share_of(cursor, failures + whole, part, lacks, failures + m)) {
                failures++;
            } else {
                failures = 0;
                break;
            }
        }
        if (failures > 0 && successes == m)
            return failures;
    }
}

/* Of mean 1, k with a probability that goes as 1/k!: k is proposed with 2^-(k+1), and kept with 2^(k-1)/k!.
 */
static int64_t draw_poisson_one(dpf_cursor *cursor)
{
    for (;;) {
        int64_t k = 0;
        while (below(cursor, 2) == 1)
            k++;
        int kept = k > 0 || below(cursor, 2) == 1;
        for (int64_t l = 3; l <= k && kept; l++)
            kept = below(cursor, (uint64_t)l) < 2;
        if (kept)
            return k;
    }
}

/* Of a Poisson number whose mean is the next whole number, each one is kept with probability mean / that. */
static int64_t draw_poisson(const struct repetitions *law, dpf_cursor *cursor)
{
    const int64_t slots = (int64_t)ceil(law->mean), whole = (int64_t)floor(law->mean);
    int64_t more = 0, kept = 0;
    for (int64_t i = 0; i < slots; i++)
        more += draw_poisson_one(cursor);
    for (int64_t i = 0; i < more; i++)
        kept += whole == slots || share_of(cursor, whole, law->mean - (double)whole, 0.0, slots);
    return kept;
}

int64_t repetitions_draw(const struct repetitions *law, dpf_cursor *cursor)
{
    return law->law == DPF_REPETITIONS_POISSON ? draw_poisson(law, cursor)
                                               : draw_negative_binomial(law, cursor);
}

/* ---- the ledger --------------------------------------------------------------------------------------- */

dpf_event repetitions_event(const struct repetitions *law, int64_t candidates)
{
    dpf_event event = {.kind = DPF_EVENT_SELECTION, .count = 1, .sensitivity = dpf_unstated()};
    event.p.selection.repetitions = law->law;
    event.p.selection.eta = law->law == DPF_REPETITIONS_POISSON ? 0.0 : law->eta;
    event.p.selection.gamma = law->law == DPF_REPETITIONS_POISSON ? law->mean : law->gamma;
    event.p.selection.candidates = (double)candidates;
    return event;
}
