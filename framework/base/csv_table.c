/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv_table.h"

#include <string.h>

int csv_table_open(struct csv_table *table, const char *path, const char *head, struct dpf_error *error)
{
    *table = (struct csv_table){.stream = stdout, .is_file = path && strcmp(path, "-") != 0};
    if (table->is_file) {
        if (files_open_write(&table->write, path, error) != 0)
            return -1;
        table->stream = table->write.stream;
    }
    fprintf(table->stream, "%s\n", head);
    return 0;
}

void csv_table_text(struct csv_table *table, const char *text, char end)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, table->stream);
    } else {
        fputc('"', table->stream);
        for (; *text; text++)
            fprintf(table->stream, *text == '"' ? "\"\"" : "%c", *text);
        fputc('"', table->stream);
    }
    fputc(end, table->stream);
}

void csv_table_append(struct text *to, const char *text, char end)
{
    const int quoted = strpbrk(text, ",\"\r\n") != NULL;
    if (quoted)
        text_append(to, "\"", 1);
    for (const char *rest = text; quoted && (rest = strchr(rest, '"'));) {
        text_append(to, text, (size_t)(++rest - text));
        text_append(to, "\"", 1);
        text = rest;
    }
    text_append(to, text, strlen(text));
    text_append(to, quoted ? "\"" : "", (size_t)quoted);
    text_append(to, &end, 1);
}

int csv_table_close(struct csv_table *table, int status, struct dpf_error *error)
{
    if (!table->is_file)
        return status;
    if (status == 0)
        return files_commit_write(&table->write, error);
    files_abandon_write(&table->write);
    return status;
}
