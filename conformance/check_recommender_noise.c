/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recommender.noise: what is told with noise, minus what is told without, under many keys, against the law that
 * the events state; and recommender.messages: the same of each user's share, and how far messages move.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/check_noise.h"
#include "conformance/check_replay.h"

enum { KEYS = 300 };
#define RAREST 0.01 /* of flips that so many keys can measure */

/* ---- sums ---------------------------------------------------------------------------------------------- */

static int has_flips(const dpf_event *event)
{
    return event->kind == DPF_EVENT_RANDOMIZED_RESPONSE && event->p.response.flip > RAREST &&
           event->p.response.flip < 1 - RAREST;
}

static int is_measured(const struct replay *replay, const struct replay_told *told)
{
    double ignored;
    const dpf_event *event = &replay->releases[told->release].event;
    return told->exact >= 0 && (replay_law(event, &ignored) || has_flips(event));
}

static void name_part(const struct replay *replay, const struct replay_play *base, size_t k,
                      struct noise_part *part)
{
    const struct replay_told *told = &base->told[k];
    const dpf_event *event = &replay->releases[told->release].event;
    int time = 0;
    double deviation = 1;
    for (size_t j = 0; j < k; j++)
        time += base->told[j].release == told->release && base->told[j].row == told->row;
    snprintf(part->name, sizeof part->name, time ? "\"%.47s\", time %d" : "\"%.47s\"",
             replay->releases[told->release].name, time + 1);
    part->width = told->width;
    part->law = event->kind == DPF_EVENT_LAPLACE || event->kind == DPF_EVENT_DISCRETE_LAPLACE ? LAW_LAPLACE
                : has_flips(event)                                                            ? LAW_UNKNOWN
                                                                                              : LAW_GAUSSIAN;
    if (replay_law(event, &deviation))
        part->step = event->grid / deviation;
}

/* Rows of users are one part. -1: there is no room for so many. */
static int make_parts(const struct replay *replay, const struct replay_play *base, struct noise_table *table)
{
    table->n_parts = 0;
    table->n = 0;
    for (size_t k = 0; k < base->n_told; k++) {
        const struct replay_told *told = &base->told[k], *before = k ? &base->told[k - 1] : told;
        if (!is_measured(replay, told))
            continue;
        struct noise_part *part = table->n_parts ? &table->parts[table->n_parts - 1] : NULL;
        if (!part || before->release != told->release || before->row == told->row || before->n != told->n) {
            if (table->n_parts == CHECK_NOISE_PARTS)
                return -1;
            part = &table->parts[table->n_parts++];
            *part = (struct noise_part){.first = table->n};
            name_part(replay, base, k, part);
        }
        part->n += told->n;
        table->n += told->n;
    }
    return 0;
}

static void fill_draw(const struct replay *replay, const struct replay_play *play, float *z)
{
    for (size_t k = 0; k < play->n_told; k++) {
        const struct replay_told *told = &play->told[k];
        const dpf_event *event = &replay->releases[told->release].event;
        double deviation = 1;
        const int additive = replay_law(event, &deviation);
        if (!is_measured(replay, told))
            continue;
        for (int64_t i = 0; i < told->n; i++) {
            const double noise = replay_at(play, told->drawn)[i] - replay_at(play, told->exact)[i],
                         scale = told->scales < 0 ? 1 : replay_at(play, told->scales)[i],
                         p = event->p.response.flip;
            *z++ = !additive   ? (float)(((fabs(noise) > 0.5) - p) / sqrt(p * (1 - p)))
                   : scale > 0 ? (float)(noise / (scale * deviation))
                               : (float)NAN;
        }
    }
}

static void measure_noise(struct replay *replay, const struct replay_data *data,
                          const struct replay_play *base)
{
    struct check *check = replay->check;
    struct noise_table table;
    struct replay_play play = {0};
    int64_t room = 1;
    for (size_t k = 0; k < base->n_told; k++)
        room += base->told[k].n;
    int failed = check_noise_open(check, KEYS, room, &table) != 0;
    if (!failed && make_parts(replay, base, &table) != 0)
        failed = check_fail(check, "%s: more than %d releases", replay->how.name, (int)CHECK_NOISE_PARTS);
    for (int64_t d = 0; d < KEYS && !failed; d++) {
        replay_rekey(replay, 1000 + (uint64_t)d);
        failed = replay_run(replay, data, 1, base, &play) != 0;
        if (!failed && (play.status != DPF_OK || play.strange || play.n_told != base->n_told))
            failed = check_fail(check, "%s: under another key %s", replay->how.name,
                                play.strange ? play.strange : "other releases are made after the same ones");
        if (!failed)
            fill_draw(replay, &play, check_noise_row(&table, d));
    }
    replay_rekey(replay, 0);
    replay_free(&play);
    char where[100];
    snprintf(where, sizeof where, " (%s)", replay->how.name);
    if (!failed && table.n)
        check_noise_judge(check, &table, where);
    else if (!failed)
        check_skip(check, "no release has noise of a law that the kit knows");
}

static void look_noise(struct replay *replay)
{
    struct check *check = replay->check;
    struct replay_play base = {0};
    struct replay_data *data = check_keep(check, sizeof *data);
    if (!data)
        return;
    replay_fill(replay, data);
    if (replay_run(replay, data, 1, NULL, &base) == 0 && base.status == DPF_OK && !base.strange)
        measure_noise(replay, data, &base);
    replay_free(&base);
}

void check_rule_noise(struct check *check)
{
    replay_each(check, 0, look_noise);
}

/* ---- messages ------------------------------------------------------------------------------------------ */

enum { MESSAGE_PAIRS = 120 };
#define MEASURED 1.03 /* how well the size of noise is known */

/* The scale of a share in the integers of a message: so many of them make up what the event states. */
static double share_of(const struct replay *replay, int32_t release)
{
    const dpf_event *event = &replay->releases[release].event;
    return event->scale / event->grid / sqrt((double)replay->setup.shares);
}

static int all_in_shares(const struct replay *replay)
{
    double ignored;
    int all = replay->n_releases > 0;
    for (int32_t r = 0; r < replay->n_releases; r++)
        all &= replay->releases[r].noise_where == DPF_NOISE_IN_SHARES && replay->releases[r].event.grid > 0 &&
               replay_law(&replay->releases[r].event, &ignored);
    return all;
}

/* Differences of two keys' messages, over the root of 2: two shares of noise, and nothing else. */
static int draw_shares(struct replay *replay, const struct replay_data *data, const struct replay_play *base,
                       struct noise_table *table)
{
    struct replay_play plays[2] = {{0}, {0}};
    int failed = 0;
    for (int64_t d = 0; d < MESSAGE_PAIRS && !failed; d++) {
        for (int k = 0; k < 2 && !failed; k++) {
            replay_rekey(replay, 1000 + (uint64_t)(2 * d + k));
            failed = replay_run(replay, data, 0, base, &plays[k]) != 0 || plays[k].status != DPF_OK ||
                     plays[k].n_told != base->n_told;
        }
        float *z = check_noise_row(table, d);
        for (size_t k = 0; k < base->n_told && !failed; k++)
            for (int64_t i = 0; i < base->told[k].n; i++)
                *z++ = (float)((replay_at(&plays[0], plays[0].told[k].drawn)[i] -
                                replay_at(&plays[1], plays[1].told[k].drawn)[i]) /
                               sqrt(2.0));
    }
    if (failed)
        check_fail(replay->check, "%s: under another key other messages are asked for after the same sums",
                   replay->how.name);
    replay_rekey(replay, 0);
    replay_free(&plays[0]);
    replay_free(&plays[1]);
    return failed;
}

/*
 * A number's deviation over all users, which may be above what is needed; numbers that are always 0 have none. Divides
 * by it, and keeps how often it holds what is needed in `more`, at the number's place in a draw.
 */
static void divide_number(struct noise_table *table, const struct noise_part *part, int64_t i, double least,
                          double *more)
{
    double sum = 0;
    for (int64_t d = 0; d < table->draws; d++)
        for (int64_t at = part->first + i; at < part->first + part->n; at += part->width)
            sum += pow((double)check_noise_row(table, d)[at], 2);
    const double deviation = sqrt(sum / (double)(table->draws * (part->n / part->width)));
    for (int64_t at = part->first + i; at < part->first + part->n; at += part->width) {
        more[at] = deviation / least;
        for (int64_t d = 0; d < table->draws; d++) {
            float *z = &check_noise_row(table, d)[at];
            *z = deviation > 0 ? (float)((double)*z / deviation) : (float)NAN;
        }
    }
}

static void divide_shares(struct replay *replay, const int32_t *release_of, struct noise_table *table,
                          double *more)
{
    for (int p = 0; p < table->n_parts; p++) {
        const struct noise_part *part = &table->parts[p];
        const double least = share_of(replay, release_of[p]);
        for (int64_t i = 0; i < part->width; i++) {
            divide_number(table, part, i, least, more);
            if (more[part->first + i] > 0 && more[part->first + i] < 1 / MEASURED) {
                check_fail(replay->check,
                           "%s: number %lld of a message to %s has noise of deviation %.5g, stated are %.5g",
                           replay->how.name, (long long)i, part->name, more[part->first + i] * least, least);
                return;
            }
        }
    }
}

/* One for each sum: a row for each user. -1: there is no room for so many. */
static int make_sums(const struct replay *replay, const struct replay_play *base, struct noise_table *table,
                     int32_t release_of[CHECK_NOISE_PARTS])
{
    for (size_t k = 0; k < base->n_told; k += (size_t)replay->how.n_users) {
        const struct replay_told *told = &base->told[k];
        if (table->n_parts == CHECK_NOISE_PARTS)
            return -1;
        struct noise_part *part = &table->parts[table->n_parts];
        *part = (struct noise_part){.first = table->n, .n = told->n * replay->how.n_users, .width = told->n};
        snprintf(part->name, sizeof part->name, "\"%.47s\"", replay->releases[told->release].name);
        release_of[table->n_parts++] = told->release;
        table->n += part->n;
    }
    return 0;
}

/* How often each number's noise holds what is needed; NULL with the rule failed. */
static double *measure_shares(struct replay *replay, const struct replay_data *data,
                              const struct replay_play *base)
{
    struct check *check = replay->check;
    struct noise_table table;
    int64_t room = 1;
    int32_t release_of[CHECK_NOISE_PARTS];
    char where[100];
    for (size_t k = 0; k < base->n_told; k++)
        room += base->told[k].n;
    double *more = check_keep(check, (size_t)room * sizeof *more);
    if (!more || check_noise_open(check, MESSAGE_PAIRS, room, &table) != 0)
        return NULL;
    if (make_sums(replay, base, &table, release_of) != 0) {
        check_fail(check, "%s: more than %d sums of messages", replay->how.name, (int)CHECK_NOISE_PARTS);
        return NULL;
    }
    if (draw_shares(replay, data, base, &table) != 0)
        return NULL;
    divide_shares(replay, release_of, &table, more);
    snprintf(where, sizeof where, " (messages of users as rows; %s)", replay->how.name);
    return check->outcome != CHECK_FAIL && check_noise_judge(check, &table, where) == 0 ? more : NULL;
}

struct moved_message {
    struct replay *replay;
    const struct replay_play *base, *again;
    const double *more;
    int32_t user;
    int adjacency;
    const char *what;
};

/* Of one message: how far it moves, over the noise of its numbers, and its largest number. */
static void judge_message(const struct moved_message *m, const struct replay_told *before,
                          const struct replay_told *after, const double *more)
{
    struct check *check = m->replay->check;
    const dpf_recommender_release *release = &m->replay->releases[before->release];
    double square = 0, largest = 0;
    for (int64_t i = 0; i < before->n; i++) {
        const double apart =
            fabs(replay_at(m->again, after->drawn)[i] - replay_at(m->base, before->drawn)[i]);
        square += apart > 0 ? pow(apart / fmin(more[i], 1e9), 2) : 0;
        largest = fmax(largest, apart);
    }
    const double move = sqrt(square) * release->event.grid,
                 stated = release->event.sensitivity.at[DPF_UNIT_USER][m->adjacency].l2;
    if (before->row != m->user && largest > 0)
        check_fail(check, "%s, user %d %s: the message of user %lld to \"%s\" changes after the same sums",
                   m->replay->how.name, (int)m->user, m->what, (long long)before->row, release->name);
    else if (move > stated * MEASURED)
        check_fail(check, "%s, user %d %s: the message to \"%s\" moves by %.6g, its event states %.6g",
                   m->replay->how.name, (int)m->user, m->what, release->name, move, stated);
    else if (m->adjacency == DPF_ADJ_ZERO_OUT && largest > (double)release->largest)
        check_fail(
            check, "%s, user %d %s: a number of the message to \"%s\" is %.6g, the largest is stated as %lld",
            m->replay->how.name, (int)m->user, m->what, release->name, largest, (long long)release->largest);
}

static void judge_messages(const struct moved_message *m)
{
    struct check *check = m->replay->check;
    const double *more = m->more;
    if (m->again->status != DPF_OK || m->again->strange || m->again->n_told != m->base->n_told) {
        check_fail(check, "%s, user %d %s: %s", m->replay->how.name, (int)m->user, m->what,
                   m->again->strange ? m->again->strange
                                     : "other messages are asked for after the same sums");
        return;
    }
    for (size_t k = 0; k < m->base->n_told; more += m->base->told[k++].n)
        judge_message(m, &m->base->told[k], &m->again->told[k], more);
    if ((m->replay->flags & DPF_RECOMMENDER_STATE_RELEASED) &&
        (m->base->used != m->again->used ||
         memcmp(m->base->state, m->again->state, (size_t)m->base->used) != 0))
        check_fail(check, "%s, user %d %s: the released state differs although all sums are the same",
                   m->replay->how.name, (int)m->user, m->what);
}

static void move_messages(struct moved_message *m, const struct replay_data *data,
                          struct replay_data *changed, struct replay_play *again)
{
    struct replay *replay = m->replay;
    for (m->user = 0; m->user < data->n_users && replay->check->outcome != CHECK_FAIL; m->user++) {
        *changed = *data;
        for (int32_t i = 0; i < data->n_items; i++)
            replay_row(changed, m->user)[i] =
                m->adjacency == DPF_ADJ_ZERO_OUT ? (float)NAN : replay_value(&replay->how, REPLAY_STEPS - 1);
        replay_index(replay, changed);
        if (replay_run(replay, changed, 0, m->base, again) == 0)
            judge_messages(m);
    }
}

static void look_messages(struct replay *replay)
{
    struct check *check = replay->check;
    struct replay_play base = {0}, again = {0};
    struct replay_data *data = check_keep(check, sizeof *data), *changed = check_keep(check, sizeof *changed);
    if (!data || !changed)
        return;
    if (!all_in_shares(replay)) {
        check_skip(check, "not all releases have noise in shares");
        return;
    }
    replay_fill(replay, data);
    struct moved_message m = {replay, &base, &again, NULL, 0, DPF_ADJ_ZERO_OUT, "without records"};
    if (replay_run(replay, data, 0, NULL, &base) == 0 && base.status == DPF_OK && !base.strange)
        m.more = measure_shares(replay, data, &base);
    if (m.more)
        move_messages(&m, data, changed, &again);
    m.adjacency = DPF_ADJ_REPLACE;
    m.what = "with all items at the upper end";
    if (m.more)
        move_messages(&m, data, changed, &again);
    replay_free(&base);
    replay_free(&again);
}

void check_rule_messages(struct check *check)
{
    if (replay_each(check, 1, look_messages) == 0)
        check_skip(check, "users send no messages with shares of the noise");
}
