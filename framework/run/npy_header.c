/* SPDX-License-Identifier: Apache-2.0 */
#include "run/npy_header.h"

#include <stddef.h>
#include <string.h>

/* A position in the text; the functions below move it over what they recognise. */
struct scan {
    const char *p;
};

static void skip_blanks(struct scan *s)
{
    s->p += strspn(s->p, " \t\n\r");
}

static int take(struct scan *s, const char *token)
{
    skip_blanks(s);
    size_t length = strlen(token);
    if (strncmp(s->p, token, length) != 0)
        return 0;
    s->p += length;
    return 1;
}

/* A string of either kind of quotes, without escapes. */
static int take_string(struct scan *s, char *out, size_t size)
{
    skip_blanks(s);
    char quote = *s->p;
    if (quote != '\'' && quote != '"')
        return 0;
    const char *first = s->p + 1, *last = strchr(first, quote);
    if (!last || (size_t)(last - first) >= size || memchr(first, '\\', (size_t)(last - first)))
        return 0;
    memcpy(out, first, (size_t)(last - first));
    out[last - first] = '\0';
    s->p = last + 1;
    return 1;
}

static int take_size(struct scan *s, int64_t *out)
{
    skip_blanks(s);
    const char *first = s->p;
    *out = 0;
    for (; *s->p >= '0' && *s->p <= '9'; s->p++)
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, *s->p - '0', out))
            return 0;
    return s->p > first;
}

/* (), (3,), (3, 4), (3, 4,) */
static int take_shape(struct scan *s, struct npy_header *out)
{
    if (!take(s, "("))
        return 0;
    for (out->n_dimensions = 0; !take(s, ")");) {
        if (out->n_dimensions == NPY_MAX_DIMENSIONS || !take_size(s, &out->shape[out->n_dimensions]))
            return 0;
        out->n_dimensions++;
        if (!take(s, ","))
            return take(s, ")");
    }
    return 1;
}

enum { SEEN_DESCR = 1, SEEN_ORDER = 2, SEEN_SHAPE = 4, SEEN_ALL = 7 };

static const char *take_entry(struct scan *s, struct npy_header *out, unsigned *seen)
{
    char key[16];
    if (!take_string(s, key, sizeof key) || !take(s, ":"))
        return "the header is not a dictionary of names and values";
    unsigned which;
    if (strcmp(key, "descr") == 0) {
        which = SEEN_DESCR;
        if (!take_string(s, out->descr, sizeof out->descr))
            return "the header's descr is not a plain type";
    } else if (strcmp(key, "fortran_order") == 0) {
        which = SEEN_ORDER;
        out->fortran_order = take(s, "True");
        if (!out->fortran_order && !take(s, "False"))
            return "the header's fortran_order is neither True nor False";
    } else if (strcmp(key, "shape") == 0) {
        which = SEEN_SHAPE;
        if (!take_shape(s, out))
            return "the header's shape is not a tuple of sizes";
    } else {
        return "the header has an unknown entry";
    }
    if (*seen & which)
        return "the header has an entry twice";
    *seen |= which;
    return NULL;
}

const char *npy_header_parse(const char *text, struct npy_header *out)
{
    struct scan s = {text};
    unsigned seen = 0;
    memset(out, 0, sizeof *out);
    if (!take(&s, "{"))
        return "the header is not a dictionary";
    while (!take(&s, "}")) {
        const char *wrong = take_entry(&s, out, &seen);
        if (wrong)
            return wrong;
        if (!take(&s, ",")) {
            if (!take(&s, "}"))
                return "the header's dictionary does not end";
            break;
        }
    }
    skip_blanks(&s);
    if (*s.p != '\0')
        return "the header has text after its dictionary";
    return seen == SEEN_ALL ? NULL : "the header lacks descr, fortran_order or shape";
}
