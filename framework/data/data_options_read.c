/* SPDX-License-Identifier: Apache-2.0 */
#include "data/data_options_read.h"

#include <math.h>
#include <string.h>

#include "dpframe/privacy.h"

#include "base/log.h"
#include "base/text.h"
#include "data/filter.h"
#include "data/weights.h"
#include "lines/pipes.h"
#include "reading/data_params.h"
#include "reading/input_facts.h"

static const dpf_value *value_of(const struct config_values *values, int index)
{
    return &values->params.values[index];
}

static const char *text_of(const struct config_values *values, int index)
{
    const char *text = value_of(values, index)->text;
    return text ? text : "";
}

static int read_delimiter(const struct config_values *data, int index, const char *fallback,
                          struct delimiter *out, struct dpf_error *error)
{
    const char *text = text_of(data, index);
    if (delimiter_parse(text[0] ? text : fallback, out) == 0)
        return 0;
    if (strcmp(text, "\\t") == 0)
        return config_value_error(data, data->table[index].name, error,
                                  "\"\\t\" is not a delimiter; write tab for a TAB");
    return config_value_error(
        data, data->table[index].name, error,
        "\"%s\" is not a delimiter; use a punctuation mark, '::', or one of comma, tab, "
        "semicolon, space, spaces, pipe",
        text);
}

/* Where neighbours have the same cells, a void line must not take one away; and where their lists of ids are
   public, no id. */
static void read_voids(const struct config_values *data, struct file_options *file)
{
    struct promise promise;
    promise_read(data->config, &promise);
    file->voids = !promise_same_cells(&promise)                ? VOID_GONE
                  : promise.adjacency == DPF_ADJ_REPLACE_VALUE ? VOID_VALUE
                                                               : VOID_CELL;
    file->drops_stay = promise.pattern_public;
    file->ids_stay = promise.ids_public;
}

/* Two columns of a number are refused before a file is opened. */
static int check_numbers(const struct config_values *data, const struct file_options *file,
                         struct dpf_error *error)
{
    int64_t a, b;
    for (int c = 0; c < COLUMN_COUNT; c++)
        for (int d = 0; d < c; d++)
            if (*file->keys[c] && *file->keys[d] && text_to_int(file->columns[c], &a) == 0 &&
                text_to_int(file->columns[d], &b) == 0 && a == b)
                return config_value_error(data, file->keys[c], error,
                                          "%s is column %lld, too: give each its own column", file->keys[d],
                                          (long long)a);
    return 0;
}

/* Whether filters read time stamps. */
static int needs_times(const struct config_values *data)
{
    return value_of(data, D_FILTER_USER_MAX)->integer &&
           value_of(data, D_FILTER_KEEP)->integer == KEEP_LATEST;
}

static int read_file_options(const struct config_values *data, struct data_options *out,
                             struct dpf_error *error)
{
    static const int columns[COLUMN_COUNT] = {D_COLUMN_USER, D_COLUMN_ITEM, D_COLUMN_RATING, D_COLUMN_TIME,
                                              D_COLUMN_WEIGHT};
    const struct data_form *form = &data_forms[out->format];
    struct file_options *file = &out->file;
    file->header = (enum data_header)value_of(data, D_HEADER)->integer;
    file->encoding = (enum ids_encoding)value_of(data, D_ENCODING)->integer;
    file->n_fields = value_of(data, D_FIELDS)->integer;
    file->multi_line = value_of(data, D_MULTI_LINE)->integer != 0;
    file->out_of_range = (enum data_out_of_range)value_of(data, D_OUT_OF_RANGE)->integer;
    file->value_lo = out->value_lo;
    file->value_hi = out->value_hi;
    read_voids(data, file);
    file->rating_needed = !out->implicit || out->counts || isfinite(out->threshold);
    file->time_needed = (out->kind == SPLIT_LEAVE_ONE_OUT && out->by == BY_TIME) || out->kind == SPLIT_TIME ||
                        needs_times(data);
    /* Of records of one pair, the times decide which stays. */
    file->time_unused = !file->time_needed && out->duplicates == DUPLICATES_ERROR && file->voids == VOID_GONE;
    file->prefix = "";
    for (int c = 0; c < COLUMN_COUNT; c++) {
        file->columns[c] = text_of(data, columns[c]);
        file->keys[c] = data->table[columns[c]].name;
    }
    file->sections = form->sections;
    /* The item of the section stands behind user, rating and date. */
    static const char *const netflix[COLUMN_COUNT] = {"1", "4", "2", "3", "none"};
    for (int c = 0; file->sections && c < COLUMN_COUNT; c++)
        if (strcmp(file->columns[c], "auto") == 0)
            file->columns[c] = netflix[c];
    if (file->header == HEADER_AUTO)
        file->header = form->header;
    if (file->header == HEADER_NO && !file->n_fields)
        file->n_fields = form->fields;
    if (read_delimiter(data, D_DELIMITER, form->delimiter, &file->delimiter, error) != 0)
        return -1;
    /* With other delimiters quotes are ordinary characters. */
    file->quoting = form->quoting && file->delimiter.length == 1 && !file->delimiter.runs;
    return 0;
}

static int read_relation_options(const struct config_values *data, struct data_options *out,
                                 struct dpf_error *error)
{
    const char *const columns[COLUMN_COUNT] = {"1", "2", text_of(data, D_RELATION_WEIGHT), "none", "none"};
    struct file_options *file = &out->relation;
    out->relation_path = text_of(data, D_RELATION_PATH);
    out->relation_mutual = value_of(data, D_RELATION_DIRECTION)->integer == 1;
    out->relation_similarity = (enum relation_similarity)value_of(data, D_RELATION_SIMILARITY)->integer;
    file->header = (enum data_header)value_of(data, D_RELATION_HEADER)->integer;
    file->encoding = out->file.encoding;
    file->value_lo = -INFINITY;
    file->value_hi = INFINITY;
    file->prefix = "relation.";
    for (int c = 0; c < COLUMN_COUNT; c++) {
        file->columns[c] = columns[c];
        file->keys[c] = c == COLUMN_RATING ? "relation.column.weight" : "relation.path";
    }
    file->rating_needed = strcmp(file->columns[COLUMN_RATING], "none") != 0;
    return read_delimiter(data, D_RELATION_DELIMITER, "spaces", &file->delimiter, error);
}

static int read_weights_options(const struct config_values *data, struct data_options *out,
                                struct dpf_error *error)
{
    static const char *const columns[COLUMN_COUNT] = {"1", "1", "2", "none", "none"};
    struct file_options *file = &out->weights.file;
    int column = strcmp(text_of(data, D_COLUMN_WEIGHT), "none") != 0;
    if (weights_read(data, column, &out->weights, error) != 0)
        return -1;
    file->header = HEADER_NO;
    file->encoding = out->file.encoding;
    file->value_lo = -INFINITY;
    file->value_hi = INFINITY;
    file->prefix = "weights.";
    file->one_id = 1;
    file->rating_needed = 1;
    for (int c = 0; c < COLUMN_COUNT; c++) {
        file->columns[c] = columns[c];
        file->keys[c] = "weights.kind";
    }
    return delimiter_parse("spaces", &file->delimiter);
}

static void read_catalogues(const struct config_values *data, struct data_options *out)
{
    out->catalogues[DPF_SIDE_USERS] = text_of(data, D_USERS_FILE);
    out->catalogues[DPF_SIDE_ITEMS] = text_of(data, D_ITEMS_FILE);
    out->drop_outside = value_of(data, D_CATALOGUE_OUTSIDE)->integer != 0;
}

static int read_filter(const struct config_values *data, const struct config_values *split,
                       struct data_options *out, struct dpf_error *error)
{
    out->filter = (struct filter_options){
        .user_min = value_of(data, D_FILTER_USER_MIN)->integer,
        .user_max = value_of(data, D_FILTER_USER_MAX)->integer,
        .keep = (enum filter_keep)value_of(data, D_FILTER_KEEP)->integer,
        .users = value_of(data, D_FILTER_USERS)->real,
        .item_min = value_of(data, D_FILTER_ITEM_MIN)->integer,
    };
    const struct filter_options *f = &out->filter;
    if (f->user_max && f->user_min > f->user_max)
        return config_value_error(data, "filter.user-min", error, "must not be above filter.user-max (%lld)",
                                  (long long)f->user_max);
    if (filter_is_set(f) && out->kind == SPLIT_FILES)
        return config_value_error(
            split, "kind", error,
            "files has parts of its own, which data.filter would have to divide again; filter "
            "the files, or let the program make the split");
    return 0;
}

static int read_range(const struct config_values *data, struct data_options *out, struct dpf_error *error)
{
    out->value_lo = value_of(data, D_VALUE_MIN)->real;
    out->value_hi = value_of(data, D_VALUE_MAX)->real;
    if (out->counts && isinf(out->value_lo))
        out->value_lo = 0; /* by what counts are */
    if (out->counts && out->value_lo < 0)
        return config_value_error(data, "value-min", error, "%g: counts cannot be negative", out->value_lo);
    if (out->value_lo == INFINITY || out->value_hi == -INFINITY || out->value_lo > out->value_hi)
        return config_value_error(data, "value-min", error, "value-min (%g) must not be above value-max (%g)",
                                  out->value_lo, out->value_hi);
    if (value_of(data, D_OUT_OF_RANGE)->integer != RANGE_ERROR && isinf(out->value_lo) &&
        isinf(out->value_hi))
        return config_value_error(data, "out-of-range", error,
                                  "no range is declared; set value-min and value-max");
    return 0;
}

static int read_generate(const struct config_values *data, struct data_options *out, struct dpf_error *error)
{
    struct generate_options *g = &out->generate;
    g->users = value_of(data, D_SYNTHETIC_USERS)->integer;
    g->items = value_of(data, D_SYNTHETIC_ITEMS)->integer;
    g->ratings = value_of(data, D_SYNTHETIC_RATINGS)->integer;
    g->rank = (int32_t)value_of(data, D_SYNTHETIC_RANK)->integer;
    g->popularity_sigma = value_of(data, D_SYNTHETIC_POPULARITY)->real;
    g->activity_sigma = value_of(data, D_SYNTHETIC_ACTIVITY)->real;
    g->min_per_user = value_of(data, D_SYNTHETIC_MIN)->integer;
    g->affinity = value_of(data, D_SYNTHETIC_AFFINITY)->real;
    g->noise = value_of(data, D_SYNTHETIC_NOISE)->real;
    g->step = value_of(data, D_SYNTHETIC_STEP)->real;
    if (out->format != FORMAT_SYNTHETIC)
        return 0;
    /* Generated values lie in a public range by construction: five stars unless another is declared. */
    if (isfinite(out->value_lo) != isfinite(out->value_hi))
        return config_value_error(data, isinf(out->value_lo) ? "value-min" : "value-max", error,
                                  "synthetic ratings need both ends of the range");
    if (isinf(out->value_lo)) {
        out->value_lo = 1;
        out->value_hi = 5;
    }
    g->value_lo = out->value_lo;
    g->value_hi = out->value_hi;
    if (!(g->value_lo < g->value_hi))
        return config_value_error(data, "value-max", error, "must be above value-min (%g)", g->value_lo);
    if (g->ratings / g->items > g->users || (g->ratings > g->users * g->items))
        return config_value_error(data, "synthetic.ratings", error,
                                  "%lld ratings are more than %lld users x %lld items", (long long)g->ratings,
                                  (long long)g->users, (long long)g->items);
    if (g->min_per_user > g->items || g->ratings / g->users < g->min_per_user)
        return config_value_error(data, "synthetic.min-per-user", error,
                                  "%lld is more than there are ratings a user (%lld) or items (%lld)",
                                  (long long)g->min_per_user, (long long)(g->ratings / g->users),
                                  (long long)g->items);
    return 0;
}

/* Another file, or the command line, has changed the kind that the key was written for. */
static int is_left_over(const struct config_values *values, const char *key, const char *kind)
{
    const struct config *config = values->config;
    const struct config_entry *of_key = config_find(config, values->section, key),
                              *of_kind = config_find(config, values->section, kind);
    if (!of_key || !of_kind || of_key->line == 0 || strcmp(of_key->file, of_kind->file) == 0)
        return 0;
    return of_kind->line == 0 || strcmp(of_key->file, config_path(config)) != 0;
}

/* Written, and not just the default that a resolved configuration writes out. */
static int is_asked_for(const struct config_values *values, int index)
{
    const dpf_param *param = &values->table[index];
    const dpf_value *value = value_of(values, index);
    if (!value->is_set)
        return 0;
    switch (param->type) {
    case DPF_TYPE_REAL:
        return value->real != param->default_real;
    case DPF_TYPE_STRING:
    case DPF_TYPE_PATH:
        return strcmp(value->text, param->default_text ? param->default_text : "") != 0;
    case DPF_TYPE_INT_LIST:
    case DPF_TYPE_REAL_LIST:
        return value->count > 0;
    default:
        return value->integer != param->default_integer;
    }
}

#define ALL_FOLDS "all"

int64_t data_all_folds(const struct config *config)
{
    int64_t n, folds;
    const dpf_param *table = split_params(&n);
    const struct config_entry *kind = config_find(config, "split", "kind"),
                              *fold = config_find(config, "split", "fold"),
                              *of = config_find(config, "split", "folds");
    if (!kind || !fold || strcmp(kind->value, table[S_KIND].values[SPLIT_FOLDS].name) != 0 ||
        strcmp(fold->value, ALL_FOLDS) != 0)
        return 0;
    return of && text_to_int(of->value, &folds) == 0 ? folds : table[S_FOLDS].default_integer;
}

static int read_fold(const struct config_values *split, struct data_options *out, struct dpf_error *error)
{
    const char *text = text_of(split, S_FOLD);
    if (out->kind != SPLIT_FOLDS)
        return 0;
    if (strcmp(text, ALL_FOLDS) == 0)
        return config_value_error(
            split, "fold", error,
            "describes a run for each fold, and one run is needed here: name one of them, or let "
            "\"dpframe run\" make them all");
    if (text_to_int(text, &out->fold) != 0 || out->fold < 1)
        return config_value_error(split, "fold", error,
                                  "\"%s\" is neither a fold, counted from 1, nor " ALL_FOLDS, text);
    if (out->fold > out->folds)
        return config_value_error(split, "fold", error, "fold %lld of %lld; folds are counted from 1",
                                  (long long)out->fold, (long long)out->folds);
    return 0;
}

static int check_split(const struct config_values *split, const struct data_options *o,
                       struct dpf_error *error)
{
    int synthetic = o->format == FORMAT_SYNTHETIC;
    if (o->kind == SPLIT_PER_USER && o->held_out && is_asked_for(split, S_FRACTION) &&
        !is_left_over(split, "fraction", "kind"))
        return config_value_error(
            split, "n", error,
            "a number of records (%lld) and a fraction of them (%g) cannot both say how much of "
            "each user is held out; remove one of the two",
            (long long)o->held_out, o->fraction);
    if (o->kind == SPLIT_FILES && synthetic)
        return config_value_error(split, "kind", error,
                                  "files needs a file of ratings, but data.format is synthetic");
    if (o->kind == SPLIT_FILES && !o->test_path[0])
        return config_value_error(split, "test.path", error, "files needs split.test.path");
    const int no_times = !synthetic && strcmp(o->file.columns[COLUMN_TIME], "none") == 0;
    if (o->kind == SPLIT_LEAVE_ONE_OUT && o->by == BY_TIME && no_times)
        return config_value_error(split, "by", error,
                                  "needs time stamps, but data.column.time = none; use by = random");
    if (o->kind == SPLIT_TIME && no_times)
        return config_value_error(
            split, "kind", error,
            "time needs time stamps, but data.column.time = none; name their column, or use kind = "
            "random");
    if (o->kind == SPLIT_TIME && isinf(o->time_from))
        return config_value_error(
            split, "time-from", error,
            "is missing: say from when on records are tested, in the unit of the time stamps. Take a "
            "moment that is known without the data");
    return 0;
}

/* One message for all keys of a section that the kind makes meaningless. */
static void warn_ineffective(const struct config_values *values, int first, int count, int kind, int chosen,
                             int (*matters)(int key, int chosen))
{
    const char *section = values->section;
    struct text names = {0};
    int n = 0;
    for (int i = first; i < count; i++)
        if (is_asked_for(values, i) && !matters(i, chosen) &&
            !is_left_over(values, values->table[i].name, values->table[kind].name))
            text_add(&names, "%s%s.%s", n++ ? ", " : "", section, values->table[i].name);
    if (n > 0)
        log_message(LOG_LEVEL_WARNING, "%s %s no effect with %s.%s = %s", names.data ? names.data : section,
                    n > 1 ? "have" : "has", section, values->table[kind].name,
                    values->table[kind].values[chosen].name);
    text_free(&names);
}

static int split_key_matters(int key, int kind)
{
    static const unsigned kinds[S_COUNT] = {
        [S_FRACTION] = 1U << SPLIT_RANDOM | 1U << SPLIT_RANDOM_EXACT | 1U << SPLIT_PER_USER |
                       1U << SPLIT_CANDIDATES | 1U << SPLIT_COLD_ITEMS | 1U << SPLIT_USERS,
        [S_FOLDS] = 1U << SPLIT_FOLDS,
        [S_FOLD] = 1U << SPLIT_FOLDS,
        [S_BY] = 1U << SPLIT_LEAVE_ONE_OUT,
        [S_HELD_OUT] = 1U << SPLIT_PER_USER,
        [S_TEST_PATH] = 1U << SPLIT_FILES,
        [S_OVERLAP] = 1U << SPLIT_FILES,
        [S_TRAIN_FRACTION] = ~0U,
        [S_TIME_FROM] = 1U << SPLIT_TIME,
        [S_USERS] = 1U << SPLIT_USERS,
    };
    return kinds[key] >> kind & 1;
}

static int data_key_matters(int key, int format)
{
    const int of_file = key <= D_ENCODING || key == D_OUT_OF_RANGE || key == D_DUPLICATES;
    return format == FORMAT_SYNTHETIC ? !of_file : key < D_SYNTHETIC_USERS;
}

void data_options_warn(const struct config_values *data, const struct config_values *split,
                       const struct data_options *o)
{
    warn_ineffective(split, S_FRACTION, S_COUNT, S_KIND, (int)o->kind, split_key_matters);
    warn_ineffective(data, D_PATH, D_COUNT, D_FORMAT, (int)o->format, data_key_matters);
    if (is_asked_for(data, D_THRESHOLD) && !o->implicit)
        log_message(LOG_LEVEL_WARNING, "data.threshold has no effect with explicit feedback");
}

int data_options_read(const struct config_values *data, const struct config_values *split,
                      struct data_options *out, struct dpf_error *error)
{
    memset(out, 0, sizeof *out);
    out->format = (enum data_format)value_of(data, D_FORMAT)->integer;
    out->path = text_of(data, D_PATH);
    out->duplicates = (enum data_duplicates)value_of(data, D_DUPLICATES)->integer;
    out->implicit = value_of(data, D_FEEDBACK)->integer != FEEDBACK_EXPLICIT;
    out->counts = value_of(data, D_FEEDBACK)->integer == FEEDBACK_COUNTS;
    out->threshold = value_of(data, D_THRESHOLD)->real;
    out->kind = (enum split_kind)value_of(split, S_KIND)->integer;
    out->fraction = value_of(split, S_FRACTION)->real;
    out->train_fraction = value_of(split, S_TRAIN_FRACTION)->real;
    out->time_from = value_of(split, S_TIME_FROM)->real;
    out->users = value_of(split, S_USERS)->real;
    out->folds = value_of(split, S_FOLDS)->integer;
    out->by = (enum split_by)value_of(split, S_BY)->integer;
    out->held_out = value_of(split, S_HELD_OUT)->integer;
    out->test_path = text_of(split, S_TEST_PATH);
    out->overlap = (enum split_overlap)value_of(split, S_OVERLAP)->integer;
    if (read_fold(split, out, error) != 0)
        return -1;
    if (out->format != FORMAT_SYNTHETIC && !out->path[0])
        return config_value_error(
            data, "path", error, "data.path is missing; name the file of ratings, or use format = synthetic");
    if (out->format != FORMAT_SYNTHETIC && !(out->path = pipes_path(out->path, "data.path", error)))
        return -1;
    if (out->threshold == INFINITY)
        return config_value_error(data, "threshold", error, "no record has a value of inf or more");
    if (read_range(data, out, error) != 0 || read_generate(data, out, error) != 0 ||
        read_file_options(data, out, error) != 0 || read_relation_options(data, out, error) != 0 ||
        check_numbers(data, &out->file, error) != 0 || check_numbers(data, &out->relation, error) != 0 ||
        read_filter(data, split, out, error) != 0 || read_weights_options(data, out, error) != 0 ||
        check_split(split, out, error) != 0)
        return -1;
    read_catalogues(data, out);
    return 0;
}

enum data_feedback data_feedback(const struct config_values *data)
{
    return (enum data_feedback)value_of(data, D_FEEDBACK)->integer;
}

int data_is_split(const struct config_values *split)
{
    return value_of(split, S_KIND)->integer != SPLIT_NONE;
}

int data_is_generated(const struct config_values *data)
{
    return value_of(data, D_FORMAT)->integer == FORMAT_SYNTHETIC;
}

int data_synthetic_options(const struct config_values *data, struct generate_options *out,
                           struct dpf_error *error)
{
    struct data_options options = {.format = FORMAT_SYNTHETIC};
    if (read_range(data, &options, error) != 0 || read_generate(data, &options, error) != 0)
        return -1;
    *out = options.generate;
    return 0;
}
