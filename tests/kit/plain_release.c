/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_release.h"

dpf_sensitivity plain_sensitivity(double l1, double l2)
{
    dpf_sensitivity s;

    for (int u = 0; u < DPF_N_UNITS; u++)
        for (int a = 0; a < DPF_N_ADJACENCIES; a++)
            s.at[u][a] = (dpf_norms){l1, l2, l2};
    return s;
}

void plain_release_bound(struct plain_release *r, int block, double l1, double l2)
{
    r->blocks[block] = plain_sensitivity(l1, l2);
}

static void plain_release_block(struct plain_release *r, int32_t kind, int32_t length)
{
    dpf_block *block = &r->query.blocks[r->query.n_blocks];

    block->kind = kind;
    block->layout = kind == DPF_BLOCK_QUADRATIC ? DPF_LAYOUT_PACKED : 0;
    block->offset = r->query.width;
    block->length = length;
    r->query.width += length;
    plain_release_bound(r, r->query.n_blocks, 1, 1);
    r->gram[r->query.n_blocks++] = plain_sensitivity(0, 0);
}

static void plain_release_empty(struct plain_release *r, int32_t dimension, int64_t rows)
{
    static const dpf_joint_norms none = {.size = sizeof none};

    memset(r, 0, sizeof(*r));
    r->query.size = sizeof(r->query);
    r->query.dimension = dimension;
    r->release.size = sizeof(r->release);
    r->release.side = DPF_SIDE_ITEMS;
    r->release.query = &r->query;
    r->release.rows = rows;
    r->release.unit = DPF_UNIT_RECORD;
    r->release.adjacency = DPF_ADJ_REPLACE_VALUE;
    r->release.blocks = r->blocks;
    r->release.joint = &none;
    r->release.n_parties = 1;
    r->release.min_honest = 1;
    r->release.noise_factor = 1;
}

void plain_release_init(struct plain_release *r, int32_t dimension, int64_t rows)
{
    plain_release_empty(r, dimension, rows);
    r->query.form = DPF_FORM_QUADRATIC;
    plain_release_block(r, DPF_BLOCK_QUADRATIC, dpf_packed_length(dimension));
    plain_release_block(r, DPF_BLOCK_LINEAR, dimension);
    plain_release_block(r, DPF_BLOCK_COUNT, 1);
}

void plain_release_gradient(struct plain_release *r, int32_t dimension, int64_t rows)
{
    plain_release_empty(r, dimension, rows);
    r->query.form = DPF_FORM_GRADIENT;
    plain_release_block(r, DPF_BLOCK_GRADIENT, dimension);
}

void plain_release_share(struct plain_release *r, double l1, double l2)
{
    r->query.has_gram = 1;
    r->release.rows++;
    r->release.gram = r->gram;
    for (int b = 0; b < r->query.n_blocks; b++)
        r->gram[b] = plain_sensitivity(l1, l2);
}

dpf_encoded plain_integers(const struct plain_release *r, int64_t *values)
{
    return (dpf_encoded){.size = sizeof(dpf_encoded),
                         .width = r->query.width,
                         .n_rows = r->release.rows,
                         .total_rows = r->release.rows,
                         .values = values,
                         .stride = r->query.width,
                         .survivors = 1};
}

int32_t plain_plan(struct plain_host *host, const struct plain_release *r, dpf_noise_plan *plan,
                   dpf_event events[2 * DPF_MAX_BLOCKS])
{
    const dpf_mechanism *mechanism = host->component->functions;
    int32_t n = 0;

    memset(plan, 0, sizeof(*plan));
    plan->size = sizeof(*plan);
    if (mechanism->plan(host->self, &r->release, plan) != DPF_OK)
        fail_msg("plan: %s", host->report);
    if (mechanism->events(host->self, &r->release, plan, events, 2 * DPF_MAX_BLOCKS, &n) != DPF_OK)
        fail_msg("events: %s", host->report);
    return n;
}

int plain_is_power_of_two(double x)
{
    int exponent;

    return x > 0 && frexp(x, &exponent) == 0.5;
}
