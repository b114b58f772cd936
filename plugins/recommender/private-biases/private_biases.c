/* SPDX-License-Identifier: Apache-2.0 */
/*
 * private_biases.c - ratings predicted by an item's bias and the user's own mean.
 *
 * 1. How many users there are, and counts of items from users of norm 1: weights of records follow from them.
 * 2. For each item the sums of weighted residuals, about a guess from its count and the user's own mean, and
 *    of weights. Biases are these, shrunk by the known variance of their noise toward a regression on the log
 *    of the count (empirical Bayes).
 * The user's mean is solved at home, from the user's own ratings and the released biases, and is not sent.
 * These are the first releases of private-ratings, by the same ratings_user.h and ratings_server.h: here they
 * get all of the budget, and public features are not read.
 *
 * Privacy. Each message of a user, to one of the three sums, has L2 norm 1 at most (ratings_user.h), its
 * numbers are rounded toward zero on the grid, and the integers' norm is checked (message_grid.h). So a user
 * who comes or goes moves each sum by 1 at most, and a user, or a record, that is replaced by 1, sqrt(2) and 2
 * (user_sums.h). A release that has the share f of the budget gets discrete Gaussian noise of sigma >= z / sqrt(f),
 * z the noise multiplier, and shares add up to 1: under add-remove and zero-out all of them are one Gaussian mechanism
 * of multiplier z, though the second message reads what the first has released.
 */
#include <math.h>
#include <string.h>

#include "dpframe/plugin.h"
#include "ratings_user.h"
#include "user_sums.h"
#include "ridge_form.h"

#define N_BIAS_RELEASES (RELEASE_BIASES + 1)
#define USERS_SHARE 0.001 /* of the counts' part */
#define SD_OF_MEAN 0.4    /* of users' means about the biases, in quarters of the range */
#define STATE_LARGEST 1e5

enum { P_MULTIPLIER, P_COUNT_SHARE, P_COUNT };

#define QUARTERS "quarters of the range"

/* Public guesses, in quarters of the range: a record's weight is (count + 20)^-EXPONENT, where count is its item's released
   count; residuals are clipped; ratings scatter about predictions, and items' biases about their regression. */
#define EXPONENT 0.2
#define CLIP 2.0
#define RESIDUAL_VARIANCE 0.75
#define ITEM_SD 0.45

static const dpf_param params[P_COUNT] = {
    [P_MULTIPLIER] =
        DPF_PARAM_REAL_F("noise-multiplier", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                         "Noise of the whole run: all releases together are as private as one Gaussian "
                         "mechanism of this sigma over sensitivity."),
    [P_COUNT_SHARE] = DPF_PARAM_REAL_F("count-share", 0.1, 0.0, 1.0,
                                       DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO | DPF_PARAM_OPEN_HI, "",
                                       "Part of the budget for the items' counts; biases have the rest."),
};

struct private_biases {
    const dpf_host *host;
    const dpf_value *values;
    const dpf_random_service *random;
    dpf_stream *noise[N_BIAS_RELEASES];
};

static const char *const purposes[N_BIAS_RELEASES] = {"users", "counts", "biases"};
static const char *const names[N_BIAS_RELEASES] = {"number of users", "counts of items", "biases of items"};

static dpf_status biases_create(const dpf_host *host, const dpf_params *given, void **self)
{
    struct private_biases made = {.host = host, .values = given->values, .random = dpf_random(host)};
    dpf_status status = DPF_OK;
    for (int r = 0; r < N_BIAS_RELEASES && status == DPF_OK; r++)
        status = made.random->open(host, purposes[r], &made.noise[r]);
    if (status != DPF_OK)
        return status;
    *(struct private_biases *)*self = made;
    return DPF_OK;
}

static uint32_t biases_flags(void *self)
{
    (void)self;
    return DPF_RECOMMENDER_STATE_RELEASED | DPF_RECOMMENDER_SCORES_AT_HOME | DPF_RECOMMENDER_ALWAYS_ENDS |
           DPF_RECOMMENDER_PREDICTS_VALUES | DPF_RECOMMENDER_SUMS_USERS;
}

/* ---- before data is read --------------------------------------------------------------------------------
 */

static void follow_parameters(const dpf_value *v, const dpf_recommender_setup *setup,
                              struct ratings_rule *rule)
{
    const double counts = v[P_COUNT_SHARE].real;
    *rule = (struct ratings_rule){.lo = setup->value_lo,
                                  .hi = setup->value_hi,
                                  .unit = (setup->value_hi - setup->value_lo) / 4.0,
                                  .centre = (setup->value_hi + setup->value_lo) / 2.0,
                                  .silent = setup->without_noise,
                                  .loadings = RATINGS_MAX_LOADINGS,
                                  .exponent = EXPONENT,
                                  .count_offset = RATINGS_COUNT_OFFSET,
                                  .count_weight = RATINGS_COUNT_WEIGHT,
                                  .clip = CLIP,
                                  .residual_variance = RESIDUAL_VARIANCE,
                                  .item_sd = ITEM_SD};
    rule->share[RELEASE_USERS] = USERS_SHARE * counts;
    rule->share[RELEASE_COUNTS] = (1.0 - USERS_SHARE) * counts;
    rule->share[RELEASE_BIASES] = 1.0 - counts;
}

static dpf_status make_rule(const struct private_biases *self, const dpf_recommender_setup *setup,
                            struct ratings_rule *rule)
{
    const double z = self->values[P_MULTIPLIER].real * setup->noise_factor;
    dpf_status status = user_sums_check_range(self->host, setup);
    follow_parameters(self->values, setup, rule);
    for (int r = 0; r < N_BIAS_RELEASES && status == DPF_OK; r++) {
        rule->count[r] = 1;
        status =
            user_sums_choose_grid(self->host, setup, P_MULTIPLIER, z / sqrt(rule->share[r]), rule->silent,
                                  r == RELEASE_USERS ? 0 : GRID_LEAST_BITS, &rule->grid[r]);
    }
    return status;
}

static dpf_status biases_releases(void *instance, const dpf_recommender_setup *setup,
                                  dpf_recommender_release *out, int32_t capacity, int32_t *n)
{
    const struct private_biases *self = instance;
    struct ratings_rule rule;
    const dpf_status status = make_rule(self, setup, &rule);
    if (status != DPF_OK)
        return status;
    if (capacity < N_BIAS_RELEASES)
        return self->host->fail(self->host, DPF_E_INTERNAL, -1, "there is no room for the releases");
    for (int32_t r = 0; r < N_BIAS_RELEASES; r++)
        user_sums_state_release(names[r], setup, &rule.grid[r], ratings_message_kind(r), rule.count[r],
                                r == RELEASE_USERS ? 1 : 2 * (double)setup->n_items, &out[r]);
    *n = N_BIAS_RELEASES;
    return DPF_OK;
}

/* ---- the state: header, biases, variances ---------------------------------------------------------------
 */

#define BIASES_MAGIC UINT64_C(0x3153414942504644) /* "DFPBIAS1" */
struct biases_header {
    uint64_t magic;
    int64_t n_items; /* not the number of users: the state is released, and it is exact */
    double centre, unit, residual_variance, reserved[3];
};

struct biases_state {
    struct biases_header *header;
    double *bias, *variance;
};

static struct biases_state state_at(int64_t n_items, void *bytes)
{
    struct biases_state state = {.header = bytes};
    state.bias = (double *)(void *)((unsigned char *)bytes + sizeof *state.header);
    state.variance = state.bias + n_items;
    return state;
}

static dpf_status biases_state_bytes(void *instance, int64_t n_users, int64_t n_items, uint64_t *bytes)
{
    const struct private_biases *self = instance;
    if (n_users < 0 || n_items < 0 || n_items > INT32_MAX)
        return self->host->fail(self->host, DPF_E_RANGE, -1, "too many items");
    *bytes = sizeof(struct biases_header) + 2 * (uint64_t)n_items * sizeof(double);
    return DPF_OK;
}

/* ---- training -------------------------------------------------------------------------------------------
 */

struct fitting {
    const dpf_fit *fit;
    struct ratings_server *server;
};

static void send(const void *context, const struct user_pass *pass, int64_t user, struct user_desk *desk,
                 struct user_message *message)
{
    const struct fitting *fitting = context;
    const struct ratings_rule *rule = fitting->server->rule;
    const dpf_csr *csr = &fitting->fit->records->by_user;
    const int64_t first = csr->offsets[user], n = csr->offsets[user + 1] - first;
    for (int64_t k = 0; k < n; k++) {
        const double value = csr->values ? (double)csr->values[first + k] : 1.0;
        desk->values[k] = (fmin(fmax(value, rule->lo), rule->hi) - rule->centre) / rule->unit;
    }
    const struct own_records own = {n, csr->others + first, desk->values};
    *message = (struct user_message){own.n, own.items};
    if (pass->to_items == RELEASE_COUNTS) {
        ratings_send_counts(&own, desk->to_items);
        desk->to_all[0] = 1;
    } else {
        ratings_send_biases(fitting->server, &own, desk->to_items, desk->work);
    }
}

static dpf_status learn(struct user_sums *sums, struct ratings_server *server)
{
    const struct user_pass counts = {RELEASE_COUNTS, RELEASE_USERS, 1, 1, 0},
                           biases = {RELEASE_BIASES, -1, 2, 0, 0};
    dpf_status status = user_sums_open(sums);
    if (status == DPF_OK)
        status = user_sums_run(sums, &counts);
    if (status != DPF_OK)
        return status;
    ratings_take_counts(server, sums->released[server->n_items], sums->released);
    status = user_sums_run(sums, &biases);
    if (status == DPF_OK)
        ratings_take_biases(server, sums->released);
    return status;
}

/* Numbers as predictions can use them, whatever noise has made. */
static double tame(double x, double least)
{
    return isnan(x) ? 0 : fmin(fmax(x, least), STATE_LARGEST);
}

static void keep_state(const struct ratings_server *server, dpf_fit *fit)
{
    const struct ratings_rule *rule = server->rule;
    const struct biases_state state = state_at(server->n_items, fit->state);
    *state.header = (struct biases_header){.magic = BIASES_MAGIC,
                                           .n_items = server->n_items,
                                           .centre = rule->centre,
                                           .unit = rule->unit,
                                           .residual_variance = rule->residual_variance};
    for (int64_t i = 0; i < server->n_items; i++) {
        state.bias[i] = tame(server->bias[i], -STATE_LARGEST);
        state.variance[i] = tame(server->variance[i], 0);
    }
    fit->messages = 3 * fit->records->n_users;
    fit->bytes_up = 8 * (uint64_t)fit->records->n_users * (3 * (uint64_t)server->n_items + 1);
    fit->bytes_down = 8 * (uint64_t)fit->records->n_users * 4 * (uint64_t)server->n_items;
}

static dpf_status biases_fit(void *instance, const dpf_call *call, dpf_fit *fit)
{
    static const struct item_features none;
    const struct private_biases *self = instance;
    const int64_t n_items = fit->records->n_items;
    struct ratings_rule rule;
    struct ratings_server server;
    uint64_t bytes = 0;
    dpf_status status = make_rule(self, fit->setup, &rule);
    if (status == DPF_OK)
        status = biases_state_bytes(instance, fit->records->n_users, n_items, &bytes);
    if (status != DPF_OK)
        return status;
    if (fit->state_bytes < bytes)
        return call->host->fail(call->host, DPF_E_INTERNAL, -1, "there is no room for the state");
    double *memory =
        call->scratch(call, (uint64_t)ratings_server_size(&rule, &none, n_items) * sizeof *memory);
    if (!memory)
        return call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory");
    ratings_server_place(&server, &rule, &none, n_items, memory);
    const struct fitting fitting = {fit, &server};
    struct user_sums sums = {.call = call,
                             .fit = fit,
                             .random = self->random,
                             .noise = self->noise,
                             .grids = rule.grid,
                             .send = send,
                             .context = &fitting,
                             .widest = 2,
                             .most_to_all = 1,
                             .work = ratings_user_size(&server, user_sums_longest(fit))};
    status = learn(&sums, &server);
    if (status == DPF_OK)
        keep_state(&server, fit);
    return status;
}

/* ---- predictions ----------------------------------------------------------------------------------------
 */

/* The user's mean about the biases, from N(0, SD_OF_MEAN^2): one loading that all items have. */
static dpf_status biases_form(void *instance, const dpf_call *call, int64_t n_users, int64_t n_items,
                              const void *bytes, dpf_form *out)
{
    const struct biases_state s = state_at(n_items, (void *)(uintptr_t)bytes);
    const struct biases_header *h = s.header;
    double *loadings = call->scratch(call, (uint64_t)(n_items + 1) * sizeof *loadings);
    (void)n_users;
    if (!loadings) {
        const struct private_biases *self = instance;
        return self->host->fail(self->host, DPF_E_MEMORY, -1, "out of memory");
    }
    for (int64_t i = 0; i < n_items; i++)
        loadings[i] = SD_OF_MEAN;
    return ridge_form(call, n_items, 1, s.bias, loadings, s.variance,
                      (const double[3]){h->centre, h->unit, h->residual_variance}, out);
}

static const dpf_recommender functions = {
    .flags = biases_flags,
    .releases = biases_releases,
    .state_bytes = biases_state_bytes,
    .fit = biases_fit,
    .form = biases_form,
};

DPF_COMPONENT(
    component, DPF_ROLE_RECOMMENDER, functions, .id = "private-biases", .version = "1.0.0",
    .summary = "Ratings from private biases of items, shrunk by their noise, and the user's own mean; what a "
               "private model must beat",
    .citation = "Efron, Morris, Stein's estimation rule and its competitors, JASA 1973 (empirical Bayes); "
                "Koren, Bell, Volinsky, Computer 2009 (biases)",
    DPF_PARAMS(params), .create = biases_create, .instance_bytes = sizeof(struct private_biases))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.recommender.private-biases", "1.0.0", "Apache-2.0", component)
