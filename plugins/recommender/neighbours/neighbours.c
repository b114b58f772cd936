/* SPDX-License-Identifier: Apache-2.0 */
#include "neighbours.h"

#include <math.h>
#include <string.h>

#include "bit_columns.h"

const dpf_enum_value neighbours_histories[2] = {
    {"own", "the records themselves, at the user's home: joint DP"},
    {"reported", "the reported bits, at the server, which has nothing else"},
};

/* ---- instances ------------------------------------------------------------------------------------------
 */

/* Below this difference of keep and invent, what is left of a bit drowns in rounding. */
#define LEAST_DIFFERENCE 0x1p-20

dpf_status neighbours_new(const dpf_host *host, const struct neighbours *settings, int32_t param_epsilon,
                          void **self)
{
    struct bit_response response;
    bit_response_plan(settings->epsilon, settings->keep, &response);
    if (!(response.keep - response.invent > LEAST_DIFFERENCE))
        return host->fail(host, DPF_E_CONFIG, param_epsilon,
                          "a 1 is reported as 1 hardly more often than a 0: raise epsilon, or lower keep");
    const dpf_random_service *random = dpf_random(host);
    dpf_stream *stream;
    dpf_status status = random->open(host, "response", &stream);
    if (status != DPF_OK)
        return status;
    struct neighbours *made = *self;
    *made = *settings;
    made->host = host;
    made->random = random;
    made->stream = stream;
    return DPF_OK;
}

static uint32_t neighbours_flags(void *self)
{
    return DPF_RECOMMENDER_STATE_RELEASED | DPF_RECOMMENDER_ALWAYS_ENDS | DPF_RECOMMENDER_SUMS_USERS |
           (((struct neighbours *)self)->history == HISTORY_OWN ? DPF_RECOMMENDER_SCORES_AT_HOME : 0);
}

/* ---- what is released -----------------------------------------------------------------------------------
 */

/* In bits that change; see neighbours.h. */
static void state_sensitivity(int64_t n_items, dpf_sensitivity *sensitivity)
{
    const double all = (double)n_items;
    const dpf_norms bit = {1.0, 1.0, 1.0}, bits = {all, sqrt(all), 1.0};
    dpf_norms *record = sensitivity->at[DPF_UNIT_RECORD], *user = sensitivity->at[DPF_UNIT_USER];
    record[DPF_ADJ_FLIP] = record[DPF_ADJ_ADD_REMOVE] = record[DPF_ADJ_ZERO_OUT] = bit;
    user[DPF_ADJ_REPLACE] = user[DPF_ADJ_ADD_REMOVE] = user[DPF_ADJ_ZERO_OUT] = bits;
}

static dpf_status neighbours_releases(void *instance, const dpf_recommender_setup *setup,
                                      dpf_recommender_release *out, int32_t capacity, int32_t *n)
{
    const struct neighbours *self = instance;
    struct bit_response response;
    if (capacity < 1)
        return self->host->fail(self->host, DPF_E_INTERNAL, -1, "there is no room for a release");
    if (!(setup->value_lo == 1.0 && setup->value_hi == 1.0))
        return self->host->fail(
            self->host, DPF_E_CONFIG, -1,
            "it reads which items a user has, not ratings: set [data] feedback = implicit");
    bit_response_plan(self->epsilon / setup->noise_factor, self->keep, &response);
    if (setup->without_noise)
        response = (struct bit_response){.silent = 1, .keep = 1.0};
    else if (!(response.keep - response.invent > LEAST_DIFFERENCE))
        return self->host->fail(self->host, DPF_E_RANGE, -1,
                                "epsilon is too small: the reported bits would be noise alone");
    dpf_event *event = &out->event;
    out->flags = DPF_RELEASE_ROW_OF_USER | DPF_RELEASE_SENT_BY_USERS | DPF_RELEASE_NOISE_BY_USERS;
    out->reads = DPF_READS_CONSTANTS;
    out->noise_where = response.silent ? DPF_NOISE_NOWHERE : DPF_NOISE_AT_PARTY;
    out->sees = DPF_SEES_MESSAGES;
    memcpy(out->name, "reported bits", sizeof "reported bits");
    event->side = DPF_SIDE_USERS;
    event->lifetime = DPF_LIFETIME_RUN; /* one draw for the one release of a run */
    event->count = 1;
    state_sensitivity(setup->n_items, &event->sensitivity);
    bit_response_event(&response, event);
    *n = 1;
    return DPF_OK;
}

/* ---- the state --------------------------------------------------------------------------------------------
 */

static uint64_t round_up_64(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

uint64_t neighbours_state_size(const struct neighbours *self, int64_t n_users, int64_t n_items)
{
    const int64_t slots = neighbours_slots(self, n_items);
    const double lists_of_all = (double)n_items * (double)slots,
                 rows = (double)n_users * (double)bit_words(n_items);
    if (n_users < 0 || n_items < 0 || lists_of_all + rows > 0x1p58)
        return 0;
    const uint64_t lists = round_up_64((uint64_t)(n_items * slots) * sizeof(int32_t));
    uint64_t bytes = sizeof(struct neighbours_header) + 2 * lists;
    if (self->history == HISTORY_REPORTED)
        bytes += (uint64_t)(n_users * bit_words(n_items)) * sizeof(uint64_t);
    return bytes;
}

struct neighbours_state neighbours_state_at(const struct neighbours *self, int64_t n_users, int64_t n_items,
                                            void *state)
{
    unsigned char *at = state;
    const uint64_t lists =
        round_up_64((uint64_t)(n_items * neighbours_slots(self, n_items)) * sizeof(int32_t));
    struct neighbours_state out = {.header = state};
    (void)n_users;
    at += sizeof(struct neighbours_header);
    out.items = (int32_t *)(void *)at;
    out.similarities = (float *)(void *)(at + lists);
    if (self->history == HISTORY_REPORTED)
        out.rows = (uint64_t *)(void *)(at + 2 * lists);
    return out;
}

static dpf_status neighbours_state_bytes(void *instance, int64_t n_users, int64_t n_items, uint64_t *bytes)
{
    const struct neighbours *self = instance;
    *bytes = neighbours_state_size(self, n_users, n_items);
    return *bytes ? DPF_OK : self->host->fail(self->host, DPF_E_RANGE, -1, "too many items and neighbours");
}

static dpf_status neighbours_form(void *instance, const dpf_call *call, int64_t n_users, int64_t n_items,
                                  const void *bytes, dpf_form *out)
{
    const struct neighbours *self = instance;
    const int64_t slots = neighbours_slots(self, n_items);
    const struct neighbours_state s = neighbours_state_at(self, n_users, n_items, (void *)(uintptr_t)bytes);
    const dpf_array all[] = {
        {.name = "neighbours", .type = DPF_ARRAY_I4, .rows = n_items, .columns = slots, .data = s.items},
        {.name = "similarities",
         .type = DPF_ARRAY_F4,
         .rows = n_items,
         .columns = slots,
         .data = s.similarities},
        {.name = "reported",
         .type = DPF_ARRAY_U1,
         .rows = n_users,
         .columns = 8 * bit_words(n_items),
         .data = s.rows}};
    dpf_array *arrays = call->scratch(call, sizeof all);
    if (!arrays)
        return self->host->fail(self->host, DPF_E_MEMORY, -1, "out of memory");
    memcpy(arrays, all, sizeof all);
    out->formula = "neighbours/1";
    out->n_arrays = s.rows ? 3 : 2;
    out->arrays = arrays;
    return DPF_OK;
}

const dpf_recommender neighbours_recommender = {
    .flags = neighbours_flags,
    .releases = neighbours_releases,
    .state_bytes = neighbours_state_bytes,
    .fit = neighbours_fit,
    .form = neighbours_form,
};
