/* SPDX-License-Identifier: Apache-2.0 */
/* specimen_recommender.h - popularity with noise: an item's score is its number of records, for everybody. */
#ifndef DPF_TESTS_SPECIMEN_RECOMMENDER_H
#define DPF_TESTS_SPECIMEN_RECOMMENDER_H

#include "specimen_role.h"

#ifndef RELEASES
#define RELEASES 1
#endif
#ifndef NOISE_ROW
#define NOISE_ROW(WORKER, ITEM) ((uint32_t)(ITEM))
#endif
#ifndef NOISE
#define NOISE(RANDOM, CURSOR, SCALE, OUT) (RANDOM)->discrete_laplace(CURSOR, SCALE, OUT, 1)
#endif
#ifndef WITHOUT_NOISE
#define WITHOUT_NOISE(SETUP) ((SETUP)->without_noise)
#endif
#ifndef IS_STATE
#define IS_STATE(SIZE_FITS, FINITE) ((SIZE_FITS) && (FINITE))
#endif
#ifndef FLAGS
#define FLAGS DPF_RECOMMENDER_STATE_RELEASED
#endif
#ifndef TELLS
#define TELLS RELEASES
#endif
#ifndef EXACT
#define EXACT(SEEN, EXACT) (EXACT)
#endif
#ifndef OF_VOID
#define OF_VOID 0 /* what a void record counts */
#endif
#ifndef BONUS
#define BONUS(SCORING) 0.0F
#endif

static uint64_t scale_of(const dpf_recommender_setup *setup)
{
    return (uint64_t)ceil(4 * setup->noise_factor);
}

static uint32_t flags(void *self)
{
    (void)self;
    return FLAGS;
}

static dpf_status releases(void *self, const dpf_recommender_setup *setup, dpf_recommender_release *out,
                           int32_t capacity, int32_t *n)
{
    (void)self, (void)capacity;
    *n = RELEASES;
    out->noise_where = WITHOUT_NOISE(setup) ? DPF_NOISE_NOWHERE : DPF_NOISE_AT_SUM;
    out->sees = DPF_SEES_SUM;
    strcpy(out->name, "counts");
    out->event.side = DPF_SIDE_ITEMS;
    out->event.kind = WITHOUT_NOISE(setup) ? DPF_EVENT_NON_PRIVATE : DPF_EVENT_DISCRETE_LAPLACE;
    out->event.scale = (double)scale_of(setup);
    out->event.grid = 1;
    out->event.sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_FLIP] = (dpf_norms){1, 1, 1};
    out->event.sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_ZERO_OUT] = (dpf_norms){1, 1, 1};
    return DPF_OK;
}

static dpf_status state_bytes(void *self, int64_t n_users, int64_t n_items, uint64_t *bytes)
{
    (void)self, (void)n_users;
    *bytes = (uint64_t)n_items * sizeof(float);
    return DPF_OK;
}

struct counting {
    struct specimen *specimen;
    dpf_fit *fit;
    double *seen, *exact; /* of each item */
};

static void count_item(void *context, int64_t item, int32_t worker)
{
    const struct counting *counting = context;
    const dpf_random_service *random = dpf_random(counting->specimen->host);
    const int64_t *offsets = counting->fit->records->by_item.offsets;
    const uint8_t *voids = dpf_item_voids(counting->fit->records);
    dpf_cursor cursor;
    int64_t noise = 0;
    (void)worker;
    random->seek(counting->specimen->stream, 0, DPF_PARTY_AGGREGATE, NOISE_ROW(worker, item), &cursor);
    if (!counting->fit->setup->without_noise)
        NOISE(random, &cursor, scale_of(counting->fit->setup), &noise);
    counting->exact[item] = 0;
    for (int64_t i = offsets[item]; i < offsets[item + 1]; i++)
        counting->exact[item] += voids && voids[i] ? OF_VOID : 1;
    counting->seen[item] = counting->exact[item] + (double)noise;
}

static dpf_status fit(void *self, const dpf_call *call, dpf_fit *what)
{
    const int64_t n = what->records->n_items;
    double *seen = call->scratch(call, (uint64_t)(2 * n + 2) * sizeof *seen);
    struct counting counting = {self, what, seen, seen + n};
    if (!seen)
        return DPF_E_MEMORY;
    dpf_run_tasks(call, n, count_item, &counting);
    const dpf_witnessed told = {
        .size = sizeof told, .n = n, .width = 1, .numbers = seen, .exact = EXACT(seen, counting.exact)};
    if (TELLS && dpf_fit_witness(what))
        what->witness->saw(what->witness->context, &told);
    for (int64_t i = 0; i < n; i++)
        ((float *)what->state)[i] = (float)seen[i];
    return DPF_OK;
}

static dpf_status check(void *self, int64_t n_users, int64_t n_items, const void *state, uint64_t bytes)
{
    const int size_fits = bytes == (uint64_t)n_items * sizeof(float);
    int all_finite = 1;
    (void)self, (void)n_users;
    for (int64_t i = 0; size_fits && i < n_items; i++)
        all_finite &= isfinite(((const float *)state)[i]) != 0;
    return IS_STATE(size_fits, all_finite) ? DPF_OK : DPF_E_RANGE;
}

static dpf_status scores(void *self, const dpf_call *call, const dpf_scoring *scoring)
{
    (void)self, (void)call;
    for (int64_t i = 0; i < scoring->records->n_items; i++)
        scoring->scores[i] = ((const float *)scoring->state)[i] + BONUS(scoring);
    return DPF_OK;
}

static const dpf_recommender functions = {flags, releases, state_bytes, fit, check, scores, NULL, {NULL}};
SPECIMEN_OF(DPF_ROLE_RECOMMENDER, functions)

#endif
