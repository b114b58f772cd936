/* SPDX-License-Identifier: Apache-2.0 */
#include "data/public_files.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "data/load.h"

struct search {
    struct paths records;
    char *out;
};

/* data_visit_files has them before all others, which are public. */
static int has_records(const char *key)
{
    return strcmp(key, "[data] path") == 0 || strcmp(key, "[split] test.path") == 0;
}

static int keep(struct paths *records, const struct paths *more, struct dpf_error *error)
{
    char **files = memory_grow(records->files, &records->capacity, records->n + more->n, sizeof *files);
    if (!files)
        return error_memory(error);
    records->files = files;
    for (size_t i = 0; i < more->n; i++)
        files[records->n++] = memory_text(more->files[i]);
    return 0;
}

static int look_at(void *context, const char *key, const struct paths *paths, struct dpf_error *error)
{
    struct search *search = context;
    if (has_records(key))
        return keep(&search->records, paths, error);
    int same = 0;
    for (size_t i = 0; i < paths->n; i++)
        for (size_t k = 0; k < search->records.n && !same; k++)
            same = paths_same_file(paths->files[i], search->records.files[k]);
    const size_t used = strlen(search->out);
    if (same)
        snprintf(search->out + used, PUBLIC_FILES - used, "%s%s", used ? ", " : "", key);
    return 0;
}

int data_public_files(const struct config_values *data, const struct config_values *split,
                      char out[PUBLIC_FILES], struct dpf_error *error)
{
    struct search search = {.out = out};
    *out = '\0';
    const int status = data_visit_files(data, split, look_at, &search, error);
    const size_t used = strlen(out);
    if (used)
        snprintf(
            out + used, PUBLIC_FILES - used, "%s",
            ": what a file with records says is taken as public. Name a file that does not depend on the "
            "records, or leave the key out.");
    paths_free(&search.records);
    return status;
}
