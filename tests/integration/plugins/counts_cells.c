/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recommender whose state is, for each item, how many cells it has and the sum of their values. It shows who rated
 * what, and says so; whether it says that it reads which records are void is its parameter.
 */
#include "stateless.h"

static const dpf_enum_value answers[] = {{"no", "It says nothing."}, {"yes", "It says that it does."}};
static const dpf_param params[] = {DPF_PARAM_ENUM_F("reads-voids", 0, answers, 0, "Whether it says so.")};

static uint32_t flags(void *self)
{
    return DPF_RECOMMENDER_STATE_RELEASED | DPF_RECOMMENDER_ALWAYS_ENDS |
           (((struct stateless *)self)->first ? DPF_RECOMMENDER_READS_VOIDS : 0);
}

static dpf_status releases(void *self, const dpf_recommender_setup *setup, dpf_recommender_release *out,
                           int32_t capacity, int32_t *n)
{
    (void)self;
    (void)setup;
    (void)capacity;
    out->flags = DPF_RELEASE_OBSERVED_ONLY | DPF_RELEASE_READS_DEGREES;
    out->reads = DPF_READS_CONSTANTS;
    out->noise_where = DPF_NOISE_AT_SUM;
    out->sees = DPF_SEES_SUM;
    strcpy(out->name, "sums of items");
    out->event.kind = DPF_EVENT_DISCRETE_GAUSSIAN;
    out->event.side = DPF_SIDE_ITEMS;
    out->event.lifetime = DPF_LIFETIME_RUN;
    out->event.count = 1;
    out->event.scale = 100;
    out->event.grid = 1;
    for (int32_t a = 0; a < DPF_N_ADJACENCIES; a++)
        out->event.sensitivity.at[DPF_UNIT_RECORD][a] = (dpf_norms){5, 5, 5};
    *n = 1;
    return DPF_OK;
}

static dpf_status state_bytes(void *self, int64_t n_users, int64_t n_items, uint64_t *bytes)
{
    (void)self;
    (void)n_users;
    *bytes = 2 * (uint64_t)n_items * sizeof(double);
    return DPF_OK;
}

static dpf_status fit(void *self, const dpf_call *call, dpf_fit *fit)
{
    const dpf_csr *csr = &fit->records->by_item;
    const uint8_t *voids = dpf_item_voids(fit->records);
    double *state = fit->state;
    (void)self;
    (void)call;
    for (int64_t item = 0; item < csr->rows; item++)
        for (int64_t i = csr->offsets[item]; i < csr->offsets[item + 1]; i++) {
            state[2 * item]++;
            if (!voids || !voids[i])
                state[2 * item + 1] += csr->values ? (double)csr->values[i] : 1;
        }
    return DPF_OK;
}

static dpf_status check(void *self, int64_t n_users, int64_t n_items, const void *state, uint64_t bytes)
{
    (void)self;
    (void)n_users;
    (void)state;
    return bytes == 2 * (uint64_t)n_items * sizeof(double) ? DPF_OK : DPF_E_RANGE;
}

static dpf_status scores(void *self, const dpf_call *call, const dpf_scoring *scoring)
{
    (void)self;
    (void)call;
    for (int64_t item = 0; item < scoring->records->n_items; item++)
        scoring->scores[item] = (float)((const double *)scoring->state)[2 * item + 1];
    return DPF_OK;
}

static const dpf_recommender functions = {.flags = flags,
                                          .releases = releases,
                                          .state_bytes = state_bytes,
                                          .fit = fit,
                                          .check = check,
                                          .scores = scores};

STATELESS_PLUGIN(DPF_ROLE_RECOMMENDER, "test-counts-cells", params, 1, functions)
