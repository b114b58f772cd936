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
    unit_rows_round(desk->values, n, columns->bits, desk->row);
    return n;
}

void gram_message_pairs(const struct gram_desk *desk, int64_t n, int64_t m, int wide, int64_t *out)
{
    const int32_t *at = desk->at, *row = desk->row;
    for (int64_t a = 0; a < n; a++) {
        int64_t *sums = out + (wide ? at[a] * m : gram_triangle_at(at[a], m) - at[a]);
        const int64_t z = row[a];
        for (int64_t b = a; b < n; b++)
            sums[at[b]] += z * row[b];
    }
}

/* The user's row along the directions, d integers, after what rows need of the desk. */
static const int32_t *read_along(const struct gram_directions *directions, const dpf_csr *by_user,
                                 int64_t user, int64_t width, struct gram_desk *desk)
{
    const int32_t d = directions->d, bits = directions->columns->bits;
    const int64_t n = gram_message_row(directions->columns, by_user, user, desk);
    const double unit = ldexp(1.0, -bits);
    double *y = desk->values + width;
    for (int32_t k = 0; k < d; k++)
        y[k] = 0.0;
    for (int64_t a = 0; a < n; a++) {
        const double *direction = directions->basis + (int64_t)desk->at[a] * d;
        for (int32_t k = 0; k < d; k++)
            y[k] += unit * (double)desk->row[a] * direction[k];
    }
    unit_rows_round_by(y, d, fmax(unit_rows_norm(y, d), directions->least), bits, desk->row + width);
    return desk->row + width;
}

void gram_message_projected(const struct gram_directions *directions, const struct gram_columns *columns,
                            const dpf_csr *by_user, int64_t user, struct gram_desk *desk, int64_t *out)
{
    const int32_t d = directions->d;
    const int64_t width = gram_message_room(columns, directions) - d;
    const int32_t *w = read_along(directions, by_user, user, width, desk);
    const int64_t n = gram_message_row(columns, by_user, user, desk);
    for (int64_t a = 0; a < n; a++)
        for (int32_t k = 0; k < d; k++)
            out[(int64_t)desk->at[a] * d + k] += (int64_t)desk->row[a] * w[k];
}
