/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exact_cell.h - the uniform reals of a cell, with as many binary digits as a decision needs.
 *
 * Their first digits are in the row's own words. All further ones have a fixed place in the row's overflow
 * stream, so a cell's reals, and the decisions made from them, are the same however many digits a
 * function reads: a fast path may be unsure where another is sure, and both find the same.
 *
 * The row's words begin attempt 0. A rejected cell goes on with attempt 1, 2, ...
 */
#ifndef DPF_BASE_EXACT_CELL_H
#define DPF_BASE_EXACT_CELL_H

#include <stdint.h>
#define MPFR_USE_INTMAX_T /* functions for 64-bit integers */
#include <mpfr.h>

#include "base/random_cursor.h"

#define EXACT_REALS 3       /* that an attempt may have */
#define EXACT_MOST_WORDS 64 /* of one real; the generator is broken if these do not decide */

/* Where the cells of a call take further digits from. Its key is made when it is first needed. */
struct exact_source {
    const dpf_stream *stream;
    struct random_layout layout; /* {0}: a sequence */
    uint64_t nonce;
    uint32_t row;
    int opened;
    struct random_overflow overflow;
};

/* A uniform real on [0, 1): n_bits digits, the lowest bits of head, then the words of the overflow. */
struct exact_real {
    struct exact_source *source;
    uint64_t cell, attempt;
    int which;
    int n_bits;
    uint64_t head;
};

/* For a sequence: a cell is a word of it. */
static inline struct exact_source exact_source_of(const struct random_cursor *c)
{
    return (struct exact_source){
        .stream = (const dpf_stream *)(uintptr_t)c->stream, .nonce = c->nonce, .row = (uint32_t)c->row};
}

/* The cell of the next word. */
static inline uint64_t exact_next_cell(const struct random_cursor *c)
{
    return c->block * RANDOM_BLOCK_WORDS - c->filled + c->position;
}

/* The first digits, 64 of each, of the reals of an attempt above 0. */
void exact_heads(struct exact_source *source, uint64_t cell, uint64_t attempt, uint64_t heads[EXACT_REALS]);
/* Digit words 1, 2, ... of a real, behind its head. */
uint64_t exact_word(const struct exact_real *real, int i);
/* Bounds of the real from its head and n_words further words. Their precision has to hold all these digits.
 */
void exact_bounds(const struct exact_real *real, int n_words, mpfr_t low, mpfr_t high);
/* Wipes the key. */
void exact_close(struct exact_source *source);

#endif
