/* SPDX-License-Identifier: Apache-2.0 */
/* random_rows.h - many rows of cells at once, for the samplers of this room. */
#ifndef DPF_BASE_RANDOM_ROWS_H
#define DPF_BASE_RANDOM_ROWS_H

#include "base/random_cursor.h"

#define RANDOM_PIECE_WORDS 2048 /* 16 KiB: stays in the first cache */

/* Some words of some rows: word `word` of row number i lies at words[(i - i0) pitch + word - word0]. */
struct random_piece {
    int64_t row; /* i0: place in dpf_rows, not a row's own number */
    int64_t n_rows;
    int64_t word; /* word0, a multiple of RANDOM_PIECE_WORDS */
    int64_t n_words;
    int64_t pitch;
    const uint64_t *words; /* the last row's up to the end of a block, at most RANDOM_PIECE_WORDS in all */
};
typedef dpf_status (*random_use)(void *context, const struct random_piece *piece);

/* The own number of row i. */
static inline int64_t random_row_number(const dpf_rows *rows, int64_t i)
{
    return rows->ids ? rows->ids[i] : rows->first + i;
}

/*
 * Calls use for pieces that together are the first n_words of each row, those of one row in their order.
 * Stops at the first status that is not DPF_OK. DPF_E_RANGE: there are no such rows in the layout.
 */
dpf_status random_rows_read(const dpf_stream *stream, const struct random_layout *layout,
                            const dpf_rows *rows, int64_t n_words, random_use use, void *context);

#endif
