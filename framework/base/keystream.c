/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keystream.c - the bytes are libsodium's; libcrypto gives the same ones faster where there are very many, and a
 * kernel of ours where they are few or do not follow one another.
 *
 * Both libraries' ChaCha20 take a counter of 64 bits and a nonce of 64 bits (RFC 8439's nonce of 96 bits is
 * another division of the same 16 bytes). Where libcrypto has no ChaCha20, as in FIPS mode, libsodium does
 * all.
 */
#include "base/keystream.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <string.h>

#include "simd/keystream_lanes.h"

#define BLOCK_BYTES (LANES_BLOCK_WORDS * 8)
#define BULK_BLOCKS 16    /* from here on libcrypto is faster than libsodium, its preparation included, */
#define BULK_LANES 24     /* from here on than our kernel, */
#define BULK_WIDE 1024    /* and than that of sixteen blocks */
#define ABREAST 8         /* blocks that libsodium makes at once; others cost it as much one by one */
#define CALL_BLOCKS 65536 /* libcrypto counts bytes in an int */
#define LANES_WORTH 3     /* blocks from which our kernel costs less than a call for each */

static atomic_int counting;
static _Atomic uint64_t counted; /* blocks */

static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static EVP_CIPHER *bulk_cipher; /* lives as long as the process */
static int has_contexts;
static pthread_key_t contexts; /* one for each thread that asks for many blocks */

static void free_context(void *context)
{
    EVP_CIPHER_CTX_free(context);
}

static void prepare(void)
{
    has_contexts = pthread_key_create(&contexts, free_context) == 0;
    bulk_cipher = has_contexts ? EVP_CIPHER_fetch(NULL, "ChaCha20", NULL) : NULL;
}

static EVP_CIPHER_CTX *bulk_context(void)
{
    pthread_once(&prepared, prepare);
    if (!bulk_cipher)
        return NULL;
    EVP_CIPHER_CTX *context = pthread_getspecific(contexts);
    if (context)
        return context;
    context = EVP_CIPHER_CTX_new();
    if (context && pthread_setspecific(contexts, context) != 0) {
        EVP_CIPHER_CTX_free(context);
        context = NULL;
    }
    return context;
}

static void little_endian(uint64_t number, uint8_t bytes[8])
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
}

/* Returns 0, or -1 if libcrypto cannot. No key is left in its context. */
static int fill_bulk(const uint8_t *key, uint64_t nonce, uint64_t counter, uint64_t n_blocks, uint8_t *bytes)
{
    static const uint8_t nothing[KEYSTREAM_KEY_BYTES];
    EVP_CIPHER_CTX *context = bulk_context();
    if (!context)
        return -1;
    uint8_t start[16];
    little_endian(counter, start);
    little_endian(nonce, start + 8);
    int done = EVP_EncryptInit_ex2(context, bulk_cipher, key, start, NULL);
    while (done == 1 && n_blocks > 0) {
        const uint64_t now = n_blocks < CALL_BLOCKS ? n_blocks : CALL_BLOCKS;
        int length = (int)(now * BLOCK_BYTES);
        memset(bytes, 0, (size_t)length);
        done = EVP_EncryptUpdate(context, bytes, &length, bytes, length);
        bytes += now * BLOCK_BYTES;
        n_blocks -= now;
    }
    return EVP_EncryptInit_ex2(context, NULL, nothing, start, NULL) == 1 && done == 1 ? 0 : -1;
}

static void fill_few(const uint8_t *key, uint64_t nonce, uint64_t counter, uint64_t n_blocks, uint8_t *bytes)
{
    uint8_t start[8], padded[ABREAST * BLOCK_BYTES];
    little_endian(nonce, start);
    const uint64_t whole = n_blocks / ABREAST * ABREAST, rest = n_blocks - whole;
    if (whole) {
        memset(bytes, 0, whole * BLOCK_BYTES);
        crypto_stream_chacha20_xor_ic(bytes, bytes, whole * BLOCK_BYTES, start, counter, key);
    }
    if (rest) { /* 2 and 3 blocks cost more than 4, 5 to 7 more than 8 */
        const uint64_t made = rest == 1 ? 1 : rest <= ABREAST / 2 ? ABREAST / 2 : ABREAST;
        memset(padded, 0, made * BLOCK_BYTES);
        crypto_stream_chacha20_xor_ic(padded, padded, made * BLOCK_BYTES, start, counter + whole, key);
        memcpy(bytes + whole * BLOCK_BYTES, padded, rest * BLOCK_BYTES);
    }
}

void keystream_count(void)
{
    atomic_store(&counting, 1);
}

uint64_t keystream_counted(void)
{
    return atomic_load(&counted) * BLOCK_BYTES;
}

static void count(uint64_t n_blocks)
{
    if (atomic_load_explicit(&counting, memory_order_relaxed))
        atomic_fetch_add_explicit(&counted, n_blocks, memory_order_relaxed);
}

/* Any number of blocks by the kernel of a kind that has one. */
static void fill_lanes(int kind, const uint8_t *key, uint64_t nonce, const uint64_t *counters,
                       uint64_t n_blocks, uint64_t *out)
{
    if (kind == SIMD_KIND_AVX512 &&
        n_blocks <= 8) /* eight lanes cost less than sixteen of which half is needed */
        kind = SIMD_KIND_AVX2;
    const uint64_t width = lanes_of(kind);
    uint64_t done = 0, padded[LANES_MOST], blocks[LANES_MOST * LANES_BLOCK_WORDS];
    for (; n_blocks - done >= width; done += width)
        lanes_make(kind, key, nonce, counters + done, out + done * LANES_BLOCK_WORDS);
    const uint64_t rest = n_blocks - done;
    if (rest < LANES_WORTH) {
        for (; done < n_blocks; done++)
            fill_few(key, nonce, counters[done], 1, (uint8_t *)(out + done * LANES_BLOCK_WORDS));
    } else if (n_blocks >= width) { /* the last blocks, some of them once more */
        done = n_blocks - width;
        lanes_make(kind, key, nonce, counters + done, out + done * LANES_BLOCK_WORDS);
    } else { /* what is made beyond them costs nothing */
        for (uint64_t i = 0; i < width; i++)
            padded[i] = counters[i < n_blocks ? i : 0];
        lanes_make(kind, key, nonce, padded, blocks);
        memcpy(out, blocks, n_blocks * BLOCK_BYTES);
    }
}

/* Blocks that follow one another. */
static void fill_consecutive(int kind, const uint8_t *key, uint64_t nonce, uint64_t counter,
                             uint64_t n_blocks, uint64_t *out)
{
    enum { PART = 4 * LANES_MOST };
    uint64_t counters[PART];
    for (uint64_t done = 0, now; done < n_blocks; done += now) {
        now = n_blocks - done < PART ? n_blocks - done : PART;
        for (uint64_t i = 0; i < now; i++)
            counters[i] = counter + done + i;
        fill_lanes(kind, key, nonce, counters, now, out + done * LANES_BLOCK_WORDS);
    }
}

static void fill(const uint8_t *key, uint64_t nonce, uint64_t counter, uint64_t n_blocks, uint64_t *out)
{
    uint8_t *bytes = (uint8_t *)out; /* words are little-endian, as abi.h demands */
    const int kind = simd_choose(SIMD_KIND_AUTO);
    const uint64_t width = lanes_of(kind);
    const uint64_t bulk = width == 0 ? BULK_BLOCKS : width < LANES_MOST ? BULK_LANES : BULK_WIDE;
    if (width && n_blocks >= LANES_WORTH && n_blocks < bulk)
        fill_consecutive(kind, key, nonce, counter, n_blocks, out);
    else if (n_blocks < bulk || fill_bulk(key, nonce, counter, n_blocks, bytes) != 0)
        fill_few(key, nonce, counter, n_blocks, bytes);
}

void keystream_blocks(const uint8_t key[KEYSTREAM_KEY_BYTES], uint64_t nonce, uint64_t counter,
                      uint64_t n_blocks, uint64_t *out)
{
    count(n_blocks);
    fill(key, nonce, counter, n_blocks, out);
}

/* Counters that follow one another are one call. */
static void fill_runs(const uint8_t *key, uint64_t nonce, const uint64_t *counters, uint64_t n_blocks,
                      uint64_t *out)
{
    for (uint64_t i = 0, run; i < n_blocks; i += run) {
        for (run = 1; i + run < n_blocks && counters[i + run] == counters[i] + run;)
            run++;
        fill(key, nonce, counters[i], run, out + i * LANES_BLOCK_WORDS);
    }
}

void keystream_scattered(const uint8_t key[KEYSTREAM_KEY_BYTES], uint64_t nonce, const uint64_t *counters,
                         uint64_t n_blocks, uint64_t *out)
{
    const int kind = simd_choose(SIMD_KIND_AUTO);
    count(n_blocks);
    if (n_blocks >= LANES_WORTH && lanes_of(kind))
        fill_lanes(kind, key, nonce, counters, n_blocks, out);
    else
        fill_runs(key, nonce, counters, n_blocks, out);
}
