/* SPDX-License-Identifier: Apache-2.0 */
/* specimen_mechanism.h - discrete Laplace noise at the party, of which a bad plugin overrides parts. */
#ifndef DPF_TESTS_SPECIMEN_MECHANISM_H
#define DPF_TESTS_SPECIMEN_MECHANISM_H

#include "specimen_role.h"

#define GRID 0x1p-16
#ifndef STATED_VARIANCE
#define STATED_VARIANCE(SCALE) (2 * (SCALE) * (SCALE))
#endif
#ifndef NOISE_ROW
#define NOISE_ROW(ROW) (ROW)
#endif
#ifndef BLOCK
#define BLOCK(B) (B)
#endif
#ifndef REFUSES
#define REFUSES(X) (!(fabs(X) < 1e9))
#endif
#ifndef ESTIMATE
#define ESTIMATE(SUM) ((double)(SUM)*GRID)
#endif
#ifndef SCALE_OF
#define SCALE_OF(SENSITIVITY) (SENSITIVITY)
#endif
#ifndef KNOWN
#define KNOWN(SENSITIVITY) isfinite(SENSITIVITY)
#endif
#ifndef STATED_EVENT
#define STATED_EVENT(SCALE, L1)                                                                              \
    {                                                                                                        \
        .kind = DPF_EVENT_DISCRETE_LAPLACE, .count = 1, .scale = (SCALE), .grid = GRID                       \
    }
#endif
#ifndef LAST_BLOCK
#define LAST_BLOCK(N) (N)
#endif
#ifndef EVENT_SENSITIVITY
#define EVENT_SENSITIVITY(SENSITIVITY) ((SENSITIVITY) + 64 * GRID)
#endif

static int32_t lifetime(void *self)
{
    (void)self;
    return DPF_LIFETIME_ROUND;
}

static double budget(void *self)
{
    (void)self;
    return 1;
}

static dpf_status plan(void *self, const dpf_release *release, dpf_noise_plan *out)
{
    (void)self;
    if (release->query->has_gram)
        return DPF_E_UNSUPPORTED;
    out->where = DPF_NOISE_AT_PARTY;
    out->n_blocks = release->query->n_blocks;
    for (int b = 0; b < LAST_BLOCK(out->n_blocks); b++) {
        double sensitivity =
            release->blocks[b < out->n_blocks ? b : 0].at[release->unit][release->adjacency].l1;
        if (!KNOWN(sensitivity))
            return DPF_E_PRIVACY;
        out->grid[b] = GRID;
        out->scale[b] = ceil(SCALE_OF(fmin(sensitivity, 1e3)) / GRID) * GRID;
        out->variance[b] = STATED_VARIANCE(out->scale[b]) * (double)release->n_parties;
    }
    return DPF_OK;
}

static dpf_status events(void *self, const dpf_release *release, const dpf_noise_plan *noise, dpf_event *out,
                         int32_t capacity, int32_t *n)
{
    const int32_t n_blocks = release->query->n_blocks;
    (void)self, (void)noise;
    if (capacity < n_blocks)
        return DPF_E_INTERNAL;
    for (int b = 0; b < n_blocks; b++) {
        out[b] = (dpf_event)STATED_EVENT(noise->scale[b],
                                         (release->blocks[b].at[release->unit][release->adjacency].l1));
        out[b].lifetime = DPF_LIFETIME_ROUND;
        out[b].blocks = UINT32_C(1) << b;
        for (int u = 0; u < DPF_N_UNITS; u++)
            for (int a = 0; a < DPF_N_ADJACENCIES; a++)
                out[b].sensitivity.at[u][a].l1 = out[b].sensitivity.at[u][a].l2 =
                    EVENT_SENSITIVITY(release->blocks[b].at[u][a].l1);
    }
    *n = n_blocks;
    return DPF_OK;
}

static dpf_status encode(void *self, const dpf_call *call, const dpf_noise_plan *noise,
                         const dpf_query *query, const double *values, int64_t stride, dpf_encoded *out)
{
    const struct specimen *specimen = self;
    const dpf_random_service *random = dpf_random(specimen->host);
    int64_t drawn[64];
    if (query->width > 64)
        return DPF_E_UNSUPPORTED;
    for (int64_t r = 0; r < out->n_rows; r++) {
        dpf_cursor cursor;
        uint32_t row = (uint32_t)(out->rows ? out->rows[r] : out->first_row + r);
        random->seek(specimen->stream, call->draw, call->party, NOISE_ROW(row), &cursor);
        for (int b = 0; b < query->n_blocks; b++) {
            const dpf_block *block = &query->blocks[b];
            uint64_t scale = (uint64_t)(noise->scale[BLOCK(b)] / GRID);
            dpf_status status =
                random->discrete_laplace(&cursor, scale, drawn + block->offset, block->length);
            if (status != DPF_OK)
                return status;
        }
        for (int32_t i = 0; i < query->width; i++) {
            double x = values[r * stride + i];
            if (REFUSES(x))
                return DPF_E_RANGE;
            out->values[r * out->stride + i] = (int64_t)(fmax(fmin(x, 1e9), -1e9) / GRID) + drawn[i];
        }
    }
    return DPF_OK;
}

static dpf_status decode(void *self, const dpf_call *call, const dpf_noise_plan *noise,
                         const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride)
{
    (void)self, (void)call, (void)noise;
    for (int64_t r = 0; r < sums->n_rows; r++)
        for (int32_t i = 0; i < query->width; i++)
            out[r * stride + i] = ESTIMATE(sums->values[r * sums->stride + i]);
    return DPF_OK;
}

static const dpf_mechanism functions = {.lifetime = lifetime,
                                        .budget = budget,
                                        .plan = plan,
                                        .events = events,
                                        .encode = encode,
                                        .decode = decode};
SPECIMEN_OF(DPF_ROLE_MECHANISM, functions)

#endif
