/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdio.h>
#include <string.h>

static int report(struct dpf_error *error, enum dpf_fault fault, const char *file, long line,
                  const char *format, va_list args)
{
    if (error->fault != DPF_FAULT_NONE)
        return -1;
    error->fault = fault;
    int n = 0;
    snprintf(error->file, sizeof error->file, "%s", file ? file : "");
    error->line = file ? line : 0;
    if (file && line > 0)
        n = snprintf(error->text, sizeof error->text, "%s:%ld: ", file, line);
    else if (file)
        n = snprintf(error->text, sizeof error->text, "%s: ", file);
    if (n >= 0 && (size_t)n < sizeof error->text)
        vsnprintf(error->text + n, sizeof error->text - (size_t)n, format, args);
    return -1;
}

int error_set(struct dpf_error *error, enum dpf_fault fault, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int status = report(error, fault, NULL, 0, format, args);
    va_end(args);
    return status;
}

int error_at(struct dpf_error *error, enum dpf_fault fault, const char *file, long line, const char *format,
             ...)
{
    va_list args;
    va_start(args, format);
    int status = report(error, fault, file, line, format, args);
    va_end(args);
    return status;
}

int error_memory(struct dpf_error *error)
{
    return error_set(error, DPF_FAULT_RUN, "out of memory");
}

int error_while_running(struct dpf_error *error)
{
    if (error->fault == DPF_FAULT_CONFIG)
        error->fault = DPF_FAULT_RUN;
    return -1;
}

/* After a colon a message may go on with the problem, too. */
static int is_advice(const char *text)
{
    static const char *const words[] = {"must ",   "set ",     "write ", "give ",   "did you mean ",
                                        "see ",    "use ",     "name ",  "remove ", "add ",
                                        "choose ", "declare ", "try ",   "train "};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0)
            return 1;
    return 0;
}

const char *error_remedy(const struct dpf_error *error)
{
    const char *remedy = NULL;
    int quoted = 0, depth = 0;
    for (const char *at = error->text; *at; at++) {
        quoted ^= *at == '"';
        depth += (*at == '(') - (*at == ')');
        if (quoted || depth > 0 || at[1] != ' ' || !at[2])
            continue;
        if (*at == ';' || *at == '.' || (*at == ':' && is_advice(at + 2)))
            remedy = at + 2;
    }
    return remedy;
}

const char *error_kind(enum dpf_fault fault)
{
    switch (fault) {
    case DPF_FAULT_CONFIG:
        return "configuration";
    case DPF_FAULT_DATA:
        return "data";
    case DPF_FAULT_PLUGIN:
        return "plugin";
    default:
        return "run";
    }
}
