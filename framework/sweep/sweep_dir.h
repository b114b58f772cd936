/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_dir.h - the directory of a sweep.
 *
 *     sweep.json          the design and the list of points
 *     configs/NAME.ini    the resolved configuration of a point, to run it alone
 *     points/NAME/        its results
 *     state/NAME.json     written when the point has ended: its end, and a fingerprint of its inputs
 *     logs/NAME.txt       its output
 *     claims/NAME/        of a prepared sweep: which process runs the point, see point_claim.h
 *
 * A point counts as done if its state says so, the fingerprint is that of the present inputs, and the results
 * are unchanged. Every write is atomic, so a kill at any moment loses only the points that are running.
 */
#ifndef DPF_SWEEP_SWEEP_DIR_H
#define DPF_SWEEP_SWEEP_DIR_H

#include <jansson.h>

#include "sweep/points.h"

/* Path of a part of the sweep, from malloc: store_path(dir, "state", name, ".json"). */
char *store_path(const char *directory, const char *part, const char *name, const char *ending);

enum store_use {
    STORE_NEW,    /* a sweep that is there is refused */
    STORE_RESUME, /* a sweep that is there is gone on with, unless it was prepared */
    STORE_PREPARE /* to be run point by point: whatever sweep is there is kept */
};
/* Makes the directory ready. One that holds anything but a sweep is refused. */
int store_prepare(const char *directory, enum store_use use, struct dpf_error *error);
/* Removes temporary files of killed writes. The caller has locked the directory. */
void store_clean(const char *directory);
/* Takes a new sweep away again of which no point can be run; the directory itself, too, if it was made for it. */
void store_abandon(const char *directory, int made);
/* Writes sweep.json and makes the parts. privacy_keys: names of keys that affect the guarantee, as a JSON
 * object; together: what its folds release together (together.h), or NULL as long as that is not known; config: the
 * path; fingerprints: of a prepared sweep, by the names of points, else NULL. */
int store_write_design(const char *directory, const char *config, const struct design *design,
                       const struct points *points, const json_t *privacy_keys, const json_t *together,
                       const json_t *fingerprints, struct dpf_error *error);
/* The fingerprints of a prepared sweep; json_decref it. NULL: there is none, or it was not prepared. */
json_t *store_fingerprints(const char *directory);
/* Makes what other machines have written to states visible, where an NFS client remembers that a file is not
 * there. */
void store_refresh(const char *directory, const char *name);

struct state {
    const char *status; /* "done" or "failed" */
    const char *fingerprint;
    const char *error;
    double seconds;
};
int store_write_state(const char *directory, const char *name, const struct state *state,
                      struct dpf_error *error);
void store_remove_state(const char *directory, const char *name);
/* 1 if the point is done with that fingerprint and its results are untouched. */
int store_is_done(const char *directory, const char *name, const char *fingerprint);

#endif
