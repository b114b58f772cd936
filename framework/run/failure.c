/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <unistd.h>

#include <jansson.h>

#include "base/terminal.h"
#include "run/failure.h"

static int errors_as_json;

void failures_as_json(int as_json)
{
    errors_as_json = as_json;
}

static json_t *text_or_null(const char *text)
{
    return *text ? json_string(text) : json_null();
}

static void print_error(const struct dpf_error *error)
{
    const char *remedy = error_remedy(error);
    json_t *parts =
        json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "kind", error_kind(error->fault), "message",
                  error->text, "file", text_or_null(error->file), "line",
                  error->line > 0 ? json_integer(error->line) : json_null(), "key", text_or_null(error->key),
                  "value", text_or_null(error->value), "remedy", text_or_null(remedy ? remedy : ""));
    json_t *whole = json_pack("{s:o}", "error", parts);
    if (!whole || json_dumpf(whole, stderr, JSON_COMPACT) != 0) /* a message that is no UTF-8, or no memory */
        fprintf(stderr, "dpframe: %s", error->text);
    fputc('\n', stderr);
    json_decref(whole);
}

int failure_report(const struct dpf_error *error)
{
    if (errors_as_json)
        print_error(error);
    else
        fprintf(stderr, "%sdpframe:%s %s\n", terminal_colour(STDERR_FILENO, COLOUR_RED),
                terminal_colour(STDERR_FILENO, COLOUR_NONE), error->text);
    return error->fault == DPF_FAULT_NONE ? DPF_FAULT_RUN : (int)error->fault;
}
