/* SPDX-License-Identifier: Apache-2.0 */
#include "lines/quoted.h"

#include <csv.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct quoted {
    struct csv_parser parser;
    char *bytes; /* of the row's fields, one after the other */
    size_t used, capacity;
    size_t starts[FIELDS_MAX], lengths[FIELDS_MAX];
    int64_t n;
    int complete; /* the row has ended: the next line begins a new one */
};

struct quoted *quoted_new(const struct delimiter *delimiter, struct dpf_error *error)
{
    if (delimiter->length != 1 || delimiter->runs) {
        error_set(error, DPF_FAULT_DATA, "quoted fields need a delimiter of one character");
        return NULL;
    }
    struct quoted *quoted = memory_need(1, sizeof *quoted);
    (void)csv_init(&quoted->parser, CSV_STRICT); /* of no memory: it cannot fail */
    csv_set_delim(&quoted->parser, (unsigned char)delimiter->text[0]);
    quoted->complete = 1;
    return quoted;
}

void quoted_free(struct quoted *quoted)
{
    if (!quoted)
        return;
    csv_free(&quoted->parser);
    free(quoted->bytes);
    free(quoted);
}

static void on_field(void *data, size_t length, void *context)
{
    struct quoted *quoted = context;
    quoted->bytes = memory_need_grow(quoted->bytes, &quoted->capacity, quoted->used + length + 1, 1);
    if (length > 0)
        memcpy(quoted->bytes + quoted->used, data, length);
    if (quoted->n < FIELDS_MAX) {
        quoted->starts[quoted->n] = quoted->used;
        quoted->lengths[quoted->n] = length;
    }
    quoted->used += length;
    quoted->n++;
}

static void on_row(int end, void *context)
{
    (void)end;
    ((struct quoted *)context)->complete = 1;
}

int quoted_line(struct quoted *quoted, const char *line, size_t length, struct dpf_error *error)
{
    if (quoted->complete) {
        quoted->complete = 0;
        quoted->n = 0;
        quoted->used = 0;
    }
    size_t taken = csv_parse(&quoted->parser, line, length, on_field, on_row, quoted);
    if (csv_error(&quoted->parser) == CSV_ENOMEM)
        return error_memory(error);
    if (taken != length)
        return error_set(error, DPF_FAULT_DATA,
                         "a quote is not allowed here: double a quote inside a quoted field, and quote a "
                         "field that contains one (format = tsv reads quotes as ordinary characters)");
    return quoted->complete;
}

void quoted_reset(struct quoted *quoted)
{
    const unsigned char delimiter = csv_get_delim(&quoted->parser);
    csv_free(&quoted->parser);
    (void)csv_init(&quoted->parser, CSV_STRICT);
    csv_set_delim(&quoted->parser, delimiter);
    quoted->complete = 1;
}

int64_t quoted_fields(const struct quoted *quoted, struct field fields[FIELDS_MAX])
{
    for (int64_t i = 0; i < quoted->n && i < FIELDS_MAX; i++)
        fields[i] = (struct field){quoted->bytes + quoted->starts[i], quoted->lengths[i]};
    return quoted->n;
}

int quoted_is_open(const struct quoted *quoted)
{
    return !quoted->complete;
}
