/* SPDX-License-Identifier: Apache-2.0 */
/* Properties over random tables, values and texts. Seeds are fixed, so a failure repeats. */
#include "kit/config_support.h"

#include <math.h>

#include "base/text.h"
#include "config/config_line.h"

static uint64_t random_state;

static uint64_t next_word(void)
{
    random_state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = random_state;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t next_below(uint64_t bound)
{
    return next_word() % bound;
}

static double next_real(void)
{
    for (;;) {
        uint64_t bits = next_word();
        double value;
        memcpy(&value, &bits, sizeof value);
        if (next_below(2))
            value = (double)(int64_t)(bits >> 40) / 64;
        if (next_below(40) == 0)
            value = next_below(2) ? INFINITY : -INFINITY;
        if (!isnan(value))
            return value;
    }
}

static int64_t next_integer(void)
{
    uint64_t word = next_word();
    return (int64_t)(word >> next_below(64)) * (next_below(2) ? 1 : -1);
}

/* Text that can stand as a value: what the parser refuses or trims is left out here. */
static void next_text(char *out, size_t most)
{
    static const char *const pieces[] = {"a",        "Z",  "7", "/",  ".", "=", ":",  "\"",
                                         "\xc3\xa9", "x ", ";", "#",  "[", "]", "\\", "\xe2\x82\xac",
                                         "%s",       ",",  "-", "\t_"};
    *out = '\0';
    size_t n = next_below(most);
    for (size_t i = 0; i < n; i++)
        strcat(out, pieces[next_below(sizeof pieces / sizeof pieces[0])]);
    size_t length = strlen(out);
    while (length > 0 && (out[length - 1] == ' ' || out[length - 1] == '\t'))
        out[--length] = '\0';
    while (out[0] == ' ' || out[0] == '\t')
        memmove(out, out + 1, strlen(out));
}

#define MAX_PARAMS 12
#define MAX_LIST 7

/* A random table with a random value for each of its parameters. */
struct sample {
    dpf_param table[MAX_PARAMS];
    dpf_value values[MAX_PARAMS];
    char names[MAX_PARAMS][16];
    char texts[MAX_PARAMS][200];
    int64_t integers[MAX_PARAMS][MAX_LIST];
    double reals[MAX_PARAMS][MAX_LIST];
    int64_t n;
};

static const dpf_enum_value choices[] = {{"one", ""}, {"two", ""}, {"three-3", ""}, {"no", ""}, {"1", ""}};

static void make_value(struct sample *s, int i)
{
    dpf_param *param = &s->table[i];
    dpf_value *value = &s->values[i];
    switch (param->type) {
    case DPF_TYPE_BOOL:
        value->integer = (int64_t)next_below(2);
        break;
    case DPF_TYPE_INT:
        value->integer = next_integer();
        break;
    case DPF_TYPE_REAL:
        value->real = next_real();
        break;
    case DPF_TYPE_ENUM:
        value->integer = (int64_t)next_below(5);
        param->values = choices;
        param->n_values = 5;
        break;
    case DPF_TYPE_STRING:
    case DPF_TYPE_PATH:
        next_text(s->texts[i] + 1, 20);
        /* Only an absolute path comes back as it was. */
        s->texts[i][0] = '/';
        value->text = s->texts[i] + (param->type == DPF_TYPE_STRING);
        break;
    default:
        value->count = 1 + (int64_t)next_below(MAX_LIST - 1);
        for (int64_t j = 0; j < value->count; j++) {
            s->integers[i][j] = next_integer();
            s->reals[i][j] = next_real();
        }
        value->integers = s->integers[i];
        value->reals = s->reals[i];
    }
}

static void make_sample(struct sample *s)
{
    memset(s, 0, sizeof *s);
    s->n = 1 + (int64_t)next_below(MAX_PARAMS);
    for (int i = 0; i < (int)s->n; i++) {
        snprintf(s->names[i], sizeof s->names[i], "%s%d", next_below(2) ? "key-" : "k.", i);
        s->table[i] =
            (dpf_param){.name = s->names[i], .lo = -INFINITY, .hi = INFINITY, .unit = "", .help = ""};
        s->table[i].type = s->values[i].type = DPF_TYPE_BOOL + (int32_t)next_below(8);
        make_value(s, i);
    }
}

static void check_same(const dpf_value *a, const dpf_value *b)
{
    assert_int_equal(b->is_set, 1);
    assert_int_equal(a->type, b->type);
    assert_true(a->integer == b->integer);
    assert_memory_equal(&a->real, &b->real, sizeof a->real);
    assert_int_equal(a->count, b->count);
    if (a->text)
        assert_string_equal(a->text, b->text);
    if (a->type == DPF_TYPE_INT_LIST)
        assert_memory_equal(a->integers, b->integers, (size_t)a->count * sizeof *a->integers);
    if (a->type == DPF_TYPE_REAL_LIST)
        assert_memory_equal(a->reals, b->reals, (size_t)a->count * sizeof *a->reals);
}

TEST(values_round_trip)
{
    random_state = 1;
    for (int repeat = 0; repeat < 1500; repeat++) {
        struct sample sample;
        make_sample(&sample);
        struct text text = {0};
        text_add(&text, "[s]\n");
        for (int64_t i = 0; i < sample.n; i++) {
            char *value = config_value_text(&sample.table[i], &sample.values[i]);
            assert_non_null(value);
            text_add(&text, "%s = ", sample.names[i]);
            line_add_value(&text, value);
            text_add(&text, "\n");
            free(value);
        }
        struct config *config = support_parse(text.data);
        struct dpf_error error = {0};
        struct config_values values;
        if (config_bind(config, "s", sample.table, sample.n, sizeof sample.table[0], NULL, 1, &values,
                        &error) != 0)
            fail_msg("%s", error.text);
        for (int64_t i = 0; i < sample.n; i++)
            check_same(&sample.values[i], &values.params.values[i]);
        assert_int_equal(config_check_consumed(config, NULL, 0, &error), 0);
        config_values_free(&values);
        config_free(config);
        text_free(&text);
    }
}

/* A value is accepted exactly if it lies within the bounds. */
TEST(bounds_hold)
{
    random_state = 2;
    for (int repeat = 0; repeat < 4000; repeat++) {
        double lo = (double)next_below(5) - 2, hi = lo + (double)next_below(4);
        double value = (double)next_below(20) / 2 - 4;
        dpf_param param = {.name = "k", .type = DPF_TYPE_REAL, .lo = lo, .hi = hi, .unit = "", .help = ""};
        param.flags = (uint32_t)next_below(4) * DPF_PARAM_OPEN_LO;
        if (value == floor(value) && next_below(2))
            param.type = next_below(2) ? DPF_TYPE_INT : DPF_TYPE_INT_LIST;
        int inside = value >= lo && value <= hi && !(param.flags & DPF_PARAM_OPEN_LO && value == lo) &&
                     !(param.flags & DPF_PARAM_OPEN_HI && value == hi);
        char text[64], number[32];
        snprintf(text, sizeof text, "[s]\nk = %s\n", text_from_real(value, number));
        struct config *config = support_parse(text);
        struct dpf_error error = {0};
        struct config_values values;
        int status = config_bind(config, "s", &param, 1, sizeof param, NULL, 1, &values, &error);
        assert_int_equal(status, inside ? 0 : -1);
        if (status != 0)
            support_assert_contains(error.text, "t.ini:2: [s] k = ");
        config_values_free(&values);
        config_free(config);
    }
}

/* Whether line `number` of text sets a key, by a reading of its own that only has to be right for texts
   that the parser accepts. */
static int sets_a_key(const char *line, size_t length)
{
    while (length > 0 && (*line == ' ' || *line == '\t')) {
        line++;
        length--;
    }
    return length > 0 && !strchr(";#[\r", *line);
}

static void check_lines(const struct config *config, const char *text, size_t length)
{
    long number = 0;
    int64_t keys = 0;
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t size = end ? (size_t)(end - text) - at : length - at;
        number++;
        if (sets_a_key(text + at, size)) {
            int64_t found = 0;
            for (int64_t i = 0; i < config_size(config); i++)
                found += config_at(config, i)->line == number;
            assert_int_equal(found, 1);
            keys++;
        }
        at += size + 1;
    }
    assert_int_equal(keys, config_size(config));
}

static const char seed_text[] =
    "# head\n[run]\nrounds = 10 ; ten\nseed=7\n\n[items]\r\nmechanism = laplace\r\n"
    "list = 1, 2..5\n[items.mechanism]\n  epsilon = 0.5\nnote = a:b=c\n";

/* Whatever is done to a text, it is either read whole or refused with a place. */
TEST(mutations_are_read_or_refused)
{
    random_state = 3;
    static const char bytes[] = "[]=;#:. \t\r\n\n\n\0\x1b\xc3\xa9"
                                "ax1,-\xff";
    int accepted = 0;
    for (int repeat = 0; repeat < 20000; repeat++) {
        char text[sizeof seed_text];
        memcpy(text, seed_text, sizeof text);
        size_t length = sizeof text - 1 - next_below(4);
        for (uint64_t n = next_below(4); n > 0; n--) {
            size_t at = next_below(length);
            if (next_below(2))
                text[at] = bytes[next_below(sizeof bytes - 1)];
            else
                memmove(text + at, text + at + 1, length-- - at - 1);
        }
        struct dpf_error error = {0};
        struct config *config = config_parse("t.ini", text, length, &error);
        if (config) {
            check_lines(config, text, length);
            accepted++;
        } else {
            long line = 0;
            assert_int_equal(sscanf(error.text, "t.ini:%ld: ", &line), 1);
            assert_in_range(line, 1, 12);
        }
        config_free(config);
    }
    assert_in_range(accepted, 2000, 18000);
}
