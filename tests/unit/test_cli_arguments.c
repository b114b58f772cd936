/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the command: what is taken, and that nothing is written past the end of a list. */
#include <stdio.h>
#include <string.h>

#include "kit/test.h"
#include "cli/command.h"

#define MOST 800

/* Parses words separated by spaces; argv[0] is added. */
static int parse(const char *words, struct arguments *out, struct dpf_error *error)
{
    static char copy[8192];
    char *argv[MOST] = {copy};
    int argc = 1;
    snprintf(copy, sizeof copy, "run %s", words);
    strtok(copy, " ");
    for (char *word = strtok(NULL, " "); word; word = strtok(NULL, " ")) {
        assert_true(argc < MOST - 1);
        argv[argc++] = word;
    }
    memset(error, 0, sizeof *error);
    return arguments_parse(argc, argv, "-c CONFIG [-o section.key=value] [--output DIR] [--json]", out,
                           error);
}

static void refused(const char *words, const char *text)
{
    struct arguments arguments;
    struct dpf_error error;
    assert_int_equal(parse(words, &arguments, &error), -1);
    assert_int_equal(error.fault, DPF_FAULT_CONFIG);
    if (!strstr(error.text, text))
        fail_msg("\"%s\" missing in: %s", text, error.text);
    arguments_free(&arguments);
}

TEST(options_are_taken)
{
    struct arguments arguments;
    struct dpf_error error;
    assert_int_equal(parse("-c a.ini -o run.seed=3 --override run.rounds=2 -O out --plugin-dir / --json rest",
                           &arguments, &error),
                     0);
    assert_string_equal(arguments.config, "a.ini");
    assert_int_equal(arguments.n_overrides, 2);
    assert_string_equal(arguments.overrides[0], "run.seed=3");
    assert_string_equal(arguments.overrides[1], "run.rounds=2");
    assert_string_equal(arguments.output, "out");
    assert_string_equal(arguments.plugin_dirs[0], "/");
    assert_true(arguments.json);
    assert_string_equal(arguments.format, "json");
    assert_int_equal(arguments.n_rest, 1);
    arguments_free(&arguments);
}

TEST(wrong_options_are_named)
{
    refused("--colour", "--colour");
    refused("-c a.ini -c b.ini", "-c is given twice");
    refused("-o", "-o needs a value");
    refused("a b -o", "-o needs a value");
    refused("-qx", "unknown option -x");
    refused("--quiet -xq", "unknown option -x");
    refused("--quiet=3", "--quiet=3: this option takes no value");
    refused("--quiet --config", "--config needs a value");
    refused("--confg a.ini", "did you mean --config?");
    refused("--json=3", "takes no value");
    refused("-c a.ini --data x", "no option --data");
    refused("--format json", "no option --format");
    refused("--plugin-dir /no/such/directory", "/no/such/directory");
}

TEST(lists_have_an_end)
{
    char words[8192] = "";
    for (int i = 0; i < MAX_OVERRIDES + 1; i++)
        strcat(words, "-o a.b=1 ");
    refused(words, "at most 256 overrides");
    words[0] = '\0';
    for (int i = 0; i < MAX_OVERRIDES + 1; i++)
        strcat(words, "x ");
    refused(words, "too many arguments");
    words[0] = '\0';
    for (int i = 0; i < MAX_PLUGIN_DIRS + 1; i++)
        strcat(words, "--plugin-dir / ");
    refused(words, "at most 16 directories");
}

/* --output is one more override: a full list must not grow past its end. */
TEST(output_needs_room_for_an_override)
{
    static char storage[MAX_OVERRIDES][32];
    char *argv[2 * MAX_OVERRIDES + 8];
    int argc = 0;
    argv[argc++] = storage[0];
    char option_c[] = "-c", option_o[] = "-o", option_output[] = "-O", config[] = "/absent/a.ini";
    argv[argc++] = option_c;
    argv[argc++] = config;
    for (int i = 0; i < MAX_OVERRIDES; i++) {
        snprintf(storage[i], sizeof storage[i], "run.seed=%d", i);
        argv[argc++] = option_o;
        argv[argc++] = storage[i];
    }
    argv[argc++] = option_output;
    argv[argc++] = config;
    assert_int_equal(command_run(argc, argv), DPF_FAULT_CONFIG);
}

TEST(own_options_are_taken_in_both_forms)
{
    char words[5][16] = {"run", "--curve", "a", "--curve=b", "--curve"};
    char *argv[] = {words[0], words[1], words[2], words[3], words[4]};
    struct dpf_error error = {0};
    const char *value = NULL;
    int i = 1;
    assert_int_equal(arguments_own_value(5, argv, &i, "--curve", &value, &error), 1);
    assert_string_equal(value, "a");
    assert_int_equal(i, 2);
    assert_int_equal(arguments_own_value(5, argv, &i, "--curve", &value, &error), 0);
    i = 3;
    assert_int_equal(arguments_own_value(5, argv, &i, "--curve", &value, &error), -1);
    assert_non_null(strstr(error.text, "--curve is given twice"));
    value = NULL;
    assert_int_equal(arguments_own_value(5, argv, &i, "--curv", &value, &error), 0);
    assert_int_equal(arguments_own_value(5, argv, &i, "--curve", &value, &error), 1);
    assert_string_equal(value, "b");
    value = NULL;
    error = (struct dpf_error){0};
    i = 4;
    assert_int_equal(arguments_own_value(5, argv, &i, "--curve", &value, &error), -1);
    assert_non_null(strstr(error.text, "--curve needs a value"));
}

/* A failure that nobody explained is still a failure. */
TEST(an_empty_error_is_no_success)
{
    struct dpf_error error = {0};
    assert_int_equal(failure_report(&error), DPF_FAULT_RUN);
    error.fault = DPF_FAULT_DATA;
    assert_int_equal(failure_report(&error), 3);
}
