/* SPDX-License-Identifier: Apache-2.0 */
#include "config/moved_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/config_line.h"
#include "config/gone.h"

static int same_place(const struct moved_key *a, const struct moved_key *b)
{
    return strcmp(a->section, b->section) == 0 && strcmp(a->key, b->key) == 0;
}

/* Of how many mechanisms a configuration says something. */
static size_t count_mechanisms(const struct config *config)
{
    size_t n = 0;
    for (int64_t i = 0; i < config_size(config); i++) {
        const struct config_entry *entry = config_at(config, i);
        n += strcmp(entry->key, "mechanism") == 0 && *entry->value && strcmp(entry->value, "none") != 0;
    }
    return n;
}

/* Whether the new place says what the old one said, no more and no less. */
static int is_certain(const struct moved_keys *moves, const struct moved_key *move,
                      const struct config *config)
{
    const struct config_entry *there = config_find(config, move->section, move->key);
    size_t alike = 0;
    if (there && !gone_same_value(there->value, move->value))
        return 0;
    for (size_t i = 0; i < moves->n; i++) {
        if (!same_place(&moves->all[i], move))
            continue;
        if (!gone_same_value(moves->all[i].value, move->value))
            return 0;
        alike++;
    }
    return strcmp(move->section, "privacy") != 0 || count_mechanisms(config) <= alike;
}

void moved_find(struct moved_keys *moves, const struct config *config, const char *file)
{
    *moves = (struct moved_keys){0};
    if (!config)
        return;
    moves->all = memory_need((size_t)config_size(config), sizeof *moves->all);
    for (int64_t i = 0; i < config_size(config); i++) {
        const struct config_entry *entry = config_at(config, i);
        struct moved_key move = {.value = entry->value, .line = entry->line};
        if (strcmp(entry->file, file) == 0 && (move.key = gone_place(entry, move.section)))
            moves->all[moves->n++] = move;
    }
    /* All are looked at before any goes: one that stays keeps those of the same place. */
    for (size_t i = 0; i < moves->n; i++)
        if (!is_certain(moves, &moves->all[i], config))
            moves->all[i].line = 0;
    for (size_t i = 0; i < moves->n; i++) {
        moves->all[i].is_placed =
            moves->all[i].line == 0 || config_find(config, moves->all[i].section, moves->all[i].key);
        for (size_t k = 0; k < i; k++)
            moves->all[i].is_placed |= same_place(&moves->all[k], &moves->all[i]);
    }
}

int moved_has(const struct moved_keys *moves, long line)
{
    for (size_t i = 0; i < moves->n; i++)
        if (moves->all[i].line == line)
            return 1;
    return 0;
}

void moved_write(struct moved_keys *moves, const char *section, struct text *out)
{
    const char *open = section;
    for (size_t i = 0; i < moves->n; i++) {
        struct moved_key *move = &moves->all[i];
        if (move->is_placed || (section && strcmp(section, move->section) != 0))
            continue;
        if (out->length > 0 && out->data[out->length - 1] != '\n')
            text_add(out, "\n");
        if (!open || strcmp(open, move->section) != 0)
            text_add(out, "\n[%s]\n", move->section);
        open = move->section;
        text_add(out, "%s = ", move->key);
        line_add_value(out, move->value);
        text_add(out, "\n");
        move->is_placed = 1;
    }
}

void moved_free(struct moved_keys *moves)
{
    free(moves->all);
    *moves = (struct moved_keys){0};
}
