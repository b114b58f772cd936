/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drawn_run.h - what the commands check and run do with a drawing, in this process.
 *
 * All of it happens in a directory of the harness's own, in memory where the system has such a place.
 */
#ifndef DPF_TEST_DRAWN_RUN_H
#define DPF_TEST_DRAWN_RUN_H

#include "kit/draw_data.h"
#include "run/session.h"

/* What a harness works with. */
struct drawn {
    char directory[64];
    struct draw_random random;
    struct draw_keys keys;
    struct draw_bases bases;
    double seconds; /* DPFRAME_DRAW_SECONDS: how long; 0: a fixed number of drawings */
    int64_t count;  /* DPFRAME_DRAW_COUNT, or as the harness has it */
};
/* Environment: DPFRAME_BUILD_DIR, DPFRAME_SOURCE_DIR, DPFRAME_DRAW_SEED, _SECONDS, _COUNT. Prints what is wrong. */
int drawn_open(struct drawn *drawn, int64_t count);
void drawn_close(struct drawn *drawn);
/* Whether there is another drawing to be made, after n. */
int drawn_goes_on(const struct drawn *drawn, int64_t n);

/* Writes config.ini. */
int drawn_write(const struct drawn *drawn, const struct drawing *drawing);
/* What dpframe check does with config.ini: 0 if it accepts. The session is to be closed in any case. */
int drawn_check(const struct drawn *drawn, struct session *session, struct dpf_error *error);
/* What dpframe run does: its exit status. Results are in DIRECTORY/name. */
int drawn_train(const struct drawn *drawn, const char *name, struct dpf_error *error);
/* Removes DIRECTORY/name. */
void drawn_remove(const struct drawn *drawn, const char *name);

/*
 * Draws until check accepts: a base that has the least drawn key, up to `more` further keys, tiny data. What check
 * refuses by a drawn key is drawn again. 1, with the session open; 0: nothing was accepted.
 */
int drawn_accepted(struct drawn *drawn, struct drawing *drawing, struct draw_data *data, int more, int odd,
                   struct session *session);

/* Whether a message names a key: in its parts, or as [section] key. */
int drawn_names_key(const struct dpf_error *error);
/* Keys that no drawing was taken to its end with, one a line; returns how many. */
int drawn_print_keys(const struct drawn *drawn, int all);

#endif
