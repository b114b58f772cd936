/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a message: refused, or exactly what the encoder makes of what was read. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "secagg_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int truth)
{
    if (!truth)
        abort();
}

/* Reads all that a view shows: the sanitizer knows where the message ends. */
static void touch(const uint8_t *bytes, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += bytes[i];
    require(sum <= 255 * n);
}

static void check_start(const struct secagg_header *header, const uint8_t *message, size_t size)
{
    struct secagg_terms terms;
    uint8_t again[SECAGG_HEADER_BYTES + SECAGG_START_BYTES];
    size_t n;
    if (secagg_read_start(header, &terms) != SECAGG_OK)
        return;
    require(secagg_write_start(&terms, again, sizeof(again), &n) == SECAGG_OK);
    require(n == size && memcmp(again, message, n) == 0);
}

static void check_lists(const struct secagg_header *header, uint32_t count, size_t each)
{
    struct secagg_entries entries;
    const uint8_t *bitmap, *items;
    if (secagg_read_entries(header, each, count, &entries) == SECAGG_OK)
        for (uint32_t i = 0; i < entries.count; i++)
            touch(secagg_entry(&entries, i), entries.each);
    if (secagg_read_items(header, count, each, &items) == SECAGG_OK)
        touch(items, (size_t)count * each);
    if (secagg_read_bitmap(header, count, each, &bitmap, &items) == SECAGG_OK)
        for (uint32_t i = 0; i < count; i++)
            if (secagg_bit(bitmap, i)) {
                touch(items, each);
                items += each;
            }
    secagg_read_keys(header, (int)(count & 1));
}

static void check_input(const struct secagg_header *header, uint32_t dimension, int bits)
{
    const uint8_t *packed;
    if (secagg_read_input(header, dimension, bits, &packed) != SECAGG_OK)
        return;
    const size_t bytes = (size_t)secagg_packed_bytes(dimension, bits);
    uint64_t *numbers = malloc(dimension * sizeof(*numbers));
    uint8_t *again = malloc(bytes);
    require(numbers && again);
    secagg_unpack(packed, dimension, bits, numbers);
    secagg_pack(numbers, dimension, bits, again);
    require(memcmp(packed, again, bytes) == 0);
    free(numbers);
    free(again);
}

/* A message as it is written with what was read. */
static void check_round_trip(const struct secagg_header *header, const uint8_t *message, size_t size)
{
    static const uint8_t channel[32] = {1};
    struct secagg_writer writer;
    struct secagg_header read;
    uint8_t *again = malloc(size);
    size_t n;
    require(again != NULL);
    secagg_write_begin(&writer, again, size);
    secagg_write(&writer, header->body, header->size);
    require(secagg_write_end(&writer, header->kind, header->sender, header->session,
                             header->kind == SECAGG_START ? NULL : channel, &n) == SECAGG_OK);
    require(n == size && memcmp(again, message, SECAGG_HEADER_BYTES + header->size) == 0);
    require(secagg_read_header(again, n, &read) == SECAGG_OK);
    require(header->kind == SECAGG_START || secagg_check_tag(&read, channel) == SECAGG_OK);
    secagg_write_begin(&writer, again, size - 1);
    secagg_write(&writer, header->body, header->size);
    require(secagg_write_end(&writer, header->kind, header->sender, header->session, channel, &n) ==
            SECAGG_NO_ROOM);
    free(again);
}

/* The first four bytes say what the receiver expects; the rest is the message. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct secagg_header header;
    if (size < 4 || sodium_init() < 0)
        return 0;
    const uint32_t count = data[0] | (uint32_t)(data[1] & 3) << 8;
    const size_t each = data[2];
    const int bits = 1 + data[3] % 64;
    if (secagg_read_header(data + 4, size - 4, &header) != SECAGG_OK)
        return 0;
    require(secagg_kind_name(header.kind)[0] != '\0');
    check_round_trip(&header, data + 4, size - 4);
    check_start(&header, data + 4, size - 4);
    check_lists(&header, count, each);
    check_input(&header, count + 1, bits);
    return 0;
}
