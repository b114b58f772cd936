/* SPDX-License-Identifier: Apache-2.0 */
#include "federation/party_state.h"

#include <errno.h>
#include <glob.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"

char *party_state_path(const struct party_state *state, const char *name)
{
    return files_join(state->directory, name);
}

/* ---- the directory ------------------------------------------------------------------------------ */

static int read_instance(struct party_state *state, const char *path, struct dpf_error *error)
{
    char hex[33] = "";
    size_t n = 0;
    FILE *stream = fopen(path, "r");
    if (!stream)
        return error_set(error, DPF_FAULT_RUN, "cannot read %s: %s", path, strerror(errno));
    hex[fread(hex, 1, 32, stream)] = '\0';
    fclose(stream);
    if (sodium_hex2bin(state->instance, 16, hex, strlen(hex), NULL, &n, NULL) != 0 || n != 16)
        return error_set(error, DPF_FAULT_DATA, "%s: not what dpframe has written there", path);
    return 0;
}

static int make_instance(const char *path, struct dpf_error *error)
{
    uint8_t bytes[16];
    char hex[33];
    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2hex(hex, sizeof hex, bytes, sizeof bytes);
    return files_write_private_text(path, hex, error);
}

int party_state_open(struct party_state *state, const char *directory, struct dpf_error *error)
{
    *state = (struct party_state){.lock = -1, .directory = memory_text(directory)};
    if (!state->directory)
        return error_memory(error);
    if (mkdir(directory, 0700) != 0 && errno != EEXIST)
        return error_set(error, DPF_FAULT_CONFIG, "[federation] state = %s: %s", directory, strerror(errno));
    struct dpf_error busy = {0};
    state->lock = files_lock_directory(directory, &busy);
    if (state->lock < 0)
        return error_set(error, DPF_FAULT_CONFIG,
                         "[federation] state = %s: another process of this party is using it, or it is no "
                         "directory; a party joins once",
                         directory);
    char *path = party_state_path(state, "instance");
    int status = path ? 0 : error_memory(error);
    if (status == 0 && access(path, F_OK) != 0)
        status = make_instance(path, error);
    if (status == 0)
        status = read_instance(state, path, error);
    free(path);
    return status;
}

void party_state_close(struct party_state *state)
{
    if (state->lock >= 0)
        close(state->lock);
    free(state->directory);
    free(state->user);
    *state = (struct party_state){.lock = -1};
}

/* ---- a run -------------------------------------------------------------------------------------- */

static char *run_path(const struct party_state *state)
{
    return memory_format("%s/run-%s.json", state->directory, state->session);
}

static int write_run(const struct party_state *state, struct dpf_error *error)
{
    json_t *root =
        json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:b}", "session", state->session, "agreement",
                  state->agreement, "user", state->user, "data_sha256", state->data, "next_round",
                  (json_int_t)state->next_round, "answered", (json_int_t)state->answered, "repeats",
                  (json_int_t)state->repeats, "paid", (json_int_t)state->paid, "over", state->over);
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL, *path = run_path(state);
    const int status = text && path ? files_write_private_text(path, text, error) : error_memory(error);
    json_decref(root);
    free(text);
    free(path);
    return status;
}

static int is_same(const json_t *root, const char *key, const char *wanted)
{
    const char *text = json_string_value(json_object_get(root, key));
    return text && strcmp(text, wanted) == 0;
}

static int read_run(struct party_state *state, const json_t *root, struct dpf_error *error)
{
    const char *what = !is_same(root, "agreement", state->agreement) ? "something else was agreed to"
                       : !is_same(root, "user", state->user)         ? "it joined as another user"
                       : !is_same(root, "data_sha256", state->data)  ? "it joined with other records"
                                                                     : NULL;
    if (what)
        return error_set(error, DPF_FAULT_CONFIG,
                         "this party has joined the same run before, and then %s; nothing is sent", what);
    state->next_round = (uint64_t)json_integer_value(json_object_get(root, "next_round"));
    state->answered = (uint64_t)json_integer_value(json_object_get(root, "answered"));
    state->repeats = (uint32_t)json_integer_value(json_object_get(root, "repeats"));
    state->paid = (uint32_t)json_integer_value(json_object_get(root, "paid"));
    return 0;
}

int party_state_enter(struct party_state *state, const uint8_t session[16], const char *agreement,
                      const char *user, const char *data, int *is_known, struct dpf_error *error)
{
    json_error_t problem;
    sodium_bin2hex(state->session, sizeof state->session, session, 16);
    snprintf(state->agreement, sizeof state->agreement, "%s", agreement);
    snprintf(state->data, sizeof state->data, "%s", data);
    free(state->user);
    state->user = memory_text(user);
    state->next_round = state->answered = 0;
    state->repeats = state->paid = 0;
    char *path = run_path(state);
    if (!state->user || !path) {
        free(path);
        return error_memory(error);
    }
    *is_known = access(path, F_OK) == 0;
    json_t *root = *is_known ? json_load_file(path, 0, &problem) : NULL;
    int status = 0;
    if (*is_known && !root)
        status = error_set(error, DPF_FAULT_DATA,
                           "%s: %s; the rounds that were answered are not known, so that "
                           "none is answered",
                           path, problem.text);
    else if (root)
        status = read_run(state, root, error);
    json_decref(root);
    free(path);
    return status;
}

int party_state_knows(const struct party_state *state, const char *agreement, const char *user,
                      const char *data)
{
    glob_t found;
    int known = 0;
    char *pattern = memory_format("%s/run-*.json", state->directory);
    if (glob(pattern, 0, NULL, &found) != 0) {
        free(pattern);
        return 0;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        json_t *root = json_load_file(found.gl_pathv[i], 0, NULL);
        known |= root && !json_is_true(json_object_get(root, "over")) &&
                 is_same(root, "agreement", agreement) && is_same(root, "user", user) &&
                 is_same(root, "data_sha256", data);
        json_decref(root);
    }
    globfree(&found);
    free(pattern);
    return known;
}

int party_state_end(struct party_state *state, struct dpf_error *error)
{
    state->over = 1;
    return write_run(state, error);
}

int party_state_repeat(struct party_state *state, uint32_t repeats, int pays, struct dpf_error *error)
{
    state->repeats = repeats;
    if (pays) {
        state->paid++;
        state->next_round--;
        state->answered--;
    }
    return write_run(state, error);
}

int party_state_keep(struct party_state *state, uint64_t next_round, struct dpf_error *error)
{
    state->answered += next_round > state->next_round;
    state->next_round = next_round;
    return write_run(state, error);
}
