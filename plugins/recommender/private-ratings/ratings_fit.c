/* SPDX-License-Identifier: Apache-2.0 */
#include "ratings_fit.h"

#include <math.h>

#include "ratings_user.h"
#include "user_sums.h"

struct fitting {
    const struct private_ratings *self;
    const dpf_call *call;
    const dpf_fit *fit;
    struct ratings_server *server;
    struct user_sums sums;
};

/* ---- one user's part of a pass ------------------------------------------------------------------------- */

static struct own_records own_of(const struct fitting *fitting, int64_t user, double *values)
{
    const dpf_csr *csr = &fitting->fit->records->by_user;
    const struct ratings_rule *rule = fitting->server->rule;
    const int64_t first = csr->offsets[user], n = csr->offsets[user + 1] - first;
    for (int64_t k = 0; k < n; k++) {
        const double value = csr->values ? (double)csr->values[first + k] : 1.0;
        values[k] = (fmin(fmax(value, rule->lo), rule->hi) - rule->centre) / rule->unit;
    }
    return (struct own_records){n, csr->others + first, values};
}

static void send(const void *context, const struct user_pass *pass, int64_t user, struct user_desk *desk,
                 struct user_message *message)
{
    const struct fitting *fitting = context;
    const struct ratings_server *server = fitting->server;
    const struct own_records own = own_of(fitting, user, desk->values);
    *message = (struct user_message){own.n, own.items};
    if (pass->to_items == RELEASE_COUNTS) {
        ratings_send_counts(&own, desk->to_items);
        desk->to_all[0] = 1;
    } else if (pass->to_items == RELEASE_BIASES) {
        ratings_send_biases(server, &own, desk->to_items, desk->work);
    } else if (pass->to_items == RELEASE_FACTORS) {
        ratings_send_round(server, &own, desk->to_items, desk->to_all, desk->work);
    } else {
        ratings_send_moments(server, &own, desk->to_all, desk->work);
    }
}

/* ---- all of them ----------------------------------------------------------------------------------------
 */

static dpf_status learn_biases(struct fitting *fitting)
{
    struct user_sums *sums = &fitting->sums;
    const struct user_pass counts = {RELEASE_COUNTS, RELEASE_USERS, 1, 1, 0},
                           biases = {RELEASE_BIASES, -1, 2, 0, 0};
    dpf_status status = user_sums_run(sums, &counts);
    if (status != DPF_OK)
        return status;
    ratings_take_counts(fitting->server, sums->released[fitting->server->n_items], sums->released);
    status = user_sums_run(sums, &biases);
    if (status == DPF_OK)
        ratings_take_biases(fitting->server, sums->released);
    return status;
}

static dpf_status learn_loadings(struct fitting *fitting)
{
    const struct private_ratings *self = fitting->self;
    struct ratings_server *server = fitting->server;
    const int64_t d = server->n_known, n = server->n_items * server->latent;
    const struct user_pass moments = {-1, RELEASE_LOADINGS, 0, d * (d + 1) / 2, 0};
    const dpf_status status = user_sums_run(&fitting->sums, &moments);
    dpf_cursor cursor;
    if (status != DPF_OK)
        return status;
    double *latent = fitting->call->scratch(fitting->call, (uint64_t)n * sizeof *latent);
    if (!latent)
        return fitting->call->host->fail(fitting->call->host, DPF_E_MEMORY, -1, "out of memory");
    self->random->seek(self->latent, 0, DPF_PARTY_AGGREGATE, 0, &cursor);
    self->random->normal(&cursor, latent, n);
    ratings_take_moments(server, fitting->sums.released, latent);
    return DPF_OK;
}

static dpf_status correct_items(struct fitting *fitting)
{
    struct ratings_server *server = fitting->server;
    const int64_t e = server->rank + 1;
    dpf_status status = DPF_OK;
    for (int64_t round = 0; round < server->rule->rounds && status == DPF_OK; round++) {
        const struct user_pass pass = {RELEASE_FACTORS, RELEASE_GRAM, e, e * (e + 1) / 2, round};
        const double *released = fitting->sums.released;
        status = user_sums_run(&fitting->sums, &pass);
        if (status == DPF_OK)
            ratings_take_round(server, released, released + server->n_items * e);
    }
    return status;
}

dpf_status ratings_fit_run(const struct private_ratings *self, const dpf_call *call, const dpf_fit *fit,
                           struct ratings_server *server)
{
    const int64_t d = server->n_known, e = server->rank + 1, moments = d * (d + 1) / 2,
                  gram = e * (e + 1) / 2;
    struct fitting fitting = {.self = self, .call = call, .fit = fit, .server = server};
    fitting.sums = (struct user_sums){.call = call,
                                      .fit = fit,
                                      .random = self->random,
                                      .noise = self->noise,
                                      .grids = server->rule->grid,
                                      .send = send,
                                      .context = &fitting,
                                      .widest = e > 2 ? e : 2,
                                      .most_to_all = moments > gram ? moments : gram,
                                      .work = ratings_user_size(server, user_sums_longest(fit))};
    dpf_status status = user_sums_open(&fitting.sums);
    if (status == DPF_OK)
        status = learn_biases(&fitting);
    if (status == DPF_OK)
        status = learn_loadings(&fitting);
    return status == DPF_OK ? correct_items(&fitting) : status;
}
