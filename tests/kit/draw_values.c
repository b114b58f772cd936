/* SPDX-License-Identifier: Apache-2.0 */
/* What tables do not say: the texts of text keys, and which numbers suit tiny data. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "kit/draw.h"

/* ---- texts -------------------------------------------------------------------------------------------- */

struct texts {
    const char *name; /* "place key", or "*.key" for a component's */
    const char *texts[12];
};

static const struct texts all_texts[] = {
    {"run order", {"users, items", "items, users", "items", "users"}},
    {"run compare",
     {"", "popularity", "non-private", "mean, biases", "private-popularity", "private-biases"}},
    {"run plugin-dir", {"", "@DIR@/plugins"}},
    {"data delimiter", {"", "comma", "tab", "semicolon", "space", "spaces", "pipe", "double-colon"}},
    {"data column.user", {"auto", "1", "user"}},
    {"data column.item", {"auto", "2", "item"}},
    {"data column.rating", {"auto", "3", "rating", "none"}},
    {"data column.time", {"auto", "4", "time", "none"}},
    {"data column.privacy-weight", {"none", "5", "weight"}},
    {"data items-file", {"@DIR@/items.txt"}},
    {"data users-file", {"@DIR@/users.txt"}},
    {"data relation.path", {"@DIR@/links.txt"}},
    {"data relation.delimiter", {"spaces", "space"}},
    {"data relation.column.weight", {"none", "3"}},
    {"data item-names", {"@DIR@/item-features.csv:title", ""}},
    {"data item-features", {"@DIR@/item-features.csv"}},
    {"data item-features.categories", {"genres", "2", ""}},
    {"data item-features.numbers", {"score", ""}},
    {"data item-features.year-of", {"", "title"}},
    {"data weights.users", {"@DIR@/user-weights.txt"}},
    {"data weights.items", {"@DIR@/item-weights.txt"}},
    {"split test.path", {"@DIR@/test.csv"}},
    {"split fold", {"1", "2", "all"}},
    {"privacy ledger", {"@DIR@/ledger.json"}},
    {"SIDE terms", {""}},
    {"evaluate metrics",
     {"auto", "rmse", "mae, mse", "hr, ndcg", "precision, recall, map, mrr", "coverage, mrank", "ndcg"}},
    {"*.column", {"score"}},
};

const char *const *draw_texts(const char *place, const char *owner, const char *name)
{
    char full[160];
    snprintf(full, sizeof full, "%s%s%s", *owner ? "*" : place, *owner ? "." : " ", name);
    for (size_t i = 0; i < sizeof all_texts / sizeof all_texts[0]; i++)
        if (strcmp(all_texts[i].name, full) == 0)
            return all_texts[i].texts;
    return NULL;
}

static const struct {
    const char *name, *why;
} left_out[] = {
    {"run output", "the harness has its own directory"},
    {"run comm", "the harness of ranks sets it"},
    {"data path", "the harness writes the files"},
    {"split test.path", "the completion sets it, with [split] kind = files"},
    {"run seed", "the harness sets it: splits of both neighbours are the same draw"},
    {"privacy randomness", "the harness sets it: noise of both neighbours is the same"},
    {"privacy noise-seed", "likewise"},
    {"data synthetic.*", "nobody's records are in data that is generated, so that it has no neighbours"},
};

const char *draw_left_out(const char *place, const char *owner, const char *name)
{
    char full[160];
    snprintf(full, sizeof full, "%s%s%s %s", place, *owner ? " " : "", owner, name);
    for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++) {
        const size_t n = strcspn(left_out[i].name, "*");
        if (strncmp(left_out[i].name, full, n) == 0 && (left_out[i].name[n] || !full[n]))
            return left_out[i].why;
    }
    return NULL;
}

const char *draw_role_of(const char *place, const char *name, int *several)
{
    static const char *const roles[] = {"loss",       "sampler", "mechanism",
                                        "aggregator", "solver",  "recommender"};
    *several = 0;
    if (strcmp(place, "accountants") == 0 || strcmp(name, "calibrate-by") == 0) {
        *several = strcmp(name, "list") == 0;
        return "accountant";
    }
    if (strcmp(place, "TERM") == 0 && strcmp(name, "transforms") == 0) {
        *several = 1;
        return "transform";
    }
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
        if (strcmp(name, roles[i]) == 0 &&
            (strcmp(place, "TERM") == 0 || strcmp(place, "SIDE") == 0 || strcmp(place, "model") == 0))
            return roles[i];
    return NULL;
}

/* ---- components --------------------------------------------------------------------------------------- */

static const char *role_word(const dpf_component *component)
{
    static char role[32];
    const char *dot = strchr(component->role, '.');
    snprintf(role, sizeof role, "%s", dot ? dot + 1 : component->role);
    role[strcspn(role, "/")] = '\0';
    return role;
}

static const char *draw_component(struct draw_random *random, const struct draw_keys *keys, const char *role,
                                  int *which)
{
    const char *chosen = "";
    struct dpf_error ignored = {0};
    const int64_t n = registry_count(keys->registry);
    int seen = 0;
    for (int64_t i = 0; i < n; i++) {
        const struct registry_entry *entry = registry_at(keys->registry, i, &ignored);
        const dpf_component *component = entry ? entry->component : NULL;
        if (!component || strcmp(role_word(component), role) != 0)
            continue;
        if (draw_below(random, ++seen) == 0) {
            chosen = component->id;
            *which = seen < DRAW_VALUES ? seen : DRAW_VALUES - 1;
        }
    }
    return chosen;
}

/* Of a list: none, one, or two that differ. */
static char *draw_components(struct draw_random *random, const struct draw_keys *keys, const char *role,
                             int *which)
{
    int other;
    const int n = draw_below(random, 5);
    const char *first = draw_component(random, keys, role, which),
               *second = draw_component(random, keys, role, &other);
    if (n == 0)
        *which = 0;
    return n == 0                                ? memory_text("")
           : n < 3 || strcmp(first, second) == 0 ? memory_text(first)
                                                 : memory_format("%s, %s", first, second);
}

/* ---- numbers ------------------------------------------------------------------------------------------ */

/* Whole numbers up to this are no burden on a data set of a few dozen records. */
static double most_for_tiny_data(const dpf_param *param)
{
    static const struct {
        const char *name;
        double most;
    } limits[] = {{"rounds", 3},
                  {"rank", 6},
                  {"threads", 3},
                  {"local-iterations", 2},
                  {"epochs", 3},
                  {"iterations", 4},
                  {"bootstrap", 40},
                  {"count", 12},
                  {"synthetic.users", 40},
                  {"synthetic.items", 30},
                  {"synthetic.ratings", 400}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (strcmp(param->name, limits[i].name) == 0)
            return fmin(limits[i].most, param->hi);
    return fmin(64, param->hi);
}

static double log_uniform(struct draw_random *random, double lo, double hi)
{
    return lo > 0 && hi > lo ? lo * pow(hi / lo, draw_unit(random)) : lo;
}

/* which: 0 the default, 1 the lower end or near it, 2 the upper end, 3 near the default, 4 anything. */
static double draw_integer(struct draw_random *random, const dpf_param *param, int *which)
{
    const double lo = isfinite(param->lo) ? param->lo : -8, hi = fmax(lo, most_for_tiny_data(param));
    const double usual = fmin(fmax((double)param->default_integer, lo), hi);
    *which = draw_below(random, 5);
    switch (*which) {
    case 0:
        return usual;
    case 1:
        return fmin(hi, lo + draw_below(random, 2));
    case 2:
        return hi;
    case 3:
        return fmin(hi, fmax(lo, usual + draw_below(random, 5) - 2));
    default:
        return floor(fmin(hi, lo + log_uniform(random, 1, hi - lo + 1)));
    }
}

static double draw_real(struct draw_random *random, const dpf_param *param, double usual, int *which)
{
    const double lo = isfinite(param->lo) ? param->lo : -100, hi = isfinite(param->hi) ? param->hi : 1e3;
    const double least = fmax(lo, 1e-3), most = fmax(least, fmin(hi, 1e3));
    *which = draw_below(random, 5);
    double value = usual;
    switch (*which) {
    case 0:
        break;
    case 1:
        value = param->flags & DPF_PARAM_OPEN_LO || !isfinite(param->lo) ? least : lo;
        break;
    case 2:
        value =
            param->flags & DPF_PARAM_OPEN_HI || !isfinite(param->hi) || hi > 1e3 ? (least + most) / 2 : hi;
        break;
    case 3:
        value = isfinite(usual) && usual != 0 ? usual * exp2(draw_unit(random) * 2 - 1) : least;
        break;
    default:
        value = log_uniform(random, least, most);
    }
    return isfinite(value) ? fmin(fmax(value, lo), hi) : value;
}

static char *draw_list(struct draw_random *random, const dpf_param *param, int *which)
{
    struct text text = {0};
    const int n = draw_below(random, 4);
    *which = n;
    if (n == 0)
        return memory_text(param->default_text ? param->default_text : "");
    if (strcmp(param->name, "block-shares") == 0) { /* that add up to 1 */
        static const char *const shares[] = {"1", "0.3, 0.7", "0.2, 0.3, 0.5"};
        return memory_text(shares[n - 1]);
    }
    double value = 0;
    for (int i = 0, ignored; i < n; i++) { /* ascending: some lists have to be */
        const double more = param->type == DPF_TYPE_INT_LIST ? 1 + draw_below(random, 8)
                                                             : fabs(draw_real(random, param, 1, &ignored));
        value = fmin(param->hi, fmax(param->lo, value + (param->hi <= 1 ? more / (n + 1) : more)));
        text_add(&text, "%s%.6g", i ? ", " : "", value);
    }
    return text.data ? text.data : memory_text("");
}

char *draw_value(struct draw_random *random, const struct draw_keys *keys, const struct draw_key *key,
                 int *which)
{
    const dpf_param *param = key->param;
    int several;
    const char *role = draw_role_of(key->place, param->name, &several);
    const char *const *texts = draw_texts(key->place, key->owner, param->name);
    int n = 0;
    *which = 0;
    switch (param->type) {
    case DPF_TYPE_BOOL:
        *which = draw_below(random, 2);
        return memory_text(*which ? "yes" : "no");
    case DPF_TYPE_ENUM:
        do
            *which = draw_below(random, (int)param->n_values);
        while (strcmp(param->values[*which].name, "synthetic") == 0); /* see draw_left_out */
        return memory_text(param->values[*which].name);
    case DPF_TYPE_INT:
        return memory_format("%.0f", draw_integer(random, param, which));
    case DPF_TYPE_REAL:
        return memory_format("%.6g", draw_real(random, param, param->default_real, which));
    case DPF_TYPE_INT_LIST:
    case DPF_TYPE_REAL_LIST:
        return draw_list(random, param, which);
    default:
        break;
    }
    if (role && several)
        return draw_components(random, keys, role, which);
    if (role && draw_chance(random, 12)) /* empty removes it */
        return memory_text("");
    if (role)
        return memory_text(draw_component(random, keys, role, which));
    while (texts && texts[n])
        n++;
    *which = draw_below(random, n);
    return memory_text(n ? texts[*which] : "");
}
