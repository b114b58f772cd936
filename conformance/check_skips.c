/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/check_skips.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct skip {
    char role[32], id[64], rule[64];
};

struct check_skips {
    struct skip *skips;
    size_t n, capacity;
};

static int add_line(struct check_skips *out, const char *path, long number, const char *line,
                    struct dpf_error *error)
{
    struct skip skip;
    int reason = 0;
    if (line[strspn(line, " \t\n")] == '\0' || line[0] == '#')
        return 0;
    if (sscanf(line, "%31s %63s %63s %n", skip.role, skip.id, skip.rule, &reason) != 3 || !line[reason])
        return error_at(error, DPF_FAULT_CONFIG, path, number,
                        "a line is \"ROLE ID RULE REASON\"; give all four");
    struct skip *grown = memory_grow(out->skips, &out->capacity, out->n + 1, sizeof *grown);
    if (!grown)
        return error_memory(error);
    out->skips = grown;
    out->skips[out->n++] = skip;
    return 0;
}

struct check_skips *check_skips_read(const char *path, struct dpf_error *error)
{
    FILE *stream = fopen(path, "r");
    struct check_skips *out = memory_new(1, sizeof *out);
    char *line = NULL;
    size_t capacity = 0;
    int status = 0;
    if (!stream)
        status = error_set(error, DPF_FAULT_CONFIG, "cannot read %s: %s", path, strerror(errno));
    else if (!out)
        status = error_memory(error);
    for (long number = 1; status == 0 && getline(&line, &capacity, stream) >= 0; number++)
        status = add_line(out, path, number, line, error);
    free(line);
    if (stream)
        fclose(stream);
    if (status == 0)
        return out;
    check_skips_free(out);
    return NULL;
}

void check_skips_free(struct check_skips *skips)
{
    if (skips)
        free(skips->skips);
    free(skips);
}

/* 0: another word, 1: this word, 2: a pattern for it. */
static int matches(const char *pattern, const char *word)
{
    const size_t length = strlen(pattern);
    if (length > 0 && pattern[length - 1] == '*')
        return strncmp(pattern, word, length - 1) == 0 ? 2 : 0;
    return strcmp(pattern, word) == 0;
}

int check_skips_find(const struct check_skips *skips, const char *role, const char *id, const char *rule)
{
    int found = 0;
    for (size_t i = 0; i < skips->n; i++) {
        const struct skip *skip = &skips->skips[i];
        const int by[] = {matches(skip->role, role), matches(skip->id, id), matches(skip->rule, rule)};
        if (!by[0] || !by[1] || !by[2])
            continue;
        if (by[0] + by[1] + by[2] == 3)
            return 1;
        found = 2;
    }
    return found;
}
