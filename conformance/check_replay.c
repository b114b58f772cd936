/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/check_replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- setups -------------------------------------------------------------------------------------------- */

static const struct replay_setup setups[] = {
    {"implicit feedback", REPLAY_MOST_USERS, 12, 0, 0, 0, 0, 1, 1, 1},
    {"implicit feedback with features", REPLAY_MOST_USERS, 12, 0, 1, 0, 0, 1, 1, 1.6},
    {"implicit feedback of few users", REPLAY_MOST_USERS, 12, 0, 0, 1, 0, 1, 1, 1},
    {"implicit feedback on many items", 8, REPLAY_MOST_ITEMS, 0, 0, 0, 0, 1, 1, 0.05},
    {"ratings", REPLAY_MOST_USERS, 12, 1, 0, 0, 0, 1, 5, 1},
    {"ratings with features", REPLAY_MOST_USERS, 12, 1, 1, 0, 0, 1, 5, 1.6},
    {"ratings of few users", REPLAY_MOST_USERS, 12, 1, 0, 1, 0, 1, 5, 1},
    {"ratings on many items", 8, REPLAY_MOST_ITEMS, 1, 0, 0, 0, 1, 5, 0.05},
    {"values without a range", REPLAY_MOST_USERS, 12, 1, 0, 0, 0, -(double)INFINITY, (double)INFINITY, 1},
    {"messages, implicit feedback", REPLAY_MOST_USERS, 12, 0, 0, 0, 1, 1, 1, 1},
    {"messages, ratings", REPLAY_MOST_USERS, 12, 1, 0, 0, 1, 1, 5, 1.6},
};

float replay_value(const struct replay_setup *setup, int step)
{
    static const float unranged[REPLAY_STEPS] = {-1e30F, -1e6F, -1, -0.5F, 0, 1, 3, 1e6F, 1e30F};
    if (!setup->has_values)
        return 1;
    return isfinite(setup->lo) ? (float)(setup->lo + (setup->hi - setup->lo) * step / (REPLAY_STEPS - 1))
                               : unranged[step];
}

/* ---- public features: a category and a number for each row --------------------------------------------- */

#define CATEGORIES 3

static int make_features(struct check *check, int64_t rows, dpf_features *out)
{
    static const dpf_feature_column columns[CATEGORIES + 1] = {
        {"kind=a", DPF_FEATURE_CATEGORY, 0, 0.4, 1, {0}},
        {"kind=b", DPF_FEATURE_CATEGORY, 0, 0.3, 1, {0}},
        {"kind=c", DPF_FEATURE_CATEGORY, 0, 0.3, 1, {0}},
        {"year", DPF_FEATURE_NUMBER, 1, 5, 3, {0}}};
    int64_t *offsets = check_keep(check, (size_t)(rows + 1) * sizeof *offsets);
    int32_t *at = check_keep(check, (size_t)(2 * rows) * sizeof *at);
    float *values = check_keep(check, (size_t)(2 * rows) * sizeof *values);
    if (!offsets || !at || !values)
        return -1;
    for (int64_t r = 0; r < rows; r++) {
        at[2 * r] = (int32_t)(r % CATEGORIES);
        at[2 * r + 1] = CATEGORIES;
        values[2 * r] = 1;
        values[2 * r + 1] = (float)(r * 7 % 11);
        offsets[r + 1] = 2 * r + 2;
    }
    *out = (dpf_features){.size = sizeof *out,
                          .n_fields = 2,
                          .rows = rows,
                          .columns = CATEGORIES + 1,
                          .offsets = offsets,
                          .at = at,
                          .values = values,
                          .column = columns};
    return 0;
}

/* ---- what is stated ------------------------------------------------------------------------------------ */

static void start_release(dpf_recommender_release *out)
{
    memset(out, 0, sizeof *out);
    out->event.count = 1;
    out->event.lifetime = DPF_LIFETIME_ROUND;
    out->event.sampling =
        (dpf_sampling){.unit = DPF_UNIT_USER, .hidden_from = -1, .rate = 1, .weight_max = 1};
    out->event.sensitivity = dpf_unstated();
}

int replay_state(struct replay *replay, int unit, int adjacency)
{
    struct dpf_error ignored = {0};
    replay->setup.unit = unit;
    replay->setup.adjacency = adjacency;
    for (int r = 0; r < DPF_MAX_RELEASES; r++)
        start_release(&replay->releases[r]);
    replay->n_releases = 0;
    const dpf_status status = replay->table->releases(
        replay->instance->self, &replay->setup, replay->releases, DPF_MAX_RELEASES, &replay->n_releases);
    if (instance_result(replay->instance, status, "releases", &ignored) != 0)
        return -1;
    return replay->n_releases >= 0 && replay->n_releases <= DPF_MAX_RELEASES ? 0 : -1;
}

int replay_law(const dpf_event *event, double *deviation)
{
    switch (event->kind) {
    case DPF_EVENT_LAPLACE:
    case DPF_EVENT_DISCRETE_LAPLACE:
        *deviation = sqrt(2.0) * event->scale;
        return 1;
    case DPF_EVENT_GAUSSIAN:
    case DPF_EVENT_DISCRETE_GAUSSIAN:
        *deviation = event->scale;
        return 1;
    case DPF_EVENT_SKELLAM:
        *deviation = sqrt(event->p.skellam.variance);
        return 1;
    default:
        return 0;
    }
}

/* ---- setups, one after the other ------------------------------------------------------------------------ */

static int open_replay(struct replay *replay, const struct replay_setup *how)
{
    struct check *check = replay->check;
    replay->how = *how;
    replay->setup = (dpf_recommender_setup){.size = sizeof replay->setup,
                                            .parties = DPF_PARTIES_USERS,
                                            .n_users = how->n_users,
                                            .n_items = how->n_items,
                                            .value_lo = how->lo,
                                            .value_hi = how->hi,
                                            .noise_factor = how->noise_factor,
                                            .item_features = how->features,
                                            .shares = how->sends ? how->n_users : 0};
    if (how->features && make_features(check, how->n_items, &replay->features) != 0)
        return -1;
    return replay_state(replay, DPF_UNIT_USER, DPF_ADJ_ZERO_OUT);
}

int replay_each(struct check *check, int sends, void (*look)(struct replay *replay))
{
    struct replay *replay = check_keep(check, sizeof *replay);
    struct instance *instance = replay ? check_instance(check) : NULL;
    int taken = 0, judged = 0;
    if (!instance)
        return 0;
    *replay = (struct replay){.check = check,
                              .instance = instance,
                              .table = instance->functions,
                              .flags = ((const dpf_recommender *)instance->functions)->flags(instance->self),
                              .worker = worker_new(0, 1)};
    for (size_t s = 0; s < sizeof setups / sizeof *setups && replay->worker && check->outcome != CHECK_FAIL;
         s++) {
        if (setups[s].sends != sends || open_replay(replay, &setups[s]) != 0)
            continue;
        taken++;
        look(replay);
        judged += check->outcome == CHECK_PASS;
        if (check->outcome == CHECK_SKIP)
            check->outcome = CHECK_PASS; /* other setups may be judged */
    }
    if (taken && !judged && check->outcome == CHECK_PASS)
        check->outcome = CHECK_SKIP;
    worker_free(replay->worker);
    replay_rekey(replay, 0);
    if (!taken && !sends)
        check_skip(check, "releases fails on the kit's inputs");
    return taken;
}

void replay_rekey(struct replay *replay, uint64_t key)
{
    struct dpf_error ignored = {0};
    struct random_root *root = key ? random_root_seeded(replay->check->seed + key, "noise", &ignored) : NULL;
    instance_rekey(replay->instance, root ? root : replay->check->privacy);
    random_root_free(replay->key);
    replay->key = root;
}

/* ---- data ---------------------------------------------------------------------------------------------- */

/* One user in thirteen has nothing, one has everything; the others have one to six records. */
static void fill_row(const struct replay_setup *how, struct check_source *source, int32_t user, float *row)
{
    const int kind = user % 13;
    for (int32_t i = 0; i < how->n_items; i++)
        row[i] = (float)NAN;
    if (kind == 0 || (how->sparse && user % 17))
        return;
    for (int32_t i = 0; i < how->n_items && kind == 1; i++)
        row[i] = replay_value(how, (int)((user + i) % REPLAY_STEPS));
    for (int32_t k = 0; k < 1 + user % 6 && kind > 1; k++)
        row[check_next(source) % (uint64_t)how->n_items] =
            replay_value(how, (int)(check_next(source) % REPLAY_STEPS));
}

void replay_fill(struct replay *replay, struct replay_data *data)
{
    struct check_source source = {replay->check->seed};
    memset(data, 0, sizeof *data);
    data->n_users = replay->how.n_users;
    data->n_items = replay->how.n_items;
    for (int32_t u = 0; u < data->n_users; u++)
        fill_row(&replay->how, &source, u, replay_row(data, u));
    replay_index(replay, data);
}

void replay_index(const struct replay *replay, struct replay_data *data)
{
    int64_t n = 0, m = 0;
    int any = 0;
    for (int32_t u = 0; u < data->n_users; u++) {
        for (int32_t i = 0; i < data->n_items; i++)
            if (!isnan(data->cells[u * data->n_items + i])) {
                any |= data->user_voids[n] = data->voids[u * data->n_items + i];
                data->user_values[n] = data->cells[u * data->n_items + i];
                data->items[n++] = i;
            }
        data->user_offsets[u + 1] = n;
    }
    for (int32_t i = 0; i < data->n_items; i++) {
        for (int32_t u = 0; u < data->n_users; u++)
            if (!isnan(data->cells[u * data->n_items + i])) {
                data->item_voids[m] = data->voids[u * data->n_items + i];
                data->item_values[m] = data->cells[u * data->n_items + i];
                data->users[m++] = u;
            }
        data->item_offsets[i + 1] = m;
    }
    const int has_values = replay->how.has_values;
    data->records = (dpf_interactions){
        .size = sizeof data->records,
        .n_users = data->n_users,
        .n_items = data->n_items,
        .n = n,
        .by_user =
            {data->n_users, data->user_offsets, data->items, has_values ? data->user_values : NULL, {0}},
        .by_item =
            {data->n_items, data->item_offsets, data->users, has_values ? data->item_values : NULL, {0}},
        .item_features = replay->how.features ? &replay->features : NULL,
        .user_voids = any ? data->user_voids : NULL,
        .item_voids = any ? data->item_voids : NULL};
}

/* ---- plays --------------------------------------------------------------------------------------------- */

struct playing {
    const struct replay *replay;
    const struct replay_play *given;
    struct replay_play *out;
    int64_t n_users;
    int no_memory;
};

static int64_t keep_numbers(struct playing *p, const double *from, int64_t n)
{
    struct replay_play *out = p->out;
    if (!from)
        return -1;
    double *grown =
        memory_grow(out->numbers, &out->numbers_capacity, out->n_numbers + (size_t)n + 1, sizeof *grown);
    if (!grown) {
        p->no_memory = 1;
        return -1;
    }
    out->numbers = grown;
    memcpy(grown + out->n_numbers, from, (size_t)n * sizeof *grown);
    out->n_numbers += (size_t)n;
    return (int64_t)out->n_numbers - n;
}

static struct replay_told *keep_told(struct playing *p)
{
    struct replay_play *out = p->out;
    struct replay_told *grown = memory_grow(out->told, &out->told_capacity, out->n_told + 1, sizeof *grown);
    if (!grown) {
        p->no_memory = 1;
        return NULL;
    }
    out->told = grown;
    return &grown[out->n_told++];
}

/* The release of the given play at this place takes the place of what was told. */
static void hand_over(struct playing *p, size_t at, const dpf_witnessed *what)
{
    const struct replay_told *given = at < p->given->n_told ? &p->given->told[at] : NULL;
    if (!given || given->release != what->release || given->row != what->row || given->n != what->n) {
        p->out->strange = "after the same releases it makes others than before";
        return;
    }
    memcpy(what->numbers, p->given->numbers + given->seen, (size_t)what->n * sizeof(double));
}

static void hear(void *context, const dpf_witnessed *what)
{
    struct playing *p = context;
    const size_t at = p->out->n_told;
    if (what->release < 0 || what->release >= p->replay->n_releases || what->n < 0 || what->width < 1 ||
        what->row < 0 || what->row >= p->n_users + (what->row == 0) || (what->n && !what->numbers)) {
        p->out->strange = "it tells its witness of a release that it does not state, or of impossible sizes";
        return;
    }
    struct replay_told *told = keep_told(p);
    if (!told)
        return;
    *told =
        (struct replay_told){.release = what->release, .row = what->row, .n = what->n, .width = what->width};
    told->drawn = told->seen = keep_numbers(p, what->numbers, what->n);
    const int64_t exact = keep_numbers(p, what->exact, what->n),
                  scales = keep_numbers(p, what->scales, what->n);
    if (p->no_memory)
        return;
    told->exact = exact;
    told->scales = scales;
    if (!p->given)
        return;
    hand_over(p, at, what);
    told->seen = keep_numbers(p, what->numbers, what->n);
}

/* Every user's message, and what the server sees of them: all sums of the play that is given. */
static dpf_status sum_messages(void *context, dpf_user_sum *sum)
{
    struct playing *p = context;
    const size_t first = p->out->n_told;
    int64_t *message = memory_new((size_t)sum->n + 1, sizeof *message);
    double *numbers = memory_new((size_t)sum->n + 1, sizeof *numbers);
    dpf_status status = message && numbers ? DPF_OK : DPF_E_MEMORY;
    memset(sum->sums, 0, (size_t)sum->n * sizeof *sum->sums);
    for (int64_t u = 0; u < p->n_users && status == DPF_OK; u++) {
        memset(message, 0, (size_t)sum->n * sizeof *message);
        status = sum->message(sum->context, (uint32_t)u, 0, message);
        struct replay_told *told = keep_told(p);
        if (!told)
            break;
        *told = (struct replay_told){
            .release = sum->release, .row = u, .n = sum->n, .width = sum->n, .exact = -1, .scales = -1};
        for (int64_t i = 0; i < sum->n; i++)
            numbers[i] = (double)message[i];
        told->drawn = told->seen = keep_numbers(p, numbers, sum->n);
        const struct replay_play *from = p->given ? p->given : p->out;
        const size_t at = first + (size_t)u;
        if (p->no_memory || at >= from->n_told || from->told[at].n != sum->n ||
            from->told[at].release != sum->release) {
            p->out->strange = "after the same sums it asks for others than before";
            status = DPF_E_INTERNAL;
            break;
        }
        for (int64_t i = 0; i < sum->n; i++)
            sum->sums[i] += (int64_t)from->numbers[from->told[at].seen + i];
    }
    sum->survivors = p->n_users;
    free(message);
    free(numbers);
    return status;
}

static int make_room(const struct replay *replay, const struct replay_data *data, struct replay_play *out)
{
    uint64_t bytes = 0;
    struct dpf_error error = {0};
    const dpf_status status =
        replay->table->state_bytes(replay->instance->self, data->n_users, data->n_items, &bytes);
    if (instance_result(replay->instance, status, "state_bytes", &error) != 0)
        return check_fail(replay->check, "%.400s", error.text);
    if (!out->state || out->state_room != bytes) {
        free(out->state);
        out->state = memory_new((size_t)bytes + 1, 1);
        out->state_room = bytes;
    }
    if (!out->state)
        return check_fail(replay->check, "out of memory");
    memset(out->state, 0, (size_t)bytes);
    return 0;
}

int replay_run(struct replay *replay, const struct replay_data *data, int watched,
               const struct replay_play *given, struct replay_play *out)
{
    struct dpf_error error = {0};
    struct playing playing = {replay, given, out, data->n_users, 0};
    const dpf_witness witness = {&playing, hear};
    const dpf_summing summing = {&playing, sum_messages};
    out->n_told = out->n_numbers = 0;
    out->strange = NULL;
    out->error[0] = '\0';
    if (make_room(replay, data, out) != 0)
        return -1;
    dpf_fit fit = {.size = sizeof fit,
                   .setup = &replay->setup,
                   .records = &data->records,
                   .state = out->state,
                   .state_bytes = out->state_room,
                   .witness = watched && !replay->how.sends ? &witness : NULL,
                   .summing = replay->how.sends ? &summing : NULL};
    dpf_call *call = worker_call(replay->worker, replay->instance, 0, 0, DPF_PARTY_AGGREGATE);
    out->status = replay->table->fit(replay->instance->self, call, &fit);
    out->used = fit.state_bytes;
    if (instance_result(replay->instance, out->status, "fit", &error) != 0)
        snprintf(out->error, sizeof out->error, "%.290s", error.text);
    if (playing.no_memory)
        return check_fail(replay->check, "out of memory");
    if (out->status == DPF_OK && out->used > out->state_room)
        return check_fail(replay->check, "fit used more than state_bytes");
    return 0;
}

void replay_free(struct replay_play *play)
{
    free(play->told);
    free(play->numbers);
    free(play->state);
    *play = (struct replay_play){0};
}
