/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files into chunks. Blocks of whole lines are fetched in order and parsed by whichever thread is free. Where
 * quoted fields may go over several lines, a file with quotes is read by one thread.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "base/ticker.h"
#include "lines/line_text.h"
#include "lines/quoted.h"
#include "reading/plain_rows.h"
#include "reading/row.h"
#include "reading/table.h"
#include "simd/text_marks.h"

/* What stopped a thread: the first in the order of the file is reported. */
struct stop {
    struct dpf_error error;
    int64_t block;
    int64_t line; /* in the block, from 0; -1: no line to name */
};

struct reader {
    const char *path;
    const struct file_options *options;
    const struct read_control *control;
    struct input_form form;
    int in_parts; /* the rank's part is read: not yet where the form is decided */
    struct source source;
    struct table *table;
    struct slot *slots;
    struct stop *stops;        /* one a slot */
    struct violations *faults; /* one a slot, by block and line, where the table lists them */
    int n_slots;
    int threads;        /* that read */
    int hashes_beside;  /* the first task hashes: a packed file. A plain one is hashed while it is read */
    const char *remark; /* of the source, once it is read */
    char *hash;
    struct dpf_error hash_error;
    atomic_int stopped;
    atomic_int quotes;    /* found by a thread that cannot read them */
    pthread_mutex_t lock; /* of the table's chunks */
};

/* It has no places to begin at: the first of several ranks reads it. */
static int is_compressed(const char *path)
{
    const size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

static int open_file(struct reader *reader, struct dpf_error *error)
{
    const struct read_control *control = reader->control;
    const int nothing = reader->in_parts && is_compressed(reader->path) && control->part > 0;
    if (nothing || (control && control->memory)) {
        source_open_memory(&reader->source, reader->path, nothing ? "" : control->memory,
                           nothing ? 0 : control->length, control->block_size);
        return 0;
    }
    if (reader->in_parts && !is_compressed(reader->path))
        return source_open_part(&reader->source, reader->path, control->block_size, control->part,
                                control->parts, error);
    return source_open(&reader->source, reader->path, control ? control->block_size : 0, error);
}

static int open_source(struct reader *reader, struct dpf_error *error)
{
    if (open_file(reader, error) != 0)
        return -1;
    reader->source.sectioned = reader->options->sections;
    return 0;
}

static void keep_chunk(struct reader *reader, struct chunk *chunk)
{
    pthread_mutex_lock(&reader->lock);
    struct table *table = reader->table;
    table->chunks =
        memory_need_grow(table->chunks, &table->chunks_capacity, table->n_chunks + 1, sizeof *table->chunks);
    table->chunks[table->n_chunks++] = chunk;
    pthread_mutex_unlock(&reader->lock);
}

static struct chunk *begin_chunk(struct reader *reader, const struct block *block, int slot)
{
    int64_t lines = text_count_lines(block->data, block->length);
    struct chunk *chunk = chunk_new(&reader->form, &reader->slots[slot], lines);
    if (!chunk)
        return NULL;
    chunk->slot = slot;
    chunk->index = block->index;
    chunk->lines = lines;
    chunk->path = reader->path;
    return chunk;
}

/* Lists a line that is not a record. 0 if it ends reading instead: then its error stays. */
static int pass_over(struct reader *reader, int slot, const struct block *block, int64_t line,
                     struct stop *stop)
{
    stop->line = line;
    if (!reader->faults || stop->error.fault != DPF_FAULT_DATA)
        return 0;
    violations_add(&reader->faults[slot], block->index, line, &stop->error);
    return 1;
}

/* Takes what a line says. 0 if it ends reading. */
static int keep_line(struct reader *reader, int slot, const struct block *block, int64_t number,
                     enum line_kind kind, const struct line *line, struct chunk *chunk, struct stop *stop)
{
    if (row_add(&reader->form, &reader->slots[slot], chunk, kind, line, number) != 0) {
        stop->error = (struct dpf_error){0};
        error_memory(&stop->error);
    }
    return !stop->error.fault || pass_over(reader, slot, block, number, stop);
}

/* What a thread needs on the plain path: for lines with quotes, and for lines that need no care; either may
   be NULL. */
struct plain_state {
    struct quoted *quoted;
    struct plain_rows *rows;
};

/* Whether the line at this offset is the header, or, of format netflix, begins a section. */
static int is_no_record(const struct reader *reader, const struct block *block, size_t at, size_t n,
                        int *skip_header, struct field *section)
{
    if (!*skip_header && !reader->options->sections)
        return 0;
    const struct field text = line_text(block->data + at, n);
    if (!block_longest(block, at) && line_text_is_blank(&text))
        return 0;
    if (*skip_header) {
        *skip_header = 0;
        return 1;
    }
    const size_t name = source_section_name(text.data, text.length);
    if (name > 0)
        *section = (struct field){text.data, name};
    return name > 0;
}

static int parse_block(struct reader *reader, const struct block *block, int slot,
                       const struct plain_state *state, struct chunk *chunk, struct stop *stop)
{
    int skip_header = block->index == reader->form.header_block && reader->form.layout.has_header;
    struct field section = {block->section, strlen(block->section)};
    size_t at = 0;
    if (state->rows)
        plain_rows_begin(state->rows, block);
    for (int64_t number = 0; at < block->length; number++) {
        if (state->rows && !skip_header && !block_longest(block, at))
            number += plain_rows_take(state->rows, &at, number, &reader->slots[slot], chunk);
        if (at == block->length)
            break;
        const size_t start = at, n = block_line(block, at);
        at += n;
        if (is_no_record(reader, block, start, n, &skip_header, &section))
            continue;
        const struct line_source source = {block->data + start, n, block_longest(block, start),
                                           reader->options->sections ? &section : NULL};
        struct line line;
        const enum line_kind kind = line_read(&reader->form, &source, state->quoted, &line, &stop->error);
        if (!keep_line(reader, slot, block, number, kind, &line, chunk, stop))
            return -1;
    }
    return 0;
}

/* The state of the quoted path between blocks. */
struct quoted_state {
    struct quoted *quoted;
    int skip_header;
    int64_t open_block, open_line; /* where the row begins that is not complete */
};

/* The line at this offset. 1: a row is complete, in fields; 0: it goes on, or the line is blank; -1: an error. */
static int take_quoted(const struct block *block, size_t at, size_t n, int64_t number,
                       struct quoted_state *state, struct chunk *chunk, struct dpf_error *error)
{
    const int is_open = quoted_is_open(state->quoted);
    const char *bytes = block->data + at;
    const struct field text = is_open ? (struct field){bytes, n - 1} : line_text(bytes, n);
    if (!is_open && !block_longest(block, at) && line_text_is_blank(&text)) {
        chunk->empty++;
        return 0;
    }
    if (!is_open) {
        state->open_block = block->index;
        state->open_line = number;
    }
    if (line_check(&text, block_longest(block, at), error) != 0)
        return -1;
    return quoted_line(state->quoted, text.data, n - (size_t)(text.data - bytes), error);
}

static int parse_quoted(struct reader *reader, const struct block *block, struct quoted_state *state,
                        struct chunk *chunk, struct stop *stop)
{
    struct field fields[FIELDS_MAX];
    size_t at = 0;
    for (int64_t number = 0; at < block->length; number++) {
        const size_t start = at, n = block_line(block, at);
        at += n;
        const int status = take_quoted(block, start, n, number, state, chunk, &stop->error);
        enum line_kind kind = LINE_NOTHING;
        struct line line;
        if (status < 0)
            quoted_reset(state->quoted);
        else if (status > 0 && state->skip_header)
            state->skip_header = 0;
        else if (status > 0)
            kind = line_of_fields(&reader->form, fields, quoted_fields(state->quoted, fields), &line,
                                  &stop->error);
        if (!keep_line(reader, 0, block, number, kind, &line, chunk, stop))
            return -1;
    }
    return 0;
}

/* A chunk is kept even if it failed, since its lines count for those behind it. rows: NULL on the plain path,
   which has the other state. */
static int take_block(struct reader *reader, struct block *block, int slot, struct quoted_state *rows,
                      const struct plain_state *plain, struct stop *stop)
{
    stop->block = block->index;
    stop->line = -1;
    struct chunk *chunk = begin_chunk(reader, block, slot);
    if (!chunk)
        return error_memory(&stop->error);
    int status = rows ? parse_quoted(reader, block, rows, chunk, stop)
                      : parse_block(reader, block, slot, plain, chunk, stop);
    keep_chunk(reader, chunk);
    return status;
}

static void read_blocks(struct reader *reader, int slot)
{
    struct stop *stop = &reader->stops[slot];
    struct block block = {0};
    const int single = reader->options->quoting && !reader->options->multi_line;
    struct plain_state plain = {0};
    plain.quoted = single ? quoted_new(&reader->options->delimiter, &stop->error) : NULL;
    int status = single && !plain.quoted ? -1 : 1;
    if (status > 0 && !(reader->control && reader->control->careful)) {
        const int kind = reader->control ? reader->control->kind : SIMD_KIND_AUTO;
        plain.rows = plain_rows_new(&reader->form, kind);
    }
    while (status > 0 && !atomic_load(&reader->stopped)) {
        status = source_next(&reader->source, &block, &stop->error);
        if (status <= 0)
            break;
        if (reader->options->multi_line && reader->options->quoting &&
            memchr(block.data, '"', block.length)) {
            atomic_store(&reader->quotes, 1);
            atomic_store(&reader->stopped, 1);
            break;
        }
        if (take_block(reader, &block, slot, NULL, &plain, stop) != 0) {
            atomic_store(&reader->stopped, 1);
            break;
        }
    }
    if (status < 0) {
        stop->block = block.index;
        stop->line = 0;
        atomic_store(&reader->stopped, 1);
    }
    quoted_free(plain.quoted);
    plain_rows_free(plain.rows);
    block_free(&block);
}

static void read_quoted(struct reader *reader)
{
    struct stop *stop = &reader->stops[0];
    struct quoted_state state = {.skip_header = reader->form.layout.has_header};
    struct block block = {0};
    int status = 0;
    stop->line = -1;
    state.quoted = quoted_new(&reader->options->delimiter, &stop->error);
    if (!state.quoted)
        return;
    while ((status = source_next(&reader->source, &block, &stop->error)) > 0)
        if (take_block(reader, &block, 0, &state, NULL, stop) != 0)
            break;
    if (status < 0) {
        stop->block = block.index;
        stop->line = 0;
    } else if (status == 0 && quoted_is_open(state.quoted)) {
        stop->block = state.open_block;
        stop->line = state.open_line;
        error_set(&stop->error, DPF_FAULT_DATA,
                  "a quoted field is not closed before the end of the file; close it, or use format = tsv "
                  "with this delimiter if quotes are ordinary characters");
        const struct block open = {.index = state.open_block};
        pass_over(reader, 0, &open, state.open_line, stop);
    }
    quoted_free(state.quoted);
    block_free(&block);
}

static void hash_beside(struct reader *reader)
{
    if (reader->in_parts && reader->control->part_hashes)
        file_part_hashes(reader->path, reader->control->parts, reader->control->part_hashes, reader->hash,
                         &reader->hash_error);
    else
        files_sha256(reader->path, reader->hash, &reader->hash_error);
}

static int read_task(void *context, int64_t task, int worker)
{
    struct reader *reader = context;
    (void)worker;
    if (reader->hashes_beside && task == 0)
        hash_beside(reader);
    else
        read_blocks(reader, (int)task - reader->hashes_beside);
    return 0;
}

/* Moves a text without file and line to the error of the caller. */
static int place_error(const struct dpf_error *from, const char *path, int64_t line, struct dpf_error *error)
{
    if (from->fault == DPF_FAULT_RUN)
        return error_set(error, from->fault, "%s", from->text);
    return error_at(error, from->fault, path, (long)line, "%s", from->text);
}

/* By keys, or by the first line of the file. */
static int decide_form(struct reader *reader, struct dpf_error *error)
{
    const enum form_use use = reader->faults ? FORM_TO_LIST : FORM_TO_READ;
    int status = input_form_by_keys(reader->options, use, reader->path, &reader->form, error);
    if (status != 0)
        return status > 0 ? 0 : -1;
    if (open_source(reader, error) != 0)
        return -1;
    status =
        input_form_by_first_line(reader->options, use, reader->path, &reader->source, &reader->form, error);
    source_close(&reader->source);
    return status;
}

static int by_index(const void *a, const void *b)
{
    const struct chunk *x = *(struct chunk *const *)a, *y = *(struct chunk *const *)b;
    return (x->index > y->index) - (x->index < y->index);
}

/* Names file and line of what was passed over, in the order of the file. */
static void list_faults(struct reader *reader, size_t first)
{
    const struct table *table = reader->table;
    struct violations all = {0};
    struct dpf_error remark = {0};
    if (reader->remark) {
        error_set(&remark, DPF_FAULT_DATA, "this is %s", reader->remark);
        violations_add(&all, 0, -1, &remark);
    }
    violations_merge(&all, reader->faults, reader->n_slots);
    for (size_t i = 0; i < all.kept; i++) {
        int64_t line = all.list[i].order[1] < 0 ? 1 : all.list[i].order[1] + 1;
        for (size_t c = first; c < table->n_chunks; c++)
            if (table->chunks[c]->index == all.list[i].order[0])
                line += table->chunks[c]->first_line - 1;
        char *placed = memory_format("%s:%lld: %s", reader->path, (long long)line, all.list[i].text);
        free(all.list[i].text);
        all.list[i].text = placed;
    }
    violations_join(table->violations, &all);
}

/* Lines of the parts before this one. */
static int lines_before(struct reader *reader, size_t first, int64_t *before, struct dpf_error *error)
{
    const struct table *table = reader->table;
    *before = 0;
    if (!reader->in_parts)
        return 0;
    const int parts = reader->control->parts;
    int64_t *lines = memory_need((size_t)parts, sizeof *lines);
    for (size_t i = first; i < table->n_chunks; i++)
        lines[reader->control->part] += table->chunks[i]->lines;
    const int status = ranks_sum(lines, parts, error);
    for (int p = 0; p < reader->control->part && status == 0; p++)
        *before += lines[p];
    free(lines);
    return status;
}

/* Orders the chunks of this file and reports the first fault, if there is one. */
static int settle(struct reader *reader, size_t first, struct dpf_error *error)
{
    struct table *table = reader->table;
    if (table->n_chunks > first)
        qsort(table->chunks + first, table->n_chunks - first, sizeof *table->chunks, by_index);
    int64_t before;
    if (lines_before(reader, first, &before, error) != 0)
        return -1;
    int64_t line = 1 + before;
    for (size_t i = first; i < table->n_chunks; i++) {
        table->chunks[i]->first_line = line;
        line += table->chunks[i]->lines;
    }
    if (reader->faults)
        list_faults(reader, first);
    const struct stop *worst = NULL;
    for (int s = 0; s < reader->n_slots; s++)
        if (reader->stops[s].error.fault && (!worst || reader->stops[s].block < worst->block))
            worst = &reader->stops[s];
    if (!worst)
        return reader->hash_error.fault ? error_set(error, DPF_FAULT_DATA, "%s", reader->hash_error.text) : 0;
    line = 1 + before + worst->line;
    for (size_t i = first; i < table->n_chunks && table->chunks[i]->index < worst->block; i++)
        line += table->chunks[i]->lines;
    return place_error(&worst->error, reader->path, worst->line < 0 ? 0 : line, error);
}

static void drop_chunks(struct table *table, size_t first)
{
    while (table->n_chunks > first)
        chunk_free(table->chunks[--table->n_chunks]);
}

static void add_slots(struct reader *reader)
{
    struct table *table = reader->table;
    size_t capacity = (size_t)table->n_slots;
    table->slots =
        memory_need_grow(table->slots, &capacity, capacity + (size_t)reader->n_slots, sizeof *table->slots);
    reader->slots = table->slots + table->n_slots;
    memset(reader->slots, 0, (size_t)reader->n_slots * sizeof *reader->slots);
    table->n_slots += reader->n_slots;
}

static int merge_slot(struct slot *slot, enum ids_encoding encoding, struct ids *users, struct ids *items,
                      int64_t *converted)
{
    slot->user_map = memory_raw((size_t)slot->users.n, sizeof *slot->user_map);
    slot->item_map = memory_raw((size_t)slot->items.n, sizeof *slot->item_map);
    if (!slot->user_map || !slot->item_map ||
        ids_merge(users, &slot->users, encoding, slot->user_map, converted) != 0 ||
        ids_merge(items, &slot->items, encoding, slot->item_map, converted) != 0)
        return -1;
    slot->n_users = slot->users.n;
    slot->n_items = slot->items.n;
    ids_free(&slot->users);
    ids_free(&slot->items);
    return 0;
}

static int merge_ids(struct reader *reader, struct ids *users, struct ids *items, struct dpf_error *error)
{
    int64_t converted = 0;
    for (int s = 0; s < reader->n_slots; s++)
        if (merge_slot(&reader->slots[s], reader->options->encoding, users, items, &converted) != 0)
            return error_memory(error);
    if (converted && reader->options->encoding == IDS_AUTO)
        log_message(LOG_LEVEL_INFO,
                    "%s: ids that are not UTF-8 are read as Latin-1 (data.encoding = auto): %lld texts",
                    reader->path, (long long)converted);
    return 0;
}

static void sum_up(struct table *table, size_t first, int base)
{
    for (size_t i = first; i < table->n_chunks; i++) {
        struct chunk *chunk = table->chunks[i];
        chunk->slot += base;
        table->lines += chunk->lines;
        table->empty += chunk->empty;
        table->records += chunk->n;
        table->dropped += chunk->dropped;
        table->clipped += chunk->clipped;
    }
}

/* Where the hash of the part goes that is read here. Those of all parts are made beside the reading. */
static char *part_hash(const struct reader *reader)
{
    return reader->in_parts && reader->source.is_part && reader->control->part_hashes && !reader->hash
               ? reader->control->part_hashes[reader->control->part]
               : NULL;
}

/* Opens the file to be read to its end, and hashed on the way. */
static int begin_reading(struct reader *reader, struct dpf_error *error)
{
    reader->in_parts = reader->control && reader->control->parts > 1;
    if (open_source(reader, error) != 0)
        return -1;
    const int is_plain = reader->source.file && gzip_is_plain(reader->source.file);
    if ((reader->hash && is_plain) || part_hash(reader))
        reader->source.hash = files_hash_new();
    reader->hashes_beside = reader->hash && !is_plain;
    return 0;
}

static void end_reading(struct reader *reader)
{
    char *hash = part_hash(reader);
    if (reader->hash && !reader->hashes_beside)
        hash = reader->hash;
    if (hash)
        files_hash_end(reader->source.hash, hash);
    source_close(&reader->source);
}

/* The fast way, and the slow one if quotes turn up. */
static int read_all(struct reader *reader, size_t first, struct pool *pool, struct dpf_error *error)
{
    if (begin_reading(reader, error) != 0)
        return -1;
    int64_t tasks = reader->threads + reader->hashes_beside;
    if (pool)
        pool_run(pool, tasks, read_task, reader);
    for (int64_t task = 0; !pool && task < tasks; task++)
        read_task(reader, task, 0);
    reader->remark = reader->source.remark;
    end_reading(reader);
    if (!atomic_load(&reader->quotes))
        return settle(reader, first, error);
    drop_chunks(reader->table, first);
    memset(reader->stops, 0, (size_t)reader->n_slots * sizeof *reader->stops);
    for (int s = 0; s < reader->n_slots; s++) {
        if (reader->faults)
            violations_free(&reader->faults[s]);
        ids_free(&reader->slots[s].users);
        ids_free(&reader->slots[s].items);
    }
    if (begin_reading(reader, error) != 0)
        return -1;
    read_quoted(reader);
    end_reading(reader);
    return settle(reader, first, error);
}

static void keep_path(struct table *table, const char *path, struct reader *reader)
{
    size_t capacity = (size_t)table->n_paths;
    table->paths = memory_need_grow(table->paths, &capacity, capacity + 1, sizeof *table->paths);
    reader->path = table->paths[table->n_paths++] = memory_text(path);
}

int table_read(struct table *table, const char *path, const struct file_options *options,
               const struct read_control *control, struct ids *users, struct ids *items, char *hash,
               struct pool *pool, struct dpf_error *error)
{
    struct reader reader = {.options = options, .control = control, .table = table, .hash = hash};
    size_t first = table->n_chunks;
    int base = table->n_slots;
    reader.threads = reader.n_slots = pool ? pool_workers(pool) : 1;
    reader.stops = memory_need((size_t)reader.n_slots, sizeof *reader.stops);
    if (table->violations)
        reader.faults = memory_need((size_t)reader.n_slots, sizeof *reader.faults);
    keep_path(table, path, &reader);
    add_slots(&reader);
    pthread_mutex_init(&reader.lock, NULL);
    struct stat info;
    int status = decide_form(&reader, error);
    if (status == 0)
        status = table_form_take(&table->form, reader.path, &reader.form, error);
    if (status == 0) {
        ticker_begin("reading records", stat(path, &info) == 0 ? (int64_t)info.st_size : 0);
        status = read_all(&reader, first, pool, error);
        ticker_end();
    }
    if (status == 0)
        status = merge_ids(&reader, users, items, error);
    sum_up(table, first, base);
    for (int s = 0; s < reader.n_slots; s++) {
        slabs_close(&reader.slots[s].id_slabs);
        slabs_close(&reader.slots[s].column_slabs);
    }
    pthread_mutex_destroy(&reader.lock);
    for (int s = 0; reader.faults && s < reader.n_slots; s++)
        violations_free(&reader.faults[s]);
    free(reader.faults);
    free(reader.stops);
    return status;
}

/* The first line of the file as a file of its own. */
static int read_first_line(const char *path, const struct block *block, const struct file_options *options,
                           struct dpf_error *error)
{
    const char *end = memchr(block->data, '\n', block->length);
    const struct read_control control = {.memory = block->data,
                                         .length = end ? (size_t)(end - block->data) + 1 : block->length};
    struct table table = {0};
    struct ids users = {0}, items = {0};
    const int status = table_read(&table, path, options, &control, &users, &items, NULL, NULL, error);
    table_free(&table);
    ids_free(&users);
    ids_free(&items);
    return status;
}

int table_check_record(const char *path, const struct file_options *options, struct dpf_error *error)
{
    struct source source;
    struct block block = {0};
    int status = source_open(&source, path, 0, error);
    if (status != 0)
        return -1;
    status = source_next(&source, &block, error);
    if (status == 0)
        status = error_at(error, DPF_FAULT_DATA, path, 0, "this file contains no records");
    else if (status > 0)
        status = read_first_line(path, &block, options, error);
    source_close(&source);
    block_free(&block);
    return status;
}
