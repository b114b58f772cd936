/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/terminal.h"

static atomic_int threshold = LOG_LEVEL_INFO;

enum log_level log_set_level(enum log_level level)
{
    return (enum log_level)atomic_exchange(&threshold, (int)level);
}

void log_message(enum log_level level, const char *format, ...)
{
    if ((int)level < atomic_load(&threshold))
        return;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (level == LOG_LEVEL_WARNING)
        fprintf(stderr, "%swarning:%s %s\n", terminal_colour(STDERR_FILENO, COLOUR_YELLOW),
                terminal_colour(STDERR_FILENO, COLOUR_NONE), text);
    else
        fprintf(stderr, "%s\n", text);
}
