/* SPDX-License-Identifier: Apache-2.0 */
#include "ratings_fit.h"

#include <math.h>
#include <string.h>

#include "ratings_grid.h"
#include "ratings_user.h"

#define CHUNK 64 /* users of a task */

/* One pass over the users: a message to the items, one to all, or both. */
struct pass {
    int32_t kind;     /* RELEASE_COUNTS, _BIASES, _LOADINGS or _FACTORS */
    int32_t to_items; /* release, or -1 */
    int32_t to_all;   /* release, or -1 */
    int64_t width;    /* numbers for each item */
    int64_t n_all;    /* numbers to all */
    int64_t round;
};

/* What one worker has for itself. */
struct desk {
    int64_t *sums; /* n_items x width, then n_all */
    double *values, *to_items, *to_all, *work;
    int64_t *steps;
};

struct fitting {
    const struct private_ratings *self;
    const dpf_call *call;
    const dpf_fit *fit;
    struct ratings_server *server;
    struct pass pass;
    int64_t longest, widest, n_all; /* rooms of a desk */
    struct desk *desks;
    int32_t n_desks;
    double *released; /* n_items x width, then n_all: what the server takes */
    int64_t *drawn;
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

static void make_messages(const struct fitting *fitting, const struct own_records *own, struct desk *desk)
{
    const struct ratings_server *server = fitting->server;
    switch (fitting->pass.kind) {
    case RELEASE_COUNTS:
        ratings_send_counts(own, desk->to_items);
        desk->to_all[0] = 1;
        break;
    case RELEASE_BIASES:
        ratings_send_biases(server, own, desk->to_items, desk->work);
        break;
    case RELEASE_LOADINGS:
        ratings_send_moments(server, own, desk->to_all, desk->work);
        break;
    default:
        ratings_send_round(server, own, desk->to_items, desk->to_all, desk->work);
    }
}

static void add_user(const struct fitting *fitting, int64_t user, struct desk *desk)
{
    const struct pass *pass = &fitting->pass;
    const struct ratings_rule *rule = fitting->server->rule;
    const struct own_records own = own_of(fitting, user, desk->values);
    if (own.n == 0)
        return;
    make_messages(fitting, &own, desk);
    if (pass->to_items >= 0) {
        ratings_round(desk->to_items, own.n * pass->width, rule->bits[pass->to_items], desk->steps);
        for (int64_t k = 0; k < own.n; k++)
            for (int64_t c = 0; c < pass->width; c++)
                desk->sums[own.items[k] * pass->width + c] += desk->steps[k * pass->width + c];
    }
    if (pass->to_all >= 0) {
        int64_t *sums = desk->sums + fitting->server->n_items * pass->width;
        ratings_round(desk->to_all, pass->n_all, rule->bits[pass->to_all], desk->steps);
        for (int64_t c = 0; c < pass->n_all; c++)
            sums[c] += desk->steps[c];
    }
}

static void add_users(void *context, int64_t task, int32_t worker)
{
    const struct fitting *fitting = context;
    const int64_t n_users = fitting->fit->records->n_users, end = CHUNK * (task + 1);
    if (fitting->call->cancelled(fitting->call))
        return;
    for (int64_t user = CHUNK * task; user < end && user < n_users; user++)
        add_user(fitting, user, &fitting->desks[worker]);
}

/* ---- a release ------------------------------------------------------------------------------------------
 */

/* The sum of one row with its noise, which is read at a position that no other row of the run has. */
static dpf_status release_row(const struct fitting *fitting, int32_t release, int64_t position,
                              const int64_t *sums, int64_t n, double *out)
{
    const struct ratings_rule *rule = fitting->server->rule;
    memset(fitting->drawn, 0, (size_t)n * sizeof *fitting->drawn);
    if (rule->steps[release] > 0) {
        const dpf_random_service *random = fitting->self->random;
        dpf_cursor cursor;
        random->seek(fitting->self->noise[release], fitting->call->draw, DPF_PARTY_AGGREGATE,
                     (uint32_t)position, &cursor);
        const dpf_status status = random->discrete_gaussian(&cursor, rule->steps[release], fitting->drawn, n);
        if (status != DPF_OK)
            return fitting->call->host->fail(fitting->call->host, status, -1, "noise cannot be drawn");
    }
    for (int64_t c = 0; c < n; c++)
        out[c] = (double)(sums[c] + fitting->drawn[c]) * ratings_grid(rule, release);
    return DPF_OK;
}

static void tell_witness(const struct fitting *fitting, int32_t release, const double *numbers, int64_t n)
{
    const dpf_witness *witness = dpf_fit_witness(fitting->fit);
    if (witness)
        witness->saw(witness->context, release, fitting->pass.round, numbers, n);
}

static dpf_status release_sums(const struct fitting *fitting)
{
    const struct pass *pass = &fitting->pass;
    const int64_t n_items = fitting->server->n_items, all = n_items * pass->width;
    const int64_t *sums = fitting->desks[0].sums;
    dpf_status status = DPF_OK;
    for (int64_t i = 0; pass->to_items >= 0 && i < n_items && status == DPF_OK; i++)
        status = release_row(fitting, pass->to_items, pass->round * n_items + i, sums + i * pass->width,
                             pass->width, fitting->released + i * pass->width);
    if (status == DPF_OK && pass->to_items >= 0)
        tell_witness(fitting, pass->to_items, fitting->released, all);
    if (status == DPF_OK && pass->to_all >= 0) {
        status =
            release_row(fitting, pass->to_all, pass->round, sums + all, pass->n_all, fitting->released + all);
        if (status == DPF_OK)
            tell_witness(fitting, pass->to_all, fitting->released + all, pass->n_all);
    }
    return status;
}

static dpf_status run_pass(struct fitting *fitting)
{
    const int64_t n = fitting->server->n_items * fitting->pass.width + fitting->pass.n_all;
    const int64_t n_tasks = (fitting->fit->records->n_users + CHUNK - 1) / CHUNK;
    for (int32_t d = 0; d < fitting->n_desks; d++)
        memset(fitting->desks[d].sums, 0, (size_t)n * sizeof(int64_t));
    dpf_run_tasks(fitting->call, n_tasks, add_users, fitting);
    if (fitting->call->cancelled(fitting->call))
        return DPF_E_CANCELLED;
    for (int32_t d = 1; d < fitting->n_desks; d++)
        for (int64_t k = 0; k < n; k++)
            fitting->desks[0].sums[k] += fitting->desks[d].sums[k];
    return release_sums(fitting);
}

/* ---- all of them ----------------------------------------------------------------------------------------
 */

static dpf_status open_desks(struct fitting *fitting)
{
    const dpf_call *call = fitting->call;
    const struct ratings_server *server = fitting->server;
    const dpf_csr *csr = &fitting->fit->records->by_user;
    const int64_t d = server->n_known, e = server->rank + 1;
    for (int64_t u = 0; u < csr->rows; u++)
        if (csr->offsets[u + 1] - csr->offsets[u] > fitting->longest)
            fitting->longest = csr->offsets[u + 1] - csr->offsets[u];
    fitting->widest = e > 2 ? e : 2;
    fitting->n_all = d * (d + 1) / 2 + e * (e + 1) / 2;
    const int64_t sums = server->n_items * fitting->widest + fitting->n_all,
                  room = fitting->longest * fitting->widest + fitting->n_all;
    fitting->n_desks = dpf_task_workers(call);
    fitting->desks = call->scratch(call, (uint64_t)fitting->n_desks * sizeof *fitting->desks);
    fitting->released = call->scratch(call, (uint64_t)sums * sizeof(double));
    fitting->drawn = call->scratch(call, (uint64_t)(fitting->n_all + fitting->widest) * sizeof(int64_t));
    int ok = fitting->desks && fitting->released && fitting->drawn;
    for (int32_t w = 0; w < fitting->n_desks && ok; w++) {
        struct desk *desk = &fitting->desks[w];
        const int64_t work = ratings_user_size(server, fitting->longest);
        double *numbers =
            call->scratch(call, (uint64_t)(fitting->longest + room + fitting->n_all + work) * sizeof(double));
        desk->sums = call->scratch(call, (uint64_t)(sums + room) * sizeof(int64_t));
        ok = numbers && desk->sums;
        desk->values = numbers;
        desk->to_items = ok ? numbers + fitting->longest : NULL;
        desk->to_all = ok ? desk->to_items + room : NULL;
        desk->work = ok ? desk->to_all + fitting->n_all : NULL;
        desk->steps = ok ? desk->sums + sums : NULL;
    }
    return ok ? DPF_OK : call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory");
}

static dpf_status singular(const struct fitting *fitting, int status)
{
    return status == 0 ? DPF_OK
                       : fitting->call->host->fail(
                             fitting->call->host, DPF_E_NUMERIC, -1,
                             "the released sums do not determine the items: a matrix is singular");
}

static dpf_status learn_items(struct fitting *fitting)
{
    struct ratings_server *server = fitting->server;
    const int64_t n_items = server->n_items, d = server->n_loadings;
    fitting->pass = (struct pass){RELEASE_COUNTS, RELEASE_COUNTS, RELEASE_USERS, 1, 1, 0};
    dpf_status status = run_pass(fitting);
    if (status != DPF_OK)
        return status;
    ratings_take_counts(server, fitting->released[n_items], fitting->released);
    fitting->pass = (struct pass){RELEASE_BIASES, RELEASE_BIASES, -1, 2, 0, 0};
    status = run_pass(fitting);
    if (status == DPF_OK)
        status = singular(fitting, ratings_take_biases(server, fitting->released));
    if (status != DPF_OK)
        return status;
    fitting->pass = (struct pass){RELEASE_LOADINGS, -1, RELEASE_LOADINGS, 0, d * (d + 1) / 2, 0};
    status = run_pass(fitting);
    if (status != DPF_OK)
        return status;
    const dpf_random_service *random = fitting->self->random;
    double *latent =
        fitting->call->scratch(fitting->call, (uint64_t)(n_items * server->latent) * sizeof *latent);
    if (!latent)
        return fitting->call->host->fail(fitting->call->host, DPF_E_MEMORY, -1, "out of memory");
    dpf_cursor cursor;
    random->seek(fitting->self->noise[N_RELEASES], 0, DPF_PARTY_AGGREGATE, 0, &cursor);
    random->normal(&cursor, latent, n_items * server->latent);
    return singular(fitting, ratings_take_moments(server, fitting->released, latent));
}

static dpf_status correct_items(struct fitting *fitting)
{
    struct ratings_server *server = fitting->server;
    const int64_t e = server->rank + 1;
    dpf_status status = DPF_OK;
    for (int64_t round = 0; round < server->rule->rounds && status == DPF_OK; round++) {
        fitting->pass =
            (struct pass){RELEASE_FACTORS, RELEASE_FACTORS, RELEASE_GRAM, e, e * (e + 1) / 2, round};
        status = run_pass(fitting);
        if (status == DPF_OK)
            status = singular(fitting, ratings_take_round(server, fitting->released,
                                                          fitting->released + server->n_items * e));
    }
    return status;
}

dpf_status ratings_fit_run(const struct private_ratings *self, const dpf_call *call, const dpf_fit *fit,
                           struct ratings_server *server)
{
    struct fitting fitting = {.self = self, .call = call, .fit = fit, .server = server};
    dpf_status status = open_desks(&fitting);
    if (status == DPF_OK)
        status = learn_items(&fitting);
    return status == DPF_OK ? correct_items(&fitting) : status;
}
