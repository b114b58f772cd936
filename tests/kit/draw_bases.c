/* SPDX-License-Identifier: Apache-2.0 */
/* What drawings begin with: the examples of plugins, and the configurations that ship. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/config.h"
#include "kit/draw.h"

/* Of other commands; and what is about the file of records, which the harness writes itself. */
static int is_kept(const char *section, const char *key)
{
    static const char *const dropped[] = {"sweep", "select", "audit", "federation", "consent", "split"};
    static const char *const of_data[] = {"feedback",     "threshold", "value-min", "value-max",
                                          "out-of-range", "weights.",  "duplicates"};
    char whole[256];
    const size_t first = strcspn(section, ".");
    for (size_t i = 0; i < sizeof dropped / sizeof dropped[0]; i++)
        if (strlen(dropped[i]) == first && strncmp(section, dropped[i], first) == 0)
            return 0;
    if (first != 4 || strncmp(section, "data", 4) != 0)
        return 1;
    snprintf(whole, sizeof whole, "%s%s%s", section[first] ? section + first + 1 : "",
             section[first] ? "." : "", key);
    for (size_t i = 0; i < sizeof of_data / sizeof of_data[0]; i++)
        if (strncmp(whole, of_data[i], strlen(of_data[i])) == 0)
            return 1;
    return 0;
}

/* Files that the harness writes take the place of those of the base. */
static void take_own_files(struct drawing *drawing, const struct config *config)
{
    static const struct {
        const char *key, *file;
    } files[] = {{"relation.path", "@DIR@/links.txt"},
                 {"item-features", "@DIR@/item-features.csv"},
                 {"weights.users", "@DIR@/user-weights.txt"},
                 {"weights.items", "@DIR@/item-weights.txt"}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (config_find(config, "data", files[i].key))
            drawing_set(drawing, "data", files[i].key, files[i].file);
    if (drawing_get(drawing, "data", "item-features"))
        drawing_set(drawing, "data", "item-features.numbers", "score");
    if (config_find(config, "data", "relation.similarity"))
        drawing_set(drawing, "data", "relation.similarity",
                    config_find(config, "data", "relation.similarity")->value);
    drawing_unset(drawing, "privacy", "ledger");
    drawing_unset(drawing, "privacy", "max-epsilon");
    drawing_unset(drawing, "run", "plugin-dir");
    drawing_unset(drawing, "run", "compare");
}

/* Real data has thousands of users; tiny data has these. */
static void take_own_sizes(struct drawing *drawing)
{
    if (drawing_get(drawing, "model", "users"))
        drawing_set(drawing, "model", "users", "40");
    if (drawing_get(drawing, "model", "items"))
        drawing_set(drawing, "model", "items", "30");
}

static int add_base(struct draw_bases *bases, struct draw_keys *keys, const char *path,
                    struct dpf_error *error)
{
    struct config *config = config_load(path, NULL, 0, error);
    if (!config)
        return -1;
    struct drawing *list = realloc(bases->list, (size_t)(bases->n + 1) * sizeof *list);
    if (!list)
        abort();
    bases->list = list;
    struct drawing *base = &bases->list[bases->n++];
    *base = (struct drawing){0};
    const size_t length = strlen(path);
    snprintf(base->base, sizeof base->base, "%s",
             path + (length < sizeof base->base ? 0 : length + 1 - sizeof base->base));
    for (int64_t i = 0; i < config_size(config); i++) {
        const struct config_entry *entry = config_at(config, i);
        if (*entry->section && is_kept(entry->section, entry->key))
            drawing_set(base, entry->section, entry->key, entry->value);
    }
    take_own_files(base, config);
    take_own_sizes(base);
    for (int i = 0; i < base->n; i++)
        base->settings[i].of = drawing_key_of(base, keys, base->settings[i].section, base->settings[i].key);
    config_free(config);
    return 0;
}

int draw_bases_open(struct draw_bases *bases, struct draw_keys *keys, const char *source,
                    struct dpf_error *error)
{
    static const char *const patterns[] = {"plugins/*/*/*.ini",         "configs/baselines/*.ini",
                                           "configs/papers/*.ini",      "configs/corrected/*.ini",
                                           "configs/recommended/*.ini", "configs/quickstart.ini"};
    *bases = (struct draw_bases){0};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        char pattern[4200];
        glob_t found;
        snprintf(pattern, sizeof pattern, "%s/%s", source, patterns[i]);
        if (glob(pattern, 0, NULL, &found) != 0)
            return error_set(error, DPF_FAULT_RUN, "%s: there are no such configurations", pattern);
        int status = 0;
        for (size_t f = 0; f < found.gl_pathc && status == 0; f++)
            status = add_base(bases, keys, found.gl_pathv[f], error);
        globfree(&found);
        if (status != 0)
            return -1;
    }
    return 0;
}

void draw_bases_keep(struct draw_bases *bases, struct draw_random *random, const struct drawing *drawing)
{
    const int at = bases->n < DRAW_MOST_KEPT ? bases->n : draw_below(random, bases->n);
    struct drawing *list = bases->list;
    if (at == bases->n && !(list = realloc(list, (size_t)(at + 1) * sizeof *list)))
        abort();
    if (at < bases->n)
        drawing_free(&list[at]);
    else
        bases->n++;
    bases->list = list;
    drawing_copy(drawing, &list[at]);
    for (int i = 0; i < list[at].n; i++)
        list[at].settings[i].drawn = 0;
}

void draw_bases_free(struct draw_bases *bases)
{
    for (int i = 0; i < bases->n; i++)
        drawing_free(&bases->list[i]);
    free(bases->list);
    *bases = (struct draw_bases){0};
}
