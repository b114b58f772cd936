/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/html_checks.h"

static void html_remember(struct html_names *names, const char *name, size_t length)
{
    names->items = realloc(names->items, (names->n + 1) * sizeof *names->items);
    assert_non_null(names->items);
    names->items[names->n] = malloc(length + 1);
    assert_non_null(names->items[names->n]);
    snprintf(names->items[names->n++], length + 1, "%.*s", (int)length, name);
}

static int html_knows(const struct html_names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->items[i], name) == 0)
            return 1;
    return 0;
}

static void html_forget(struct html_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->items[i]);
    free(names->items);
    *names = (struct html_names){NULL, 0};
}

static void html_no_twins(const struct html_names *names, const char *what)
{
    for (size_t i = 0; i < names->n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(names->items[i], names->items[k]) == 0)
                fail_msg("%s \"%s\" is there twice", what, names->items[i]);
}

/* Text between tags: only entities of XML. */
static const char *html_skip_text(const char *at)
{
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    for (; *at && *at != '<'; at++) {
        int known = *at != '&';
        for (size_t e = 0; e < 4 && !known; e++)
            known = strncmp(at, entities[e], strlen(entities[e])) == 0;
        if (!known)
            fail_msg("'&' begins no entity of XML: %.40s", at);
        assert_true((unsigned char)*at >= 0x20 || *at == '\n' || *at == '\t');
    }
    return at;
}

static void html_attribute(struct html_page_facts *facts, const char *name, size_t name_length,
                           const char *value, size_t length)
{
    char key[64], text[4096];
    assert_true(name_length < sizeof key);
    snprintf(key, sizeof key, "%.*s", (int)name_length, name);
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), value);
    if (strcmp(key, "src") == 0 || strcmp(key, "srcset") == 0 || strncmp(key, "on", 2) == 0)
        fail_msg("the page fetches or runs something: %s=\"%s\"", key, text);
    if (strcmp(key, "id") == 0)
        html_remember(&facts->ids, text, strlen(text));
    if (strcmp(key, "aria-labelledby") == 0 || strcmp(key, "aria-describedby") == 0)
        html_remember(&facts->targets, text, strlen(text));
    if (strcmp(key, "class") == 0 && strcmp(text, "plot") == 0)
        facts->plots++;
    if (strcmp(key, "class") == 0 && strcmp(text, "v") == 0)
        facts->values++;
    if (strcmp(key, "href") != 0)
        return;
    assert_null(strstr(text, "://"));
    assert_int_not_equal(strncmp(text, "//", 2), 0);
    if (*text == '#')
        html_remember(&facts->targets, text + 1, strlen(text + 1));
    else
        html_remember(&facts->files, text, strlen(text));
}

/* From behind a tag's name to behind its '>'; *closed is set for "/>". */
static const char *html_attributes(struct html_page_facts *facts, const char *at, int *closed)
{
    for (;;) {
        at += strspn(at, " \n");
        *closed = strncmp(at, "/>", 2) == 0;
        if (*closed || *at == '>')
            return at + 1 + *closed;
        const size_t name = strcspn(at, "= />\n");
        if (name == 0 || at[name] != '=' || at[name + 1] != '"')
            fail_msg("an attribute without a value in quotes: %.60s", at);
        const char *value = at + name + 2, *end = strchr(value, '"');
        assert_non_null(end);
        assert_null(memchr(value, '<', (size_t)(end - value)));
        html_attribute(facts, at, name, value, (size_t)(end - value));
        at = end + 1;
    }
}

static void html_parse(const char *page, struct html_page_facts *facts)
{
    char open[HTML_DEPTH][32];
    const char *starts[HTML_DEPTH];
    int depth = 0, ended = 0;
    assert_int_equal(strncmp(page, "<!DOCTYPE html>", 15), 0);
    for (const char *at = html_skip_text(page + 15); *at; at = html_skip_text(at)) {
        const int closing = at[1] == '/';
        const size_t length = strcspn(at + 1 + closing, " />\n");
        char name[32];
        int closed = 0;
        assert_true(length > 0);
        assert_true(length < sizeof name);
        assert_true(!ended);
        snprintf(name, sizeof name, "%.*s", (int)length, at + 1 + closing);
        assert_string_not_equal(name, "script");
        if (closing) {
            if (depth == 0 || strcmp(open[depth - 1], name) != 0)
                fail_msg("</%s> closes %s", name, depth ? open[depth - 1] : "nothing");
            depth--;
            if (strlen(name) == 2 && name[0] == 'h' && isdigit((unsigned char)name[1]))
                html_remember(&facts->headings, starts[depth], (size_t)(at - starts[depth]));
            at += 2 + length + 1;
            ended = depth == 0;
            continue;
        }
        at = html_attributes(facts, at + 1 + length, &closed);
        if (closed)
            continue;
        assert_true(depth < HTML_DEPTH);
        strcpy(open[depth], name);
        starts[depth++] = at;
    }
    assert_int_equal(depth, 0);
}

/* A link to a file that is there; %NN is decoded. */
static void html_check_file(const char *directory, const char *href)
{
    char path[4096];
    size_t n = (size_t)snprintf(path, sizeof path, "%s/", directory);
    for (; *href && n + 1 < sizeof path; href++) {
        unsigned int byte = (unsigned char)*href;
        if (*href == '%') {
            assert_int_equal(sscanf(href + 1, "%2X", &byte), 1);
            href += 2;
        }
        path[n++] = (char)byte;
    }
    path[n] = '\0';
    if (access(path, F_OK) != 0)
        fail_msg("a link leads to %s, which is not there", path);
}

void html_check_page(const char *page, const char *directory, size_t *plots, size_t *values)
{
    struct html_page_facts facts = {{NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, 0, 0};
    html_parse(page, &facts);
    assert_null(strstr(page, "http:"));
    assert_null(strstr(page, "https:"));
    assert_null(strstr(page, "@import"));
    assert_null(strstr(page, "url("));
    html_no_twins(&facts.ids, "the id");
    html_no_twins(&facts.headings, "the heading");
    for (size_t i = 0; i < facts.targets.n; i++)
        if (!html_knows(&facts.ids, facts.targets.items[i]))
            fail_msg("#%s is nowhere on the page", facts.targets.items[i]);
    for (size_t i = 0; i < facts.files.n; i++)
        html_check_file(directory, facts.files.items[i]);
    if (plots)
        *plots = facts.plots;
    if (values)
        *values = facts.values;
    html_forget(&facts.ids);
    html_forget(&facts.targets);
    html_forget(&facts.files);
    html_forget(&facts.headings);
}
