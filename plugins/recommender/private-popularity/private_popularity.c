/* SPDX-License-Identifier: Apache-2.0 */
/*
 * private_popularity.c - a list of popular items, the same for everybody, from one noisy sum over users.
 *
 * A user of n items adds 1 / sqrt(max(n, h)) to each of them, h being the public number `history`. Users of
 * up to h items count all their items alike, as in a count over sqrt(h); the items of a user who has more
 * share the same length. An item's score is its sum with noise.
 *
 * Privacy. A user's message has n numbers a <= 1/sqrt(n), so L2 norm 1 at most, and is rounded toward zero on
 * the grid (message_grid.h): who comes or goes moves the sum by 1 at most. Messages have no negative numbers,
 * so the inner product of two is not below 0, and replacing one by the other, whether another user takes the
 * place or a record comes, goes or is replaced, moves the sum by sqrt(1 + 1) at most. Values of records are
 * not read. Noise of scale z makes it one Gaussian mechanism of multiplier z. Scores read that sum alone:
 * what a user gets is released, and does not depend on that user's own records.
 */
#include <math.h>
#include <string.h>

#include "dpframe/plugin.h"
#include "user_sums.h"

#define MOST_HISTORY 200.0
#define REACH_OF_HISTORY 10.0
#define STATE_LARGEST 1e15

enum { P_MULTIPLIER, P_HISTORY, P_COUNT };

static const dpf_param params[P_COUNT] = {
    [P_MULTIPLIER] = DPF_PARAM_REAL_F(
        "noise-multiplier", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
        "Noise over the norm of a user's message: mu = 1/multiplier. [privacy] budget = total chooses it."),
    [P_HISTORY] =
        DPF_PARAM_INT_F("history", 0, 0, 1000000, DPF_PARAM_PRIVACY, "items",
                        "Items of users with at most this many items count in full; items of users with more "
                        "count less. 0: by rule, a tenth of users x mu, 1 to 200."),
};

struct private_popularity {
    const dpf_host *host;
    const dpf_value *values;
    const dpf_random_service *random;
    dpf_stream *noise;
};

static dpf_status popularity_create(const dpf_host *host, const dpf_params *given, void **self)
{
    struct private_popularity made = {.host = host, .values = given->values, .random = dpf_random(host)};
    const dpf_status status = made.random->open(host, "counts", &made.noise);
    if (status != DPF_OK)
        return status;
    *(struct private_popularity *)*self = made;
    return DPF_OK;
}

/* Not SCORES_AT_HOME: scores are the released sums. */
static uint32_t popularity_flags(void *self)
{
    (void)self;
    return DPF_RECOMMENDER_STATE_RELEASED | DPF_RECOMMENDER_ALWAYS_ENDS | DPF_RECOMMENDER_SUMS_USERS;
}

/* ---- before data is read --------------------------------------------------------------------------------
 */

struct popularity_rule {
    double history;
    struct noise_grid grid;
};

static dpf_status make_rule(const struct private_popularity *self, const dpf_recommender_setup *setup,
                            struct popularity_rule *rule)
{
    const double multiplier = self->values[P_MULTIPLIER].real * setup->noise_factor,
                 reach = (double)setup->n_users / multiplier;
    *rule = (struct popularity_rule){.history = (double)self->values[P_HISTORY].integer};
    if (rule->history == 0)
        rule->history =
            setup->without_noise ? MOST_HISTORY : fmin(fmax(reach / REACH_OF_HISTORY, 1.0), MOST_HISTORY);
    return user_sums_choose_grid(self->host, setup, P_MULTIPLIER, multiplier, setup->without_noise,
                                 GRID_LEAST_BITS, &rule->grid);
}

static dpf_status popularity_releases(void *instance, const dpf_recommender_setup *setup,
                                      dpf_recommender_release *out, int32_t capacity, int32_t *n)
{
    const struct private_popularity *self = instance;
    struct popularity_rule rule;
    const dpf_status status = make_rule(self, setup, &rule);
    if (status != DPF_OK)
        return status;
    if (capacity < 1)
        return self->host->fail(self->host, DPF_E_INTERNAL, -1, "there is no room for a release");
    user_sums_state_release("counts of items", setup, &rule.grid, MESSAGE_NOT_NEGATIVE, 1,
                            (double)setup->n_items, out);
    *n = 1;
    return DPF_OK;
}

/* ---- the state: a header and a number for each item -----------------------------------------------------
 */

#define POPULARITY_MAGIC UINT64_C(0x3150504f50504644) /* "DFPPOPP1" */
struct popularity_header {
    uint64_t magic;
    int64_t n_items; /* not the number of users: the state is released, and it is exact */
    uint64_t reserved[6];
};

static const double *sums_of(const void *state)
{
    return (const double *)(const void *)((const unsigned char *)state + sizeof(struct popularity_header));
}

static dpf_status popularity_state_bytes(void *instance, int64_t n_users, int64_t n_items, uint64_t *bytes)
{
    const struct private_popularity *self = instance;
    if (n_users < 0 || n_items < 0 || n_items > INT32_MAX)
        return self->host->fail(self->host, DPF_E_RANGE, -1, "too many items");
    *bytes = sizeof(struct popularity_header) + (uint64_t)n_items * sizeof(double);
    return DPF_OK;
}

/* ---- training and scores --------------------------------------------------------------------------------
 */

struct fitting {
    const dpf_fit *fit;
    double history;
};

static void send(const void *context, const struct user_pass *pass, int64_t user, struct user_desk *desk,
                 struct user_message *message)
{
    const struct fitting *fitting = context;
    const dpf_csr *csr = &fitting->fit->records->by_user;
    const int64_t first = csr->offsets[user], n = csr->offsets[user + 1] - first;
    const double share = 1 / sqrt(fmax((double)n, fitting->history));
    (void)pass;
    *message = (struct user_message){n, csr->others + first};
    for (int64_t k = 0; k < n; k++)
        desk->to_items[k] = share;
}

static dpf_status popularity_fit(void *instance, const dpf_call *call, dpf_fit *fit)
{
    const struct private_popularity *self = instance;
    const int64_t n_users = fit->records->n_users, n_items = fit->records->n_items;
    const struct user_pass pass = {0, -1, 1, 0, 0};
    struct popularity_rule rule;
    uint64_t bytes = 0;
    dpf_status status = make_rule(self, fit->setup, &rule);
    if (status == DPF_OK)
        status = popularity_state_bytes(instance, n_users, n_items, &bytes);
    if (status != DPF_OK)
        return status;
    if (fit->state_bytes < bytes)
        return call->host->fail(call->host, DPF_E_INTERNAL, -1, "there is no room for the state");
    const struct fitting fitting = {fit, rule.history};
    struct user_sums sums = {.call = call,
                             .fit = fit,
                             .random = self->random,
                             .noise = &self->noise,
                             .grids = &rule.grid,
                             .send = send,
                             .context = &fitting,
                             .widest = 1};
    status = user_sums_open(&sums);
    if (status == DPF_OK)
        status = user_sums_run(&sums, &pass);
    if (status != DPF_OK)
        return status;
    *(struct popularity_header *)fit->state =
        (struct popularity_header){.magic = POPULARITY_MAGIC, .n_items = n_items};
    memcpy((unsigned char *)fit->state + sizeof(struct popularity_header), sums.released,
           (size_t)n_items * sizeof(double));
    fit->messages = n_users;
    fit->bytes_up = fit->bytes_down = 8 * (uint64_t)n_users * (uint64_t)n_items;
    return DPF_OK;
}

static dpf_status popularity_form(void *instance, const dpf_call *call, int64_t n_users, int64_t n_items,
                                  const void *bytes, dpf_form *out)
{
    const struct private_popularity *self = instance;
    dpf_array *base = call->scratch(call, sizeof *base);
    (void)n_users;
    if (!base)
        return self->host->fail(self->host, DPF_E_MEMORY, -1, "out of memory");
    *base = (dpf_array){
        .name = "base", .type = DPF_ARRAY_F8, .rows = n_items, .columns = 1, .data = sums_of(bytes)};
    out->formula = "base/1";
    out->n_arrays = 1;
    out->arrays = base;
    return DPF_OK;
}

static const dpf_recommender functions = {
    .flags = popularity_flags,
    .releases = popularity_releases,
    .state_bytes = popularity_state_bytes,
    .fit = popularity_fit,
    .form = popularity_form,
};

DPF_COMPONENT(
    component, DPF_ROLE_RECOMMENDER, functions, .id = "private-popularity", .version = "1.0.0",
    .summary = "A list of popular items from noisy counts, users' messages of norm 1; what a private model "
               "must beat",
    .citation = "Dwork, Roth, The algorithmic foundations of differential privacy, 2014 (Gaussian "
                "mechanism); Canonne, Kamath, Steinke, arXiv 2004.00010 (discrete Gaussian)",
    DPF_PARAMS(params), .create = popularity_create, .instance_bytes = sizeof(struct private_popularity))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.recommender.private-popularity", "1.0.0", "Apache-2.0", component)
