/* SPDX-License-Identifier: Apache-2.0 */
/* keystream.h - blocks of ChaCha20 with a 64-bit nonce and a 64-bit counter. */
#ifndef DPF_BASE_KEYSTREAM_H
#define DPF_BASE_KEYSTREAM_H

#include <stdint.h>

#define KEYSTREAM_KEY_BYTES 32

/* Blocks counter .. counter + n_blocks - 1 of 64 bytes, as libsodium's crypto_stream_chacha20 gives them, in
   little-endian words. Any thread. Costs the least for multiples of 16 blocks. */
void keystream_blocks(const uint8_t key[KEYSTREAM_KEY_BYTES], uint64_t nonce, uint64_t counter,
                      uint64_t n_blocks, uint64_t *out);

/* Blocks at any counters, one after another in out. Costs the least for many, wherever they lie. */
void keystream_scattered(const uint8_t key[KEYSTREAM_KEY_BYTES], uint64_t nonce, const uint64_t *counters,
                         uint64_t n_blocks, uint64_t *out);

/* From now on blocks are counted, of all threads: a few nanoseconds a call. */
void keystream_count(void);
/* Bytes of the blocks that have been counted. */
uint64_t keystream_counted(void);

#endif
