/* SPDX-License-Identifier: Apache-2.0 */
#include "user_sums.h"

#include <string.h>

#define CHUNK 64 /* users of a task */

/* ---- one user -------------------------------------------------------------------------------------------
 */

static void add_user(const struct user_sums *s, int64_t user, struct user_desk *desk)
{
    const struct user_pass *pass = &s->pass;
    const dpf_csr *csr = &s->fit->records->by_user;
    struct user_message message = {0};
    if (csr->offsets[user] == csr->offsets[user + 1])
        return;
    s->send(s->context, pass, user, desk, &message);
    if (pass->to_items >= 0) {
        grid_round(desk->to_items, message.n * pass->width, s->grids[pass->to_items].bits, desk->steps);
        for (int64_t k = 0; k < message.n; k++)
            for (int64_t c = 0; c < pass->width; c++)
                desk->sums[message.items[k] * pass->width + c] += desk->steps[k * pass->width + c];
    }
    if (pass->to_all >= 0) {
        int64_t *sums = desk->sums + s->fit->records->n_items * pass->width;
        grid_round(desk->to_all, pass->n_all, s->grids[pass->to_all].bits, desk->steps);
        for (int64_t c = 0; c < pass->n_all; c++)
            sums[c] += desk->steps[c];
    }
}

static void add_users(void *context, int64_t task, int32_t worker)
{
    const struct user_sums *s = context;
    int64_t first, last;
    dpf_users_here(s->fit->records, &first, &last);
    const int64_t begin = first + CHUNK * task;
    if (s->call->cancelled(s->call))
        return;
    for (int64_t user = begin; user < begin + CHUNK && user < last; user++)
        add_user(s, user, &s->desks[worker]);
}

/* ---- a release ------------------------------------------------------------------------------------------
 */

/* The sum of one row with its noise, which is read at a position that no other row of the run has. */
static dpf_status release_row(const struct user_sums *s, int32_t release, int64_t position,
                              const int64_t *sums, int64_t n, double *out)
{
    const struct noise_grid *grid = &s->grids[release];
    memset(s->drawn, 0, (size_t)n * sizeof *s->drawn);
    if (grid->steps > 0) {
        dpf_cursor cursor;
        s->random->seek(s->noise[release], s->call->draw, DPF_PARTY_AGGREGATE, (uint32_t)position, &cursor);
        const dpf_status status = s->random->discrete_gaussian(&cursor, grid->steps, s->drawn, n);
        if (status != DPF_OK)
            return s->call->host->fail(s->call->host, status, -1, "noise cannot be drawn");
    }
    for (int64_t c = 0; c < n; c++)
        out[c] = (double)(sums[c] + s->drawn[c]) * noise_grid_size(grid);
    return DPF_OK;
}

/* A release with its noise, in s->released from `at` on: passes that follow read what the witness leaves
 * there. */
static void tell_witness(const struct user_sums *s, int32_t release, int64_t at, int64_t n, int64_t width)
{
    const dpf_witness *witness = dpf_fit_witness(s->fit);
    const struct dpf_witnessed what = {.size = sizeof what,
                                       .release = release,
                                       .n = n,
                                       .width = width,
                                       .numbers = s->released + at,
                                       .exact = s->exact};
    if (!witness)
        return;
    for (int64_t c = 0; c < n; c++)
        s->exact[c] = (double)s->desks[0].sums[at + c] * noise_grid_size(&s->grids[release]);
    witness->saw(witness->context, &what);
}

static dpf_status release_sums(const struct user_sums *s)
{
    const struct user_pass *pass = &s->pass;
    const int64_t n_items = s->fit->records->n_items, all = n_items * pass->width;
    const int64_t *sums = s->desks[0].sums;
    dpf_status status = DPF_OK;
    for (int64_t i = 0; pass->to_items >= 0 && i < n_items && status == DPF_OK; i++)
        status = release_row(s, pass->to_items, pass->round * n_items + i, sums + i * pass->width,
                             pass->width, s->released + i * pass->width);
    if (status == DPF_OK && pass->to_items >= 0)
        tell_witness(s, pass->to_items, 0, all, pass->width);
    if (status == DPF_OK && pass->to_all >= 0) {
        status = release_row(s, pass->to_all, pass->round, sums + all, pass->n_all, s->released + all);
        if (status == DPF_OK)
            tell_witness(s, pass->to_all, all, pass->n_all, pass->n_all);
    }
    return status;
}

dpf_status user_sums_run(struct user_sums *s, const struct user_pass *pass)
{
    const int64_t n = s->fit->records->n_items * pass->width + pass->n_all;
    int64_t first, last;
    dpf_users_here(s->fit->records, &first, &last);
    s->pass = *pass;
    for (int32_t d = 0; d < s->n_desks; d++)
        memset(s->desks[d].sums, 0, (size_t)n * sizeof(int64_t));
    dpf_run_tasks(s->call, (last - first + CHUNK - 1) / CHUNK, add_users, s);
    if (s->call->cancelled(s->call))
        return DPF_E_CANCELLED;
    for (int32_t d = 1; d < s->n_desks; d++)
        for (int64_t k = 0; k < n; k++)
            s->desks[0].sums[k] += s->desks[d].sums[k];
    const dpf_status status = dpf_fit_add_up(s->fit, s->desks[0].sums, n);
    return status == DPF_OK ? release_sums(s) : status;
}

/* ---- rooms ----------------------------------------------------------------------------------------------
 */

static void state_sensitivity(double numbers, dpf_sensitivity *sensitivity)
{
    static const int32_t of_users[] = {DPF_ADJ_ADD_REMOVE, DPF_ADJ_ZERO_OUT, DPF_ADJ_REPLACE};
    const double l1 = sqrt(numbers);
    for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++)
        sensitivity->at[DPF_UNIT_RECORD][adjacency] = (dpf_norms){2 * l1, 2, 2};
    for (int k = 0; k < 3; k++) {
        const double l2 = k < 2 ? 1 : 2;
        sensitivity->at[DPF_UNIT_USER][of_users[k]] = (dpf_norms){l2 * l1, l2, l2};
    }
}

dpf_status user_sums_check_range(const dpf_host *host, const dpf_recommender_setup *setup)
{
    if (isfinite(setup->value_lo) && isfinite(setup->value_hi) && setup->value_lo < setup->value_hi)
        return DPF_OK;
    return host->fail(host, DPF_E_CONFIG, -1,
                      "it predicts ratings in a declared range: set [data] value-min and value-max");
}

dpf_status user_sums_choose_grid(const dpf_host *host, int32_t param, double sigma, int silent,
                                 int32_t least_bits, struct noise_grid *out)
{
    if (silent)
        noise_grid_silent(out);
    else if (noise_grid_choose(sigma, least_bits, out) != 0)
        return host->fail(host, DPF_E_RANGE, param, "no grid fits this noise: noise-multiplier is extreme");
    return DPF_OK;
}

void user_sums_state_release(const char *name, int without_noise, const struct noise_grid *grid,
                             int64_t count, double numbers, dpf_recommender_release *out)
{
    dpf_event *event = &out->event;
    out->reads = DPF_READS_OWN_RECORDS;
    out->noise_where = without_noise ? DPF_NOISE_NOWHERE : DPF_NOISE_AT_SUM;
    out->sees = DPF_SEES_MESSAGES;
    out->flags = DPF_RELEASE_SENT_BY_USERS;
    memcpy(out->name, name, strlen(name) + 1);
    event->side = DPF_SIDE_ITEMS;
    event->kind = without_noise ? DPF_EVENT_NON_PRIVATE : DPF_EVENT_DISCRETE_GAUSSIAN;
    event->count = count;
    event->scale = without_noise ? 0 : grid->sigma;
    event->grid = noise_grid_size(grid);
    state_sensitivity(numbers, &event->sensitivity);
}

int64_t user_sums_longest(const dpf_fit *fit)
{
    const dpf_csr *csr = &fit->records->by_user;
    int64_t longest = 0;
    for (int64_t u = 0; u < csr->rows; u++)
        if (csr->offsets[u + 1] - csr->offsets[u] > longest)
            longest = csr->offsets[u + 1] - csr->offsets[u];
    return longest;
}

static int open_desk(const struct user_sums *s, struct user_desk *desk)
{
    const dpf_call *call = s->call;
    const int64_t sums = s->fit->records->n_items * s->widest + s->most_to_all,
                  room = s->longest * s->widest + s->most_to_all;
    double *numbers =
        call->scratch(call, (uint64_t)(s->longest + room + s->most_to_all + s->work) * sizeof *numbers);
    desk->sums = call->scratch(call, (uint64_t)(sums + room) * sizeof(int64_t));
    desk->chosen = call->scratch(call, (uint64_t)s->longest * sizeof(int32_t));
    if (!numbers || !desk->sums || !desk->chosen)
        return 0;
    desk->steps = desk->sums + sums;
    desk->values = numbers;
    desk->to_items = numbers + s->longest;
    desk->to_all = desk->to_items + room;
    desk->work = desk->to_all + s->most_to_all;
    return 1;
}

dpf_status user_sums_open(struct user_sums *s)
{
    const dpf_call *call = s->call;
    const int64_t sums = s->fit->records->n_items * s->widest + s->most_to_all;
    s->longest = user_sums_longest(s->fit);
    s->n_desks = dpf_task_workers(call);
    s->desks = call->scratch(call, (uint64_t)s->n_desks * sizeof *s->desks);
    s->released = call->scratch(call, (uint64_t)sums * sizeof(double));
    s->drawn = call->scratch(call, (uint64_t)(s->most_to_all + s->widest) * sizeof(int64_t));
    if (dpf_fit_witness(s->fit))
        s->exact = call->scratch(call, (uint64_t)sums * sizeof(double));
    int ok = s->desks && s->released && s->drawn && (s->exact || !dpf_fit_witness(s->fit));
    for (int32_t w = 0; w < s->n_desks && ok; w++)
        ok = open_desk(s, &s->desks[w]);
    return ok ? DPF_OK : call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory");
}
