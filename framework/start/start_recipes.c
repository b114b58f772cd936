/* SPDX-License-Identifier: Apache-2.0 */
#include "start/start_recipes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/config_line.h"
#include "reading/public_file.h"
#include "start/expectation.h"

/* ---- sections -------------------------------------------------------------------------------------- */

static void add_key(struct text *out, const struct start_facts *facts, int fact, const char *key)
{
    if (!facts->values[fact])
        return;
    text_add(out, "%s = ", key);
    line_add_value(out, facts->values[fact]);
    text_add(out, "\n");
}

static void write_range(const struct start_facts *facts, struct text *out)
{
    add_key(out, facts, FACT_RATING, "column.rating");
    text_add(out, "; The range is public and enters the noise. What lies outside is moved to its ends.\n");
    add_key(out, facts, FACT_VALUE_MIN, "value-min");
    add_key(out, facts, FACT_VALUE_MAX, "value-max");
    text_add(out, "out-of-range = clip\n");
}

/* A list of ids, or a column of a table, by its name where the table has a header. */
static void write_catalogue(const struct start_facts *facts, struct text *out)
{
    const struct look *look = &facts->catalogue;
    const int id = look->columns[LOOK_ITEM] > 0 ? look->columns[LOOK_ITEM] : 0;
    const char *path = facts->values[FACT_ITEMS_FILE];
    if (!path)
        return;
    char *given = public_file_path(path); /* without the column, if it has one */
    char *column = strcmp(given, path) != 0 || look->lines == 0 || (look->fields == 1 && !look->has_header)
                       ? memory_text("")
                   : look->has_header ? memory_format(":%s", look->names[id])
                                      : memory_format(":%d", id + 1);
    char *value = memory_format("%s%s", path, column);
    text_add(out, "items-file = ");
    line_add_value(out, value);
    text_add(out, "\n");
    free(given);
    free(column);
    free(value);
}

/* Lists are made of who has what: values, of ratings or counts, are not read. */
static void write_data(const struct start_facts *facts, const char *path, struct text *out)
{
    text_add(out, "[data]\nformat = %s\npath = %s\n", facts->values[FACT_FORMAT], path);
    if (facts->ranking && (facts->explicit_values || facts->counts))
        text_add(out, "; The values are not read: a record means that the user has the item.\n");
    text_add(out, "feedback = %s\n", facts->ranking ? "implicit" : "explicit");
    if (facts->ranking && strncmp(facts->values[FACT_FORMAT], "movielens", 9) != 0)
        text_add(out, "column.rating = none\n");
    add_key(out, facts, FACT_DELIMITER, "delimiter");
    add_key(out, facts, FACT_HEADER, "header");
    add_key(out, facts, FACT_FIELDS, "fields");
    add_key(out, facts, FACT_USER, "column.user");
    add_key(out, facts, FACT_ITEM, "column.item");
    if (!facts->ranking)
        write_range(facts, out);
    add_key(out, facts, FACT_TIME, "column.time");
    write_catalogue(facts, out);
    add_key(out, facts, FACT_ITEM_NAMES, "item-names");
    add_key(out, facts, FACT_ITEM_FEATURES, "item-features");
    add_key(out, facts, FACT_ITEM_FEATURES_FORMAT, "item-features.format");
    add_key(out, facts, FACT_ITEM_FEATURES_CATEGORIES, "item-features.categories");
    add_key(out, facts, FACT_ITEM_FEATURES_NUMBERS, "item-features.numbers");
    add_key(out, facts, FACT_ITEM_FEATURES_YEAR_OF, "item-features.year-of");
}

static void write_split(const struct start_facts *facts, struct text *out)
{
    text_add(out,
             "\n; For the verdict after training. To train on everything: -o split.kind=none\n[split]\n");
    if (facts->ranking)
        text_add(out, "kind = leave-one-out\nby = %s\n", facts->values[FACT_TIME] ? "time" : "random");
    else
        text_add(out, "kind = random\nfraction = 0.1\n");
}

static void write_privacy(const struct start_facts *facts, struct text *out)
{
    text_add(out,
             "\n; Protects all records of any one user from everybody who sees the released files "
             "(release/). Users' own lists\n; and factors are made at home and are not released. The noise "
             "is chosen so that the total is epsilon.\n[privacy]\nunit = user\nadjacency = "
             "add-remove\nobserver = outsider\ndelta = %s\nbudget = total\ntotal-epsilon = %s\ncalibrate-by "
             "= pld\n; The recipe was tuned on public data sets, not on this file.\ntuning = public-data\n",
             facts->values[FACT_DELTA], facts->values[FACT_EPSILON]);
    if (!facts->values[FACT_ITEMS_FILE])
        text_add(
            out,
            "; Which items there are is made of the file, and shows in what is released. This line declares "
            "it\n"
            "; public; if it is not, remove the line and name a public catalogue: [data] items-file = FILE\n"
            "id-lists = public\n");
    text_add(out, "\n[accountants]\nlist = pld, rdp\n");
}

static void write_evaluate(const struct start_facts *facts, struct text *out)
{
    text_add(out, "\n[evaluate]\n");
    if (facts->ranking)
        text_add(out, "metrics = ndcg, hr, recall\nk = 10\n");
    else
        text_add(out, "metrics = rmse, mae\ncold = model\n");
}

static void write_sizes(const struct start_facts *facts, struct text *out)
{
    text_add(out,
             "; Public bounds, not counts of the file: whether one user takes part must not show in them.\n"
             "users = %s\nitems = %s\n",
             facts->values[FACT_USERS], facts->values[FACT_ITEMS]);
}

/* ---- recipes
 * ----------------------------------------------------------------------------------------------- */

static void write_run(const struct recipe *recipe, const char *output, struct text *out)
{
    text_add(out,
             "[run]\noutput = %s\n"
             "; What the verdict after training compares with. Models named private-... are trained with the "
             "epsilon of this\n"
             "; run and not released; the others have no privacy. All figures are private.\n"
             "compare = %s\n\n",
             output, recipe->compare);
}

static void write_model(const struct recipe *recipe, const struct start_facts *facts, struct text *out)
{
    text_add(out, "[model]\nrecommender = %s\n", recipe->name);
    write_sizes(facts, out);
    if (facts->values[FACT_ITEM_FEATURES])
        text_add(out, "; A user's device adds terms from the public facts and the user's own records: no "
                      "epsilon, and a "
                      "list for that\n; user's eyes alone.\nhome-terms = yes\n");
    text_add(out, "\n[parties]\nkind = curator\n");
}

/*
 * Below so large users x mu the simple model is taken: at 12 to 167 private-gram ranked no better than
 * private-popularity on restaurants, ml-latest-small, MovieLens 100K, FilmTrust and Last.fm, and at 253
 * (MovieLens 100K) and 438 (ml-latest-small) it did. Where users have few records it needs more: at 404 (FilmTrust, 24 a
 * user) and 456 (Amazon, 7) it ties, at 1,084 and 1,375 it ranks better. private-ratings predicts worse than private-biases at
 * 12, 53 and 99 (restaurants, ml-latest-small), as well at 83 and better at 133 (MovieLens 100K, FilmTrust),
 * and has features besides. docs/accuracy.md has the figures.
 */
#define LEAST_REACH_OF_LISTS 200.0
#define LEAST_REACH_OF_SHORT_LISTS 600.0 /* where users are declared to have few records */
#define LEAST_REACH_OF_RATINGS 100.0

static int is_small(const struct start_facts *facts)
{
    if (!facts->ranking && facts->values[FACT_ITEM_FEATURES])
        return 0;
    const int few = facts->records && facts->records < EXPECTATION_MANY_RECORDS;
    const double least = !facts->ranking ? LEAST_REACH_OF_RATINGS
                         : few           ? LEAST_REACH_OF_SHORT_LISTS
                                         : LEAST_REACH_OF_LISTS;
    return expectation_reach(facts) < least;
}

static const struct recipe recipes[] = {
    {"private-gram", 1, 0,
     "Lists of items from private counts and one noisy Gram matrix of items (recommender private-gram).",
     "popularity, private-popularity"},
    {"private-popularity", 1, 1,
     "One list of popular items for everybody, from private counts (recommender private-popularity).",
     "popularity"},
    {"private-ratings", 0, 0,
     "Ratings from private biases and directions of items (recommender private-ratings).",
     "mean, biases, private-biases"},
    {"private-biases", 0, 1,
     "Ratings from private biases of items and each user's own mean (recommender private-biases).",
     "mean, biases"},
};
#define N_RECIPES (sizeof recipes / sizeof recipes[0])

/* The one that is asked for, or is of the size of the data; else one of its kind that is there. */
const struct recipe *recipe_choose(const struct start_facts *facts, recipe_has has, void *context)
{
    const char *asked = facts->values[FACT_RECIPE];
    const struct recipe *other = NULL;
    for (size_t i = 0; i < N_RECIPES; i++) {
        const struct recipe *recipe = &recipes[i];
        if (recipe->ranking != facts->ranking || !has(context, recipe->name))
            continue;
        if (asked ? strcmp(asked, recipe->name) == 0 : recipe->is_simple == is_small(facts))
            return recipe;
        if (!asked && !other)
            other = recipe;
    }
    return other;
}

void recipe_write(const struct recipe *recipe, const struct start_facts *facts, const char *path,
                  const char *output, struct text *out)
{
    text_add(
        out,
        "; Written by dpframe start, recipe %s, from declared facts: %s users, %s items, epsilon %s.\n"
        "; %s\n"
        "; dpframe check -c FILE says what is promised, dpframe describe SECTION what each key means.\n\n",
        recipe->name, facts->values[FACT_USERS], facts->values[FACT_ITEMS], facts->values[FACT_EPSILON],
        recipe->summary);
    write_run(recipe, output, out);
    write_data(facts, path, out);
    write_split(facts, out);
    text_add(out, "\n");
    write_model(recipe, facts, out);
    write_privacy(facts, out);
    write_evaluate(facts, out);
}
