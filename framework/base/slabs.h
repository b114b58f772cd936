/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slabs.h - many arrays that are made one after the other and given back nearly together, in few large blocks.
 *
 * Blocks are of 8 MB, of pages of 2 MB where the system has them: arrays of some 100 KB each, made by malloc, cost more
 * in page faults than in what is written to them. A block is freed with the last of its arrays.
 */
#ifndef DPF_BASE_SLABS_H
#define DPF_BASE_SLABS_H

#include <stddef.h>

struct slab;
/* One thread's; zeroed: none yet. */
struct slabs {
    struct slab *open; /* arrays are taken from it while there is room */
};

/* An array at a multiple of 64 bytes, not zeroed, and the block to give back, once for each array. NULL if memory runs
   out. */
void *slabs_take(struct slabs *slabs, size_t count, size_t size, struct slab **of);
/* No array is taken any more; those that were stay. */
void slabs_close(struct slabs *slabs);
/* Any thread may give back. NULL: nothing. */
void slab_put(struct slab *slab);

#endif
