/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keystream.c - the bytes are libsodium's; libcrypto gives the same ones faster where there are many, and a
 * kernel of ours where there are few or they do not follow one another.
 *
 * Both libraries' ChaCha20 take a counter of 64 bits and a nonce of 64 bits (RFC 8439's nonce of 96 bits is
 * another division of the same 16 bytes). Where libcrypto has no ChaCha20, as in FIPS mode, libsodium does
 * all.
 */
#include "base/keystream.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <sodium.h>
#include <string.h>

#include "simd/keystream_lanes.h"

#define BLOCK_BYTES 64
#define BULK_BLOCKS 16    /* from here on libcrypto is faster, its preparation included */
#define ABREAST 8         /* blocks that libsodium makes at once; others cost it as much one by one */
#define CALL_BLOCKS 65536 /* libcrypto counts bytes in an int */

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

#if SIMD_X86
/* Up to LANES blocks; what is made beyond n_blocks costs nothing. */
static void fill_lanes(const uint8_t *key, uint64_t nonce, const uint64_t *counters, uint64_t n_blocks,
                       uint64_t *out)
{
    uint64_t padded[LANES], blocks[LANES * (BLOCK_BYTES / 8)];
    for (uint64_t i = 0; i < LANES; i++)
        padded[i] = counters[i < n_blocks ? i : 0];
    lanes_avx512(key, nonce, padded, blocks);
    memcpy(out, blocks, n_blocks * BLOCK_BYTES);
}
#endif

void keystream_blocks(const uint8_t key[KEYSTREAM_KEY_BYTES], uint64_t nonce, uint64_t counter,
                      uint64_t n_blocks, uint64_t *out)
{
    uint8_t *bytes = (uint8_t *)out; /* words are little-endian, as abi.h demands */
#if SIMD_X86
    if (n_blocks >= LANES_WORTH && n_blocks < BULK_BLOCKS && simd_choose(SIMD_KIND_AVX512) >= 0) {
        uint64_t counters[BULK_BLOCKS];
        for (uint64_t i = 0; i < n_blocks; i++)
            counters[i] = counter + i;
        fill_lanes(key, nonce, counters, n_blocks, out);
        return;
    }
#endif
    if (n_blocks < BULK_BLOCKS || fill_bulk(key, nonce, counter, n_blocks, bytes) != 0)
        fill_few(key, nonce, counter, n_blocks, bytes);
}

/* Counters that follow one another are one call. */
static void fill_runs(const uint8_t *key, uint64_t nonce, const uint64_t *counters, uint64_t n_blocks,
                      uint64_t *out)
{
    for (uint64_t i = 0, run; i < n_blocks; i += run) {
        for (run = 1; i + run < n_blocks && counters[i + run] == counters[i] + run;)
            run++;
        keystream_blocks(key, nonce, counters[i], run, out + i * (BLOCK_BYTES / 8));
    }
}

void keystream_scattered(const uint8_t key[KEYSTREAM_KEY_BYTES], uint64_t nonce, const uint64_t *counters,
                         uint64_t n_blocks, uint64_t *out)
{
    uint64_t done = 0;
#if SIMD_X86
    if (n_blocks >= LANES_WORTH && simd_choose(SIMD_KIND_AVX512) >= 0)
        for (; done < n_blocks; done += LANES) { /* the last blocks once more, where 16 are not left */
            if (n_blocks < LANES) {
                fill_lanes(key, nonce, counters, n_blocks, out);
                continue;
            }
            done = n_blocks - done < LANES ? n_blocks - LANES : done;
            lanes_avx512(key, nonce, counters + done, out + done * (BLOCK_BYTES / 8));
        }
    if (done >= n_blocks)
        return;
#endif
    fill_runs(key, nonce, counters + done, n_blocks - done, out + done * (BLOCK_BYTES / 8));
}
