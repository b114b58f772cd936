/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/item_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "dataset/ids.h"
#include "lines/file_rows.h"
#include "reading/data_params.h"
#include "reading/feature_options.h"
#include "reading/layout.h"

/* Where ids and names are in the file. */
struct names_form {
    char *path;
    const char *column; /* as configured: a name of the header, or a number from 1 */
    const char *item;   /* the item's column in the records, if configured by name; else NULL */
    struct delimiter delimiter;
    int quoting, has_header;
    int id, name; /* 0-based */
};

/* ---- the form of the file: it is public, so that its first line may decide ------------------------------- */

static const char *configured(const struct config_values *data)
{
    const char *text = data->params.values[D_ITEM_NAMES].text;
    return text ? text : "";
}

char *item_names_path(const struct config_values *data)
{
    const char *text = configured(data), *colon = strrchr(text, ':');
    return memory_format("%.*s", colon ? (int)(colon - text) : (int)strlen(text), text);
}

static int split_key(const struct config *config, const struct config_values *data, struct names_form *out,
                     struct dpf_error *error)
{
    const char *text = configured(data), *colon = strrchr(text, ':');
    const char *item = data->params.values[D_COLUMN_ITEM].text;
    int64_t number;
    if (!colon || colon == text || !colon[1] || strchr(colon, '/'))
        return config_error(config, "data", "item-names", error,
                            "write FILE:COLUMN, such as movies.csv:title, or movies.dat:2 without a header");
    *out = (struct names_form){.path = item_names_path(data), .column = colon + 1};
    if (item && strcmp(item, "auto") != 0 && text_to_int(item, &number) != 0)
        out->item = item;
    return out->path ? 0 : error_memory(error);
}

/* The delimiter that stands first in the line, behind a quoted field. */
static void guess_delimiter(const char *line, struct delimiter *out)
{
    static const char *const known[] = {"tab", "::", ";", "|", "comma"};
    struct delimiter delimiter;
    const char *first = NULL, *start = *line == '"' && strchr(line + 1, '"') ? strchr(line + 1, '"') : line;
    (void)delimiter_parse("comma", out);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        (void)delimiter_parse(known[i], &delimiter);
        const char *at = strstr(start, delimiter.text);
        if (at && (!first || at < first)) {
            first = at;
            *out = delimiter;
        }
    }
}

/* The columns of the first row. */
static int place(struct names_form *form, const struct field *fields, int64_t n, struct dpf_error *error)
{
    const int fields_there = (int)(n < FIELDS_MAX ? n : FIELDS_MAX);
    char shown[32];
    int64_t number = 0;
    form->has_header = text_to_int(form->column, &number) != 0;
    form->id = -1;
    form->name = form->has_header ? -1 : (int)(number >= 1 && number <= fields_there ? number - 1 : -1);
    for (int i = fields_there - 1; i >= 0 && form->has_header; i--) {
        if (field_is(&fields[i], form->column))
            form->name = i;
        if (form->item ? field_is(&fields[i], form->item) : layout_is_usual(COLUMN_ITEM, &fields[i]))
            form->id = i;
    }
    form->id = form->id < 0 ? 0 : form->id;
    if (form->name >= 0 && form->name != form->id)
        return 0;
    if (form->name >= 0)
        return error_at(
            error, DPF_FAULT_DATA, form->path, 1,
            "data.item-names names column %s, where the item's id is expected: the id stands in the "
            "first column, or in one called as in the records (%s)",
            form->column, form->item ? form->item : "item, item_id, movieId, ...");
    return error_at(error, DPF_FAULT_DATA, form->path, 1,
                    "data.item-names names column %s, but the first line has %lld field(s) separated by %s%s",
                    form->column, (long long)n, delimiter_name(&form->delimiter, shown),
                    form->has_header ? ", and none of that name" : "");
}

static int decide(struct names_form *form, struct dpf_error *error)
{
    struct text line = {0};
    struct field fields[FIELDS_MAX];
    int status = file_rows_first(form->path, &line, error);
    if (status == 0 && line.length == 0)
        status = error_at(error, DPF_FAULT_DATA, form->path, 0, "the file of names has no first line");
    if (status == 0) {
        guess_delimiter(line.data, &form->delimiter);
        form->quoting = form->delimiter.length == 1 && strchr(",;", form->delimiter.text[0]) != NULL;
        int64_t n = fields_split(&form->delimiter, line.data, line.length, fields);
        for (int64_t i = 0; i < n && i < FIELDS_MAX && form->quoting; i++) /* names of a header in quotes */
            if (fields[i].length >= 2 && fields[i].data[0] == '"' &&
                fields[i].data[fields[i].length - 1] == '"')
                fields[i] = (struct field){fields[i].data + 1, fields[i].length - 2};
        status = place(form, fields, n, error);
    }
    text_free(&line);
    return status;
}

int item_names_check(const struct config *config, const struct config_values *data, struct dpf_error *error)
{
    struct names_form form = {.path = NULL};
    int status = 0;
    if (*configured(data))
        status = split_key(config, data, &form, error) == 0 ? decide(&form, error) : -1;
    free(form.path);
    return status;
}

/* ---- names ---------------------------------------------------------------------------------------------- */

struct taking {
    const struct names_form *form;
    struct ids ids;    /* of the lines */
    struct text names; /* NUL-terminated, line by line */
    int64_t *offsets;  /* of each */
    size_t capacity;
    struct text utf8;
};

/* Line ends of a name would end its line in the saved list. */
static void add_name(struct text *names, const struct field *field)
{
    for (size_t i = 0; i < field->length; i++) {
        const char c = field->data[i];
        text_append(names, (unsigned char)c < ' ' ? " " : &c, 1);
    }
    text_append(names, "", 1);
}

static int take_line(void *context, int64_t line, const struct field *fields, int64_t n,
                     struct dpf_error *error)
{
    struct taking *t = context;
    const struct names_form *form = t->form;
    const int64_t before = t->ids.n;
    char shown[96];
    if (line == 1 && form->has_header)
        return 0;
    if (n <= form->id || n <= form->name)
        return error_at(error, DPF_FAULT_DATA, form->path, (long)line,
                        "%lld field(s), beginning with %s: the name is expected in field %d", (long long)n,
                        field_show(&fields[0], shown), form->name + 1);
    if (fields[form->id].length == 0)
        return error_at(error, DPF_FAULT_DATA, form->path, (long)line, "the line has no id");
    const struct field id = ids_as_utf8(&t->utf8, &fields[form->id]);
    if (ids_add(&t->ids, &id) < 0)
        return error_memory(error);
    if (t->ids.n == before)
        return error_at(error, DPF_FAULT_DATA, form->path, (long)line,
                        "%s occurs twice; keep one line for each id", field_show(&id, shown));
    int64_t *offsets = memory_grow(t->offsets, &t->capacity, (size_t)t->ids.n, sizeof *offsets);
    if (!offsets)
        return error_memory(error);
    t->offsets = offsets;
    offsets[before] = (int64_t)t->names.length;
    const struct field name = ids_as_utf8(&t->utf8, &fields[form->name]);
    add_name(&t->names, &name);
    return 0;
}

/* The names of the run's items, in their order. */
static int select_names(const struct taking *t, const struct id_map *items, struct id_map *out,
                        int64_t *without, struct dpf_error *error)
{
    struct id_map found = {0};
    int32_t *rank = memory_raw((size_t)t->ids.n + 1, sizeof *rank);
    int64_t *line_of = memory_raw((size_t)t->ids.n + 1, sizeof *line_of);
    int status = rank && line_of && ids_finish(&t->ids, &found, rank) == 0 ? 0 : error_memory(error);
    for (int64_t line = 0; line < t->ids.n && status == 0; line++)
        line_of[rank[line]] = line;
    struct text names = {0};
    out->offsets = memory_raw((size_t)items->n + 1, sizeof *out->offsets);
    for (int64_t i = 0; i < items->n && status == 0 && out->offsets; i++) {
        const int64_t at = id_map_find(&found, id_map_text(items, i));
        const char *name = at < 0 ? "" : t->names.data + t->offsets[line_of[at]];
        *without += !*name;
        out->offsets[i] = (int64_t)names.length;
        text_append(&names, name, strlen(name) + 1);
    }
    if (status == 0 && !out->offsets)
        status = error_memory(error);
    out->n = items->n;
    out->bytes = names.data;
    id_map_free(&found);
    free(rank);
    free(line_of);
    return status;
}

int item_names_load(const struct config *config, const struct config_values *data, const struct id_map *items,
                    struct id_map *out, struct dpf_error *error)
{
    struct names_form form = {.path = NULL};
    struct taking t = {.form = &form};
    int64_t without = 0;
    if (!*configured(data))
        return 0;
    int status = split_key(config, data, &form, error) == 0 ? decide(&form, error) : -1;
    if (status == 0)
        status = file_rows_read(form.path, &form.delimiter, form.quoting, take_line, &t, error);
    if (status == 0)
        status = select_names(&t, items, out, &without, error);
    if (status == 0 && without)
        log_message(LOG_LEVEL_WARNING, "%s: %lld of the %lld items have no name there%s", form.path,
                    (long long)without, (long long)items->n,
                    without == items->n ? ": is its first column the item's id, as in the records?"
                                        : "; lists show their ids");
    free(form.path);
    ids_free(&t.ids);
    text_free(&t.names);
    text_free(&t.utf8);
    free(t.offsets);
    return status;
}
