/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.h - what the ends say to each other over a link. All numbers are little-endian.
 *
 *     version 3, kind 1, zero 2, round 4, then the body:
 *
 *     HELLO    party    agreement 32, instance 16, insecure 1, the user's id
 *     TERMS    server   agreement 32, session 16, insecure 1, repeats 4: rounds that the server has begun again so
 *                       far. Its round is the one that is made, or comes next
 *     READY    party    next 4: it has consented, and answers rounds from this one on. Its round is the one that
 *                       its process is in the middle of, plus 1, or 0
 *     ROUND    server   the server's key 32, rows 8, words 4, then so many words of 4 bytes for each row
 *     STEP     both     a message of the round's protocol, which only the aggregator reads
 *     OVER     server   rows 8, words 4, then the rows
 *     REFUSED  server   why this party cannot join
 *     DIFFERS  server   the list that the digest of its agreement is of: JSON, an object of texts
 *     ABORT    both     why the run ends. Its round is 1 if the server has a checkpoint and may continue
 *
 * A decoder accepts exactly what the encoder makes. Reasons are escaped as they are read (base/text.h); an id is as it
 * came: show it with text_show.
 */
#ifndef DPF_FEDERATION_FRAMES_H
#define DPF_FEDERATION_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/remote.h"

enum frame_kind {
    FRAME_HELLO = 1,
    FRAME_TERMS,
    FRAME_READY,
    FRAME_ROUND,
    FRAME_STEP,
    FRAME_OVER,
    FRAME_REFUSED,
    FRAME_ABORT,
    FRAME_DIFFERS,
    FRAME_N_KINDS
};
#define FRAME_HEADER 8
#define FRAME_TEXT 512 /* bytes of an id or a reason, its end included */

struct frame {
    enum frame_kind kind;
    uint32_t round;
    uint8_t agreement[32], session[16], instance[16], server_key[32]; /* of those kinds that have them */
    int insecure;
    uint32_t number;       /* repeats of TERMS, next of READY */
    char text[FRAME_TEXT]; /* the id, or why */
    int64_t rows;
    int32_t columns;
    const uint8_t
        *bytes; /* of STEP and DIFFERS, and the rows of ROUND and OVER: in the message that was read */
    size_t n_bytes;
};

/* The bytes of a frame, from malloc; rows, if the kind has them, from there. NULL: out of memory. */
uint8_t *frame_write(const struct frame *frame, const struct remote_rows *rows, size_t *size);
/* 0, or -1 if these are not the bytes of a frame. */
int frame_read(const uint8_t *bytes, size_t n, struct frame *out);
/* The rows of a frame; -1 if they are not of this shape, or floats that are not finite. Of integers the first
   ones may be asked for. */
int frame_take_rows(const struct frame *frame, const struct remote_rows *rows);

#endif
