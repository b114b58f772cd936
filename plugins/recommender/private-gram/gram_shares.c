/* SPDX-License-Identifier: Apache-2.0 */
#include "gram_shares.h"

#include <string.h>

/* What messages are made from. */
struct making {
    const struct gram_shares *shares;
    uint32_t draw;
    const struct gram_columns *columns;       /* NULL: counts */
    const struct gram_directions *directions; /* NULL: pairs */
    struct gram_desk *desks;                  /* of each worker */
    int64_t *drawn;                           /* of each worker: n_drawn numbers */
    int64_t n_drawn;
};

/* ---- one user -------------------------------------------------------------------------------------------
 */

static dpf_status add_drawn(const struct making *m, dpf_cursor *cursor, uint64_t steps, int32_t worker,
                            int64_t *out, int64_t n)
{
    int64_t *drawn = m->drawn + worker * m->n_drawn;
    const dpf_status status = m->shares->random->discrete_gaussian(cursor, steps, drawn, n);
    for (int64_t k = 0; k < n && status == DPF_OK; k++)
        out[k] += drawn[k];
    return status;
}

static dpf_status add_row(const struct making *m, uint32_t user, int64_t row, int32_t worker, int64_t *out,
                          int64_t n)
{
    dpf_cursor cursor;
    m->shares->random->seek(m->shares->noise, m->draw, user, (uint32_t)row, &cursor);
    return add_drawn(m, &cursor, m->shares->scales->share, worker, out, n);
}

static dpf_status add_triangle_row(const struct making *m, uint32_t user, int64_t row, int32_t worker,
                                   int64_t *out)
{
    dpf_cursor cursor;
    m->shares->random->seek(m->shares->noise, m->draw, user, (uint32_t)row, &cursor);
    const dpf_status status =
        add_drawn(m, &cursor, m->shares->scales->share, worker, out + 1, m->columns->m - row - 1);
    return status == DPF_OK ? add_drawn(m, &cursor, m->shares->scales->share_diag, worker, out, 1) : status;
}

static dpf_status write_counts(const void *context, uint32_t user, int32_t worker, int64_t *out)
{
    const struct making *m = context;
    const dpf_interactions *records = m->shares->fit->records;
    gram_message_counts(&records->by_user, user, m->shares->scales->bits, out);
    return add_row(m, user, 0, worker, out, records->n_items);
}

static dpf_status write_matrix(const void *context, uint32_t user, int32_t worker, int64_t *out)
{
    const struct making *m = context;
    struct gram_desk *desk = &m->desks[worker];
    const int64_t columns = m->columns->m, d = m->directions ? m->directions->d : 0;
    const dpf_csr *by_user = &m->shares->fit->records->by_user;
    dpf_status status = DPF_OK;
    if (m->directions)
        gram_message_projected(m->directions, m->columns, by_user, user, desk, out);
    else
        gram_message_pairs(m->columns, desk, gram_message_row(m->columns, by_user, user, desk), out);
    for (int64_t i = 0; i < columns && status == DPF_OK; i++)
        status = m->directions ? add_row(m, user, i, worker, out + i * d, d)
                               : add_triangle_row(m, user, i, worker, out + gram_triangle_at(i, columns));
    return status;
}

/* ---- sums -----------------------------------------------------------------------------------------------
 */

static dpf_status sum(const dpf_call *call, struct making *m, struct gram_shares *shares, int64_t n_drawn,
                      dpf_user_sum *what)
{
    const dpf_summing *summing = dpf_fit_summing(shares->fit);
    m->shares = shares;
    m->draw = call->draw;
    m->n_drawn = n_drawn;
    m->drawn =
        call->scratch(call, (uint64_t)dpf_task_workers(call) * (uint64_t)(n_drawn + 1) * sizeof *m->drawn);
    if (!m->drawn)
        return call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory");
    what->size = sizeof *what;
    what->context = m;
    const dpf_status status = summing->sum(summing->context, what);
    shares->survivors = what->survivors;
    return status;
}

dpf_status gram_shares_counts(const dpf_call *call, struct gram_shares *shares, int64_t *out)
{
    const int64_t n = shares->fit->records->n_items;
    struct making making = {0};
    dpf_user_sum what = {.release = shares->release, .n = n, .message = write_counts, .sums = out};
    return sum(call, &making, shares, n, &what);
}

/* From the triangle at the beginning of `sums` to m x m: rows move away from the beginning, the last one first,
   and leave what is before their diagonal to zeros. */
static void widen(int64_t m, int64_t *sums)
{
    for (int64_t i = m - 1; i >= 0; i--) {
        memmove(sums + i * m + i, sums + gram_triangle_at(i, m), (size_t)(m - i) * sizeof *sums);
        memset(sums + i * m, 0, (size_t)i * sizeof *sums);
    }
}

dpf_status gram_shares_matrix(const dpf_call *call, struct gram_shares *shares,
                              const struct gram_columns *columns, const struct gram_directions *directions,
                              int64_t *out)
{
    const int64_t m = columns->m, d = directions ? directions->d : 0;
    struct making making = {.columns = columns, .directions = directions};
    dpf_user_sum what = {.release = shares->release,
                         .n = directions ? m * d : m * (m + 1) / 2,
                         .message = write_matrix,
                         .sums = out};
    if (gram_desks_open(call, dpf_task_workers(call), gram_message_room(columns, directions),
                        &making.desks) != 0)
        return call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory");
    const dpf_status status = sum(call, &making, shares, directions ? d : m, &what);
    if (status == DPF_OK && !directions)
        widen(m, out);
    return status;
}
