/* SPDX-License-Identifier: Apache-2.0 */
/* moved_keys.h - keys of an old configuration that have another place now, where that place is beyond doubt. */
#ifndef DPF_CONFIG_MOVED_KEYS_H
#define DPF_CONFIG_MOVED_KEYS_H

#include "base/text.h"
#include "config/config_store.h"

struct moved_key {
    char section[CONFIG_FULL_MAX]; /* where it goes */
    const char *key, *value;
    long line;     /* of the file, where it stands */
    int is_placed; /* written, or there already */
};
struct moved_keys {
    struct moved_key *all;
    size_t n;
};

/*
 * The keys of the file that move. A key stays, for its author to decide, if the new place has another value, if several go to one
 * place and differ, or if the new place would hold for mechanisms that the old one was not a key of.
 */
void moved_find(struct moved_keys *moves, const struct config *config, const char *file);
/* Whether this line of the file moves. */
int moved_has(const struct moved_keys *moves, long line);
/* Adds what goes to the section, below its header; section NULL: all that has no place yet, in sections of their own. */
void moved_write(struct moved_keys *moves, const char *section, struct text *out);
void moved_free(struct moved_keys *moves);

#endif
