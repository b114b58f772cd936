/* SPDX-License-Identifier: Apache-2.0 */
#include "start/start_config.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "data/load.h"
#include "reading/data_options.h"
#include "reading/public_file.h"
#include "run/session.h"
#include "start/expectation.h"
#include "start/start_recipes.h"

/* ---- the configuration's own name ---------------------------------------------------------------------- */

/* "dir/ratings.csv.gz" -> "ratings.ini". Free it. */
static char *config_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strchr(name + (*name == '.'), '.');
    return memory_format("%.*s.ini", dot ? (int)(dot - name) : (int)strlen(name), name);
}

/* A path in a configuration is relative to that file. Free it. */
static char *path_for(const char *config, const char *path, struct dpf_error *error)
{
    char *absolute = realpath(path, NULL);
    if (!absolute) {
        error_set(error, DPF_FAULT_DATA, "%s: %s", path, strerror(errno));
        return NULL;
    }
    if (path[0] == '/' || strchr(config, '/'))
        return absolute;
    free(absolute);
    return memory_text(path);
}

/* ---- what the user reads of it --------------------------------------------------------------------------- */

/* The smallest epsilon that is proved, or NULL. */
static const struct account *best_proof(const struct guarantee *guarantee)
{
    const struct account *best = NULL;
    for (int i = 0; i < guarantee->n_accounts; i++) {
        const struct account *account = &guarantee->accounts[i];
        if (guarantee->plan_holds && !account->is_claim && !account->refused &&
            isfinite(account->answer.epsilon) && (!best || account->answer.epsilon < best->answer.epsilon))
            best = account;
    }
    return best;
}

static void print_line(const char *first, const char *format, ...) DPF_PRINTF(2, 3);
static void print_line(const char *first, const char *format, ...)
{
    char body[2048];
    struct text line = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(body, sizeof body, format, args);
    va_end(args);
    terminal_wrap(&line, first, (int)strlen(first), body, terminal_width(STDOUT_FILENO));
    fputs(line.data ? line.data : body, stdout);
    text_free(&line);
}

static void print_failing(const struct guarantee *guarantee)
{
    struct text why = {0};
    for (int i = 0; i < N_CONDITIONS; i++)
        if (!guarantee->conditions[i].holds)
            text_add(&why, " %s: %s", guarantee->conditions[i].id, guarantee->conditions[i].why);
    print_line("Promised: ", "nothing yet.%s", why.data ? why.data : "");
    text_free(&why);
}

/* What the recipe has declared to be public comes first: whom that exposes is not protected. */
static void print_promise(const struct plan *plan)
{
    char epsilon[32], delta[32];
    const struct guarantee *guarantee = &plan->guarantee;
    const struct account *proof = best_proof(guarantee);
    const int public_ids = plan->privacy.params.values[PRIVACY_ID_LISTS].integer == 1;
    if (!proof) {
        print_failing(guarantee);
        return;
    }
    print_line("Promised: ",
               "%s release/ shows about any one user, with all records, is bounded by epsilon = "
               "%s, delta = %s "
               "(proved by %s).",
               public_ids
                   ? "which items occur in the file is public: an item that only one user has shows in "
                     "release/item_ids.txt (id-lists = public; a public list of items, items-file = FILE, "
                     "ends that). Whatever else"
                   : "what",
               guarantee_digits_up(proof->answer.epsilon, 3, epsilon),
               guarantee_digits_up(proof->answer.delta, 3, delta), proof->accountant);
}

/* Of the catalogue, what was written of it, unless the call says its column. */
static void print_catalogue(const struct start_facts *facts)
{
    const struct look *look = &facts->catalogue;
    const int id = look->columns[LOOK_ITEM];
    char *path = look->lines ? public_file_path(facts->values[FACT_ITEMS_FILE]) : NULL;
    const int says_column = path && strcmp(path, facts->values[FACT_ITEMS_FILE]) != 0;
    free(path);
    if (look->lines == 0 || says_column)
        return;
    print_line(
        "Catalogue: ",
        "ids are in column %d%s%s of %s (%s)%s%s. If that is not so, correct items-file = FILE:COLUMN in it.",
        id + 1, look->names[id][0] ? ", " : "", look->names[id], facts->values[FACT_ITEMS_FILE],
        look->examples[id], look->fields > 1 ? ", fields are separated by " : "",
        look->fields > 1 ? look_delimiter(look) : "");
}

/* How to go on: pairs are read as the records are, but for columns that they do not need. */
static void print_next(const struct start_facts *facts, const char *config, int stem, const char *records)
{
    const char *stated = facts->values[FACT_DELIMITER],
               *delimiter = stated ? stated : data_form_named(facts->values[FACT_FORMAT])->delimiter;
    const int tabs = strcmp(delimiter, "tab") == 0, commas = strcmp(delimiter, "comma") == 0;
    printf("Train: dpframe run %s -O %.*s-results\n", config, stem, config);
    if (facts->ranking) {
        printf("Then:  dpframe recommend %.*s-results --user ID\n", stem, config);
        return;
    }
    printf("Then:  dpframe predict %.*s-results PAIRS.%s\n", stem, config,
           tabs     ? "tsv"
           : commas ? "csv"
                    : "txt");
    print_line(
        "       ",
        "with lines like those of %s: fields separated by %s, %s, users and items in the same columns.",
        records, delimiter, facts->has_header ? "under a header" : "without a header");
}

/* A public file that seems to name items for people, where no names are declared. */
static void print_titles(const struct start_facts *facts)
{
    static const int files[] = {FACT_ITEM_FEATURES, FACT_ITEMS_FILE};
    for (size_t i = 0; i < sizeof files / sizeof files[0] && !facts->values[FACT_ITEM_NAMES]; i++) {
        struct look look;
        struct dpf_error ignored = {0};
        char *path = public_file_path(facts->values[files[i]] ? facts->values[files[i]] : "");
        const int found = *path && look_at(path, 1, &look, &ignored) == 0 && look_title(&look) >= 0;
        if (found)
            print_line(
                "Names: ", "lists and predictions show ids. For names, add item-names = %s:%s to [data].",
                path, look.names[look_title(&look)]);
        free(path);
        if (found)
            return;
    }
}

/* ---- all of it --------------------------------------------------------------------------------------- */

struct start {
    struct arguments *arguments;
    struct start_facts facts;
    const struct recipe *recipe;
    char *config, *path;
};

static int has_recommender(void *context, const char *id)
{
    struct dpf_error ignored = {0};
    return registry_find(context, DPF_ROLE_RECOMMENDER, id, &ignored) != NULL;
}

static int choose_recipe(struct start *start, struct dpf_error *error)
{
    const struct arguments *a = start->arguments;
    struct registry *registry = registry_open(a->plugin_dirs, a->n_plugin_dirs, error);
    if (!registry)
        return -1;
    start->recipe = recipe_choose(&start->facts, has_recommender, registry);
    registry_free(registry);
    return start->recipe
               ? 0
               : error_set(error, DPF_FAULT_PLUGIN, "no recipe for %s: plugin %s is not on the search path",
                           start->facts.ranking ? "lists" : "ratings",
                           start->facts.values[FACT_RECIPE] ? start->facts.values[FACT_RECIPE]
                           : start->facts.ranking           ? "private-gram or private-popularity"
                                                            : "private-ratings or private-biases");
}

static int stem_length(const char *config)
{
    const size_t length = strlen(config);
    return (int)(length > 4 && strcmp(config + length - 4, ".ini") == 0 ? length - 4 : length);
}

/* The directory of results that is printed as -O, as a path in the configuration: relative to its place. */
static char *results_beside(const char *config)
{
    const char *slash = strrchr(config, '/'), *name = slash ? slash + 1 : config;
    return memory_format("%.*s-results", stem_length(name), name);
}

static int write_config(const struct start *start, struct dpf_error *error)
{
    struct text text = {0};
    if (access(start->config, F_OK) == 0)
        return error_set(error, DPF_FAULT_CONFIG,
                         "%s is there already: remove it, or name another with --output", start->config);
    char *output = results_beside(start->config);
    if (!output)
        return error_memory(error);
    recipe_write(start->recipe, &start->facts, start->path, output, &text);
    free(output);
    int status = files_write_text(start->config, text.data, error);
    text_free(&text);
    return status;
}

static int check_config(const struct start *start, struct dpf_error *error)
{
    struct session session = {0};
    struct arguments *own = start->arguments;
    own->config = start->config;
    int status = session_open(&session, own, 0, error);
    if (status == 0)
        status = data_check_record(&session.plan.data, &session.plan.split, error);
    if (status == 0)
        status = session_complete_without_training(&session, error);
    if (status == 0) {
        char *cost = expectation_text(start->recipe->is_simple, &start->facts);
        print_line("Wrote ", "%s: %s Of %s dpframe has read the first lines alone.", start->config,
                   start->recipe->summary, start->arguments->rest[0]);
        print_catalogue(&start->facts);
        print_titles(&start->facts);
        print_promise(&session.plan);
        print_line("Expected: ", "%s.", cost ? cost : "");
        const int stem = stem_length(start->config);
        print_next(&start->facts, start->config, stem, start->arguments->rest[0]);
        free(cost);
    }
    session_close(&session);
    return status;
}

/* A file, and ":COLUMN" behind it. */
static char *place_file(const struct start *start, int fact, struct dpf_error *error)
{
    const char *value = start->facts.values[fact];
    char *file = fact == FACT_ITEM_FEATURES ? memory_text(value) : public_file_path(value);
    const char *column = file ? value + strlen(file) : "";
    char *path = file ? path_for(start->config, file, error) : NULL;
    char *whole = path ? memory_format("%s%s", path, column) : NULL;
    free(file);
    free(path);
    return whole;
}

/* The other files that the facts name, as the configuration has to write them. */
static int place_files(struct start *start, struct dpf_error *error)
{
    static const int files[] = {FACT_ITEMS_FILE, FACT_ITEM_NAMES, FACT_ITEM_FEATURES};
    struct start_facts *facts = &start->facts;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char *path = facts->values[files[i]] ? place_file(start, files[i], error) : NULL;
        if (facts->values[files[i]] && !path)
            return error->fault ? -1 : error_memory(error);
        free(facts->owned[files[i]]);
        facts->values[files[i]] = facts->owned[files[i]] = path;
    }
    return 0;
}

static int start_with(struct start *start, struct dpf_error *error)
{
    struct arguments *a = start->arguments;
    struct stat info;
    if (a->n_rest < 1 || strchr(a->rest[0], '='))
        return error_set(error, DPF_FAULT_CONFIG,
                         "name a file of records: dpframe start FILE [FACT=VALUE]...");
    if (stat(a->rest[0], &info) != 0)
        return error_set(error, DPF_FAULT_DATA, "%s: %s", a->rest[0],
                         errno == ENOENT ? "there is no such file" : strerror(errno));
    if (!S_ISREG(info.st_mode))
        return error_set(error, DPF_FAULT_DATA, "%s is no regular file: name a file of records", a->rest[0]);
    if (start_facts_take(&start->facts, a->rest[0], a->rest + 1, a->n_rest - 1, error) != 0)
        return -1;
    if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
        start_facts_ask(&start->facts, a->rest[0]);
    if (start_facts_complete(&start->facts, error) != 0 ||
        start_facts_look_at_items(&start->facts, error) != 0 || choose_recipe(start, error) != 0)
        return -1;
    start->config = a->output ? memory_text(a->output) : config_name(a->rest[0]);
    start->path = start->config ? path_for(start->config, a->rest[0], error) : NULL;
    if (!start->config || !start->path)
        return error->fault ? -1 : error_memory(error);
    if (place_files(start, error) != 0 || write_config(start, error) != 0)
        return -1;
    if (check_config(start, error) == 0)
        return 0;
    unlink(start->config); /* it says something that is not so: the facts are to be corrected */
    return -1;
}

int start_config(struct arguments *arguments, struct dpf_error *error)
{
    struct start start = {.arguments = arguments};
    log_set_level(LOG_LEVEL_WARNING);
    const int status = start_with(&start, error);
    free(start.config);
    free(start.path);
    start_facts_free(&start.facts);
    return status;
}
