/* SPDX-License-Identifier: Apache-2.0 */
#include "base/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int in_range(long width)
{
    return width < 40 ? 40 : width > 400 ? 400 : (int)width;
}

int terminal_width(int fd)
{
    int64_t stated;
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (columns && text_to_int(columns, &stated) == 0 && stated > 0)
        return in_range((long)(stated < 400 ? stated : 400));
    if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return in_range(size.ws_col);
    return TERMINAL_WIDTH;
}

const char *terminal_colour(int fd, enum colour colour)
{
    static const char *const sequences[] = {[COLOUR_NONE] = "\033[0m",
                                            [COLOUR_RED] = "\033[1;31m",
                                            [COLOUR_GREEN] = "\033[1;32m",
                                            [COLOUR_YELLOW] = "\033[1;33m",
                                            [COLOUR_BOLD] = "\033[1m"};
    const char *off = getenv("NO_COLOR"), *term = getenv("TERM");
    if ((off && *off) || !term || strcmp(term, "dumb") == 0 || !isatty(fd))
        return "";
    return sequences[colour];
}

/* Characters of a line of UTF-8 are counted, not bytes. */
static size_t characters(const char *text, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

/* How many bytes of the text's first line fit, cut at a blank where there is one. */
static size_t that_fit(const char *text, size_t room)
{
    const size_t length = strcspn(text, "\n");
    size_t cut = 0;
    if (characters(text, length) <= room)
        return length;
    for (size_t i = 0; i < length; i++) {
        if (text[i] != ' ')
            continue;
        if (characters(text, i) > room)
            break;
        cut = i;
    }
    return cut ? cut : strcspn(text, " \n"); /* a word that is longer than the line stays whole */
}

void terminal_wrap(struct text *out, const char *first, int indent, const char *text, int width)
{
    int begun = (int)characters(first, strlen(first));
    text_add(out, "%s", first);
    do {
        const int room = width - begun > 20 ? width - begun : 20;
        const size_t n = that_fit(text, (size_t)room);
        text_add(out, "%.*s\n", (int)n, text);
        text += n + (text[n] == '\n' || text[n] == ' ');
        text += strspn(text, " ");
        begun = indent;
        if (*text)
            text_add(out, "%*s", indent, "");
    } while (*text);
}

#define LONGEST_BAR 30
#define SHORTEST_BAR 5

void terminal_bar(double part, const char *words)
{
    /* One column stays free: a full line would be broken by some terminals. */
    const int room = terminal_width(STDERR_FILENO) - 1, said = (int)characters(words, strlen(words));
    int length = room - said - 3;
    length = length > LONGEST_BAR ? LONGEST_BAR : length;
    fputc('\r', stderr);
    if (length >= SHORTEST_BAR) {
        fputc('[', stderr);
        for (int i = 0; i < length; i++)
            fputc(i < part * length ? '#' : '-', stderr);
        fputs("] ", stderr);
    }
    /* Words are ASCII but for names of files; a cut in one of these shows as such. */
    fprintf(stderr, "%.*s\033[K", said > room ? room : (int)strlen(words), words);
    fflush(stderr);
}

void terminal_progress_json(const char *what, int64_t done, int64_t total)
{
    fprintf(stderr, "{\"progress\": {\"what\": \"%s\", \"done\": %lld, \"total\": %lld}}\n", what,
            (long long)done, (long long)total);
}
