/* SPDX-License-Identifier: Apache-2.0 */
/*
 * private_ratings.c - ratings predicted from items that are learnt with user-level privacy and users that are
 * solved at home.
 *
 * 1. Counts of items, from users of norm 1; weights of records follow from them.
 * 2. Biases of items from weighted residuals, shrunk by the known variance of their noise toward a regression
 *    on the log count and public features (empirical Bayes).
 * 3. Each user has a ridge regression of its own on loadings of items: 1, bias, log count and public
 *    features. Its prior's second moments are one release.
 * 4. Rounds: users solve their regression, send weighted residuals times their row; each item's bias and
 *    first loadings are corrected by a Kalman step that knows the noise. One Gram matrix for all items stands
 *    in for one of each: it costs a twentieth of the round.
 *
 * ratings_rule.h has the privacy argument, ratings_user.h what users send, ratings_server.h what follows.
 */
#include <math.h>
#include <string.h>

#include "dpframe/plugin.h"
#include "ratings_fit.h"
#include "ratings_user.h"
#include "user_sums.h"
#include "ridge_form.h"

/* ---- instances ------------------------------------------------------------------------------------------
 */

static const char *const purposes[N_RELEASES] = {"users", "counts", "biases", "loadings", "factors", "gram"};

static dpf_status ratings_create(const dpf_host *host, const dpf_params *given, void **self)
{
    struct private_ratings made = {.host = host, .values = given->values, .random = dpf_random(host)};
    dpf_status status = made.random->open(host, "latent", &made.latent);
    for (int r = 0; r < N_RELEASES && status == DPF_OK; r++)
        status = made.random->open(host, purposes[r], &made.noise[r]);
    if (status != DPF_OK)
        return status;
    *(struct private_ratings *)*self = made;
    return DPF_OK;
}

static uint32_t ratings_flags(void *self)
{
    (void)self;
    return DPF_RECOMMENDER_STATE_RELEASED | DPF_RECOMMENDER_SCORES_AT_HOME | DPF_RECOMMENDER_ALWAYS_ENDS |
           DPF_RECOMMENDER_PREDICTS_VALUES | DPF_RECOMMENDER_SUMS_USERS;
}

/* ---- releases -------------------------------------------------------------------------------------------
 */

static const char *const release_names[N_RELEASES] = {
    "number of users",      "counts of items",     "biases of items", "second moments of users' weights",
    "corrections of items", "Gram of users' rows",
};

/* Second moments have as many numbers however few items there are: of 3 loadings, and 2 for each feature. */
#define MOST_MOMENTS ((3.0 + 2 * RATINGS_MAX_FEATURES) * (4.0 + 2 * RATINGS_MAX_FEATURES) / 2)

static dpf_status ratings_releases(void *instance, const dpf_recommender_setup *setup,
                                   dpf_recommender_release *out, int32_t capacity, int32_t *n)
{
    const struct private_ratings *self = instance;
    struct ratings_rule rule;
    const dpf_status status = ratings_rule_make(self->host, self->values, setup, &rule);
    if (status != DPF_OK)
        return status;
    *n = rule.rounds ? N_RELEASES : RELEASE_FACTORS;
    if (capacity < *n)
        return self->host->fail(self->host, DPF_E_INTERNAL, -1, "there is no room for the releases");
    const double numbers = fmax((double)setup->n_items * (RATINGS_MAX_LOADINGS + 1), MOST_MOMENTS);
    for (int32_t r = 0; r < *n; r++)
        user_sums_state_release(release_names[r], setup, &rule.grid[r], ratings_message_kind(r),
                                rule.count[r], r == RELEASE_USERS ? 1 : numbers, &out[r]);
    return DPF_OK;
}

/* ---- the state: header, biases, variances, loadings -----------------------------------------------------
 */

#define STATE_LARGEST 1e5
#define RATINGS_MAGIC UINT64_C(0x3154415244464450) /* "PDFDRAT1" */
struct ratings_header {
    uint64_t magic;
    int64_t n_items, n_loadings; /* not the number of users: the state is released, and it is exact */
    double centre, unit, residual_variance, reserved[2];
};

struct ratings_state {
    struct ratings_header *header;
    double *bias, *variance, *loadings;
};

static struct ratings_state state_at(int64_t n_items, void *bytes)
{
    struct ratings_state state = {.header = bytes};
    state.bias = (double *)(void *)((unsigned char *)bytes + sizeof *state.header);
    state.variance = state.bias + n_items;
    state.loadings = state.variance + n_items;
    return state;
}

/* Rooms for loadings that there turn out to be fewer of stay zero. */
static uint64_t state_size(int64_t n_users, int64_t n_items)
{
    const int64_t d = RATINGS_LOADINGS;
    if (n_users < 0 || n_items < 0 || (double)n_items * (double)(d + 2) > 0x1p50)
        return 0;
    return sizeof(struct ratings_header) + (uint64_t)(n_items * (d + 2)) * sizeof(double);
}

static dpf_status ratings_state_bytes(void *instance, int64_t n_users, int64_t n_items, uint64_t *bytes)
{
    const struct private_ratings *self = instance;
    *bytes = state_size(n_users, n_items);
    return *bytes ? DPF_OK : self->host->fail(self->host, DPF_E_RANGE, -1, "too many items");
}

/* ---- training -------------------------------------------------------------------------------------------
 */

/* Numbers as predictions can use them, whatever noise has made. */
static void tame(const double *in, int64_t n, double least, double *out)
{
    for (int64_t k = 0; k < n; k++)
        out[k] = isnan(in[k]) ? 0 : fmin(fmax(in[k], least), STATE_LARGEST);
}

static void keep_state(const struct ratings_server *server, const dpf_fit *fit)
{
    const struct ratings_rule *rule = server->rule;
    const int64_t n = server->n_items;
    const struct ratings_state state = state_at(n, fit->state);
    *state.header = (struct ratings_header){.magic = RATINGS_MAGIC,
                                            .n_items = n,
                                            .n_loadings = server->n_loadings,
                                            .centre = rule->centre,
                                            .unit = rule->unit,
                                            .residual_variance = rule->residual_variance};
    tame(server->bias, n, -STATE_LARGEST, state.bias);
    tame(server->variance, n, 0, state.variance);
    tame(server->loadings, n * server->n_loadings, -STATE_LARGEST, state.loadings);
}

static void count_bytes(const struct ratings_server *server, dpf_fit *fit)
{
    const uint64_t users = (uint64_t)fit->records->n_users, items = (uint64_t)server->n_items,
                   d = (uint64_t)server->n_loadings, e = (uint64_t)server->rank + 1,
                   rounds = (uint64_t)server->rule->rounds;
    fit->messages = fit->records->n_users * (3 + server->rule->rounds);
    fit->bytes_up = 8 * users * (3 * items + 1 + d * (d + 1) / 2 + rounds * (items * e + e * (e + 1) / 2));
    fit->bytes_down = 8 * users * items * (2 + (rounds + 1) * (d + 2));
}

/* Numbers first, then the most frequent categories: which columns are read is public. */
static int64_t choose_columns(const dpf_features *features, int32_t *chosen)
{
    int64_t n = 0;
    for (int64_t c = 0; c < features->columns && n < RATINGS_MAX_FEATURES; c++)
        if (features->column[c].kind == DPF_FEATURE_NUMBER)
            chosen[n++] = (int32_t)c;
    const int64_t numbers = n;
    for (int64_t c = 0; c < features->columns; c++) {
        const double mean = features->column[c].mean;
        if (features->column[c].kind == DPF_FEATURE_NUMBER)
            continue;
        if (n < RATINGS_MAX_FEATURES)
            n++;
        else if (n == numbers || !(mean > features->column[chosen[n - 1]].mean))
            continue;
        int64_t at = n - 1;
        for (; at > numbers && features->column[chosen[at - 1]].mean < mean; at--)
            chosen[at] = chosen[at - 1];
        chosen[at] = (int32_t)c;
    }
    return n;
}

static dpf_status read_features(const dpf_call *call, const dpf_features *features, struct item_features *out)
{
    int32_t chosen[RATINGS_MAX_FEATURES];
    *out = (struct item_features){0};
    if (!features || features->columns == 0)
        return DPF_OK;
    out->n = choose_columns(features, chosen);
    double *values =
        call->scratch(call, (uint64_t)(features->rows * out->n + features->columns) * sizeof *values);
    uint8_t *is_number = call->scratch(call, (uint64_t)out->n);
    if (!values || !is_number)
        return call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory");
    double *row = values + features->rows * out->n;
    for (int64_t i = 0; i < features->rows; i++) {
        dpf_features_row(features, i, row);
        for (int64_t k = 0; k < out->n; k++)
            values[i * out->n + k] = row[chosen[k]];
    }
    for (int64_t k = 0; k < out->n; k++)
        is_number[k] = features->column[chosen[k]].kind == DPF_FEATURE_NUMBER;
    out->values = values;
    out->is_number = is_number;
    return DPF_OK;
}

static dpf_status check_sizes(const struct private_ratings *self, const struct ratings_rule *rule,
                              const dpf_fit *fit)
{
    const dpf_host *host = self->host;
    const int64_t n_users = fit->records->n_users, n_items = fit->records->n_items;
    if ((double)n_items * (double)(rule->rounds + 1) > 4294967295.0)
        return host->fail(host, DPF_E_RANGE, P_ROUNDS, "too many items for so many rounds");
    if (fit->state_bytes != state_size(n_users, n_items))
        return host->fail(host, DPF_E_INTERNAL, -1, "the state has another size than was asked for");
    return DPF_OK;
}

static dpf_status ratings_fit(void *instance, const dpf_call *call, dpf_fit *fit)
{
    const struct private_ratings *self = instance;
    struct ratings_rule rule;
    struct item_features features;
    struct ratings_server server;
    dpf_status status = ratings_rule_make(self->host, self->values, fit->setup, &rule);
    if (status == DPF_OK)
        status = check_sizes(self, &rule, fit);
    if (status == DPF_OK)
        status = read_features(call, dpf_item_features(fit->records), &features);
    if (status != DPF_OK)
        return status;
    const int64_t size = ratings_server_size(&rule, &features, fit->records->n_items);
    double *memory = call->scratch(call, (uint64_t)size * sizeof *memory);
    if (!memory)
        return self->host->fail(self->host, DPF_E_MEMORY, -1, "out of memory");
    ratings_server_place(&server, &rule, &features, fit->records->n_items, memory);
    status = ratings_fit_run(self, call, fit, &server);
    if (status != DPF_OK)
        return status;
    keep_state(&server, fit);
    count_bytes(&server, fit);
    return DPF_OK;
}

/* ---- predictions ----------------------------------------------------------------------------------------
 */

static dpf_status ratings_form(void *instance, const dpf_call *call, int64_t n_users, int64_t n_items,
                               const void *bytes, dpf_form *out)
{
    const struct ratings_state s = state_at(n_items, (void *)(uintptr_t)bytes);
    const struct ratings_header *h = s.header;
    (void)instance;
    (void)n_users;
    return ridge_form(call, n_items, h->n_loadings, s.bias, s.loadings, s.variance,
                      (const double[3]){h->centre, h->unit, h->residual_variance}, out);
}

static const dpf_recommender functions = {
    .flags = ratings_flags,
    .releases = ratings_releases,
    .state_bytes = ratings_state_bytes,
    .fit = ratings_fit,
    .form = ratings_form,
};

DPF_COMPONENT(
    component, DPF_ROLE_RECOMMENDER, functions, .id = "private-ratings", .version = "1.0.0",
    .summary = "Predicts ratings: items from noisy sums over users of norm 1, users solved at home",
    .citation =
        "McSherry, Mironov, KDD 2009 (counts, then shrunk effects); Chien et al., ICML 2021 (users at "
        "home); the Kalman steps and one Gram for all items are dpframe's",
    DPF_PARAMS(ratings_params), .create = ratings_create, .instance_bytes = sizeof(struct private_ratings))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.recommender.private-ratings", "1.0.0", "Apache-2.0", component)
