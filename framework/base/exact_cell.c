/* SPDX-License-Identifier: Apache-2.0 */
#include "base/exact_cell.h"

#include <sodium.h>

/* An attempt has 2^32 blocks: its heads are block 0, the words of real w begin at (w + 1) 2^28. */
#define ATTEMPT_BITS 32
#define REAL_BITS 28

static void make_block(struct exact_source *source, uint64_t cell, uint64_t block,
                       uint64_t words[RANDOM_BLOCK_WORDS])
{
    if (!source->opened)
        random_overflow_open(source->stream, &source->layout, source->nonce, source->row, &source->overflow);
    source->opened = 1;
    random_overflow_block(&source->overflow, cell, block, words);
}

void exact_heads(struct exact_source *source, uint64_t cell, uint64_t attempt, uint64_t heads[EXACT_REALS])
{
    uint64_t words[RANDOM_BLOCK_WORDS];
    if (attempt >> 31)
        random_generator_fault();
    make_block(source, cell, attempt << ATTEMPT_BITS, words);
    for (int i = 0; i < EXACT_REALS; i++)
        heads[i] = words[i];
}

uint64_t exact_word(const struct exact_real *real, int i)
{
    uint64_t words[RANDOM_BLOCK_WORDS];
    const uint64_t at = (uint64_t)(i - 1);
    make_block(real->source, real->cell,
               real->attempt << ATTEMPT_BITS | (uint64_t)(real->which + 1) << REAL_BITS |
                   at / RANDOM_BLOCK_WORDS,
               words);
    return words[at % RANDOM_BLOCK_WORDS];
}

void exact_bounds(const struct exact_real *real, int n_words, mpfr_t low, mpfr_t high)
{
    if (n_words > EXACT_MOST_WORDS)
        random_generator_fault();
    mpfr_set_uj(low, real->head, MPFR_RNDD);
    for (int i = 1; i <= n_words; i++) {
        mpfr_t word;
        mpfr_init2(word, 64);
        mpfr_set_uj(word, exact_word(real, i), MPFR_RNDN);
        mpfr_mul_2ui(low, low, 64, MPFR_RNDD);
        mpfr_add(low, low, word, MPFR_RNDD);
        mpfr_clear(word);
    }
    mpfr_add_ui(high, low, 1, MPFR_RNDU);
    const unsigned long digits = (unsigned long)(real->n_bits + 64 * n_words);
    mpfr_div_2ui(low, low, digits, MPFR_RNDD);
    mpfr_div_2ui(high, high, digits, MPFR_RNDU);
}

void exact_close(struct exact_source *source)
{
    if (source->opened)
        sodium_memzero(&source->overflow, sizeof(source->overflow));
    source->opened = 0;
}
