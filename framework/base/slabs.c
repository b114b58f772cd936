/* SPDX-License-Identifier: Apache-2.0 */
#include "base/slabs.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"

#define SLAB ((size_t)1 << 23)

struct slab {
    atomic_size_t arrays; /* not given back, and one more while it is open */
    size_t used, bytes;
    char *data;
};

static struct slab *open_slab(size_t bytes)
{
    struct slab *slab = memory_new(1, sizeof *slab);
    if (!slab)
        return NULL;
    slab->data = memory_large(bytes, 1);
    slab->bytes = bytes;
    atomic_init(&slab->arrays, 1);
    if (slab->data)
        return slab;
    free(slab);
    return NULL;
}

void slab_put(struct slab *slab)
{
    if (!slab || atomic_fetch_sub(&slab->arrays, 1) > 1)
        return;
    free(slab->data);
    free(slab);
}

void slabs_close(struct slabs *slabs)
{
    slab_put(slabs->open);
    slabs->open = NULL;
}

void *slabs_take(struct slabs *slabs, size_t count, size_t size, struct slab **of)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - 64)
        return NULL;
    bytes = bytes == 0 ? 64 : (bytes + 63) / 64 * 64;
    if (!slabs->open || slabs->open->bytes - slabs->open->used < bytes) {
        /* The first array of a small file is its last one, too. */
        const size_t room = slabs->open && bytes < SLAB ? SLAB : bytes;
        slabs_close(slabs);
        slabs->open = open_slab(room);
        if (!slabs->open)
            return NULL;
    }
    struct slab *slab = slabs->open;
    void *array = slab->data + slab->used;
    slab->used += bytes;
    atomic_fetch_add(&slab->arrays, 1);
    *of = slab;
    return array;
}
