/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.c - roots, streams and cursors.
 *
 *   root key    system randomness, or BLAKE2b("dpframe root 1", |domain|, domain, seed)
 *   stream key  BLAKE2b, keyed by the root key, of ("dpframe stream 2", |section|, section, |purpose|,
 *               purpose)
 *   keystream   ChaCha20: the stream key, nonce = draw, party; the counter counts rows and their blocks
 *   of an id    the same; draw, party and row are the start of BLAKE2b, keyed by the stream key, of the id
 *
 * Lengths make the hashed text unambiguous. random_layout.h says which blocks are whose; each block that is
 * made passes owned_blocks, where debug builds check it.
 *
 * A process that forks and draws on both sides would hide two values by one noise. Streams of a
 * secure root therefore belong to the process that opened them: seeking, or refilling a cursor, in a
 * forked child stops the child. Streams of a seeded root repeat their values by contract and are
 * exempt.
 */
#include "base/random.h"

#include <assert.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/keystream.h"
#include "base/memory.h"
#include "base/random_cursor.h"
#include "base/ranks.h"

#define KEY_BYTES RANDOM_KEY_BYTES
#define SEEDED UINT64_MAX /* in place of a generation: valid in every process */

_Static_assert(KEY_BYTES == KEYSTREAM_KEY_BYTES, "keystream.h's key");
_Static_assert(KEY_BYTES == crypto_stream_chacha20_KEYBYTES && KEY_BYTES == crypto_core_hchacha20_KEYBYTES,
               "the key is ChaCha20's");
_Static_assert(KEY_BYTES <= crypto_generichash_KEYBYTES_MAX, "the key is BLAKE2b's");

/* Keys that follow from a seed are no secrets, and lie in plain memory: a guarded block costs a dozen system calls, and an
   audit opens twenty streams a trial. Sizes are multiples of 8: sodium_malloc aligns to the end of a page. */
struct random_root {
    uint8_t key[KEY_BYTES];
    uint64_t generation;
};
struct dpf_stream {
    uint8_t key[KEY_BYTES];
    uint64_t generation;
};

/* How many forks lie between the first process and this one. */
static atomic_uint_fast64_t generation;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static int prepare_result;

static void count_fork(void)
{
    atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}

static void prepare(void)
{
    prepare_result = sodium_init() < 0 || pthread_atfork(NULL, NULL, count_fork) != 0 ? -1 : 0;
}

static void *key_new(size_t size, int is_secret, struct dpf_error *error)
{
    pthread_once(&prepared, prepare);
    if (prepare_result) {
        error_set(error, DPF_FAULT_RUN, "libsodium cannot be initialised: no source of randomness");
        return NULL;
    }
    void *block = is_secret ? sodium_malloc(size) : memory_need(1, size);
    if (!block) /* memory that is locked is scarce: ulimit -l */
        error_memory(error);
    return block;
}

static void key_free(void *block, size_t size, int is_secret)
{
    if (is_secret) {
        sodium_free(block);
    } else {
        sodium_memzero(block, size);
        free(block);
    }
}

/* Once the key is there. */
static void key_close(void *block, uint64_t its_generation)
{
    if (its_generation != SEEDED)
        sodium_mprotect_readonly(block);
}

static void key_open(void *block, uint64_t its_generation)
{
    if (its_generation != SEEDED)
        sodium_mprotect_readwrite(block);
}

static void check_owner(const dpf_stream *stream)
{
    if (__builtin_expect(stream->generation != SEEDED &&
                             stream->generation != atomic_load_explicit(&generation, memory_order_relaxed),
                         0)) {
        fputs("dpframe: secure randomness was used in a forked process; stopped, as noise would repeat\n",
              stderr);
        abort();
    }
}

static void hash_number(crypto_generichash_state *state, uint64_t number)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
    crypto_generichash_update(state, bytes, sizeof(bytes));
}

static void hash_text(crypto_generichash_state *state, const char *text)
{
    size_t length = strlen(text);
    hash_number(state, length);
    crypto_generichash_update(state, (const uint8_t *)text, length);
}

struct random_root *random_root_secure(struct dpf_error *error)
{
    struct random_root *root = key_new(sizeof(*root), 1, error);
    if (!root)
        return NULL;
    randombytes_buf(root->key, sizeof(root->key));
    root->generation = atomic_load_explicit(&generation, memory_order_relaxed);
    key_close(root, root->generation);
    return root;
}

int random_root_share(struct random_root *root, struct dpf_error *error)
{
    key_open(root, root->generation);
    const int status = ranks_broadcast(root->key, sizeof(root->key), 0, error);
    key_close(root, root->generation);
    return status;
}

struct random_root *random_root_seeded(uint64_t seed, const char *domain, struct dpf_error *error)
{
    struct random_root *root = key_new(sizeof(*root), 0, error);
    if (!root)
        return NULL;
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, KEY_BYTES);
    hash_text(&state, "dpframe root 1");
    hash_text(&state, domain);
    hash_number(&state, seed);
    crypto_generichash_final(&state, root->key, KEY_BYTES);
    sodium_memzero(&state, sizeof(state));
    root->generation = SEEDED;
    return root;
}

void random_root_free(struct random_root *root)
{
    if (root)
        key_free(root, sizeof(*root), root->generation != SEEDED);
}

void random_derive_key(const struct random_root *root, const char *use, const char *section,
                       const char *purpose, uint8_t key[RANDOM_KEY_BYTES])
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, root->key, KEY_BYTES, KEY_BYTES);
    hash_text(&state, use);
    hash_text(&state, section);
    hash_text(&state, purpose);
    crypto_generichash_final(&state, key, KEY_BYTES);
    sodium_memzero(&state, sizeof(state));
}

static void derive(const struct random_root *root, const char *section, const char *purpose,
                   dpf_stream *stream)
{
    random_derive_key(root, "dpframe stream 2", section, purpose, stream->key);
    stream->generation = root->generation;
    key_close(stream, stream->generation);
}

dpf_stream *random_stream_open(const struct random_root *root, const char *section, const char *purpose,
                               struct dpf_error *error)
{
    dpf_stream *stream = key_new(sizeof(*stream), root->generation != SEEDED, error);
    if (stream)
        derive(root, section, purpose, stream);
    return stream;
}

void random_stream_rekey(dpf_stream *stream, const struct random_root *root, const char *section,
                         const char *purpose)
{
    if ((stream->generation == SEEDED) != (root->generation == SEEDED)) {
        fputs("dpframe: a secret key was meant for memory of known ones, or the other way round; stopped\n",
              stderr);
        abort();
    }
    key_open(stream, stream->generation);
    derive(root, section, purpose, stream);
}

void random_stream_free(dpf_stream *stream)
{
    if (stream)
        key_free(stream, sizeof(*stream), stream->generation != SEEDED);
}

_Noreturn __attribute__((noinline, cold)) void random_generator_fault(void)
{
    fputs("dpframe: the random generator is broken; stopped\n", stderr);
    abort();
}

/* Blocks of the stream, all of rows first to last of the layout with that label. */
static void owned_blocks(const dpf_stream *stream, uint64_t nonce, uint64_t counter, uint64_t n_blocks,
                         uint64_t label, uint64_t first, uint64_t last, uint64_t *out)
{
    check_owner(stream);
    assert(n_blocks > 0);
    assert(layout_owner(counter).label == label && layout_owner(counter).row == first);
    assert(layout_owner(counter + n_blocks - 1).label == label);
    assert(layout_owner(counter + n_blocks - 1).row == last);
    (void)label, (void)first, (void)last;
    keystream_blocks(stream->key, nonce, counter, n_blocks, out);
}

void random_row_blocks(const dpf_stream *stream, const struct random_layout *layout, uint64_t nonce,
                       uint32_t row, uint64_t block, uint64_t n_blocks, uint64_t *out)
{
    owned_blocks(stream, nonce, layout_counter(layout, row) + block, n_blocks, layout->label, row,
                 row + (block + n_blocks - 1) / layout->blocks, out);
}

void random_scattered_rows(const dpf_stream *stream, const struct random_layout *layout, uint64_t nonce,
                           const int32_t *ids, int64_t n, uint64_t *out)
{
    check_owner(stream);
    uint64_t counters[RANDOM_SCATTERED_BLOCKS];
    const int64_t blocks = (int64_t)layout->blocks;
    assert(n * blocks <= RANDOM_SCATTERED_BLOCKS);
    for (int64_t i = 0; i < n; i++)
        for (int64_t b = 0; b < blocks; b++) {
            counters[i * blocks + b] = layout_counter(layout, (uint32_t)ids[i]) + (uint64_t)b;
            assert(layout_owner(counters[i * blocks + b]).label == layout->label);
            assert(layout_owner(counters[i * blocks + b]).row == (uint32_t)ids[i]);
        }
    keystream_scattered(stream->key, nonce, counters, (uint64_t)(n * blocks), out);
}

void random_overflow_open(const dpf_stream *stream, const struct random_layout *layout, uint64_t nonce,
                          uint32_t row, struct random_overflow *overflow)
{
    check_owner(stream);
    const uint64_t name[2] = {layout_overflow(layout, row), nonce};
    uint8_t bytes[crypto_core_hchacha20_INPUTBYTES];
    memcpy(bytes, name, sizeof(bytes)); /* little-endian, as abi.h demands */
    crypto_core_hchacha20(overflow->key, bytes, stream->key, NULL);
}

void random_overflow_block(const struct random_overflow *overflow, uint64_t cell, uint64_t block,
                           uint64_t out[RANDOM_BLOCK_WORDS])
{
    keystream_blocks(overflow->key, cell, block, 1, out);
}

void random_seek(const dpf_stream *stream, uint32_t draw, uint32_t party, uint32_t row, dpf_cursor *cursor)
{
    check_owner(stream);
    struct random_cursor *c = random_cursor_of(cursor);
    c->position = 0;
    c->filled = 0;
    c->row = row;
    c->block = 0;
    c->nonce = layout_nonce(draw, party);
    c->stream = (uint64_t)(uintptr_t)stream;
}

void random_seek_id(const dpf_stream *stream, const char *id, dpf_cursor *cursor)
{
    uint8_t hash[crypto_generichash_BYTES_MIN]; /* of its 16 bytes an index takes 12 */
    uint32_t index[3] = {0};
    crypto_generichash(hash, sizeof hash, (const uint8_t *)id, strlen(id), stream->key, KEY_BYTES);
    for (int i = 0; i < 12; i++)
        index[i / 4] |= (uint32_t)hash[i] << (8 * (i % 4));
    random_seek(stream, index[0], index[1], index[2], cursor);
}

/* Blocks of a cursor's row, from where it stands. */
static void sequence_blocks(struct random_cursor *c, uint64_t n_blocks, uint64_t *out)
{
    if (n_blocks > (UINT64_C(1) << LAYOUT_SEQUENCE_BITS) - c->block) {
        fputs("dpframe: an index of a random stream is used up, all 128 GiB of it; stopped\n", stderr);
        abort();
    }
    owned_blocks((const dpf_stream *)(uintptr_t)c->stream, c->nonce,
                 layout_sequence((uint32_t)c->row) + c->block, n_blocks, 0, c->row, c->row, out);
    c->block += n_blocks;
}

/* The last window of a row may be a short one. */
static void refill(struct random_cursor *c, uint64_t n_blocks)
{
    const uint64_t left = (UINT64_C(1) << LAYOUT_SEQUENCE_BITS) - c->block;
    n_blocks = left > 0 && left < n_blocks ? left : n_blocks;
    sequence_blocks(c, n_blocks, c->words);
    c->position = 0;
    c->filled = n_blocks * RANDOM_BLOCK_WORDS;
}

void random_cursor_refill(struct random_cursor *c)
{
    refill(c, c->block ? RANDOM_WINDOW_WORDS / RANDOM_BLOCK_WORDS : 1);
}

void random_cursor_fill(struct random_cursor *c)
{
    refill(c, RANDOM_WINDOW_WORDS / RANDOM_BLOCK_WORDS);
}

int64_t random_cursor_bulk(struct random_cursor *c, uint64_t *out, int64_t n)
{
    const int64_t blocks = n / RANDOM_BLOCK_WORDS;
    if (c->position < c->filled || blocks <= RANDOM_WINDOW_WORDS / RANDOM_BLOCK_WORDS)
        return 0;
    sequence_blocks(c, (uint64_t)blocks, out);
    return blocks * RANDOM_BLOCK_WORDS;
}
