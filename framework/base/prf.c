/* SPDX-License-Identifier: Apache-2.0 */
#include "base/prf.h"

#include <sodium.h>
#include <string.h>

_Static_assert(sizeof((struct prf *)0)->key == RANDOM_KEY_BYTES, "a key of the purpose fits");
_Static_assert(sizeof((struct prf *)0)->key >= crypto_shorthash_KEYBYTES, "and holds one of SipHash");
_Static_assert(crypto_shorthash_BYTES == 8, "a value is 64 bits");

void prf_open(const struct random_root *root, const char *section, const char *purpose, struct prf *out)
{
    random_derive_key(root, "dpframe prf 1", section, purpose, out->key);
}

void prf_within(const struct prf *prf, const char *id, struct prf *out)
{
    crypto_generichash(out->key, sizeof out->key, (const uint8_t *)id, strlen(id), prf->key, sizeof prf->key);
}

uint64_t prf_value(const struct prf *prf, const char *id)
{
    uint8_t bytes[crypto_shorthash_BYTES];
    uint64_t value = 0;
    crypto_shorthash(bytes, (const uint8_t *)id, strlen(id), prf->key);
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}
