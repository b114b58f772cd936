/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "cli/command.h"
#include "config/renamed.h"

static const char usage[] =
    "usage: dpframe convert OLD.ini [--output NEW.ini]\n"
    "\n"
    "Rewrites a configuration of an older dpframe for this one: keys and values get today's\n"
    "names, keys that have moved go to their new sections, and lines that say what always holds\n"
    "are left out. A line that needs a decision stays, and a warning names it. Comments stay.\n"
    "Without --output the result is printed. The two files may be the same.\n";

static int convert(const struct arguments *arguments, struct dpf_error *error)
{
    const char *path = arguments->rest[0];
    FILE *in = fopen(path, "rb");
    struct text out = {0};
    if (!in)
        return error_set(error, DPF_FAULT_CONFIG, "cannot read %s: %s", path, strerror(errno));
    struct dpf_error unread = {0};
    struct config *config = config_load(path, NULL, 0, &unread);
    const long changes = renamed_convert(in, path, config, &out, error);
    int status = changes < 0 ? -1 : 0;
    const char *converted = out.data ? out.data : "";
    if (status == 0 && arguments->output)
        status = files_write_text(arguments->output, converted, error);
    else if (status == 0)
        fputs(converted, stdout);
    if (status == 0 && !arguments->quiet)
        fprintf(stderr, "%s: %ld change%s\n", path, changes, changes == 1 ? "" : "s");
    config_free(config);
    text_free(&out);
    fclose(in);
    return status;
}

int command_convert(int argc, char **argv)
{
    struct arguments arguments;
    struct dpf_error error = {0};
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0 && arguments.n_rest != 1)
        status = error_set(&error, DPF_FAULT_CONFIG, "give one file: dpframe convert OLD.ini");
    if (status == 0)
        status = convert(&arguments, &error);
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}
