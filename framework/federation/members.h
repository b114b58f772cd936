/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members.h - who the parties of a run are: the users of the catalogue, or the sites that [federation] parties
 * names, and their Ed25519 keys where these are known beforehand.
 *
 * A line of the file is "NAME" or "NAME KEY". KEY is the line between BEGIN and END of what
 * "openssl pkey -pubout" writes.
 */
#ifndef DPF_FEDERATION_MEMBERS_H
#define DPF_FEDERATION_MEMBERS_H

#include <stdint.h>

#include "dataset/dataset.h"
#include "plan/plan.h"

#define MEMBER_KEY_BYTES 32
#define MEMBER_SECRET_BYTES 64

struct members {
    const struct id_map *users; /* NULL: sites, with names of their own */
    char **names;
    int64_t n;
    uint8_t *keys; /* MEMBER_KEY_BYTES of each, or NULL */
};

/* path: the file, or "". Free it with members_free, on failure too. */
int members_read(struct members *members, const struct plan *plan, const struct dataset *dataset,
                 const char *path, struct dpf_error *error);
void members_free(struct members *members);
const char *members_name(const struct members *members, int64_t party);
int64_t members_find(const struct members *members, const char *name); /* -1 */
/* A party's own secret key from a PEM file of "openssl genpkey -algorithm ed25519", which has to fit the list. */
int members_read_secret(const struct members *members, int64_t party, const char *path,
                        uint8_t secret[MEMBER_SECRET_BYTES], struct dpf_error *error);

#endif
