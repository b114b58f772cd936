/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "dataset/shares.h"
#include "engine/step.h"

#define MAGIC "dpfckpt1"
#define MAGIC_LENGTH 8
#define HASH_BYTES 32
#define TRAILER (MAGIC_LENGTH + 8 + HASH_BYTES)
#define MOST_HEAD (INT64_C(1) << 26)
#define AT_ONCE ((size_t)1 << 20)
#define HEX 65

/* Part of the state: rows of so many bytes. */
struct array {
    char name[112];
    void *data;
    int64_t rows;
    size_t bytes;
    int side;            /* ranks have the rows of their shares of this side; -1: all ranks have all */
    int64_t first, last; /* the rows that this rank reads */
};

#define MOST_ARRAYS (2 * 3 + 2 * 2 * 16 + 1)
struct arrays {
    struct array list[MOST_ARRAYS];
    int n;
};

/* ---- what there is ------------------------------------------------------------------------------------ */

static void add_array(struct arrays *arrays, const char *of, const char *what, void *data, int64_t rows,
                      size_t bytes, int side)
{
    struct array *array = &arrays->list[arrays->n];
    if (!data || arrays->n == MOST_ARRAYS)
        return;
    *array =
        (struct array){.data = data, .rows = rows, .bytes = bytes, .side = side, .first = 0, .last = rows};
    snprintf(array->name, sizeof array->name, "%s %s", of, what);
    arrays->n++;
}

static void add_side(struct arrays *arrays, const struct engine *engine, int side)
{
    const struct side_factors *factors = &engine->model->sides[side];
    const char *name = plan_side_name(side);
    const size_t row = (size_t)engine->model->stride * sizeof(float),
                 state = (size_t)engine->plan->sides[side].state_width * sizeof(float);
    add_array(arrays, name, "rows", factors->data, factors->rows, row, side);
    model_rows_here(engine->model, engine->dataset, side, &arrays->list[arrays->n - 1].first,
                    &arrays->list[arrays->n - 1].last);
    add_array(arrays, name, "projected rows", factors->state_space, factors->state_rows, row, -1);
    if (factors->state_space)
        add_array(arrays, name, "solver", factors->solver_state, factors->state_rows, state, -1);
    else
        add_array(arrays, name, "solver", factors->solver_state, factors->rows, state, side);
}

static void list_arrays(struct arrays *arrays, const struct checkpoint *checkpoint,
                        const struct engine *engine)
{
    const int64_t users = engine->dataset->users.n;
    arrays->n = 0;
    for (int side = 0; side < 2; side++) {
        add_side(arrays, engine, side);
        for (int t = 0; t < engine->plan->sides[side].n_terms; t++) {
            const struct term_run *term = &engine->terms[side][t];
            add_array(arrays, term->plan->name, "participations", term->participations, users,
                      sizeof *term->participations, -1);
            add_array(arrays, term->plan->name, "last rounds", term->last_round, users,
                      sizeof *term->last_round, -1);
        }
    }
    if (checkpoint->trace)
        add_array(arrays, "run", "training error", checkpoint->trace, *checkpoint->n_trace,
                  sizeof *checkpoint->trace, -1);
}

/* The rows of each rank in the file. Rank 0 writes what all have. */
static void divide(const struct array *array, const struct dataset *dataset, int64_t *offsets)
{
    if (array->side >= 0) {
        shares_offsets(dataset, array->side, offsets);
        return;
    }
    offsets[0] = 0;
    for (int r = 1; r <= ranks_size(); r++)
        offsets[r] = array->rows;
}

/* ---- writing ------------------------------------------------------------------------------------------ */

static void hash_bytes(const void *data, size_t bytes, char hex[HEX])
{
    struct files_hash *hash = files_hash_new();
    files_hash_add(hash, data, bytes);
    files_hash_end(hash, hex);
}

/* The rank's rows of each array, and their hashes. */
static int write_own(int fd, const struct arrays *arrays, const struct dataset *dataset, int64_t *offsets,
                     char (*hashes)[HEX])
{
    int64_t at = 0;
    for (int a = 0; a < arrays->n; a++) {
        const struct array *array = &arrays->list[a];
        divide(array, dataset, offsets);
        const int64_t first = offsets[ranks_rank()], last = offsets[ranks_rank() + 1];
        const char *from = (const char *)array->data + (size_t)first * array->bytes;
        const size_t bytes = (size_t)(last - first) * array->bytes;
        if (files_write_at(fd, from, bytes, at + first * (int64_t)array->bytes) != 0)
            return -1;
        hash_bytes(from, bytes, hashes[a]);
        at += array->rows * (int64_t)array->bytes;
    }
    return fsync(fd);
}

static json_t *array_json(const struct array *array, int64_t at, const int64_t *offsets, int n_arrays, int a,
                          char (*hashes)[HEX])
{
    json_t *pieces = json_array();
    for (int r = 0; r < ranks_size(); r++)
        json_array_append_new(pieces, json_pack("[I, s]", (json_int_t)(offsets[r + 1] - offsets[r]),
                                                hashes[(size_t)r * (size_t)n_arrays + (size_t)a]));
    return json_pack("{s:s, s:I, s:I, s:I, s:o}", "name", array->name, "rows", (json_int_t)array->rows,
                     "bytes", (json_int_t)array->bytes, "at", (json_int_t)at, "pieces", pieces);
}

static json_t *head_json(const struct checkpoint *checkpoint, const struct engine *engine, int over,
                         const struct arrays *arrays, const int64_t counts[3], int64_t *offsets,
                         char (*hashes)[HEX], int64_t *end)
{
    json_t *list = json_array();
    *end = 0;
    for (int a = 0; list && a < arrays->n; a++) {
        divide(&arrays->list[a], engine->dataset, offsets);
        json_array_append_new(list, array_json(&arrays->list[a], *end, offsets, arrays->n, a, hashes));
        *end += arrays->list[a].rows * (int64_t)arrays->list[a].bytes;
    }
    return json_pack("{s:s, s:I, s:I, s:b, s:I, s:s, s:[I, I, I], s:O*, s:O, s:o}", "process", checkpoint->id,
                     "round", (json_int_t)engine->round, "done", (json_int_t)engine->stats->rounds_done,
                     "over", over, "repeats", (json_int_t)checkpoint->repeats, "deviation",
                     engine->plan->ledger.deviation, "sent", (json_int_t)counts[0], (json_int_t)counts[1],
                     (json_int_t)counts[2], "server", checkpoint->server, "binding", checkpoint->binding,
                     "arrays", list);
}

/* Behind the arrays; then the file is whole. */
static int write_head(FILE *stream, const json_t *head, int64_t at)
{
    unsigned char trailer[TRAILER] = MAGIC;
    char *text = head ? json_dumps(head, JSON_COMPACT) : NULL, hex[HEX];
    const size_t length = text ? strlen(text) : 0;
    int status = text && (int64_t)length < MOST_HEAD ? 0 : -1;
    for (int i = 0; i < 8; i++)
        trailer[MAGIC_LENGTH + i] = (unsigned char)((uint64_t)length >> 8 * i);
    if (status == 0)
        hash_bytes(text, length, hex);
    if (status == 0)
        status = sodium_hex2bin(trailer + MAGIC_LENGTH + 8, HASH_BYTES, hex, HEX - 1, NULL, NULL, NULL);
    if (status == 0)
        status = files_write_at(fileno(stream), text, length, at);
    if (status == 0)
        status = files_write_at(fileno(stream), trailer, sizeof trailer, at + (int64_t)length);
    free(text);
    return status;
}

static int cannot_write(const struct checkpoint *checkpoint, struct dpf_error *error)
{
    return error_set(error, DPF_FAULT_RUN, "rank %d cannot write the checkpoint %s: %s", ranks_rank(),
                     checkpoint->path, strerror(errno));
}

/* What a rank writes, and the hashes of all. */
static int write_arrays(const struct checkpoint *checkpoint, const struct engine *engine, const char *name,
                        const struct arrays *arrays, int64_t *offsets, char (*hashes)[HEX],
                        struct dpf_error *error)
{
    const int rank = ranks_rank(), size = ranks_size();
    const int fd = open(name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    int status = fd >= 0 ? write_own(fd, arrays, engine->dataset, offsets, hashes + rank * arrays->n) : -1;
    if (status != 0)
        cannot_write(checkpoint, error);
    if (fd >= 0)
        close(fd);
    for (int r = 0; r <= size; r++)
        offsets[r] = (int64_t)r * arrays->n;
    return ranks_agree(status, error) == 0 ? ranks_gather(hashes, HEX, offsets, error) : -1;
}

static int count_sent(const struct engine *engine, int64_t counts[3], struct dpf_error *error)
{
    counts[0] = (int64_t)engine->stats->bytes_up;
    counts[1] = (int64_t)engine->stats->bytes_down;
    counts[2] = engine->stats->messages;
    return ranks_sum(counts, 3, error);
}

static int finish_file(const struct checkpoint *checkpoint, const struct engine *engine, int over,
                       const struct arrays *arrays, const int64_t counts[3], int64_t *offsets,
                       char (*hashes)[HEX], struct files_write *write, struct dpf_error *error)
{
    int64_t end;
    json_t *head = head_json(checkpoint, engine, over, arrays, counts, offsets, hashes, &end);
    const int status = write_head(write->stream, head, end);
    json_decref(head);
    return status == 0 ? files_commit_write(write, error) : cannot_write(checkpoint, error);
}

int checkpoint_write(const struct checkpoint *checkpoint, struct engine *engine, int over,
                     struct dpf_error *error)
{
    struct arrays *arrays = memory_need(1, sizeof *arrays);
    int64_t *offsets = memory_need((size_t)ranks_size() + 1, sizeof *offsets), counts[3];
    char(*hashes)[HEX] = memory_need((size_t)ranks_size() * MOST_ARRAYS, HEX);
    char name[sizeof checkpoint->path + 32] = "";
    struct files_write write = {0};
    int status = 0;
    if (ranks_rank() == 0)
        status = files_open_private(&write, checkpoint->path, error);
    if (status == 0 && write.temporary)
        snprintf(name, sizeof name, "%s", write.temporary);
    status = ranks_agree(status, error);
    if (status == 0)
        status = ranks_broadcast(name, sizeof name, 0, error);
    if (status == 0)
        status = count_sent(engine, counts, error);
    if (status == 0) {
        list_arrays(arrays, checkpoint, engine);
        status = write_arrays(checkpoint, engine, name, arrays, offsets, hashes, error);
    }
    if (status == 0 && ranks_rank() == 0)
        status = finish_file(checkpoint, engine, over, arrays, counts, offsets, hashes, &write, error);
    if (write.stream)
        files_abandon_write(&write);
    free(arrays);
    free(offsets);
    free(hashes);
    return ranks_agree(status, error);
}

/* ---- reading ------------------------------------------------------------------------------------------ */

static int refuse(const struct checkpoint *checkpoint, const char *why, struct dpf_error *error)
{
    return error_set(
        error, DPF_FAULT_RUN,
        "%s: %s. No run can continue from it: remove it and start the run again, which is charged "
        "again",
        checkpoint->path, why);
}

static int read_all(int fd, void *data, size_t bytes, int64_t at)
{
    char *into = data;
    while (bytes > 0) {
        const ssize_t n = pread(fd, into, bytes, (off_t)at);
        if (n == 0 || (n < 0 && errno != EINTR))
            return -1;
        into += n > 0 ? n : 0;
        at += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int checkpoint_exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

static int open_file(const struct checkpoint *checkpoint, struct stat *info, struct dpf_error *error)
{
    const int fd = open(checkpoint->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, info) == 0 && S_ISREG(info->st_mode))
        return fd;
    if (fd >= 0)
        close(fd);
    error_set(error, DPF_FAULT_RUN, "rank %d cannot read the checkpoint %s: %s", ranks_rank(),
              checkpoint->path, fd >= 0 ? "it is not a regular file" : strerror(errno));
    return -1;
}

/* Others could have read it, or written it. */
static int check_owner(const struct checkpoint *checkpoint, const struct stat *info, struct dpf_error *error)
{
    if (info->st_uid != geteuid())
        return refuse(checkpoint, "another user owns it", error);
    if ((info->st_mode & 07777) != 0600)
        return refuse(checkpoint,
                      "its mode is not 0600, so others may have read private rows, or changed them", error);
    return 0;
}

static const char torn[] = "it is incomplete or damaged";

/* And where the arrays end. */
static json_t *read_head(int fd, int64_t size, int64_t *end)
{
    unsigned char trailer[TRAILER];
    char hex[HEX], stored[HEX];
    uint64_t length = 0;
    if (size < TRAILER || read_all(fd, trailer, TRAILER, size - TRAILER) != 0 ||
        memcmp(trailer, MAGIC, MAGIC_LENGTH) != 0)
        return NULL;
    for (int i = 0; i < 8; i++)
        length |= (uint64_t)trailer[MAGIC_LENGTH + i] << 8 * i;
    if (length >= (uint64_t)MOST_HEAD || (int64_t)length > size - TRAILER)
        return NULL;
    char *text = memory_need((size_t)length + 1, 1);
    json_t *head = NULL;
    *end = size - TRAILER - (int64_t)length;
    sodium_bin2hex(stored, sizeof stored, trailer + MAGIC_LENGTH + 8, HASH_BYTES);
    if (read_all(fd, text, (size_t)length, *end) == 0) {
        hash_bytes(text, (size_t)length, hex);
        if (strcmp(hex, stored) == 0)
            head = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, NULL);
    }
    free(text);
    return head;
}

static int has_process(const json_t *head)
{
    const char *id = json_string_value(json_object_get(head, "process"));
    return id && strlen(id) == CHECKPOINT_ID - 1;
}

static int find(struct checkpoint *checkpoint, struct dpf_error *error)
{
    struct stat info;
    int64_t end;
    const int fd = open_file(checkpoint, &info, error);
    if (fd < 0)
        return -1;
    int status = check_owner(checkpoint, &info, error);
    if (status == 0) {
        checkpoint->head = read_head(fd, (int64_t)info.st_size, &end);
        status = has_process(checkpoint->head) ? 0 : refuse(checkpoint, torn, error);
    }
    close(fd);
    return status;
}

int checkpoint_find(struct checkpoint *checkpoint, struct dpf_error *error)
{
    int64_t numbers[4] = {0};
    if (ranks_agree(ranks_rank() == 0 ? find(checkpoint, error) : 0, error) != 0)
        return -1;
    if (ranks_rank() == 0) {
        numbers[0] = (int64_t)json_integer_value(json_object_get(checkpoint->head, "round"));
        numbers[1] = json_is_true(json_object_get(checkpoint->head, "over"));
        numbers[2] = (int64_t)json_integer_value(json_object_get(checkpoint->head, "repeats"));
        numbers[3] = (int64_t)json_integer_value(json_object_get(checkpoint->head, "done"));
    }
    if (ranks_broadcast(numbers, sizeof numbers, 0, error) != 0)
        return -1;
    checkpoint->resumes = 1;
    checkpoint->round = numbers[0];
    checkpoint->over = numbers[1] != 0;
    checkpoint->repeats = numbers[2];
    checkpoint->done = numbers[3];
    return 0;
}

/* Rows and their hash as they stand in the file. */
static int check_piece(int fd, int64_t at, int64_t bytes, const char *wanted, char *buffer)
{
    char hex[HEX] = "";
    struct files_hash *hash = files_hash_new();
    int status = 0;
    while (status == 0 && bytes > 0) {
        const size_t n = bytes < (int64_t)AT_ONCE ? (size_t)bytes : AT_ONCE;
        status = read_all(fd, buffer, n, at);
        if (status == 0)
            files_hash_add(hash, buffer, n);
        at += (int64_t)n;
        bytes -= (int64_t)n;
    }
    files_hash_end(hash, hex);
    return status == 0 && strcmp(hex, wanted) == 0 ? 0 : -1;
}

/* Each rank compares some of the pieces, whoever has written them. */
static int check_pieces(int fd, const json_t *entry, int64_t *number, char *buffer)
{
    int64_t at = (int64_t)json_integer_value(json_object_get(entry, "at")), rows = 0;
    const int64_t bytes = (int64_t)json_integer_value(json_object_get(entry, "bytes"));
    const json_t *pieces = json_object_get(entry, "pieces");
    for (size_t p = 0; p < json_array_size(pieces); p++) {
        const json_t *piece = json_array_get(pieces, p);
        const int64_t n = (int64_t)json_integer_value(json_array_get(piece, 0));
        const char *wanted = json_string_value(json_array_get(piece, 1));
        if (n < 0 || !wanted ||
            ((*number)++ % ranks_size() == ranks_rank() &&
             check_piece(fd, at, n * bytes, wanted, buffer) != 0))
            return -1;
        at += n * bytes;
        rows += n;
    }
    return rows == (int64_t)json_integer_value(json_object_get(entry, "rows")) ? 0 : -1;
}

/* The arrays of the file are those of this run, in the same order. */
static int read_arrays(int fd, const json_t *list, const struct arrays *arrays, char *buffer)
{
    int64_t number = 0;
    if (json_array_size(list) != (size_t)arrays->n)
        return -1;
    for (int a = 0; a < arrays->n; a++) {
        const struct array *array = &arrays->list[a];
        const json_t *entry = json_array_get(list, (size_t)a);
        const char *name = json_string_value(json_object_get(entry, "name"));
        if (!name || strcmp(name, array->name) != 0 ||
            json_integer_value(json_object_get(entry, "rows")) != array->rows ||
            json_integer_value(json_object_get(entry, "bytes")) != (json_int_t)array->bytes ||
            check_pieces(fd, entry, &number, buffer) != 0)
            return -1;
    }
    for (int a = 0; a < arrays->n; a++) {
        const struct array *array = &arrays->list[a];
        const int64_t at =
            (int64_t)json_integer_value(json_object_get(json_array_get(list, (size_t)a), "at"));
        const size_t from = (size_t)array->first * array->bytes;
        if (read_all(fd, (char *)array->data + from, (size_t)(array->last - array->first) * array->bytes,
                     at + (int64_t)from) != 0)
            return -1;
    }
    return 0;
}

/* The head of rank 0, on all. */
static json_t *share_head(const struct checkpoint *checkpoint, struct dpf_error *error)
{
    char *text = ranks_rank() == 0 ? json_dumps(checkpoint->head, JSON_COMPACT) : NULL;
    int64_t length = text ? (int64_t)strlen(text) + 1 : 0;
    json_t *head = NULL;
    int status = ranks_broadcast(&length, sizeof length, 0, error);
    if (status == 0 && ranks_rank() > 0)
        text = memory_need((size_t)length + 1, 1);
    status = ranks_agree(status, error);
    if (status == 0)
        status = ranks_broadcast(text, (size_t)length, 0, error);
    if (status == 0 && !(head = json_loads(text, 0, NULL)))
        error_memory(error);
    free(text);
    return head;
}

/* Rows of the training error grow with the rounds: there are as many as were made. */
static void set_trace(const struct checkpoint *checkpoint, const json_t *list)
{
    const json_t *last = json_array_get(list, json_array_size(list) - 1);
    const int64_t rows = (int64_t)json_integer_value(json_object_get(last, "rows"));
    if (checkpoint->trace)
        *checkpoint->n_trace = rows >= 0 && rows <= checkpoint->done ? rows : 0;
}

static void restore_counts(const json_t *head, struct engine *engine)
{
    const json_t *sent = json_object_get(head, "sent");
    const char *deviation = json_string_value(json_object_get(head, "deviation"));
    if (ranks_rank() == 0) { /* ranks' counts are added up in the end */
        engine->stats->bytes_up = (uint64_t)json_integer_value(json_array_get(sent, 0));
        engine->stats->bytes_down = (uint64_t)json_integer_value(json_array_get(sent, 1));
        engine->stats->messages = (int64_t)json_integer_value(json_array_get(sent, 2));
    }
    if (deviation && *deviation)
        ledger_deviate(&engine->plan->ledger, "%s", deviation);
}

int checkpoint_restore(const struct checkpoint *checkpoint, struct engine *engine, struct dpf_error *error)
{
    struct arrays *arrays = memory_need(1, sizeof *arrays);
    char *buffer = memory_need_raw(AT_ONCE, 1);
    struct stat info;
    json_t *head = share_head(checkpoint, error);
    const json_t *list = json_object_get(head, "arrays");
    const int fd = head ? open_file(checkpoint, &info, error) : -1;
    int status = fd >= 0 ? 0 : -1;
    if (status == 0) {
        set_trace(checkpoint, list);
        list_arrays(arrays, checkpoint, engine);
        status = read_arrays(fd, list, arrays, buffer) == 0 ? 0 : refuse(checkpoint, torn, error);
    }
    status = ranks_agree(status, error);
    if (status == 0)
        restore_counts(head, engine);
    if (fd >= 0)
        close(fd);
    json_decref(head);
    free(arrays);
    free(buffer);
    return status;
}

/* ---- another head ------------------------------------------------------------------------------------- */

static int copy_arrays(int from, int into, int64_t end)
{
    char *buffer = memory_raw(AT_ONCE, 1);
    int status = buffer ? 0 : -1;
    for (int64_t at = 0; at < end && status == 0; at += (int64_t)AT_ONCE) {
        const size_t n = end - at < (int64_t)AT_ONCE ? (size_t)(end - at) : AT_ONCE;
        status = read_all(from, buffer, n, at) == 0 ? files_write_at(into, buffer, n, at) : -1;
    }
    free(buffer);
    return status;
}

static int amend_from(const struct checkpoint *checkpoint, int fd, int64_t size, const char *key,
                      json_t *value, struct dpf_error *error)
{
    struct files_write write = {0};
    int64_t end = 0;
    json_t *head = read_head(fd, size, &end);
    int status = head ? 0 : refuse(checkpoint, torn, error);
    if (status == 0 && json_object_set(head, key, value) != 0)
        status = error_memory(error);
    if (status == 0)
        status = files_open_private(&write, checkpoint->path, error);
    if (status == 0)
        status = copy_arrays(fd, fileno(write.stream), end) == 0 && write_head(write.stream, head, end) == 0
                     ? files_commit_write(&write, error)
                     : cannot_write(checkpoint, error);
    if (write.stream)
        files_abandon_write(&write);
    json_decref(head);
    return status;
}

int checkpoint_amend(const struct checkpoint *checkpoint, const char *key, json_t *value,
                     struct dpf_error *error)
{
    struct stat info;
    const int fd = value ? open_file(checkpoint, &info, error) : -1;
    int status = value ? fd : error_memory(error);
    if (fd >= 0) {
        status = amend_from(checkpoint, fd, (int64_t)info.st_size, key, value, error);
        close(fd);
    }
    json_decref(value);
    return status < 0 ? -1 : 0;
}

void checkpoint_name(struct checkpoint *checkpoint)
{
    unsigned char bytes[(CHECKPOINT_ID - 1) / 2];
    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2hex(checkpoint->id, sizeof checkpoint->id, bytes, sizeof bytes);
}

void checkpoint_free(struct checkpoint *checkpoint)
{
    json_decref(checkpoint->binding);
    json_decref(checkpoint->head);
    json_decref(checkpoint->server);
    checkpoint->binding = checkpoint->head = checkpoint->server = NULL;
}
