/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.h - a party: the records of one user, and the server's address.
 *
 * Before anything that is made from records leaves, it has shown and stored its statement, judged it by
 * [consent], agreed with the server on what is run, and charged its own ledger. A round is answered once: the
 * number of the next one is on the disk before the first answer leaves.
 */
#ifndef DPF_FEDERATION_JOIN_H
#define DPF_FEDERATION_JOIN_H

#include "run/arguments.h"

/* arguments->data: the party's file, or NULL: [data] path; arguments->user: its id, or NULL: the only one
 * there. */
int federation_join(const struct arguments *arguments, const char *address, int insecure,
                    struct dpf_error *error);

#endif
