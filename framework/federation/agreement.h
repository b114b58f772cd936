/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agreement.h - what both ends of a run must have alike, as one digest: the resolved configuration but for
 * what is each end's own, the components and their versions, the lists of users, items and parties, with their keys, and
 * the program's version. It is shown to people, compared when a party joins, and a part of every key of a round.
 */
#ifndef DPF_FEDERATION_AGREEMENT_H
#define DPF_FEDERATION_AGREEMENT_H

#include <stdint.h>

#include "dataset/dataset.h"
#include "engine/remote.h"
#include "federation/members.h"
#include "plan/plan.h"

struct agreement {
    uint8_t digest[32];
    char hex[65];
    int insecure; /* --insecure-test: noise that can be reproduced */
};

int agreement_make(const struct plan *plan, const struct dataset *dataset, const struct members *members,
                   int insecure, struct agreement *out, struct dpf_error *error);
/* The digest for one round, whose rows are those that messages are made from. */
void agreement_of_round(const struct agreement *agreement, const uint8_t session[16], uint64_t round,
                        const struct remote_rows *rows, uint8_t digest[32]);

#endif
