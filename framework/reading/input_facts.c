/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/input_facts.h"

#include <string.h>

#include "reading/deciders.h"

int input_allows(enum decider by, const struct promise *promise)
{
    switch (by) {
    case BY_RECORDS:
        return 0;
    case BY_ALL_CELLS:
        return promise_same_cells(promise);
    case BY_OWN_CELLS:
        return promise->unit == DPF_UNIT_USER || promise_same_cells(promise);
    case BY_OWN_RECORDS:
        return promise->unit == DPF_UNIT_USER;
    default:
        return 1;
    }
}

/* ---- who decides the same in every configuration ------------------------------------------------------ */

static enum decider by_format(asked *q)
{
    (void)q;
    return BY_FORMAT;
}

static enum decider by_key(asked *q)
{
    (void)q;
    return BY_KEY;
}

static enum decider by_line(asked *q)
{
    return is_generated(q) ? BY_NOBODY : BY_LINE;
}

static enum decider by_id(asked *q)
{
    (void)q;
    return BY_ID;
}

static enum decider by_release(asked *q)
{
    (void)q;
    return BY_RELEASE;
}

static enum decider public_list(asked *q)
{
    (void)q;
    return BY_PUBLIC_LIST;
}

/* ---- the table ------------------------------------------------------------------------------------- */

static const struct fact_entry entries[N_INPUT_FACTS] = {
    [INPUT_USERS] = {"users", "which users there are", "a public list, or a bound on their number",
                     "[data] users-file", 11, decide_users, lost_users, say_users},
    [INPUT_ITEMS] = {"items", "which items there are", "a public list", "[data] items-file", 11, decide_items,
                     lost_items, say_items},
    [INPUT_CELLS] = {"cells", "which pairs of user and item have a record", "nobody, unless it is public",
                     "[privacy] interaction-pattern", 0, decide_cells, NULL, say_cells},
    [INPUT_RANGE] = {"range", "the ends of the range of values", "keys", "[data] value-min, value-max", 0,
                     by_key, NULL, say_range},
    [INPUT_PRIVACY_WEIGHTS] = {"privacy weights", "weights of users, items and records",
                               "draws at ids, files, each line", "[data] weights.kind", 0, public_list, NULL,
                               say_privacy_weights},
    [INPUT_LINKS] = {"links", "which links between users count", "a public list of users",
                     "[data] users-file, relation.path", 11, decide_links, lost_links, say_links},
    [INPUT_ITEM_FEATURES] = {"item features", "features of items", "a public file", "[data] item-features", 0,
                             public_list, NULL, say_item_features},
    [INPUT_TEST_FILES] = {"test files", "which records are in a test file", "files", "[split] kind", 0,
                          decide_files, NULL, say_test_files},
    [INPUT_PARTIES] = {"parties", "which party holds which rows", "draws at ids; a public list",
                       "[parties] kind", 0, public_list, NULL, say_parties},
    [INPUT_FILES] = {"files", "which files there are, and their headers", "a public list", "[data] path", 0,
                     decide_files, NULL, say_files},
    [INPUT_PUBLIC_FILES] = {"public files", "what files say that are taken as public",
                            "files of their own, never those with records",
                            "[data] items-file, users-file, item-names, item-features, "
                            "relation.path, weights.users, weights.items",
                            11, decide_public_files, lost_public_files, NULL},
    [INPUT_COMPRESSION] = {"compression", "whether a file is compressed", "its name: .gz", "[data] path", 0,
                           by_key, NULL, NULL},
    [INPUT_BYTE_ORDER_MARK] = {"byte order mark", "whether three bytes at the start of a line are a mark",
                               "each line", "", 0, by_line, NULL, NULL},
    [INPUT_IS_TEXT] = {"text", "whether a file is text", "its header; else a remark for the curator", "", 0,
                       by_format, NULL, NULL},
    [INPUT_LINE_ENDS] = {"line ends", "where a line ends, and whether it is too long", "each line", "", 0,
                         by_line, NULL, NULL},
    [INPUT_QUOTED_LINE_ENDS] = {"quoted line ends", "whether a quoted field goes over several lines", "a key",
                                "[data] multi-line", 11, decide_quoted_line_ends, lost_quoted_line_ends,
                                NULL},
    [INPUT_QUOTES] = {"quotes", "quotes within a line", "each line", "", 0, by_line, NULL, NULL},
    [INPUT_HEADER] = {"header", "whether a file has a header", "the format, a key, a column's name",
                      "[data] header", 11, decide_header, lost_header, NULL},
    [INPUT_FIELDS] = {"fields", "how many fields a line has", "the format, a key, the header",
                      "[data] fields", 11, decide_fields, lost_fields, NULL},
    [INPUT_COLUMNS] = {"columns", "which column is what", "keys, the header",
                       "[data] column.user, column.item", 0, decide_columns, NULL, NULL},
    [INPUT_COLUMNS_ALIKE] = {"columns alike", "whether files have the same columns, and all that are needed",
                             "headers; else refused before a record is read", "[data] column.time", 0,
                             decide_columns, NULL, NULL},
    [INPUT_VALUES] = {"values", "whether there are values", "a key, the header", "[data] column.rating", 0,
                      decide_values, NULL, NULL},
    [INPUT_TIMES] = {"times", "whether there are time stamps", "a key, the header", "[data] column.time", 0,
                     decide_times, NULL, NULL},
    [INPUT_WEIGHTS] = {"weights", "whether records have privacy weights", "a key, the header",
                       "[data] column.privacy-weight", 0, decide_weights, NULL, NULL},
    [INPUT_SECTIONS] = {"sections", "which item the lines of a section rate", "nobody", "[data] format", 11,
                        decide_sections, lost_sections, NULL},
    [INPUT_ENCODING] = {"encoding", "how the bytes of an id are read", "each id", "[data] encoding", 0,
                        by_line, NULL, NULL},
    [INPUT_PARSER] = {"parser", "which of two parsers reads a line", "nobody: both make the same record", "",
                      0, by_format, NULL, NULL},
    [INPUT_VOID_LINES] = {"void lines", "what becomes of a line that is at fault", "each line", "", 0,
                          by_line, NULL, NULL},
    [INPUT_DROPPED] = {"dropped values", "whether a record counts by its value", "each line",
                       "[data] out-of-range, threshold", 8, decide_dropped, lost_dropped, NULL},
    [INPUT_DUPLICATES] = {"duplicates", "which of several lines of one pair counts", "the lines of the pair",
                          "[data] duplicates", 0, by_line, NULL, NULL},
    [INPUT_BOTH_PARTS] = {"overlap", "in which part a pair of both files stays", "the lines of the pair",
                          "[split] overlap", 0, by_line, NULL, NULL},
    [INPUT_ID_ORDER] = {"order", "the order of ids, and which are in no catalogue", "each id", "", 0, by_id,
                        NULL, NULL},
    [INPUT_USERS_NUMBER] = {"number of users", "how many users there are", "the length of the list, a key",
                            "[model] users", 2, decide_users_number, lost_users_number, NULL},
    [INPUT_ITEMS_NUMBER] = {"number of items", "how many items there are", "the length of the list",
                            "[model] items", 0, by_key, NULL, NULL},
    [INPUT_SIZES_DECLARED] = {"sizes", "whether there are more than declared", "a public list; never records",
                              "[model] users, items", 0, public_list, NULL, NULL},
    [INPUT_ENOUGH_USERS] = {"enough users", "whether enough users take part in a sum", "a public list",
                            "[data] users-file", 12, decide_enough_users, lost_enough_users, NULL},
    [INPUT_EMPTY_SIDE] = {"empty side", "whether there is a user, or an item, at all", "a public list", "", 0,
                          public_list, NULL, NULL},
    [INPUT_NO_RECORDS] = {"no records", "whether a record is left", "nobody: a warning for the curator", "",
                          0, by_key, NULL, NULL},
    [INPUT_ITEMS_KEPT] = {"items kept", "which items have enough records",
                          "nobody, unless who rated what is public", "[data] filter.item-min", 2,
                          decide_items_kept, lost_items_kept, NULL},
    [INPUT_OWN_KEPT] = {"own records kept", "which of a user's records are held out or kept",
                        "the user's own records",
                        "[split] kind, by; [data] filter.user-min, filter.user-max, filter.keep", 2,
                        decide_own_kept, lost_own_kept, NULL},
    [INPUT_DRAWN] = {"drawn", "which users, records and items are drawn", "a draw at each id",
                     "[split] kind; [data] filter.users", 0, by_id, NULL, NULL},
    [INPUT_TIME_WINDOW] = {"time window", "which records are late enough to be held out", "each line",
                           "[split] kind = time", 2, decide_time_window, lost_time_window, NULL},
    [INPUT_EXACT_SPLIT] = {"exact split", "which records are held out, exactly so many", "nobody",
                           "[split] kind", 11, decide_exact_split, lost_exact_split, NULL},
    [INPUT_SIMILARITIES] = {"similarities", "weights of links made of ratings", "nobody",
                            "[data] relation.similarity", 2, decide_similarities, lost_similarities, NULL},
    [INPUT_OFFSET] = {"offset", "what is subtracted from values", "a key", "[model] offset", 2, decide_offset,
                      lost_offset, NULL},
    [INPUT_ROUND_DRAWS] = {"draws of rounds", "initial rows, keys of samplers, negatives",
                           "a draw at each id", "", 0, by_id, NULL, NULL},
    [INPUT_DEVIATIONS] = {"deviations", "whether more took part than was planned",
                          "draws alone; private, for the curator", "", 0, by_id, NULL, NULL},
    [INPUT_PATHS_OF_SUMS] = {"paths of sums", "which code adds up", "nobody: all are equal to the last bit",
                             "", 0, by_format, NULL, NULL},
    [INPUT_CONTRIBUTORS] = {"contributors", "the variance that solvers read, who is invited",
                            "a public list, releases", "[data] users-file", 0, by_release, NULL, NULL},
    [INPUT_ROUNDS] = {"rounds", "when rounds end", "keys, releases", "[run] until", 2, decide_rounds,
                      lost_rounds, NULL},
    [INPUT_METRICS] = {"metrics", "metrics that are released", "each user's own records, with noise",
                       "[evaluate] release", 0, by_release, NULL, NULL},
    [INPUT_RANKS] = {"ranks", "which rank has which rows", "nobody: numbers are the same on any ranks", "", 0,
                     by_format, NULL, NULL},
    [INPUT_RESULTS] = {"results", "names of released files and what they say", "keys", "", 0, by_key, NULL,
                       NULL},
    [INPUT_REPORTS] = {"reports", "warnings, counts, ties, hashes", "records, and for the curator alone", "",
                       0, by_format, NULL, NULL},
    [INPUT_LIMITS] = {"limits", "2^31 records of a user, memory, time", "outside of the model (C12)", "", 0,
                      by_format, NULL, NULL},
    [INPUT_CONFIGURATION] = {"configuration", "keys, the seed, initial rows",
                             "whoever writes it, not looking at the data", "[privacy] tuning", 0, by_key,
                             NULL, say_configuration},
};

const struct fact_entry *input_fact_at(enum input_fact fact)
{
    return &entries[fact];
}

const char *input_decider_name(enum decider by)
{
    static const char *const names[] = {
        [BY_NOBODY] = "nobody",       [BY_FORMAT] = "format",           [BY_KEY] = "key",
        [BY_HEADER] = "header",       [BY_PUBLIC_LIST] = "public list", [BY_ID] = "id",
        [BY_LINE] = "line",           [BY_RELEASE] = "release",         [BY_OWN_RECORDS] = "own records",
        [BY_OWN_CELLS] = "own cells", [BY_ALL_CELLS] = "all cells",     [BY_RECORDS] = "records"};
    return names[by];
}

/* In "[data] value-min, value-max; [split] kind". */
static int names_key(const char *list, const char *section, const char *key)
{
    const size_t length = strlen(key);
    int inside = 0;
    for (const char *at = list; *at;) {
        at += strspn(at, " ,;");
        const size_t word = strcspn(at, " ,;");
        if (*at == '[')
            inside = word == strlen(section) + 2 && strncmp(at + 1, section, word - 2) == 0;
        else if (inside && word == length && strncmp(at, key, length) == 0)
            return 1;
        at += word;
    }
    return 0;
}

int input_fact_has_key(const char *section, const char *key)
{
    int any = 0;
    for (int f = 0; f < N_INPUT_FACTS; f++)
        any |= names_key(entries[f].key, section, key);
    return any;
}

enum decider input_decider(enum input_fact fact, asked *question)
{
    return entries[fact].decide ? entries[fact].decide(question) : BY_RECORDS;
}

enum input_fact input_not_allowed(int condition, int first, asked *question)
{
    int fact = first;
    while (fact < N_INPUT_FACTS &&
           (entries[fact].condition != condition ||
            input_allows(input_decider((enum input_fact)fact, question), &question->promise)))
        fact++;
    return (enum input_fact)fact;
}

int input_needs_everybody(asked *question)
{
    int any = 0;
    for (int f = 0; f < N_INPUT_FACTS; f++)
        if (entries[f].condition == 2 || entries[f].condition == 11)
            any |= input_decider((enum input_fact)f, question) >= BY_ALL_CELLS;
    return any;
}

/* In the order of the statement: lists, who has what, numbers, files, parties, keys. */
void input_say_public(asked *question, struct text *out)
{
    static const enum input_fact order[] = {
        INPUT_USERS,         INPUT_ITEMS, INPUT_CELLS,      INPUT_RANGE,   INPUT_PRIVACY_WEIGHTS, INPUT_LINKS,
        INPUT_ITEM_FEATURES, INPUT_FILES, INPUT_TEST_FILES, INPUT_PARTIES, INPUT_CONFIGURATION};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (input_decider(order[i], question) != BY_NOBODY)
            entries[order[i]].say(question, out);
}

void input_facts_document(struct text *out)
{
    text_add(out, "| what | who decides it | key | if nobody of them does |\n|---|---|---|---|\n");
    for (int f = 0; f < N_INPUT_FACTS; f++) {
        const struct fact_entry *e = &entries[f];
        text_add(out, "| %s | %s | %s%s%s | ", e->what, e->by, *e->key ? "`" : "", e->key,
                 *e->key ? "`" : "");
        if (e->condition)
            text_add(out, "C%d fails |\n", e->condition);
        else
            text_add(out, " |\n");
    }
}
