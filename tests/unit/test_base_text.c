/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "kit/test.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(grows)
{
    struct text text = {0};
    for (int i = 0; i < 5000; i++)
        text_add(&text, "%d,", i % 10);
    text_add(&text, "%s", "");
    assert_int_equal(text.length, 10000);
    assert_int_equal(strlen(text.data), 10000);
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(text.data[2 * i], '0' + (int)(i % 10));
    text_free(&text);
    assert_null(text.data);
}

TEST(reads_integers)
{
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0},
                {"-0", 0},
                {"+17", 17},
                {"007", 7},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t value = -99;
        assert_int_equal(text_to_int(good[i].text, &value), 0);
        assert_true(value == good[i].value);
    }
    static const char *const bad[] = {"",
                                      "-",
                                      "+",
                                      " 1",
                                      "1 ",
                                      "1.0",
                                      "1e3",
                                      "0x10",
                                      "--1",
                                      "+-1",
                                      "1,0",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t value = -99;
        assert_int_equal(text_to_int(bad[i], &value), -1);
        assert_true(value == -99);
    }
}

TEST(reads_reals)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0},        {"1.5", 1.5},       {".5", 0.5},       {"5.", 5},           {"-2e3", -2000},
                {"+1E-2", 0.01}, {"1e+2", 100},      {"inf", INFINITY}, {"-inf", -INFINITY}, {"0e999", 0},
                {"0.0", 0},      {"5e-324", 5e-324}, {"1e308", 1e308}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        double value = -99;
        assert_int_equal(text_to_real(good[i].text, &value), 0);
        assert_true(value == good[i].value);
    }
    static const char *const bad[] = {"",         ".",   "-",   "e5",    "1e",    "1e+",   "nan",    "NaN",
                                      "0x1p3",    "1 ",  " 1",  "1,5",   "1.2.3", "1e400", "-1e400", "1e-400",
                                      "infinity", "Inf", "1d3", "1e5.0", "--1",   "1_000"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double value = -99;
        assert_int_equal(text_to_real(bad[i], &value), -1);
        assert_true(value == -99);
    }
}

TEST(writes_reals)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0, "-0"},
                 {1, "1"},
                 {-1.5, "-1.5"},
                 {0.1, "0.1"},
                 {100, "100"},
                 {1e6, "1000000"},
                 {123456.75, "123456.75"},
                 {1e15, "1000000000000000"},
                 {1e16, "1e16"},
                 {0.0001, "0.0001"},
                 {1e-5, "1e-5"},
                 {1.25e-7, "1.25e-7"},
                 {INFINITY, "inf"},
                 {-INFINITY, "-inf"},
                 {NAN, "nan"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {5e-324, "5e-324"},
                 {1.7976931348623157e308, "1.7976931348623157e308"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char buffer[32];
        assert_string_equal(text_from_real(cases[i].value, buffer), cases[i].text);
    }
}

/* A 64-bit mixer: all the randomness that these tests need. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static void check_round_trip(double value)
{
    char buffer[32];
    double back;
    memset(buffer, 'x', sizeof buffer);
    assert_non_null(memchr(text_from_real(value, buffer), '\0', sizeof buffer));
    assert_int_equal(text_to_real(buffer, &back), 0);
    assert_memory_equal(&back, &value, sizeof value);
}

TEST(reals_round_trip)
{
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t bits = mix(i);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            check_round_trip(value);
        check_round_trip((double)(int64_t)mix(~i) * 0x1p-40);
    }
}

/* The shortest text that reads back, of every size of number and near powers of ten. */
TEST(floats_have_their_shortest_text)
{
    static const struct {
        float value;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0F, "-0"},
                 {1, "1"},
                 {-2.5F, "-2.5"},
                 {0.1F, "0.1"},
                 {100, "100"},
                 {16777216, "16777216"},
                 {0.001F, "0.001"},
                 {123456.7F, "123456.7"},
                 {1e-5F, "0.00001"},
                 {9999999, "9999999"},
                 {3.4e38F, "3.4e+38"}};
    char buffer[32], shorter[32];
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        assert_string_equal(text_from_float(cases[c].value, buffer), cases[c].text);
    uint64_t seed = 88172645463325252U;
    for (int n = 0; n < 200000; n++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        const uint32_t bits = (uint32_t)(seed >> 20);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (n % 2)
            value = (float)(seed >> 40) * (n % 4 == 1 ? 1e-6F : 1e-3F);
        if (!isfinite(value))
            continue;
        text_from_float(value, buffer);
        if (strtof(buffer, NULL) != value)
            fail_msg("%.9g is written as %s", (double)value, buffer);
        int digits = 0, least = 1;
        for (const char *c = buffer; *c && *c != 'e'; c++)
            digits += *c >= '0' && *c <= '9' && (digits || *c != '0');
        while (least < 9 && (snprintf(shorter, sizeof shorter, "%.*e", least - 1, (double)value),
                             strtof(shorter, NULL) != value))
            least++;
        if (fabsf(value) >= 1e-5F && fabsf(value) < 1e6F && least > 6 && digits > least)
            fail_msg("%s has more than %d digits", buffer, least);
    }
}

TEST(ignores_the_locale)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "ru_RU.UTF-8"};
    int found = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !found; i++)
        found = setlocale(LC_ALL, names[i]) != NULL;
    if (!found)
        skip();
    double value = 0;
    char buffer[32];
    assert_int_equal(text_to_real("1.5", &value), 0);
    assert_true(value == 1.5);
    assert_int_equal(text_to_real("1,5", &value), -1);
    assert_string_equal(text_from_real(1234.5, buffer), "1234.5");
    setlocale(LC_ALL, "C");
}

TEST(writes_counts)
{
    char buffer[32];
    assert_string_equal(text_from_count(0, buffer), "0");
    assert_string_equal(text_from_count(999, buffer), "999");
    assert_string_equal(text_from_count(1000, buffer), "1,000");
    assert_string_equal(text_from_count(-100, buffer), "-100");
    assert_string_equal(text_from_count(-1000, buffer), "-1,000");
    assert_string_equal(text_from_count(1000209, buffer), "1,000,209");
    assert_string_equal(text_from_count(INT64_MIN, buffer), "-9,223,372,036,854,775,808");
}

TEST(suggests_near_names)
{
    static const char *const names[] = {"epsilon", "delta", "precision", "clip_norm", NULL, "k"};
    const int64_t n = sizeof names / sizeof names[0];
    assert_string_equal(text_nearest("epsilno", names, n), "epsilon");
    assert_string_equal(text_nearest("Epsilon", names, n), "epsilon");
    assert_string_equal(text_nearest("eps", names, n), "epsilon");
    assert_string_equal(text_nearest("clip-norm", names, n), "clip_norm");
    assert_string_equal(text_nearest("dleta", names, n), "delta");
    assert_null(text_nearest("rounds", names, n));
    assert_null(text_nearest("x", names, n));
    assert_null(text_nearest("", names, n));
    assert_null(text_nearest("epsilon", names, 0));
    /* Words that both have before a dot make nothing near. */
    static const char *const dotted[] = {"synthetic.rank", "synthetic.users", "relation.path"};
    assert_null(text_nearest("synthetic.foo", dotted, 3));
    assert_string_equal(text_nearest("synthetic.usrs", dotted, 3), "synthetic.users");
    assert_string_equal(text_nearest("relatoin.path", dotted, 3), "relation.path");
    char long_name[200];
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    assert_null(text_nearest(long_name, names, n));
    long_name[64] = '\0';
    const char *one = long_name;
    assert_ptr_equal(text_nearest(long_name, &one, 1), long_name);
}

TEST(shows_hostile_text)
{
    char buffer[TEXT_SHOWN];
    assert_string_equal(text_show("plain", buffer), "plain");
    assert_string_equal(text_show("a\x1b[2Jb\n", buffer), "a\\x1b[2Jb\\x0a");
    assert_string_equal(text_show("caf\xc3\xa9 \xff\xc3", buffer), "caf\xc3\xa9 \\xff\\xc3");
    assert_string_equal(text_show("\xc2\x9b", buffer), "\\xc2\\x9b");
    assert_string_equal(text_show("a\xe2\x80\xae z", buffer), "a\\xe2\\x80\\xae z"); /* from right to left */
    char small[24];
    assert_string_equal(text_escape("\n\n\n\n\n\n\n\n", small, sizeof small), "\\x0a\\x0a\\x0a\\x0a...");
    assert_string_equal(text_show("", buffer), "");
    char longer[500];
    for (int fill = 1; fill < 256; fill++) {
        for (size_t length = 70; length < 100; length++) {
            memset(longer, fill, length);
            longer[length] = '\0';
            assert_true(strlen(text_show(longer, buffer)) < TEXT_SHOWN);
        }
        assert_non_null(strstr(buffer, "..."));
    }
}

TEST(knows_utf8)
{
    static const struct {
        const char *text;
        int length;
    } cases[] = {{"", 0},
                 {"a", 1},
                 {"\x80", 0},
                 {"\xc1\x81", 0},
                 {"\xc2\xa9", 2},
                 {"\xc2", 0},
                 {"\xe0\x9f\xbf", 0},
                 {"\xe2\x82\xac", 3},
                 {"\xed\xa0\x80", 0},
                 {"\xf0\x8f\xbf\xbf", 0},
                 {"\xf0\x9f\x98\x80", 4},
                 {"\xf4\x90\x80\x80", 0},
                 {"\xf5\x80\x80\x80", 0},
                 {"\xe2\x82", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(text_utf8_length(cases[i].text), cases[i].length);
}
