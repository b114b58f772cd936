/* SPDX-License-Identifier: Apache-2.0 */
/* random_rows.c - the keystream of many rows, which is one call of the cipher wherever they lie. */
#include "base/random_rows.h"

#include "base/random.h"

#include <string.h>

#include "base/keystream.h"

#define BUFFER_WORDS RANDOM_PIECE_WORDS
#define BUFFER_BLOCKS (BUFFER_WORDS / RANDOM_BLOCK_WORDS)

_Static_assert(BUFFER_BLOCKS <= RANDOM_SCATTERED_BLOCKS, "a buffer of rows is one call");

/* What the rows are read with. */
struct reading {
    const dpf_stream *stream;
    const struct random_layout *layout;
    const dpf_rows *rows;
    uint64_t nonce;
    random_use use;
    void *context;
};

static int in_layout(const struct random_layout *layout, const dpf_rows *rows)
{
    const int64_t all = INT64_C(1) << 32;
    if (!rows->ids)
        return rows->first >= 0 && rows->first < all && rows->n <= all &&
               layout_has(layout, (uint64_t)(rows->first + rows->n));
    int32_t least = rows->ids[0], most = rows->ids[0];
    for (int64_t i = 1; i < rows->n; i++) {
        least = rows->ids[i] < least ? rows->ids[i] : least;
        most = rows->ids[i] > most ? rows->ids[i] : most;
    }
    return least >= 0 && layout_has(layout, (uint64_t)most + 1);
}

/* Rows that own exactly the blocks that are wanted, as many at once as the buffer holds. */
static dpf_status read_short(const struct reading *r, int64_t n_words)
{
    const int64_t blocks = (int64_t)r->layout->blocks, most = BUFFER_BLOCKS / blocks;
    uint64_t buffer[BUFFER_WORDS];
    dpf_status status = DPF_OK;
    for (int64_t i = 0; status == DPF_OK && i < r->rows->n;) {
        const int64_t n = r->rows->n - i < most ? r->rows->n - i : most;
        if (r->rows->ids)
            random_scattered_rows(r->stream, r->layout, r->nonce, r->rows->ids + i, n, buffer);
        else
            random_row_blocks(r->stream, r->layout, r->nonce, (uint32_t)(r->rows->first + i), 0,
                              (uint64_t)(n * blocks), buffer);
        const struct random_piece piece = {i, n, 0, n_words, blocks * RANDOM_BLOCK_WORDS, buffer};
        status = r->use(r->context, &piece);
        i += n;
    }
    return status;
}

/* One row after another, in pieces. */
static dpf_status read_long(const struct reading *r, int64_t n_words)
{
    uint64_t buffer[BUFFER_WORDS];
    dpf_status status = DPF_OK;
    for (int64_t i = 0; status == DPF_OK && i < r->rows->n; i++)
        for (int64_t word = 0; status == DPF_OK && word < n_words; word += BUFFER_WORDS) {
            const int64_t n = n_words - word < BUFFER_WORDS ? n_words - word : BUFFER_WORDS;
            random_row_blocks(r->stream, r->layout, r->nonce, (uint32_t)random_row_number(r->rows, i),
                              (uint64_t)(word / RANDOM_BLOCK_WORDS),
                              (uint64_t)((n + RANDOM_BLOCK_WORDS - 1) / RANDOM_BLOCK_WORDS), buffer);
            const struct random_piece piece = {i, 1, word, n, BUFFER_WORDS, buffer};
            status = r->use(r->context, &piece);
        }
    return status;
}

dpf_status random_rows_read(const dpf_stream *stream, const struct random_layout *layout,
                            const dpf_rows *rows, int64_t n_words, random_use use, void *context)
{
    if (rows->n < 1 || n_words < 1)
        return rows->n < 0 || n_words < 0 ? DPF_E_RANGE : DPF_OK;
    if (!in_layout(layout, rows))
        return DPF_E_RANGE;
    const struct reading reading = {stream, layout, rows, layout_nonce(rows->draw, rows->party),
                                    use,    context};
    const int64_t blocks = (n_words + RANDOM_BLOCK_WORDS - 1) / RANDOM_BLOCK_WORDS;
    return (uint64_t)blocks == layout->blocks && 2 * blocks <= BUFFER_BLOCKS ? read_short(&reading, n_words)
                                                                             : read_long(&reading, n_words);
}

struct copying {
    const dpf_rows *rows;
    uint64_t *out;
};

static dpf_status copy_words(void *context, const struct random_piece *piece)
{
    const struct copying *copying = context;
    for (int64_t i = 0; i < piece->n_rows; i++)
        memcpy(copying->out + (piece->row + i) * copying->rows->stride + piece->word,
               piece->words + i * piece->pitch, (size_t)piece->n_words * sizeof(uint64_t));
    return DPF_OK;
}

dpf_status random_row_bits(const dpf_stream *stream, const dpf_rows *rows, uint64_t *out)
{
    const struct random_layout layout = layout_rows(RANDOM_KIND_BITS, (uint64_t)rows->width);
    struct copying copying = {rows, out};
    return random_rows_read(stream, &layout, rows, rows->width, copy_words, &copying);
}

int random_rows_fit(int64_t n_rows, int64_t width)
{
    const struct random_layout layout = layout_rows(RANDOM_KIND_BITS, width > 0 ? (uint64_t)width + 1 : 0);
    return n_rows >= 0 && layout_has(&layout, (uint64_t)n_rows);
}
