/* SPDX-License-Identifier: Apache-2.0 */
#include "federation/members.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"

/* What RFC 8410 puts before the 32 bytes of a public key, and of a secret one. */
static const uint8_t public_head[12] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03,
                                        0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
static const uint8_t secret_head[16] = {0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06,
                                        0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20};

/* The 32 bytes of a key in base64, behind that head. */
static int read_key(const char *text, const uint8_t *head, size_t n_head, uint8_t key[32])
{
    uint8_t bytes[64];
    size_t n = 0;
    const int status = sodium_base642bin(bytes, sizeof bytes, text, strlen(text), NULL, &n, NULL,
                                         sodium_base64_VARIANT_ORIGINAL);
    const int fits = status == 0 && n == n_head + 32 && memcmp(bytes, head, n_head) == 0;
    if (fits)
        memcpy(key, bytes + n_head, 32);
    sodium_memzero(bytes, sizeof bytes);
    return fits ? 0 : -1;
}

const char *members_name(const struct members *members, int64_t party)
{
    return members->users ? id_map_text(members->users, party) : members->names[party];
}

int64_t members_find(const struct members *members, const char *name)
{
    if (members->users)
        return id_map_find(members->users, name);
    for (int64_t i = 0; i < members->n; i++)
        if (members->names[i] && strcmp(members->names[i], name) == 0)
            return i;
    return -1;
}

/* ---- the file ----------------------------------------------------------------------------------- */

struct reading {
    struct members *members;
    const char *path;
    long line;
    int64_t n_names, n_keys;
    uint8_t *has_key;
};

static int take_key(struct reading *reading, int64_t party, const char *text, struct dpf_error *error)
{
    struct members *members = reading->members;
    if (!*text)
        return 0;
    if (read_key(text, public_head, sizeof public_head, members->keys + party * MEMBER_KEY_BYTES) != 0)
        return error_at(
            error, DPF_FAULT_DATA, reading->path, reading->line,
            "the text after the name is not an Ed25519 public key: write the line between BEGIN and END of "
            "\"openssl pkey -pubout\"");
    reading->n_keys++;
    return 0;
}

/* The party of a line: a site gets the next number. */
static int take_name(struct reading *reading, const char *name, int64_t *party, struct dpf_error *error)
{
    struct members *members = reading->members;
    char shown[TEXT_SHOWN];
    *party = members_find(members, name);
    if (!members->users && *party < 0 && reading->n_names < members->n) {
        *party = reading->n_names;
        members->names[*party] = memory_text(name);
        if (!members->names[*party])
            return error_memory(error);
    } else if (!members->users && *party < 0) {
        return error_at(error, DPF_FAULT_DATA, reading->path, reading->line,
                        "there are more sites than [parties] count = %lld", (long long)members->n);
    } else if (*party < 0) {
        return error_at(error, DPF_FAULT_DATA, reading->path, reading->line,
                        "\"%s\" is not in the list of users", text_show(name, shown));
    } else if (!members->users || reading->has_key[*party]) {
        return error_at(error, DPF_FAULT_DATA, reading->path, reading->line,
                        "\"%s\" appears twice; remove one of the lines", text_show(name, shown));
    }
    reading->n_names++;
    reading->has_key[*party] = 1;
    return 0;
}

static int take_line(struct reading *reading, char *line, struct dpf_error *error)
{
    int64_t party;
    char *rest = NULL;
    const char *name = strtok_r(line, " \t", &rest);
    const char *key = name ? strtok_r(NULL, " \t", &rest) : NULL;
    if (!name)
        return 0;
    return take_name(reading, name, &party, error) != 0 ? -1
                                                        : take_key(reading, party, key ? key : "", error);
}

static int read_file(struct reading *reading, struct dpf_error *error)
{
    struct members *members = reading->members;
    struct files_lines lines;
    int status = files_open_lines(&lines, reading->path, error);
    if (status != 0)
        return status;
    for (char *line; status == 0 && (line = files_next_line(&lines));) {
        reading->line++;
        status = take_line(reading, line, error);
    }
    files_close_lines(&lines);
    if (status == 0 && (reading->n_names != members->n || (reading->n_keys && reading->n_keys != members->n)))
        return error_set(
            error, DPF_FAULT_DATA,
            "%s: the file names %lld of %lld parties, %lld of them with a key; name all, and give all of "
            "them keys or none",
            reading->path, (long long)reading->n_names, (long long)members->n, (long long)reading->n_keys);
    return status;
}

int members_read(struct members *members, const struct plan *plan, const struct dataset *dataset,
                 const char *path, struct dpf_error *error)
{
    const dpf_value *parties = plan->parties.params.values;
    const int of_users = parties[PARTIES_KIND].integer == PARTIES_USERS;
    *members = (struct members){.users = of_users ? &dataset->users : NULL,
                                .n = of_users ? dataset->users.n : parties[PARTIES_COUNT].integer};
    if (of_users && !*path)
        return 0;
    if (!*path)
        return config_error(plan->config, "federation", "parties", error,
                            "sites have names: give a file of %lld lines with one of them in each",
                            (long long)members->n);
    members->names = memory_new((size_t)members->n + 1, sizeof *members->names);
    members->keys = memory_new((size_t)members->n + 1, MEMBER_KEY_BYTES);
    struct reading reading = {.members = members, .path = path};
    reading.has_key = memory_new((size_t)members->n + 1, 1);
    const int status =
        members->names && members->keys && reading.has_key ? read_file(&reading, error) : error_memory(error);
    if (reading.n_keys == 0) {
        free(members->keys);
        members->keys = NULL;
    }
    free(reading.has_key);
    return status;
}

void members_free(struct members *members)
{
    for (int64_t i = 0; members->names && i < members->n; i++)
        free(members->names[i]);
    free(members->names);
    free(members->keys);
    *members = (struct members){.n = 0};
}

/* ---- a party's own ------------------------------------------------------------------------------ */

int members_read_secret(const struct members *members, int64_t party, const char *path,
                        uint8_t secret[MEMBER_SECRET_BYTES], struct dpf_error *error)
{
    struct files_lines lines;
    uint8_t seed[32], open[MEMBER_KEY_BYTES];
    int found = 0;
    if (files_open_lines(&lines, path, error) != 0)
        return -1;
    for (char *line; (line = files_next_line(&lines));) {
        found |= read_key(line, secret_head, sizeof secret_head, seed) == 0;
        sodium_memzero(line, strlen(line));
    }
    files_close_lines(&lines);
    if (!found)
        return error_set(
            error, DPF_FAULT_DATA,
            "%s: this is not an Ed25519 key; make one with \"openssl genpkey -algorithm ed25519\"", path);
    crypto_sign_seed_keypair(open, secret, seed);
    sodium_memzero(seed, sizeof seed);
    if (memcmp(open, members->keys + party * MEMBER_KEY_BYTES, sizeof open) != 0)
        return error_set(error, DPF_FAULT_DATA,
                         "%s: this key is not the one that the list of parties has for \"%s\"", path,
                         members_name(members, party));
    return 0;
}
