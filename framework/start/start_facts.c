/* SPDX-License-Identifier: Apache-2.0 */
#include "start/start_facts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "base/text.h"
#include "reading/public_file.h"

static const struct {
    const char *key, *question;
    const char *choices; /* separated by '|', or NULL */
    const char *asked;   /* on a terminal; NULL: not asked for */
    const char *without; /* what Enter means; NULL: there has to be an answer */
    enum number { NO_NUMBER, WHOLE, REAL, ABOVE_0, PROBABILITY } number;
} table[N_FACTS] = {
    [FACT_FEEDBACK] =
        {.key = "feedback",
         .question =
             "what a record means: ratings (explicit), interactions (implicit), or how often (counts)",
         .choices = "explicit|implicit|counts",
         .asked = "What is a record: a rating (explicit), an interaction (implicit), or how often (counts)?"},
    [FACT_WANT] = {.key = "want",
                   .question = "what is wanted: lists of items (ranking), or predicted ratings (ratings)",
                   .choices = "ranking|ratings",
                   .asked = "Do you want lists of items (ranking), or predicted ratings (ratings)?",
                   .without = "ratings"},
    [FACT_USERS] = {.key = "users",
                    .question =
                        "how many users there can be at most: a public number, not a count of the file",
                    .asked = "How many users can there be at most?",
                    .number = WHOLE},
    [FACT_ITEMS] = {.key = "items",
                    .question = "how many items there can be at most: the size of the catalogue",
                    .asked = "How many items can there be at most?",
                    .number = WHOLE},
    [FACT_VALUE_MIN] = {.key = "value-min",
                        .question = "the smallest rating that can be given",
                        .asked = "What is the smallest rating that can be given?",
                        .number = REAL},
    [FACT_VALUE_MAX] = {.key = "value-max",
                        .question = "the largest",
                        .asked = "And the largest?",
                        .number = REAL},
    [FACT_EPSILON] = {.key = "epsilon",
                      .question = "the total budget for each user: 1 is strong, 3 usual, 10 weak",
                      .asked = "Which epsilon in total? 1 protects strongly, 3 is usual, 10 is weak.",
                      .number = ABOVE_0},
    [FACT_DELTA] = {.key = "delta",
                    .question = "the probability that the bound may fail; a tenth of 1 / users or less",
                    .number = PROBABILITY},
    [FACT_RECIPE] =
        {.key = "recipe",
         .question = "the model; by default the rule of docs/accuracy.md chooses it from users and epsilon",
         .choices = "private-gram|private-popularity|private-ratings|private-biases"},
    [FACT_RECORDS] =
        {.key = "records",
         .question = "how many records a typical user has, a public guess; what accuracy can be expected "
                     "depends on it",
         .number = WHOLE},
    [FACT_UNIT] = {.key = "unit", .question = "whom the guarantee protects", .choices = "user"},
    [FACT_FORMAT] = {.key = "format",
                     .question =
                         "what the file looks like; by default its name, if the first lines fit, else csv",
                     .choices = "csv|tsv|recbole|movielens-100k|movielens-1m"},
    [FACT_DELIMITER] = {.key = "delimiter",
                        .question = "what separates fields, as in data.delimiter",
                        .asked = "What separates fields: comma, semicolon, tab, pipe, space, double-colon?",
                        .without = "as in the format"},
    [FACT_HEADER] = {.key = "header",
                     .question = "whether the first line names the columns",
                     .choices = "yes|no",
                     .asked = "Does the first line name the columns?"},
    [FACT_FIELDS] = {.key = "fields",
                     .question = "how many fields a line has",
                     .asked = "How many fields does a line have?",
                     .number = WHOLE},
    [FACT_USER] = {.key = "user",
                   .question = "the user's column, a name or a number from 1",
                   .asked = "Which column has the user, by name or number?",
                   .without = "a usual name, or column 1"},
    [FACT_ITEM] = {.key = "item",
                   .question = "the item's column",
                   .asked = "Which column has the item?",
                   .without = "a usual name, or column 2"},
    [FACT_RATING] = {.key = "rating",
                     .question = "the column of the rating or count",
                     .asked = "Which column has the rating or count?",
                     .without = "a usual name, or column 3"},
    [FACT_TIME] =
        {.key = "time",
         .question = "the column of the time stamp: of lists, the last record of each user is then held out",
         .asked = "Which column has the time, by name or number?",
         .without = "none"},
    [FACT_ITEMS_FILE] = {.key = "items-file",
                         .question = "the catalogue, an id on each line, or a column, movies.csv:movieId; "
                                     "without it the records say which "
                                     "items there are",
                         .asked = "Which public file lists all items, an id on each line or in a column "
                                  "(movies.csv:movieId)? Without one, you declare that the set of items that "
                                  "occur is public.",
                         .without = "none"},
    [FACT_ITEM_NAMES] = {.key = "item-names",
                         .question = "names of items for people: a public file and a column of it, as in "
                                     "movies.csv:title, or movies.dat:2 without a header",
                         .asked = "Which public file and column name items for people, as in "
                                  "movies.csv:title?",
                         .without = "none: lists have ids"},
    [FACT_ITEM_FEATURES] = {.key = "item-features", .question = "a file of public facts about items"},
    [FACT_ITEM_FEATURES_FORMAT] = {.key = "item-features.format",
                                   .question = "what that file looks like; by default its name decides"},
    [FACT_ITEM_FEATURES_CATEGORIES] = {.key = "item-features.categories",
                                       .question = "columns of that file whose texts are categories: genres"},
    [FACT_ITEM_FEATURES_NUMBERS] = {.key = "item-features.numbers", .question = "columns of numbers"},
    [FACT_ITEM_FEATURES_YEAR_OF] = {.key = "item-features.year-of",
                                    .question = "a column whose text ends in a year, as in Toy Story (1995)"},
};

static int is_choice(const char *choices, const char *value)
{
    const size_t length = strlen(value);
    for (const char *at = choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strncmp(at, value, length) == 0 && (at[length] == '|' || at[length] == '\0'))
            return 1;
    return 0;
}

static int check_number(int fact, const char *value, struct dpf_error *error)
{
    char shown[TEXT_SHOWN];
    double real = NAN;
    int64_t whole = 0;
    const enum number kind = table[fact].number;
    const char *wanted = NULL;
    if (kind == WHOLE)
        wanted = text_to_int(value, &whole) == 0 && whole >= 1 && whole <= 2147483647
                     ? NULL
                     : "a number from 1 to 2147483647";
    else if (kind != NO_NUMBER && (text_to_real(value, &real) != 0 || !isfinite(real)))
        wanted = "a number";
    else if (kind == ABOVE_0 && !(real > 0))
        wanted = "above 0";
    else if (kind == PROBABILITY && !(real > 0 && real < 1))
        wanted = "above 0 and below 1";
    return wanted ? error_set(error, DPF_FAULT_CONFIG, "%s=%s: must be %s", table[fact].key,
                              text_show(value, shown), wanted)
                  : 0;
}

/* The ends of the range are two answers, and either may be the later one. */
static int check_range(const char *low, const char *high, struct dpf_error *error)
{
    char shown[2][TEXT_SHOWN];
    double least, most;
    if (!low || !high || text_to_real(low, &least) != 0 || text_to_real(high, &most) != 0 || least < most)
        return 0;
    return error_set(error, DPF_FAULT_CONFIG, "value-max=%s: must be above value-min (%s)",
                     text_show(high, shown[0]), text_show(low, shown[1]));
}

static int check_value(int fact, const char *value, struct dpf_error *error)
{
    char shown[TEXT_SHOWN];
    if (check_number(fact, value, error) != 0)
        return -1;
    if (table[fact].choices && !is_choice(table[fact].choices, value))
        return error_set(error, DPF_FAULT_CONFIG, "%s=%s: must be %s%s", table[fact].key,
                         text_show(value, shown), table[fact].choices,
                         fact == FACT_UNIT ? "; protecting a user protects each of the user's records, too"
                                           : "");
    if (!*value || strpbrk(value, "\n\r") || value[0] == ' ')
        return error_set(error, DPF_FAULT_CONFIG, "%s=%s: this value cannot be written into a configuration",
                         table[fact].key, text_show(value, shown));
    return 0;
}

static int fact_named(const char *operand, size_t length)
{
    for (int f = 0; f < N_FACTS; f++)
        if (strlen(table[f].key) == length && strncmp(table[f].key, operand, length) == 0)
            return f;
    return -1;
}

struct name_format {
    const char *end, *format; /* an end that begins with '/' is a whole name */
};

static const char *format_by_end(const char *path, const struct name_format *names, size_t n)
{
    const size_t length = strlen(path);
    for (size_t i = 0; i < n; i++) {
        const char *wanted = names[i].end + (names[i].end[0] == '/' && !strchr(path, '/'));
        const size_t end = strlen(wanted);
        const int whole = wanted != names[i].end; /* a name, not an end of one */
        if (whole ? strcmp(path, wanted) == 0 : length >= end && strcmp(path + length - end, wanted) == 0)
            return names[i].format;
    }
    return NULL;
}

static const char *format_of_name(const char *path)
{
    static const struct name_format names[] = {{".tsv", "tsv"},
                                               {".inter", "recbole"},
                                               {".tsv.gz", "tsv"},
                                               {"/u.data", "movielens-100k"},
                                               {"/u.data.gz", "movielens-100k"},
                                               {"/ratings.dat", "movielens-1m"},
                                               {"/ratings.dat.gz", "movielens-1m"}};
    const char *format = format_by_end(path, names, sizeof names / sizeof names[0]);
    return format ? format : "csv";
}

/* NULL: a table. */
static const char *format_of_features(const char *path)
{
    static const struct name_format names[] = {{"u.item", "movielens-100k"}, {"movies.dat", "movielens-1m"}};
    const char *format = format_by_end(path, names, sizeof names / sizeof names[0]);
    struct look look;
    struct dpf_error later = {0}; /* what is wrong with the file, its reading says */
    if (!format || look_at(path, 1, &look, &later) != 0 || look.lines == 0)
        return format;
    const int fits = strcmp(look_delimiter(&look), format == names[0].format ? "pipe" : "double-colon") == 0;
    return fits ? format : NULL;
}

static int refuse_operand(const char *operand, struct dpf_error *error)
{
    char shown[TEXT_SHOWN];
    const char *names[N_FACTS];
    char *name = memory_format("%.*s", (int)strcspn(operand, "="), operand);
    for (int f = 0; f < N_FACTS; f++)
        names[f] = table[f].key;
    const char *nearest = text_nearest(name, names, N_FACTS);
    error_set(error, DPF_FAULT_CONFIG, "%s\"%s\"%s%s%s%s: see dpframe start --help",
              operand[strlen(name)] ? "there is no fact " : "",
              text_show(operand[strlen(name)] ? name : operand, shown),
              operand[strlen(name)] ? "" : " does not have the form fact=value",
              nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "=?" : "");
    free(name);
    return -1;
}

/* The first lines decide; a name alone says nothing of what is in a file. A format that is stated and that they do not have
   is refused before anything is asked, unless the lines say nothing either. */
static int settle_format(struct start_facts *facts, const char *path, struct dpf_error *error)
{
    const struct look *look = &facts->look;
    const char *format = facts->values[FACT_FORMAT];
    if (look->lines == 0 || look_fits(look, format))
        return 0;
    if (facts->format_by_name)
        facts->values[FACT_FORMAT] = "csv";
    else if (look->fields > 1)
        return error_set(
            error, DPF_FAULT_DATA,
            "format=%s: the first lines of %s have another form: %lld fields, separated by %s%s. "
            "Write format=%s, or leave it out",
            format, path, (long long)look->fields, look_delimiter(look),
            look->has_header ? ", under a header" : "", look->format);
    return 0;
}

int start_facts_take(struct start_facts *facts, const char *path, const char *const *operands, int n,
                     struct dpf_error *error)
{
    for (int i = 0; i < n; i++) {
        const char *equals = strchr(operands[i], '=');
        const int fact = equals ? fact_named(operands[i], (size_t)(equals - operands[i])) : -1;
        if (fact < 0)
            return refuse_operand(operands[i], error);
        if (facts->values[fact])
            return error_set(error, DPF_FAULT_CONFIG, "%s is given twice", table[fact].key);
        if (check_value(fact, equals + 1, error) != 0)
            return -1;
        facts->values[fact] = equals + 1;
    }
    facts->format_by_name = !facts->values[FACT_FORMAT];
    if (facts->format_by_name)
        facts->values[FACT_FORMAT] = format_of_name(path);
    /* What is no text is refused; the rest is for a person to confirm. */
    if (look_at(path, 0, &facts->look, error) != 0 || settle_format(facts, path, error) != 0)
        return -1;
    if (facts->values[FACT_ITEM_FEATURES] && !facts->values[FACT_ITEM_FEATURES_FORMAT])
        facts->values[FACT_ITEM_FEATURES_FORMAT] = format_of_features(facts->values[FACT_ITEM_FEATURES]);
    return 0;
}

/* ---- what has to be there ---------------------------------------------------------------------------------
 */

static int says(const struct start_facts *facts, int fact, const char *value)
{
    return facts->values[fact] && strcmp(facts->values[fact], value) == 0;
}

static int is_movielens(const struct start_facts *facts)
{
    return facts->values[FACT_FORMAT] && strncmp(facts->values[FACT_FORMAT], "movielens", 9) == 0;
}

static int is_needed(const struct start_facts *facts, int fact)
{
    switch (fact) {
    case FACT_FEEDBACK:
    case FACT_USERS:
    case FACT_ITEMS:
    case FACT_EPSILON:
        return 1;
    case FACT_HEADER: /* to be told: the first line may be a record */
        return !is_movielens(facts) && !says(facts, FACT_FORMAT, "recbole");
    case FACT_FIELDS:
        return !is_movielens(facts) && says(facts, FACT_HEADER, "no");
    case FACT_VALUE_MIN:
    case FACT_VALUE_MAX:
        return says(facts, FACT_FEEDBACK, "explicit") && !says(facts, FACT_WANT, "ranking") &&
               !says(facts, FACT_RECIPE, "private-gram") && !says(facts, FACT_RECIPE, "private-popularity");
    default:
        return 0;
    }
}

/* ---- the form of the file --------------------------------------------------------------------------------- */

/* What the first lines say of a fact, or NULL. buffer: for numbers. */
static const char *seen_of(const struct look *look, int fact, char buffer[32])
{
    const int role = fact == FACT_USER     ? LOOK_USER
                     : fact == FACT_ITEM   ? LOOK_ITEM
                     : fact == FACT_RATING ? LOOK_RATING
                     : fact == FACT_TIME   ? LOOK_TIME
                                           : -1;
    switch (fact) {
    case FACT_FORMAT:
        return look->format;
    case FACT_DELIMITER:
        return look->delimiter;
    case FACT_HEADER:
        return look->has_header ? "yes" : "no";
    case FACT_FIELDS:
        snprintf(buffer, 32, "%lld", (long long)look->fields);
        return look->has_header ? NULL : buffer;
    default:
        if (role < 0 || look->columns[role] < 0)
            return NULL;
        snprintf(buffer, 32, "%d", look->columns[role] + 1);
        return look->names[look->columns[role]][0] ? look->names[look->columns[role]] : buffer;
    }
}

static const int form_facts[] = {FACT_FORMAT, FACT_DELIMITER, FACT_HEADER, FACT_FIELDS,
                                 FACT_USER,   FACT_ITEM,      FACT_RATING, FACT_TIME};
#define N_FORM (sizeof form_facts / sizeof form_facts[0])

/* A recommender's file and MovieLens' have one form; of others it has to be told. */
static int form_is_open(const struct start_facts *facts)
{
    return (is_needed(facts, FACT_HEADER) && !facts->values[FACT_HEADER]) ||
           (is_needed(facts, FACT_FIELDS) && !facts->values[FACT_FIELDS]);
}

/* Shows the look; if the person says that it is right, it says what was not stated. */
static void confirm_look(struct start_facts *facts, const struct look *look, const char *path)
{
    char line[64], buffer[32];
    struct text shown = {0};
    look_table(look, path, &shown);
    fprintf(stderr, "%sIs that right? [yes|no] (Enter: yes)\nform = ", shown.data ? shown.data : "");
    text_free(&shown);
    fflush(stderr);
    const int ended = !fgets(line, sizeof line, stdin);
    if (ended && interrupt_is_wanted())
        return;
    if (ended || (line[0] != '\n' && line[0] != 'y' && line[0] != 'Y')) {
        facts->form_declined = 1;
        fprintf(stderr, "Then you are asked about separators and columns at the end.\n");
        return;
    }
    for (size_t i = 0; i < N_FORM; i++) {
        const int fact = form_facts[i];
        const char *seen = seen_of(look, fact, buffer);
        struct dpf_error problem = {0};
        const int is_open = fact == FACT_FORMAT ? facts->format_by_name : !facts->values[fact];
        if (is_open && seen && check_value(fact, seen, &problem) == 0)
            facts->values[fact] = facts->owned[fact] = memory_text(seen);
    }
    facts->form_confirmed = 1;
}

/* The facts that the first lines suggest, to be added to the call. */
static void suggest_form(const struct start_facts *facts, struct text *out)
{
    char buffer[32];
    const struct look *look = &facts->look;
    if (!form_is_open(facts) || look->lines == 0)
        return;
    text_add(out, "\nBy its first %lld lines the file looks like this; add what is right:\n ",
             (long long)look->lines);
    for (size_t i = 0; i < N_FORM; i++) {
        const int fact = form_facts[i];
        const char *seen = seen_of(look, fact, buffer);
        const int is_open = fact == FACT_FORMAT ? facts->format_by_name : !facts->values[fact];
        if (seen && is_open)
            text_add(out, strchr(seen, ' ') ? " '%s=%s'" : " %s=%s", table[fact].key, seen);
    }
}

/* Whether a terminal is asked for it, though there may be no answer. */
static int is_offered(const struct start_facts *facts, int fact)
{
    switch (fact) {
    case FACT_WANT:
        return says(facts, FACT_FEEDBACK, "explicit") && !facts->values[FACT_RECIPE];
    case FACT_DELIMITER:
        return says(facts, FACT_FORMAT, "csv") && !facts->form_confirmed;
    case FACT_TIME:
        return !is_movielens(facts) && !says(facts, FACT_FORMAT, "recbole") && !facts->form_confirmed;
    case FACT_USER:
    case FACT_ITEM:
    case FACT_RATING:
        return facts->form_declined;
    case FACT_ITEMS_FILE:
    case FACT_ITEM_NAMES:
        return 1;
    default:
        return 0;
    }
}

/* 1: there is an answer. 0: Enter, where that is one. -1: the end of the input, or an interruption. */
static int ask(struct start_facts *facts, int fact)
{
    for (;;) {
        if (interrupt_is_wanted())
            return -1;
        struct dpf_error problem = {0};
        char line[512];
        fprintf(stderr, "%s", table[fact].asked);
        if (table[fact].choices && !strchr(table[fact].asked, '('))
            fprintf(stderr, " [%s]", table[fact].choices);
        if (table[fact].without)
            fprintf(stderr, " (Enter: %s)", table[fact].without);
        fprintf(stderr, "\n%s = ", table[fact].key);
        fflush(stderr);
        if (!fgets(line, sizeof line, stdin)) {
            fputc('\n', stderr);
            return -1;
        }
        line[strcspn(line, "\n")] = '\0';
        if (!*line && table[fact].without)
            return 0;
        if (check_value(fact, line, &problem) != 0 ||
            (fact == FACT_VALUE_MIN && check_range(line, facts->values[FACT_VALUE_MAX], &problem) != 0) ||
            (fact == FACT_VALUE_MAX && check_range(facts->values[FACT_VALUE_MIN], line, &problem) != 0)) {
            fprintf(stderr, "%s\n", problem.text);
            continue;
        }
        facts->values[fact] = facts->owned[fact] = memory_text(line);
        return facts->values[fact] ? 1 : -1;
    }
}

void start_facts_ask(struct start_facts *facts, const char *path)
{
    int asked = 0;
    if (form_is_open(facts) && facts->look.lines > 0)
        confirm_look(facts, &facts->look, path);
    for (int f = 0; f < N_FACTS; f++) {
        if (facts->values[f] || !table[f].asked || !(is_needed(facts, f) || is_offered(facts, f)))
            continue;
        if (!asked++)
            fprintf(stderr,
                    "About %s. Answers are public and enter the noise; they are not counted from the "
                    "records.\n",
                    path);
        if (ask(facts, f) < 0)
            return;
    }
}

int start_facts_look_at_items(struct start_facts *facts, struct dpf_error *error)
{
    if (!facts->values[FACT_ITEMS_FILE])
        return 0;
    char *path = public_file_path(facts->values[FACT_ITEMS_FILE]);
    int status = look_at(path, 1, &facts->catalogue, error);
    if (status == 0 && facts->catalogue.lines == 0)
        status = error_set(error, DPF_FAULT_DATA,
                           "items-file=%s: this file is empty; write an id on each line", path);
    free(path);
    return status;
}

static int list_missing(const struct start_facts *facts, struct dpf_error *error)
{
    struct text list = {0};
    for (int f = 0; f < N_FACTS; f++)
        if (is_needed(facts, f) && !facts->values[f])
            text_add(&list, "%s  %s=%s  %s", list.length ? "\n" : "", table[f].key,
                     table[f].choices ? table[f].choices : "...", table[f].question);
    const int missing = list.length > 0;
    suggest_form(facts, &list);
    if (missing)
        error_set(error, DPF_FAULT_CONFIG,
                  "these facts are missing; declare them, since they are not taken from the data:\n%s",
                  list.data);
    text_free(&list);
    return missing ? -1 : 0;
}

/* ---- numbers ----------------------------------------------------------------------------------------------
 */

/* Values were checked when they were given. */
static void take_whole(const struct start_facts *facts, int fact, int64_t *out)
{
    if (facts->values[fact])
        text_to_int(facts->values[fact], out);
}

static void take_real(const struct start_facts *facts, int fact, double *out)
{
    if (facts->values[fact])
        text_to_real(facts->values[fact], out);
}

/* A power of ten, at most a tenth of 1 / users. */
static void choose_delta(struct start_facts *facts)
{
    const int digits = (int)ceil(log10((double)facts->users)) + 1;
    snprintf(facts->delta_text, sizeof facts->delta_text, "1e-%d", digits < 5 ? 5 : digits);
    facts->values[FACT_DELTA] = facts->delta_text;
    text_to_real(facts->delta_text, &facts->delta);
}

static int take_numbers(struct start_facts *facts, struct dpf_error *error)
{
    take_whole(facts, FACT_USERS, &facts->users);
    take_whole(facts, FACT_ITEMS, &facts->items);
    take_whole(facts, FACT_RECORDS, &facts->records);
    take_real(facts, FACT_VALUE_MIN, &facts->value_min);
    take_real(facts, FACT_VALUE_MAX, &facts->value_max);
    take_real(facts, FACT_EPSILON, &facts->epsilon);
    take_real(facts, FACT_DELTA, &facts->delta);
    if (!facts->values[FACT_DELTA])
        choose_delta(facts);
    for (int f = FACT_VALUE_MIN; f <= FACT_VALUE_MAX; f++)
        if (facts->values[f] && !facts->explicit_values)
            return error_set(error, DPF_FAULT_CONFIG,
                             "%s=%s: is for ratings (feedback=explicit): leave it out", table[f].key,
                             facts->values[f]);
    return facts->explicit_values
               ? check_range(facts->values[FACT_VALUE_MIN], facts->values[FACT_VALUE_MAX], error)
               : 0;
}

/* The recipe says whether lists or ratings are wanted, unless that is said. */
static int check_recipe(struct start_facts *facts, struct dpf_error *error)
{
    const int lists =
        says(facts, FACT_RECIPE, "private-gram") || says(facts, FACT_RECIPE, "private-popularity");
    if (!facts->values[FACT_RECIPE])
        return 0;
    if (lists != facts->ranking && (facts->values[FACT_WANT] || !facts->explicit_values))
        return error_set(error, DPF_FAULT_CONFIG, "recipe=%s: is for %s, and %s are wanted",
                         facts->values[FACT_RECIPE], lists ? "lists (want=ranking)" : "ratings",
                         facts->ranking ? "lists" : "ratings");
    facts->ranking = lists;
    return 0;
}

int start_facts_complete(struct start_facts *facts, struct dpf_error *error)
{
    if (interrupt_check("asking", error) != 0 || list_missing(facts, error) != 0)
        return -1;
    facts->explicit_values = says(facts, FACT_FEEDBACK, "explicit");
    facts->counts = says(facts, FACT_FEEDBACK, "counts");
    facts->has_header = says(facts, FACT_HEADER, "yes") || says(facts, FACT_FORMAT, "recbole");
    facts->ranking = facts->values[FACT_WANT] ? says(facts, FACT_WANT, "ranking") : !facts->explicit_values;
    if (!facts->ranking && !facts->explicit_values)
        return error_set(error, DPF_FAULT_CONFIG, "want=ratings: there are none to predict with feedback=%s",
                         facts->values[FACT_FEEDBACK]);
    return check_recipe(facts, error) == 0 ? take_numbers(facts, error) : -1;
}

void start_facts_print_help(void)
{
    for (int f = 0; f < N_FACTS; f++) {
        char first[64];
        struct text body = {0}, line = {0};
        snprintf(first, sizeof first, "  %-21s ", table[f].key);
        text_add(&body, "%s%s", table[f].question, table[f].choices ? " (" : "");
        for (const char *c = table[f].choices; c && *c; c++)
            text_add(&body, *c == '|' ? " | " : "%c", *c); /* a line may end between them */
        text_add(&body, "%s", table[f].choices ? ")" : "");
        terminal_wrap(&line, first, 24, body.data ? body.data : "", terminal_width(STDOUT_FILENO));
        fputs(line.data ? line.data : "", stdout);
        text_free(&body);
        text_free(&line);
    }
}

void start_facts_free(struct start_facts *facts)
{
    for (int f = 0; f < N_FACTS; f++)
        free(facts->owned[f]);
    *facts = (struct start_facts){0};
}
