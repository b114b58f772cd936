/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/row.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct chunk *chunk_new(const struct input_form *form, struct slot *slot, int64_t n)
{
    struct chunk *chunk = memory_new(1, sizeof *chunk);
    if (!chunk)
        return NULL;
    const struct layout *layout = &form->layout;
    const size_t room = ((size_t)n + 15) / 16 * 16; /* each column begins at a multiple of 64 bytes */
    const int values = layout->columns[COLUMN_RATING] >= 0;
    const int stamps = layout->columns[COLUMN_TIME] >= 0 && !layout->drops_times;
    const int weights = layout->columns[COLUMN_WEIGHT] >= 0;
    const size_t columns = (size_t)(values + stamps + weights);
    int32_t *ids = slabs_take(&slot->id_slabs, room, 2 * sizeof *ids, &chunk->ids_in);
    char *rest = columns ? slabs_take(&slot->column_slabs, room, 4 * columns, &chunk->columns_in) : NULL;
    if (!ids || (columns && !rest)) {
        chunk_free(chunk);
        return NULL;
    }
    chunk->users = ids;
    chunk->items = ids + room;
    if (values)
        chunk->values = (float *)(void *)rest;
    if (stamps)
        chunk->stamps = (uint32_t *)(void *)(rest + 4 * room * (size_t)values);
    if (weights)
        chunk->weights = (float *)(void *)(rest + 4 * room * (size_t)(values + stamps));
    return chunk;
}

void chunk_free_columns(struct chunk *chunk)
{
    if (chunk->columns_in) {
        slab_put(chunk->columns_in);
    } else {
        free(chunk->values);
        free(chunk->stamps);
        free(chunk->weights);
    }
    free(chunk->times);
    free(chunk->voids);
    chunk->columns_in = NULL;
    chunk->values = chunk->weights = NULL;
    chunk->stamps = NULL;
    chunk->times = NULL;
    chunk->voids = NULL;
}

void chunk_free(struct chunk *chunk)
{
    if (!chunk)
        return;
    chunk_free_columns(chunk);
    if (chunk->ids_in) {
        slab_put(chunk->ids_in);
    } else {
        free(chunk->users);
        free(chunk->items);
    }
    free(chunk->lines_of);
    free(chunk);
}

/* Needed once the lines of a chunk are no longer one record each. */
static int list_lines(struct chunk *chunk)
{
    chunk->lines_of = memory_raw((size_t)chunk->lines, sizeof *chunk->lines_of);
    if (!chunk->lines_of)
        return -1;
    for (int64_t i = 0; i < chunk->n; i++)
        chunk->lines_of[i] = (uint32_t)i;
    return 0;
}

int row_note_line(struct chunk *chunk, int64_t line)
{
    if (!chunk->lines_of && line == chunk->n)
        return 0;
    if (!chunk->lines_of && list_lines(chunk) != 0)
        return -1;
    chunk->lines_of[chunk->n] = (uint32_t)line;
    return 0;
}

/* From here on times are kept as they are. */
static int widen_times(struct chunk *chunk)
{
    chunk->times = memory_raw((size_t)chunk->lines, sizeof *chunk->times);
    if (!chunk->times)
        return -1;
    for (int64_t i = 0; i < chunk->n; i++)
        chunk->times[i] = (double)chunk->stamps[i];
    if (!chunk->columns_in)
        free(chunk->stamps);
    chunk->stamps = NULL;
    return 0;
}

int row_keep_time(struct chunk *chunk, double time)
{
    if (chunk->stamps) {
        const int fits = time >= 0 && time <= (double)UINT32_MAX && (double)(uint32_t)time == time;
        if (fits)
            chunk->stamps[chunk->n] = (uint32_t)time;
        if (fits || widen_times(chunk) != 0)
            return fits ? 0 : -1;
    }
    if (chunk->times)
        chunk->times[chunk->n] = time;
    return 0;
}

/* Adds a record. -1 if memory runs out. */
static int append(const struct input_form *form, struct slot *slot, struct chunk *chunk,
                  const struct line *line, int64_t number)
{
    const int64_t i = chunk->n;
    chunk->users[i] = ids_add(&slot->users, &line->user);
    chunk->items[i] = ids_add(&slot->items, &line->item);
    if (chunk->values)
        chunk->values[i] = line->value;
    if (chunk->weights)
        chunk->weights[i] = line->weight;
    if (chunk->users[i] < 0 || chunk->items[i] < 0 || row_note_line(chunk, number) != 0 ||
        (form->layout.columns[COLUMN_TIME] >= 0 && row_keep_time(chunk, line->time) != 0))
        return -1;
    chunk->n++;
    return 0;
}

/* What becomes of a void line, by its file's rule. */
static int append_void(const struct input_form *form, struct slot *slot, struct chunk *chunk,
                       const struct line *line, int64_t number)
{
    const struct file_options *options = form->options;
    if (options->voids != VOID_GONE && (!line->is_dropped || options->drops_stay)) {
        if (!chunk->voids && !(chunk->voids = memory_new((size_t)chunk->lines, sizeof *chunk->voids)))
            return -1;
        chunk->voids[chunk->n] = 1;
        return append(form, slot, chunk, line, number);
    }
    const int lost = options->ids_stay &&
                     (ids_add(&slot->users, &line->user) < 0 || ids_add(&slot->items, &line->item) < 0);
    return lost ? -1 : 0;
}

int row_add(const struct input_form *form, struct slot *slot, struct chunk *chunk, enum line_kind kind,
            const struct line *line, int64_t number)
{
    switch (kind) {
    case LINE_RECORD:
        chunk->clipped += line->is_clipped;
        return append(form, slot, chunk, line, number);
    case LINE_VOID:
        chunk->dropped += line->is_dropped;
        return append_void(form, slot, chunk, line, number);
    case LINE_BLANK:
        chunk->empty++;
        return 0;
    default:
        return 0;
    }
}
