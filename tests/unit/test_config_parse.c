/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/config_support.h"

#include "config/config_line.h"

TEST(reads_a_file)
{
    static const char text[] = "\xef\xbb\xbf# a comment\n"
                               "; another\n"
                               "\n"
                               "[run]   ; comment\r\n"
                               "rounds = 10 ; ten\r\n"
                               "  seed=7\n"
                               "\toutput\t=\tresults/a=b;c#d  \n"
                               "note = caf\xc3\xa9 : it's \"quoted\"\n"
                               "empty =\n"
                               "also-empty = ; nothing\n"
                               "[ items.mechanism ]\n"
                               "epsilon = 0.5\n"
                               "[run]\n"
                               "relation.path = x";
    struct config *config = support_parse(text);
    assert_string_equal(config_path(config), "t.ini");
    assert_int_equal(config_size(config), 8);
    assert_string_equal(support_value(config, "run", "rounds"), "10");
    assert_string_equal(support_value(config, "run", "seed"), "7");
    assert_string_equal(support_value(config, "run", "output"), "results/a=b;c#d");
    assert_string_equal(support_value(config, "run", "note"), "caf\xc3\xa9 : it's \"quoted\"");
    assert_string_equal(support_value(config, "run", "empty"), "");
    assert_string_equal(support_value(config, "run", "also-empty"), "");
    assert_string_equal(support_value(config, "items.mechanism", "epsilon"), "0.5");
    assert_string_equal(support_value(config, "run", "relation.path"), "x");
    assert_string_equal(support_value(config, "run.relation", "path"), "x");
    assert_null(config_find(config, "run", "Rounds"));
    assert_int_equal(config_find(config, "run", "rounds")->line, 5);
    assert_int_equal(config_find(config, "items.mechanism", "epsilon")->line, 12);
    assert_string_equal(config_find(config, "run", "seed")->file, "t.ini");
    assert_true(config_has_section(config, "items.mechanism"));
    assert_false(config_has_section(config, "items"));
    /* Keys of a section stay together, wherever they stand. */
    assert_string_equal(config_at(config, 6)->key, "relation.path");
    assert_string_equal(config_at(config, 7)->key, "epsilon");
    assert_null(config_at(config, 8));
    assert_null(config_at(config, -1));
    config_free(config);
}

TEST(reads_next_to_nothing)
{
    static const char *const texts[] = {"", "\n", "\n\n;", "\xef\xbb\xbf", "\r\n", "#", "[a]", "   "};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct config *config = support_parse(texts[i]);
        assert_int_equal(config_size(config), 0);
        config_free(config);
    }
}

/* Each text fails, in the line given, with a message that holds the words given. */
static const struct bad_text {
    const char *text;
    int line;
    const char *words;
} bad_texts[] = {
    {"[a]\nx = 1\ny = 2\nx = 3\n", 4, "set twice, first in line 2"},
    {"[a]\nx = 1\n[b]\n[a]\nx = 1\n", 5, "first in line 2"},
    {"[a]\nb.c = 1\n[a.b]\nc = 2\n", 4, "first in line 2"},
    {"[a]\nx: 1\n", 2, "only '=' separates"},
    {"[a]\nx:y = 1\n", 2, "only '=' separates"},
    {"[a]\nx =;y\n", 2, "cannot start with ';'"},
    {"[a]\nx\n", 2, "no '='"},
    {"[a]\nlist = 1,\n    2\n", 3, "all of it on one line"},
    {"[a]\n= 1\n", 2, "the key has no name"},
    {"[a] x = 1\n", 1, "after the section's ']'"},
    {"[a\nx = 1\n", 1, "']' is missing"},
    {"[]\n", 1, "the section has no name"},
    {"[a b]\n", 1, "letters, digits"},
    {"[a;b]\n", 1, "letters, digits"},
    {"[.a]\n", 1, "between two words"},
    {"[a..b]\n", 1, "between two words"},
    {"[a]\nx. = 1\n", 2, "between two words"},
    {"[a]\nx y = 1\n", 2, "letters, digits"},
    {"[a]\nx = 1 # comment\n", 2, "starts with ';'"},
    {"[a]\nx = # comment\n", 2, "starts with ';'"},
    {"\nx = 1\n", 2, "before the first section"},
    {"[a]\ninclude = b.ini\n", 2, "must stand before the first section"},
    {"\ninclude = b.ini\n", 2, "only a file can include"},
    {"include = ,b.ini\n", 1, "file name is missing"},
    {"include =\n", 1, "file name is missing"},
    {"[a]\nx = \x1b[2J\n", 2, "control byte \\x1b in column 5"},
    {"[a]\nx = 1\ry = 2\n", 2, "control byte \\x0d"},
    {"[a]\nx = \xff\n", 2, "\\xff in column 5: not UTF-8"},
    {"[a]\nx = \xc2\x9b\n", 2, "not UTF-8"},
    {"\xff\xfe[\n", 1, "not UTF-8"},
    {"[abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij]\n", 1, "too long: 50 bytes, limit 49"},
    {"[a]\nabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij = 1\n", 2, "too long: 50 bytes, limit 49"},
};

TEST(refuses_bad_text)
{
    for (size_t i = 0; i < sizeof bad_texts / sizeof bad_texts[0]; i++) {
        const struct bad_text *bad = &bad_texts[i];
        struct dpf_error error = {0};
        char place[32];
        snprintf(place, sizeof place, "t.ini:%d: ", bad->line);
        assert_null(config_parse("t.ini", bad->text, strlen(bad->text), &error));
        assert_int_equal(error.fault, DPF_FAULT_CONFIG);
        if (strncmp(error.text, place, strlen(place)) != 0)
            fail_msg("\"%s\" does not start with \"%s\"", error.text, place);
        support_assert_contains(error.text, bad->words);
        for (const char *p = error.text; *p; p++) {
            assert_true((unsigned char)*p >= 0x20);
            assert_true((unsigned char)*p < 0x7f);
        }
    }
}

/* A value in quotes may have what begins a comment; quotes that do not enclose the value are characters of it. */
TEST(reads_values_in_quotes)
{
    static const struct {
        const char *written, *value;
    } values[] = {{"\";\"", ";"},
                  {"\"a ; b # c\" ; comment", "a ; b # c"},
                  {"\" a \"", " a "},
                  {"\"\"", ""},
                  {"\"say \"\"hello\"\" ; once\"", "say \"hello\" ; once"},
                  {"5\" disks ; comment", "5\" disks"},
                  {"\"a\" and \"b\"", "\"a\" and \"b\""},
                  {"x=\";\"; y=2", "x=\";\"; y=2"},
                  {"\"", "\""}};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[128];
        snprintf(text, sizeof text, "[a]\nx = %s\ny = 1\n", values[i].written);
        struct config *config = support_parse(text);
        assert_string_equal(support_value(config, "a", "x"), values[i].value);
        assert_string_equal(support_value(config, "a", "y"), "1");
        config_free(config);
    }
}

/* What line_add_value writes is read back as it was, whatever text it is. */
TEST(every_value_can_be_written)
{
    static const char *const pieces[] = {"\"", ";", "#", " ", "a", "\t", "=", "[", "\xc3\xa9", ","};
    const size_t n = sizeof pieces / sizeof pieces[0];
    for (size_t number = 0; number < n * n * n * n * n; number++) {
        char value[32] = "";
        for (size_t rest = number; rest > 0; rest /= n)
            strcat(value, pieces[rest % n]);
        struct text text = {0};
        text_add(&text, "[a]\nx = ");
        line_add_value(&text, value);
        text_add(&text, "\ny = 1\n");
        struct config *config = support_parse(text.data);
        assert_string_equal(support_value(config, "a", "x"), value);
        assert_string_equal(support_value(config, "a", "y"), "1");
        config_free(config);
        text_free(&text);
    }
}

TEST(refuses_nul_bytes)
{
    struct dpf_error error = {0};
    assert_null(config_parse("t.ini", "[a]\nx = 1\0 2\n", 13, &error));
    support_assert_contains(error.text, "t.ini:2: control byte \\x00 in column 6");
}

/* Lines as long as allowed, or as inih's buffer can hold, arrive whole; longer ones are refused. */
TEST(never_cuts_a_line)
{
    static char text[6000];
    for (size_t length = 100; length < 4200; length += length < 300 ? 1 : 37) {
        struct dpf_error error = {0};
        size_t head = (size_t)snprintf(text, sizeof text, "[a]\nx=");
        memset(text + head, 'v', length);
        strcpy(text + head + length, "\n[b]\ny = 1\n");
        struct config *config = config_parse("t.ini", text, strlen(text), &error);
        if (config) {
            assert_int_equal(strlen(support_value(config, "a", "x")), length);
            assert_string_equal(support_value(config, "b", "y"), "1");
            assert_int_equal(config_find(config, "b", "y")->line, 4);
        } else {
            support_assert_contains(error.text, "t.ini:2: the line");
        }
        config_free(config);
    }
    struct dpf_error error = {0};
    memset(text, 'x', sizeof text);
    assert_null(config_parse("t.ini", text, sizeof text, &error));
    support_assert_contains(error.text, "t.ini:1: the line is too long: 6000 bytes");
}

TEST(refuses_masses)
{
    size_t size = (size_t)2 << 20;
    char *text = malloc(size);
    assert_non_null(text);
    size_t length = (size_t)snprintf(text, size, "[a]\n");
    for (int i = 0; i < 5000; i++)
        length += (size_t)snprintf(text + length, size - length, "k%d = 1\n", i);
    struct dpf_error error = {0};
    assert_null(config_parse("t.ini", text, length, &error));
    support_assert_contains(error.text, "t.ini:4098: too many keys (limit 4096)");
    memset(text, '\n', size);
    error = (struct dpf_error){0};
    assert_null(config_parse("t.ini", text, size, &error));
    support_assert_contains(error.text, "1 MiB");
    free(text);
}
