/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/draw_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

static int user_numbers[DRAW_USERS]; /* 0: the usual id */

void draw_name_users(const int *numbers)
{
    for (int u = 0; u < DRAW_USERS; u++)
        user_numbers[u] = numbers ? numbers[u] : 0;
}

const char *draw_id(int is_item, int index)
{
    static char texts[4][16];
    static int at;
    char *text = texts[at++ % 4];
    if (!is_item && index >= 0 && index < DRAW_USERS && user_numbers[index]) {
        snprintf(text, sizeof texts[0], "%d", user_numbers[index]);
        return text;
    }
    snprintf(text, sizeof texts[0], index % 3 ? "%s%d" : "%.0s%d", is_item ? "m" : "u", index + 1);
    return text;
}

/* ---- the form ----------------------------------------------------------------------------------------- */

static int is(const struct drawing *drawing, const char *key, const char *value)
{
    const char *set = drawing_get(drawing, "data", key);
    return set && strcmp(set, value) == 0;
}

static const char *delimiter_text(const char *name)
{
    static const char *const texts[][2] = {{"comma", ","},        {"tab", "\t"},   {"semicolon", ";"},
                                           {"space", " "},        {"spaces", " "}, {"pipe", "|"},
                                           {"double-colon", "::"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(texts[i][0], name) == 0)
            return texts[i][1];
    return name;
}

void draw_form_of(const struct drawing *drawing, struct draw_form *form)
{
    const char *format = drawing_get(drawing, "data", "format"),
               *delimiter = drawing_get(drawing, "data", "delimiter"),
               *lo = drawing_get(drawing, "data", "value-min"),
               *hi = drawing_get(drawing, "data", "value-max");
    *form = (struct draw_form){.format = format ? format : "csv", .time = 1, .weight = 1, .lo = 1, .hi = 5};
    const char *usual = strcmp(form->format, "csv") == 0 || strcmp(form->format, "netflix") == 0 ? ","
                        : strcmp(form->format, "movielens-1m") == 0                              ? "::"
                                                                                                 : "\t";
    snprintf(form->delimiter, sizeof form->delimiter, "%.3s",
             delimiter && *delimiter ? delimiter_text(delimiter) : usual);
    form->sections = strcmp(form->format, "netflix") == 0;
    const int has = strcmp(form->format, "recbole") == 0 ||
                    (!form->sections && strncmp(form->format, "movielens", 9) != 0);
    form->header = is(drawing, "header", "yes") || (has && !is(drawing, "header", "no"));
    const int fixed = form->sections || strncmp(form->format, "movielens", 9) == 0;
    const int64_t fields = drawing_integer(drawing, "data", "fields", 0);
    form->weight = !form->sections && (fixed && fields == 0 ? 0 : fields != 4);
    if (lo && text_to_real(lo, &form->lo) != 0)
        form->lo = 1;
    if (hi && text_to_real(hi, &form->hi) != 0)
        form->hi = 5;
    if (!isfinite(form->lo))
        form->lo = isfinite(form->hi) && form->hi < 1 ? form->hi - 4 : 1;
    if (!isfinite(form->hi))
        form->hi = form->lo + 4;
}

/* ---- lines -------------------------------------------------------------------------------------------- */

static struct draw_line *new_line(struct draw_data *data, int at)
{
    if (data->n == data->capacity) {
        data->capacity = 2 * data->capacity + 64;
        data->lines = realloc(data->lines, (size_t)data->capacity * sizeof *data->lines);
        if (!data->lines)
            abort();
    }
    at = at < 0 || at > data->n ? data->n : at;
    memmove(&data->lines[at + 1], &data->lines[at], (size_t)(data->n - at) * sizeof *data->lines);
    data->lines[at] = (struct draw_line){.where = IN_BOTH, .intact = 1, .separated = 1};
    data->n++;
    return &data->lines[at];
}

void draw_line_set(struct draw_line *line, int field, const void *bytes, size_t n)
{
    if (field >= DRAW_FIELDS || n > sizeof line->fields[0].bytes)
        abort();
    memcpy(line->fields[field].bytes, bytes, n);
    line->fields[field].n = (unsigned char)n;
    if (field >= line->n)
        line->n = field + 1;
}

static void set_text(struct draw_line *line, const char *text)
{
    draw_line_set(line, line->n, text, strlen(text));
}

static void set_time(struct draw_line *line, const struct draw_data *data, struct draw_random *random)
{
    char text[32];
    const int time = 1000 + draw_below(random, 60), is_odd = draw_chance(random, data->odd_times);
    if (data->form.sections)
        snprintf(text, sizeof text, "2005-09-%02d", 1 + time % 28);
    else if (!is_odd)
        snprintf(text, sizeof text, "%d", time);
    else
        switch (draw_below(random, 5)) {
        case 0:
            snprintf(text, sizeof text, "-%d", time);
            break;
        case 1:
            snprintf(text, sizeof text, "%d000000", time * 10);
            break;
        case 2:
            snprintf(text, sizeof text, "1970-01-01 00:17:%02d", time % 60);
            break;
        default:
            snprintf(text, sizeof text, "%d.%d", 1000 + time % 3, draw_below(random, 10));
        }
    set_text(line, text);
}

struct draw_line *draw_data_add(struct draw_data *data, struct draw_random *random, int at, int file,
                                int user, int item)
{
    const struct draw_form *form = &data->form;
    const double steps = floor(fmin(4, form->hi - form->lo));
    struct draw_line *line = new_line(data, at);
    char text[32];
    line->file = file;
    line->user = user;
    line->item = item;
    set_text(line, draw_id(0, user));
    if (!form->sections)
        set_text(line, draw_id(1, item));
    snprintf(text, sizeof text, "%g", fmin(form->hi, form->lo + draw_below(random, (int)fmax(0, steps) + 1)));
    set_text(line, text);
    if (form->time && !data->without_time[file])
        set_time(line, data, random);
    snprintf(text, sizeof text, "%.1f", 0.1 * (1 + draw_below(random, 10)));
    if (form->weight)
        set_text(line, text);
    return line;
}

void draw_data_remove(struct draw_data *data, int line)
{
    memmove(&data->lines[line], &data->lines[line + 1], (size_t)(data->n - line - 1) * sizeof *data->lines);
    data->n--;
}

void draw_data_free(struct draw_data *data)
{
    while (data->n)
        draw_data_remove(data, data->n - 1);
    free(data->lines);
    *data = (struct draw_data){0};
}

void draw_data_copy(const struct draw_data *from, struct draw_data *out)
{
    *out = *from;
    out->capacity = from->n;
    out->lines = memory_raw((size_t)from->n + 1, sizeof *out->lines);
    if (!out->lines)
        abort();
    memcpy(out->lines, from->lines, (size_t)from->n * sizeof *out->lines);
}

/* Somebody rates an item again, here or in another file. */
static void add_duplicates(struct draw_data *data, struct draw_random *random)
{
    for (int n = 1 + draw_below(random, 4); n > 0; n--) {
        const struct draw_line line = data->lines[draw_below(random, data->n)];
        draw_data_add(data, random, draw_below(random, data->n + 1), draw_below(random, data->files),
                      line.user, line.item);
    }
}

/* Everybody has a few records, most items several; lines of a user stand in any order and file. */
void draw_data_make(struct draw_data *data, struct draw_random *random, const struct drawing *drawing)
{
    uint8_t has[DRAW_USERS][DRAW_ITEMS] = {{0}};
    *data = (struct draw_data){.users = 6 + draw_below(random, DRAW_USERS - 8),
                               .items = 5 + draw_below(random, DRAW_ITEMS - 7),
                               .files = draw_chance(random, 70) ? 1 : 2,
                               .odd_times = draw_chance(random, 30) ? 40 : 0};
    draw_form_of(drawing, &data->form);
    for (int u = 0; u < data->users; u++)
        for (int n = 2 + draw_below(random, 5); n > 0; n--)
            has[u][draw_below(random, data->items)] = 1;
    for (int i = 0; i < data->items; i++)
        for (int u = 0; u < data->users; u++)
            if (has[u][i])
                draw_data_add(data, random, draw_below(random, data->n + 1), draw_below(random, data->files),
                              u, i);
    if (draw_chance(random, 35))
        add_duplicates(data, random);
}

void draw_data_declare(const struct draw_data *data, struct drawing *drawing)
{
    static const char *const keys[2] = {"users", "items"}, *const catalogues[2] = {"users-file",
                                                                                   "items-file"};
    const int sizes[2] = {data->users, data->items}, all[2] = {DRAW_USERS, DRAW_ITEMS};
    for (int side = 0; side < 2; side++) {
        const char *catalogue = drawing_get(drawing, "data", catalogues[side]);
        char number[16];
        snprintf(number, sizeof number, "%d", catalogue && *catalogue ? all[side] : sizes[side]);
        if (drawing_integer(drawing, "model", keys[side], 0) > 0)
            drawing_set(drawing, "model", keys[side], number);
    }
}

/* ---- files -------------------------------------------------------------------------------------------- */

static FILE *open_file(const char *directory, const char *name)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return fopen(path, "w");
}

static void write_head(FILE *file, const struct draw_data *data, int which)
{
    const struct draw_form *form = &data->form;
    const char *d = form->delimiter, *end = data->crlf ? "\r\n" : "\n";
    const int typed = strcmp(form->format, "recbole") == 0;
    if (!form->header)
        return;
    fprintf(file, typed ? "user_id:token%sitem_id:token%srating:float" : "user%sitem%srating", d, d);
    if (form->time && !data->without_time[which])
        fprintf(file, "%s%s", d, typed ? "timestamp:float" : "time");
    if (form->weight)
        fprintf(file, "%sweight%s", d, typed ? ":float" : "");
    fputs(end, file);
}

static void write_line(FILE *file, const struct draw_data *data, const struct draw_line *line, int is_last)
{
    for (int f = 0; f < line->n; f++) {
        fputs(f > 0 && line->separated ? data->form.delimiter : "", file);
        fwrite(line->fields[f].bytes, 1, line->fields[f].n, file);
    }
    for (int i = 0; line->is_long && i < 1 << 16; i++)
        fputs("01234567890123456789012345678901234", file);
    if (!is_last || !data->unended)
        fputs(data->crlf ? "\r\n" : "\n", file);
}

/* In files of sections the lines of an item follow its name, which is no line of anybody's. */
static void write_sections(FILE *file, const struct draw_data *data, int part, int which)
{
    for (int item = 0; item < data->items; item++) {
        fprintf(file, "%s:\n", draw_id(1, item));
        for (int i = 0; i < data->n; i++)
            if (data->lines[i].file == part && data->lines[i].item == item && (data->lines[i].where & which))
                write_line(file, data, &data->lines[i], 0);
    }
}

static int write_part(const struct draw_data *data, const char *directory, int part, int which)
{
    char name[32];
    int last = -1;
    snprintf(name, sizeof name, "part%d.csv%s", part + 1, data->gz_name[part] ? ".gz" : "");
    FILE *file = open_file(directory, name);
    if (!file)
        return -1;
    write_head(file, data, part);
    for (int i = 0; i < data->n; i++)
        if (data->lines[i].file == part && (data->lines[i].where & which))
            last = i;
    if (data->form.sections)
        write_sections(file, data, part, which);
    for (int i = 0; i <= last && !data->form.sections; i++)
        if (data->lines[i].file == part && (data->lines[i].where & which))
            write_line(file, data, &data->lines[i], i == last);
    return fclose(file);
}

enum public_file { CATALOGUE, FEATURES, WEIGHTS };
static int lacking;

void draw_files_lack(int some)
{
    lacking = some;
}

static int lacks(enum public_file file, int is_item, int index)
{
    return lacking && (7 * index + 2 * (int)file + is_item + lacking) % 6 == 0;
}

static int write_ids(const char *directory, const char *name, int is_item, int n)
{
    FILE *file = open_file(directory, name);
    if (!file)
        return -1;
    for (int i = 0; i < n; i++)
        if (!lacks(CATALOGUE, is_item, i))
            fprintf(file, "%s\n", draw_id(is_item, i));
    return fclose(file);
}

static int write_features(const char *directory)
{
    static const char *const genres[] = {"war", "war|love", "love", ""};
    FILE *file = open_file(directory, "item-features.csv");
    if (!file)
        return -1;
    fputs("id,genres,score,flag,title\n", file);
    for (int i = 0; i < DRAW_ITEMS; i++)
        if (!lacks(FEATURES, 1, i))
            fprintf(file, "%s,%s,%d,%d,Film (%d)\n", draw_id(1, i), genres[i % 4], 1 + i % 7, i % 2,
                    1980 + i);
    return fclose(file);
}

static int write_weights(const char *directory, const char *name, int is_item, int n)
{
    FILE *file = open_file(directory, name);
    if (!file)
        return -1;
    for (int i = 0; i < n; i++)
        if (!lacks(WEIGHTS, is_item, i))
            fprintf(file, "%s %.1f\n", draw_id(is_item, i), 0.1 * (1 + i % 10));
    return fclose(file);
}

/* Links between users, and a test part of records that are in no other file. */
static int write_links(const struct drawing *drawing, const char *directory, int users)
{
    FILE *file = open_file(directory, "links.txt");
    if (!file)
        return -1;
    if (is(drawing, "relation.header", "yes"))
        fputs("from to weight\n", file);
    for (int u = 0; u < users; u++)
        for (int k = 1; k < 4; k++)
            fprintf(file, "%s %s %.1f\n", draw_id(0, u), draw_id(0, (u + k * k) % users), 0.3 * k);
    return fclose(file);
}

static int write_test(const struct draw_data *data, const char *directory)
{
    struct draw_data test = {.form = data->form, .users = data->users, .items = data->items};
    struct draw_random random;
    FILE *file = open_file(directory, "test.csv");
    if (!file)
        return -1;
    draw_seed(&random, 7);
    for (int u = 0; u < data->users; u++)
        draw_data_add(&test, &random, -1, 0, u, data->items > u % data->items ? u % data->items : 0);
    write_head(file, &test, 0);
    if (test.form.sections)
        write_sections(file, &test, 0, IN_BOTH);
    for (int i = 0; i < test.n && !test.form.sections; i++)
        write_line(file, &test, &test.lines[i], 0);
    draw_data_free(&test);
    return fclose(file);
}

int draw_data_write(const struct draw_data *data, int which, const char *directory)
{
    char path[4200];
    for (int f = 0; f < DRAW_FILES; f++) {
        for (int gz = 0; gz < 2; gz++) {
            snprintf(path, sizeof path, "%s/part%d.csv%s", directory, f + 1, gz ? ".gz" : "");
            if (f >= data->files || gz != data->gz_name[f])
                remove(path);
        }
        if (f < data->files && write_part(data, directory, f, which) != 0)
            return -1;
    }
    return 0;
}

int draw_data_write_others(const struct draw_data *data, const struct drawing *drawing, const char *directory)
{
    return write_ids(directory, "users.txt", 0, DRAW_USERS) == 0 &&
                   write_ids(directory, "items.txt", 1, DRAW_ITEMS) == 0 && write_features(directory) == 0 &&
                   write_weights(directory, "user-weights.txt", 0, DRAW_USERS) == 0 &&
                   write_weights(directory, "item-weights.txt", 1, DRAW_ITEMS) == 0 &&
                   write_links(drawing, directory, data->users) == 0 && write_test(data, directory) == 0
               ? 0
               : -1;
}
