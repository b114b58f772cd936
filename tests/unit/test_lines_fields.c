/* SPDX-License-Identifier: Apache-2.0 */
#include "lines/fields.h"
#include "kit/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct field field_of(const char *text)
{
    return (struct field){text, strlen(text)};
}

static void assert_split(const char *delimiter, const char *line, int64_t expected, const char *joined)
{
    struct delimiter d;
    struct field fields[FIELDS_MAX];
    char text[256] = "";
    assert_int_equal(delimiter_parse(delimiter, &d), 0);
    int64_t n = fields_split(&d, line, strlen(line), fields);
    assert_int_equal(n, expected);
    for (int64_t i = 0; i < n; i++) {
        strcat(text, i ? "/" : "");
        strncat(text, fields[i].data, fields[i].length);
    }
    assert_string_equal(text, joined);
}

TEST(splits_at_every_kind_of_delimiter)
{
    assert_split("comma", "1,2,3.5,4", 4, "1/2/3.5/4");
    assert_split(",", " 1 , 2,3 ", 3, "1/2/3");
    assert_split("tab", "1\t\t2\t", 4, "1//2/");
    assert_split("::", "1::a:b::3", 3, "1/a:b/3");
    assert_split("double-colon", "1::2:", 2, "1/2:");
    assert_split("::", ":::", 2, "/:");
    assert_split("spaces", "  1 \t 2   3 ", 3, "1/2/3");
    assert_split("space", "1  2", 3, "1//2");
    assert_split("semicolon", "", 1, "");
    assert_split("pipe", "|", 2, "/");
}

TEST(refuses_delimiters_that_occur_in_data)
{
    struct delimiter d;
    assert_int_equal(delimiter_parse("", &d), -1);
    assert_int_equal(delimiter_parse("a", &d), -1);
    assert_int_equal(delimiter_parse(".", &d), -1);
    assert_int_equal(delimiter_parse("\"", &d), -1);
    assert_int_equal(delimiter_parse("::::::::", &d), -1);
}

TEST(counts_fields_beyond_those_kept)
{
    struct delimiter d;
    struct field fields[FIELDS_MAX];
    char line[4 * FIELDS_MAX];
    memset(line, ',', sizeof line);
    assert_int_equal(delimiter_parse("comma", &d), 0);
    assert_int_equal(fields_split(&d, line, sizeof line, fields), 4 * FIELDS_MAX + 1);
}

TEST(only_canonical_integers_are_integers)
{
    static const char *const others[] = {"",
                                         "-",
                                         "007",
                                         "-0",
                                         "+1",
                                         "1.0",
                                         "1e3",
                                         "12a",
                                         "0x1",
                                         "9223372036854775808",
                                         "-9223372036854775808",
                                         "99999999999999999999"};
    int64_t value;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct field field = field_of(others[i]);
        assert_int_equal(field_integer(&field, &value), -1);
    }
    struct field zero = field_of("0"), most = field_of("9223372036854775807"), negative = field_of("-12");
    assert_int_equal(field_integer(&zero, &value), 0);
    assert_true(value == 0);
    assert_int_equal(field_integer(&most, &value), 0);
    assert_true(value == INT64_MAX);
    assert_int_equal(field_integer(&negative, &value), 0);
    assert_true(value == -12);
}

/* The fast way must give the very bits that strtod gives. */
TEST(reals_are_correctly_rounded)
{
    static const char *const texts[] = {"0",
                                        "-0",
                                        "1",
                                        "0.1",
                                        "4.5",
                                        ".5",
                                        "5.",
                                        "0.30000000000000004",
                                        "1e-3",
                                        "978300760.0",
                                        "123456789012345",
                                        "1234567890.12345",
                                        "-9.95",
                                        "179769313486231570000000000000000000000",
                                        "3.5E2",
                                        "0.000000000000001"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct field field = field_of(texts[i]);
        double value = -1, expected = strtod(texts[i], NULL);
        if (field_real(&field, &value) != 0 || memcmp(&value, &expected, sizeof value) != 0)
            fail_msg("%s: %.17g instead of %.17g", texts[i], value, expected);
    }
    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        char text[32];
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        snprintf(text, sizeof text, "%" PRIu64 ".%" PRIu64, (random >> 40) % 100000,
                 (random >> 20) % 10000000);
        struct field field = field_of(text);
        double value, expected = strtod(text, NULL);
        assert_int_equal(field_real(&field, &value), 0);
        assert_memory_equal(&value, &expected, sizeof value);
    }
}

TEST(no_number_is_guessed)
{
    static const char *const others[] = {"",
                                         "-",
                                         ".",
                                         "-.",
                                         "1,5",
                                         "nan",
                                         "NaN",
                                         "1.2.3",
                                         "4 5",
                                         "rating",
                                         "0x10",
                                         "1e",
                                         "--1",
                                         ("\xc2\xa0"
                                          "4")};
    double value;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct field field = field_of(others[i]);
        if (field_real(&field, &value) == 0)
            fail_msg("\"%s\" was read as %g", others[i], value);
    }
}

TEST(shows_bytes_that_cannot_be_seen)
{
    char buffer[96], longer[300];
    struct field field = field_of("3\xc2\xa0");
    assert_string_equal(field_show(&field, buffer), "\"3\\xc2\\xa0\"");
    memset(longer, 1, sizeof longer);
    struct field hidden = {longer, sizeof longer};
    assert_true(strlen(field_show(&hidden, buffer)) < sizeof buffer);
    assert_non_null(strstr(buffer, "...\""));
}
