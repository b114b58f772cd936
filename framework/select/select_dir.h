/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_dir.h - the directory of a selection.
 *
 *     run.json, config.ini, release/     of the selected run; absent until a run is selected
 *     private/                           the private files of that run
 *     private/selection/selection.json   the number of runs drawn, their candidates, and the selected run
 *     private/selection/runs/NAME/       the results of a run, until it is published
 *     private/selection/state/NAME.json  the score of a run, written when it has ended
 *     private/selection/logs/NAME.txt    the output of a run
 *
 * Every write is atomic. The draws are written before anything runs, so --resume continues with the same draws: a
 * selection that is charged once happens once. A failed run stays failed for any reason: another attempt would be
 * another draw. A killed run is repeated, since nobody has seen it.
 */
#ifndef DPF_SELECT_SELECT_DIR_H
#define DPF_SELECT_SELECT_DIR_H

#include <stdint.h>

#include "base/error.h"

#define SELECT_NO_RUN (-1)  /* not decided yet */
#define SELECT_NOTHING (-2) /* there was no run, or none has a score */

struct select_dir {
    char *output; /* as it is shown */
    char *work;   /* private/selection of it */
    int lock;
};

/* Makes the directory ready, and locks it. One that holds anything is refused; one that holds a selection
   is, unless resume is set. */
int select_dir_open(const char *output, int resume, struct select_dir *out, struct dpf_error *error);
/* Closes it; a directory in which nothing was begun is removed. */
void select_dir_close(struct select_dir *dir);

/* The draws, and what came of them. */
struct select_state {
    char fingerprint[65]; /* of what they are made from */
    int64_t n_runs;
    int64_t *candidates; /* index of each run's */
    double *scores;      /* NaN: not over; -infinity: failed */
    int64_t selected;    /* index of a run, or SELECT_* */
};
void select_state_free(struct select_state *state);
/* 1: there is one, 0: none, -1: an error. Scores are those of the states of runs. */
int select_state_read(const struct select_dir *dir, struct select_state *out, struct dpf_error *error);
int select_state_write(const struct select_dir *dir, const struct select_state *state,
                       struct dpf_error *error);
/* Run i is over. */
int select_state_end(const struct select_dir *dir, struct select_state *state, int64_t i, double score,
                     double seconds, const char *problem, struct dpf_error *error);

/* "DIR/private/selection/PART/run-0007ENDING"; free it. */
char *select_path(const struct select_dir *dir, const char *part, int64_t run, const char *ending);

/* Moves the results of a run to where they are published. All files get the time of now; run.json comes last.
   To be repeated after a kill until it succeeds. */
int select_publish(const struct select_dir *dir, int64_t run, struct dpf_error *error);

#endif
