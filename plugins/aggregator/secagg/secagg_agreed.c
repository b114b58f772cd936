/* SPDX-License-Identifier: Apache-2.0 */
#include "secagg_agreed.h"

#include <sodium.h>
#include <string.h>

uint64_t secagg_agreed_slots(uint64_t pairs)
{
    uint64_t n = 16;
    while (n < 2 * pairs)
        n *= 2;
    return n;
}

void secagg_agreed_clear(struct secagg_agreed *agreed)
{
    sodium_memzero(agreed->slots, (size_t)agreed->n * sizeof *agreed->slots);
}

/* Ids are below 2^32 and differ, so this is never 0. */
static uint64_t pair_of(uint32_t a, uint32_t b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static uint64_t start_of(const struct secagg_agreed *agreed, uint64_t pair)
{
    return (pair * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (agreed->n - 1);
}

int secagg_agreed_find(const struct secagg_agreed *agreed, uint32_t a, uint32_t b, uint8_t secret[32])
{
    if (!agreed)
        return 0;
    const uint64_t pair = pair_of(a, b);
    for (uint64_t at = start_of(agreed, pair);; at = (at + 1) & (agreed->n - 1)) {
        const struct secagg_agreed_slot *slot = &agreed->slots[at];
        const uint64_t there = __atomic_load_n(&slot->pair, __ATOMIC_RELAXED);
        if (there == 0 || (there == pair && !__atomic_load_n(&slot->is_there, __ATOMIC_ACQUIRE)))
            return 0;
        if (there == pair) {
            memcpy(secret, slot->secret, sizeof slot->secret);
            return 1;
        }
    }
}

void secagg_agreed_keep(struct secagg_agreed *agreed, uint32_t a, uint32_t b, const uint8_t secret[32])
{
    if (!agreed)
        return;
    const uint64_t pair = pair_of(a, b);
    for (uint64_t at = start_of(agreed, pair), tried = 0; tried < agreed->n;
         at = (at + 1) & (agreed->n - 1), tried++) {
        struct secagg_agreed_slot *slot = &agreed->slots[at];
        uint64_t there = 0;
        if (__atomic_compare_exchange_n(&slot->pair, &there, pair, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            memcpy(slot->secret, secret, sizeof slot->secret);
            __atomic_store_n(&slot->is_there, 1, __ATOMIC_RELEASE);
            return;
        }
        if (there == pair) /* the other end is there, or about to be */
            return;
    }
}
