/* SPDX-License-Identifier: Apache-2.0 */
/* memfd_create is Linux's own. */
#define _GNU_SOURCE
#include "federation/empty_data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "reading/data_options.h"
#include "reading/data_params.h"
#include "plan/schema.h"

/* A first line that names the columns, or an empty one, which is no record. */
static int write_line(FILE *stream, const char *config, const struct arguments *arguments,
                      struct dpf_error *error)
{
    struct config_values values;
    int64_t n;
    const dpf_param *table = data_params(&n);
    struct config *read = config_load(config, arguments->overrides, arguments->n_overrides, error);
    if (!read)
        return -1;
    const int status = config_bind(read, "data", table, n, sizeof *table, NULL, 0, &values, error);
    if (status == 0) {
        const dpf_value *v = values.params.values;
        const char *names[] = {v[D_COLUMN_USER].text, v[D_COLUMN_ITEM].text, v[D_COLUMN_RATING].text,
                               v[D_COLUMN_TIME].text};
        const char *defaults[] = {"user", "item", "rating", "timestamp"};
        const int64_t format = v[D_FORMAT].integer;
        const int has_names =
            (format == FORMAT_CSV || format == FORMAT_TSV) && v[D_HEADER].integer != HEADER_NO;
        const char *between = format == FORMAT_TSV ? "\t" : ",";
        for (int i = 0; i < 4 && has_names; i++)
            fprintf(stream, "%s%s", i ? between : "", names[i] && *names[i] ? names[i] : defaults[i]);
        fputc('\n', stream);
        config_values_free(&values);
    }
    config_free(read);
    return status;
}

/* In memory, so that nothing is left of a server that is killed. */
int empty_data_make(struct empty_data *data, struct arguments *arguments, struct dpf_error *error)
{
    *data = (struct empty_data){.file = -1};
    if (!arguments->config)
        return error_set(error, DPF_FAULT_CONFIG, "no configuration: give one with -c FILE");
    if (arguments->n_overrides == MAX_OVERRIDES)
        return error_set(error, DPF_FAULT_CONFIG, "too many overrides");
    data->file = memfd_create("dpframe-serve", MFD_CLOEXEC);
    const int copy = data->file >= 0 ? dup(data->file) : -1;
    FILE *stream = copy >= 0 ? fdopen(copy, "w") : NULL;
    if (!stream) {
        const int reason = errno;
        if (copy >= 0)
            close(copy);
        return error_set(error, DPF_FAULT_RUN, "cannot make a file in memory: %s", strerror(reason));
    }
    const int status = write_line(stream, arguments->config, arguments, error);
    if (fclose(stream) != 0 && status == 0)
        return error_set(error, DPF_FAULT_RUN, "cannot write a file in memory: %s", strerror(errno));
    data->override = memory_format("data.path=/proc/self/fd/%d", data->file);
    if (status != 0)
        return status;
    arguments->overrides[arguments->n_overrides++] = data->override;
    return 0;
}

void empty_data_remove(struct empty_data *data)
{
    if (data->file >= 0)
        close(data->file);
    free(data->override);
}
