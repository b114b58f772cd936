/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secagg_graph.h - who shares masks with whom, and how many neighbours are enough.
 *
 * Instead of all pairs, each client shares masks with k others: a Harary graph (neighbours on a ring, k/2
 * to each side) over a random order (Bell et al., CCS 2020, section 3). k and the threshold follow from
 * what fraction of the clients may be corrupt and what fraction may get lost.
 */
#ifndef SECAGG_GRAPH_H
#define SECAGG_GRAPH_H

#include <stdint.h>

#include "secagg_mask.h"

#define SECAGG_SECURITY_BITS 40 /* an attack succeeds with probability 2^-40 at most */
#define SECAGG_FAILURE_BITS 20  /* a round fails with probability 2^-20 at most */

struct secagg_graph {
    uint32_t degree;
    uint32_t threshold;
};

/*
 * The least even degree, and the least threshold for it, of n clients. guarded: the server may answer
 * different clients differently. 0, or -1 if no degree below n - 1 is enough.
 */
int secagg_graph_choose(uint32_t n, double corrupt, double lost, int guarded, struct secagg_graph *out);

/*
 * The neighbours of client i, ascending, at neighbours[i * degree]. degree is even and below n. order
 * is room for n numbers.
 */
void secagg_graph_draw(struct secagg_source *source, uint32_t n, uint32_t degree, uint32_t *order,
                       uint32_t *neighbours);

#endif
