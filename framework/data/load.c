/* SPDX-License-Identifier: Apache-2.0 */
#include "data/load.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "base/text.h"
#include "data/assemble.h"
#include "data/data_options_read.h"
#include "data/duplicates.h"
#include "data/filter.h"
#include "data/relation.h"
#include "data/similarity.h"
#include "data/split.h"
#include "data/spread.h"
#include "data/weights.h"
#include "dataset/summary.h"
#include "dpframe/privacy.h"
#include "lines/paths.h"
#include "reading/catalogue.h"
#include "reading/data_params.h"
#include "reading/feature_file.h"
#include "reading/input_form.h"
#include "reading/public_file.h"
#include "reading/item_names.h"
#include "synthetic/generator.h"

/* What loading holds beside the data set it fills. */
struct loading {
    struct data_options options;
    const struct random_root *seeded;
    struct pool *pool;
    struct table train_table, test_table;
    struct ratings train, test;
    int spread; /* the ranks read parts of the files */
    struct dataset *out;
};

/* Refuses paths that lead nowhere, with the place that configures them. */
static int check_paths(const struct config_values *values, const char *key, const char *path,
                       const char *without, struct dpf_error *error)
{
    struct paths paths;
    struct dpf_error found = {0};
    if (paths_expand(path, without, &paths, &found) == 0) {
        paths_free(&paths);
        return 0;
    }
    if (found.fault != DPF_FAULT_DATA) {
        *error = error->fault ? *error : found;
        return -1;
    }
    config_value_error(values, key, error, "%s", found.text);
    error->fault = DPF_FAULT_DATA;
    return -1;
}

static int check_features(const struct config_values *data, struct dpf_error *error)
{
    struct feature_options options;
    int status = feature_options_read(data, &options, error);
    if (status == 0 && options.path[0])
        status = check_paths(data, "item-features", options.path, "", error);
    feature_options_free(&options);
    return status;
}

/* FILE or FILE:COLUMN. */
static int check_public(const struct config_values *data, const char *key, const char *configured,
                        struct dpf_error *error)
{
    char *path = public_file_path(configured);
    const int status = *path ? check_paths(data, key, path, "", error) : 0;
    free(path);
    return status;
}

/* Looks at the header of each file, so that one without a column, or with other columns than the rest, is refused
   before anything is read. */
static int check_columns(const char *path, const char *without, const struct file_options *options,
                         struct dpf_error *error)
{
    struct paths paths;
    if (paths_expand(path, without, &paths, error) != 0)
        return -1;
    struct table_form form = {0};
    int status = 0;
    for (size_t i = 0; i < paths.n && status >= 0; i++) {
        struct input_form file;
        status = input_form_look(options, paths.files[i], &file, error);
        if (status > 0)
            status = table_form_take(&form, paths.files[i], &file, error);
    }
    paths_free(&paths);
    return status < 0 ? -1 : 0;
}

int data_check(const struct config_values *data, const struct config_values *split, double *value_lo,
               double *value_hi, struct dpf_error *error)
{
    static const char *const weights[] = {"weights.users", "weights.items"};
    struct data_options o;
    if (data_options_read(data, split, &o, error) != 0)
        return -1;
    data_options_warn(data, split, &o);
    *value_lo = o.implicit && !o.counts ? 1 : o.value_lo;
    *value_hi = o.implicit && !o.counts ? 1 : o.value_hi;
    const char *test = o.kind == SPLIT_FILES ? o.test_path : "";
    if (o.format != FORMAT_SYNTHETIC && check_paths(data, "path", o.path, test, error) != 0)
        return -1;
    if (*test && check_paths(split, "test.path", test, "", error) != 0)
        return -1;
    for (int side = 0; side < 2; side++)
        if (o.catalogues[side][0] && o.format != FORMAT_SYNTHETIC &&
            check_public(data, side == DPF_SIDE_ITEMS ? "items-file" : "users-file", o.catalogues[side],
                         error) != 0)
            return -1;
    if (o.relation_path[0] && check_paths(data, "relation.path", o.relation_path, "", error) != 0)
        return -1;
    if (check_features(data, error) != 0 ||
        check_public(data, "item-names", item_names_configured(data), error) != 0 ||
        item_names_check(data, error) != 0)
        return -1;
    for (int side = 0; side < 2 && o.weights.kind == WEIGHTS_FILES; side++)
        if (o.weights.paths[side][0] &&
            check_paths(data, weights[side], o.weights.paths[side], "", error) != 0)
            return -1;
    if (o.format != FORMAT_SYNTHETIC && check_columns(o.path, test, &o.file, error) != 0)
        return -1;
    return *test ? check_columns(test, "", &o.file, error) : 0;
}

int data_listed(const struct config_values *data, const struct config_values *split, int64_t n[2],
                struct dpf_error *error)
{
    struct data_options o;
    int status = data_options_read(data, split, &o, error);
    for (int side = 0; side < 2; side++) {
        struct id_map ids = {0};
        n[side] = -1;
        if (status != 0 || !o.catalogues[side][0] || o.format == FORMAT_SYNTHETIC)
            continue;
        status = catalogue_load(o.catalogues[side], side, &o.file, &ids, error);
        n[side] = ids.n;
        id_map_free(&ids);
    }
    return status;
}

int data_check_record(const struct config_values *data, const struct config_values *split,
                      struct dpf_error *error)
{
    struct data_options o;
    struct paths paths;
    if (data_options_read(data, split, &o, error) != 0)
        return -1;
    if (o.format == FORMAT_SYNTHETIC || o.file.header == HEADER_AUTO)
        return 0;
    if (paths_expand(o.path, o.kind == SPLIT_FILES ? o.test_path : "", &paths, error) != 0)
        return -1;
    int status = 0;
    if (paths.n > 0 && o.file.header == HEADER_YES)
        input_form_warn(&o.file, paths.files[0]);
    else if (paths.n > 0)
        status = table_check_record(paths.files[0], &o.file, error);
    paths_free(&paths);
    return status;
}

/* A public file is read as a run reads it. */
static int check_public_features(const struct config_values *data, struct dpf_error *error)
{
    struct feature_options options;
    struct feature_table features = {.rows = 0};
    int status = feature_options_read(data, &options, error);
    if (status == 0)
        status = feature_file_load(&options, NULL, &features, error);
    feature_table_free(&features);
    feature_options_free(&options);
    return status;
}

/* A form that is declared decides nothing by what stands in a file. Whoever asks whether all is well is told that it does not
   fit the first line; a run, that lines are at fault, as [privacy] on-violation says. */
static void warn_of_first_line(const char *path, const struct file_options *options)
{
    struct dpf_error found = {0};
    if (options->header == HEADER_NO && !options->sections && table_check_record(path, options, &found) != 0)
        log_message(LOG_LEVEL_WARNING, "%s", found.text);
    input_form_warn(options, path);
}

static int check_text(const char *path, const char *without, const struct file_options *options,
                      struct dpf_error *error)
{
    struct paths paths;
    if (paths_expand(path, without, &paths, error) != 0)
        return -1;
    int status = 0;
    for (size_t i = 0; i < paths.n && status == 0; i++) {
        const char *foreign = source_foreign(paths.files[i]);
        if (foreign && options->header == HEADER_NO)
            log_message(LOG_LEVEL_WARNING, "%s: by its first bytes this is %s", paths.files[i], foreign);
        else if (foreign)
            status = error_set(error, DPF_FAULT_DATA, "%s: this is %s", paths.files[i], foreign);
        else
            warn_of_first_line(paths.files[i], options);
    }
    paths_free(&paths);
    return status;
}

int data_check_text(const struct config_values *data, const struct config_values *split,
                    struct dpf_error *error)
{
    struct data_options o;
    if (data_options_read(data, split, &o, error) != 0 || check_public_features(data, error) != 0)
        return -1;
    if (o.format == FORMAT_SYNTHETIC)
        return 0;
    const char *test = o.kind == SPLIT_FILES ? o.test_path : "";
    if (check_text(o.path, test, &o.file, error) != 0)
        return -1;
    return *test ? check_text(test, "", &o.file, error) : 0;
}

/* What each rank has read of a file is what rank 0 has there. hashes: of the parts, or of the whole file on each. */
static int agree_on_contents(const struct loading *l, const char *path, char (*hashes)[65],
                             struct dpf_error *error)
{
    const int rank = ranks_rank(), size = ranks_size();
    char own[65];
    memcpy(own, hashes[rank], sizeof own);
    if (ranks_broadcast(hashes, (size_t)size * sizeof *hashes, 0, error) != 0)
        return -1;
    const int differs = *own && strcmp(own, hashes[rank]) != 0;
    return ranks_agree(
        differs ? error_set(error, DPF_FAULT_DATA,
                            "%s: what was read here is not what rank 0 has %s; give all ranks the same "
                            "file, and do not change it during a run",
                            path, l->spread ? "in that part of the file" : "in the file")
                : 0,
        error);
}

static int read_file(struct loading *l, const char *path, struct table *table, struct ids *users,
                     struct ids *items, char hash[65], struct dpf_error *error)
{
    const int size = ranks_size(), rank = ranks_rank();
    const int hashes_all = !l->spread || rank == 0; /* rank 0 reads all of it for that */
    char(*hashes)[65] = size > 1 ? memory_new((size_t)size, sizeof *hashes) : NULL;
    const struct read_control parts = {.part = rank, .parts = size, .part_hashes = hashes};
    if (size > 1 && !hashes)
        return error_memory(error);
    int status = table_read(table, path, &l->options.file, l->spread ? &parts : NULL, users, items,
                            hashes_all ? hash : NULL, l->pool, error);
    for (int r = 0; hashes && !l->spread && r < size; r++)
        memcpy(hashes[r], hash, 65);
    if (status == 0 && hashes)
        status = agree_on_contents(l, path, hashes, error);
    free(hashes);
    return status;
}

/* The hash of one file is its own; of several, that of their hashes' texts one after the other. */
static int read_files(struct loading *l, const struct paths *paths, struct table *table, struct ids *users,
                      struct ids *items, char hash[65], struct dpf_error *error)
{
    crypto_hash_sha256_state state;
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_init(&state);
    for (size_t i = 0; i < paths->n; i++) {
        char one[65] = "";
        if (read_file(l, paths->files[i], table, users, items, hash || ranks_size() > 1 ? one : NULL,
                      error) != 0)
            return -1;
        if (!hash)
            continue;
        memcpy(hash, one, sizeof one);
        crypto_hash_sha256_update(&state, (const unsigned char *)one, 64);
    }
    if (hash && paths->n > 1) {
        crypto_hash_sha256_final(&state, digest);
        sodium_bin2hex(hash, 65, digest, sizeof digest);
    }
    return 0;
}

static int read_tables(struct loading *l, struct ids *users, struct ids *items, struct dpf_error *error)
{
    struct paths paths;
    int with_test = l->options.kind == SPLIT_FILES;
    if (paths_expand(l->options.path, with_test ? l->options.test_path : "", &paths, error) != 0)
        return -1;
    int status = read_files(l, &paths, &l->train_table, users, items, l->out->summary.sha256, error);
    paths_free(&paths);
    if (status != 0 || !with_test)
        return status;
    if (paths_expand(l->options.test_path, "", &paths, error) != 0)
        return -1;
    status = read_files(l, &paths, &l->test_table, users, items, NULL, error);
    paths_free(&paths);
    return status;
}

/* The ids that occur in the parts of any rank. */
static int number_all(const struct ids *own, struct id_map *out, struct dpf_error *error)
{
    struct ids all = {0};
    int status = spread_ids(own, &all, error);
    int32_t *rank = status == 0 ? memory_raw((size_t)all.n + 1, sizeof *rank) : NULL;
    if (status == 0 && (!rank || ids_finish(&all, out, rank) != 0))
        status = error_memory(error);
    free(rank);
    ids_free(&all);
    return status;
}

/* The ids of a side and the index of each code: of the catalogue (-1: not in it), or of what occurs. */
static int finish_side(struct loading *l, int side, const struct ids *ids, struct id_map *out, int32_t **rank,
                       struct dpf_error *error)
{
    const char *path = l->options.catalogues[side];
    if (path[0]) {
        if (catalogue_load(path, side, &l->options.file, out, error) != 0)
            return -1;
        *rank = ids_match(ids, out);
    } else if (l->spread) {
        if (number_all(ids, out, error) != 0)
            return -1;
        *rank = ids_match(ids, out);
    } else {
        *rank = memory_raw((size_t)ids->n, sizeof **rank);
        if (*rank && ids_finish(ids, out, *rank) != 0)
            return error_memory(error);
    }
    return *rank ? 0 : error_memory(error);
}

/* Final indices over all files of the run. */
static int finish_ids(struct loading *l, const struct ids *users, const struct ids *items,
                      struct dpf_error *error)
{
    int32_t *user_rank = NULL, *item_rank = NULL;
    int status = finish_side(l, DPF_SIDE_USERS, users, &l->out->users, &user_rank, error);
    if (status == 0)
        status = finish_side(l, DPF_SIDE_ITEMS, items, &l->out->items, &item_rank, error);
    if (status == 0) {
        table_finish_ids(&l->train_table, user_rank, item_rank);
        table_finish_ids(&l->test_table, user_rank, item_rank);
    }
    free(user_rank);
    free(item_rank);
    return status;
}

/* Implicit feedback: records below the threshold are not interactions. Where their cells are public they are
   void. */
static int apply_threshold(struct loading *l, struct ratings *ratings, struct dpf_error *error)
{
    const struct csr *csr = &ratings->csr;
    int64_t n = csr->ptr[csr->rows];
    if (!l->options.implicit || !csr->values || !isfinite(l->options.threshold))
        return 0;
    uint8_t *flags = memory_new((size_t)n, 1);
    if (!flags)
        return error_memory(error);
    /* Compared as stored, so that a threshold of 0.1 keeps a 0.1 of the file. */
    float threshold = (float)l->options.threshold;
    for (int64_t i = 0; i < n; i++)
        flags[i] = csr->values[i] < threshold;
    if (csr->voids && l->options.file.voids == VOID_CELL)
        l->out->summary.below_threshold += ratings_void(ratings, flags);
    else
        l->out->summary.below_threshold += ratings_remove(ratings, flags);
    free(flags);
    return 0;
}

/* Whether equal time stamps have to be told apart. */
static int orders_lines(const struct data_options *o)
{
    return (o->kind == SPLIT_LEAVE_ONE_OUT && o->by == BY_TIME) ||
           (o->filter.user_max && o->filter.keep == KEEP_LATEST);
}

/* Times that only decide between records of one pair are built once there is such a pair. */
static int build(struct loading *l, struct table *table, int want_order, struct ratings *ratings,
                 struct dpf_error *error)
{
    const int64_t users = l->out->users.n;
    struct ratings_wish wish = {.values = 1, .times = l->options.file.time_needed, .order = want_order};
    const int may_need = !wish.times && table->form.times;
    /* A rank has many records, and looks for duplicates in items alone, which take less room. */
    if (may_need && l->spread) {
        const struct ratings_wish items = {.values = 0};
        if (ratings_build(table, users, &items, l->pool, ratings, error) != 0)
            return -1;
        wish.times = ratings_has_duplicates(ratings);
        ratings_free(ratings);
    }
    wish.last = !may_need || l->spread;
    if (ratings_build(table, users, &wish, l->pool, ratings, error) != 0)
        return -1;
    if (wish.last || !ratings_has_duplicates(ratings))
        return 0;
    ratings_free(ratings);
    wish.times = wish.last = 1;
    return ratings_build(table, users, &wish, l->pool, ratings, error);
}

static int clean(struct loading *l, struct table *table, int want_order, struct ratings *ratings,
                 struct dpf_error *error)
{
    struct dataset_summary *summary = &l->out->summary;
    struct resolved counts = {0};
    if (build(l, table, want_order, ratings, error) != 0 ||
        ratings_resolve(ratings, &l->options, table, &l->out->users, &l->out->items, &counts,
                        &l->out->violations, error) != 0)
        return -1;
    summary->duplicates += counts.removed;
    summary->lines += table->lines;
    summary->empty_lines += table->empty;
    summary->out_of_catalogue += table->strangers;
    summary->out_of_range += table->dropped + counts.dropped;
    summary->clipped += table->clipped + counts.clipped;
    return 0;
}

static int pass_to_owners(struct loading *l, struct dpf_error *error)
{
    if (spread_users(&l->train_table, l->out, error) != 0 ||
        spread_records(&l->train_table, l->out, error) != 0)
        return -1;
    return l->options.kind == SPLIT_FILES ? spread_records(&l->test_table, l->out, error) : 0;
}

static int load_files(struct loading *l, struct dpf_error *error)
{
    const struct data_options *o = &l->options;
    struct ids users = {0}, items = {0};
    l->spread = spread_is_possible(o);
    l->train_table.violations = l->test_table.violations = &l->out->violations;
    l->train_table.drops_strangers = l->test_table.drops_strangers = o->drop_outside;
    l->train_table.keeps_voids = l->test_table.keeps_voids = o->file.voids != VOID_GONE;
    int status = read_tables(l, &users, &items, error);
    if (status == 0)
        status = finish_ids(l, &users, &items, error);
    ids_free(&users);
    ids_free(&items);
    if (status == 0 && l->spread)
        status = pass_to_owners(l, error);
    if (status != 0 || clean(l, &l->train_table, orders_lines(o), &l->train, error) != 0)
        return -1;
    if (o->kind == SPLIT_FILES &&
        (clean(l, &l->test_table, 0, &l->test, error) != 0 ||
         split_overlaps(o, &l->train, &l->test, &l->out->users, &l->out->items, &l->train_table,
                        &l->test_table, &l->out->violations, error) != 0))
        return -1;
    int64_t freed = l->train_table.records + l->test_table.records;
    table_free(&l->train_table);
    table_free(&l->test_table);
    ratings_return_freed(&freed);
    return 0;
}

static int load_synthetic(struct loading *l, struct dpf_error *error)
{
    const struct data_options *o = &l->options;
    int values = !o->implicit || o->counts || isfinite(o->threshold);
    int times = o->file.time_needed;
    struct generator *generator = generator_new(&o->generate, l->seeded, error);
    if (!generator)
        return -1;
    int status = generator_ratings(generator, values, times, l->pool, &l->train, error);
    generator_free(generator);
    if (status == 0 && (id_map_range(o->generate.users, &l->out->users) != 0 ||
                        id_map_range(o->generate.items, &l->out->items) != 0))
        status = error_memory(error);
    return status;
}

static void drop_values(struct csr *csr)
{
    free(csr->values);
    csr->values = NULL;
}

static int nothing_left(const struct loading *l, struct dpf_error *error)
{
    const struct dataset_summary *s = &l->out->summary;
    const char *where = l->options.format == FORMAT_SYNTHETIC ? "data.format = synthetic" : l->options.path;
    const char *remedy = s->out_of_catalogue  ? "correct data.items-file and data.users-file"
                         : s->filtered        ? "ask data.filter for less"
                         : s->below_threshold ? "lower data.threshold"
                         : s->out_of_range    ? "correct data.value-min and data.value-max"
                         : l->out->test.n > 0 ? "hold out fewer, see [split]"
                         : s->lines - s->empty_lines == 1
                             ? "the only line was read as a header, see data.header"
                             : "add records";
    return error_set(
        error, DPF_FAULT_DATA,
        "%s: no records are left for training (of %lld lines; %lld below data.threshold, %lld out "
        "of range, %lld for testing); %s",
        where, (long long)s->lines, (long long)s->below_threshold, (long long)s->out_of_range,
        (long long)l->out->test.n, remedy);
}

/* Hands the rows over. */
static void finish(struct loading *l)
{
    struct dataset *out = l->out;
    free(l->train.times);
    free(l->train.order);
    l->train.times = NULL;
    l->train.order = NULL;
    out->train.by_user = l->train.csr;
    memset(&l->train.csr, 0, sizeof l->train.csr);
    if (l->options.kind == SPLIT_FILES) {
        out->test.by_user = l->test.csr;
        memset(&l->test.csr, 0, sizeof l->test.csr);
    }
    out->train.n = out->train.by_user.ptr[out->train.by_user.rows];
    out->test.n = out->test.by_user.ptr ? out->test.by_user.ptr[out->test.by_user.rows] : 0;
    if (out->implicit && !l->options.counts) {
        drop_values(&out->train.by_user);
        drop_values(&out->test.by_user);
        drop_values(&out->known);
    }
    /* Nothing can be tested on a void record; one that has a value is trained on like any other. */
    out->test.n -= csr_remove_voids(&out->test.by_user);
    if (l->options.file.voids == VOID_VALUE)
        csr_forget_voids(&out->train.by_user);
    if (l->options.file.voids == VOID_VALUE)
        csr_forget_voids(&out->known);
}

/* Ids that are most likely several fields: all were read with a delimiter that the file does not have, or are whole lines of
   a table. */
static void warn_of_ids(const struct loading *l, int side, const struct id_map *ids)
{
    static const struct {
        const char *text, *remedy;
    } signs[] = {{"::", "data.delimiter = double-colon"},
                 {";", "data.delimiter = semicolon"},
                 {"\t", "data.delimiter = tab"},
                 {"|", "data.delimiter = pipe"},
                 {"\"", "format = csv, in which fields may be quoted"}};
    char shown[TEXT_SHOWN];
    if (l->options.format == FORMAT_SYNTHETIC || ids->n == 0)
        return;
    const char *first = id_map_text(ids, 0), *last = id_map_text(ids, ids->n - 1);
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (strstr(first, signs[i].text) && strstr(last, signs[i].text)) {
            log_message(LOG_LEVEL_WARNING, "%s such as \"%s\" look like several fields: is %s meant?",
                        side == DPF_SIDE_ITEMS ? "items" : "users", text_show(first, shown),
                        !l->options.catalogues[side][0] ? signs[i].remedy
                        : side == DPF_SIDE_ITEMS        ? "items-file = FILE:COLUMN"
                                                        : "users-file = FILE:COLUMN");
            return;
        }
}

static void warn_suspicious(const struct loading *l)
{
    warn_of_ids(l, DPF_SIDE_USERS, &l->out->users);
    warn_of_ids(l, DPF_SIDE_ITEMS, &l->out->items);
    const struct dataset_summary *s = &l->out->summary;
    if (!l->options.implicit && s->distinct_values > 100 && isinf(l->options.value_lo) &&
        isinf(l->options.value_hi))
        log_message(LOG_LEVEL_WARNING,
                    "the ratings have %s%lld distinct values from %g to %g: is column.rating right? Declare "
                    "value-min and value-max if it is",
                    s->distinct_values >= 1000 ? "at least " : "", (long long)s->distinct_values,
                    s->value_min, s->value_max);
}

/* What files say: ids, records cleaned of duplicates before they are split, links, weights. */
static int parse(struct loading *l, struct dpf_error *error)
{
    const struct data_options *o = &l->options;
    if ((o->format == FORMAT_SYNTHETIC ? load_synthetic(l, error) : load_files(l, error)) != 0)
        return -1;
    if (apply_threshold(l, &l->train, error) != 0 ||
        (o->kind == SPLIT_FILES && apply_threshold(l, &l->test, error) != 0))
        return -1;
    if (o->relation_path[0] && relation_load(o, &l->out->users, l->pool, &l->out->relation, error) != 0)
        return -1;
    return weights_load(o, l->pool, l->out, error);
}

/* Public features and names of items, for the ids that there are. */
static int load_features(struct loading *l, const struct config_values *data, struct dpf_error *error)
{
    struct feature_options options;
    int status = feature_options_read(data, &options, error);
    if (status == 0)
        status = feature_file_load(&options, &l->out->items, &l->out->features, error);
    if (status == 0)
        status = feature_file_words(&options, &l->out->items, &l->out->words, error);
    feature_options_free(&options);
    if (status != 0)
        return -1;
    return item_names_load(data, &l->out->items, &l->out->item_names, error);
}

/* What depends on the split. */
static int divide(struct loading *l, struct dpf_error *error)
{
    const struct data_options *o = &l->options;
    struct dataset *out = l->out;
    if (filter_apply(&o->filter, &l->train, &out->users, &out->items, l->seeded, &out->summary.filtered,
                     error) != 0)
        return -1;
    if (split_make(o, &l->train, &out->users, &out->items, l->seeded, l->pool, &out->test.by_user,
                   &out->known, &out->candidates, &out->summary, error) != 0)
        return -1;
    finish(l);
    const int spread = out->shares[DPF_SIDE_USERS] != NULL;
    if (weights_assign(o, l->seeded, out, error) != 0 ||
        (spread ? spread_items(out, error)
                : csr_transpose_counts(&out->train.by_user, out->items.n, &out->train.by_item, error)) != 0 ||
        summary_fill(out, error) != 0 || similarity_fill(o, out, error) != 0 ||
        (spread && spread_finish(out, error) != 0))
        return -1;
    if (out->train.n == 0 && out->violations.n == 0) { /* else the faults of its lines are the reason */
        struct dpf_error none = {0};
        nothing_left(l, &none);
        violations_add(&out->violations, 0, 0, &none);
    }
    warn_suspicious(l);
    return 0;
}

struct data_parsed {
    struct ratings train, test;
    struct dataset dataset; /* ids, links and weights from files, the part of the summary that is known */
};

static void close_loading(struct loading *l)
{
    table_free(&l->train_table);
    table_free(&l->test_table);
    ratings_free(&l->train);
    ratings_free(&l->test);
}

int data_parse(const struct config_values *data, const struct config_values *split,
               const struct random_root *seeded, struct pool *pool, struct data_parsed **out,
               struct dpf_error *error)
{
    *out = NULL;
    struct data_parsed *parsed = memory_new(1, sizeof *parsed);
    if (!parsed)
        return error_memory(error);
    struct loading l = {.seeded = seeded, .pool = pool, .out = &parsed->dataset};
    int status = data_options_read(data, split, &l.options, error);
    if (status == 0) {
        parsed->dataset.implicit = l.options.implicit;
        int ones = l.options.implicit && !l.options.counts;
        parsed->dataset.value_lo = ones ? 1 : l.options.value_lo;
        parsed->dataset.value_hi = ones ? 1 : l.options.value_hi;
        status = parse(&l, error);
    }
    if (status == 0)
        status = load_features(&l, data, error);
    if (status != 0) {
        close_loading(&l);
        data_parsed_free(parsed);
        return -1;
    }
    parsed->train = l.train;
    parsed->test = l.test;
    *out = parsed;
    return 0;
}

int data_divide(struct data_parsed *parsed, const struct config_values *data,
                const struct config_values *split, const struct random_root *seeded, struct pool *pool,
                struct dataset *out, struct dpf_error *error)
{
    struct loading l = {.seeded = seeded, .pool = pool, .out = out};
    l.train = parsed->train;
    l.test = parsed->test;
    *out = parsed->dataset;
    free(parsed);
    int status = data_options_read(data, split, &l.options, error);
    if (status == 0)
        status = divide(&l, error);
    close_loading(&l);
    if (status != 0)
        dataset_free(out);
    return status;
}

void data_parsed_free(struct data_parsed *parsed)
{
    if (!parsed)
        return;
    ratings_free(&parsed->train);
    ratings_free(&parsed->test);
    dataset_free(&parsed->dataset);
    free(parsed);
}

int data_index_items(struct dataset *dataset, struct pool *pool, struct dpf_error *error)
{
    struct csr *by_item = &dataset->train.by_item;
    if (by_item->others)
        return 0;
    csr_free(by_item);
    return csr_transpose_on(pool, &dataset->train.by_user, dataset->items.n, by_item, error);
}

int data_read_by_user(const struct config_values *data, const struct config_values *split,
                      const struct random_root *seeded, struct pool *pool, struct dataset *out,
                      struct dpf_error *error)
{
    struct data_parsed *parsed;
    memset(out, 0, sizeof *out);
    if (data_parse(data, split, seeded, pool, &parsed, error) != 0)
        return -1;
    return data_divide(parsed, data, split, seeded, pool, out, error);
}

int data_read(const struct config_values *data, const struct config_values *split,
              const struct random_root *seeded, struct pool *pool, struct dataset *out,
              struct dpf_error *error)
{
    if (data_read_by_user(data, split, seeded, pool, out, error) != 0)
        return -1;
    const int status = data_index_items(out, pool, error);
    if (status != 0)
        dataset_free(out);
    return status;
}

int data_load(const struct config_values *data, const struct config_values *split,
              const struct random_root *seeded, struct pool *pool, struct dataset *out,
              struct dpf_error *error)
{
    if (data_read(data, split, seeded, pool, out, error) != 0)
        return -1;
    const int status = violations_report(&out->violations, error);
    if (status != 0)
        dataset_free(out);
    return status;
}

/* Whatever a filter leaves of the records, ids are those that the generator is told. */
static int generated_sizes(const struct config_values *data, const struct random_root *seeded, int64_t *users,
                           int64_t *items, struct dpf_error *error)
{
    struct generate_options options;
    if (data_synthetic_options(data, &options, error) != 0)
        return -1;
    struct generator *generator = generator_new(&options, seeded, error);
    if (!generator)
        return -1;
    generator_free(generator);
    *users = options.users;
    *items = options.items;
    return 0;
}

int data_sizes(const struct config_values *data, const struct config_values *split,
               const struct random_root *seeded, int64_t *users, int64_t *items, struct dpf_error *error)
{
    if (data_is_generated(data))
        return generated_sizes(data, seeded, users, items, error);
    struct dataset dataset = {0};
    struct pool *pool = pool_new(1);
    const int status = data_read_by_user(data, split, seeded, pool, &dataset, error);
    if (status == 0) {
        *users = dataset.users.n;
        *items = dataset.items.n;
    }
    dataset_free(&dataset);
    pool_free(pool);
    return status;
}
