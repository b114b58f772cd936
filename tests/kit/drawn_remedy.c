/* SPDX-License-Identifier: Apache-2.0 */
/* What a refusal asks for: "set release = noisy", "name the file, item-features = PATH". */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/drawn_run.h"

static int is_word(char c)
{
    return islower((unsigned char)c) || isdigit((unsigned char)c) || c == '.' || c == '-';
}

/* The word that ends before `end`, and the section in brackets before it, or "". */
static void words_before(const char *text, const char *end, char section[64], char key[64])
{
    const char *from = end;
    *section = '\0';
    while (from > text && is_word(from[-1]))
        from--;
    snprintf(key, 64, "%.*s", (int)(end - from), from);
    if (from - 2 <= text || from[-1] != ' ' || from[-2] != ']')
        return;
    const char *close = from - 2, *open = close;
    while (open > text && *open != '[')
        open--;
    snprintf(section, 64, "%.*s", (int)(close - open - 1), open + 1);
}

/* PATH and FILE stand for one of the files that there are. */
static int value_at(const char *at, const struct draw_key *key, char value[64])
{
    const char *const *texts = draw_texts(key->place, key->owner, key->param->name);
    size_t n = 0;
    while (is_word(at[n]))
        n++;
    while (n > 0 && at[n - 1] == '.')
        n--;
    snprintf(value, 64, "%.*s", (int)n, at);
    for (int i = 0; n == 0 && texts && texts[i]; i++)
        if (*texts[i]) {
            snprintf(value, 64, "%s", texts[i]);
            return 1;
        }
    return n > 0;
}

/* What is asked for without its value. */
static int give_asked(struct drawing *drawing, const char *text)
{
    static const struct {
        const char *asked, *section, *key, *value;
    } known[] = {{"set [split] kind", "split", "kind", "random"},
                 {"needs an accountant", "accountants", "list", "rdp"},
                 {"declare the range of values", "data", "value-max", "5"},
                 {"declare the range of values", "data", "value-min", "1"},
                 {"needs the declared range", "data", "value-max", "5"},
                 {"set [data] value-min and value-max", "data", "value-max", "5"},
                 {"has no \"", "accountants", "list", "pld, rdp"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const char *has = drawing_get(drawing, known[i].section, known[i].key);
        if (!strstr(text, known[i].asked) || (has && strcmp(has, known[i].value) == 0))
            continue;
        drawing_set(drawing, known[i].section, known[i].key, known[i].value);
        return 1;
    }
    return 0;
}

int drawn_follow(struct drawing *drawing, const struct draw_keys *keys, const struct dpf_error *error)
{
    char own[104];
    snprintf(own, sizeof own, "%s", error->key);
    own[strcspn(own, ".")] = '\0';
    const char *text = strchr(error->text, ':');
    for (const char *at = text ? strstr(text, " = ") : NULL; at; at = strstr(at + 1, " = ")) {
        char section[64], key[64], value[64];
        words_before(error->text, at, section, key);
        const char *place = *section ? section : own;
        const size_t length = strlen(place);
        if (strncmp(key, place, length) == 0 && key[length] == '.')
            memmove(key, key + length + 1, strlen(key + length + 1) + 1);
        const int of = *key ? drawing_key_of(drawing, keys, place, key) : -1;
        const char *has = of >= 0 ? drawing_get(drawing, place, key) : NULL;
        if (of < 0 || keys->list[of].left_out || !value_at(at + 3, &keys->list[of], value) ||
            (has && strcmp(has, value) == 0))
            continue;
        char name[192];
        snprintf(name, sizeof name, "%s.%s", place, key);
        if (strcmp(name, error->key) == 0) /* what it is now, and not what it should be */
            continue;
        drawing_set(drawing, place, key, value);
        return 1;
    }
    return give_asked(drawing, error->text);
}
