/* SPDX-License-Identifier: Apache-2.0 */
/* Drawings about the key that was taken to an end least often: begun, and mended until nothing is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/drawn_run.h"

/* Most of what was kept needs little to run again, whatever is drawn in addition. */
#define FROM_KEPT 75
/* So many of a hundred have a loss or a solver with all of its numbers at their lower ends. */
#define ALL_LEAST 12

static int draw_another(struct drawn *drawn, struct drawing *base, int key)
{
    if (key < 0)
        return 0;
    drawn->keys.list[key].tried++;
    return drawing_draw(base, &drawn->random, &drawn->keys, key);
}

/* A drawing that was kept, one into which the key's component is put, or a configuration of the tree. */
static int begin_with(struct drawn *drawn, struct drawing *base, int key)
{
    struct draw_random *random = &drawn->random;
    const int kept = drawn->kept.n > 0 && draw_chance(random, FROM_KEPT);
    if (kept && draw_chance(random, 70) && draw_base_for(base, random, &drawn->keys, &drawn->kept, key))
        return 1;
    if (kept) {
        drawing_copy(&drawn->kept.list[draw_below(random, drawn->kept.n)], base);
        if (drawing_graft(base, random, &drawn->keys, key))
            return 1;
        drawing_free(base);
        if (draw_base_for(base, random, &drawn->keys, &drawn->kept, key))
            return 1;
    }
    return draw_base_for(base, random, &drawn->keys, &drawn->bases, key);
}

int drawn_begin(struct drawn *drawn, struct drawing *base, int more)
{
    struct draw_random *random = &drawn->random;
    /* Once all were drawn, those that could let records decide are drawn more often than the rest. */
    const int facts = drawn->seconds > 0 && draw_chance(random, 35);
    const int key = drawn->target = draw_rare_key(random, &drawn->keys, NULL, facts);
    if (key < 0)
        return 0;
    if (!begin_with(drawn, base, key)) {
        drawn->keys.list[key].tried++;
        return 0;
    }
    draw_another(drawn, base, key);
    for (int n = draw_below(random, more + 1); n > 0; n--)
        draw_another(drawn, base,
                     draw_chance(random, 70) ? draw_rare_key(random, &drawn->keys, base, 0)
                                             : draw_below(random, drawn->keys.n));
    return 1;
}

static int is_named(const struct draw_setting *s, const struct dpf_error *error)
{
    char name[256];
    snprintf(name, sizeof name, "%s.%s", s->section, s->key);
    return strcmp(error->key, name) == 0;
}

/* The one that the message names, drawn or of the base; else a drawn one, but not the one that it is all about. */
static int choose_setting(const struct drawn *drawn, struct draw_random *random,
                          const struct drawing *drawing, const struct dpf_error *error)
{
    int chosen = -1, n = 0;
    for (int i = 0; i < drawing->n; i++) {
        const struct draw_setting *s = &drawing->settings[i];
        if (is_named(s, error))
            return i;
        if (s->drawn && s->of != drawn->target && draw_below(random, ++n) == 0)
            chosen = i;
    }
    return chosen;
}

static int change_target(struct drawn *drawn, struct drawing *drawing)
{
    for (int i = 0; i < drawing->n; i++)
        if (drawing->settings[i].drawn && drawing->settings[i].of == drawn->target)
            return drawing_draw(drawing, &drawn->random, &drawn->keys, drawn->target);
    return 0;
}

/* A section or a key that nothing reads goes. */
static int drop_unread(struct drawing *drawing, const struct dpf_error *error)
{
    char section[128], key[64];
    const char *at = strstr(error->text, "nothing reads ");
    if (at && sscanf(at, "nothing reads the section [%127[^]]]", section) +
                      sscanf(at, "nothing reads [%127[^]]]", section) >
                  0) {
        drawing_unset(drawing, section, NULL);
        return 1;
    }
    at = strstr(error->text, "unknown section [");
    if (at && sscanf(at, "unknown section [%127[^]]]", section) == 1) {
        drawing_unset(drawing, section, NULL);
        return 1;
    }
    at = strstr(error->text, "unknown key \"");
    if (!at || sscanf(at, "unknown key \"%63[^\"]\" in [%127[^]]]", key, section) != 2)
        return 0;
    drawing_unset(drawing, section, key);
    return 1;
}

int drawn_mend(struct drawn *drawn, struct drawing *drawing, const struct dpf_error *error)
{
    struct draw_random *random = &drawn->random;
    if (drop_unread(drawing, error))
        return 1;
    if (draw_chance(random, 80) && drawn_follow(drawing, &drawn->keys, error))
        return 1;
    int at = choose_setting(drawn, random, drawing, error);
    if (at >= 0 && drawing->settings[at].of == drawn->target && drawing->settings[at].drawn) {
        if (draw_chance(random, 60))
            return change_target(drawn, drawing);
        const struct dpf_error nothing = {0};
        at = choose_setting(drawn, random, drawing, &nothing);
    }
    if (at < 0)
        return change_target(drawn, drawing);
    drawing_unset(drawing, drawing->settings[at].section, drawing->settings[at].key);
    return 1;
}

void drawn_done(struct drawn *drawn, const struct drawing *drawing)
{
    drawing_done(drawing, &drawn->keys);
    draw_bases_keep(&drawn->kept, &drawn->random, drawing);
}

int drawn_accepted(struct drawn *drawn, struct drawing *drawing, struct draw_data *data, int more,
                   struct session *session)
{
    struct draw_random *random = &drawn->random;
    struct drawing base;
    if (!drawn_begin(drawn, &base, more))
        return 0;
    if (draw_chance(random, ALL_LEAST))
        drawing_least(&base, random, &drawn->keys);
    for (int i = 0; i < 10; i++) {
        struct dpf_error error = {0};
        drawing_copy(&base, drawing);
        drawing_shrink(drawing, &drawn->keys, drawn->directory);
        draw_data_make(data, random, drawing);
        draw_data_declare(data, drawing);
        if (draw_data_write(data, IN_BOTH, drawn->directory) == 0 &&
            draw_data_write_others(data, drawing, drawn->directory) == 0 &&
            drawn_write(drawn, drawing) == 0 && drawn_check(drawn, session, &error) == 0) {
            drawing_free(&base);
            return 1;
        }
        drawn->refused++;
        if (!drawn_names_key(drawn, &error)) {
            drawn->unnamed++;
            printf("FAULT a refusal that names no key: %s\n", error.text);
        }
        session_close(session);
        draw_data_free(data);
        drawing_free(drawing);
        if (!drawn_mend(drawn, &base, &error))
            break;
    }
    drawing_free(&base);
    return 0;
}
