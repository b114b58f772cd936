/* SPDX-License-Identifier: Apache-2.0 */
#include "base/html.h"

#include <string.h>

static const char *entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    default:
        return NULL;
    }
}

/* XML 1.0 allows no other control characters, and neither U+FFFE nor U+FFFF. */
static int is_allowed(const char *what, int length)
{
    const unsigned char *c = (const unsigned char *)what;
    if (length == 1)
        return (c[0] >= 0x20 && c[0] != 0x7f) || c[0] == '\n' || c[0] == '\t';
    return !(length == 3 && c[0] == 0xef && c[1] == 0xbf && c[2] >= 0xbe);
}

void html_text(struct text *page, const char *what)
{
    while (what && *what) {
        const int length = text_utf8_length(what);
        const char *entity = entity_of(*what);
        if (entity)
            text_add(page, "%s", entity);
        else if (length && is_allowed(what, length))
            text_add(page, "%.*s", length, what);
        else
            text_add(page, "\xef\xbf\xbd");
        what += length ? length : 1;
    }
}

void html_element(struct text *page, const char *tag, const char *what)
{
    text_add(page, "<%s>", tag);
    html_text(page, what);
    text_add(page, "</%.*s>", (int)strcspn(tag, " "), tag);
}

void html_link(struct text *page, const char *href, const char *what)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    text_add(page, "<a href=\"");
    /* A name with a colon before the first slash would be taken for a scheme; "./" keeps it a path. */
    if (strcspn(href, ":") < strcspn(href, "/"))
        text_add(page, "./");
    for (; *href; href++)
        text_add(page, strchr(plain, *href) ? "%c" : "%%%02X", (unsigned char)*href);
    text_add(page, "\">");
    html_text(page, what);
    text_add(page, "</a>");
}
