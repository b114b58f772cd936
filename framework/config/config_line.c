/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_line.h"

#include <string.h>

#include "base/text.h"
#include "config/config_store.h"

static int is_space(char c)
{
    return c == ' ' || c == '\t';
}

char *line_trim(char *text)
{
    while (is_space(*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && is_space(text[length - 1]))
        text[--length] = '\0';
    return text;
}

int line_check_bytes(const char *text, size_t length, const char *file, long number, struct dpf_error *error)
{
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)text[i];
        int n = text_utf8_length(text + i);
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return error_at(error, DPF_FAULT_CONFIG, file, number,
                            "control byte \\x%02x in column %zu: configurations are plain text", c, i + 1);
        if (n == 0 || (c == 0xc2 && (unsigned char)text[i + 1] < 0xa0))
            return error_at(error, DPF_FAULT_CONFIG, file, number,
                            "byte \\x%02x in column %zu: not UTF-8 text; save the file as UTF-8", c, i + 1);
        i += (size_t)n;
    }
    return 0;
}

static int is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

static int check_name(const char *what, const char *name, const char *file, long number,
                      struct dpf_error *error)
{
    char shown[TEXT_SHOWN];
    size_t length = strlen(name);
    text_show(name, shown);
    if (length == 0)
        return error_at(error, DPF_FAULT_CONFIG, file, number, "the %s has no name", what);
    if (strchr(name, ':'))
        return error_at(error, DPF_FAULT_CONFIG, file, number,
                        "\"%s\": a %s cannot hold ':'; only '=' separates a key from its value", shown, what);
    for (size_t i = 0; i < length; i++)
        if (!is_name_byte(name[i]))
            return error_at(error, DPF_FAULT_CONFIG, file, number,
                            "\"%s\": the name of a %s is made of letters, digits, '-', '_' and '.'", shown,
                            what);
    if (name[0] == '.' || name[length - 1] == '.' || strstr(name, ".."))
        return error_at(error, DPF_FAULT_CONFIG, file, number,
                        "\"%s\": a dot in the name of a %s must stand between two words", shown, what);
    if (length > CONFIG_NAME_MAX)
        return error_at(error, DPF_FAULT_CONFIG, file, number,
                        "\"%s\": the name of a %s is too long: %zu bytes, limit %d", shown, what, length,
                        CONFIG_NAME_MAX);
    return 0;
}

/* A mark that starts a comment: first of the text, or after white space. */
static const char *find_comment(const char *text, char mark)
{
    for (const char *p = text; *p; p++)
        if (*p == mark && (p == text || is_space(p[-1])))
            return p;
    return NULL;
}

char *line_section(char *text, const char *file, long number, struct dpf_error *error)
{
    char *end = strchr(text, ']');
    char shown[TEXT_SHOWN];
    if (!end) {
        error_at(error, DPF_FAULT_CONFIG, file, number, "\"%s\": ']' is missing after the section",
                 text_show(text, shown));
        return NULL;
    }
    char *rest = line_trim(end + 1);
    if (*rest && *rest != ';') {
        error_at(error, DPF_FAULT_CONFIG, file, number,
                 "\"%s\" after the section's ']': put it on a line of its own", text_show(rest, shown));
        return NULL;
    }
    *end = '\0';
    char *name = line_trim(text + 1);
    return check_name("section", name, file, number, error) == 0 ? name : NULL;
}

/* Bytes that stand for ';' and '#' between quotes while inih reads a line: no file may have them. */
#define HIDDEN_SEMICOLON '\x01'
#define HIDDEN_HASH '\x02'

void line_hide_quoted(char *line)
{
    char *value = strchr(line, '=');
    int quotes = 0;
    for (const char *p = value; p && *p; p++)
        quotes += *p == '"';
    if (quotes % 2 != 0) /* not all of them are closed: they are ordinary characters */
        return;
    int inside = 0;
    for (char *p = value; p && *p; p++) {
        inside ^= *p == '"';
        if (inside && *p == ';')
            *p = HIDDEN_SEMICOLON;
        else if (inside && *p == '#')
            *p = HIDDEN_HASH;
    }
}

/* Whether a value is one text in quotes: the quote that ends it is the last character. */
static int is_quoted(const char *value)
{
    const size_t length = strlen(value);
    if (length < 2 || value[0] != '"' || value[length - 1] != '"')
        return 0;
    for (size_t i = 1; i + 1 < length; i++)
        if (value[i] == '"' && (i + 2 == length || value[++i] != '"'))
            return 0;
    return 1;
}

void line_unquote(char *value)
{
    for (char *p = value; *p; p++)
        *p = *p == HIDDEN_SEMICOLON ? ';' : *p == HIDDEN_HASH ? '#' : *p;
    if (!is_quoted(value))
        return;
    char *out = value;
    for (const char *p = value + 1; p[1]; p++) {
        *out++ = *p;
        p += *p == '"'; /* two of them are one */
    }
    *out = '\0';
}

void line_add_value(struct text *out, const char *value)
{
    const size_t length = strlen(value);
    const int needs = length > 0 && (value[0] == '"' || is_space(value[0]) || is_space(value[length - 1]) ||
                                     find_comment(value, ';') || find_comment(value, '#'));
    if (!needs) {
        text_add(out, "%s", value);
        return;
    }
    text_add(out, "\"");
    for (const char *p = value; *p; p++)
        text_add(out, *p == '"' ? "\"\"" : "%c", *p);
    text_add(out, "\"");
}

static int check_value(const char *value, const char *file, long number, struct dpf_error *error)
{
    return find_comment(value, '#')
               ? error_at(error, DPF_FAULT_CONFIG, file, number,
                          "'#' after a space is neither value nor comment: a comment after a "
                          "value starts with ';', and a value that has one stands in quotes")
               : 0;
}

int line_check_key(const char *line, const char *name, const char *value, const char *file, long number,
                   struct dpf_error *error)
{
    const char *separator = line + strlen(name);
    char shown[TEXT_SHOWN];
    separator += strspn(separator, " \t");
    if (*separator != '=')
        return error_at(error, DPF_FAULT_CONFIG, file, number,
                        "\"%s\": only '=' separates a key from its value; write key = value",
                        text_show(line, shown));
    if (check_name("key", name, file, number, error) != 0)
        return -1;
    if (find_comment(value, ';'))
        return error_at(
            error, DPF_FAULT_CONFIG, file, number,
            "\"%s\": a value cannot start with ';'; write it in quotes, or put a space before a comment",
            text_show(line, shown));
    return check_value(value, file, number, error);
}

int line_refuse(const char *line, const char *file, long number, struct dpf_error *error)
{
    char shown[TEXT_SHOWN];
    return error_at(error, DPF_FAULT_CONFIG, file, number,
                    "\"%s\": no '='; write key = value, all of it on one line", text_show(line, shown));
}

int line_is_blank(const char *line)
{
    return *line == '\0' || *line == ';' || *line == '#';
}

int line_split_override(char *text, const char *label, char **section, char **key, char **value,
                        struct dpf_error *error)
{
    size_t length = strlen(text);
    if (length > CONFIG_LINE_MAX)
        return error_at(error, DPF_FAULT_CONFIG, label, 0, "longer than the limit of %d bytes",
                        CONFIG_LINE_MAX);
    if (line_check_bytes(text, length, label, 0, error) != 0)
        return -1;
    char *equals = strchr(text, '=');
    if (!equals)
        return error_at(error, DPF_FAULT_CONFIG, label, 0, "no '='; write -o section.key=value");
    *equals = '\0';
    char *name = line_trim(text);
    char *dot = strrchr(name, '.');
    if (!dot)
        return error_at(error, DPF_FAULT_CONFIG, label, 0,
                        "no '.' before the '='; write -o section.key=value");
    *dot = '\0';
    *section = name;
    *key = dot + 1;
    if (check_name("section", *section, label, 0, error) != 0 ||
        check_name("key", *key, label, 0, error) != 0)
        return -1;
    if (equals[1] && equals[1 + strspn(equals + 1, " \t")] == '\0')
        return error_at(
            error, DPF_FAULT_CONFIG, label, 0,
            "the value is blank: write tab for a TAB and space for a space, and nothing at all for "
            "the empty value");
    *value = line_trim(equals + 1);
    line_unquote(*value);
    return 0;
}
