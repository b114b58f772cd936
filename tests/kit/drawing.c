/* SPDX-License-Identifier: Apache-2.0 */
/* Drawings: lists of settings, where keys have their places, and what makes them small. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "kit/draw.h"

/* ---- lists of settings -------------------------------------------------------------------------------- */

static void setting_free(struct draw_setting *setting)
{
    free(setting->section);
    free(setting->key);
    free(setting->value);
}

void drawing_free(struct drawing *drawing)
{
    for (int i = 0; i < drawing->n; i++)
        setting_free(&drawing->settings[i]);
    free(drawing->settings);
    *drawing = (struct drawing){0};
}

/* The i-th character of "section.key". */
static char at_of(const char *section, size_t length, const char *key, size_t i)
{
    return i < length ? section[i] : i == length ? '.' : key[i - length - 1];
}

/* An entry's identity is "section.key" as a whole. */
static int is_entry(const struct draw_setting *s, const char *section, size_t length, const char *key)
{
    const size_t own = strlen(s->section), n = length + 1 + strlen(key);
    if (own + 1 + strlen(s->key) != n)
        return 0;
    for (size_t i = n; i-- > 0;)
        if (at_of(s->section, own, s->key, i) != at_of(section, length, key, i))
            return 0;
    return 1;
}

static struct draw_setting *find(const struct drawing *drawing, const char *section, const char *key)
{
    const size_t length = strlen(section);
    for (int i = 0; i < drawing->n; i++)
        if (is_entry(&drawing->settings[i], section, length, key))
            return &drawing->settings[i];
    return NULL;
}

const char *drawing_get(const struct drawing *drawing, const char *section, const char *key)
{
    const struct draw_setting *setting = find(drawing, section, key);
    return setting ? setting->value : NULL;
}

int64_t drawing_integer(const struct drawing *drawing, const char *section, const char *key,
                        int64_t otherwise)
{
    const char *text = drawing_get(drawing, section, key);
    int64_t value;
    return text && text_to_int(text, &value) == 0 ? value : otherwise;
}

struct draw_setting *drawing_set(struct drawing *drawing, const char *section, const char *key,
                                 const char *value)
{
    struct draw_setting *setting = find(drawing, section, key);
    char *copy = memory_text(value);
    if (!copy)
        abort();
    if (setting) {
        free(setting->value);
        setting->value = copy;
        setting->drawn = 0;
        return setting;
    }
    if (drawing->n == drawing->capacity) {
        drawing->capacity = 2 * drawing->capacity + 16;
        drawing->settings = realloc(drawing->settings, (size_t)drawing->capacity * sizeof *drawing->settings);
        if (!drawing->settings)
            abort();
    }
    setting = &drawing->settings[drawing->n++];
    *setting = (struct draw_setting){memory_text(section), memory_text(key), copy, -1, 0, 0};
    if (!setting->section || !setting->key)
        abort();
    return setting;
}

void drawing_copy(const struct drawing *from, struct drawing *out)
{
    *out = (struct drawing){0};
    memcpy(out->base, from->base, sizeof out->base);
    for (int i = 0; i < from->n; i++) {
        const struct draw_setting *s = &from->settings[i];
        struct draw_setting *copy = drawing_set(out, s->section, s->key, s->value);
        copy->of = s->of;
        copy->which = s->which;
        copy->drawn = s->drawn;
    }
}

void drawing_unset(struct drawing *drawing, const char *section, const char *key)
{
    const size_t length = strlen(section);
    struct draw_setting *one = key ? find(drawing, section, key) : NULL;
    for (int i = drawing->n - 1; i >= 0; i--) {
        struct draw_setting *s = &drawing->settings[i];
        const int below = !key && strncmp(s->section, section, length) == 0 &&
                          (s->section[length] == '\0' || s->section[length] == '.');
        if (s != one && !below)
            continue;
        setting_free(s);
        memmove(s, s + 1, (size_t)(drawing->n - i - 1) * sizeof *s);
        drawing->n--;
    }
}

static int by_section(const void *a, const void *b)
{
    const struct draw_setting *const *x = a, *const *y = b;
    const int order = strcmp((*x)->section, (*y)->section);
    return order ? order : strcmp((*x)->key, (*y)->key);
}

static void add_value(struct text *text, const char *value, const char *directory)
{
    for (const char *at = value; *at;)
        if (strncmp(at, "@DIR@", 5) == 0) {
            text_add(text, "%s", directory);
            at += 5;
        } else {
            text_add(text, "%c", *at++);
        }
}

char *drawing_text(const struct drawing *drawing, const char *directory)
{
    const struct draw_setting **order = memory_new((size_t)drawing->n + 1, sizeof *order);
    struct text text = {0};
    if (!order)
        abort();
    for (int i = 0; i < drawing->n; i++)
        order[i] = &drawing->settings[i];
    qsort(order, (size_t)drawing->n, sizeof(*order), by_section);
    for (int i = 0; i < drawing->n; i++) {
        if (i == 0 || strcmp(order[i]->section, order[i - 1]->section) != 0)
            text_add(&text, "[%s]\n", order[i]->section);
        text_add(&text, "%s = ", order[i]->key);
        add_value(&text, order[i]->value, directory);
        text_add(&text, "\n");
    }
    free(order);
    return text.data ? text.data : memory_text("");
}

/* ---- where keys stand --------------------------------------------------------------------------------- */

static int is_role(const char *word)
{
    static const char *const roles[] = {"loss", "sampler", "mechanism", "aggregator", "solver"};
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
        if (strcmp(word, roles[i]) == 0)
            return 1;
    return 0;
}

static int is_side(const char *section, size_t length)
{
    return length == 5 && (strncmp(section, "users", 5) == 0 || strncmp(section, "items", 5) == 0);
}

/* The role and component whose parameters the section has: 1, or 0 if it is one of the program's own. */
static int component_of(const struct drawing *drawing, const char *section, char role[32], char owner[64])
{
    char parent[128];
    const char *dot = strrchr(section, '.'), *transform = strstr(section, ".transform.");
    if (!dot)
        return 0;
    snprintf(parent, sizeof parent, "%.*s", (int)(dot - section), section);
    if (strcmp(parent, "accountants") == 0 || transform) {
        snprintf(role, 32, "%s", transform ? "transform" : "accountant");
        snprintf(owner, 64, "%s", dot + 1);
        return 1;
    }
    const char *id = drawing_get(drawing, parent, dot + 1);
    if (!is_role(dot + 1) && strcmp(section, "model.recommender") != 0)
        return 0;
    snprintf(role, 32, "%s", dot + 1);
    snprintf(owner, 64, "%s", id ? id : "");
    return 1;
}

static int key_at(const struct draw_keys *keys, const char *place, const char *owner, const char *name)
{
    for (int i = 0; i < keys->n; i++)
        if (strcmp(keys->list[i].param->name, name) == 0 && strcmp(keys->list[i].place, place) == 0 &&
            strcmp(keys->list[i].owner, owner) == 0)
            return i;
    return -1;
}

int drawing_key_of(const struct drawing *drawing, const struct draw_keys *keys, const char *section,
                   const char *key)
{
    char role[32], owner[64], whole[192];
    if (component_of(drawing, section, role, owner))
        return key_at(keys, role, owner, key);
    const size_t first = strcspn(section, ".");
    if (is_side(section, first)) {
        const int side = section[first] ? -1 : key_at(keys, "SIDE", "", key);
        return side >= 0 ? side : key_at(keys, "TERM", "", key);
    }
    snprintf(whole, sizeof whole, "%s%s%s", section[first] ? section + first + 1 : "",
             section[first] ? "." : "", key); /* [data.weights] kind is [data] weights.kind */
    snprintf(owner, sizeof owner, "%.*s", (int)first, section);
    return key_at(keys, owner, "", whole);
}

/* A section of the drawing in which the key has a place, by chance among them: 1, or 0. */
static int place_of(const struct drawing *drawing, struct draw_random *random, const struct draw_key *key,
                    char section[128])
{
    char role[32], owner[64];
    int n = 0, several;
    const int factorization =
        !drawing_get(drawing, "model", "recommender") || !*drawing_get(drawing, "model", "recommender");
    if (strcmp(key->place, "SIDE") == 0 || strcmp(key->place, "TERM") == 0) {
        snprintf(section, 128, "%s", draw_chance(random, 60) ? "items" : "users");
        return factorization;
    }
    if (!*key->owner) {
        snprintf(section, 128, "%s", key->place);
        return strcmp(key->place, "model") != 0 || strcmp(key->param->name, "aggregator") != 0 ||
               !factorization;
    }
    for (int i = 0; i < drawing->n; i++) { /* settings that name the component */
        const struct draw_setting *s = &drawing->settings[i];
        const size_t side = strcspn(s->section, ".");
        const char *place = is_side(s->section, side) ? "TERM" : s->section;
        const char *named = draw_role_of(place, s->key, &several);
        if (!named || strcmp(s->key, "calibrate-by") == 0 || strcmp(named, key->place) != 0)
            continue;
        const char *at = strstr(s->value, key->owner);
        const size_t length = strlen(key->owner);
        if (!at || (at > s->value && at[-1] != ' ' && at[-1] != ',') ||
            (at[length] && at[length] != ',' && at[length] != ' '))
            continue;
        if (draw_below(random, ++n) != 0)
            continue;
        if (strcmp(named, "accountant") == 0)
            snprintf(section, 128, "accountants.%s", key->owner);
        else if (strcmp(named, "transform") == 0)
            snprintf(section, 128, "%s.transform.%s", s->section, key->owner);
        else
            snprintf(section, 128, "%s.%s", s->section, s->key);
        if (!component_of(drawing, section, role, owner))
            n--;
    }
    return n > 0;
}

/* A component that gives way takes its parameters along. */
static void drop_parameters(struct drawing *drawing, const char *section, const char *key)
{
    char below[160];
    int several;
    const size_t side = strcspn(section, ".");
    const char *role = draw_role_of(is_side(section, side) ? "TERM" : section, key, &several);
    if (!role || several || strcmp(key, "calibrate-by") == 0)
        return;
    snprintf(below, sizeof below, "%s.%s", section, key);
    drawing_unset(drawing, below, NULL);
}

int drawing_draw(struct drawing *drawing, struct draw_random *random, const struct draw_keys *keys, int key)
{
    char section[128];
    int which;
    if (keys->list[key].left_out || !place_of(drawing, random, &keys->list[key], section))
        return 0;
    char *value = draw_value(random, keys, &keys->list[key], &which);
    const char *before = drawing_get(drawing, section, keys->list[key].param->name);
    if (value && (!before || strcmp(before, value) != 0))
        drop_parameters(drawing, section, keys->list[key].param->name);
    struct draw_setting *set = drawing_set(drawing, section, keys->list[key].param->name, value ? value : "");
    set->of = key;
    set->which = which;
    set->drawn = 1;
    free(value);
    return 1;
}

/* Those of accountants and mechanisms make accounting long. */
static int has_least(const struct draw_key *key)
{
    const dpf_param *param = key->param;
    return (strcmp(key->place, "loss") == 0 || strcmp(key->place, "solver") == 0) && !key->left_out &&
           param->type == DPF_TYPE_REAL && isfinite(param->lo) && !(param->flags & DPF_PARAM_OPEN_LO);
}

static int is_of_same(const struct draw_key *a, const struct draw_key *b)
{
    return strcmp(a->place, b->place) == 0 && strcmp(a->owner, b->owner) == 0;
}

void drawing_least(struct drawing *drawing, struct draw_random *random, const struct draw_keys *keys)
{
    char section[128], chosen[128], value[32];
    int first = -1, n = 0;
    for (int i = 0; i < keys->n; i++) { /* the first such key of each component */
        if (!has_least(&keys->list[i]))
            continue;
        if (place_of(drawing, random, &keys->list[i], section) && draw_below(random, ++n) == 0) {
            first = i;
            snprintf(chosen, sizeof chosen, "%s", section);
        }
        while (i + 1 < keys->n && is_of_same(&keys->list[i], &keys->list[i + 1]))
            i++;
    }
    for (int i = first; i >= 0 && i < keys->n && is_of_same(&keys->list[first], &keys->list[i]); i++) {
        if (!has_least(&keys->list[i]))
            continue;
        snprintf(value, sizeof value, "%.6g", keys->list[i].param->lo);
        struct draw_setting *set = drawing_set(drawing, chosen, keys->list[i].param->name, value);
        set->of = i;
        set->which = 1;
        set->drawn = 1;
    }
}

void drawing_done(const struct drawing *drawing, struct draw_keys *keys)
{
    for (int i = 0; i < drawing->n; i++) {
        const struct draw_setting *s = &drawing->settings[i];
        if (!s->drawn)
            continue;
        keys->list[s->of].done++;
        keys->list[s->of].by_value[s->which]++;
    }
}

/* ---- bases -------------------------------------------------------------------------------------------- */

/* A list of components gets one more. */
static void add_component(struct drawing *drawing, const char *section, const char *key, const char *owner)
{
    char list[256];
    const char *has = drawing_get(drawing, section, key);
    snprintf(list, sizeof list, "%s%s%s", has && *has ? has : "", has && *has ? ", " : "", owner);
    drawing_set(drawing, section, key, list);
}

int drawing_graft(struct drawing *drawing, struct draw_random *random, const struct draw_keys *keys, int key)
{
    const struct draw_key *k = &keys->list[key];
    char term[128];
    int n = 0;
    if (strcmp(k->place, "accountant") == 0) {
        add_component(drawing, "accountants", "list", k->owner);
        return 1;
    }
    if (!is_role(k->place) && strcmp(k->place, "transform") != 0)
        return 0;
    for (int i = 0; i < drawing->n; i++) { /* terms */
        const struct draw_setting *s = &drawing->settings[i];
        if (is_side(s->section, strcspn(s->section, ".")) && strcmp(s->key, "loss") == 0 &&
            draw_below(random, ++n) == 0)
            snprintf(term, sizeof term, "%s", s->section);
    }
    if (n == 0)
        return 0;
    if (strcmp(k->place, "transform") == 0) {
        add_component(drawing, term, "transforms", k->owner);
        return 1;
    }
    drop_parameters(drawing, term, k->place);
    drawing_set(drawing, term, k->place, k->owner);
    return 1;
}

static int is_drawn_in(const struct drawing *drawing, int key)
{
    for (int i = 0; i < drawing->n; i++)
        if (drawing->settings[i].drawn && drawing->settings[i].of == key)
            return 1;
    return 0;
}

int draw_is_missing(const struct draw_keys *keys, const struct draw_key *key)
{
    return !key->left_out && key->done == 0 && key->tried < keys->tries;
}

int draw_rare_key(struct draw_random *random, const struct draw_keys *keys, const struct drawing *in,
                  int facts)
{
    int64_t least = INT64_MAX;
    int chosen = -1, equals = 0;
    char section[128];
    for (int i = 0; i < keys->n; i++) {
        const struct draw_key *key = &keys->list[i];
        /* First what was never done; but what is tried often and never done waits like all others. */
        const int64_t weight =
            draw_is_missing(keys, key) ? key->tried - keys->tries : key->done * 2 + key->tried;
        if (key->left_out || weight > least || (facts && !key->is_fact) ||
            (in && (is_drawn_in(in, i) || !place_of(in, random, key, section))))
            continue;
        if (weight < least) {
            least = weight;
            equals = 0;
        }
        if (draw_below(random, ++equals) == 0)
            chosen = i;
    }
    return chosen;
}

int draw_base_for(struct drawing *out, struct draw_random *random, const struct draw_keys *keys,
                  const struct draw_bases *bases, int key)
{
    char section[128];
    int chosen = -1, n = 0;
    for (int i = 0; i < bases->n; i++)
        if (place_of(&bases->list[i], random, &keys->list[key], section) && draw_below(random, ++n) == 0)
            chosen = i;
    if (chosen < 0)
        return 0;
    drawing_copy(&bases->list[chosen], out);
    return 1;
}

/* ---- small -------------------------------------------------------------------------------------------- */

/* Whole numbers of a configuration for real data, which count people and the like. Declared sizes have their own
   rule, see draw_data_declare. */
static void shrink_number(struct draw_setting *setting, const dpf_param *param)
{
    static const char *const counted[] = {"users", "parties", "messages", "records",
                                          "items", "rounds",  "passes"};
    int64_t value;
    if (strcmp(setting->section, "model") == 0 &&
        (strcmp(setting->key, "users") == 0 || strcmp(setting->key, "items") == 0))
        return;
    if (param->type != DPF_TYPE_INT || setting->drawn || text_to_int(setting->value, &value) != 0 ||
        value < 10)
        return;
    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++)
        if (strcmp(param->unit, counted[i]) == 0) {
            free(setting->value);
            setting->value = memory_format("%.0f", fmax(param->lo, 3));
            return;
        }
}

static void set_if_absent(struct drawing *drawing, const char *section, const char *key, const char *value)
{
    if (!drawing_get(drawing, section, key))
        drawing_set(drawing, section, key, value);
}

static void at_most(struct drawing *drawing, const char *section, const char *key, int64_t most)
{
    char text[32];
    if (drawing_integer(drawing, section, key, 0) <= most)
        return;
    snprintf(text, sizeof text, "%lld", (long long)most);
    struct draw_setting *setting = find(drawing, section, key);
    free(setting->value);
    setting->value = memory_text(text);
}

static int is_set(const struct drawing *drawing, const char *section, const char *key)
{
    const char *value = drawing_get(drawing, section, key);
    return value && *value;
}

/* Keys of a file come with the file, and a file of features with one of them. */
static void shrink_files(struct drawing *drawing, const char *what)
{
    static const char *const columns[] = {"categories", "flags", "numbers", "year-of"};
    char key[64], file[64];
    const size_t n = strlen(what);
    int is_asked = 0, is_column = 0;
    for (int i = 0; i < drawing->n; i++) {
        const struct draw_setting *s = &drawing->settings[i];
        is_asked |=
            s->drawn && strcmp(s->section, "data") == 0 && strncmp(s->key, what, n) == 0 && s->key[n] == '.';
    }
    snprintf(key, sizeof key, "%s%s", what, strcmp(what, "relation") == 0 ? ".path" : "");
    snprintf(file, sizeof file, "@DIR@/%s", strcmp(what, "relation") == 0 ? "links.txt" : what);
    if (strcmp(what, "relation") != 0)
        strcat(file, ".csv");
    if (is_asked)
        set_if_absent(drawing, "data", key, file);
    for (int c = 0; c < 4 && n > 8; c++) {
        snprintf(key, sizeof key, "%s.%s", what, columns[c]);
        is_column |= is_set(drawing, "data", key);
    }
    snprintf(key, sizeof key, "%s.numbers", what);
    if (n > 8 && is_set(drawing, "data", what) && !is_column)
        drawing_set(drawing, "data", key, "score");
}

/* Distributions of losses take longer than all else; what is drawn for them keeps them. */
static void cheapen_accounting(struct drawing *drawing)
{
    const char *list = drawing_get(drawing, "accountants", "list");
    int asked = 0;
    for (int i = 0; i < drawing->n; i++)
        asked |=
            drawing->settings[i].drawn && (strncmp(drawing->settings[i].section, "accountants", 11) == 0 ||
                                           strcmp(drawing->settings[i].key, "calibrate-by") == 0);
    if (asked || !list || !strstr(list, "pld"))
        return;
    drawing_unset(drawing, "accountants", NULL);
    drawing_set(drawing, "accountants", "list", "rdp");
}

void drawing_shrink(struct drawing *drawing, const struct draw_keys *keys, const char *directory)
{
    const int recommender = is_set(drawing, "model", "recommender");
    char output[4200];
    for (int i = 0; i < drawing->n; i++) {
        struct draw_setting *s = &drawing->settings[i];
        const int key = s->of >= 0 ? s->of : drawing_key_of(drawing, keys, s->section, s->key);
        if (key >= 0)
            shrink_number(s, keys->list[key].param);
    }
    at_most(drawing, "run", "rounds", 2);
    at_most(drawing, "model", "rank", 4);
    const char *kind = drawing_get(drawing, "model", "kind");
    if (!recommender && (!kind || strcmp(kind, "factorization") == 0)) {
        set_if_absent(drawing, "run", "rounds", "2");
        set_if_absent(drawing, "model", "rank", "3");
    }
    set_if_absent(drawing, "run", "threads", "1");
    cheapen_accounting(drawing);
    snprintf(output, sizeof output, "%s/out", directory);
    drawing_set(drawing, "run", "output", output);
    /* Only fresh noise adds up in a ledger. */
    drawing_set(drawing, "privacy", "randomness",
                is_set(drawing, "privacy", "ledger") ? "secure" : "reproducible");
    drawing_set(drawing, "data", "path", "@DIR@/part*");
    set_if_absent(drawing, "data", "format", "csv");
    const char *format = drawing_get(drawing, "data", "format");
    if (strcmp(format, "csv") == 0 || strcmp(format, "tsv") == 0)
        set_if_absent(drawing, "data", "header", "yes");
    const char *feedback = drawing_get(drawing, "data", "feedback");
    if (!feedback || strcmp(feedback, "implicit") != 0) {
        set_if_absent(drawing, "data", "value-min", "1");
        set_if_absent(drawing, "data", "value-max", "5");
    }
    shrink_files(drawing, "item-features");
    shrink_files(drawing, "relation");
    const char *split = drawing_get(drawing, "split", "kind");
    if (split && strcmp(split, "files") == 0)
        drawing_set(drawing, "split", "test.path", "@DIR@/test.csv");
}
