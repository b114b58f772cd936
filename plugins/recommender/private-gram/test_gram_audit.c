/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An audit of private-gram: all of its releases, with and without one user, are scored by the likelihood ratio that an
 * attacker who knows everybody else would compute. What the user would have sent follows from the releases before, so
 * each score replays what is made of them.
 */
#include "centred_row.h"
#include "denoise.h"
#include "gram_fixture.h"
#include "tail_rows.h"

/* ---- bounds on epsilon -----------------------------------------------------------------------------------
 */

/* Clopper and Pearson's bound by bisection over the normal-free tail: P[Binomial(n, p) >= k] = risk. */
static double binomial_tail(int64_t n, int64_t k, double p)
{
    double sum = 0;
    for (int64_t i = k; i <= n && i < k + 4000; i++)
        sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) +
                   (double)i * log(p) + (double)(n - i) * log1p(-p));
    return sum;
}

static double lower_bound(int64_t n, int64_t k, double risk)
{
    double lo = 1e-12, hi = (double)k / (double)n;
    for (int step = 0; k > 0 && step < 60; step++) {
        const double p = (lo + hi) / 2;
        *(binomial_tail(n, k, p) < risk ? &lo : &hi) = p;
    }
    return k > 0 ? lo : 0;
}

static double upper_bound(int64_t n, int64_t k, double risk)
{
    double lo = (double)k / (double)n, hi = fmin(1, ((double)k + 50) / (double)n * 3);
    for (int step = 0; step < 60; step++) {
        const double p = (lo + hi) / 2;
        *(1 - binomial_tail(n, k + 1, p) < risk ? &hi : &lo) = p;
    }
    return hi;
}

/* With an argument as many as bounds near half of what is proved take; fewer still find most of that. */
#define MOST_TRIALS 30000
static int64_t trials;
static double scores[2][MOST_TRIALS];

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Half of the trials choose the threshold, the other half count. 95 %: 2.5 % for either bound. */
static double audited_epsilon(double delta)
{
    const int64_t half = trials / 2;
    double best = 0, threshold = 0;
    for (int s = 0; s < 2; s++)
        qsort(scores[s], (size_t)half, sizeof(double), by_size);
    for (int64_t k = 20; k < half / 4; k += 5) {
        int64_t hits = 0;
        const double at = scores[0][half - k];
        for (int64_t i = half - 1; i >= 0 && scores[1][i] >= at; i--)
            hits++;
        const double h = (double)hits, f = (double)k; /* about what the bounds will be */
        const double bound = log((h - 2 * sqrt(h)) / (f + 2 * sqrt(f) + 2));
        if (bound > best) {
            best = bound;
            threshold = at;
        }
    }
    int64_t counted[2] = {0, 0};
    for (int s = 0; s < 2; s++)
        for (int64_t i = half; i < trials; i++)
            counted[s] += scores[s][i] >= threshold;
    return log((lower_bound(half, counted[1], 0.025) - delta) / upper_bound(half, counted[0], 0.025));
}

/* ---- scores ----------------------------------------------------------------------------------------------
 */

struct audit_case {
    struct plain_host host, replay;
    struct gram_plan plan;
    int64_t declared; /* users: rules go by them */
    struct data with, alone;
};

struct heard {
    double numbers[GRAM_MOST_RELEASES][ITEMS], exact[GRAM_MOST_RELEASES][ITEMS];
    int64_t n[GRAM_MOST_RELEASES];
    int last; /* release, after which training stops; -1: it goes on */
    struct plain_host *host;
};

static void hear(void *context, const dpf_witnessed *what)
{
    struct heard *heard = context;
    assert_true(what->n <= ITEMS);
    memcpy(heard->numbers[what->release], what->numbers, (size_t)what->n * sizeof(double));
    memcpy(heard->exact[what->release], what->exact, (size_t)what->n * sizeof(double));
    heard->n[what->release] = what->n;
    heard->host->cancel = what->release == heard->last;
}

static void train(struct audit_case *a, const struct data *d, uint32_t draw, struct heard *heard)
{
    static char state[1 << 16];
    dpf_recommender_setup setup = setup_of(d);
    const dpf_witness witness = {heard, hear};
    setup.n_users = a->declared;
    dpf_fit fit = {.size = sizeof fit,
                   .setup = &setup,
                   .records = &d->records,
                   .state = state,
                   .state_bytes = sizeof state,
                   .witness = &witness};
    memset(heard->n, 0, sizeof heard->n);
    heard->host = &a->host;
    heard->last = a->plan.tail ? -1 : 1;
    assert_int_equal(gram_recommender->fit(a->host.self, call_with(&a->host, 1, draw), &fit),
                     a->plan.tail ? DPF_OK : DPF_E_CANCELLED);
    a->host.cancel = 0;
}

/* Of one release: what the user adds, if it is there, is `own`; everybody else's sum is known. */
static double ratio_of(const struct heard *heard, int release, const struct gram_noise *noise,
                       const int64_t *own, int64_t width, int there)
{
    double score = 0;
    for (int64_t i = 0; i < heard->n[release]; i++) {
        const int below = width && i / width > i % width, diagonal = width && i / width == i % width;
        const double scale = (double)(diagonal ? noise->steps_diag : noise->steps) * noise->grid;
        const double moved = (double)own[i] * noise->grid,
                     at = heard->numbers[release][i] - heard->exact[release][i] + (there ? moved : 0);
        score += below ? 0 : (at * moved - moved * moved / 2) / (scale * scale);
    }
    return score;
}

static void to_integers(const struct heard *heard, int release, const struct gram_noise *noise, int64_t *out)
{
    for (int64_t i = 0; i < heard->n[release]; i++)
        out[i] = llround(heard->numbers[release][i] / noise->grid);
}

/* Sums, released and the user's own, of the second release, as private_gram.c makes them. */
static double ratio_of_second(struct audit_case *a, const dpf_call *call, const struct heard *heard,
                              const struct item_span *span, int there)
{
    static struct along_case along;
    static double weight[ITEMS], basis[ITEMS * ITEMS];
    static int64_t own[ITEMS * ITEMS];
    struct row_centre centre;
    const int32_t m = span->m, d = span->basis.columns;
    for (int32_t k = 0; k < m; k++) {
        weight[k] = span->weight[span->item[k]];
        for (int32_t c = 0; c < d; c++)
            basis[k * d + c] = matrix_column(&span->basis, c)[k];
    }
    assert_int_equal(row_centre_make(call, m, a->plan.second.bits, a->plan.projected ? 0 : GRAM_SPARED,
                                     1 - span->kept, span->shared, &centre),
                     0);
    const struct gram_columns columns = {span->n_items,   m,      span->column, weight, a->plan.second.bits,
                                         &a->plan.values, &centre};
    memcpy(along.basis, basis, sizeof basis);
    fill_levels(&along, &columns, d);
    assert_int_equal(a->plan.projected
                         ? gram_sum_projected(call, &a->alone.records, &columns, &along.along, own)
                         : gram_sum_pairs(call, &a->alone.records, &columns, own),
                     DPF_OK);
    return ratio_of(heard, 1, &a->plan.second, own, a->plan.projected ? 0 : m, there);
}

static double ratio_of_tail(struct audit_case *a, const dpf_call *call, const struct heard *heard,
                            const struct item_span *span, int there)
{
    static int64_t own[ITEMS * ITEMS], released[ITEMS * ITEMS];
    struct gram_estimate estimate;
    struct tail tail;
    to_integers(heard, 1, &a->plan.second, released);
    assert_int_equal(denoise_gram(call, &a->plan, span, released, &estimate), 0);
    assert_int_equal(tail_make(call, &a->plan, span, &estimate, &tail), 0);
    assert_int_equal(tail.rest.m * tail.along.d, heard->n[2]);
    if (heard->n[2] == 0)
        return 0;
    assert_int_equal(gram_sum_projected(call, &a->alone.records, &tail.rest, &tail.along, own), DPF_OK);
    return ratio_of(heard, 2, &a->plan.rest, own, 0, there);
}

static double score(struct audit_case *a, const struct heard *heard, int there)
{
    int64_t totals[ITEMS], own[ITEMS];
    struct item_span span;
    const dpf_call *call = call_with(&a->replay, 1, 0);
    const int64_t n_items = a->with.n_items;
    to_integers(heard, 0, &a->plan.counts, totals);
    assert_int_equal(item_span_make(call, &a->plan, a->declared, n_items, totals, NULL, &span), 0);
    gram_sum_counts(call, &a->alone.records, a->plan.counts.bits, own);
    return ratio_of(heard, 0, &a->plan.counts, own, 0, there) +
           ratio_of_second(a, call, heard, &span, there) +
           (a->plan.tail ? ratio_of_tail(a, call, heard, &span, there) : 0);
}

/* ---- audits ----------------------------------------------------------------------------------------------
 */

/* The first user has all items, or is not there; `others` have the first two. */
static void audit(const char *form, int64_t n_items, int64_t items, int64_t others, int64_t declared,
                  double kept)
{
    static struct audit_case a;
    static struct data without;
    static struct heard heard;
    char settings[128];
    const double delta = 1e-5, proved = 3, multiplier = 1.3906; /* by the analytic formula */
    memset(&a, 0, sizeof a);
    a.declared = declared;
    trials = test_argument() ? MOST_TRIALS : 10000;
    a.with.n_users = 1 + others;
    a.with.n_items = n_items;
    for (int64_t u = 0; u <= others; u++)
        memset(a.with.has[u], 1, (size_t)(u ? 2 : n_items));
    without = a.alone = a.with;
    a.alone.n_users = 1;
    index_data(&a.with, -1, 0);
    index_data(&without, 0, 0);
    index_data(&a.alone, -1, 0);
    snprintf(settings, sizeof settings, "noise-multiplier=%.4f; form=%s; items=%d", multiplier, form,
             (int)items);
    plain_open_random(&a.host, gram_component, settings);
    plain_open_random(&a.replay, gram_component, settings);
    const struct gram_options options = {.multiplier = multiplier,
                                         .form = strcmp(form, "gram") == 0 ? FORM_GRAM : FORM_PROJECTED,
                                         .items = items,
                                         .tail_share = -1,
                                         .weight_exponent = -1,
                                         .weight_offset = 10,
                                         .lowest_weight = -1,
                                         .ridge = -1,
                                         .diagonal = 0.25,
                                         .rescale = -1};
    dpf_recommender_setup setup = setup_of(&a.with);
    setup.n_users = declared;
    assert_null(gram_plan_make(&options, &setup, &a.plan));
    assert_true(fabs(gram_plan_kept(&a.plan, 5) - kept) < 1e-9);
    int64_t tails = 0;
    for (int there = 0; there < 2; there++)
        for (uint32_t trial = 0; trial < trials; trial++) {
            train(&a, there ? &a.with : &without, 2 * trial + (uint32_t)there, &heard);
            scores[there][trial] = score(&a, &heard, there);
            tails += heard.n[2] > 0;
        }
    const double found = audited_epsilon(delta);
    print_message(
        "audit of %s, %d of %d items: epsilon at least %.3f of %.1f proved; a tail in %.2f of the runs\n",
        form, (int)items, (int)n_items, found, proved, (double)tails / (2 * (double)trials));
    assert_true(found >= (trials == MOST_TRIALS ? 0.45 : 0.35) * proved);
    assert_true(found <= proved);
    assert_true(!a.plan.tail || tails > trials);
    plain_close(&a.replay);
    plain_close(&a.host);
}

TEST(an_audit_of_the_gram_reaches_half_of_what_is_proved)
{
    audit("gram", 2, 2, 2, 3, 1);
}

TEST(an_audit_of_centred_rows_and_the_tail_does)
{
    audit("gram", 3, 2, 60, 1000, 0.6);
}

TEST(an_audit_of_the_projection_does)
{
    audit("projected", 2, 2, 2, 3, 0.4);
}

FIXTURE(gram_open, gram_close)
