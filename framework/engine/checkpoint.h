/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.h - a training's state between two rounds, in a file: what the next round reads, and no key.
 *
 * The file is written before each round, with mode 0600, synced, and put in the place of the one before. It
 * holds private rows. It says "this round has begun": whoever finds it after an interruption has to take the
 * round for one that somebody may have seen, and to count it once more (plan/repeat.h). Keys of noise and of
 * private sampling are not in it: a training that goes on draws with those of its own process, so secure
 * noise of the second attempt is independent of that of the first. With reproducible randomness both attempts
 * are the same bytes. A draw that departs from the plan is noted in the file before anything is sent that was
 * made with it: the second attempt would not tell of it.
 *
 *     arrays        rows of factors, states of solvers, participations, one after the other
 *     head          JSON: the round, the process, what the state belongs to, each array's place and hashes, and
 *                   what a server keeps of its parties
 *     trailer       "dpfckpt1", the head's length (8 bytes, little-endian), its SHA-256 (32 bytes)
 *
 * Each rank writes its own rows, and any number of ranks can read them.
 */
#ifndef DPF_ENGINE_CHECKPOINT_H
#define DPF_ENGINE_CHECKPOINT_H

#include <jansson.h>

#include "base/error.h"

struct engine;

#define CHECKPOINT_ID 33 /* 32 hexadecimal digits */

struct checkpoint {
    char path[4096];        /* on all ranks */
    char id[CHECKPOINT_ID]; /* of this process, in all files that it writes; rank 0 */
    json_t *binding;        /* rank 0: what the state belongs to */
    json_t *server;  /* what a server keeps of its parties, written into each file; NULL: not a server */
    int resumes;     /* a file was found: the training goes on from it */
    json_t *head;    /* of that file, on rank 0 */
    int64_t round;   /* to be made next; where the rounds are over, as it was when they ended */
    int64_t done;    /* rounds that were made */
    int over;        /* the run has ended its rounds */
    int64_t repeats; /* rounds that had begun and were not ended, so far */
    int keeps_end;   /* whether the state after the last round is kept, too */
    /* Of each round made, for the curator: room for all of them; NULL: none. */
    double *trace;
    int64_t *n_trace;
};

/* Rank 0: whether a file is there, whatever is in it. */
int checkpoint_exists(const char *path);
/* Draws the id of this process. */
void checkpoint_name(struct checkpoint *checkpoint);
/* Reads the head, with all that can be said without the arrays: mode, owner, completeness. All ranks have
   round, over and repeats afterwards, rank 0 alone the head. Faults: DPF_FAULT_RUN. */
int checkpoint_find(struct checkpoint *checkpoint, struct dpf_error *error);
/* The engine's state becomes that of the file that was found. All hashes are compared first. */
int checkpoint_restore(const struct checkpoint *checkpoint, struct engine *engine, struct dpf_error *error);
/* Before engine->round, or after the last (over). On the disk when it returns. */
int checkpoint_write(const struct checkpoint *checkpoint, struct engine *engine, int over,
                     struct dpf_error *error);
/*
 * Rank 0: puts a file with the same arrays, in whose head key has another value, in the place of the one that
 * is there. On the disk when it returns. Uses up the value.
 */
int checkpoint_amend(const struct checkpoint *checkpoint, const char *key, json_t *value,
                     struct dpf_error *error);
void checkpoint_free(struct checkpoint *checkpoint);

#endif
