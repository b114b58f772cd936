/* SPDX-License-Identifier: Apache-2.0 */
#include "start/expectation.h"

#include <math.h>
#include <stddef.h>

#include "base/text.h"

/* ---- how much the budget buys ----------------------------------------------------------------------------
 */

static double normal(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

/* Balle, Wang, "Improving the Gaussian mechanism for differential privacy" (ICML 2018), Theorem 8. */
static double delta_of(double epsilon, double mu)
{
    const double low = normal(mu / 2 - epsilon / mu), high = normal(-mu / 2 - epsilon / mu);
    return high > 0 ? low - exp(epsilon + log(high)) : low;
}

double expectation_mu(double epsilon, double delta)
{
    double low = 1e-9, high = 1e3;
    for (int i = 0; i < 200; i++) {
        const double middle = sqrt(low * high);
        *(delta_of(epsilon, middle) > delta ? &high : &low) = middle;
    }
    return low;
}

double expectation_reach(const struct start_facts *facts)
{
    return (double)facts->users * expectation_mu(facts->epsilon, facts->delta);
}

/* ---- measurements ----------------------------------------------------------------------------------------
 */

/* From `from` on: the least and the most, over data sets, in percent. */
struct band {
    double from;
    int least, most;
};
#define ARRAY(A) (A), sizeof(A) / sizeof(A)[0]

static const struct band *find_band(const struct band *bands, size_t n, double at)
{
    const struct band *found = bands;
    for (size_t i = 0; i < n; i++)
        if (at >= bands[i].from)
            found = &bands[i];
    return found;
}

/*
 * Of what private-gram without noise gains over a list of popular items (NDCG@10), what it keeps: by users x
 * mu, as its own rule goes by that. Items count little: those without users are left out by their noisy
 * counts. Many records: MovieLens 100K and 1M, ml-latest-small, Last.fm. Few: Amazon, FilmTrust, Gowalla.
 */
static const struct band of_many[] = {{200, 5, 40}, {600, 40, 90}, {2000, 60, 85}, {8000, 80, 85}},
                         of_few[] = {{600, 0, 5}, {1200, 15, 60}, {6000, 15, 50}},
                         of_any[] = {{200, 0, 40}, {600, 0, 90}, {2000, 15, 85}, {8000, 15, 85}};

/*
 * Of what private-ratings without noise gains over the mean (RMSE), what it keeps: by users x mu over the
 * root of the number of items, as its own rule goes by that. MovieLens 100K and 1M, ml-latest-small, Jester,
 * FilmTrust, Amazon, restaurants.
 */
static const struct band of_ratings[] = {
    {0, 45, 80}, {5, 50, 85}, {12, 60, 90}, {35, 75, 95}, {100, 85, 100}};

/* Of what the exact models have: NDCG@10 of popular items, and gains of biases over the mean. */
static const struct band of_popularity[] = {{0, 10, 70}, {100, 80, 95}, {400, 85, 100}},
                         of_biases[] = {{0, 45, 100}};

static const struct band *lists_band(const struct start_facts *facts, double reach)
{
    return !facts->records                             ? find_band(ARRAY(of_any), reach)
           : facts->records < EXPECTATION_MANY_RECORDS ? find_band(ARRAY(of_few), reach)
                                                       : find_band(ARRAY(of_many), reach);
}

static void add_simple(const struct start_facts *facts, double reach, struct text *out)
{
    if (facts->ranking) {
        const struct band *band = find_band(ARRAY(of_popularity), reach);
        text_add(out,
                 "the same list for everybody, and %d to %d %% of the accuracy of exactly counted popular "
                 "items",
                 band->least, band->most);
    } else {
        text_add(out, "%d to %d %% of what exact biases gain over the mean of all ratings",
                 of_biases[0].least, of_biases[0].most);
    }
}

static void add_personal(const struct start_facts *facts, double reach, struct text *out)
{
    const struct band *band = facts->ranking
                                  ? lists_band(facts, reach)
                                  : find_band(ARRAY(of_ratings), reach / sqrt((double)facts->items));
    text_add(out, "%d to %d %% of what the model without noise gains over %s", band->least, band->most,
             facts->ranking ? "a list of popular items" : "the mean of all ratings");
    if (facts->ranking && !facts->records)
        text_add(out, " (most where users have more than %d records: records=N narrows it)",
                 EXPECTATION_MANY_RECORDS);
}

char *expectation_text(int is_simple, const struct start_facts *facts)
{
    struct text out = {0};
    const double reach = expectation_reach(facts);
    if (is_simple)
        add_simple(facts, reach, &out);
    else
        add_personal(facts, reach, &out);
    text_add(&out,
             ", as measured on public data%s where all users together are about %.0f times as strong as the "
             "noise (users x mu in docs/accuracy.md)",
             !facts->ranking && !is_simple ? " with about as many items, and" : "", reach);
    text_add(&out,
             is_simple ? "; the verdict after training compares with the exact model"
                       : "; -o \"run.compare=non-private, %s\" has the verdict after training tell both",
             facts->ranking ? "popularity" : "mean");
    return out.data;
}
