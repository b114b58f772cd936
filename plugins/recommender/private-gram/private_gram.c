/* SPDX-License-Identifier: Apache-2.0 */
/*
 * private_gram.c - rankings from one private Gram of items.
 *
 * Releases about users, each of whom has a row of norm 1 in any: counts of items, and the Gram of the items
 * with the largest counts, or its projection on what public features and the counts suggest; beside the Gram,
 * all other items along its largest directions. From these alone a ranking model is made (EASE); it scores a user's items at home, from the user's own records.
 * gram_plan.c has the sensitivities, denoise.h and ease_state.h what is done with the releases.
 *
 * The nearest precedent is McSherry and Mironov (KDD 2009), who release a noisy covariance of items.
 */
#include <math.h>
#include <string.h>

#include "denoise.h"
#include "dpframe/plugin.h"
#include "ease_state.h"
#include "gram_shares.h"
#include "gram_sum.h"
#include "noise_share.h"
#include "tail_rows.h"

enum {
    P_MULTIPLIER,
    P_FORM,
    P_ITEMS,
    P_COUNT_SHARE,
    P_TAIL_SHARE,
    P_EXPONENT,
    P_LOWEST,
    P_RIDGE,
    P_DIAGONAL,
    P_RESCALE,
    P_DISCOUNT,
    P_COUNT
};

static const dpf_enum_value forms[] = {
    [FORM_AUTO] =
        {"auto",
         "by rule: projected if items have features and users x mu is below 2500 and below 0.75 x items"},
    [FORM_GRAM] = {"gram", "all pairs of the items with the largest counts"},
    [FORM_PROJECTED] =
        {"projected",
         "these items along the directions of counts and features: fewer numbers, less noise, less to learn"},
};

#define WEIGHT_OFFSET 10.0 /* users, in the weight of an item */

static const dpf_param params[P_COUNT] = {
    [P_MULTIPLIER] =
        DPF_PARAM_REAL_F("noise-multiplier", 1.0, 0.0, 1e9, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                         "Noise of both releases together over the norm of a user's row: mu = 1/multiplier. "
                         "[privacy] budget = total "
                         "chooses it."),
    [P_FORM] =
        DPF_PARAM_ENUM_F("form", FORM_AUTO, forms, DPF_PARAM_PRIVACY, "What is released besides counts."),
    [P_ITEMS] = DPF_PARAM_INT_F("items", 0, 0, GRAM_MOST_ITEMS, DPF_PARAM_PRIVACY, "items",
                                "How many items have a column; 0: by rule from users x mu."),
    [P_COUNT_SHARE] = DPF_PARAM_REAL_F("count-share", 0.0, 0.0, 1.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_HI,
                                       "", "Part of mu^2 that the counts get; 0: by rule."),
    [P_TAIL_SHARE] =
        DPF_PARAM_REAL_F("tail-share", -1.0, -1.0, 1.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_HI, "",
                         "Part of mu^2 for items without a column, beside the Gram; 0: only counts and "
                         "features tell them apart; -1: by rule."),
    [P_EXPONENT] = DPF_PARAM_REAL_F("weight-exponent", -1.0, -1.0, 2.0, DPF_PARAM_PRIVACY, "",
                                    "Items weigh (count + 10)^-exponent in a user's row; -1: by rule."),
    [P_LOWEST] = DPF_PARAM_REAL_F(
        "lowest-weight", -1.0, -1.0, 1.0, DPF_PARAM_PRIVACY, "",
        "What a record with the lowest value of the declared range weighs in its user's row, "
        "where the highest weighs 1; in between linear. 1: values are not read; -1: by rule. "
        "Implicit feedback has no values."),
    [P_RIDGE] = DPF_PARAM_REAL_F("ridge", -1.0, -1.0, 1e6, DPF_PARAM_PRIVACY, "",
                                 "Added to the Gram's diagonal, in units of its mean; -1: by rule."),
    [P_DIAGONAL] = DPF_PARAM_REAL_F(
        "diagonal", 0.25, 0.0, 1e6, DPF_PARAM_PRIVACY, "",
        "Part of the Gram's estimated diagonal that is added, beside ridge: to the diagonal of the Gram of "
        "few directions that denoising leaves; where noise hides nothing, to the whole measured one."),
    [P_RESCALE] = DPF_PARAM_REAL_F("rescale", -1.0, -1.0, 2.0, DPF_PARAM_PRIVACY, "",
                                   "Scores are divided by the items' weights to this power; -1: by rule."),
    [P_DISCOUNT] = DPF_PARAM_REAL_F(
        "popularity-discount", 0.0, 0.0, 1.0, 0, "",
        "Scores are divided by the items' released popularity to this power: lists reach less popular items. "
        "It follows from the release and costs no epsilon; what it costs in accuracy is in "
        "docs/accuracy.md."),
};

struct private_gram {
    const dpf_host *host;
    const dpf_random_service *random;
    dpf_stream *count_noise, *gram_noise, *tail_noise;
    struct gram_options options;
};

static dpf_status fail(const struct private_gram *self, dpf_status code, const char *text)
{
    return self->host->fail(self->host, code, -1, text);
}

static dpf_status gram_create(const dpf_host *host, const dpf_params *given, void **self)
{
    const dpf_value *v = given->values;
    const dpf_random_service *random = dpf_random(host);
    dpf_stream *counts, *gram, *tail;
    dpf_status status = random->open(host, "counts", &counts);
    if (status == DPF_OK)
        status = random->open(host, "gram", &gram);
    if (status == DPF_OK)
        status = random->open(host, "tail", &tail);
    if (status != DPF_OK)
        return status;
    struct private_gram *made = *self;
    *made = (struct private_gram){.host = host,
                                  .random = random,
                                  .count_noise = counts,
                                  .gram_noise = gram,
                                  .tail_noise = tail,
                                  .options = {.multiplier = v[P_MULTIPLIER].real,
                                              .form = (int32_t)v[P_FORM].integer,
                                              .items = v[P_ITEMS].integer,
                                              .count_share = v[P_COUNT_SHARE].real,
                                              .tail_share = v[P_TAIL_SHARE].real,
                                              .weight_exponent = v[P_EXPONENT].real,
                                              .weight_offset = WEIGHT_OFFSET,
                                              .lowest_weight = v[P_LOWEST].real,
                                              .ridge = v[P_RIDGE].real,
                                              .diagonal = v[P_DIAGONAL].real,
                                              .rescale = v[P_RESCALE].real,
                                              .discount = v[P_DISCOUNT].real}};
    return DPF_OK;
}

static uint32_t gram_flags(void *self)
{
    (void)self;
    /* What can fail is memory, of public sizes, and what is computed from the releases alone. */
    return DPF_RECOMMENDER_STATE_RELEASED | DPF_RECOMMENDER_SCORES_AT_HOME | DPF_RECOMMENDER_ALWAYS_ENDS |
           DPF_RECOMMENDER_SUMS_USERS;
}

static dpf_status gram_releases(void *instance, const dpf_recommender_setup *setup,
                                dpf_recommender_release *out, int32_t capacity, int32_t *n)
{
    const struct private_gram *self = instance;
    struct gram_plan plan;
    if (capacity < GRAM_MOST_RELEASES)
        return fail(self, DPF_E_INTERNAL, "there is no room for three releases");
    const char *why = gram_plan_make(&self->options, setup, &plan);
    if (why)
        return fail(self, DPF_E_RANGE, why);
    *n = gram_plan_state(&plan, setup, out);
    return DPF_OK;
}

/* ---- for a witness ---------------------------------------------------------------------------------------
 */

/* Sums before their noise is added, where somebody is to be told. */
struct telling {
    const dpf_witness *witness; /* NULL: nobody */
    double *exact;
    int64_t survivors; /* messages in the sum, if it went through an aggregator */
};

static dpf_status keep_exact(const dpf_call *call, const int64_t *sums, int64_t n, double grid,
                             struct telling *telling)
{
    if (!telling->witness)
        return DPF_OK;
    telling->exact = call->scratch(call, (uint64_t)(n + 1) * sizeof *telling->exact);
    if (!telling->exact)
        return call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory");
    for (int64_t i = 0; i < n; i++)
        telling->exact[i] = (double)sums[i] * grid;
    return DPF_OK;
}

/* Noise of n numbers, in units of what is stated: shares of more users than it counts on make more, and pairs
   have more on the diagonal and none below it. width 0: they are no pairs. */
static void fill_scales(const struct gram_noise *noise, int64_t survivors, int64_t n, int64_t width,
                        double *scales)
{
    const double all = noise->share ? noise_share_sum(noise->share, survivors) / noise->scale : 1,
                 diagonal = noise->share ? (double)noise->share_diag / (double)noise->share
                                         : (double)noise->steps_diag / (double)noise->steps;
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = width ? i / width : 0, column = width ? i % width : 1;
        scales[i] = column > row ? all : column == row ? all * diagonal : 0;
    }
}

/* A release as it leaves, in values; training goes on with what the witness leaves. */
static dpf_status tell(const dpf_call *call, const struct telling *telling, int32_t release,
                       const struct gram_noise *noise, int64_t n, int64_t width, int pairs, int64_t *sums)
{
    dpf_witnessed what = {.size = sizeof what,
                          .release = release,
                          .n = n,
                          .width = width > 0 ? width : 1,
                          .exact = telling->exact};
    const int scaled = pairs || noise->share;
    if (!telling->witness)
        return DPF_OK;
    double *numbers = call->scratch(call, (uint64_t)(n + 1) * sizeof *numbers);
    double *scales = scaled ? call->scratch(call, (uint64_t)(n + 1) * sizeof *scales) : NULL;
    if (!numbers || (scaled && !scales))
        return call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory");
    if (scaled)
        fill_scales(noise, telling->survivors, n, pairs ? width : 0, scales);
    for (int64_t i = 0; i < n; i++)
        numbers[i] = (double)sums[i] * noise->grid;
    what.numbers = numbers;
    what.scales = scales;
    telling->witness->saw(telling->witness->context, &what);
    for (int64_t i = 0; i < n; i++)
        sums[i] = llround(numbers[i] / noise->grid);
    return DPF_OK;
}

/* ---- training ---------------------------------------------------------------------------------------------
 */

struct noising {
    const struct private_gram *self;
    const struct gram_noise *noise;
    dpf_stream *stream;
    uint32_t draw;
    int64_t m, d; /* d 0: pairs, of which row <= column */
    int64_t *sums;
    int64_t *drawn; /* by worker: m + d numbers, and 1 if a draw was refused */
};

static void noise_row(void *context, int64_t i, int32_t worker)
{
    struct noising *noising = context;
    const struct private_gram *self = noising->self;
    const struct gram_noise *noise = noising->noise;
    const int64_t n = noising->d ? noising->d : noising->m - i - 1;
    int64_t *at = noising->sums + (noising->d ? i * noising->d : i * noising->m + i + 1);
    int64_t *drawn = noising->drawn + worker * (noising->m + noising->d + 1);
    dpf_cursor cursor;
    self->random->seek(noising->stream, noising->draw, DPF_PARTY_AGGREGATE, (uint32_t)i, &cursor);
    dpf_status status = self->random->discrete_gaussian(&cursor, noise->steps, drawn, n);
    for (int64_t k = 0; k < n && status == DPF_OK; k++)
        at[k] += drawn[k];
    if (!noising->d && status == DPF_OK) {
        status = self->random->discrete_gaussian(&cursor, noise->steps_diag, drawn, 1);
        at[-1] += drawn[0];
    }
    if (status != DPF_OK)
        drawn[noising->m + noising->d] = 1;
}

static dpf_status add_noise(const struct private_gram *self, const dpf_call *call,
                            const struct gram_noise *noise, dpf_stream *stream, int64_t m, int64_t d,
                            int64_t *sums)
{
    struct noising noising = {
        .self = self, .noise = noise, .stream = stream, .draw = call->draw, .m = m, .d = d, .sums = sums};
    const uint64_t numbers = (uint64_t)dpf_task_workers(call) * (uint64_t)(m + d + 1);
    if (!noise->steps)
        return DPF_OK;
    noising.drawn = call->scratch(call, numbers * sizeof(int64_t));
    if (!noising.drawn)
        return fail(self, DPF_E_MEMORY, "out of memory");
    memset(noising.drawn, 0, (size_t)numbers * sizeof(int64_t));
    dpf_run_tasks(call, m, noise_row, &noising);
    for (uint64_t at = (uint64_t)(m + d); at < numbers; at += (uint64_t)(m + d + 1))
        if (noising.drawn[at])
            return fail(self, DPF_E_INTERNAL, "a scale of the noise is out of range");
    return DPF_OK;
}

static dpf_status add_count_noise(const struct private_gram *self, const dpf_call *call,
                                  const struct gram_plan *plan, int64_t n, int64_t *totals)
{
    dpf_cursor cursor;
    int64_t *drawn = call->scratch(call, (uint64_t)(n + 1) * sizeof *drawn);
    if (!drawn)
        return fail(self, DPF_E_MEMORY, "out of memory");
    if (!plan->noisy)
        return DPF_OK;
    self->random->seek(self->count_noise, call->draw, DPF_PARTY_AGGREGATE, 0, &cursor);
    const dpf_status status = self->random->discrete_gaussian(&cursor, plan->counts.steps, drawn, n);
    for (int64_t i = 0; i < n; i++)
        totals[i] += drawn[i];
    return status;
}

/* Who needs the sum without noise: whoever adds the noise to it, and a witness. */
static int sums_plainly(const dpf_fit *fit)
{
    return !dpf_fit_summing(fit) || dpf_fit_witness(fit);
}

static dpf_status release_counts(const struct private_gram *self, const dpf_call *call,
                                 const struct gram_plan *plan, const dpf_fit *fit, struct telling *telling,
                                 int64_t *totals)
{
    const int64_t n = fit->records->n_items;
    struct gram_shares shares = {self->random, self->count_noise, &plan->counts, fit, 0, 0};
    dpf_status status = DPF_OK;
    if (sums_plainly(fit))
        status = gram_sum_counts(call, fit->records, plan->counts.bits, totals);
    if (status == DPF_OK && sums_plainly(fit))
        status = dpf_fit_add_up(fit, totals, n);
    if (status == DPF_OK)
        status = keep_exact(call, totals, n, plan->counts.grid, telling);
    if (status == DPF_OK)
        status = dpf_fit_summing(fit) ? gram_shares_counts(call, &shares, totals)
                                      : add_count_noise(self, call, plan, n, totals);
    telling->survivors = shares.survivors;
    return status == DPF_OK ? tell(call, telling, 0, &plan->counts, n, 1, 0, totals) : status;
}

/* A release with a number for each pair of columns or, along directions, for each column and direction. */
struct matrix_release {
    int32_t number;
    int noisy;
    const struct gram_noise *noise;
    dpf_stream *stream;
    const struct gram_columns *columns;
    const struct gram_directions *along; /* NULL: pairs */
};

static dpf_status release_matrix(const struct private_gram *self, const dpf_call *call, const dpf_fit *fit,
                                 const struct matrix_release *what, struct telling *telling, int64_t *sums)
{
    const struct gram_columns *columns = what->columns;
    const struct gram_directions *along = what->along;
    const int64_t m = columns->m, d = along ? along->d : 0, width = along ? d : m, n = m * width;
    struct gram_shares shares = {self->random, what->stream, what->noise, fit, what->number, 0};
    dpf_status status = DPF_OK;
    if (sums_plainly(fit))
        status = along ? gram_sum_projected(call, fit->records, columns, along, sums)
                       : gram_sum_pairs(call, fit->records, columns, sums);
    if (status == DPF_OK && sums_plainly(fit))
        status = dpf_fit_add_up(fit, sums, n);
    if (status == DPF_OK)
        status = keep_exact(call, sums, n, what->noise->grid, telling);
    if (status == DPF_OK)
        status = dpf_fit_summing(fit) ? gram_shares_matrix(call, &shares, columns, along, sums)
                                      : add_noise(self, call, what->noise, what->stream, m, d, sums);
    telling->survivors = shares.survivors;
    return status == DPF_OK
               ? tell(call, telling, what->number, what->noise, n, width, !along && what->noisy, sums)
               : status;
}

/* The levels of rows along the directions, d numbers each; NULL without memory. */
static double *levels_along(const dpf_call *call, const struct row_centre *centre, const double *basis,
                            int64_t d)
{
    const uint64_t n = (uint64_t)(CENTRE_LEVELS * d + 1);
    double *out = call->scratch(call, n * sizeof *out);
    if (!out)
        return NULL;
    memset(out, 0, n * sizeof *out);
    for (int64_t k = 0; k < CENTRE_LEVELS; k++)
        for (int64_t i = 0; i < centre->m; i++)
            for (int64_t c = 0; c < d; c++)
                out[k * d + c] += ldexp(centre->level[k * centre->m + i], -centre->bits) * basis[i * d + c];
    return out;
}

/* The second release: n numbers in *sums. */
static dpf_status release_second(const struct private_gram *self, const dpf_call *call,
                                 const struct gram_plan *plan, const dpf_fit *fit,
                                 const struct item_span *span, struct telling *telling, int64_t **sums,
                                 int64_t *n)
{
    const int64_t m = span->m, d = plan->projected ? span->basis.columns : 0;
    double *weight = call->scratch(call, (uint64_t)(m + 1) * sizeof *weight);
    double *basis = call->scratch(call, (uint64_t)(m * d + 1) * sizeof *basis);
    *n = plan->projected ? m * d : m * m;
    *sums = call->scratch(call, (uint64_t)(*n + 1) * sizeof **sums);
    if (!weight || !basis || !*sums)
        return fail(self, DPF_E_MEMORY, "out of memory for the Gram of the items");
    for (int64_t k = 0; k < m; k++) {
        weight[k] = span->weight[span->item[k]];
        for (int64_t c = 0; c < d; c++)
            basis[k * d + c] = matrix_column(&span->basis, (int32_t)c)[k];
    }
    struct row_centre centre;
    if (row_centre_make(call, m, plan->second.bits, plan->projected ? 0 : GRAM_SPARED, 1.0 - span->kept,
                        span->shared, &centre) != 0)
        return fail(self, DPF_E_MEMORY, "out of memory for the levels of rows");
    const struct gram_columns columns = {.n_items = fit->records->n_items,
                                         .m = m,
                                         .column = span->column,
                                         .weight = weight,
                                         .bits = plan->second.bits,
                                         .values = &plan->values,
                                         .centre = plan->noisy ? &centre : NULL};
    struct gram_directions along = {&columns, basis, (int32_t)d, GRAM_LEAST_PROJECTED, NULL};
    if (centre.level && d > 0 && !(along.levels = levels_along(call, &centre, basis, d)))
        return fail(self, DPF_E_MEMORY, "out of memory for the levels of rows");
    const struct matrix_release what = {
        1, plan->noisy, &plan->second, self->gram_noise, &columns, plan->projected ? &along : NULL};
    return release_matrix(self, call, fit, &what, telling, *sums);
}

/* The third release, and what it tells of items without a column. */
static dpf_status release_tail(const struct private_gram *self, const dpf_call *call,
                               const struct gram_plan *plan, const dpf_fit *fit, struct telling *telling,
                               struct item_span *span, struct gram_estimate *estimate)
{
    struct tail tail;
    if (tail_make(call, plan, span, estimate, &tail) != 0)
        return DPF_E_INTERNAL;
    const int64_t n = tail.rest.m * tail.along.d;
    if (n == 0)
        return DPF_OK; /* the Gram shows no direction: nothing is sent */
    int64_t *sums = call->scratch(call, (uint64_t)(n + 1) * sizeof *sums);
    if (!sums)
        return fail(self, DPF_E_MEMORY, "out of memory for items without a column");
    const struct matrix_release what = {2,          plan->noisy, &plan->rest, self->tail_noise,
                                        &tail.rest, &tail.along};
    dpf_status status = release_matrix(self, call, fit, &what, telling, sums);
    if (status == DPF_OK && tail_correct(call, plan, &tail, sums, span, estimate) != 0)
        status = DPF_E_INTERNAL;
    return status;
}

static dpf_status gram_fit(void *instance, const dpf_call *call, dpf_fit *fit)
{
    const struct private_gram *self = instance;
    const dpf_interactions *records = fit->records;
    struct telling telling = {.witness = dpf_fit_witness(fit)};
    struct gram_plan plan;
    struct item_span span;
    struct gram_estimate estimate = {.directions = 0};
    int64_t *second, n;
    const char *why = gram_plan_make(&self->options, fit->setup, &plan);
    if (why)
        return fail(self, DPF_E_RANGE, why);
    int64_t *totals = call->scratch(call, (uint64_t)(records->n_items + 1) * sizeof *totals);
    dpf_status status = totals ? release_counts(self, call, &plan, fit, &telling, totals)
                               : fail(self, DPF_E_MEMORY, "out of memory");
    if (status != DPF_OK)
        return status;
    if (item_span_make(call, &plan, fit->setup->n_users, records->n_items, totals, dpf_item_features(records),
                       &span) != 0)
        return DPF_E_INTERNAL;
    status = release_second(self, call, &plan, fit, &span, &telling, &second, &n);
    if (status == DPF_OK && call->cancelled(call))
        status = DPF_E_CANCELLED; /* before what takes long */
    if (status != DPF_OK)
        return status;
    const int made = !plan.noisy      ? denoise_nothing(call, &plan, &span, second, &estimate)
                     : plan.projected ? denoise_projected(call, &plan, &span, second, &estimate)
                                      : denoise_gram(call, &plan, &span, second, &estimate);
    if (made != 0 && call->cancelled(call))
        return DPF_E_CANCELLED;
    if (made == 0 && plan.noisy && !plan.projected)
        dpf_log(self->host)->metric(self->host, "directions", estimate.directions);
    if (made == 0 && plan.tail)
        status = release_tail(self, call, &plan, fit, &telling, &span, &estimate);
    if (status != DPF_OK)
        return status;
    fit->state_bytes =
        made == 0 ? ease_state_make(call, &plan, &span, &estimate, fit->state, fit->state_bytes) : 0;
    return fit->state_bytes ? DPF_OK : DPF_E_INTERNAL;
}

/* ---- the state
 * ---------------------------------------------------------------------------------------------- */

static dpf_status gram_state_bytes(void *instance, int64_t n_users, int64_t n_items, uint64_t *bytes)
{
    const struct private_gram *self = instance;
    (void)n_users;
    *bytes = ease_state_room(n_items, self->options.items ? self->options.items : GRAM_MOST_ITEMS);
    return *bytes ? DPF_OK : fail(self, DPF_E_RANGE, "too many items");
}

static dpf_status gram_form(void *instance, const dpf_call *call, int64_t n_users, int64_t n_items,
                            const void *bytes, dpf_form *out)
{
    static const char *const names[] = {"value_low", "value_high", "lowest_weight"};
    const struct ease_state s = ease_state_at((void *)(uintptr_t)bytes);
    const struct ease_header *h = s.header;
    const dpf_array all[] = {
        {.name = "column", .type = DPF_ARRAY_I4, .rows = n_items, .columns = 1, .data = s.column},
        {.name = "popularity", .type = DPF_ARRAY_F4, .rows = n_items, .columns = 1, .data = s.popularity},
        {.name = "undo", .type = DPF_ARRAY_F4, .rows = n_items, .columns = 1, .data = s.undo},
        {.name = "weight", .type = DPF_ARRAY_F4, .rows = h->m, .columns = 1, .data = s.weight},
        {.name = "in", .type = DPF_ARRAY_F4, .rows = h->m, .columns = ease_state_width(h), .data = s.in},
        {.name = "out", .type = DPF_ARRAY_F4, .rows = h->r, .columns = h->m, .data = s.out},
        {.name = "span", .type = DPF_ARRAY_F4, .rows = h->d, .columns = n_items, .data = s.span}};
    dpf_array *arrays = call->scratch(call, sizeof all);
    double *scalars = call->scratch(call, 3 * sizeof *scalars);
    (void)n_users;
    if (!arrays || !scalars)
        return fail(instance, DPF_E_MEMORY, "out of memory");
    memcpy(arrays, all, sizeof all);
    scalars[0] = (double)h->values.lo;
    scalars[1] = (double)h->values.hi;
    scalars[2] = (double)h->values.lowest;
    out->formula = "ease/1";
    out->n_arrays = sizeof all / sizeof all[0];
    out->arrays = arrays;
    out->n_scalars = 3;
    out->scalar_names = names;
    out->scalars = scalars;
    return DPF_OK;
}

static const dpf_recommender functions = {
    .flags = gram_flags,
    .releases = gram_releases,
    .state_bytes = gram_state_bytes,
    .fit = gram_fit,
    .form = gram_form,
};

DPF_COMPONENT(
    component, DPF_ROLE_RECOMMENDER, functions, .id = "private-gram", .version = "1.0.0",
    .summary = "Ranking by EASE from one noisy Gram of items, users scaled to norm 1",
    .citation =
        "Steck, Embarrassingly Shallow Autoencoders, WWW 2019; McSherry, Mironov, KDD 2009; Gavish, Donoho, "
        "arXiv 1405.7511",
    DPF_PARAMS(params), .create = gram_create, .instance_bytes = sizeof(struct private_gram))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.recommender.private-gram", "1.0.0", "Apache-2.0", component)
