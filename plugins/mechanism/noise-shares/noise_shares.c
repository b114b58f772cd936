/* SPDX-License-Identifier: Apache-2.0 */
#include "noise_shares.h"

#define LEAST_BITS 8
#define MOST_BITS 24

dpf_status noise_shares_create(const dpf_host *host, const dpf_params *given, void **self)
{
    const dpf_random_service *random = dpf_random(host);
    dpf_stream *stream;
    dpf_status status = random->open(host, "noise", &stream);
    if (status != DPF_OK)
        return status;
    struct noise_shares *shares = dpf_memory(host)->allocate(host, sizeof(*shares));
    if (!shares)
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    *shares = (struct noise_shares){host, given->values, random, stream};
    *self = shares;
    return DPF_OK;
}

void noise_shares_destroy(void *self)
{
    struct noise_shares *shares = self;
    dpf_memory(shares->host)->release(shares->host, shares);
}

int32_t noise_shares_lifetime(void *self)
{
    (void)self;
    return DPF_LIFETIME_ROUND;
}

/* ---- planning -------------------------------------------------------------------------------- */

dpf_status noise_shares_begin(const struct noise_shares *shares, const dpf_release *release, int32_t honest,
                              int32_t curious, dpf_noise_plan *out)
{
    const dpf_host *host = shares->host;
    const int64_t given = shares->values[honest].integer;
    const int64_t t = given ? given : release->min_survivors;
    if (release->query->has_gram)
        return host->fail(host, DPF_E_UNSUPPORTED, -1,
                          "noise in shares cannot cover the Gram row of this loss; use laplace or gaussian");
    if (t < 1 || t > release->n_parties)
        return host->fail(host, DPF_E_CONFIG, honest,
                          "honest is more than there are parties: the noise would never be enough");
    const int64_t spare = shares->values[curious].integer;
    if (spare > release->n_parties - t)
        return host->fail(
            host, DPF_E_CONFIG, curious,
            "honest and curious are together more than there are parties: no sum would be released");
    const dpf_status status = dpf_additive_begin(host, release, DPF_NOISE_IN_SHARES, 0x1p-28, out);
    if (status != DPF_OK)
        return status;
    out->opaque[1] = (uint64_t)t;
    out->spare_shares = (int32_t)spare;
    out->least_survivors = t + spare;
    return DPF_OK;
}

int64_t noise_shares_needed(const dpf_noise_plan *plan)
{
    return (int64_t)plan->opaque[1];
}

dpf_status noise_shares_norms(const struct noise_shares *shares, const dpf_release *release, int32_t norm,
                              double norms[DPF_MAX_BLOCKS], int32_t *moved)
{
    *moved = 0;
    for (int32_t b = 0; b < release->query->n_blocks; b++) {
        const dpf_norms *all = &release->blocks[b].at[release->unit][release->adjacency];
        norms[b] = norm == 1 ? all->l1 : all->l2;
        dpf_status status = dpf_additive_check(shares->host, release, b, norms[b]);
        if (status != DPF_OK)
            return status;
        *moved += norms[b] > 0;
    }
    return DPF_OK;
}

void noise_shares_together(const dpf_release *release, int32_t p, double factor, double parts,
                           const double *norms, int32_t bits, int32_t max_bits, dpf_noise_plan *out,
                           double scale[DPF_MAX_BLOCKS], int *done)
{
    const dpf_message_norms message = dpf_additive_message(release);
    double relative[DPF_BLOCK_BITS], grid[DPF_BLOCK_BITS], chosen[DPF_BLOCK_BITS], own[DPF_BLOCK_BITS] = {0},
                                                                                   most = 0;
    uint32_t moved = 0;
    *done = 0;
    for (int32_t b = 0; b < release->query->n_blocks; b++) {
        own[b] = norms[b];
        moved |= norms[b] > 0 ? UINT32_C(1) << b : 0;
        most = fmax(most, norms[b]);
    }
    if (!dpf_joint_shared(&message, moved, release->unit, release->adjacency, NULL))
        return;
    dpf_additive_relative(&message, moved, p, release->unit, release->adjacency, own, 0, relative);
    *done = dpf_additive_choose_joint(release, moved, relative, p, factor, parts, p == 1 ? most : 0, bits,
                                      max_bits, grid, chosen) == 0
                ? 1
                : -1;
    for (int32_t b = 0; *done == 1 && b < release->query->n_blocks; b++) {
        scale[b] = moved >> b & 1 ? chosen[b] : 0;
        if (moved >> b & 1)
            out->grid[b] = grid[b];
    }
}

static dpf_status no_grid(const struct noise_shares *shares, int32_t grid_bits)
{
    return shares->host->fail(shares->host, DPF_E_RANGE, grid_bits,
                              "no grid fits this noise: a party's share of it is extreme, too small for a "
                              "message of so many numbers at this grid-bits, or for so many messages");
}

dpf_status noise_shares_choose(const struct noise_shares *shares, const dpf_release *release,
                               double multiplier, int32_t grid_bits, dpf_noise_plan *out,
                               double steps[DPF_MAX_BLOCKS])
{
    const double t = (double)noise_shares_needed(out);
    const int32_t bits = dpf_additive_bits(shares->values[grid_bits].integer, release->n_parties);
    double norms[DPF_MAX_BLOCKS];
    int32_t moved;
    dpf_status status = noise_shares_norms(shares, release, 2, norms, &moved);
    const double per_norm = release->noise_factor * multiplier * sqrt(moved / t);
    double scale[DPF_MAX_BLOCKS];
    int together = 0;
    if (status == DPF_OK && bits >= LEAST_BITS)
        noise_shares_together(release, 2, release->noise_factor * multiplier, sqrt(t), norms, bits, MOST_BITS,
                              out, scale, &together);
    if (status == DPF_OK && together < 0)
        return no_grid(shares, grid_bits);
    for (int32_t b = 0; status == DPF_OK && together && b < release->query->n_blocks; b++)
        steps[b] = scale[b] / out->grid[b];
    if (together)
        return status;
    for (int32_t b = 0; status == DPF_OK && b < release->query->n_blocks; b++) {
        double share = 0, coordinates = dpf_additive_coordinates(release, b, 0);
        steps[b] = 0;
        if (!(norms[b] > 0))
            continue;
        if (bits < LEAST_BITS || dpf_additive_choose(per_norm * norms[b], per_norm * sqrt(coordinates), 0,
                                                     bits, MOST_BITS, &out->grid[b], &share) != 0)
            return no_grid(shares, grid_bits);
        steps[b] = share / out->grid[b];
    }
    return status;
}

dpf_status noise_shares_events(const struct noise_shares *shares, const dpf_release *release,
                               const dpf_noise_plan *plan, int32_t kind, dpf_event *out, int32_t capacity,
                               int32_t *n)
{
    const dpf_status status =
        dpf_additive_events(shares->host, release, plan, 1, kind, kind, DPF_LIFETIME_ROUND, out, capacity, n);
    for (int32_t i = 0; status == DPF_OK && i < *n; i++)
        if (out[i].scale > 0)
            out[i].flags |= DPF_EVENT_NOISE_SHARED;
    return status;
}

/* ---- running --------------------------------------------------------------------------------- */

static dpf_status add_row(dpf_status (*integers)(dpf_cursor *, uint64_t, int64_t *, int64_t),
                          const dpf_noise_plan *plan, const dpf_query *query, dpf_cursor *cursor,
                          int64_t *row)
{
    int64_t drawn[DPF_ADDITIVE_CHUNK];
    for (int32_t b = 0; b < query->n_blocks; b++) {
        int64_t end = (int64_t)query->blocks[b].offset + query->blocks[b].length;
        for (int64_t at = query->blocks[b].offset; plan->scale[b] > 0 && at < end; at += DPF_ADDITIVE_CHUNK) {
            int64_t n = end - at < DPF_ADDITIVE_CHUNK ? end - at : DPF_ADDITIVE_CHUNK;
            dpf_status status = integers(cursor, plan->opaque[2 + b], drawn, n);
            if (status != DPF_OK)
                return status;
            for (int64_t i = 0; i < n; i++) {
                row[at + i] += drawn[i];
                if (!(fabs((double)row[at + i]) < dpf_additive_plan_limit(plan)))
                    return DPF_E_RANGE;
            }
        }
    }
    return DPF_OK;
}

dpf_status noise_shares_encode(const struct noise_shares *shares,
                               dpf_status (*integers)(dpf_cursor *, uint64_t, int64_t *, int64_t),
                               const dpf_call *call, const dpf_noise_plan *plan, const dpf_query *query,
                               const double *values, int64_t stride, dpf_encoded *out)
{
    dpf_status status = dpf_additive_encode(NULL, call, plan, query, values, stride, out);
    for (int64_t r = 0; status == DPF_OK && r < out->n_rows; r++) {
        dpf_cursor cursor;
        shares->random->seek(shares->stream, call->draw, call->party, (uint32_t)dpf_additive_row_id(out, r),
                             &cursor);
        status = add_row(integers, plan, query, &cursor, out->values + r * out->stride);
        if (status != DPF_OK)
            return call->host->fail(call->host, status, -1,
                                    "noise and value leave the range of integers, or could not be drawn; "
                                    "lower grid-bits of the mechanism");
    }
    return status;
}

dpf_status noise_shares_enough(const dpf_call *call, const dpf_noise_plan *plan, const dpf_encoded *sums,
                               int32_t honest)
{
    if (sums->survivors >= plan->least_survivors)
        return DPF_OK;
    return call->host->fail(call->host, DPF_E_PRIVACY, honest,
                            "fewer messages are in the sum than the shares were made for, so its noise is "
                            "too little to release it; plan for fewer honest parties");
}
