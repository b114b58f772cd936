/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agreement.h - what both ends of a run must have alike (run/alike.h), and its digest: the resolved configuration but for
 * what is each end's own, the components and their versions, the lists of users, items and parties, with their keys, and
 * the program's version. The digest is shown to people, compared when a party joins, and a part of every key of a
 * round. A party whose digest differs is told the list: it holds nothing but what every party must have.
 */
#ifndef DPF_FEDERATION_AGREEMENT_H
#define DPF_FEDERATION_AGREEMENT_H

#include <jansson.h>
#include <stdint.h>

#include "dataset/dataset.h"
#include "engine/remote.h"
#include "federation/members.h"
#include "plan/plan.h"
#include "run/alike.h"

struct agreement {
    json_t *list;
    uint8_t digest[32];
    char hex[65];
    int insecure; /* --insecure-test: noise that can be reproduced */
};

/* Free it, on failure too. */
int agreement_make(const struct plan *plan, const struct dataset *dataset, const struct members *members,
                   int insecure, struct agreement *out, struct dpf_error *error);
void agreement_free(struct agreement *agreement);
/* The list as text, to be freed; NULL: out of memory. */
char *agreement_text(const struct agreement *agreement);
/* What the other end has otherwise, from such a text. 1: found. */
int agreement_differ(const struct agreement *agreement, const uint8_t *text, size_t n,
                     struct alike_difference *out);
/* The digest for one attempt at a round: repeats counts those that the server has begun again so far, and rows are
   those that messages are made from. */
void agreement_of_round(const struct agreement *agreement, const uint8_t session[16], uint64_t round,
                        uint32_t repeats, const struct remote_rows *rows, uint8_t digest[32]);

#endif
