/* SPDX-License-Identifier: Apache-2.0 */
/* additive_noise.c - rounding to the grid, noise, encoding and decoding. */
#include "additive_parts.h"

#define ADDITIVE_CHUNK 64

/* A buffer for the noise of n numbers. */
struct room {
    int64_t *integers;
    int64_t n;
};

int dpf_additive_to_integer(double steps, double limit, int64_t *out)
{
    if (!(fabs(steps) < limit))
        return 0;
    int64_t whole = (int64_t)steps;
    double rest = steps - (double)whole; /* exact */
    int64_t odd = whole & 1;
    *out = whole + (rest > 0.5) - (rest < -0.5) + (rest == 0.5 ? odd : rest == -0.5 ? -odd : 0);
    return 1;
}

/*
 * First in a loop without branches: with M = 1.5 2^52 the bits of x + M are those of M plus the nearest integer, for
 * |x| < 2^51; and x + 3 P has the exponent of 3 P if |x| < P, a power of two below both limits. What is beyond P is
 * looked at one by one.
 */
dpf_status dpf_additive_round(double grid, double limit, const double *values, int64_t n, int64_t *out)
{
    const double steps_per_unit = 1 / grid; /* exact for powers of two, as is the product below */
    const double magic = 6755399441055744.0;
    uint64_t magic_bits, guard_bits, far = 0;
    double guard; /* 3 P, P at most half of the limit */
    int ok = 1;
    memcpy(&magic_bits, &magic, sizeof magic_bits);
    memcpy(&guard_bits, &limit, sizeof guard_bits);
    guard_bits = (guard_bits & UINT64_C(0x7ff0000000000000)) | UINT64_C(0x0008000000000000);
    guard_bits = guard_bits < magic_bits ? guard_bits : magic_bits;
    memcpy(&guard, &guard_bits, sizeof guard);
    for (int64_t i = 0; i < n; i++) {
        const double steps = values[i] * steps_per_unit, moved = steps + magic, guarded = steps + guard;
        uint64_t bits, check;
        memcpy(&bits, &moved, sizeof bits);
        memcpy(&check, &guarded, sizeof check);
        out[i] = (int64_t)(bits - magic_bits);
        far |= (check ^ guard_bits) >> 52;
    }
    for (int64_t i = 0; far && i < n; i++)
        ok &= dpf_additive_to_integer(values[i] * steps_per_unit, limit, &out[i]);
    return ok ? DPF_OK : DPF_E_RANGE;
}

/*
 * values / grid + noise, as integers, for at most room->n numbers. All of them, or DPF_E_RANGE. limit is at
 * most 2^62, and so is noise.
 */
static dpf_status additive_chunk(const dpf_additive *noise, const dpf_noise_source *from,
                                 const struct room *room, double grid, double scale, uint64_t steps,
                                 double limit, const double *values, int64_t n, int64_t *out)
{
    if (!(scale > 0))
        return dpf_additive_round(grid, limit, values, n, out);
    const double steps_per_unit = 1 / grid;
    const dpf_status status = noise->integers(from, steps, room->integers, n);
    if (status != DPF_OK)
        return status;
    int ok = 1;
    for (int64_t i = 0; i < n; i++) {
        int64_t whole = 0;
        ok &= dpf_additive_to_integer(values[i] * steps_per_unit, limit, &whole);
        out[i] = whole + room->integers[i];
        ok &= fabs((double)out[i]) < limit;
    }
    return ok ? DPF_OK : DPF_E_RANGE;
}

/* `steps` of a draw for block b. */
static uint64_t additive_steps(const dpf_additive *noise, int32_t b, int gram, double grid, double scale)
{
    if (!noise || !noise->steps)
        return (uint64_t)(scale / grid);
    return gram ? noise->steps[b] >> 32 : noise->steps[b] & UINT32_MAX;
}

static void additive_set_change(const dpf_additive *noise, int32_t b, int gram, dpf_noise_source *from)
{
    if (from)
        from->change = noise->changes ? dpf_additive_read_change(noise->changes, b, gram) : 0;
}

/* One row. from is NULL if it gets no noise. */
static dpf_status additive_row(const dpf_additive *noise, dpf_noise_source *from, const struct room *room,
                               const dpf_noise_plan *plan, const dpf_query *query, int gram, double limit,
                               const double *values, int64_t *out)
{
    for (int32_t b = 0; b < query->n_blocks; b++) {
        double grid = gram ? plan->gram_grid[b] : plan->grid[b];
        double scale = !from ? 0 : gram ? plan->gram_scale[b] : plan->scale[b];
        uint64_t steps = additive_steps(noise, b, gram, grid, scale);
        int64_t end = (int64_t)query->blocks[b].offset + query->blocks[b].length;
        additive_set_change(noise, b, gram, from);
        for (int64_t at = query->blocks[b].offset; at < end; at += room->n) {
            int64_t n = end - at < room->n ? end - at : room->n;
            dpf_status status =
                additive_chunk(noise, from, room, grid, scale, steps, limit, values + at, n, out + at);
            if (status != DPF_OK)
                return status;
        }
    }
    return DPF_OK;
}

/* The buffer on the stack, or in the call's scratch memory if draws take whole blocks. */
static dpf_status additive_find_room(const dpf_additive *noise, const dpf_call *call, int32_t width,
                                     struct room *room)
{
    if (!noise || !noise->whole_blocks || width <= ADDITIVE_CHUNK)
        return DPF_OK;
    room->integers = call->scratch(call, (uint64_t)width * sizeof(*room->integers));
    room->n = width;
    return room->integers ? DPF_OK : DPF_E_MEMORY;
}

int64_t dpf_additive_row_id(const dpf_encoded *integers, int64_t i)
{
    return integers->rows ? integers->rows[i] : integers->first_row + i;
}

int dpf_additive_is_gram(const dpf_query *query, const dpf_encoded *integers, int64_t row)
{
    return query->has_gram && row == integers->total_rows - 1;
}

dpf_status dpf_additive_out_of_range(const dpf_call *call, dpf_status status)
{
    return call->host->fail(call->host, status, -1,
                            "a value of a message is not finite or too large for its grid; bound the "
                            "contributions");
}

/* Whether all numbers stand behind one another on one grid. */
static int additive_is_plain(const dpf_query *query, int64_t stride, const dpf_encoded *out)
{
    return query->n_blocks == 1 && !query->has_gram && query->blocks[0].offset == 0 &&
           query->blocks[0].length == out->width && stride == out->width && out->stride == out->width;
}

dpf_status dpf_additive_encode(const dpf_additive *noise, const dpf_call *call, const dpf_noise_plan *plan,
                               const dpf_query *query, double limit, const double *values, int64_t stride,
                               dpf_encoded *out)
{
    const int noisy =
        noise && !plan->bare && (plan->where == DPF_NOISE_AT_PARTY || plan->where == DPF_NOISE_IN_SHARES);
    int64_t integers[ADDITIVE_CHUNK];
    struct room room = {integers, ADDITIVE_CHUNK};
    dpf_cursor cursor;
    dpf_noise_source from = {NULL, &cursor, NULL, 1, 0};
    if (noisy) {
        from.random = noise->random;
        from.values = noise->values;
        from.parts = noise->parts;
    }
    dpf_status status = additive_find_room(noise, call, query->width, &room);
    if (status != DPF_OK)
        return call->host->fail(call->host, status, -1, "out of memory");
    if (!noisy && additive_is_plain(query, stride, out)) {
        status = dpf_additive_round(plan->grid[0], limit, values, out->n_rows * out->width, out->values);
        return status == DPF_OK ? DPF_OK : dpf_additive_out_of_range(call, status);
    }
    for (int64_t i = 0; i < out->n_rows; i++) {
        int64_t row = dpf_additive_row_id(out, i);
        int64_t *to = out->values + i * out->stride;
        memset(to, 0, (size_t)out->width * sizeof(*to));
        if (noisy)
            noise->random->seek(noise->stream, call->draw, call->party, (uint32_t)row, &cursor);
        status = additive_row(noise, noisy ? &from : NULL, &room, plan, query,
                              dpf_additive_is_gram(query, out, row), limit, values + i * stride, to);
        if (status != DPF_OK)
            return dpf_additive_out_of_range(call, status);
    }
    return DPF_OK;
}

/* Adds a trusted curator's noise to one row of a sum and scales it. */
static dpf_status additive_decode_row(const dpf_additive *noise, dpf_noise_source *from,
                                      const struct room *room, const dpf_noise_plan *plan,
                                      const dpf_query *query, int gram, const int64_t *sums, int64_t *drawn,
                                      const double *zeros, double *out)
{
    for (int32_t b = 0; b < query->n_blocks; b++) {
        double grid = gram ? plan->gram_grid[b] : plan->grid[b];
        double scale = !from ? 0 : gram ? plan->gram_scale[b] : plan->scale[b];
        uint64_t steps = additive_steps(noise, b, gram, grid, scale);
        int64_t end = (int64_t)query->blocks[b].offset + query->blocks[b].length;
        additive_set_change(noise, b, gram, from);
        for (int64_t at = query->blocks[b].offset; at < end; at += room->n) {
            int64_t n = end - at < room->n ? end - at : room->n;
            if (scale > 0) {
                dpf_status status =
                    additive_chunk(noise, from, room, grid, scale, steps, DPF_ADDITIVE_MAX, zeros, n, drawn);
                if (status != DPF_OK)
                    return status;
            }
            for (int64_t i = 0; i < n; i++) {
                if (!(fabs((double)sums[at + i]) < DPF_ADDITIVE_MAX))
                    return DPF_E_RANGE;
                out[at + i] = (double)(sums[at + i] + (scale > 0 ? drawn[i] : 0)) * grid;
            }
        }
    }
    return DPF_OK;
}

dpf_status dpf_additive_decode(const dpf_additive *noise, const dpf_call *call, const dpf_noise_plan *plan,
                               const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride)
{
    static const double no_values[ADDITIVE_CHUNK] = {0};
    const int noisy = noise && plan->where == DPF_NOISE_AT_SUM;
    int64_t integers[ADDITIVE_CHUNK], more[ADDITIVE_CHUNK], *drawn = more;
    const double *zeros = no_values;
    struct room room = {integers, ADDITIVE_CHUNK};
    dpf_cursor cursor;
    dpf_noise_source from = {NULL, &cursor, NULL, 1, 0};
    if (noisy) {
        from.random = noise->random;
        from.values = noise->values;
        from.parts = noise->parts;
    }
    dpf_status status = additive_find_room(noise, call, query->width, &room);
    if (status == DPF_OK && room.n > ADDITIVE_CHUNK) {
        double *none = call->scratch(call, (uint64_t)room.n * sizeof(*none));
        drawn = call->scratch(call, (uint64_t)room.n * sizeof(*drawn));
        if (none)
            memset(none, 0, (size_t)room.n * sizeof(*none));
        zeros = none;
        status = none && drawn ? DPF_OK : DPF_E_MEMORY;
    }
    if (status != DPF_OK)
        return call->host->fail(call->host, status, -1, "out of memory");
    for (int64_t i = 0; i < sums->n_rows; i++) {
        int64_t row = dpf_additive_row_id(sums, i);
        double *to = out + i * stride;
        memset(to, 0, (size_t)sums->width * sizeof(*to));
        if (noisy)
            noise->random->seek(noise->stream, call->draw, DPF_PARTY_AGGREGATE, (uint32_t)row, &cursor);
        status = additive_decode_row(noise, noisy ? &from : NULL, &room, plan, query,
                                     dpf_additive_is_gram(query, sums, row), sums->values + i * sums->stride,
                                     drawn, zeros, to);
        if (status != DPF_OK)
            return dpf_additive_out_of_range(call, status);
    }
    return DPF_OK;
}
