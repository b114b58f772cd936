/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/item_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "dataset/ids.h"
#include "dpframe/privacy.h"
#include "lines/file_rows.h"
#include "reading/data_params.h"
#include "reading/feature_options.h"
#include "reading/public_file.h"

/* Where ids and names are in the file. */
struct names_form {
    struct public_file file;
    const char *item; /* the item's column in the records, if configured by name; else NULL */
    int has_header;
    int id, name; /* 0-based */
};

const char *item_names_configured(const struct config_values *data)
{
    const char *text = data->params.values[D_ITEM_NAMES].text;
    return text ? text : "";
}

/* The columns of the first row. */
static int place(struct names_form *form, struct dpf_error *error)
{
    const struct public_file *file = &form->file;
    int64_t number;
    const int id = public_file_id_column(file, DPF_SIDE_ITEMS, form->item);
    form->has_header = text_to_int(file->column, &number) != 0;
    form->name = public_file_column(file, file->column);
    form->id = form->has_header && id >= 0 ? id : 0;
    if (form->name >= 0 && form->name != form->id)
        return 0;
    if (form->name >= 0)
        return error_at(
            error, DPF_FAULT_DATA, file->path, 1,
            "data.item-names names column %s, where the item's id is expected: the id stands in the "
            "first column, or in one called as in the records (%s)",
            file->column, form->item ? form->item : "item, item_id, movieId, ...");
    return public_file_no_column(file, "item-names", file->column, error);
}

static int decide(const struct config_values *data, struct names_form *form, struct dpf_error *error)
{
    const char *item = data->params.values[D_COLUMN_ITEM].text;
    int64_t number;
    *form = (struct names_form){.item = NULL};
    if (public_file_look(item_names_configured(data), &form->file, error) != 0)
        return -1;
    if (!form->file.column)
        return config_value_error(
            data, "item-names", error,
            "write FILE:COLUMN, such as movies.csv:title, or movies.dat:2 without a header");
    if (item && strcmp(item, "auto") != 0 && text_to_int(item, &number) != 0)
        form->item = item;
    return place(form, error);
}

int item_names_check(const struct config_values *data, struct dpf_error *error)
{
    struct names_form form = {.item = NULL};
    const int status = *item_names_configured(data) ? decide(data, &form, error) : 0;
    public_file_free(&form.file);
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
        return error_at(error, DPF_FAULT_DATA, form->file.path, (long)line,
                        "%lld field(s), beginning with %s: the name is expected in field %d", (long long)n,
                        field_show(&fields[0], shown), form->name + 1);
    if (fields[form->id].length == 0)
        return error_at(error, DPF_FAULT_DATA, form->file.path, (long)line, "the line has no id");
    const struct field id = ids_as_utf8(&t->utf8, &fields[form->id]);
    if (ids_add(&t->ids, &id) < 0)
        return error_memory(error);
    if (t->ids.n == before)
        return error_at(error, DPF_FAULT_DATA, form->file.path, (long)line,
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

int item_names_load(const struct config_values *data, const struct id_map *items, struct id_map *out,
                    struct dpf_error *error)
{
    struct names_form form = {.item = NULL};
    struct taking t = {.form = &form};
    int64_t without = 0;
    if (!*item_names_configured(data))
        return 0;
    int status = decide(data, &form, error);
    if (status == 0)
        status =
            file_rows_read(form.file.path, &form.file.delimiter, form.file.quoting, take_line, &t, error);
    if (status == 0 && !form.has_header)
        status = public_file_header_read(&form.file, &t.ids, error);
    if (status == 0)
        status = select_names(&t, items, out, &without, error);
    if (status == 0 && without)
        log_message(LOG_LEVEL_WARNING, "%s: %lld of the %lld items have no name there%s", form.file.path,
                    (long long)without, (long long)items->n,
                    without == items->n ? ": is its first column the item's id, as in the records?"
                                        : "; lists show their ids");
    public_file_free(&form.file);
    ids_free(&t.ids);
    text_free(&t.names);
    text_free(&t.utf8);
    free(t.offsets);
    return status;
}
