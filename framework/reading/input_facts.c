/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/input_facts.h"

#include <math.h>
#include <string.h>

#include "dpframe/accounting.h"
#include "dpframe/privacy.h"
#include "reading/data_options.h"
#include "reading/data_params.h"

typedef const struct fact_question asked;

/* ---- the promise ----------------------------------------------------------------------------------- */

static int says(const struct config *config, const char *key, const char *value)
{
    const struct config_entry *entry = config_find(config, "privacy", key);
    return entry && strcmp(entry->value, value) == 0;
}

void promise_read(const struct config *config, struct promise *out)
{
    *out = (struct promise){.unit = DPF_UNIT_RECORD,
                            .adjacency = DPF_ADJ_REPLACE_VALUE,
                            .observer = DPF_OBSERVER_OUTSIDER,
                            .pattern_public = says(config, "interaction-pattern", "public"),
                            .ids_public = says(config, "id-lists", "public")};
    if (says(config, "unit", "user"))
        out->unit = DPF_UNIT_USER;
    for (int32_t a = 0; a < DPF_N_ADJACENCIES; a++)
        if (says(config, "adjacency", dpf_adjacency_name(a)))
            out->adjacency = a;
    out->observer = says(config, "observer", "server")    ? DPF_OBSERVER_SERVER
                    : says(config, "observer", "parties") ? DPF_OBSERVER_PARTIES
                                                          : DPF_OBSERVER_OUTSIDER;
}

int promise_same_cells(const struct promise *promise)
{
    return promise->adjacency == DPF_ADJ_REPLACE_VALUE ||
           (promise->adjacency == DPF_ADJ_ZERO_OUT && promise->pattern_public);
}

/* Whether it is to be hidden that a user takes part at all. */
static int hides_users(asked *q)
{
    return q->promise.unit == DPF_UNIT_USER && q->promise.adjacency == DPF_ADJ_ADD_REMOVE;
}

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

/* ---- the form of the files ------------------------------------------------------------------------- */

static const dpf_value *data_of(asked *q, int index)
{
    return &q->data->params.values[index];
}

static int is_set(asked *q, int index)
{
    const char *text = data_of(q, index)->text;
    return text && *text;
}

static int is_generated(asked *q)
{
    return data_of(q, D_FORMAT)->integer == FORMAT_SYNTHETIC;
}

/* Formats whose lines have always the same fields, and no header. */
static int is_fixed(asked *q)
{
    const int64_t format = data_of(q, D_FORMAT)->integer;
    return format == FORMAT_ML100K || format == FORMAT_ML1M || format == FORMAT_NETFLIX;
}

static int is_named(asked *q, int column)
{
    int64_t number;
    const char *text = data_of(q, column)->text;
    return text && *text && strcmp(text, "auto") != 0 && strcmp(text, "none") != 0 &&
           text_to_int(text, &number) != 0;
}

/* A column that is named has to have a name. */
static int names_a_column(asked *q)
{
    int any = 0;
    for (int c = D_COLUMN_USER; c <= D_COLUMN_WEIGHT; c++)
        any |= is_named(q, c);
    return any;
}

static int has_no(asked *q, int column)
{
    return strcmp(data_of(q, column)->text, "none") == 0;
}

static enum decider by_format(asked *q)
{
    (void)q;
    return BY_FORMAT;
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

static enum decider by_key(asked *q)
{
    (void)q;
    return BY_KEY;
}

static enum decider by_release(asked *q)
{
    (void)q;
    return BY_RELEASE;
}

static enum decider files(asked *q)
{
    return is_generated(q) ? BY_NOBODY : BY_PUBLIC_LIST;
}

static enum decider header(asked *q)
{
    const int64_t key = data_of(q, D_HEADER)->integer, format = data_of(q, D_FORMAT)->integer;
    if (is_generated(q))
        return BY_NOBODY;
    if (key != HEADER_AUTO || names_a_column(q))
        return BY_KEY;
    return is_fixed(q) || format == FORMAT_RECBOLE ? BY_FORMAT : BY_RECORDS;
}

static const char *header_lost(asked *q)
{
    (void)q;
    return "Whether there is a header is found out from the first line, which may be a record. Set [data] "
           "header to yes or no.";
}

/* Whether the first line of each file is its header, by declaration. */
static int has_header(asked *q)
{
    const int64_t key = data_of(q, D_HEADER)->integer, format = data_of(q, D_FORMAT)->integer;
    return key == HEADER_YES || (key == HEADER_AUTO && (format == FORMAT_RECBOLE || names_a_column(q)));
}

static enum decider fields(asked *q)
{
    const enum decider by = header(q);
    if (by == BY_NOBODY || by == BY_RECORDS) /* told by that fact */
        return BY_NOBODY;
    if (data_of(q, D_FIELDS)->integer)
        return BY_KEY;
    return has_header(q) ? BY_HEADER : is_fixed(q) ? BY_FORMAT : BY_RECORDS;
}

static const char *fields_lost(asked *q)
{
    (void)q;
    return "How many fields a line has is found out from the first one, which is a record. Set [data] "
           "fields.";
}

static enum decider columns(asked *q)
{
    return is_generated(q) ? BY_NOBODY : has_header(q) ? BY_HEADER : BY_KEY;
}

/* Which of them exist, as opposed to which is which. */
static enum decider column(asked *q, int key)
{
    return is_generated(q) ? BY_NOBODY : has_no(q, key) || !has_header(q) ? BY_KEY : BY_HEADER;
}

static enum decider values(asked *q)
{
    return column(q, D_COLUMN_RATING);
}

static enum decider times(asked *q)
{
    return column(q, D_COLUMN_TIME);
}

static enum decider weights(asked *q)
{
    return column(q, D_COLUMN_WEIGHT);
}

static enum decider quoted_line_ends(asked *q)
{
    return is_generated(q) ? BY_NOBODY : data_of(q, D_MULTI_LINE)->integer ? BY_RECORDS : BY_KEY;
}

static const char *quoted_line_ends_lost(asked *q)
{
    (void)q;
    return "A quote in one record decides where the lines of others end. Set [data] multi-line = no.";
}

static enum decider sections(asked *q)
{
    if (data_of(q, D_FORMAT)->integer != FORMAT_NETFLIX)
        return BY_NOBODY;
    return BY_RECORDS;
}

static const char *sections_lost(asked *q)
{
    (void)q;
    return "A line such as \"7:\" says which item the lines behind it rate, so one person's line moves the "
           "records of others. Write the item into each line and use [data] format = csv.";
}

static void say_files(asked *q, struct text *out)
{
    text_add(out, "The files that [data] names: their names and their number%s.\n",
             has_header(q) ? ", and the header of each" : "");
}

/* ---- a record -------------------------------------------------------------------------------------- */

static enum decider dropped(asked *q)
{
    const int by_threshold =
        data_of(q, D_FEEDBACK)->integer != FEEDBACK_EXPLICIT && isfinite(data_of(q, D_THRESHOLD)->real);
    if (!by_threshold && data_of(q, D_OUT_OF_RANGE)->integer != RANGE_DROP)
        return BY_NOBODY;
    if (q->promise.adjacency != DPF_ADJ_REPLACE_VALUE)
        return BY_LINE; /* the cell stays where it is public (enum void_rule) */
    /* A value below the threshold cannot be replaced by one that counts: it would be an interaction. */
    return by_threshold || !q->promise.pattern_public ? BY_RECORDS : BY_LINE;
}

static const char *dropped_lost(asked *q)
{
    (void)q;
    return "A record counts or is dropped by its value ([data] threshold or out-of-range = drop), so another "
           "value makes it appear or disappear. Set [data] out-of-range = clip and no threshold, or protect "
           "with adjacency = flip or add-remove; or, for out-of-range alone, if it is public who rated what, "
           "declare that ([privacy] interaction-pattern = public).";
}

static enum decider cells(asked *q)
{
    return q->promise.pattern_public ? BY_ALL_CELLS : BY_RECORDS;
}

static void say_cells(asked *q, struct text *out)
{
    const int values_only = q->promise.adjacency == DPF_ADJ_REPLACE_VALUE;
    if (q->promise.pattern_public && (values_only || q->promise.adjacency == DPF_ADJ_ZERO_OUT))
        text_add(out,
                 "Who rated what ([privacy] interaction-pattern): only values are protected, not the ids "
                 "in a line.\n");
    else if (values_only)
        text_add(out, "Who rated what: this adjacency is about values only. Whether it is public nobody has "
                      "declared ([privacy] interaction-pattern); see C8.\n");
}

/* ---- lists and numbers ----------------------------------------------------------------------------- */

enum list_source {
    LIST_CATALOGUE,
    LIST_GENERATED,
    LIST_OF_CELLS,
    LIST_DECLARED, /* public by declaration; faulty lines keep their ids in it */
    LIST_HIDDEN,   /* a bound on its length is declared, and nothing that is seen has its rows */
    LIST_OF_RECORDS
};

/* A bound in place of a list, where nothing that is seen shows a user. */
static int is_bounded(asked *q, int side)
{
    return side == DPF_SIDE_USERS && q->promise.unit == DPF_UNIT_USER && q->declared[side] > 0 &&
           !q->shows_users;
}

static enum list_source source_of(asked *q, int side)
{
    if (is_set(q, side == DPF_SIDE_ITEMS ? D_ITEMS_FILE : D_USERS_FILE))
        return LIST_CATALOGUE;
    /* Who hides whether a user is there has no public list of users. */
    if (side == DPF_SIDE_USERS && hides_users(q))
        return LIST_HIDDEN;
    if (is_generated(q))
        return LIST_GENERATED;
    if (promise_same_cells(&q->promise))
        return LIST_OF_CELLS;
    if (q->promise.ids_public)
        return LIST_DECLARED;
    return is_bounded(q, side) ? LIST_HIDDEN : LIST_OF_RECORDS;
}

int input_hides_users(asked *q)
{
    return source_of(q, DPF_SIDE_USERS) == LIST_HIDDEN;
}

static enum decider list(asked *q, int side)
{
    static const enum decider by[] = {
        [LIST_CATALOGUE] = BY_PUBLIC_LIST, [LIST_GENERATED] = BY_KEY, [LIST_OF_CELLS] = BY_ALL_CELLS,
        [LIST_DECLARED] = BY_PUBLIC_LIST,  [LIST_HIDDEN] = BY_KEY,    [LIST_OF_RECORDS] = BY_RECORDS};
    return by[source_of(q, side)];
}

static enum decider users(asked *q)
{
    return list(q, DPF_SIDE_USERS);
}

static enum decider items(asked *q)
{
    return list(q, DPF_SIDE_ITEMS);
}

static const char *users_lost(asked *q)
{
    if (q->promise.unit == DPF_UNIT_RECORD)
        return "The list of users is taken from the data, so a user that one unit alone has shows by having "
               "a row in what is released, or by being counted. Name a list that does not depend on the "
               "records ([data] users-file); or, if it is public which ids occur, declare that ([privacy] "
               "id-lists = public).";
    if (q->shows_users)
        return "The list of users is taken from the data, and what is released shows it: a user without one "
               "valid record is not in it. Name a list that does not depend on the records ([data] "
               "users-file); or, if it is public which ids occur, declare that ([privacy] id-lists = "
               "public).";
    return "The number of users is taken from the data, and a user without one valid record is not counted. "
           "Declare a bound ([model] users), or name a list that does not depend on the records ([data] "
           "users-file); or, if it is public which ids occur, declare that ([privacy] id-lists = public).";
}

static const char *items_lost(asked *q)
{
    (void)q;
    return "The list of items is taken from the data, so an item that one unit alone has shows by having a "
           "row in what is released, or by being counted. Give a catalogue that does not depend on the users "
           "([data] items-file); or, if it is public which ids occur, declare that ([privacy] id-lists = "
           "public).";
}

static void say_users(asked *q, struct text *out)
{
    switch (source_of(q, DPF_SIDE_USERS)) {
    case LIST_CATALOGUE:
        text_add(out, "The catalogue of users ([data] users-file): who is in it, not who has records.\n");
        break;
    case LIST_HIDDEN:
        text_add(out, "A bound on the number of users ([model] users).\n");
        break;
    case LIST_GENERATED:
        text_add(out, "The list of users, and their number, that of the generator. It shows who is in the "
                      "data.\n");
        break;
    case LIST_DECLARED:
        text_add(out, "The list of users, and their number, taken from the data: which ids occur is declared "
                      "to be public ([privacy] id-lists). It shows who is in the data.\n");
        break;
    default:
        text_add(out, "The list of users, and their number, taken from the data. It shows who is in the "
                      "data.\n");
    }
}

#define SHOWS_ITSELF                                                                                         \
    " An item that only one user ever touched shows by being there. Give a catalogue that does not depend "  \
    "on the users ([data] items-file)."

static void say_items(asked *q, struct text *out)
{
    switch (source_of(q, DPF_SIDE_ITEMS)) {
    case LIST_CATALOGUE:
        text_add(out, "The catalogue of items ([data] items-file), in its order.\n");
        break;
    case LIST_GENERATED:
        text_add(out, "The list of items, and their number, that of the generator.\n");
        break;
    case LIST_OF_CELLS:
        text_add(out, "The list of items, and their number, taken from the data.\n");
        break;
    case LIST_DECLARED:
        text_add(out, "The list of items, and their number, taken from the data: which ids occur is declared "
                      "to be public ([privacy] id-lists)." SHOWS_ITSELF "\n");
        break;
    default:
        text_add(out, "The list of items, and their number, taken from the data." SHOWS_ITSELF "\n");
    }
}

const char *input_list_source(int side, asked *q)
{
    const enum list_source source = source_of(q, side);
    if (promise_same_cells(&q->promise))
        return "that of the records, of which values alone are protected";
    return source == LIST_CATALOGUE ? "a catalogue"
           : is_generated(q)        ? "that of the generator"
           : source == LIST_HIDDEN  ? "protected but for a bound on its length"
                                    : "taken from the data";
}

/* The length of its list, or where that is hidden, the bound on it. */
static enum decider users_number(asked *q)
{
    if (!input_hides_users(q))
        return BY_NOBODY;
    return q->declared[DPF_SIDE_USERS] > 0 ? BY_KEY : BY_RECORDS;
}

static const char *users_number_lost(asked *q)
{
    (void)q;
    return "The number of users is taken from the data, and noise and regularisation depend on it, but the "
           "adjacency promises to hide whether a user takes part. Set [model] users to a public upper bound, "
           "or protect with adjacency = replace or zero-out.";
}

static enum decider enough_users(asked *q)
{
    if (q->least_users <= 1)
        return BY_NOBODY;
    return hides_users(q) ? BY_RECORDS : users(q);
}

static const char *enough_users_lost(asked *q)
{
    if (hides_users(q))
        return "An aggregator or mechanism stops the run if too few users take part, and the adjacency "
               "promises to hide how many there are. Use aggregator = sum with noise at the sum, or "
               "adjacency "
               "= replace or zero-out.";
    return "An aggregator or mechanism stops the run if too few users take part, and a user without one "
           "valid "
           "record takes no part. Name a list of users that does not depend on the records ([data] "
           "users-file); or, if it is public which ids occur, declare that ([privacy] id-lists = public).";
}

/* ---- what is kept, held out, weighed --------------------------------------------------------------- */

static enum decider items_kept(asked *q)
{
    return data_of(q, D_FILTER_ITEM_MIN)->integer || data_of(q, D_FILTER_ITEM_MAX)->integer ||
                   data_of(q, D_FILTER_CORE)->integer
               ? BY_ALL_CELLS
               : BY_NOBODY;
}

static const char *items_kept_lost(asked *q)
{
    (void)q;
    return "Which items are left follows from how many ratings they have ([data] filter.item-min, item-max "
           "or "
           "core), and one record can take others along. Train on a catalogue that does not depend on the "
           "users ([data] items-file).";
}

static int64_t split_kind(asked *q)
{
    return q->split->params.values[S_KIND].integer;
}

/* A line at fault may have no time, so that where lines at fault keep their cells, times must not choose. */
static int times_choose(asked *q)
{
    return (split_kind(q) == SPLIT_LEAVE_ONE_OUT && q->split->params.values[S_BY].integer == BY_TIME) ||
           (data_of(q, D_FILTER_USER_MAX)->integer && data_of(q, D_FILTER_KEEP)->integer == KEEP_LATEST);
}

static enum decider own_kept(asked *q)
{
    const int64_t kind = split_kind(q);
    if (times_choose(q) && promise_same_cells(&q->promise) && !is_generated(q))
        return BY_RECORDS;
    return kind == SPLIT_PER_USER || kind == SPLIT_LEAVE_ONE_OUT || data_of(q, D_FILTER_USER_MIN)->integer ||
                   data_of(q, D_FILTER_USER_MAX)->integer
               ? BY_OWN_CELLS
               : BY_NOBODY;
}

static const char *own_kept_lost(asked *q)
{
    if (promise_same_cells(&q->promise))
        return "Times choose which of a user's records are held out or kept, and a record whose line is at "
               "fault may have none. Set [split] by = random, [data] filter.keep = random.";
    return "Which records of a user are held out or kept follows from all records of that user, so one more "
           "moves others ([split] kind, [data] filter.user-min and user-max). Ask for unit = user, or use "
           "kind "
           "= random without these filters, where each record's own ids decide.";
}

static enum decider time_window(asked *q)
{
    if (!isfinite(data_of(q, D_FILTER_TIME_FROM)->real) && !isfinite(data_of(q, D_FILTER_TIME_TO)->real) &&
        split_kind(q) != SPLIT_TIME)
        return BY_NOBODY;
    return promise_same_cells(&q->promise) ? BY_RECORDS : BY_LINE;
}

static const char *time_window_lost(asked *q)
{
    (void)q;
    return "Times choose which records are kept or held out, and a record whose line is at fault may have "
           "none, although "
           "who rated what is public. Remove [data] filter.time-from and filter.time-to, set [split] kind = "
           "random, or "
           "protect with adjacency = add-remove.";
}

static enum decider exact_split(asked *q)
{
    return split_kind(q) == SPLIT_RANDOM_EXACT ? BY_RECORDS : BY_NOBODY;
}

static const char *exact_split_lost(asked *q)
{
    (void)q;
    return "Which records are held out follows from all of them ([split] kind = random-exact). Use kind = "
           "random, where each record's own ids decide.";
}

static void say_test_files(asked *q, struct text *out)
{
    if (split_kind(q) == SPLIT_FILES)
        text_add(out,
                 q->releases_metrics
                     ? "The split by files: neighbours are training and test parts that differ in one unit.\n"
                     : "The split by files: neighbours are training parts that differ in one unit.\n");
}

/* A link of a user who is not listed is left out, which whoever it leads to can see. */
static enum decider links(asked *q)
{
    if (!is_set(q, D_RELATION_PATH))
        return BY_NOBODY;
    return input_hides_users(q) ? BY_RECORDS : users(q);
}

static const char *links_lost(asked *q)
{
    (void)q;
    return "A link is left out if one of its users is not listed, so that one user's records decide about "
           "another's links. Name a list of users that does not depend on the records ([data] users-file).";
}

static void say_links(asked *q, struct text *out)
{
    if (is_set(q, D_RELATION_PATH))
        text_add(out, "Links between users: none of the units and adjacencies is about them.\n");
}

static enum decider similarities(asked *q)
{
    return is_set(q, D_RELATION_PATH) && data_of(q, D_RELATION_SIMILARITY)->integer ? BY_RECORDS : BY_NOBODY;
}

static const char *similarities_lost(asked *q)
{
    (void)q;
    return "Weights of links are similarities of the raw ratings and get no noise. Use [data] "
           "relation.similarity = none.";
}

static enum decider offset(asked *q)
{
    return q->offset_is_mean ? BY_RECORDS : BY_KEY;
}

static const char *offset_lost(asked *q)
{
    (void)q;
    return "The offset is the mean of the training ratings and gets no noise. Use [model] offset = midpoint.";
}

static void say_range(asked *q, struct text *out)
{
    if (isfinite(q->value_lo) && isfinite(q->value_hi) && q->value_lo < q->value_hi)
        text_add(out, "The declared range of values, %g to %g.\n", q->value_lo, q->value_hi);
}

static enum decider public_list(asked *q)
{
    (void)q;
    return BY_PUBLIC_LIST;
}

static void say_privacy_weights(asked *q, struct text *out)
{
    if (data_of(q, D_WEIGHTS_KIND)->integer != 0 || !has_no(q, D_COLUMN_WEIGHT))
        text_add(out, "Privacy weights of users, items and records.\n");
}

static void say_item_features(asked *q, struct text *out)
{
    if (is_set(q, D_ITEM_FEATURES))
        text_add(out, "The features of items ([data] item-features): declared public, read without noise.\n");
}

static void say_user_features(asked *q, struct text *out)
{
    if (is_set(q, D_USER_FEATURES))
        text_add(
            out,
            "The features of users ([data] user-features): declared public, read without noise. They say "
            "who can be in the data, so a file about the users themselves is not public.\n");
}

/* ---- while it runs --------------------------------------------------------------------------------- */

static void say_parties(asked *q, struct text *out)
{
    if (q->has_parties)
        text_add(out, "Which party holds which rows.\n");
}

static enum decider rounds(asked *q)
{
    return q->stops_by_error ? BY_RECORDS : BY_RELEASE;
}

static const char *rounds_lost(asked *q)
{
    (void)q;
    return "When the run stops follows from the training error, which is computed from raw ratings, and the "
           "number of rounds shows. Make all rounds ([run] until = rounds), or stop by what is released "
           "(until "
           "= released-rows).";
}

static void say_configuration(asked *q, struct text *out)
{
    (void)q;
    text_add(out, "The configuration, [run] seed and initial rows included.\n");
}

/* ---- the table ------------------------------------------------------------------------------------- */

static const struct fact_entry entries[N_INPUT_FACTS] = {
    [INPUT_USERS] = {"users", "which users there are", "a public list, or a bound on their number",
                     "[data] users-file", 11, users, users_lost, say_users},
    [INPUT_ITEMS] = {"items", "which items there are", "a public list", "[data] items-file", 11, items,
                     items_lost, say_items},
    [INPUT_CELLS] = {"cells", "which pairs of user and item have a record", "nobody, unless it is public",
                     "[privacy] interaction-pattern", 0, cells, NULL, say_cells},
    [INPUT_RANGE] = {"range", "the ends of the range of values", "keys", "[data] value-min, value-max", 0,
                     by_key, NULL, say_range},
    [INPUT_PRIVACY_WEIGHTS] = {"privacy weights", "weights of users, items and records",
                               "draws at ids, files, each line", "[data] weights.kind", 0, public_list, NULL,
                               say_privacy_weights},
    [INPUT_LINKS] = {"links", "which links between users count", "a public list of users",
                     "[data] users-file, relation.path", 11, links, links_lost, say_links},
    [INPUT_ITEM_FEATURES] = {"item features", "features of items", "a public file", "[data] item-features", 0,
                             public_list, NULL, say_item_features},
    [INPUT_USER_FEATURES] = {"user features", "features of users", "a public file", "[data] user-features", 0,
                             public_list, NULL, say_user_features},
    [INPUT_TEST_FILES] = {"test files", "which records are in a test file", "files", "[split] kind", 0, files,
                          NULL, say_test_files},
    [INPUT_PARTIES] = {"parties", "which party holds which rows", "draws at ids; a public list",
                       "[parties] kind", 0, public_list, NULL, say_parties},
    [INPUT_FILES] = {"files", "which files there are, and their headers", "a public list", "[data] path", 0,
                     files, NULL, say_files},
    [INPUT_COMPRESSION] = {"compression", "whether a file is compressed", "its name: .gz", "[data] path", 0,
                           by_key, NULL, NULL},
    [INPUT_BYTE_ORDER_MARK] = {"byte order mark", "whether three bytes at the start of a line are a mark",
                               "each line", "", 0, by_line, NULL, NULL},
    [INPUT_IS_TEXT] = {"text", "whether a file is text", "its header; else a remark for the curator", "", 0,
                       by_format, NULL, NULL},
    [INPUT_LINE_ENDS] = {"line ends", "where a line ends, and whether it is too long", "each line", "", 0,
                         by_line, NULL, NULL},
    [INPUT_QUOTED_LINE_ENDS] = {"quoted line ends", "whether a quoted field goes over several lines", "a key",
                                "[data] multi-line", 11, quoted_line_ends, quoted_line_ends_lost, NULL},
    [INPUT_QUOTES] = {"quotes", "quotes within a line", "each line", "", 0, by_line, NULL, NULL},
    [INPUT_HEADER] = {"header", "whether a file has a header", "the format, a key, a column's name",
                      "[data] header", 11, header, header_lost, NULL},
    [INPUT_FIELDS] = {"fields", "how many fields a line has", "the format, a key, the header",
                      "[data] fields", 11, fields, fields_lost, NULL},
    [INPUT_COLUMNS] = {"columns", "which column is what", "keys, the header",
                       "[data] column.user, column.item", 0, columns, NULL, NULL},
    [INPUT_COLUMNS_ALIKE] = {"columns alike", "whether files have the same columns, and all that are needed",
                             "headers; else refused before a record is read", "[data] column.time", 0,
                             columns, NULL, NULL},
    [INPUT_VALUES] = {"values", "whether there are values", "a key, the header", "[data] column.rating", 0,
                      values, NULL, NULL},
    [INPUT_TIMES] = {"times", "whether there are time stamps", "a key, the header", "[data] column.time", 0,
                     times, NULL, NULL},
    [INPUT_WEIGHTS] = {"weights", "whether records have privacy weights", "a key, the header",
                       "[data] column.privacy-weight", 0, weights, NULL, NULL},
    [INPUT_SECTIONS] = {"sections", "which item the lines of a section rate", "nobody", "[data] format", 11,
                        sections, sections_lost, NULL},
    [INPUT_ENCODING] = {"encoding", "how the bytes of an id are read", "each id", "[data] encoding", 0,
                        by_line, NULL, NULL},
    [INPUT_PARSER] = {"parser", "which of two parsers reads a line", "nobody: both make the same record", "",
                      0, by_format, NULL, NULL},
    [INPUT_VOID_LINES] = {"void lines", "what becomes of a line that is at fault", "each line", "", 0,
                          by_line, NULL, NULL},
    [INPUT_DROPPED] = {"dropped values", "whether a record counts by its value", "each line",
                       "[data] out-of-range, threshold", 8, dropped, dropped_lost, NULL},
    [INPUT_DUPLICATES] = {"duplicates", "which of several lines of one pair counts", "the lines of the pair",
                          "[data] duplicates", 0, by_line, NULL, NULL},
    [INPUT_BOTH_PARTS] = {"overlap", "in which part a pair of both files stays", "the lines of the pair",
                          "[split] overlap", 0, by_line, NULL, NULL},
    [INPUT_ID_ORDER] = {"order", "the order of ids, and which are in no catalogue", "each id", "", 0, by_id,
                        NULL, NULL},
    [INPUT_USERS_NUMBER] = {"number of users", "how many users there are", "the length of the list, a key",
                            "[model] users", 2, users_number, users_number_lost, NULL},
    [INPUT_ITEMS_NUMBER] = {"number of items", "how many items there are", "the length of the list",
                            "[model] items", 0, by_key, NULL, NULL},
    [INPUT_SIZES_DECLARED] = {"sizes", "whether there are more than declared", "a public list; never records",
                              "[model] users, items", 0, public_list, NULL, NULL},
    [INPUT_ENOUGH_USERS] = {"enough users", "whether enough users take part in a sum", "a public list",
                            "[data] users-file", 12, enough_users, enough_users_lost, NULL},
    [INPUT_EMPTY_SIDE] = {"empty side", "whether there is a user, or an item, at all", "a public list", "", 0,
                          public_list, NULL, NULL},
    [INPUT_NO_RECORDS] = {"no records", "whether a record is left", "nobody: a warning for the curator", "",
                          0, by_key, NULL, NULL},
    [INPUT_ITEMS_KEPT] = {"items kept", "which items have enough records",
                          "nobody, unless who rated what is public",
                          "[data] filter.item-min, filter.item-max, filter.core", 2, items_kept,
                          items_kept_lost, NULL},
    [INPUT_OWN_KEPT] = {"own records kept", "which of a user's records are held out or kept",
                        "the user's own records",
                        "[split] kind, by; [data] filter.user-min, filter.user-max, filter.keep", 2, own_kept,
                        own_kept_lost, NULL},
    [INPUT_DRAWN] = {"drawn", "which users, records and items are drawn", "a draw at each id",
                     "[split] kind; [data] filter.users", 0, by_id, NULL, NULL},
    [INPUT_TIME_WINDOW] = {"time window", "which records are early or late enough", "each line",
                           "[data] filter.time-from, filter.time-to; [split] time-from", 2, time_window,
                           time_window_lost, NULL},
    [INPUT_EXACT_SPLIT] = {"exact split", "which records are held out, exactly so many", "nobody",
                           "[split] kind", 11, exact_split, exact_split_lost, NULL},
    [INPUT_SIMILARITIES] = {"similarities", "weights of links made of ratings", "nobody",
                            "[data] relation.similarity", 2, similarities, similarities_lost, NULL},
    [INPUT_OFFSET] = {"offset", "what is subtracted from values", "a key", "[model] offset", 2, offset,
                      offset_lost, NULL},
    [INPUT_ROUND_DRAWS] = {"draws of rounds", "initial rows, keys of samplers, negatives",
                           "a draw at each id", "", 0, by_id, NULL, NULL},
    [INPUT_DEVIATIONS] = {"deviations", "whether more took part than was planned",
                          "draws alone; private, for the curator", "", 0, by_id, NULL, NULL},
    [INPUT_PATHS_OF_SUMS] = {"paths of sums", "which code adds up", "nobody: all are equal to the last bit",
                             "", 0, by_format, NULL, NULL},
    [INPUT_CONTRIBUTORS] = {"contributors", "the variance that solvers read, who is invited",
                            "a public list, releases", "[data] users-file", 0, by_release, NULL, NULL},
    [INPUT_ROUNDS] = {"rounds", "when rounds end", "keys, releases", "[run] until", 2, rounds, rounds_lost,
                      NULL},
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
    static const enum input_fact order[] = {INPUT_USERS,         INPUT_ITEMS,           INPUT_CELLS,
                                            INPUT_RANGE,         INPUT_PRIVACY_WEIGHTS, INPUT_LINKS,
                                            INPUT_ITEM_FEATURES, INPUT_USER_FEATURES,   INPUT_FILES,
                                            INPUT_TEST_FILES,    INPUT_PARTIES,         INPUT_CONFIGURATION};
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
