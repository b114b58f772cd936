/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_real.c - normal and Laplace float64 draws, for speed.
 *
 * Their low bits are not those of the real distributions and can give away what they are added to
 * (Mironov, CCS 2012), and values of a probability below 2^-53 do not come (a normal number ends at 8.57, a
 * Laplace number at 36.8): nothing is proved about a release that uses them. Always finite, and the same
 * bytes on every processor.
 */
#include "base/random.h"

#include <pthread.h>

#include "base/random_rows.h"
#include "base/real_math.h"

#define SIMD_TEMPLATE "base/noise_real_loops.h"
#include "simd/each_kind.h"

#define CHUNK 256 /* words; even */

/* normals takes pairs, laplaces words. */
struct real_kernels {
    void (*normals)(const uint64_t *words, int64_t n_pairs, double *out);
    void (*laplaces)(const uint64_t *words, int64_t n, double *out);
};

static struct real_kernels kernels_of(int kind)
{
    return (struct real_kernels){SIMD_PICK(kind, make_normals), SIMD_PICK(kind, make_laplaces)};
}

static struct real_kernels kernels;
static pthread_once_t kernels_once = PTHREAD_ONCE_INIT;

static void choose_kernels(void)
{
    kernels = kernels_of(simd_choose(SIMD_KIND_AUTO));
}

void random_normal(dpf_cursor *cursor, double *out, int64_t n)
{
    pthread_once(&kernels_once, choose_kernels);
    uint64_t words[CHUNK];
    for (int64_t i = 0; i < n; i += CHUNK) {
        const int64_t now = n - i < CHUNK ? n - i : CHUNK, whole = now / 2 * 2;
        random_bits(cursor, words, whole + 2 * (now - whole));
        kernels.normals(words, whole / 2, out + i);
        if (whole < now) {
            double pair[2];
            kernels.normals(words + whole, 1, pair);
            out[i + whole] = pair[0];
        }
    }
}

void random_laplace(dpf_cursor *cursor, double *out, int64_t n)
{
    pthread_once(&kernels_once, choose_kernels);
    uint64_t words[CHUNK];
    for (int64_t i = 0; i < n; i += CHUNK) {
        const int64_t now = n - i < CHUNK ? n - i : CHUNK;
        random_bits(cursor, words, now);
        kernels.laplaces(words, now, out + i);
    }
}

struct drawing {
    const dpf_rows *rows;
    double *out;
    int normal;
};

/* All words of the piece at once, those that fill up a row's last block, too. */
static dpf_status draw_piece(void *context, const struct random_piece *piece)
{
    const struct drawing *drawing = context;
    double drawn[RANDOM_PIECE_WORDS];
    const int64_t last = (piece->n_words + RANDOM_BLOCK_WORDS - 1) / RANDOM_BLOCK_WORDS * RANDOM_BLOCK_WORDS;
    const int64_t n = (piece->n_rows - 1) * piece->pitch + last, left = drawing->rows->width - piece->word;
    if (drawing->normal)
        kernels.normals(piece->words, n / 2, drawn);
    else
        kernels.laplaces(piece->words, n, drawn);
    for (int64_t i = 0; i < piece->n_rows; i++)
        memcpy(drawing->out + (piece->row + i) * drawing->rows->stride + piece->word,
               drawn + i * piece->pitch,
               (size_t)(left < piece->n_words ? left : piece->n_words) * sizeof(double));
    return DPF_OK;
}

static dpf_status draw_rows(const dpf_stream *stream, const dpf_rows *rows, int normal, double *out)
{
    pthread_once(&kernels_once, choose_kernels);
    if (rows->width < 0 || rows->width > INT32_MAX)
        return DPF_E_RANGE;
    const int64_t words = rows->width + (normal ? rows->width & 1 : 0);
    const struct random_layout layout =
        layout_rows(normal ? RANDOM_KIND_NORMAL : RANDOM_KIND_LAPLACE, (uint64_t)words);
    struct drawing drawing = {rows, out, normal};
    return random_rows_read(stream, &layout, rows, words, draw_piece, &drawing);
}

dpf_status random_row_normal(const dpf_stream *stream, const dpf_rows *rows, double *out)
{
    return draw_rows(stream, rows, 1, out);
}

dpf_status random_row_laplace(const dpf_stream *stream, const dpf_rows *rows, double *out)
{
    return draw_rows(stream, rows, 0, out);
}
