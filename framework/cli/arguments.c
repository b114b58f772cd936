/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/ticker.h"
#include "cli/command.h"
#include "cli/sections.h"
#include "base/log.h"

enum {
    OPTION_PLUGIN_DIR = 256,
    OPTION_JSON,
    OPTION_FORMAT,
    OPTION_DRY_RUN,
    OPTION_RESUME,
    OPTION_USER,
    OPTION_ALL,
    OPTION_DATA,
    OPTION_EXCLUDE,
    OPTION_CANDIDATES,
    OPTION_ITEM,
    OPTION_PREPARE,
    OPTION_LIST,
    OPTION_POINT,
    OPTION_TAKE_OVER,
    OPTION_PROFILE,
    OPTION_INSECURE_TEST,
    OPTION_SCORES
};

static const struct option options[] = {
    {"config", required_argument, NULL, 'c'},
    {"override", required_argument, NULL, 'o'},
    {"output", required_argument, NULL, 'O'},
    {"plugin-dir", required_argument, NULL, OPTION_PLUGIN_DIR},
    {"json", no_argument, NULL, OPTION_JSON},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {"jobs", required_argument, NULL, 'j'},
    {"dry-run", no_argument, NULL, OPTION_DRY_RUN},
    {"resume", no_argument, NULL, OPTION_RESUME},
    {"user", required_argument, NULL, OPTION_USER},
    {"all", no_argument, NULL, OPTION_ALL},
    {"data", required_argument, NULL, OPTION_DATA},
    {"exclude", required_argument, NULL, OPTION_EXCLUDE},
    {"candidates", required_argument, NULL, OPTION_CANDIDATES},
    {"item", required_argument, NULL, OPTION_ITEM},
    {"number", required_argument, NULL, 'n'},
    {"profile", optional_argument, NULL, OPTION_PROFILE},
    {"prepare", no_argument, NULL, OPTION_PREPARE},
    {"list", no_argument, NULL, OPTION_LIST},
    {"point", required_argument, NULL, OPTION_POINT},
    {"take-over", no_argument, NULL, OPTION_TAKE_OVER},
    {"insecure-test", no_argument, NULL, OPTION_INSECURE_TEST},
    {"scores", no_argument, NULL, OPTION_SCORES},
    {NULL, 0, NULL, 0},
};

static int add_plugin_dir(struct arguments *out, const char *directory, struct dpf_error *error)
{
    if (out->n_plugin_dirs == MAX_PLUGIN_DIRS)
        return error_set(error, DPF_FAULT_CONFIG, "--plugin-dir: at most %d directories", MAX_PLUGIN_DIRS);
    char *absolute = realpath(directory, NULL);
    if (!absolute)
        return error_set(error, DPF_FAULT_CONFIG, "--plugin-dir %s: there is no such directory", directory);
    out->plugin_dirs[out->n_plugin_dirs++] = absolute;
    return 0;
}

/* How options are called in messages, and the text by which the help of a command says that it has them. */
static const struct option_info {
    int option;
    const char *name, *in_usage;
    int repeats;
} option_info[] = {
    {'c', "-c", "-c CONFIG", 0},
    {'o', "-o", "-o ", 1},
    {'O', "-O", "--output", 0},
    {'j', "--jobs", "--jobs", 0},
    {'n', "-n", "-n N", 0},
    {OPTION_JSON, "--json", "--json", 1},
    {OPTION_JSON, "--json", "--format", 1},
    {OPTION_FORMAT, "--format", "--format", 0},
    {OPTION_DRY_RUN, "--dry-run", "--dry-run", 1},
    {OPTION_RESUME, "--resume", "--resume", 1},
    {OPTION_USER, "--user", "--user", 0},
    {OPTION_ALL, "--all", "--all", 1},
    {OPTION_DATA, "--data", "--data", 0},
    {OPTION_EXCLUDE, "--exclude", "--exclude", 0},
    {OPTION_CANDIDATES, "--candidates", "--candidates", 0},
    {OPTION_ITEM, "--item", "--item", 0},
    {OPTION_PROFILE, "--profile", "--profile", 0},
    {OPTION_PREPARE, "--prepare", "--prepare", 1},
    {OPTION_LIST, "--list", "--list", 1},
    {OPTION_POINT, "--point", "--point", 0},
    {OPTION_TAKE_OVER, "--take-over", "--take-over", 1},
    {OPTION_INSECURE_TEST, "--insecure-test", "--insecure-test", 1},
    {OPTION_SCORES, "--scores", "--scores", 1},
};

static int has_option(int option, const char *usage)
{
    int is_own = 0;
    for (size_t i = 0; i < sizeof option_info / sizeof option_info[0]; i++) {
        if (option_info[i].option == option && strstr(usage, option_info[i].in_usage))
            return 1;
        is_own |= option_info[i].option == option;
    }
    return !is_own; /* all commands have it */
}

/* An option that a command would ignore is refused, as is a value that another one would replace. */
static int check_known(int option, const char *usage, uint32_t *given, struct dpf_error *error)
{
    const struct option_info *known = NULL;
    for (size_t i = 0; i < sizeof option_info / sizeof option_info[0] && !known; i++)
        if (option_info[i].option == option)
            known = &option_info[i];
    if (!known)
        return 0;
    if (!has_option(option, usage))
        return error_set(error, DPF_FAULT_CONFIG, "this command has no option %s (see --help)", known->name);
    const uint32_t bit = UINT32_C(1) << (known - option_info);
    if ((*given & bit) && !known->repeats)
        return error_set(error, DPF_FAULT_CONFIG, "%s is given twice", known->name);
    *given |= bit;
    return 0;
}

static int take_number(const char *name, int64_t most, int64_t *out, struct dpf_error *error)
{
    if (text_to_int(optarg, out) != 0 || *out < 1 || *out > most)
        return error_set(error, DPF_FAULT_CONFIG, "%s %s: must be a number from 1 to %lld", name, optarg,
                         (long long)most);
    return 0;
}

/* Options of some commands that set a flag, or keep their text. Returns 1 if it is none of them. */
static int take_plain(int option, struct arguments *out)
{
    switch (option) {
    case OPTION_DRY_RUN:
        out->dry_run = 1;
        return 0;
    case OPTION_RESUME:
        out->resume = 1;
        return 0;
    case OPTION_ALL:
        out->all = 1;
        return 0;
    case OPTION_USER:
        out->user = optarg;
        return 0;
    case OPTION_DATA:
        out->data = optarg;
        return 0;
    case OPTION_EXCLUDE:
        out->exclude = optarg;
        return 0;
    case OPTION_CANDIDATES:
        out->candidates = optarg;
        return 0;
    case OPTION_ITEM:
        out->item = optarg;
        return 0;
    case OPTION_PREPARE:
        out->prepare = 1;
        return 0;
    case OPTION_LIST:
        out->list = 1;
        return 0;
    case OPTION_POINT:
        out->point = optarg;
        return 0;
    case OPTION_SCORES:
        out->scores = 1;
        return 0;
    case OPTION_TAKE_OVER:
        out->take_over = 1;
        return 0;
    case OPTION_INSECURE_TEST:
        out->insecure_test = 1;
        return 0;
    default:
        return 1;
    }
}

/* Options that only some commands have. Returns 1 if it is none of them. */
static int take_special(int option, struct arguments *out, struct dpf_error *error)
{
    int64_t jobs = 0;
    switch (option) {
    case 'j':
        if (take_number("--jobs", 1024, &jobs, error) != 0)
            return -1;
        out->jobs = (int)jobs;
        return 0;
    case 'n':
        return take_number("-n", 2147483647, &out->count, error);
    case OPTION_PROFILE:
        out->profile = 1;
        out->profile_limits = optarg;
        return 0;
    case OPTION_JSON:
        out->json = 1;
        out->format = "json";
        return 0;
    case OPTION_FORMAT:
        out->format = out->table_format = optarg;
        out->json |= strcmp(optarg, "json") == 0;
        return 0;
    default:
        return take_plain(option, out);
    }
}

static int take_option(int option, struct arguments *out, struct dpf_error *error)
{
    int special = take_special(option, out, error);
    if (special <= 0)
        return special;
    switch (option) {
    case 'c':
        if (optarg[0] == '\0')
            return error_set(error, DPF_FAULT_CONFIG, "-c \"\": give the name of a file");
        out->config = optarg;
        return 0;
    case 'o':
        if (out->n_overrides == MAX_OVERRIDES)
            return error_set(error, DPF_FAULT_CONFIG, "-o: at most %d overrides", MAX_OVERRIDES);
        out->overrides[out->n_overrides++] = optarg;
        return 0;
    case 'O':
        out->output = optarg;
        return 0;
    case OPTION_PLUGIN_DIR:
        return add_plugin_dir(out, optarg, error);
    case 'q':
        out->quiet = 1;
        log_set_level(LOG_LEVEL_WARNING);
        return 0;
    default:
        out->verbose = 1;
        log_set_level(LOG_LEVEL_DEBUG);
        return 0;
    }
}

/* An option that getopt does not know, or whose value is missing; at is where it stands. */
static int refuse_option(int option, const char *at, struct dpf_error *error)
{
    enum { N = sizeof options / sizeof options[0] - 1 };
    const char *names[N], *nearest = NULL;
    char shown[TEXT_SHOWN], letter[3] = {'-', (char)optopt, '\0'};
    const int is_long = strncmp(at, "--", 2) == 0 && (option == ':' || strchr(at, '='));
    const int is_letter = optopt > 0 && optopt < 256 && !is_long;
    text_show(is_letter ? letter : at, shown);
    if (option == ':')
        return error_set(error, DPF_FAULT_CONFIG, "%s needs a value", shown);
    if (optopt && !is_letter)
        return error_set(error, DPF_FAULT_CONFIG, "%s: this option takes no value", shown);
    for (size_t i = 0; i < N; i++)
        names[i] = options[i].name;
    if (!is_letter)
        nearest = text_nearest(at + 2, names, N);
    return error_set(error, DPF_FAULT_CONFIG, "unknown option %s%s%s%s (see --help)", shown,
                     nearest ? "; did you mean --" : "", nearest ? nearest : "", nearest ? "?" : "");
}

/* Where the text of a line begins: behind the option that it explains, if it does. */
static size_t text_column(const char *line)
{
    const size_t indent = strspn(line, " "), length = strcspn(line, "\n");
    const char *gap = indent > 0 ? strstr(line + indent, "  ") : NULL;
    if (!gap || gap >= line + length)
        return indent;
    return (size_t)(gap - line) + strspn(gap, " ");
}

/* The length of what is wrapped as one: a line, and those that go on where its text began. */
static size_t paragraph_length(const char *text)
{
    const size_t column = text_column(text);
    size_t length = strcspn(text, "\n");
    const int is_running = column == 0 || column > strspn(text, " ");
    if (length == 0 || !is_running || strncmp(text, "usage:", 6) == 0)
        return length;
    while (text[length] == '\n' && text[length + 1] && strspn(text + length + 1, " ") == column &&
           !strchr("\n-", text[length + 1 + column]))
        length += 1 + strcspn(text + length + 1, "\n");
    return length;
}

/* One paragraph, its lines joined. */
static void add_paragraph(struct text *out, const char *text, size_t length)
{
    const size_t column = text_column(text);
    char *first = memory_format("%.*s", (int)column, text);
    char *body = memory_format("%.*s", (int)(length - column), text + column);
    for (char *end = strchr(body, '\n'); end; end = strchr(end, '\n')) {
        *end = ' ';
        memmove(end + 1, end + 1 + column, strlen(end + 1 + column) + 1);
    }
    terminal_wrap(out, first, (int)column, body, terminal_width(STDOUT_FILENO));
    free(body);
    free(first);
}

static int prints_options;

/* Options that commands share, and those that a help text has of its own. */
static void print_options(const char *usage)
{
    for (const struct option *o = options; o->name; o++)
        if (has_option(o->val, usage)) {
            printf("--%s\n", o->name);
            if (o->val < 256)
                printf("-%c\n", o->val);
        }
    for (const char *at = strstr(usage, "--"); at; at = strstr(at, "--")) {
        const size_t n = strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-");
        int is_known = n == 0;
        for (const char *b = strstr(usage, "--"); b < at; b = strstr(b + 2, "--")) /* once */
            is_known |= strspn(b + 2, "abcdefghijklmnopqrstuvwxyz-") == n && strncmp(b, at, n + 2) == 0;
        for (const struct option *o = options; o->name; o++)
            is_known |= strlen(o->name) == n && strncmp(o->name, at + 2, n) == 0;
        if (!is_known)
            printf("--%.*s\n", (int)n, at + 2);
        at += 2 + n;
    }
}

void arguments_print_options(int wanted)
{
    prints_options = wanted;
}

int arguments_prints_options(void)
{
    return prints_options;
}

/* As wide as the terminal at most. */
void arguments_print_usage(const char *usage)
{
    struct text out = {0};
    if (prints_options) {
        print_options(usage);
        return;
    }
    for (const char *at = usage; *at;) {
        const size_t length = paragraph_length(at);
        add_paragraph(&out, at, length);
        at += length + (at[length] == '\n');
    }
    fputs(!out.data ? usage : out.data, stdout);
    text_free(&out);
}

int arguments_is_config(const char *word)
{
    const size_t length = strlen(word);
    return length > 4 && strcmp(word + length - 4, ".ini") == 0;
}

/* A configuration may stand without its -c: the first operand that is named like one. */
static void take_config_operand(const char *usage, struct arguments *out)
{
    if (out->config || !strstr(usage, "-c CONFIG"))
        return;
    int at = 0;
    while (at < out->n_rest && !arguments_is_config(out->rest[at]))
        at++;
    if (at == out->n_rest)
        return;
    out->config = out->rest[at];
    out->n_rest--;
    for (; at < out->n_rest; at++)
        out->rest[at] = out->rest[at + 1];
}

int arguments_no_operands(const struct arguments *arguments, const char *command, struct dpf_error *error)
{
    if (!arguments->n_rest)
        return 0;
    const char *word = arguments->rest[0];
    const char *dot = strchr(word, '.'), *equals = strchr(word, '=');
    if (dot && equals && dot < equals)
        return error_set(error, DPF_FAULT_CONFIG, "stray argument \"%s\": a value follows -o, as in -o %s",
                         word, word);
    char with[TEXT_SHOWN + 8], shown[TEXT_SHOWN];
    snprintf(with, sizeof with, "%s.ini", text_show(word, shown));
    if (!arguments->config && access(with, F_OK) == 0)
        return error_set(error, DPF_FAULT_CONFIG, "\"%s\" is no configuration: did you mean %s?", shown,
                         with);
    if (!arguments->config)
        return error_set(
            error, DPF_FAULT_CONFIG,
            "\"%s\" is no configuration, which is a FILE.ini%s: see dpframe %s --help, or dpframe "
            "start, which writes one",
            shown, access(word, F_OK) == 0 ? " (-c takes any name)" : "", command);
    return error_set(error, DPF_FAULT_CONFIG, "stray argument \"%s\": see dpframe %s --help", shown, command);
}

int arguments_parse(int argc, char **argv, const char *usage, struct arguments *out, struct dpf_error *error)
{
    uint32_t given = 0;
    *out = (struct arguments){.format = "text"};
    out->sections = sections_of_use_cases(&out->n_sections);
    optind = 0; /* forgets letters that an earlier call has left */
    opterr = 0;
    for (;;) {
        optopt = 0;
        int option = getopt_long(argc, argv, ":c:o:O:j:n:qvh", options, NULL);
        if (option < 0)
            break;
        if (option == 'h') {
            arguments_print_usage(usage);
            return 1;
        }
        /* getopt moves operands behind options: what it has just read stands before optind. Letters that
           are written together ("-qx") stay there until the last one is read. */
        if (option == '?' || option == ':')
            return refuse_option(option, argv[optind > 1 ? optind - 1 : 1], error);
        if (check_known(option, usage, &given, error) != 0 || take_option(option, out, error) != 0)
            return -1;
    }
    for (; optind < argc; optind++) {
        if (out->n_rest == MAX_OVERRIDES)
            return error_set(error, DPF_FAULT_CONFIG, "too many arguments");
        out->rest[out->n_rest++] = argv[optind];
    }
    take_config_operand(usage, out);
    ticker_set(out->json && out->verbose              ? TICKER_JSON
               : isatty(STDERR_FILENO) && !out->quiet ? TICKER_BAR
                                                      : TICKER_OFF);
    return 0;
}

int arguments_first_word(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--") == 0)
            return 0;
        if (word[0] != '-' || !word[1])
            return i;
        const size_t length = strcspn(word, "=");
        for (const struct option *o = options; o->name; o++) {
            const int is_long = word[1] == '-' && strlen(o->name) == length - 2 &&
                                strncmp(word + 2, o->name, length - 2) == 0 && !word[length];
            const int is_short = word[1] != '-' && o->val == word[1] && !word[2];
            i += o->has_arg == required_argument && (is_long || is_short);
        }
    }
    return 0;
}

int arguments_own_value(int argc, char **argv, int *i, const char *name, const char **value,
                        struct dpf_error *error)
{
    size_t length = strlen(name);
    const char *argument = argv[*i];
    if (strncmp(argument, name, length) != 0 || (argument[length] != '\0' && argument[length] != '='))
        return 0;
    if (*value)
        return error_set(error, DPF_FAULT_CONFIG, "%s is given twice", name);
    if (argument[length] == '=')
        *value = argument + length + 1;
    else if (*i + 1 < argc)
        *value = argv[++*i];
    else
        return error_set(error, DPF_FAULT_CONFIG, "%s needs a value", name);
    return 1;
}

void arguments_free(struct arguments *arguments)
{
    for (int i = 0; i < arguments->n_plugin_dirs; i++)
        free((char *)(uintptr_t)arguments->plugin_dirs[i]);
    arguments->n_plugin_dirs = 0;
}

int command_on(int argc, char **argv, const char *usage, int operands, const char *wanted,
               int (*act)(const struct arguments *, struct dpf_error *))
{
    struct dpf_error error = {0};
    struct arguments arguments;
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0 && arguments.n_rest != operands)
        status = error_set(&error, DPF_FAULT_CONFIG, "name %s (see --help)", wanted);
    if (status == 0)
        status = act(&arguments, &error);
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}
