/* SPDX-License-Identifier: Apache-2.0 */
#include "secagg_wire.h"

#include <sodium.h>
#include <string.h>

const char *secagg_status_text(enum secagg_status status)
{
    switch (status) {
    case SECAGG_OK:
        return "accepted";
    case SECAGG_MALFORMED:
        return "the bytes are not a message of this protocol";
    case SECAGG_FOREIGN:
        return "the message belongs to another session or comes from somebody else";
    case SECAGG_OUT_OF_ORDER:
        return "the message is repeated or belongs to another phase";
    case SECAGG_FORGED:
        return "a signature, an authenticator or a key is wrong";
    case SECAGG_LIED:
        return "a party has sent a false share of a key or a mask, or shared another secret than it "
               "promised: the "
               "round cannot be opened, and what it masks stays closed";
    case SECAGG_TOO_FEW:
        return "fewer members are left than the threshold asks for";
    case SECAGG_BAD_TERMS:
        return "the terms of the round are not those the client agreed to";
    case SECAGG_REUSED:
        return "the client has already taken part in this round";
    case SECAGG_NO_ROOM:
        return "the buffer for a message is too small";
    }
    return "unknown status";
}

const char *secagg_kind_name(enum secagg_kind kind)
{
    static const char *const names[SECAGG_N_KINDS] = {"",        "start",      "keys",  "roster",
                                                      "shares",  "delivery",   "input", "survivors",
                                                      "consent", "signatures", "unmask"};
    return kind > 0 && kind < SECAGG_N_KINDS ? names[kind] : "";
}

/* ---- numbers ------------------------------------------------------------------------------------ */

uint32_t secagg_get32(const uint8_t *bytes)
{
    uint32_t x;
    memcpy(&x, bytes, sizeof(x)); /* little-endian, as dpframe/abi.h demands */
    return x;
}

uint64_t secagg_get64(const uint8_t *bytes)
{
    uint64_t x;
    memcpy(&x, bytes, sizeof(x));
    return x;
}

void secagg_put32(uint8_t *bytes, uint32_t x)
{
    memcpy(bytes, &x, sizeof(x));
}

void secagg_put64(uint8_t *bytes, uint64_t x)
{
    memcpy(bytes, &x, sizeof(x));
}

/* ---- writing ------------------------------------------------------------------------------------ */

void secagg_write_begin(struct secagg_writer *writer, uint8_t *bytes, size_t capacity)
{
    writer->bytes = bytes;
    writer->capacity = capacity;
    writer->size = SECAGG_HEADER_BYTES;
    writer->full = capacity < SECAGG_HEADER_BYTES;
}

uint8_t *secagg_write_space(struct secagg_writer *writer, size_t n)
{
    if (writer->full || n > writer->capacity - writer->size) {
        writer->full = 1;
        return NULL;
    }
    uint8_t *at = writer->bytes + writer->size;
    memset(at, 0, n);
    writer->size += n;
    return at;
}

void secagg_write(struct secagg_writer *writer, const void *bytes, size_t n)
{
    uint8_t *at = secagg_write_space(writer, n);
    if (at)
        memcpy(at, bytes, n);
}

void secagg_write32(struct secagg_writer *writer, uint32_t x)
{
    uint8_t *at = secagg_write_space(writer, 4);
    if (at)
        secagg_put32(at, x);
}

enum secagg_status secagg_write_end(struct secagg_writer *writer, enum secagg_kind kind, uint32_t sender,
                                    const uint8_t session[SECAGG_SESSION_BYTES], const uint8_t *channel,
                                    size_t *size)
{
    const size_t length = writer->size - SECAGG_HEADER_BYTES;
    uint8_t *tag = channel ? secagg_write_space(writer, SECAGG_TAG_BYTES) : NULL;
    if (writer->full || length > UINT32_MAX)
        return SECAGG_NO_ROOM;
    uint8_t *header = writer->bytes;
    header[0] = SECAGG_VERSION;
    header[1] = (uint8_t)kind;
    header[2] = header[3] = 0;
    secagg_put32(header + 4, sender);
    memcpy(header + 8, session, SECAGG_SESSION_BYTES);
    secagg_put32(header + 24, (uint32_t)length);
    if (channel)
        crypto_generichash(tag, SECAGG_TAG_BYTES, header, SECAGG_HEADER_BYTES + length, channel, 32);
    *size = writer->size;
    return SECAGG_OK;
}

/* ---- reading ------------------------------------------------------------------------------------ */

static int from_server(enum secagg_kind kind)
{
    return kind == SECAGG_START || kind == SECAGG_ROSTER || kind == SECAGG_DELIVERY ||
           kind == SECAGG_SURVIVORS || kind == SECAGG_SIGNATURES;
}

enum secagg_status secagg_read_header(const uint8_t *message, size_t size, struct secagg_header *out)
{
    if (size < SECAGG_HEADER_BYTES || message[0] != SECAGG_VERSION || message[1] < SECAGG_START ||
        message[1] >= SECAGG_N_KINDS || message[2] != 0 || message[3] != 0)
        return SECAGG_MALFORMED;
    const uint64_t length = secagg_get32(message + 24);
    if (size != SECAGG_HEADER_BYTES + length + (message[1] == SECAGG_START ? 0 : SECAGG_TAG_BYTES))
        return SECAGG_MALFORMED;
    out->kind = (enum secagg_kind)message[1];
    out->sender = secagg_get32(message + 4);
    out->session = message + 8;
    out->body = message + SECAGG_HEADER_BYTES;
    out->size = (size_t)length;
    out->message = message;
    out->tag = message + SECAGG_HEADER_BYTES + length;
    return from_server(out->kind) == (out->sender == SECAGG_SERVER) ? SECAGG_OK : SECAGG_MALFORMED;
}

enum secagg_status secagg_check_tag(const struct secagg_header *header, const uint8_t channel[32])
{
    uint8_t tag[SECAGG_TAG_BYTES];
    crypto_generichash(tag, sizeof(tag), header->message, SECAGG_HEADER_BYTES + header->size, channel, 32);
    return sodium_memcmp(tag, header->tag, sizeof(tag)) == 0 ? SECAGG_OK : SECAGG_FORGED;
}

enum secagg_status secagg_write_start(const struct secagg_terms *terms, uint8_t *bytes, size_t capacity,
                                      size_t *size)
{
    struct secagg_writer writer;
    secagg_write_begin(&writer, bytes, capacity);
    uint8_t *body = secagg_write_space(&writer, SECAGG_START_BYTES);
    if (!body)
        return SECAGG_NO_ROOM;
    secagg_put64(body, terms->round);
    memcpy(body + 8, terms->context, sizeof(terms->context));
    secagg_put64(body + 40, terms->modulus);
    secagg_put32(body + 48, terms->dimension);
    secagg_put32(body + 52, terms->threshold);
    secagg_put32(body + 56, terms->flags);
    memcpy(body + 60, terms->server_public, sizeof(terms->server_public));
    return secagg_write_end(&writer, SECAGG_START, SECAGG_SERVER, terms->session, NULL, size);
}

enum secagg_status secagg_read_start(const struct secagg_header *header, struct secagg_terms *out)
{
    const uint8_t *body = header->body;
    if (header->kind != SECAGG_START || header->size != SECAGG_START_BYTES)
        return SECAGG_MALFORMED;
    memcpy(out->session, header->session, SECAGG_SESSION_BYTES);
    out->round = secagg_get64(body);
    memcpy(out->context, body + 8, sizeof(out->context));
    out->modulus = secagg_get64(body + 40);
    out->dimension = secagg_get32(body + 48);
    out->threshold = secagg_get32(body + 52);
    out->flags = secagg_get32(body + 56);
    memcpy(out->server_public, body + 60, sizeof(out->server_public));
    const int fits = out->modulus != 1 && out->modulus <= UINT64_C(1) << 63 && out->dimension >= 1 &&
                     out->dimension <= SECAGG_MAX_DIMENSION && out->threshold >= 2 &&
                     out->threshold <= SECAGG_MAX_MEMBERS && out->flags <= SECAGG_MALICIOUS;
    return fits ? SECAGG_OK : SECAGG_MALFORMED;
}

enum secagg_status secagg_read_keys(const struct secagg_header *header, int signed_)
{
    return header->kind == SECAGG_KEYS && header->size == secagg_keys_bytes(signed_) ? SECAGG_OK
                                                                                     : SECAGG_MALFORMED;
}

enum secagg_status secagg_read_entries(const struct secagg_header *header, size_t payload, uint32_t self,
                                       struct secagg_entries *out)
{
    if (header->size < 4)
        return SECAGG_MALFORMED;
    out->count = secagg_get32(header->body);
    out->each = 4 + payload;
    out->bytes = header->body + 4;
    if (out->count > SECAGG_MAX_MEMBERS || header->size != 4 + (size_t)out->count * out->each)
        return SECAGG_MALFORMED;
    for (uint32_t i = 0; i < out->count; i++) {
        const uint32_t id = secagg_get32(secagg_entry(out, i));
        if (id == self || id == SECAGG_SERVER || (i > 0 && id <= secagg_get32(secagg_entry(out, i - 1))))
            return SECAGG_MALFORMED;
    }
    return SECAGG_OK;
}

enum secagg_status secagg_read_shares(const struct secagg_header *header, uint32_t count,
                                      const uint8_t **items, const uint8_t **commitment)
{
    const size_t bytes = (size_t)count * SECAGG_SEALED_BYTES;
    if (header->size != 4 + bytes + SECAGG_COMMITMENT_BYTES || secagg_get32(header->body) != count)
        return SECAGG_MALFORMED;
    *items = header->body + 4;
    *commitment = *items + bytes;
    return SECAGG_OK;
}

enum secagg_status secagg_read_items(const struct secagg_header *header, uint32_t count, size_t each,
                                     const uint8_t **items)
{
    if (header->size < 4 || secagg_get32(header->body) != count || header->size != 4 + (size_t)count * each)
        return SECAGG_MALFORMED;
    *items = header->body + 4;
    return SECAGG_OK;
}

enum secagg_status secagg_read_bitmap(const struct secagg_header *header, uint32_t count, size_t each,
                                      const uint8_t **bitmap, const uint8_t **items)
{
    const size_t bytes = secagg_bitmap_bytes(count);
    if (header->size < 4 + bytes || secagg_get32(header->body) != count)
        return SECAGG_MALFORMED;
    *bitmap = header->body + 4;
    *items = *bitmap + bytes;
    uint32_t set = 0;
    for (uint32_t i = 0; i < count; i++)
        set += (uint32_t)secagg_bit(*bitmap, i);
    for (uint32_t i = count; i < 8 * bytes; i++)
        if (secagg_bit(*bitmap, i))
            return SECAGG_MALFORMED;
    return header->size == 4 + bytes + (size_t)set * each ? SECAGG_OK : SECAGG_MALFORMED;
}

/* ---- vectors ------------------------------------------------------------------------------------ */

enum secagg_status secagg_read_input(const struct secagg_header *header, uint32_t dimension, int bits,
                                     const uint8_t **packed)
{
    const uint8_t *body = header->body;
    const uint64_t bytes = secagg_packed_bytes(dimension, bits);
    if (header->kind != SECAGG_INPUT || header->size != 8 + bytes || secagg_get32(body) != dimension ||
        secagg_get32(body + 4) != (uint32_t)bits)
        return SECAGG_MALFORMED;
    *packed = body + 8;
    const int used = (int)((uint64_t)dimension * (uint64_t)bits % 8);
    return used == 0 || (*packed)[bytes - 1] >> used == 0 ? SECAGG_OK : SECAGG_MALFORMED;
}

void secagg_pack(const uint64_t *numbers, uint64_t n, int bits, uint8_t *out)
{
    uint64_t word = 0;
    int filled = 0;
    for (uint64_t i = 0; i < n; i++) {
        word |= numbers[i] << filled;
        if (filled + bits < 64) {
            filled += bits;
            continue;
        }
        secagg_put64(out, word);
        out += 8;
        word = filled == 0 ? 0 : numbers[i] >> (64 - filled);
        filled += bits - 64;
    }
    for (; filled > 0; filled -= 8, word >>= 8)
        *out++ = (uint8_t)word;
}

/* bits bits at bit `at`; nothing behind the last byte is read. */
static uint64_t take(const uint8_t *packed, uint64_t bytes, uint64_t at, int bits)
{
    uint64_t first = at / 8, low = 0, high = 0;
    const int shift = (int)(at % 8);
    if (bytes - first >= 9) {
        low = secagg_get64(packed + first);
        high = packed[first + 8];
    } else {
        for (uint64_t i = first; i < bytes && i < first + 8; i++)
            low |= (uint64_t)packed[i] << (8 * (i - first));
    }
    const uint64_t x = low >> shift | (shift ? high << (64 - shift) : 0);
    return bits == 64 ? x : x & ((UINT64_C(1) << bits) - 1);
}

void secagg_unpack(const uint8_t *packed, uint64_t n, int bits, uint64_t *out)
{
    const uint64_t bytes = secagg_packed_bytes(n, bits);
    for (uint64_t i = 0; i < n; i++)
        out[i] = take(packed, bytes, i * (uint64_t)bits, bits);
}

size_t secagg_longest(const struct secagg_terms *terms, int bits, uint32_t peers)
{
    const size_t keys = secagg_keys_bytes((terms->flags & SECAGG_MALICIOUS) != 0);
    const size_t each = 4 + (keys > SECAGG_SEALED_BYTES ? keys : SECAGG_SEALED_BYTES);
    const size_t lists = 4 + secagg_bitmap_bytes(peers + 1) + ((size_t)peers + 1) * each;
    const size_t input = 8 + (size_t)secagg_packed_bytes(terms->dimension, bits);
    return SECAGG_HEADER_BYTES + (lists > input ? lists : input) + SECAGG_COMMITMENT_BYTES +
           SECAGG_START_BYTES + SECAGG_TAG_BYTES;
}
