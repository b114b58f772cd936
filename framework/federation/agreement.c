/* SPDX-License-Identifier: Apache-2.0 */
#include "federation/agreement.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "reading/data_params.h"

/* Each end's own: where its files are, what it does beside the run, and what it limits for itself. */
static const struct alike_own own[] = {
    {"run", "output"},      {"run", "threads"},         {"run", "plugin-dir"}, {"run", "compare"},
    {"run", "trace"},       {"run", "checkpoint"},      {"data", "path"},      {"data", "items-file"},
    {"data", "users-file"}, {"data", "item-features"},  {"privacy", "ledger"}, {"privacy", "max-epsilon"},
    {"evaluate", NULL},     {"privacy", "ledger-runs"},
};

static int add(json_t *list, const char *name, const char *value)
{
    return json_object_set_new(list, name, json_string(value));
}

static void hash_text(crypto_generichash_state *state, const char *text)
{
    crypto_generichash_update(state, (const unsigned char *)text, strlen(text) + 1);
}

static int add_hash(json_t *list, const char *name, int64_t n, crypto_generichash_state *state)
{
    uint8_t digest[32];
    char hex[65], value[96];
    crypto_generichash_final(state, digest, sizeof digest);
    sodium_bin2hex(hex, sizeof hex, digest, sizeof digest);
    snprintf(value, sizeof value, "%lld lines, %s", (long long)n, hex);
    return add(list, name, value);
}

static int add_ids(json_t *list, const char *name, const struct id_map *ids)
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, 32);
    for (int64_t i = 0; i < ids->n; i++)
        hash_text(&state, id_map_text(ids, i));
    return add_hash(list, name, ids->n, &state);
}

static int add_members(json_t *list, const struct members *members)
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, 32);
    for (int64_t i = 0; members->names && i < members->n; i++)
        hash_text(&state, members_name(members, i));
    if (members->keys)
        crypto_generichash_update(&state, members->keys, (size_t)members->n * MEMBER_KEY_BYTES);
    return add_hash(list, "the list of [federation] parties, with their keys", members->n, &state);
}

/* What the file says, not where it lies. */
static int add_features(json_t *list, const struct plan *plan, struct dpf_error *error)
{
    char hex[65];
    const char *path = plan->data.params.values[D_ITEM_FEATURES].text;
    if (!*path)
        return 0;
    if (files_sha256(path, hex, error) != 0)
        return -1;
    return add(list, "the file of [data] item-features", hex) == 0 ? 0 : error_memory(error);
}

int agreement_make(const struct plan *plan, const struct dataset *dataset, const struct members *members,
                   int insecure, struct agreement *out, struct dpf_error *error)
{
    json_t *list = json_object();
    *out = (struct agreement){.list = list, .insecure = insecure};
    if (!list || add(list, "the version of dpframe", DPFRAME_VERSION) != 0 ||
        add(list, "--insecure-test", insecure ? "given" : "not given") != 0 ||
        alike_add_configuration(list, plan, own, sizeof own / sizeof *own) != 0 ||
        alike_add_plugins(list, plan->registry, 0) != 0 ||
        add_ids(list, "the list of [data] users-file", &dataset->users) != 0 ||
        add_ids(list, "the list of [data] items-file", &dataset->items) != 0 ||
        add_members(list, members) != 0)
        return error_memory(error);
    if (add_features(list, plan, error) != 0)
        return -1;
    char *text = agreement_text(out);
    if (!text)
        return error_memory(error);
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, sizeof out->digest);
    hash_text(&state, "dpframe federation 2");
    hash_text(&state, text);
    crypto_generichash_final(&state, out->digest, sizeof out->digest);
    sodium_bin2hex(out->hex, sizeof out->hex, out->digest, sizeof out->digest);
    free(text);
    return 0;
}

void agreement_free(struct agreement *agreement)
{
    json_decref(agreement->list);
    agreement->list = NULL;
}

char *agreement_text(const struct agreement *agreement)
{
    return json_dumps(agreement->list, JSON_SORT_KEYS | JSON_COMPACT);
}

int agreement_differ(const struct agreement *agreement, const uint8_t *text, size_t n,
                     struct alike_difference *out)
{
    json_t *theirs = json_loadb((const char *)text, n, 0, NULL);
    const int differ = json_is_object(theirs) && alike_differ(agreement->list, theirs, out);
    json_decref(theirs);
    return differ;
}

void agreement_of_round(const struct agreement *agreement, const uint8_t session[16], uint64_t round,
                        uint32_t repeats, const struct remote_rows *rows, uint8_t digest[32])
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, agreement->digest, sizeof agreement->digest, 32);
    crypto_generichash_update(&state, session, 16);
    crypto_generichash_update(&state, (const unsigned char *)&round, sizeof round);
    crypto_generichash_update(&state, (const unsigned char *)&repeats, sizeof repeats);
    for (int64_t r = 0; r < rows->rows; r++)
        crypto_generichash_update(&state,
                                  (const unsigned char *)((const uint32_t *)rows->data + r * rows->stride),
                                  (size_t)rows->columns * sizeof(float));
    crypto_generichash_final(&state, digest, 32);
}
