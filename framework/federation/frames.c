/* SPDX-License-Identifier: Apache-2.0 */
#include "federation/frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define FRAME_VERSION 3

struct writer {
    uint8_t *bytes;
    size_t n;
};

static void put(struct writer *writer, const void *bytes, size_t n)
{
    memcpy(writer->bytes + writer->n, bytes, n);
    writer->n += n;
}

/* The ABI is little-endian: numbers are written as they are. */
static void put_rows(struct writer *writer, const struct remote_rows *rows)
{
    const int64_t n = rows->rows;
    const int32_t columns = rows->columns;
    put(writer, &n, sizeof n);
    put(writer, &columns, sizeof columns);
    for (int64_t r = 0; r < n; r++)
        put(writer, (const uint32_t *)rows->data + r * rows->stride, (size_t)columns * sizeof(uint32_t));
}

static void put_body(struct writer *writer, const struct frame *frame, const struct remote_rows *rows)
{
    const uint8_t insecure = frame->insecure != 0;
    switch (frame->kind) {
    case FRAME_HELLO:
        put(writer, frame->agreement, 32);
        put(writer, frame->instance, 16);
        put(writer, &insecure, 1);
        put(writer, frame->text, strlen(frame->text));
        break;
    case FRAME_TERMS:
        put(writer, frame->agreement, 32);
        put(writer, frame->session, 16);
        put(writer, &insecure, 1);
        put(writer, &frame->number, sizeof frame->number);
        break;
    case FRAME_READY:
        put(writer, &frame->number, sizeof frame->number);
        break;
    case FRAME_ROUND:
        put(writer, frame->server_key, 32);
        put_rows(writer, rows);
        break;
    case FRAME_OVER:
        put_rows(writer, rows);
        break;
    case FRAME_STEP:
    case FRAME_DIFFERS:
        put(writer, frame->bytes, frame->n_bytes);
        break;
    case FRAME_REFUSED:
    case FRAME_ABORT:
        put(writer, frame->text, strlen(frame->text));
        break;
    default:
        break;
    }
}

uint8_t *frame_write(const struct frame *frame, const struct remote_rows *rows, size_t *size)
{
    size_t room = FRAME_HEADER + 32 + 32 + 32 + FRAME_TEXT + frame->n_bytes;
    if (rows)
        room += (size_t)rows->rows * (size_t)rows->columns * sizeof(float);
    struct writer writer = {.bytes = malloc(room)};
    if (!writer.bytes)
        return NULL;
    const uint8_t head[4] = {FRAME_VERSION, (uint8_t)frame->kind, 0, 0};
    put(&writer, head, sizeof head);
    put(&writer, &frame->round, sizeof frame->round);
    put_body(&writer, frame, rows);
    *size = writer.n;
    return writer.bytes;
}

struct reader {
    const uint8_t *bytes;
    size_t left;
};

static int take(struct reader *reader, void *out, size_t n)
{
    if (reader->left < n)
        return -1;
    memcpy(out, reader->bytes, n);
    reader->bytes += n;
    reader->left -= n;
    return 0;
}

static int take_text(struct reader *reader, char out[FRAME_TEXT])
{
    const size_t n = reader->left;
    if (n >= FRAME_TEXT || memchr(reader->bytes, '\0', n))
        return -1;
    return take(reader, out, n);
}

/* For people to read, who must not take it for what this end says. */
static int take_reason(struct reader *reader, char out[FRAME_TEXT])
{
    char text[FRAME_TEXT] = "";
    if (take_text(reader, text) != 0)
        return -1;
    text_escape(text, out, FRAME_TEXT);
    return 0;
}

static int take_rows(struct reader *reader, struct frame *out)
{
    size_t bytes;
    if (take(reader, &out->rows, sizeof out->rows) != 0 ||
        take(reader, &out->columns, sizeof out->columns) != 0 || out->rows < 0 || out->columns < 0 ||
        __builtin_mul_overflow((size_t)out->rows, (size_t)out->columns * sizeof(float), &bytes) ||
        reader->left != bytes)
        return -1;
    out->bytes = reader->bytes;
    out->n_bytes = bytes;
    reader->left = 0;
    return 0;
}

static int take_insecure(struct reader *reader, struct frame *out)
{
    uint8_t byte;
    if (take(reader, &byte, 1) != 0 || byte > 1)
        return -1;
    out->insecure = byte;
    return 0;
}

static int take_body(struct reader *reader, struct frame *out)
{
    switch (out->kind) {
    case FRAME_HELLO:
        return take(reader, out->agreement, 32) != 0 || take(reader, out->instance, 16) != 0 ||
                       take_insecure(reader, out) != 0
                   ? -1
                   : take_text(reader, out->text);
    case FRAME_TERMS:
        return take(reader, out->agreement, 32) != 0 || take(reader, out->session, 16) != 0 ||
                       take_insecure(reader, out) != 0
                   ? -1
                   : take(reader, &out->number, sizeof out->number);
    case FRAME_READY:
        return take(reader, &out->number, sizeof out->number);
    case FRAME_ROUND:
        return take(reader, out->server_key, 32) != 0 ? -1 : take_rows(reader, out);
    case FRAME_OVER:
        return take_rows(reader, out);
    case FRAME_STEP:
    case FRAME_DIFFERS:
        out->bytes = reader->bytes;
        out->n_bytes = reader->left;
        reader->left = 0;
        return 0;
    case FRAME_REFUSED:
    case FRAME_ABORT:
        return take_reason(reader, out->text);
    default:
        return 0;
    }
}

int frame_read(const uint8_t *bytes, size_t n, struct frame *out)
{
    struct reader reader = {bytes, n};
    uint8_t head[4];
    *out = (struct frame){.round = 0};
    if (take(&reader, head, sizeof head) != 0 || take(&reader, &out->round, sizeof out->round) != 0 ||
        head[0] != FRAME_VERSION || head[1] < FRAME_HELLO || head[1] >= FRAME_N_KINDS || head[2] || head[3])
        return -1;
    out->kind = (enum frame_kind)head[1];
    return take_body(&reader, out) == 0 && reader.left == 0 ? 0 : -1;
}

int frame_take_rows(const struct frame *frame, const struct remote_rows *rows)
{
    if (rows->integers ? frame->rows < rows->rows : frame->rows != rows->rows)
        return -1;
    if (frame->columns != rows->columns)
        return -1;
    const size_t width = (size_t)rows->columns * sizeof(float);
    for (int64_t r = 0; r < rows->rows; r++) {
        float *row = (float *)rows->data + r * rows->stride;
        memcpy(row, frame->bytes + (size_t)r * width, width);
        for (int32_t c = 0; !rows->integers && c < rows->columns; c++)
            if (!isfinite(row[c]))
                return -1;
    }
    return 0;
}
