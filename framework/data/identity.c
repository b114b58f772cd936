/* SPDX-License-Identifier: Apache-2.0 */
/* What a run reads, as texts that can be compared: the key of a parse, and the hash of all files. */
#include <sodium.h>
#include <stdlib.h>

#include "base/files.h"
#include "base/text.h"
#include "reading/data_options.h"
#include "reading/data_params.h"
#include "data/load.h"
#include "lines/paths.h"
#include "data/data_options_read.h"

static void add_value(struct text *key, const struct config_values *values, uint32_t i)
{
    const dpf_param *param =
        (const dpf_param *)(const void *)((const char *)values->table + (int64_t)i * values->table_stride);
    char *text = config_value_text(param, &values->params.values[i]);
    if (text)
        text_add(key, "%s.%s=%s\n", values->section, param->name, text);
    else
        key->failed = 1;
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
    if (key.failed)
        text_free(&key);
    return key.data;
}

static int add_files(crypto_hash_sha256_state *state, const char *path, struct dpf_error *error)
{
    struct paths paths;
    char hex[65];
    if (!path || !*path)
        return 0;
    if (paths_expand(path, "", &paths, error) != 0)
        return -1;
    int status = 0;
    for (size_t i = 0; i < paths.n && status == 0; i++) {
        status = files_sha256(paths.files[i], hex, error);
        if (status == 0)
            crypto_hash_sha256_update(state, (const unsigned char *)hex, 64);
    }
    crypto_hash_sha256_update(state, (const unsigned char *)"/", 1); /* ends the files of one key */
    paths_free(&paths);
    return status;
}

int data_files_sha256(const struct config *config, const struct config_values *data,
                      const struct config_values *split, char hex[65], struct dpf_error *error)
{
    struct data_options options;
    crypto_hash_sha256_state state;
    unsigned char digest[crypto_hash_sha256_BYTES];
    if (data_options_read(config, data, split, &options, error) != 0)
        return -1;
    crypto_hash_sha256_init(&state);
    if ((options.format != FORMAT_SYNTHETIC && add_files(&state, options.path, error) != 0) ||
        (options.kind == SPLIT_FILES && add_files(&state, options.test_path, error) != 0) ||
        add_files(&state, options.catalogues[0], error) != 0 ||
        add_files(&state, options.catalogues[1], error) != 0 ||
        add_files(&state, options.relation_path, error) != 0 ||
        add_files(&state, data->params.values[D_ITEM_FEATURES].text, error) != 0 ||
        add_files(&state, data->params.values[D_USER_FEATURES].text, error) != 0)
        return -1;
    for (int side = 0; side < 2 && options.weights.kind == WEIGHTS_FILES; side++)
        if (add_files(&state, options.weights.paths[side], error) != 0)
            return -1;
    crypto_hash_sha256_final(&state, digest);
    sodium_bin2hex(hex, 65, digest, sizeof digest);
    return 0;
}
