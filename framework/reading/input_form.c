/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/input_form.h"

#include <string.h>

#include "base/log.h"
#include "lines/line_text.h"
#include "lines/quoted.h"
#include "lines/source.h"

#define LOOK_BLOCK                                                                                           \
    ((size_t)1 << 16) /* a first line that is longer is not looked at before the file is read */

/* Moves a text without file and line to the error of the caller. line 0: none. */
static int place_error(const struct dpf_error *from, const char *path, int64_t line, struct dpf_error *error)
{
    if (from->fault == DPF_FAULT_RUN)
        return error_set(error, from->fault, "%s", from->text);
    return error_at(error, from->fault, path, (long)line, "%s", from->text);
}

int input_form_by_keys(const struct file_options *options, enum form_use use, const char *path,
                       struct input_form *out, struct dpf_error *error)
{
    static const struct field none[FIELDS_MAX] = {{"", 0}};
    struct dpf_error local = {0};
    const int needs_line = use == FORM_TO_READ && !options->sections;
    *out = (struct input_form){.options = options, .header_block = -1};
    if (needs_line || options->header != HEADER_NO || options->n_fields <= 0)
        return 0;
    if (layout_decide(options, none, options->n_fields, &out->layout, &local) == 0)
        return 1;
    return place_error(&local, path, 0, error);
}

/* The first row of a file. */
struct first_row {
    struct field fields[FIELDS_MAX];
    int64_t n;
    int64_t line;  /* of the file, where it ends */
    int64_t block; /* of the file, in which it stands */
};

/* The fields of a line, and of the row that is open. 1: complete; 0: it goes on. */
static int take_line(const struct file_options *options, struct quoted *quoted, const char *bytes, size_t n,
                     size_t longest, struct first_row *out, struct dpf_error *error)
{
    const int is_open = quoted && quoted_is_open(quoted);
    const struct field text = is_open ? (struct field){bytes, n - 1} : line_text(bytes, n);
    if (!is_open && !longest && line_text_is_blank(&text))
        return 0;
    if (line_check(&text, longest, error) != 0)
        return -1;
    if (!quoted || (!is_open && !memchr(text.data, '"', text.length))) {
        out->n = fields_split(&options->delimiter, text.data, text.length, out->fields);
        return 1;
    }
    const int done = quoted_line(quoted, text.data, n - (size_t)(text.data - bytes), error);
    if (done > 0)
        out->n = quoted_fields(quoted, out->fields);
    else if (done == 0 && !options->multi_line)
        return error_set(error, DPF_FAULT_DATA,
                         "a quoted field is not closed on its line; close it, or set [data] multi-line = "
                         "yes if fields go over several lines");
    return done;
}

/* The first row that is not empty. 1: found; 0: there is none; its fields lie in the block, or in quoted. */
static int find_first(const struct file_options *options, struct source *source, struct block *block,
                      struct quoted *quoted, struct first_row *out, struct dpf_error *error)
{
    int status;
    out->line = 0;
    while ((status = source_next(source, block, error)) > 0) {
        out->block = block->index;
        if (source->remark) {
            out->line = 1;
            return error_set(error, DPF_FAULT_DATA, "this is %s", source->remark);
        }
        for (size_t at = 0; at < block->length;) {
            const char *start = block->data + at;
            const size_t n = block_line(block, at);
            out->line++;
            const int done = take_line(options, quoted, start, n, block_longest(block, at), out, error);
            if (done != 0)
                return done;
            at += n;
        }
    }
    out->line = status < 0;
    return status;
}

/* A database's client that was not told to write a header gives such a one. */
static int are_numbers(const struct first_row *row)
{
    double number;
    for (int64_t c = 0; c < row->n; c++)
        if (field_real(&row->fields[c], &number) != 0)
            return 0;
    return row->n > 0;
}

/* A header that has a number where records have one is a record that a run would lose. */
static void doubt_header(const struct file_options *options, const char *path, const struct first_row *first,
                         const struct layout *layout)
{
    static const enum column numbers[] = {COLUMN_RATING, COLUMN_TIME, COLUMN_WEIGHT};
    char shown[96];
    double number;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const int c = layout->columns[numbers[i]];
        if (c < 0 || c >= first->n || field_real(&first->fields[c], &number) != 0)
            continue;
        log_message(LOG_LEVEL_WARNING,
                    "%s:%lld: data.%sheader = yes, but column %d (data.%s) of this line is a number (%s): if "
                    "it is a record, it is lost as a header; set data.%sheader = no",
                    path, (long long)first->line, options->prefix, c + 1, options->keys[numbers[i]],
                    field_show(&first->fields[c], shown), options->prefix);
        return;
    }
}

/* Its layout, by the first row. */
static int decide(const struct file_options *options, enum form_use use, const char *path, int found,
                  const struct first_row *first, const struct dpf_error *fault, struct input_form *out,
                  struct dpf_error *error)
{
    struct dpf_error local = *fault;
    const int looks = use == FORM_TO_LOOK || use == FORM_TO_DOUBT;
    if (found > 0 && layout_decide(options, first->fields, first->n, &out->layout, &local) == 0) {
        if (use == FORM_TO_DOUBT && out->layout.has_header)
            doubt_header(options, path, first, &out->layout);
        if (!looks && out->layout.has_header && options->header == HEADER_AUTO)
            log_message(LOG_LEVEL_INFO, "%s:%lld: read as a header (data.%sheader = auto)", path,
                        (long long)first->line, options->prefix);
        if (!looks && out->layout.has_header && are_numbers(first))
            log_message(
                LOG_LEVEL_WARNING,
                "%s:%lld: the header has numbers and no names: if it is a record, set data.%sheader = no",
                path, (long long)first->line, options->prefix);
        return 0;
    }
    /* What is wrong with the first line of a file is for its reading to say; what its columns lack, at once. */
    if (found > 0 || (found < 0 && !looks))
        return place_error(&local, path, first->line, error);
    if (found == 0 && options->header == HEADER_YES)
        return error_at(error, DPF_FAULT_DATA, path, 0,
                        "this file is empty, so it has no header; give it one, or set data.%sheader = no",
                        options->prefix);
    if (found == 0 && !looks)
        return error_at(error, DPF_FAULT_DATA, path, 0, "this file contains no records");
    return -1;
}

int input_form_by_first_line(const struct file_options *options, enum form_use use, const char *path,
                             struct source *source, struct input_form *out, struct dpf_error *error)
{
    struct dpf_error fault = {0};
    struct block block = {0};
    struct first_row first;
    struct quoted *quoted = options->quoting ? quoted_new(&options->delimiter, error) : NULL;
    *out = (struct input_form){.options = options};
    if (options->quoting && !quoted)
        return -1;
    const int found = find_first(options, source, &block, quoted, &first, &fault);
    out->header_block = block.index;
    const int status = decide(options, use, path, found, &first, &fault, out, error);
    quoted_free(quoted);
    block_free(&block);
    return status;
}

static int by_opening(const struct file_options *options, enum form_use use, const char *path,
                      struct input_form *out, struct dpf_error *error)
{
    struct source source;
    if (source_open(&source, path, LOOK_BLOCK, error) != 0)
        return -1;
    source.sectioned = options->sections;
    const int status = input_form_by_first_line(options, use, path, &source, out, error);
    source_close(&source);
    return status;
}

void input_form_warn(const struct file_options *options, const char *path)
{
    struct dpf_error unsaid = {0};
    struct input_form out;
    if (options->header == HEADER_YES)
        by_opening(options, FORM_TO_DOUBT, path, &out, &unsaid);
}

int input_form_look(const struct file_options *options, const char *path, struct input_form *out,
                    struct dpf_error *error)
{
    struct dpf_error found = {0};
    int status = input_form_by_keys(options, FORM_TO_LOOK, path, out, &found);
    if (status == 0)
        status = by_opening(options, FORM_TO_LOOK, path, out, &found) == 0;
    if (status > 0)
        return 1;
    if (!found.fault)
        return 0;
    if (!error->fault)
        *error = found;
    return -1;
}

int table_form_take(struct table_form *form, const char *path, const struct input_form *file,
                    struct dpf_error *error)
{
    const struct layout *layout = &file->layout;
    static const struct {
        enum column column;
        const char *what;
    } kinds[] = {
        {COLUMN_RATING, "ratings"}, {COLUMN_TIME, "time stamps"}, {COLUMN_WEIGHT, "privacy weights"}};
    const struct table_form own = {.path = path,
                                   .values = layout->columns[COLUMN_RATING] >= 0,
                                   .times = layout->columns[COLUMN_TIME] >= 0 && !layout->drops_times,
                                   .weights = layout->columns[COLUMN_WEIGHT] >= 0};
    if (!form->path) {
        *form = own;
        return 0;
    }
    const int differs[] = {own.values - form->values, own.times - form->times, own.weights - form->weights};
    for (int i = 0; i < 3; i++)
        if (differs[i])
            return error_at(error, DPF_FAULT_DATA, path, 0,
                            "this file has %s%s, but %s has %s: all files need the same columns. Correct the "
                            "headers, or set data.%s = none",
                            differs[i] > 0 ? "" : "no ", kinds[i].what, form->path,
                            differs[i] > 0 ? "none" : "them", file->options->keys[kinds[i].column]);
    return 0;
}
