/* SPDX-License-Identifier: Apache-2.0 */
/* What a run reads, as texts that can be compared: the key of a parse, and the hash of all files. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "data/data_options_read.h"
#include "data/load.h"
#include "dpframe/privacy.h"
#include "lines/paths.h"
#include "reading/data_options.h"
#include "reading/data_params.h"
#include "reading/item_names.h"
#include "reading/public_file.h"

static void add_value(struct text *key, const struct config_values *values, uint32_t i)
{
    const dpf_param *param =
        (const dpf_param *)(const void *)((const char *)values->table + (int64_t)i * values->table_stride);
    char *text = config_value_text(param, &values->params.values[i]);
    text_add(key, "%s.%s=%s\n", values->section, param->name, text);
    free(text);
}

char *data_source_key(const struct config_values *data, const struct config_values *split, int64_t seed)
{
    static const uint32_t of_split[] = {S_KIND, S_BY, S_TEST_PATH, S_OVERLAP};
    struct text key = {0};
    for (uint32_t i = 0; i < data->params.n_values; i++)
        add_value(&key, data, i);
    for (size_t i = 0; i < sizeof of_split / sizeof of_split[0]; i++)
        add_value(&key, split, of_split[i]);
    if (data->params.values[D_FORMAT].integer == FORMAT_SYNTHETIC)
        text_add(&key, "run.seed=%lld\n", (long long)seed);
    return key.data;
}

/* All files that one key names. */
static int visit_key(const char *key, const char *path, const char *without, data_file_visitor visit,
                     void *context, struct dpf_error *error)
{
    struct paths paths;
    if (!path || !*path)
        return 0;
    if (paths_expand(path, without, &paths, error) != 0)
        return -1;
    const int status = visit(context, key, &paths, error);
    paths_free(&paths);
    return status;
}

int data_visit_files(const struct config_values *data, const struct config_values *split,
                     data_file_visitor visit, void *context, struct dpf_error *error)
{
    struct data_options o;
    if (data_options_read(data, split, &o, error) != 0)
        return -1;
    char *names = public_file_path(item_names_configured(data));
    const char *test = o.kind == SPLIT_FILES ? o.test_path : "";
    const int weighs = o.weights.kind == WEIGHTS_FILES;
    const int generated = o.format == FORMAT_SYNTHETIC; /* with lists of its own */
    char *const lists[] = {public_file_path(generated ? "" : o.catalogues[0]),
                           public_file_path(generated ? "" : o.catalogues[1])};
    const struct {
        const char *key, *path, *without;
    } keys[] = {{"[data] path", generated ? "" : o.path, test},
                {"[split] test.path", test, ""},
                {"[data] users-file", lists[DPF_SIDE_USERS], ""},
                {"[data] items-file", lists[DPF_SIDE_ITEMS], ""},
                {"[data] relation.path", o.relation_path, ""},
                {"[data] item-names", names, ""},
                {"[data] item-features", data->params.values[D_ITEM_FEATURES].text, ""},
                {"[data] weights.users", weighs ? o.weights.paths[DPF_SIDE_USERS] : "", ""},
                {"[data] weights.items", weighs ? o.weights.paths[DPF_SIDE_ITEMS] : "", ""}};
    int status = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && status == 0; i++)
        status = visit_key(keys[i].key, keys[i].path, keys[i].without, visit, context, error);
    free(lists[0]);
    free(lists[1]);
    free(names);
    return status;
}

static int add_files(void *context, const char *key, const struct paths *paths, struct dpf_error *error)
{
    crypto_hash_sha256_state *state = context;
    char hex[65];
    crypto_hash_sha256_update(state, (const unsigned char *)key, strlen(key) + 1);
    for (size_t i = 0; i < paths->n; i++) {
        if (files_sha256(paths->files[i], hex, error) != 0)
            return -1;
        crypto_hash_sha256_update(state, (const unsigned char *)hex, 64);
    }
    return 0;
}

int data_files_sha256(const struct config_values *data, const struct config_values *split, char hex[65],
                      struct dpf_error *error)
{
    crypto_hash_sha256_state state;
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_init(&state);
    if (data_visit_files(data, split, add_files, &state, error) != 0)
        return -1;
    crypto_hash_sha256_final(&state, digest);
    sodium_bin2hex(hex, 65, digest, sizeof digest);
    return 0;
}
