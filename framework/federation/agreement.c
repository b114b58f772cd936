/* SPDX-License-Identifier: Apache-2.0 */
#include "federation/agreement.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "reading/data_params.h"

/* Each end's own: where its files are, what it does beside the run, and what it limits for itself. */
static const char *const own_keys[][2] = {
    {"run", "output"},         {"run", "threads"},    {"run", "plugin-dir"},      {"run", "compare"},
    {"run", "trace"},          {"data", "path"},      {"data", "items-file"},     {"data", "users-file"},
    {"data", "item-features"}, {"privacy", "ledger"}, {"privacy", "max-epsilon"}, {"privacy", "ledger-runs"},
};

/* What the file says, not where it lies. */
static int add_features(crypto_generichash_state *state, const struct plan *plan, struct dpf_error *error)
{
    char hex[65];
    const char *path = plan->data.params.values[D_ITEM_FEATURES].text;
    if (!*path)
        return 0;
    if (files_sha256(path, hex, error) != 0)
        return -1;
    crypto_generichash_update(state, (const unsigned char *)hex, sizeof hex);
    return 0;
}

static char *configuration_text(const struct plan *plan)
{
    json_t *resolved = plan_resolved(plan);
    json_object_del(resolved, "evaluate");
    for (size_t i = 0; i < sizeof own_keys / sizeof own_keys[0]; i++)
        json_object_del(json_object_get(resolved, own_keys[i][0]), own_keys[i][1]);
    char *text = json_dumps(resolved, JSON_SORT_KEYS | JSON_COMPACT);
    json_decref(resolved);
    return text;
}

static void add_text(crypto_generichash_state *state, const char *text)
{
    crypto_generichash_update(state, (const unsigned char *)text, strlen(text) + 1);
}

static void add_ids(crypto_generichash_state *state, const struct id_map *ids)
{
    const uint64_t n = (uint64_t)ids->n;
    crypto_generichash_update(state, (const unsigned char *)&n, sizeof n);
    for (int64_t i = 0; i < ids->n; i++)
        add_text(state, id_map_text(ids, i));
}

static void add_members(crypto_generichash_state *state, const struct members *members)
{
    for (int64_t i = 0; members->names && i < members->n; i++)
        add_text(state, members_name(members, i));
    if (members->keys)
        crypto_generichash_update(state, members->keys, (size_t)members->n * MEMBER_KEY_BYTES);
}

int agreement_make(const struct plan *plan, const struct dataset *dataset, const struct members *members,
                   int insecure, struct agreement *out, struct dpf_error *error)
{
    crypto_generichash_state state;
    char *configuration = configuration_text(plan);
    if (!configuration)
        return error_set(error, DPF_FAULT_RUN, "out of memory");
    crypto_generichash_init(&state, NULL, 0, sizeof out->digest);
    add_text(&state, "dpframe federation 1");
    add_text(&state, DPFRAME_VERSION);
    add_text(&state, configuration);
    for (int64_t i = 0; i < registry_used_count(plan->registry); i++) {
        const dpf_component *component = registry_used_at(plan->registry, i)->component;
        if (strcmp(component->role, DPF_ROLE_LINK) == 0)
            continue;
        add_text(&state, component->role);
        add_text(&state, component->id);
        add_text(&state, component->version);
    }
    add_ids(&state, &dataset->users);
    add_ids(&state, &dataset->items);
    add_members(&state, members);
    const int status = add_features(&state, plan, error);
    add_text(&state, insecure ? "insecure" : "secure");
    crypto_generichash_final(&state, out->digest, sizeof out->digest);
    sodium_bin2hex(out->hex, sizeof out->hex, out->digest, sizeof out->digest);
    out->insecure = insecure;
    free(configuration);
    return status;
}

void agreement_of_round(const struct agreement *agreement, const uint8_t session[16], uint64_t round,
                        const struct remote_rows *rows, uint8_t digest[32])
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, agreement->digest, sizeof agreement->digest, 32);
    crypto_generichash_update(&state, session, 16);
    crypto_generichash_update(&state, (const unsigned char *)&round, sizeof round);
    for (int64_t r = 0; r < rows->rows; r++)
        crypto_generichash_update(&state,
                                  (const unsigned char *)((const uint32_t *)rows->data + r * rows->stride),
                                  (size_t)rows->columns * sizeof(float));
    crypto_generichash_final(&state, digest, 32);
}
