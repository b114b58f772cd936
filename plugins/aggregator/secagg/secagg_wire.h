/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secagg_wire.h - the bytes of the protocol's messages.
 *
 * Every message is a header of 28 bytes, a body and, but for START, an authenticator of 16 bytes: keyed
 * BLAKE2b of all before it, under the key of the channel between the client and the server. All numbers
 * are little-endian.
 *
 *   version 1, kind 1, zero 2, sender 4 (SECAGG_SERVER: the server), session 16, length of the body 4
 *
 *   server to client                                  client to server
 *   START       the terms of a round                  KEYS      two X25519 keys [, signature]
 *   ROSTER      the peers' keys                       SHARES    an encrypted pair of shares for each peer
 *   DELIVERY    the peers' encrypted shares           INPUT     the masked vector, packed
 *   SURVIVORS   whose input is in the sum             CONSENT   signature of that list (malicious server)
 *   SIGNATURES  everybody's consent (ditto)           UNMASK    one share for each member
 *
 * Members of a neighbourhood, the client itself included, are in the order of their ids; bitmaps and
 * lists without ids follow that order. A decoder accepts exactly the bytes that the encoder makes: no
 * trailing bytes, no unsorted ids, no set padding bits.
 */
#ifndef SECAGG_WIRE_H
#define SECAGG_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define SECAGG_VERSION 1
#define SECAGG_SERVER UINT32_C(0xffffffff)
#define SECAGG_HEADER_BYTES 28
#define SECAGG_SESSION_BYTES 16
#define SECAGG_KEY_BYTES 32
#define SECAGG_SIGNATURE_BYTES 64
#define SECAGG_SEALED_BYTES 80 /* two shares and the authenticator */
#define SECAGG_COMMITMENT_BYTES 32
#define SECAGG_START_BYTES 92
#define SECAGG_TAG_BYTES 16
#define SECAGG_MAX_MEMBERS (UINT32_C(1) << 20)
#define SECAGG_MAX_DIMENSION (UINT32_C(1) << 28)

enum secagg_kind {
    SECAGG_START = 1,
    SECAGG_KEYS,
    SECAGG_ROSTER,
    SECAGG_SHARES,
    SECAGG_DELIVERY,
    SECAGG_INPUT,
    SECAGG_SURVIVORS,
    SECAGG_CONSENT,
    SECAGG_SIGNATURES,
    SECAGG_UNMASK,
    SECAGG_N_KINDS
};

enum secagg_status {
    SECAGG_OK,
    SECAGG_MALFORMED,    /* not the bytes of any message */
    SECAGG_FOREIGN,      /* of another session, or from somebody who does not belong here */
    SECAGG_OUT_OF_ORDER, /* repeated, or of another phase */
    SECAGG_FORGED,       /* an authenticator, a signature or a key is wrong */
    SECAGG_LIED,         /* a secret that shares make is not the one that its owner committed to */
    SECAGG_TOO_FEW,      /* fewer members than the threshold */
    SECAGG_BAD_TERMS,    /* terms that the client does not accept */
    SECAGG_REUSED,       /* a round that the client took part in already */
    SECAGG_NO_ROOM,      /* the caller's buffer is too small */
};

/* What START says. modulus 0 stands for 2^64. */
#define SECAGG_MALICIOUS UINT32_C(1) /* signatures and the round of consent */
struct secagg_terms {
    uint8_t session[SECAGG_SESSION_BYTES];
    uint64_t round;
    uint8_t context[32]; /* digest of what the inputs are made from */
    uint64_t modulus;
    uint32_t dimension;
    uint32_t threshold;
    uint32_t flags;
    uint8_t server_public[SECAGG_KEY_BYTES]; /* X25519: of the channels to the clients */
};

struct secagg_header {
    enum secagg_kind kind;
    uint32_t sender;
    const uint8_t *session;
    const uint8_t *body;
    size_t size; /* of the body */
    const uint8_t *message;
    const uint8_t *tag; /* behind the body; START has none */
};

/* A message under construction: header space is kept free until secagg_write_end. */
struct secagg_writer {
    uint8_t *bytes;
    size_t size;
    size_t capacity;
    int full;
};

const char *secagg_status_text(enum secagg_status status);
const char *secagg_kind_name(enum secagg_kind kind);

uint32_t secagg_get32(const uint8_t *bytes);
uint64_t secagg_get64(const uint8_t *bytes);
void secagg_put32(uint8_t *bytes, uint32_t x);
void secagg_put64(uint8_t *bytes, uint64_t x);

void secagg_write_begin(struct secagg_writer *writer, uint8_t *bytes, size_t capacity);
void secagg_write(struct secagg_writer *writer, const void *bytes, size_t n);
void secagg_write32(struct secagg_writer *writer, uint32_t x);
/* n zero bytes to be filled in, or NULL if they do not fit. */
uint8_t *secagg_write_space(struct secagg_writer *writer, size_t n);
/* channel: the key to authenticate with; NULL for START. */
enum secagg_status secagg_write_end(struct secagg_writer *writer, enum secagg_kind kind, uint32_t sender,
                                    const uint8_t session[SECAGG_SESSION_BYTES], const uint8_t *channel,
                                    size_t *size);
/* SECAGG_OK, or SECAGG_FORGED if the message was not made with this key. */
enum secagg_status secagg_check_tag(const struct secagg_header *header, const uint8_t channel[32]);

/* Checks version, kind, direction and length. Views live as long as the message. */
enum secagg_status secagg_read_header(const uint8_t *message, size_t size, struct secagg_header *out);

enum secagg_status secagg_write_start(const struct secagg_terms *terms, uint8_t *bytes, size_t capacity,
                                      size_t *size);
enum secagg_status secagg_read_start(const struct secagg_header *header, struct secagg_terms *out);

/* Keys of one client: X25519 for masks, X25519 for shares, a signature if signed_. */
enum secagg_status secagg_read_keys(const struct secagg_header *header, int signed_);
static inline size_t secagg_keys_bytes(int signed_)
{
    return 2 * SECAGG_KEY_BYTES + (signed_ ? SECAGG_SIGNATURE_BYTES : 0);
}

/* count entries of `each` bytes that begin with an id: ascending, without `self`. */
struct secagg_entries {
    uint32_t count;
    size_t each;
    const uint8_t *bytes;
};
enum secagg_status secagg_read_entries(const struct secagg_header *header, size_t payload, uint32_t self,
                                       struct secagg_entries *out);
static inline const uint8_t *secagg_entry(const struct secagg_entries *entries, uint32_t i)
{
    return entries->bytes + (size_t)i * entries->each;
}

/* SHARES: count sealed shares, then the commitment to the self mask. */
enum secagg_status secagg_read_shares(const struct secagg_header *header, uint32_t count,
                                      const uint8_t **items, const uint8_t **commitment);
/* count items of `each` bytes without ids: UNMASK. */
enum secagg_status secagg_read_items(const struct secagg_header *header, uint32_t count, size_t each,
                                     const uint8_t **items);

/* A bitmap over count members: SURVIVORS; and the sealed shares of those set: DELIVERY. */
enum secagg_status secagg_read_bitmap(const struct secagg_header *header, uint32_t count, size_t each,
                                      const uint8_t **bitmap, const uint8_t **items);
static inline size_t secagg_bitmap_bytes(uint32_t count)
{
    return ((size_t)count + 7) / 8;
}
static inline int secagg_bit(const uint8_t *bitmap, uint32_t i)
{
    return bitmap[i / 8] >> (i % 8) & 1;
}

/* INPUT: dimension numbers of `bits` bits, packed from the lowest bit of the first byte on. */
enum secagg_status secagg_read_input(const struct secagg_header *header, uint32_t dimension, int bits,
                                     const uint8_t **packed);
static inline uint64_t secagg_packed_bytes(uint64_t n, int bits)
{
    return (n * (uint64_t)bits + 7) / 8;
}
/* The numbers must be below 2^bits. */
void secagg_pack(const uint64_t *numbers, uint64_t n, int bits, uint8_t *out);
void secagg_unpack(const uint8_t *packed, uint64_t n, int bits, uint64_t *out);

/* Bytes of the longest message between a server and a client with that many peers. */
size_t secagg_longest(const struct secagg_terms *terms, int bits, uint32_t peers);

#endif
