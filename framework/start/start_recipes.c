/* SPDX-License-Identifier: Apache-2.0 */
#include "start/start_recipes.h"

#include <math.h>
#include <string.h>

/* ---- how much the budget buys ----------------------------------------------------------------------------
 */

static double normal(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

/* Balle, Wang, "Improving the Gaussian mechanism for differential privacy" (ICML 2018), Theorem 8. */
static double delta_of(double epsilon, double mu)
{
    const double low = normal(mu / 2 - epsilon / mu), high = normal(-mu / 2 - epsilon / mu);
    return high > 0 ? low - exp(epsilon + log(high)) : low;
}

double recipe_mu(double epsilon, double delta)
{
    double low = 1e-9, high = 1e3;
    for (int i = 0; i < 200; i++) {
        const double middle = sqrt(low * high);
        *(delta_of(epsilon, middle) > delta ? &high : &low) = middle;
    }
    return low;
}

/* Noisy sums over users carry users x mu standard deviations. */
static double information(const struct start_facts *facts)
{
    return (double)facts->users * recipe_mu(facts->epsilon, facts->delta);
}

/*
 * Measured, with whole users protected and delta 1e-5: how much of what a model without privacy gains over
 * the simplest one is kept, in percent and rounded down. Lists (recall and NDCG over popular items):
 * MovieLens 100K and 1M and Last.fm at epsilon 1, 3 and 10. Ratings (RMSE over the mean): MovieLens 1M at the
 * same, and ml-latest-small at 3.
 */
static int kept_percent(const struct start_facts *facts)
{
    static const struct {
        double information;
        int percent;
    } lists[] = {{250, 15}, {500, 20}, {1600, 35}, {4300, 60}, {12000, 80}},
      ratings[] = {{400, 60}, {1600, 70}, {4300, 80}, {12000, 90}};
    const double here = information(facts);
    int kept = -1;
    for (size_t i = 0; facts->ranking && i < sizeof lists / sizeof lists[0]; i++)
        if (here >= lists[i].information)
            kept = lists[i].percent;
    for (size_t i = 0; !facts->ranking && i < sizeof ratings / sizeof ratings[0]; i++)
        if (here >= ratings[i].information)
            kept = ratings[i].percent;
    return kept;
}

char *recipe_expectation(const struct start_facts *facts)
{
    struct text out = {0};
    const double here = information(facts);
    const int kept = kept_percent(facts);
    const char *simplest = facts->ranking ? "a list of popular items" : "the mean of all ratings";
    if (kept < 0)
        text_add(
            &out,
            "so few users carry little at this epsilon (users x mu is %.0f): expect no more than %s%s, and "
            "see the verdict after training",
            here, simplest, facts->ranking ? ", or worse lists than those" : "");
    else
        text_add(
            &out,
            "about %d %% of what a model without privacy gains over %s, as measured on public data with so "
            "many users at such an epsilon (users x mu is %.0f)%s",
            kept, simplest, here, facts->ranking ? "; less where users have fewer than twenty records" : "");
    if (out.failed)
        text_free(&out);
    return out.data;
}

/* ---- sections -------------------------------------------------------------------------------------- */

static void add_key(struct text *out, const struct start_facts *facts, int fact, const char *key)
{
    if (facts->values[fact])
        text_add(out, "%s = %s\n", key, facts->values[fact]);
}

static void write_range(const struct start_facts *facts, struct text *out)
{
    add_key(out, facts, FACT_RATING, "column.rating");
    text_add(out, "; The range is public and enters the noise. What lies outside is moved to its ends.\n");
    add_key(out, facts, FACT_VALUE_MIN, "value-min");
    add_key(out, facts, FACT_VALUE_MAX, "value-max");
    text_add(out, "out-of-range = clip\n");
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
    add_key(out, facts, FACT_ITEMS_FILE, "items-file");
    add_key(out, facts, FACT_ITEM_FEATURES, "item-features");
    add_key(out, facts, FACT_ITEM_FEATURES_FORMAT, "item-features.format");
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
    text_add(
        out,
        "\n; Protects all records of any one user from whoever sees what is released (release/). Users' own "
        "lists\n"
        "; and factors are made at home and are not released. The noise is chosen so that the total is "
        "epsilon.\n"
        "[privacy]\nunit = user\nadjacency = add-remove\nobserver = outsider\ndelta = %s\nbudget = total\n"
        "total-epsilon = %s\ncalibrate-by = pld\n"
        "; The recipe was tuned on public data sets, not on this file.\ntuning = public-data\n",
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

static void write_gram(const struct start_facts *facts, struct text *out)
{
    text_add(out, "[model]\nrecommender = private-gram\n");
    write_sizes(facts, out);
    text_add(out, "\n[parties]\nkind = curator\n");
}

static void write_ratings(const struct start_facts *facts, struct text *out)
{
    text_add(out, "[model]\nrecommender = private-ratings\n");
    write_sizes(facts, out);
    text_add(out, "\n[parties]\nkind = curator\n");
}

static const struct recipe recipes[] = {
    {"private-gram", 1, "private-gram",
     "Lists of items from private counts and one noisy Gram matrix of items (recommender private-gram).",
     write_gram},
    {"private-ratings", 0, "private-ratings",
     "Ratings from private biases and directions of items (recommender private-ratings).", write_ratings},
};

const struct recipe *recipe_choose(const struct start_facts *facts, recipe_has has, void *context)
{
    for (size_t i = 0; i < sizeof recipes / sizeof recipes[0]; i++)
        if (recipes[i].ranking == facts->ranking && has(context, recipes[i].recommender))
            return &recipes[i];
    return NULL;
}

void recipe_write(const struct recipe *recipe, const struct start_facts *facts, const char *path,
                  struct text *out)
{
    text_add(
        out,
        "; Written by dpframe start, recipe %s, from declared facts: %s users, %s items, epsilon %s.\n"
        "; %s\n"
        "; dpframe check -c FILE says what is promised, dpframe describe SECTION what each key means.\n\n",
        recipe->name, facts->values[FACT_USERS], facts->values[FACT_ITEMS], facts->values[FACT_EPSILON],
        recipe->summary);
    write_data(facts, path, out);
    write_split(facts, out);
    text_add(out, "\n");
    recipe->write(facts, out);
    write_privacy(facts, out);
    write_evaluate(facts, out);
}
