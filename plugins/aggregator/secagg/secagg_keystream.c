/* SPDX-License-Identifier: Apache-2.0 */
#include "secagg_keystream.h"

#include <sodium.h>
#include <string.h>

#include "keystream_lanes.h"

static void by_libsodium(const uint8_t key[32], uint64_t nonce, uint64_t first, uint8_t *bytes, size_t n)
{
    uint8_t start[8];
    for (int i = 0; i < 8; i++)
        start[i] = (uint8_t)(nonce >> (8 * i));
    memset(bytes, 0, n);
    crypto_stream_chacha20_xor_ic(bytes, bytes, n, start, first, key);
}

void secagg_keystream(int kind, const uint8_t key[32], uint64_t nonce, uint64_t first, uint64_t *out,
                      size_t n_blocks)
{
    const size_t width = lanes_of(kind);
    size_t done = 0;
    for (; width > 0 && n_blocks - done >= width; done += width) {
        uint64_t counters[LANES_MOST];
        for (size_t i = 0; i < width; i++)
            counters[i] = first + done + i;
        lanes_make(kind, key, nonce, counters, out + done * SECAGG_BLOCK_WORDS);
    }
    if (done < n_blocks)
        by_libsodium(key, nonce, first + done, (uint8_t *)(out + done * SECAGG_BLOCK_WORDS),
                     (n_blocks - done) * SECAGG_BLOCK_WORDS * sizeof(*out));
}
