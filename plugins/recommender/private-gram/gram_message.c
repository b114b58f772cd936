/* SPDX-License-Identifier: Apache-2.0 */
#include "gram_message.h"

#include <math.h>

#include "unit_rows.h"

int gram_desks_open(const dpf_call *call, int32_t n, int64_t numbers, struct gram_desk **out)
{
    const uint64_t room = (uint64_t)(numbers + 1);
    *out = call->scratch(call, (uint64_t)n * sizeof **out);
    for (int32_t k = 0; *out && k < n; k++) {
        struct gram_desk *desk = &(*out)[k];
        desk->at = call->scratch(call, room * sizeof *desk->at);
        desk->row = call->scratch(call, room * sizeof *desk->row);
        desk->values = call->scratch(call, room * sizeof *desk->values);
        if (!desk->at || !desk->row || !desk->values)
            return -1;
    }
    return *out ? 0 : -1;
}

void gram_message_counts(const dpf_csr *by_user, int64_t user, int32_t bits, int64_t *out)
{
    const int64_t first = by_user->offsets[user], end = by_user->offsets[user + 1];
    const int64_t share = unit_rows_share(end - first, bits);
    for (int64_t i = first; i < end; i++)
        out[by_user->others[i]] += share;
}

int64_t gram_message_row(const struct gram_columns *columns, const dpf_csr *by_user, int64_t user,
                         struct gram_desk *desk)
{
    int64_t n = 0;
    for (int64_t i = by_user->offsets[user]; i < by_user->offsets[user + 1]; i++) {
        const int32_t column = columns->column[by_user->others[i]];
        if (column >= 0) {
            desk->at[n] = column;
            desk->values[n++] =
                columns->weight[column] *
                (columns->values ? (double)value_weight(columns->values, by_user->values, i) : 1.0);
        }
    }
    desk->level = -1;
    if (columns->centre)
        desk->level = row_centre_apply(columns->centre, desk->at, desk->values, n, desk->row);
    else
        unit_rows_round(desk->values, n, columns->bits, desk->row);
    return n;
}

const int32_t *gram_message_split(const struct gram_columns *columns, int64_t n, struct gram_desk *desk)
{
    const int32_t *level = columns->centre ? row_centre_level(columns->centre, desk->level) : NULL;
    for (int64_t i = 0; i < n && level; i++)
        desk->row[i] -= level[desk->at[i]];
    return level;
}

static void add_pairs(const int32_t *at, const int32_t *row, int64_t n, int64_t m, int64_t *out)
{
    for (int64_t a = 0; a < n; a++) {
        int64_t *sums = out + gram_triangle_at(at[a], m) - at[a];
        const int64_t y = row[a];
        for (int64_t b = a; b < n; b++)
            sums[at[b]] += y * row[b];
    }
}

/* Of a row with a number in each column: that of the level where the user has no record. */
static void add_all_pairs(const int32_t *level, const struct gram_desk *desk, int64_t n, int64_t m,
                          int64_t *out)
{
    for (int64_t i = 0, own = 0; i < m; i++) {
        const int is_own = own < n && desk->at[own] == i;
        const int64_t y = is_own ? desk->row[own] : level[i];
        int64_t *sums = out + gram_triangle_at(i, m) - i;
        for (int64_t j = i; j < m; j++)
            sums[j] += y * level[j];
        for (int64_t b = own; b < n; b++)
            sums[desk->at[b]] += y * (desk->row[b] - level[desk->at[b]]);
        own += is_own;
    }
}

void gram_message_pairs(const struct gram_columns *columns, struct gram_desk *desk, int64_t n, int64_t *out)
{
    const int32_t *level = columns->centre ? row_centre_level(columns->centre, desk->level) : NULL;
    if (level)
        add_all_pairs(level, desk, n, columns->m, out);
    else
        add_pairs(desk->at, desk->row, n, columns->m, out);
}

/* The user's row along the directions, d integers, after what rows need of the desk. Leaves the row split. */
static const int32_t *read_along(const struct gram_directions *directions, int64_t n, int64_t width,
                                 struct gram_desk *desk)
{
    const int32_t d = directions->d, bits = directions->columns->bits;
    const double unit = ldexp(1.0, -bits);
    const int centred = gram_message_split(directions->columns, n, desk) != NULL;
    double *y = desk->values + width;
    for (int32_t k = 0; k < d; k++)
        y[k] = centred ? directions->levels[(int64_t)desk->level * d + k] : 0.0;
    for (int64_t a = 0; a < n; a++) {
        const double *direction = directions->basis + (int64_t)desk->at[a] * d;
        for (int32_t k = 0; k < d; k++)
            y[k] += unit * (double)desk->row[a] * direction[k];
    }
    unit_rows_round_by(y, d, fmax(unit_rows_norm(y, d), directions->least), bits, desk->row + width);
    return desk->row + width;
}

int64_t gram_message_along(const struct gram_directions *directions, const struct gram_columns *columns,
                           const dpf_csr *by_user, int64_t user, struct gram_desk *desk,
                           const int32_t **along)
{
    const int64_t width = gram_message_room(columns, directions) - directions->d;
    int64_t n = gram_message_row(directions->columns, by_user, user, desk);
    *along = read_along(directions, n, width, desk);
    if (columns == directions->columns)
        return n;
    n = gram_message_row(columns, by_user, user, desk);
    gram_message_split(columns, n, desk);
    return n;
}

void gram_message_projected(const struct gram_directions *directions, const struct gram_columns *columns,
                            const dpf_csr *by_user, int64_t user, struct gram_desk *desk, int64_t *out)
{
    const int32_t d = directions->d, *w;
    const int64_t n = gram_message_along(directions, columns, by_user, user, desk, &w);
    const int32_t *level = columns->centre ? row_centre_level(columns->centre, desk->level) : NULL;
    for (int64_t i = 0; i < columns->m && level; i++)
        for (int32_t k = 0; k < d; k++)
            out[i * d + k] += (int64_t)level[i] * w[k];
    for (int64_t a = 0; a < n; a++)
        for (int32_t k = 0; k < d; k++)
            out[(int64_t)desk->at[a] * d + k] += (int64_t)desk->row[a] * w[k];
}
