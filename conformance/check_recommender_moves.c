/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recommender.witness, recommender.moves and recommender.voids: every user of small data sets leaves, comes, and changes in many
 * ways, and the training is played again with the same releases. Then nothing but one unit's records differs:
 *
 *  - each release moves by at most what its event states for that unit and adjacency, in the norm that counts;
 *  - its noise stays the same to the last digit, and so do the sizes of the noise;
 *  - the released state has the same bytes, for it follows from releases alone.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "conformance/check_replay.h"
#include "dpframe/accounting.h"

/* ---- the witness --------------------------------------------------------------------------------------- */

static int is_private(const dpf_recommender_release *release)
{
    return release->event.kind != DPF_EVENT_NON_PRIVATE && release->event.count > 0;
}

static int states_privacy(const struct replay *replay)
{
    int any = 0;
    for (int32_t r = 0; r < replay->n_releases; r++)
        any |= is_private(&replay->releases[r]);
    return any;
}

/* How often each release was told to the row that heard it most. */
static void count_told(const struct replay_play *play, int64_t most[DPF_MAX_RELEASES])
{
    memset(most, 0, DPF_MAX_RELEASES * sizeof *most);
    for (size_t k = 0; k < play->n_told; k++) {
        const struct replay_told *told = &play->told[k];
        int64_t times = 1;
        for (size_t j = 0; j < k; j++)
            times += play->told[j].release == told->release && play->told[j].row == told->row;
        if (times > most[told->release])
            most[told->release] = times;
    }
}

static void judge_numbers(struct replay *replay, const struct replay_play *play,
                          const struct replay_told *told)
{
    struct check *check = replay->check;
    const dpf_recommender_release *release = &replay->releases[told->release];
    if (told->exact < 0 && is_private(release)) {
        check_fail(check, "%s: the witness is not told what \"%s\" is without noise (dpf_witnessed.exact)",
                   replay->how.name, release->name);
        return;
    }
    if (told->width < 1 || told->n % told->width)
        check_fail(check, "%s: %lld numbers of \"%s\" are not rows of %lld", replay->how.name,
                   (long long)told->n, release->name, (long long)told->width);
    for (int64_t i = 0; i < told->n; i++) {
        const double drawn = replay_at(play, told->drawn)[i],
                     exact = told->exact < 0 ? 0 : replay_at(play, told->exact)[i],
                     scale = told->scales < 0 ? 1 : replay_at(play, told->scales)[i];
        if (!isfinite(drawn) || !isfinite(exact) || !(scale >= 0) || isinf(scale)) {
            check_fail(check, "%s: number %lld of \"%s\" is %g with noise, %g without, of scale %g",
                       replay->how.name, (long long)i, release->name, drawn, exact, scale);
            return;
        }
        if (scale == 0 && is_private(release) && (drawn < exact || drawn > exact)) {
            check_fail(check, "%s: number %lld of \"%s\" is told to be a constant %g, and released as %g",
                       replay->how.name, (long long)i, release->name, exact, drawn);
            return;
        }
    }
}

static void judge_told(struct replay *replay, const struct replay_play *play)
{
    struct check *check = replay->check;
    int64_t most[DPF_MAX_RELEASES];
    count_told(play, most);
    for (int32_t r = 0; r < replay->n_releases; r++) {
        const dpf_recommender_release *release = &replay->releases[r];
        if (most[r] > release->event.count)
            check_fail(check, "%s: \"%s\" is released %lld times, its event counts %lld", replay->how.name,
                       release->name, (long long)most[r], (long long)release->event.count);
        if (most[r] == 0 && is_private(release) && !replay->how.sparse)
            check_fail(check,
                       "%s: the witness is never told of \"%s\" (dpf_fit_witness): what leaves, with noise "
                       "and without, "
                       "cannot be compared with what is stated",
                       replay->how.name, release->name);
    }
    for (size_t k = 0; k < play->n_told && check->outcome != CHECK_FAIL; k++)
        judge_numbers(replay, play, &play->told[k]);
}

static int same_state(const struct replay_play *a, const struct replay_play *b)
{
    return a->used == b->used && memcmp(a->state, b->state, (size_t)a->used) == 0;
}

static void look_witness(struct replay *replay)
{
    struct check *check = replay->check;
    struct replay_play told = {0}, untold = {0};
    struct replay_data *data = check_keep(check, sizeof *data);
    if (data && states_privacy(replay)) {
        replay_fill(replay, data);
        if (replay_run(replay, data, 1, NULL, &told) == 0 &&
            replay_run(replay, data, 0, NULL, &untold) == 0) {
            if (told.status != DPF_OK || told.strange)
                check_fail(check, "%s: %s", replay->how.name, told.strange ? told.strange : told.error);
            else
                judge_told(replay, &told);
            if (check->outcome != CHECK_FAIL && (untold.status != DPF_OK || !same_state(&told, &untold)))
                check_fail(check, "%s: the state is another one when nobody is told", replay->how.name);
        }
    } else if (data)
        check_skip(check, "no release states privacy");
    replay_free(&told);
    replay_free(&untold);
}

void check_rule_witness(struct check *check)
{
    replay_each(check, 0, look_witness);
}

/* ---- neighbours ---------------------------------------------------------------------------------------- */

/* What differs between the two plays, for messages. */
struct neighbour {
    int unit;
    const int *adjacencies; /* under which the two are neighbours; none: nothing may move */
    int n_adjacencies;
    int32_t user;
    int in_place; /* all others keep their places */
    char what[120];
};

struct brute_force {
    struct replay *replay;
    struct replay_data *data, *changed;
    struct replay_play base, again, unwatched, alone;
    int64_t tried; /* neighbours so far */
};

static double stated_move(const dpf_event *event, const struct neighbour *n, int32_t norm)
{
    double least = n->n_adjacencies > 0 ? (double)INFINITY : 0;
    if (event->kind == DPF_EVENT_NO_OP || (event->flags & DPF_EVENT_DATA_BLIND))
        return 0;
    for (int k = 0; k < n->n_adjacencies; k++) {
        const dpf_norms *norms = &event->sensitivity.at[n->unit][n->adjacencies[k]];
        least = fmin(least, norm == 1 ? norms->l1 : norms->l2); /* NaN states nothing */
    }
    return least;
}

static double moved(const struct replay_play *a, const struct replay_told *x, const struct replay_play *b,
                    const struct replay_told *y, int32_t norm)
{
    double sum = 0;
    for (int64_t i = 0; i < x->n; i++) {
        const double apart = fabs(replay_at(a, x->exact)[i] - replay_at(b, y->exact)[i]);
        const double scale = x->scales < 0 ? 1 : replay_at(a, x->scales)[i];
        const double steps = apart > 0 ? apart / scale : 0;
        sum += norm == 1 ? steps : steps * steps;
    }
    return norm == 1 ? sum : sqrt(sum);
}

static const char *judge_move(const struct brute_force *f, const struct neighbour *n, size_t k)
{
    static char text[400];
    const struct replay_told *x = &f->base.told[k], *y = &f->again.told[k];
    const dpf_recommender_release *release = &f->replay->releases[x->release];
    const dpf_event *event = &release->event;
    const int both = event->kind == DPF_EVENT_SKELLAM;
    if (event->kind == DPF_EVENT_NON_PRIVATE || event->kind == DPF_EVENT_UNSUPPORTED ||
        event->kind == DPF_EVENT_PURE || event->kind == DPF_EVENT_APPROX || event->kind == DPF_EVENT_ZCDP)
        if (!(event->flags & DPF_EVENT_DATA_BLIND))
            return NULL; /* no promise, or one about a norm of its own: recommender.privacy */
    for (int32_t norm = 1; norm <= 2; norm++) {
        if (!both && norm != (dpf_event_norm(event->kind) == 2 ? 2 : 1))
            continue;
        const double stated = stated_move(event, n, norm), seen = moved(&f->base, x, &f->again, y, norm);
        if (!(seen > stated * (1 + 1e-9)))
            continue;
        snprintf(text, sizeof text, "\"%s\" moves by %.6g (L%d), its event states %.6g", release->name, seen,
                 (int)norm, stated);
        return text;
    }
    return NULL;
}

/* The same noise: what was drawn follows from key and index alone. */
static const char *judge_noise(const struct brute_force *f, const struct neighbour *n, size_t k)
{
    static char text[400];
    const struct replay_told *x = &f->base.told[k], *y = &f->again.told[k];
    const dpf_recommender_release *release = &f->replay->releases[x->release];
    const int flips = release->event.kind == DPF_EVENT_RANDOMIZED_RESPONSE;
    double deviation = 0;
    if (!is_private(release) || (!flips && !replay_law(&release->event, &deviation)) ||
        (!n->in_place && (release->flags & (DPF_RELEASE_ROW_OF_USER | DPF_RELEASE_NOISE_BY_USERS))))
        return NULL;
    for (int64_t i = 0; i < x->n; i++) {
        const double first = replay_at(&f->base, x->drawn)[i] - replay_at(&f->base, x->exact)[i],
                     second = replay_at(&f->again, y->drawn)[i] - replay_at(&f->again, y->exact)[i],
                     scale = x->scales < 0 ? 1 : replay_at(&f->base, x->scales)[i];
        if (flips ? (fabs(first) > 0.5) == (fabs(second) > 0.5)
                  : fabs(first - second) <=
                        1e-6 * deviation * scale + 1e-12 * fabs(replay_at(&f->base, x->exact)[i]))
            continue;
        snprintf(text, sizeof text,
                 "under the same key the noise of number %lld of \"%s\" is %.6g, and was %.6g: it follows "
                 "the records, or "
                 "the release holds more of them than is told",
                 (long long)i, release->name, second, first);
        return text;
    }
    return NULL;
}

static const char *judge_sizes(const struct brute_force *f, size_t k)
{
    const struct replay_told *x = &f->base.told[k], *y = &f->again.told[k];
    if (x->release != y->release || x->n != y->n || x->width != y->width || x->row != y->row)
        return "after the same releases it makes others than before";
    if ((x->scales < 0) != (y->scales < 0) || (x->exact < 0) != (y->exact < 0))
        return "what is told beside a release differs";
    if (x->scales >= 0 && memcmp(replay_at(&f->base, x->scales), replay_at(&f->again, y->scales),
                                 (size_t)x->n * sizeof(double)) != 0)
        return "the size of the noise follows the records";
    return NULL;
}

static const char *judge_plays(const struct brute_force *f, const struct neighbour *n)
{
    static char text[400];
    const char *why = NULL;
    if (f->again.status != DPF_OK) {
        snprintf(text, sizeof text, "fit fails, which tells the two apart: %s", f->again.error);
        return f->replay->flags & DPF_RECOMMENDER_ALWAYS_ENDS ? text : NULL;
    }
    if (f->again.strange || f->again.n_told != f->base.n_told)
        return f->again.strange ? f->again.strange : "after the same releases it makes more or fewer of them";
    for (size_t k = 0; k < f->base.n_told && !why; k++) {
        why = judge_sizes(f, k);
        if (!why && f->base.told[k].exact >= 0)
            why = judge_move(f, n, k);
        if (!why && f->base.told[k].exact >= 0)
            why = judge_noise(f, n, k);
    }
    if (!why && (f->replay->flags & DPF_RECOMMENDER_STATE_RELEASED) && !same_state(&f->base, &f->again))
        why = "the released state differs although all releases are the same: it holds something of the "
              "records";
    return why;
}

/* Somebody who is told nothing must see what a witness is told of: the same state. */
static const char *judge_unwatched(struct brute_force *f)
{
    if (replay_run(f->replay, f->changed, 1, NULL, &f->alone) != 0 ||
        replay_run(f->replay, f->changed, 0, NULL, &f->unwatched) != 0 || f->alone.status != DPF_OK)
        return NULL;
    return f->unwatched.status != DPF_OK || !same_state(&f->alone, &f->unwatched)
               ? "the state is another one when nobody is told"
               : NULL;
}

static void judge_neighbour(struct brute_force *f, const struct neighbour *n, int unwatched)
{
    struct check *check = f->replay->check;
    if (f->tried++ % CHECK_CASES(1, 5) != 0)
        return;
    replay_index(f->replay, f->changed);
    if (replay_run(f->replay, f->changed, 1, &f->base, &f->again) != 0)
        return;
    const char *why = judge_plays(f, n);
    if (!why && unwatched)
        why = judge_unwatched(f);
    if (why)
        check_fail(check, "%s, %s of user %d: %s", f->replay->how.name, n->what, (int)n->user, why);
}

/* ---- all neighbours of a class ------------------------------------------------------------------------- */

static int going_on(const struct brute_force *f)
{
    return f->replay->check->outcome != CHECK_FAIL;
}

/* A new base under the unit and adjacency; 0: nothing is stated, or it does not train. */
static int begin_class(struct brute_force *f, int unit, int adjacency)
{
    struct replay *replay = f->replay;
    if (!going_on(f) || replay_state(replay, unit, adjacency) != 0 ||
        replay_run(replay, f->data, 1, NULL, &f->base) != 0)
        return 0;
    if (f->base.status != DPF_OK || f->base.strange)
        return 0; /* recommender.witness says so */
    *f->changed = *f->data;
    return 1;
}

static void start_over(struct brute_force *f)
{
    *f->changed = *f->data;
}

static int has_records(const struct brute_force *f, int32_t user)
{
    return f->data->user_offsets[user] < f->data->user_offsets[user + 1];
}

static void users_lose_all(struct brute_force *f)
{
    static const int adjacencies[] = {DPF_ADJ_ZERO_OUT, DPF_ADJ_REPLACE};
    struct neighbour n = {DPF_UNIT_USER, adjacencies, 2, 0, 1, "without all records"};
    if (!begin_class(f, DPF_UNIT_USER, DPF_ADJ_ZERO_OUT))
        return;
    for (n.user = 0; n.user < f->data->n_users && going_on(f); n.user++) {
        start_over(f);
        for (int32_t i = 0; i < f->data->n_items; i++)
            replay_row(f->changed, n.user)[i] = (float)NAN;
        if (has_records(f, n.user))
            judge_neighbour(f, &n, 1);
    }
}

/* One user fewer: all later ones move up. */
static void users_leave(struct brute_force *f)
{
    static const int adjacencies[] = {DPF_ADJ_ADD_REMOVE};
    struct neighbour n = {DPF_UNIT_USER, adjacencies, 1, 0, 0, "without the place"};
    if (!begin_class(f, DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE))
        return;
    for (int32_t r = 0; r < f->replay->n_releases; r++)
        if (f->replay->releases[r].flags & (DPF_RELEASE_ROW_OF_USER | DPF_RELEASE_COUNTS_USERS))
            return; /* it says that it shows their number (C8) */
    for (n.user = 0; n.user < f->data->n_users && going_on(f); n.user++) {
        start_over(f);
        for (int32_t u = n.user; u + 1 < f->data->n_users; u++)
            memcpy(replay_row(f->changed, u), replay_row(f->data, u + 1),
                   (size_t)f->data->n_items * sizeof(float));
        f->changed->n_users--;
        if (!f->replay->how.features) /* those of users would move along */
            judge_neighbour(f, &n, 0);
    }
}

/* Records that a user could have instead. 0: no such kind. */
static const char *other_records(const struct brute_force *f, int32_t user, int kind, float *row)
{
    static const char *const kinds[] = {"all items at the upper end instead",
                                        "all items at the lower end instead",
                                        "one item at the upper end instead",
                                        "all other items instead",
                                        "values turned round",
                                        "another user's records instead",
                                        "both ends in turn instead"};
    const struct replay_setup *how = &f->replay->how;
    const int32_t other = (user + 7) % f->data->n_users;
    const float lo = replay_value(how, 0), hi = replay_value(how, REPLAY_STEPS - 1);
    if (kind >= (int)(sizeof kinds / sizeof *kinds) ||
        (!how->has_values && (kind == 1 || kind == 4 || kind == 6)))
        return kind >= (int)(sizeof kinds / sizeof *kinds) ? NULL : "";
    for (int32_t i = 0; i < f->data->n_items; i++) {
        const float was = replay_row(f->data, user)[i];
        row[i] = kind == 0   ? hi
                 : kind == 1 ? lo
                 : kind == 2 ? (i == user % f->data->n_items ? hi : (float)NAN)
                 : kind == 3 ? (isnan(was) ? hi : (float)NAN)
                 : kind == 4 ? (isinf(how->lo) ? -was : (float)(how->lo + how->hi) - was)
                 : kind == 5 ? replay_row(f->data, other)[i]
                             : (i % 2 ? hi : lo);
    }
    return kinds[kind];
}

static void users_change(struct brute_force *f)
{
    static const int adjacencies[] = {DPF_ADJ_REPLACE};
    struct neighbour n = {DPF_UNIT_USER, adjacencies, 1, 0, 1, ""};
    if (!begin_class(f, DPF_UNIT_USER, DPF_ADJ_REPLACE))
        return;
    for (n.user = 0; n.user < f->data->n_users && going_on(f); n.user++)
        for (int kind = 0; going_on(f); kind++) {
            start_over(f);
            const char *what = other_records(f, n.user, kind, replay_row(f->changed, n.user));
            if (!what)
                break;
            if (!*what)
                continue;
            snprintf(n.what, sizeof n.what, "%s", what);
            judge_neighbour(f, &n, kind < 2);
        }
}

/* A record comes or goes. */
static void records_come_and_go(struct brute_force *f)
{
    static const int adjacencies[] = {DPF_ADJ_FLIP, DPF_ADJ_ADD_REMOVE, DPF_ADJ_ZERO_OUT};
    struct neighbour n = {DPF_UNIT_RECORD, adjacencies, 2, 0, 1, ""};
    const struct replay_setup *how = &f->replay->how;
    if (!begin_class(f, DPF_UNIT_RECORD, how->has_values ? DPF_ADJ_ADD_REMOVE : DPF_ADJ_FLIP))
        return;
    for (n.user = 0; n.user < f->data->n_users; n.user++)
        for (int32_t i = 0; i < f->data->n_items && going_on(f); i++) {
            start_over(f);
            float *cell = &replay_row(f->changed, n.user)[i];
            const int had = !isnan(*cell);
            *cell = had ? (float)NAN : replay_value(how, i % 2 ? REPLAY_STEPS - 1 : 0);
            n.n_adjacencies = had ? 3 : 2;
            snprintf(n.what, sizeof n.what, "%s item %d", had ? "without" : "with", (int)i);
            judge_neighbour(f, &n, 0);
        }
}

/* A record gets each of the values. */
static void values_change(struct brute_force *f)
{
    static const int adjacencies[] = {DPF_ADJ_REPLACE_VALUE};
    struct neighbour n = {DPF_UNIT_RECORD, adjacencies, 1, 0, 1, ""};
    if (!f->replay->how.has_values || !begin_class(f, DPF_UNIT_RECORD, DPF_ADJ_REPLACE_VALUE))
        return;
    for (n.user = 0; n.user < f->data->n_users; n.user++)
        for (int32_t i = 0; i < f->data->n_items; i++)
            for (int step = 0; step < REPLAY_STEPS && going_on(f); step++) {
                start_over(f);
                float *cell = &replay_row(f->changed, n.user)[i];
                if (isnan(*cell))
                    break;
                *cell = replay_value(&f->replay->how, step);
                snprintf(n.what, sizeof n.what, "value %g for item %d", (double)*cell, (int)i);
                judge_neighbour(f, &n, 0);
            }
}

static void look_with(struct replay *replay, void (*try_all)(struct brute_force *f))
{
    struct check *check = replay->check;
    struct brute_force f = {.replay = replay,
                            .data = check_keep(check, sizeof *f.data),
                            .changed = check_keep(check, sizeof *f.changed)};
    if (!f.data || !f.changed)
        return;
    if (!states_privacy(replay)) {
        check_skip(check, "no release states privacy");
        return;
    }
    replay_fill(replay, f.data);
    try_all(&f);
    replay_free(&f.base);
    replay_free(&f.again);
    replay_free(&f.unwatched);
    replay_free(&f.alone);
}

static void try_moves(struct brute_force *f)
{
    users_lose_all(f);
    users_leave(f);
    users_change(f);
    records_come_and_go(f);
    values_change(f);
}

static void look_moves(struct replay *replay)
{
    look_with(replay, try_moves);
}

void check_rule_moves(struct check *check)
{
    replay_each(check, 0, look_moves);
}

/* ---- void records: their cells stay ---------------------------------------------------------------------- */

static uint8_t *voids_of(struct replay_data *data, int32_t user)
{
    return data->voids + (int64_t)user * data->n_items;
}

/* Who rated what is public: neighbours differ in whether a record is sound. */
static void records_become_void(struct brute_force *f)
{
    static const int adjacencies[] = {DPF_ADJ_ZERO_OUT};
    struct neighbour n = {DPF_UNIT_RECORD, adjacencies, 1, 0, 1, ""};
    if (!begin_class(f, DPF_UNIT_RECORD, DPF_ADJ_ZERO_OUT))
        return;
    for (n.user = 0; n.user < f->data->n_users; n.user++)
        for (int32_t i = 0; i < f->data->n_items && going_on(f); i++) {
            start_over(f);
            voids_of(f->changed, n.user)[i] = 1;
            snprintf(n.what, sizeof n.what, "with a void record of item %d", (int)i);
            if (!isnan(replay_row(f->data, n.user)[i]))
                judge_neighbour(f, &n, 0);
        }
}

static void users_become_void(struct brute_force *f)
{
    static const int adjacencies[] = {DPF_ADJ_ZERO_OUT};
    struct neighbour n = {DPF_UNIT_USER, adjacencies, 1, 0, 1, "with void records alone"};
    if (!begin_class(f, DPF_UNIT_USER, DPF_ADJ_ZERO_OUT))
        return;
    for (n.user = 0; n.user < f->data->n_users && going_on(f); n.user++) {
        start_over(f);
        memset(voids_of(f->changed, n.user), 1, (size_t)f->data->n_items);
        if (has_records(f, n.user))
            judge_neighbour(f, &n, 1);
    }
}

/* What a void record's value is, nobody sees. Each user's first record is void from here on. */
static void void_values_change(struct brute_force *f)
{
    struct neighbour n = {DPF_UNIT_RECORD, NULL, 0, 0, 1, ""};
    for (int32_t u = 0; u < f->data->n_users; u++)
        for (int32_t i = 0; i < f->data->n_items; i++)
            if (!isnan(replay_row(f->data, u)[i])) {
                voids_of(f->data, u)[i] = 1;
                break;
            }
    replay_index(f->replay, f->data);
    if (!f->replay->how.has_values || !begin_class(f, DPF_UNIT_RECORD, DPF_ADJ_ZERO_OUT))
        return;
    for (n.user = 0; n.user < f->data->n_users; n.user++)
        for (int32_t i = 0; i < f->data->n_items && going_on(f); i++)
            for (int step = 0; step < REPLAY_STEPS && voids_of(f->data, n.user)[i]; step++) {
                start_over(f);
                const float value = replay_value(&f->replay->how, step);
                replay_row(f->changed, n.user)[i] = value;
                snprintf(n.what, sizeof n.what, "with %g as the value of the void record of item %d",
                         (double)value, (int)i);
                judge_neighbour(f, &n, 0);
            }
}

/* A component that states that who rated what does not show, and how much was rated neither, has nothing of a user whose
   records are all void. */
static void voids_add_nothing(struct brute_force *f)
{
    struct neighbour n = {DPF_UNIT_USER, NULL, 0, 0, 1, "with void records instead of none"};
    for (int32_t r = 0; r < f->replay->n_releases; r++)
        if (f->replay->releases[r].flags & (DPF_RELEASE_OBSERVED_ONLY | DPF_RELEASE_READS_DEGREES))
            return;
    for (n.user = 0; n.user < f->data->n_users && going_on(f); n.user++) {
        float was[REPLAY_MOST_ITEMS];
        const size_t row = (size_t)f->data->n_items * sizeof *was;
        memcpy(was, replay_row(f->data, n.user), row);
        for (int32_t i = 0; i < f->data->n_items; i++)
            replay_row(f->data, n.user)[i] = (float)NAN;
        replay_index(f->replay, f->data);
        if (begin_class(f, DPF_UNIT_USER, DPF_ADJ_ZERO_OUT)) {
            memcpy(replay_row(f->changed, n.user), was, row);
            memset(voids_of(f->changed, n.user), 1, (size_t)f->data->n_items);
            judge_neighbour(f, &n, 0);
        }
        memcpy(replay_row(f->data, n.user), was, row);
    }
    replay_index(f->replay, f->data);
}

static void try_voids(struct brute_force *f)
{
    records_become_void(f);
    users_become_void(f);
    voids_add_nothing(f);
    void_values_change(f);
}

static void look_voids(struct replay *replay)
{
    if (replay->flags & DPF_RECOMMENDER_READS_VOIDS)
        look_with(replay, try_voids);
    else
        check_skip(replay->check, "hosts give it no void records (DPF_RECOMMENDER_READS_VOIDS is not set)");
}

void check_rule_voids(struct check *check)
{
    replay_each(check, 0, look_voids);
}
