/* SPDX-License-Identifier: Apache-2.0 */
#include "user_sums.h"

#include <string.h>

#define CHUNK 64 /* users of a task */

/* ---- one user -------------------------------------------------------------------------------------------
 */

/* Adds to n_items x width numbers. */
static void add_to_items(const struct user_sums *s, const struct user_message *message,
                         struct user_desk *desk, int64_t *sums)
{
    const struct user_pass *pass = &s->pass;
    grid_round(desk->to_items, message->n * pass->width, s->grids[pass->to_items].bits, desk->steps);
    for (int64_t k = 0; k < message->n; k++)
        for (int64_t c = 0; c < pass->width; c++)
            sums[message->items[k] * pass->width + c] += desk->steps[k * pass->width + c];
}

static void add_to_all(const struct user_sums *s, struct user_desk *desk, int64_t *sums)
{
    grid_round(desk->to_all, s->pass.n_all, s->grids[s->pass.to_all].bits, desk->steps);
    for (int64_t c = 0; c < s->pass.n_all; c++)
        sums[c] += desk->steps[c];
}

static int has_records(const struct user_sums *s, int64_t user)
{
    const int64_t *offsets = s->fit->records->by_user.offsets;
    return offsets[user] < offsets[user + 1];
}

static void add_user(const struct user_sums *s, int64_t user, struct user_desk *desk)
{
    const struct user_pass *pass = &s->pass;
    struct user_message message = {0};
    if (!has_records(s, user))
        return;
    s->send(s->context, pass, user, desk, &message);
    if (pass->to_items >= 0)
        add_to_items(s, &message, desk, desk->sums);
    if (pass->to_all >= 0)
        add_to_all(s, desk, desk->sums + s->fit->records->n_items * pass->width);
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

/* Adds noise of that many steps to a row, read at a position that no other row of the run has. */
static dpf_status add_noise(const struct user_sums *s, int32_t release, uint64_t steps, uint32_t party,
                            int64_t position, int64_t n, int64_t *drawn, int64_t *row)
{
    dpf_cursor cursor;
    if (steps == 0)
        return DPF_OK;
    s->random->seek(s->noise[release], s->call->draw, party, (uint32_t)position, &cursor);
    const dpf_status status = s->random->discrete_gaussian(&cursor, steps, drawn, n);
    for (int64_t c = 0; c < n && status == DPF_OK; c++)
        row[c] += drawn[c];
    return status;
}

/* What a release of the pass is made of: a row for each item, or one to all. */
struct release_rows {
    const struct user_sums *sums;
    int32_t release;
    int32_t to_all;
    int64_t rows, width, position;
    int64_t at; /* in the pass' sums and in `released` */
};

static struct release_rows rows_of(const struct user_sums *s, int to_all)
{
    const struct user_pass *pass = &s->pass;
    const int64_t n_items = s->fit->records->n_items;
    return to_all
               ? (struct release_rows){s, pass->to_all, 1, 1, pass->n_all, pass->round, n_items * pass->width}
               : (struct release_rows){s, pass->to_items, 0, n_items, pass->width, pass->round * n_items, 0};
}

static dpf_status add_noise_to(const struct release_rows *r, uint64_t steps, uint32_t party, int64_t *drawn,
                               int64_t *numbers)
{
    dpf_status status = DPF_OK;
    for (int64_t i = 0; i < r->rows && status == DPF_OK; i++)
        status = add_noise(r->sums, r->release, steps, party, r->position + i, r->width, drawn,
                           numbers + i * r->width);
    return status;
}

/* ---- through an aggregator ------------------------------------------------------------------------------
 */

/* What a user sends: the same integers as are added to a plain sum, and its share of the noise. */
static dpf_status write_message(const void *context, uint32_t user, int32_t worker, int64_t *out)
{
    const struct release_rows *r = context;
    const struct user_sums *s = r->sums;
    struct user_desk *desk = &s->desks[worker];
    struct user_message message = {0};
    if (has_records(s, user)) {
        s->send(s->context, &s->pass, user, desk, &message);
        if (r->to_all)
            add_to_all(s, desk, out);
        else
            add_to_items(s, &message, desk, out);
    }
    return add_noise_to(r, s->grids[r->release].share, user, desk->drawn, out);
}

static dpf_status sum_messages(const struct user_sums *s, const struct release_rows *r, int64_t *sums,
                               int64_t *survivors)
{
    const dpf_summing *summing = dpf_fit_summing(s->fit);
    dpf_user_sum sum = {.size = sizeof sum,
                        .release = r->release,
                        .n = r->rows * r->width,
                        .context = r,
                        .message = write_message,
                        .sums = sums};
    const dpf_status status = summing->sum(summing->context, &sum);
    *survivors = sum.survivors;
    return status;
}

/* ---- releases -------------------------------------------------------------------------------------------
 */

static void scale_to_values(const struct release_rows *r, const int64_t *sums, double *out)
{
    for (int64_t k = 0; k < r->rows * r->width; k++)
        out[k] = (double)sums[k] * noise_grid_size(&r->sums->grids[r->release]);
}

/* A release with its noise, in s->released: passes that follow read what the witness leaves there. Shares of
   more users than the statement counts on make more noise. */
static void tell_witness(const struct release_rows *r, int64_t survivors)
{
    const struct user_sums *s = r->sums;
    const struct noise_grid *grid = &s->grids[r->release];
    const dpf_witness *witness = dpf_fit_witness(s->fit);
    const int64_t n = r->rows * r->width;
    const struct dpf_witnessed what = {.size = sizeof what,
                                       .release = r->release,
                                       .n = n,
                                       .width = r->width,
                                       .numbers = s->released + r->at,
                                       .exact = s->exact + r->at,
                                       .scales = grid->share ? s->scales : NULL};
    for (int64_t k = 0; k < n && grid->share; k++)
        s->scales[k] = ldexp(noise_share_sum(grid->share, survivors), -grid->bits) / grid->scale;
    witness->saw(witness->context, &what);
}

static dpf_status release_rows(const struct release_rows *r)
{
    const struct user_sums *s = r->sums;
    int64_t *sums = s->desks[0].sums + r->at, survivors = 0;
    dpf_status status;
    if (dpf_fit_witness(s->fit))
        scale_to_values(r, sums, s->exact + r->at);
    if (dpf_fit_summing(s->fit)) {
        status = sum_messages(s, r, sums, &survivors);
    } else {
        status = add_noise_to(r, s->grids[r->release].steps, DPF_PARTY_AGGREGATE, s->desks[0].drawn, sums);
        if (status != DPF_OK)
            s->call->host->fail(s->call->host, status, -1, "noise cannot be drawn");
    }
    if (status != DPF_OK)
        return status;
    scale_to_values(r, sums, s->released + r->at);
    if (dpf_fit_witness(s->fit))
        tell_witness(r, survivors);
    return DPF_OK;
}

/* Sums without noise, in the first desk. */
static dpf_status add_up(struct user_sums *s, int64_t n)
{
    int64_t first, last;
    dpf_users_here(s->fit->records, &first, &last);
    for (int32_t d = 0; d < s->n_desks; d++)
        memset(s->desks[d].sums, 0, (size_t)n * sizeof(int64_t));
    dpf_run_tasks(s->call, (last - first + CHUNK - 1) / CHUNK, add_users, s);
    if (s->call->cancelled(s->call))
        return DPF_E_CANCELLED;
    for (int32_t d = 1; d < s->n_desks; d++)
        for (int64_t k = 0; k < n; k++)
            s->desks[0].sums[k] += s->desks[d].sums[k];
    return dpf_fit_add_up(s->fit, s->desks[0].sums, n);
}

dpf_status user_sums_run(struct user_sums *s, const struct user_pass *pass)
{
    dpf_status status = DPF_OK;
    s->pass = *pass;
    if (!dpf_fit_summing(s->fit) || dpf_fit_witness(s->fit))
        status = add_up(s, s->fit->records->n_items * pass->width + pass->n_all);
    for (int to_all = 0; to_all < 2 && status == DPF_OK; to_all++) {
        const struct release_rows rows = rows_of(s, to_all);
        if (rows.release >= 0)
            status = release_rows(&rows);
    }
    return status;
}

/* ---- rooms ----------------------------------------------------------------------------------------------
 */

static void state_sensitivity(enum user_message_kind kind, double numbers, dpf_sensitivity *sensitivity)
{
    static const double replaced[] = {[MESSAGE_SIGNED] = 2,
                                      [MESSAGE_NOT_NEGATIVE] = 1.4142135623730952 /* rounded up */,
                                      [MESSAGE_ONE] = 1};
    const double l1 = sqrt(numbers), l2 = replaced[kind], linf = kind == MESSAGE_SIGNED ? 2 : 1;
    const dpf_norms changed = {l2 * l1, l2, linf}, alone = {l1, 1, 1};
    for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++)
        sensitivity->at[DPF_UNIT_RECORD][adjacency] = changed;
    sensitivity->at[DPF_UNIT_USER][DPF_ADJ_REPLACE] = changed;
    sensitivity->at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE] = alone;
    sensitivity->at[DPF_UNIT_USER][DPF_ADJ_ZERO_OUT] = alone;
}

dpf_status user_sums_check_range(const dpf_host *host, const dpf_recommender_setup *setup)
{
    if (isfinite(setup->value_lo) && isfinite(setup->value_hi) && setup->value_lo < setup->value_hi)
        return DPF_OK;
    return host->fail(host, DPF_E_CONFIG, -1,
                      "it predicts ratings in a declared range: set [data] value-min and value-max");
}

dpf_status user_sums_choose_grid(const dpf_host *host, const dpf_recommender_setup *setup, int32_t param,
                                 double sigma, int silent, int32_t least_bits, struct noise_grid *out)
{
    const int64_t shares = dpf_setup_shares(setup);
    noise_grid_silent(out);
    if (silent)
        return DPF_OK;
    if (noise_grid_choose(sigma, least_bits, out) != 0)
        return host->fail(host, DPF_E_RANGE, param, "no grid fits this noise: noise-multiplier is extreme");
    if (shares > 0 && noise_grid_divide(shares, setup->n_users, out) != 0)
        return host->fail(host, DPF_E_RANGE, -1, NOISE_SHARE_TOO_FEW);
    return DPF_OK;
}

void user_sums_state_noise(const dpf_recommender_setup *setup, const struct noise_grid *grid,
                           dpf_recommender_release *out)
{
    const int shares = dpf_setup_shares(setup) > 0, silent = setup->without_noise;
    dpf_event *event = &out->event;
    out->reads = DPF_READS_OWN_RECORDS;
    out->noise_where = silent ? DPF_NOISE_NOWHERE : shares ? DPF_NOISE_IN_SHARES : DPF_NOISE_AT_SUM;
    out->sees = shares ? DPF_SEES_SUM : DPF_SEES_MESSAGES;
    out->flags = DPF_RELEASE_SENT_BY_USERS | (shares ? DPF_RELEASE_NOISE_BY_USERS : 0);
    out->largest = INT64_C(1) << grid->bits;
    out->share_steps = grid->share;
    event->side = DPF_SIDE_ITEMS;
    event->kind = silent ? DPF_EVENT_NON_PRIVATE : DPF_EVENT_DISCRETE_GAUSSIAN;
    event->flags = shares ? DPF_EVENT_NOISE_SHARED : 0;
    event->scale = silent ? 0 : grid->scale;
    event->grid = noise_grid_size(grid);
}

void user_sums_state_release(const char *name, const dpf_recommender_setup *setup,
                             const struct noise_grid *grid, enum user_message_kind kind, int64_t count,
                             double numbers, dpf_recommender_release *out)
{
    user_sums_state_noise(setup, grid, out);
    memcpy(out->name, name, strlen(name) + 1);
    out->event.count = count;
    state_sensitivity(kind, numbers, &out->event.sensitivity);
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
                  room = s->longest * s->widest + s->most_to_all, row = s->widest + s->most_to_all;
    double *numbers =
        call->scratch(call, (uint64_t)(s->longest + room + s->most_to_all + s->work) * sizeof *numbers);
    desk->sums = call->scratch(call, (uint64_t)(sums + room + row) * sizeof(int64_t));
    desk->chosen = call->scratch(call, (uint64_t)s->longest * sizeof(int32_t));
    if (!numbers || !desk->sums || !desk->chosen)
        return 0;
    desk->steps = desk->sums + sums;
    desk->drawn = desk->steps + room;
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
    if (dpf_fit_witness(s->fit)) {
        s->exact = call->scratch(call, (uint64_t)sums * sizeof(double));
        s->scales = call->scratch(call, (uint64_t)sums * sizeof(double));
    }
    int ok = s->desks && s->released && ((s->exact && s->scales) || !dpf_fit_witness(s->fit));
    for (int32_t w = 0; w < s->n_desks && ok; w++)
        ok = open_desk(s, &s->desks[w]);
    return ok ? DPF_OK : call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory");
}
