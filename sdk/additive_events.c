/* SPDX-License-Identifier: Apache-2.0 */
/* additive_events.c - the events of releases with noise on a grid. */
#include "additive_parts.h"

/* From so many steps on, accountants bound discrete noise by continuous noise of slightly less variance. */
#define ADDITIVE_FINE 16.0

int dpf_additive_is_still(const dpf_norms *norms)
{
    return norms->l1 == 0 && norms->l2 == 0 && norms->linf == 0;
}

/* Sensitivities after rounding, for every unit and adjacency. grid 0 changes nothing. */
static dpf_sensitivity additive_rounded(const dpf_sensitivity *in, double coordinates, double grid)
{
    dpf_sensitivity out = *in;
    for (int32_t u = 0; u < DPF_UNIT_ROWS; u++)
        for (int32_t a = 0; a < DPF_ADJACENCY_ROWS; a++) {
            dpf_norms *norms = &out.at[u][a];
            if (dpf_additive_is_still(norms))
                continue;
            norms->l1 += coordinates * grid;
            norms->l2 += sqrt(coordinates) * grid;
            norms->linf += grid;
        }
    return out;
}

dpf_event dpf_additive_event(const dpf_release *release, const dpf_noise_plan *plan, int32_t block,
                             int32_t gram, const dpf_additive_claim *claim)
{
    dpf_event event;
    memset(&event, 0, sizeof(event));
    event.lifetime = claim->lifetime;
    event.count = 1;
    event.side = release->side;
    event.blocks = UINT32_C(1) << (block + (gram ? DPF_GRAM_BIT : 0));
    event.scale = gram ? plan->gram_scale[block] : plan->scale[block];
    event.grid = gram ? plan->gram_grid[block] : plan->grid[block];
    event.flags = release->from_data ? DPF_EVENT_BOUNDS_FROM_DATA : 0;
    dpf_sensitivity given;
    if (gram && !release->gram)
        given = dpf_unstated();
    else
        given = gram ? release->gram[block] : release->blocks[block];
    double coordinates = dpf_additive_coordinates(release, block, gram);
    if (event.scale > 0) {
        event.kind = claim->kind;
        event.flags |= claim->exact ? 0 : DPF_EVENT_FLOATING_POINT;
        event.grid = claim->exact ? event.grid : 0;
        event.sensitivity = additive_rounded(&given, coordinates, event.grid);
        return event;
    }
    int32_t still = 1;
    for (int32_t u = 0; u < DPF_N_UNITS; u++)
        for (int32_t a = 0; a < DPF_N_ADJACENCIES; a++)
            still &= dpf_additive_is_still(&given.at[u][a]);
    event.kind = still ? DPF_EVENT_NO_OP : DPF_EVENT_NON_PRIVATE;
    event.flags |= still ? DPF_EVENT_DATA_BLIND : 0;
    event.sensitivity = additive_rounded(&given, coordinates, event.grid);
    return event;
}

uint32_t dpf_additive_scales(const dpf_release *release, const dpf_noise_plan *plan, double *scale,
                             double *grid)
{
    uint32_t noisy = 0;
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++) {
        const int32_t at = b % DPF_GRAM_BIT, gram = b >= DPF_GRAM_BIT;
        const int32_t exists = at < release->query->n_blocks && (!gram || release->gram);
        scale[b] = !exists ? 0 : gram ? plan->gram_scale[at] : plan->scale[at];
        grid[b] = !exists ? 0 : gram ? plan->gram_grid[at] : plan->grid[at];
        noisy |= scale[b] > 0 ? UINT32_C(1) << b : 0;
    }
    return noisy;
}

int dpf_additive_alike(uint32_t blocks, const double *scale, const double *grid, double *fewest)
{
    double most = 0;
    *fewest = INFINITY;
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++)
        if (blocks >> b & 1) {
            *fewest = fmin(*fewest, scale[b] / grid[b]);
            most = fmax(most, scale[b] / grid[b]);
        }
    return *fewest == most;
}

/*
 * The blocks of a joint event, if two blocks with noise share a norm: for Gaussian kinds all blocks with
 * noise, for Laplace kinds those of one joint norm. 0: each block is a separate event.
 */
static uint32_t additive_joined(const dpf_release *release, const dpf_message_norms *message, uint32_t noisy,
                                int32_t p, int32_t exact, const double *scale, const double *grid)
{
    double fewest;
    const uint32_t shared = dpf_joint_shared(message, noisy, release->unit, release->adjacency, NULL);
    if (!shared)
        return 0;
    const uint32_t joined = p == 1 ? shared : noisy;
    const int alike = dpf_additive_alike(joined, scale, grid, &fewest);
    return p == 1 || !exact || alike || fewest >= ADDITIVE_FINE ? joined : 0;
}

/* The norms of all these blocks together, in units of `unit`. */
static dpf_norms additive_joint_norms(const dpf_message_norms *message, uint32_t blocks, const double *scale,
                                      const double *grid, int32_t exact, double unit, int32_t u, int32_t a)
{
    uint32_t moved = 0;
    double step = 0;
    dpf_norms out = {0, 0, 0};
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++)
        if ((blocks >> b & 1) && !dpf_additive_is_still(dpf_block_norms(message, b, u, a))) {
            moved |= UINT32_C(1) << b;
            step = fmax(step, exact ? grid[b] / scale[b] : 0);
        }
    if (!moved)
        return out;
    out.l1 = dpf_joint_largest(message, moved, scale, 1, u, a);
    out.l2 = dpf_joint_largest(message, moved, scale, 2, u, a);
    out.linf = dpf_joint_largest_number(message, moved, scale, u, a) + step;
    if (exact) {
        out.l1 += dpf_additive_rounding(message, moved, grid, scale, 1);
        out.l2 += dpf_additive_rounding(message, moved, grid, scale, 2);
    }
    out.l1 *= unit;
    out.l2 *= unit;
    out.linf *= unit;
    return out;
}

/* The event of blocks that share a bound. */
static dpf_event additive_joint_event(const dpf_release *release, const dpf_message_norms *message,
                                      uint32_t blocks, const double *scale, const double *grid,
                                      const dpf_additive_claim *claim)
{
    const int32_t exact = claim->exact;
    double fewest;
    int32_t first = 0;
    dpf_event event;
    while (!(blocks >> first & 1))
        first++;
    const int alike = dpf_additive_alike(blocks, scale, grid, &fewest);
    memset(&event, 0, sizeof(event));
    event.kind = claim->norm == DPF_NORM_L1 && exact && !alike ? DPF_EVENT_PURE : claim->kind;
    event.flags =
        (release->from_data ? DPF_EVENT_BOUNDS_FROM_DATA : 0) | (exact ? 0 : DPF_EVENT_FLOATING_POINT);
    event.lifetime = claim->lifetime;
    event.count = 1;
    event.side = release->side;
    event.blocks = blocks;
    event.scale = scale[first];
    event.grid = !exact ? 0 : alike ? grid[first] : scale[first] / fewest * (1 + 1e-15);
    event.p.pure.epsilon = event.kind == DPF_EVENT_PURE ? 1 / event.scale * (1 + 1e-15) : 0;
    for (int32_t u = 0; u < DPF_UNIT_ROWS; u++)
        for (int32_t a = 0; a < DPF_ADJACENCY_ROWS; a++)
            event.sensitivity.at[u][a] =
                additive_joint_norms(message, blocks, scale, grid, exact, event.scale, u, a);
    return event;
}

dpf_status dpf_additive_events(const dpf_host *host, const dpf_release *release, const dpf_noise_plan *plan,
                               const dpf_additive_claim *claim, dpf_event *out, int32_t capacity, int32_t *n)
{
    const int32_t n_blocks = release->query->n_blocks;
    const dpf_message_norms message = dpf_additive_message(release);
    double scale[DPF_BLOCK_BITS], grid[DPF_BLOCK_BITS];
    uint32_t joined = 0;
    *n = 0;
    if (capacity < n_blocks * (release->query->has_gram ? 2 : 1))
        return host->fail(host, DPF_E_INTERNAL, -1, "too many events in a release");
    const uint32_t noisy = dpf_additive_scales(release, plan, scale, grid);
    if (!claim->separate)
        joined = additive_joined(release, &message, noisy, claim->norm, claim->exact, scale, grid);
    if (joined)
        out[(*n)++] = additive_joint_event(release, &message, joined, scale, grid, claim);
    for (int32_t gram = 0; gram <= (release->query->has_gram ? 1 : 0); gram++)
        for (int32_t b = 0; b < n_blocks; b++)
            if (!(joined >> (b + (gram ? DPF_GRAM_BIT : 0)) & 1))
                out[(*n)++] = dpf_additive_event(release, plan, b, gram, claim);
    return DPF_OK;
}
