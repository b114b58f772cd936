/* SPDX-License-Identifier: Apache-2.0 */
/* secagg_keystream.h - ChaCha20 with a 64-bit nonce and a 64-bit counter, in bulk. */
#ifndef SECAGG_KEYSTREAM_H
#define SECAGG_KEYSTREAM_H

#include <stddef.h>
#include <stdint.h>

#define SECAGG_BLOCK_WORDS 8

/* Blocks first .. first + n_blocks - 1 of 64 bytes, as libsodium's crypto_stream_chacha20 gives them, in
   little-endian words, on a kind of processor (SIMD_KIND_...). Costs the least for multiples of 16 blocks. */
void secagg_keystream(int kind, const uint8_t key[32], uint64_t nonce, uint64_t first, uint64_t *out,
                      size_t n_blocks);

#endif
