/* SPDX-License-Identifier: Apache-2.0 */
/* Drawings of which something is proved: what a failed condition names is set, or taken back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/drawn_run.h"

/* Keys that a condition may ask for, and what it wants to see. */
static const struct {
    const char *named, *section, *key, *value;
} wanted[] = {
    {"items-file", "data", "items-file", "@DIR@/items.txt"},
    {"users-file", "data", "users-file", "@DIR@/users.txt"},
    {"id-lists", "privacy", "id-lists", "public"},
    {"interaction-pattern", "privacy", "interaction-pattern", "public"},
    {"fields", "data", "fields", "5"},
    {"header", "data", "header", "yes"},
    {"multi-line", "data", "multi-line", "no"},
    {"column.time", "data", "column.time", "time"},
    {"on-violation", "privacy", "on-violation", "zero"},
    {"[model] users", "model", "users", "24"},
    {"[model] items", "model", "items", "16"},
    {"value-min", "data", "value-min", "1"},
    {"value-max", "data", "value-max", "5"},
    {"clip the rows", "items", "transforms", "clip-rows"},
    {"clip-error, clip-user", "items", "transforms", "clip-user"},
    {"filter.item-min", "privacy", "adjacency", "zero-out"}, /* whose neighbours have the same cells, */
    {"filter.item-min", "privacy", "interaction-pattern", "public"},
    {"unit = user", "privacy", "unit", "user"},
    {"adjacency = replace", "privacy", "adjacency", "replace"},
    {"Draw fresh noise", "run", "rounds", "1"},
    {"(secagg)", "items", "aggregator", "secagg"},
    {"offset = midpoint", "model", "offset", "midpoint"},
    {"relation.similarity", "data", "relation.similarity", "none"},
    {"items: the users factors", "run", "order", "items"},
};

/* 1: the first failed condition names a key that can be set. */
static int set_wanted(struct drawing *drawing, struct draw_random *random, const char *why)
{
    int chosen = -1, n = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const char *has = drawing_get(drawing, wanted[i].section, wanted[i].key);
        if (strstr(why, wanted[i].named) && (!has || strcmp(has, wanted[i].value) != 0) &&
            draw_below(random, ++n) == 0)
            chosen = (int)i;
    }
    if (chosen < 0)
        return 0;
    drawing_set(drawing, wanted[chosen].section, wanted[chosen].key, wanted[chosen].value);
    return 1;
}

static int is_drawn(const struct drawing *drawing, const char *section, const char *key)
{
    for (int i = 0; i < drawing->n; i++)
        if (drawing->settings[i].drawn && strcmp(drawing->settings[i].section, section) == 0 &&
            strcmp(drawing->settings[i].key, key) == 0)
            return 1;
    return 0;
}

static void declare_one(struct drawing *drawing, const char *section, const char *key, const char *value)
{
    if (!is_drawn(drawing, section, key))
        drawing_set(drawing, section, key, value);
}

/* Formats that say themselves what a line has. */
static void declare_format(struct drawing *drawing, struct draw_random *random)
{
    static const char *const formats[] = {"movielens-1m", "movielens-100k", "netflix", "recbole"};
    static const char *const forms[] = {"header",        "fields",      "delimiter",
                                        "multi-line",    "column.user", "column.item",
                                        "column.rating", "column.time", "column.privacy-weight"};
    if (is_drawn(drawing, "data", "format"))
        return;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        drawing_unset(drawing, "data", forms[i]);
    drawing_set(drawing, "data", "format", formats[draw_below(random, 4)]);
}

/* Lists and numbers that a proof often needs; not always, so that every way to a proof is taken. */
static void declare(struct drawing *drawing, struct draw_random *random)
{
    char number[16];
    if (draw_chance(random, 60))
        declare_one(drawing, "data", "items-file", "@DIR@/items.txt");
    if (draw_chance(random, 40))
        declare_one(drawing, "data", "users-file", "@DIR@/users.txt");
    snprintf(number, sizeof number, "%d",
             draw_chance(random, 70) ? DRAW_USERS : 2 + draw_below(random, DRAW_USERS));
    if (draw_chance(random, 60) || drawing_integer(drawing, "model", "users", 0) > 0)
        declare_one(drawing, "model", "users", number);
    if (draw_chance(random, 60) || drawing_integer(drawing, "model", "items", 0) > 0)
        declare_one(drawing, "model", "items", "16");
    const int end = draw_below(random, 12); /* of a range that has one */
    declare_one(drawing, "data", "value-min", end == 0 ? "-inf" : "1");
    declare_one(drawing, "data", "value-max", end == 1 || end == 2 ? "inf" : "5");
    if (draw_chance(random, 50))
        declare_one(drawing, "data", "out-of-range", draw_chance(random, 50) ? "drop" : "clip");
    if (draw_chance(random, 10)) {
        declare_format(drawing, random);
        return;
    }
    const int records_only = draw_chance(random, 30); /* from the first byte on */
    declare_one(drawing, "data", "header", records_only ? "no" : "yes");
    if (records_only) {
        declare_one(drawing, "data", "fields", "5");
        declare_one(drawing, "data", "column.time", "4");
    }
}

static const struct condition *failed_condition(const struct guarantee *guarantee)
{
    for (int i = 0; i < N_CONDITIONS; i++)
        if (!guarantee->conditions[i].holds && strcmp(guarantee->conditions[i].id, "C9") != 0)
            return &guarantee->conditions[i];
    return NULL;
}

int drawn_proved(struct drawn *drawn, struct drawing *drawing, int more, struct session *session)
{
    struct draw_data data;
    struct draw_random *random = &drawn->random;
    struct drawing base;
    if (!drawn_begin(drawn, &base, more))
        return 0;
    declare(&base, random);
    draw_files_lack(draw_chance(random, 40) ? 1 + draw_below(random, 6) : 0);
    for (int i = 0; i < 12; i++) {
        struct dpf_error error = {0};
        drawing_copy(&base, drawing);
        drawing_shrink(drawing, &drawn->keys, drawn->directory);
        draw_data_make(&data, random, drawing);
        const int accepted = draw_data_write(&data, IN_BOTH, drawn->directory) == 0 &&
                             draw_data_write_others(&data, drawing, drawn->directory) == 0 &&
                             drawn_write(drawn, drawing) == 0 && drawn_check(drawn, session, &error) == 0;
        const struct guarantee *guarantee = &session->plan.guarantee;
        const struct condition *condition = accepted ? failed_condition(guarantee) : NULL;
        draw_data_free(&data);
        if (accepted && guarantee->plan_holds && session->plan.ledger.n > 0) {
            drawing_free(&base);
            return 1;
        }
        if (accepted)
            snprintf(error.text, sizeof error.text, "%s", condition ? condition->why : "nothing is released");
        if (getenv("DPFRAME_DRAW_TELL")) {
            char name[160];
            printf("%s: %s: %s\n", draw_key_name(&drawn->keys.list[drawn->target], name),
                   accepted ? "not proved" : "refused", error.text);
        }
        session_close(session);
        drawing_free(drawing);
        if (!(accepted && condition && set_wanted(&base, random, error.text)) &&
            !drawn_mend(drawn, &base, &error))
            break;
        if (strstr(error.text, "belongs to a factorization"))
            break;
    }
    drawing_free(&base);
    return 0;
}
