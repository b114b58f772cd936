/* SPDX-License-Identifier: Apache-2.0 */
/*
 * private_als.c - private alternating least squares with users' budgets spent where few others rate.
 *
 * After Chien, Jain, Krichene, Rendle, Song, Thakurta, Zhang, "Private alternating least squares" (ICML
 * 2021), Algorithms 1 to 3, for ratings: counts of items are released first, and charged; the paper's head
 * items come from exact ones; items outside the head, by released counts, are not learned: they get bias and
 * row 0; of a user's records the `records` ones with the smallest released counts take part (tail sampling);
 *   a record counts h = count^-exponent over the root of the sum of h^2 of the user's (adaptive weights);
 *   each round every user solves its own row at home, clips (1, u) to row norm, and sends w y y' and w e y of
 *     each such item, e the residual about its own mean, clipped;
 *   matrices are projected onto the positive semidefinite ones, and regularised by their own counts.
 *
 * Privacy. w has norm 1 over a user's records, y y' at most row norm^2 and e y at most clip row norm: divided
 * by that, each of the two messages has norm 1 at most, the grid included (user_sums.h). Shares of the budget
 * add up to 1 over counts, and rounds of both, so all releases together are one Gaussian mechanism.
 *
 * The split between matrices and linear parts. Errors of c = A q come from noise of c, of size clip row norm
 * / sqrt(1 - s), and of A q, row norm^2 |q| / sqrt(s): the sum of squares is least at s / (1 - s) = row norm
 * |q| / clip, with |q| taken to be ROW_SIZE.
 */
#include <math.h>
#include <string.h>

#include "dpframe/plugin.h"
#include "home_solve.h"
#include "small_matrix.h"
#include "user_sums.h"
#include "ridge_form.h"

#define ROW_SIZE 0.5   /* of an item's bias and row, in quarters of the range */
#define SD_OF_MEAN 0.4 /* of users' means about the centre */
#define RESIDUAL 0.75  /* variance of a rating about its prediction */
#define START 0.1      /* standard deviation of the rows that rounds start from */
#define PRIOR_MEAN 0.5 /* people rate what they chose: above the middle of the range */
#define MOST_RANK 16
#define STATE_LARGEST 1e5

enum { RELEASE_COUNTS, RELEASE_MATRICES, RELEASE_LINEAR, N_RELEASES };
enum { P_MULTIPLIER, P_RANK, P_ROUNDS, P_RECORDS, P_HEAD, P_COUNT_SHARE, P_LAMBDA, P_COUNT };

static const dpf_param params[P_COUNT] = {
    [P_MULTIPLIER] =
        DPF_PARAM_REAL_F("noise-multiplier", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                         "Noise of the whole run: all releases together are as private as one Gaussian "
                         "mechanism of this sigma over sensitivity."),
    [P_RANK] = DPF_PARAM_INT_F("rank", 2, 0, MOST_RANK, 0, "", "Numbers of a row besides its bias."),
    [P_ROUNDS] = DPF_PARAM_INT_F("rounds", 2, 1, 64, DPF_PARAM_PRIVACY, "", "Rounds of both sides."),
    [P_RECORDS] = DPF_PARAM_INT_F("records", 300, 1, 1000000, 0, "records",
                                  "How many records of a user take part: those of the rarest items."),
    [P_HEAD] = DPF_PARAM_REAL_F("head", 0.6, 0.0, 1.0, DPF_PARAM_OPEN_LO, "",
                                "The largest part of the items, by released counts, that is learnt."),
    [P_COUNT_SHARE] = DPF_PARAM_REAL_F("count-share", 0.1, 0.0, 1.0,
                                       DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO | DPF_PARAM_OPEN_HI, "",
                                       "Part of the budget for the items' counts."),
    [P_LAMBDA] = DPF_PARAM_REAL_F("lambda", 20.0, 0.0, 1e9, DPF_PARAM_OPEN_LO, "",
                                  "Regularisation of all items alike, divided by noise-multiplier."),
};

#define EXPONENT 0.25        /* a record's weight is its item's released count to the power of minus this */
#define CLIP 1.5             /* residuals are clipped to this, in quarters of the range */
#define ROW_NORM 1.5         /* users' rows, with a constant 1, are clipped to this */
#define LAMBDA_PER_COUNT 0.1 /* regularisation for each unit of an item's noisy weighted count */

/* ---- instances and rule ---------------------------------------------------------------------------------
 */

struct private_als {
    const dpf_host *host;
    const dpf_value *values;
    const dpf_random_service *random;
    dpf_stream *noise[N_RELEASES], *start;
};

static const char *const purposes[N_RELEASES] = {"counts", "matrices", "linear"};
static const char *const names[N_RELEASES] = {"counts of items", "matrices of items",
                                              "linear parts of items"};

static dpf_status als_create(const dpf_host *host, const dpf_params *given, void **self)
{
    struct private_als made = {.host = host, .values = given->values, .random = dpf_random(host)};
    dpf_status status = made.random->open(host, "start", &made.start);
    for (int r = 0; r < N_RELEASES && status == DPF_OK; r++)
        status = made.random->open(host, purposes[r], &made.noise[r]);
    if (status != DPF_OK)
        return status;
    *(struct private_als *)*self = made;
    return DPF_OK;
}

static uint32_t als_flags(void *self)
{
    (void)self;
    return DPF_RECOMMENDER_STATE_RELEASED | DPF_RECOMMENDER_SCORES_AT_HOME | DPF_RECOMMENDER_ALWAYS_ENDS |
           DPF_RECOMMENDER_PREDICTS_VALUES | DPF_RECOMMENDER_SUMS_USERS;
}

/* Public numbers of a run. */
struct als_rule {
    int64_t e; /* rank + 1 */
    int64_t packed;
    int64_t count[N_RELEASES];
    struct noise_grid grid[N_RELEASES];
    double centre, unit, lo, hi, multiplier;
};

static dpf_status make_rule(const struct private_als *self, const dpf_recommender_setup *setup,
                            struct als_rule *rule)
{
    const dpf_value *v = self->values;
    const double ratio = ROW_SIZE * ROW_NORM / CLIP, counts = v[P_COUNT_SHARE].real,
                 matrices = ratio / (1 + ratio), rounds = (double)v[P_ROUNDS].integer;
    const double share[N_RELEASES] = {counts, (1 - counts) * matrices / rounds,
                                      (1 - counts) * (1 - matrices) / rounds};
    dpf_status status = user_sums_check_range(self->host, setup);
    *rule = (struct als_rule){.e = v[P_RANK].integer + 1,
                              .count = {1, v[P_ROUNDS].integer, v[P_ROUNDS].integer},
                              .lo = setup->value_lo,
                              .hi = setup->value_hi,
                              .unit = (setup->value_hi - setup->value_lo) / 4,
                              .centre = (setup->value_hi + setup->value_lo) / 2,
                              .multiplier = v[P_MULTIPLIER].real * setup->noise_factor};
    rule->packed = rule->e * (rule->e + 1) / 2;
    for (int r = 0; r < N_RELEASES && status == DPF_OK; r++)
        status = user_sums_choose_grid(self->host, setup, P_MULTIPLIER, rule->multiplier / sqrt(share[r]),
                                       setup->without_noise, GRID_LEAST_BITS, &rule->grid[r]);
    if (setup->without_noise)
        rule->multiplier = 0;
    return status;
}

static dpf_status als_releases(void *instance, const dpf_recommender_setup *setup,
                               dpf_recommender_release *out, int32_t capacity, int32_t *n)
{
    const struct private_als *self = instance;
    struct als_rule rule;
    const dpf_status status = make_rule(self, setup, &rule);
    if (status != DPF_OK)
        return status;
    if (capacity < N_RELEASES)
        return self->host->fail(self->host, DPF_E_INTERNAL, -1, "there is no room for the releases");
    for (int32_t r = 0; r < N_RELEASES; r++)
        user_sums_state_release(names[r], setup, &rule.grid[r],
                                r == RELEASE_COUNTS ? MESSAGE_NOT_NEGATIVE : MESSAGE_SIGNED, rule.count[r],
                                (double)setup->n_items * (double)rule.packed, &out[r]);
    *n = N_RELEASES;
    return DPF_OK;
}

/* ---- the state: header, biases, zeros, and (SD_OF_MEAN, row) of each item -------------------------------
 */

#define ALS_MAGIC UINT64_C(0x31534c4150444644)
struct als_header {
    uint64_t magic;
    int64_t n_items, e; /* not the number of users: the state is released, and it is exact */
    double centre, unit, reserved[2];
};

struct als_state {
    struct als_header *header;
    double *bias, *variance, *loadings;
};

static struct als_state state_at(int64_t n_items, void *bytes)
{
    struct als_state state = {.header = bytes};
    state.bias = (double *)(void *)((unsigned char *)bytes + sizeof *state.header);
    state.variance = state.bias + n_items;
    state.loadings = state.variance + n_items;
    return state;
}

static dpf_status als_state_bytes(void *instance, int64_t n_users, int64_t n_items, uint64_t *bytes)
{
    const struct private_als *self = instance;
    const int64_t e = self->values[P_RANK].integer + 1;
    if (n_users < 0 || n_items < 0 || (double)n_items * (double)(e + 2) > 0x1p50)
        return self->host->fail(self->host, DPF_E_RANGE, -1, "too many items");
    *bytes = sizeof(struct als_header) + (uint64_t)(n_items * (e + 2)) * sizeof(double);
    return DPF_OK;
}

/* ---- users ----------------------------------------------------------------------------------------------
 */

struct fitting {
    const struct private_als *self;
    const dpf_fit *fit;
    const struct als_rule *rule;
    struct als_state state;
    double *counts; /* released; below 0 outside the head */
    int64_t n_items;
    struct user_sums sums;
};

static double own_values(const struct als_rule *rule, const dpf_csr *csr, int64_t user, double *values)
{
    const int64_t first = csr->offsets[user], n = csr->offsets[user + 1] - first;
    for (int64_t k = 0; k < n; k++) {
        const double value = csr->values ? (double)csr->values[first + k] : 1.0;
        values[k] = (fmin(fmax(value, rule->lo), rule->hi) - rule->centre) / rule->unit - PRIOR_MEAN;
    }
    return (double)n;
}

/* Places of the records that take part, the rarest items first: at most `most` of them. */
static int64_t choose_rare(const struct fitting *f, const int32_t *items, int64_t n, int64_t most,
                           int32_t *chosen)
{
    int64_t kept = 0;
    for (int64_t k = 0; k < n; k++) {
        const double count = f->counts[items[k]];
        if (count < 0 || (kept == most && !(count < f->counts[items[chosen[kept - 1]]])))
            continue;
        kept += kept < most;
        int64_t at = kept - 1;
        for (; at > 0 && f->counts[items[chosen[at - 1]]] > count; at--)
            chosen[at] = chosen[at - 1];
        chosen[at] = (int32_t)k;
    }
    return kept;
}

/* y = (1, u), clipped; returns the user's mean. */
static double own_row(const struct fitting *f, const double *t, double *y)
{
    const double cap = ROW_NORM;
    double square = 0;
    for (int64_t k = 0; k < f->rule->e; k++) {
        y[k] = k ? t[k] : 1;
        square += y[k] * y[k];
    }
    for (int64_t k = 0; k < f->rule->e && square > cap * cap; k++)
        y[k] *= cap / sqrt(square);
    return SD_OF_MEAN * t[0];
}

static void send_round(const struct fitting *f, int32_t release, const struct own_records *own,
                       struct user_desk *desk, struct user_message *message)
{
    const dpf_value *v = f->self->values;
    const int64_t e = f->rule->e;
    double *t = desk->work, *factor = t + e, *y = factor + e * e, square = 0;
    const double cap = ROW_NORM, clip = CLIP;
    home_solve(e, f->state.loadings, f->state.bias, f->state.variance, RESIDUAL, own, t, factor);
    const double mean = own_row(f, t, y);
    const int64_t n = choose_rare(f, own->items, own->n, v[P_RECORDS].integer, desk->chosen);
    for (int64_t k = 0; k < n; k++)
        square += pow(fmax(f->counts[own->items[desk->chosen[k]]], 1e-3), -2 * EXPONENT);
    double *to = desk->to_items;
    for (int64_t k = 0; k < n; k++) {
        const int32_t place = desk->chosen[k];
        const double w = pow(fmax(f->counts[own->items[place]], 1e-3), -EXPONENT) / sqrt(square);
        const double residual = fmin(fmax(own->values[place] - mean, -clip), clip);
        for (int64_t r = 0; r < e && release == RELEASE_LINEAR; r++)
            *to++ = w * residual * y[r] / (clip * cap);
        for (int64_t r = 0; r < e && release == RELEASE_MATRICES; r++)
            for (int64_t c = 0; c <= r; c++)
                *to++ = w * y[r] * y[c] * (r == c ? 1 : sqrt(2.0)) / (cap * cap);
        desk->chosen[k] = own->items[place];
    }
    *message = (struct user_message){n, desk->chosen};
}

static void send(const void *context, const struct user_pass *pass, int64_t user, struct user_desk *desk,
                 struct user_message *message)
{
    const struct fitting *f = context;
    const dpf_csr *csr = &f->fit->records->by_user;
    const int64_t first = csr->offsets[user];
    const double n = own_values(f->rule, csr, user, desk->values);
    const struct own_records own = {(int64_t)n, csr->others + first, desk->values};
    if (pass->to_items != RELEASE_COUNTS) {
        send_round(f, pass->to_items, &own, desk, message);
        return;
    }
    for (int64_t k = 0; k < own.n; k++)
        desk->to_items[k] = 1 / sqrt(n);
    *message = (struct user_message){own.n, own.items};
}

/* ---- items ----------------------------------------------------------------------------------------------
 */

/* Marks what is outside the head, which is no larger than wanted: its least count by bisection on values, so
   that ties stay together. Items without a count above 0 are never in it. */
static void choose_head(struct fitting *f)
{
    const double wanted = f->self->values[P_HEAD].real * (double)f->n_items;
    double lo = 0, hi = 0;
    for (int64_t i = 0; i < f->n_items; i++)
        hi = fmax(hi, f->counts[i]);
    for (int step = 0; step < 60; step++) {
        const double middle = (lo + hi) / 2;
        int64_t above = 0;
        for (int64_t i = 0; i < f->n_items; i++)
            above += f->counts[i] > middle;
        if ((double)above > wanted)
            lo = middle;
        else
            hi = middle;
    }
    for (int64_t i = 0; i < f->n_items; i++)
        f->counts[i] = f->counts[i] > hi ? f->counts[i] : -1;
}

/* a := its positive semidefinite part plus the ridge; 0, or -1. */
static int regularise(const struct fitting *f, double *a, double *work)
{
    const dpf_value *v = f->self->values;
    const int64_t e = f->rule->e;
    const double ridge = v[P_LAMBDA].real * f->rule->multiplier + LAMBDA_PER_COUNT * fmax(a[0], 0) + 1e-6;
    double *vectors = work, *values = vectors + e * e, *rest = values + e;
    if (small_eigen(a, e, values, vectors, rest) != 0)
        return -1;
    memset(a, 0, (size_t)(e * e) * sizeof *a);
    for (int64_t k = 0; k < e; k++)
        for (int64_t r = 0; r < e; r++)
            for (int64_t c = 0; c < e; c++)
                a[r * e + c] += fmax(values[k], 0) * vectors[k * e + r] * vectors[k * e + c];
    for (int64_t r = 0; r < e; r++)
        a[r * e + r] += ridge;
    return small_cholesky(a, e);
}

static double tame(double x)
{
    return isnan(x) ? 0 : fmin(fmax(x, -STATE_LARGEST), STATE_LARGEST);
}

static void solve_items(struct fitting *f, const double *matrices, const double *linear, double *work)
{
    const int64_t e = f->rule->e;
    const double cap = ROW_NORM, clip = CLIP;
    double *a = work, *x = a + e * e, *rest = x + e;
    for (int64_t i = 0; i < f->n_items; i++) {
        const double *packed = matrices + i * f->rule->packed;
        for (int64_t r = 0; r < e; r++) {
            x[r] = linear[i * e + r] * clip * cap;
            for (int64_t c = 0; c <= r; c++, packed++)
                a[r * e + c] = a[c * e + r] = *packed * cap * cap / (r == c ? 1 : sqrt(2.0));
        }
        if (f->counts[i] < 0 || regularise(f, a, rest) != 0)
            memset(x, 0, (size_t)e * sizeof *x);
        else
            small_solve(a, e, x);
        f->state.bias[i] = tame(x[0]);
        for (int64_t k = 1; k < e; k++)
            f->state.loadings[i * e + k] = tame(x[k]);
    }
}

static void start_items(struct fitting *f)
{
    const int64_t e = f->rule->e;
    dpf_cursor cursor;
    f->self->random->seek(f->self->start, 0, DPF_PARTY_AGGREGATE, 0, &cursor);
    f->self->random->normal(&cursor, f->state.loadings, f->n_items * e);
    for (int64_t i = 0; i < f->n_items; i++)
        for (int64_t k = 0; k < e; k++)
            f->state.loadings[i * e + k] =
                k ? START * f->state.loadings[i * e + k] * (f->counts[i] >= 0) : SD_OF_MEAN;
}

/* ---- training -------------------------------------------------------------------------------------------
 */

static dpf_status learn(struct fitting *f, const dpf_call *call)
{
    const int64_t e = f->rule->e, n = f->n_items;
    double *matrices = call->scratch(call, (uint64_t)(n * f->rule->packed) * sizeof *matrices);
    double *work = call->scratch(call, (uint64_t)(3 * e * e + 3 * e + small_eigen_size(e)) * sizeof *work);
    struct user_pass pass = {RELEASE_COUNTS, -1, 1, 0, 0};
    if (!matrices || !work)
        return call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory");
    dpf_status status = user_sums_run(&f->sums, &pass);
    if (status != DPF_OK)
        return status;
    memcpy(f->counts, f->sums.released, (size_t)n * sizeof *f->counts);
    choose_head(f);
    start_items(f);
    for (int64_t round = 0; round < f->self->values[P_ROUNDS].integer; round++) {
        pass = (struct user_pass){RELEASE_MATRICES, -1, f->rule->packed, 0, round};
        status = user_sums_run(&f->sums, &pass);
        if (status != DPF_OK)
            return status;
        memcpy(matrices, f->sums.released, (size_t)(n * f->rule->packed) * sizeof *matrices);
        pass = (struct user_pass){RELEASE_LINEAR, -1, e, 0, round};
        status = user_sums_run(&f->sums, &pass);
        if (status != DPF_OK)
            return status;
        solve_items(f, matrices, f->sums.released, work);
    }
    return DPF_OK;
}

static dpf_status als_fit(void *instance, const dpf_call *call, dpf_fit *fit)
{
    const struct private_als *self = instance;
    const int64_t n_items = fit->records->n_items;
    struct als_rule rule;
    uint64_t bytes = 0;
    dpf_status status = make_rule(self, fit->setup, &rule);
    if (status == DPF_OK)
        status = als_state_bytes(instance, fit->records->n_users, n_items, &bytes);
    if (status != DPF_OK)
        return status;
    if (fit->state_bytes < bytes || (double)n_items * 65.0 > 4294967295.0)
        return call->host->fail(call->host, DPF_E_RANGE, -1,
                                "there is no room for the state of so many items");
    struct fitting f = {
        .self = self, .fit = fit, .rule = &rule, .state = state_at(n_items, fit->state), .n_items = n_items};
    f.counts = call->scratch(call, (uint64_t)n_items * sizeof *f.counts);
    if (!f.counts)
        return call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory");
    f.sums = (struct user_sums){.call = call,
                                .fit = fit,
                                .random = self->random,
                                .noise = self->noise,
                                .grids = rule.grid,
                                .send = send,
                                .context = &f,
                                .widest = rule.packed,
                                .work = rule.e * rule.e + 3 * rule.e};
    status = user_sums_open(&f.sums);
    if (status == DPF_OK)
        status = learn(&f, call);
    if (status != DPF_OK)
        return status;
    *f.state.header = (struct als_header){.magic = ALS_MAGIC,
                                          .n_items = n_items,
                                          .e = rule.e,
                                          .centre = rule.centre + rule.unit * PRIOR_MEAN,
                                          .unit = rule.unit};
    const uint64_t passes = 1 + 2 * (uint64_t)rule.count[RELEASE_LINEAR];
    fit->messages = fit->records->n_users * (int64_t)passes;
    fit->bytes_up = 8 * (uint64_t)fit->records->n_users * (uint64_t)n_items *
                    (1 + (uint64_t)rule.count[RELEASE_LINEAR] * (uint64_t)(rule.packed + rule.e));
    fit->bytes_down = 8 * (uint64_t)fit->records->n_users * (uint64_t)n_items * passes * (uint64_t)rule.e;
    return DPF_OK;
}

static dpf_status als_form(void *instance, const dpf_call *call, int64_t n_users, int64_t n_items,
                           const void *bytes, dpf_form *out)
{
    const struct als_state s = state_at(n_items, (void *)(uintptr_t)bytes);
    (void)instance;
    (void)n_users;
    return ridge_form(call, n_items, s.header->e, s.bias, s.loadings, NULL,
                      (const double[3]){s.header->centre, s.header->unit, RESIDUAL}, out);
}

static const dpf_recommender functions = {
    .flags = als_flags,
    .releases = als_releases,
    .state_bytes = als_state_bytes,
    .fit = als_fit,
    .form = als_form,
};

DPF_COMPONENT(
    component, DPF_ROLE_RECOMMENDER, functions, .id = "private-als", .version = "1.0.0",
    .summary =
        "Private ALS for ratings: users' budgets go to rare items by private counts, which are charged",
    .citation = "Chien, Jain, Krichene, Rendle, Song, Thakurta, Zhang, Private alternating least squares, "
                "ICML 2021, Algorithms 1 to 3",
    DPF_PARAMS(params), .create = als_create, .instance_bytes = sizeof(struct private_als))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.recommender.private-als", "1.0.0", "Apache-2.0", component)
