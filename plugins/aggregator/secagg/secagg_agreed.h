/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secagg_agreed.h - what two clients of a simulation agree on, computed once for both.
 *
 * A Diffie-Hellman secret is the same at both ends, so where one process plays all clients, the end that comes second takes it from
 * here. Clients of their own have no such table (NULL) and compute theirs. A table of open addresses by the two numbers; any worker may
 * read and write it.
 */
#ifndef SECAGG_AGREED_H
#define SECAGG_AGREED_H

#include <stdint.h>

struct secagg_agreed_slot {
    uint64_t pair;      /* both numbers; 0: free */
    uint8_t secret[32]; /* once it is there */
    uint8_t is_there;
};

struct secagg_agreed {
    struct secagg_agreed_slot *slots;
    uint64_t n; /* a power of two */
};

/* Slots for that many pairs, a power of two. */
uint64_t secagg_agreed_slots(uint64_t pairs);
/* Forgets everything; slots are zeroed before the first use. */
void secagg_agreed_clear(struct secagg_agreed *agreed);
/* 1 and the secret of a and b, or 0. agreed may be NULL. */
int secagg_agreed_find(const struct secagg_agreed *agreed, uint32_t a, uint32_t b, uint8_t secret[32]);
void secagg_agreed_keep(struct secagg_agreed *agreed, uint32_t a, uint32_t b, const uint8_t secret[32]);

#endif
