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
    struct draw_bases bases, kept; /* of the tree; drawings that were taken to their end */
    int target;                    /* the key that the present drawing is about */
    double seconds;                /* DPFRAME_DRAW_SECONDS: how long; 0: a fixed number of drawings */
    int64_t count;                 /* DPFRAME_DRAW_COUNT, or as the harness has it */
    int first_only;                /* DPFRAME_DRAW_FIRST: the harness stops at the first fault */
    int64_t refused, unnamed;      /* drawings that check has refused; without naming a key */
};
/* Environment: DPFRAME_BUILD_DIR, DPFRAME_SOURCE_DIR, DPFRAME_DRAW_SEED, _SECONDS, _COUNT, _FIRST. Prints what is wrong. */
int drawn_open(struct drawn *drawn, int64_t count);
void drawn_close(struct drawn *drawn);
/* Whether there is another drawing to be made, after n. */
int drawn_goes_on(const struct drawn *drawn, int64_t n);

/* Writes config.ini. */
int drawn_write(const struct drawn *drawn, const struct drawing *drawing);
int drawn_write_text(const struct drawn *drawn, const char *text);
/* Opens config.ini; the session is to be closed in any case. */
int drawn_session(const struct drawn *drawn, struct session *session, struct dpf_error *error);
/* What dpframe check does with config.ini: 0 if it accepts. The session is to be closed in any case. */
int drawn_check(const struct drawn *drawn, struct session *session, struct dpf_error *error);
/* What dpframe run does: its exit status. Results are in DIRECTORY/name. */
int drawn_train(const struct drawn *drawn, const char *name, struct dpf_error *error);
/* Removes DIRECTORY/name. */
void drawn_remove(const struct drawn *drawn, const char *name);

/* A base, or a drawing that was kept, with the least drawn key and up to `more` further ones; 0: there is none. */
int drawn_begin(struct drawn *drawn, struct drawing *base, int more);
/* Sets what a refusal asks for in so many words; 0: nothing that is known. */
int drawn_follow(struct drawing *drawing, const struct draw_keys *keys, const struct dpf_error *error);
/*
 * Changes what a refusal is about: sets what it asks for, or takes back a drawn setting, or one of the base that it
 * names; the key that the drawing is about gets another value. 0: nothing is left to change.
 */
int drawn_mend(struct drawn *drawn, struct drawing *drawing, const struct dpf_error *error);
/* The drawing was taken to its end: its keys are counted, and further drawings may begin with it. */
void drawn_done(struct drawn *drawn, const struct drawing *drawing);
/*
 * Draws until check accepts: a base that has the least drawn key, up to `more` further keys, tiny data. What check
 * refuses by a drawn key is drawn again. 1, with the session open; 0: nothing was accepted.
 */
int drawn_accepted(struct drawn *drawn, struct drawing *drawing, struct draw_data *data, int more,
                   struct session *session);

/* The same until something is proved; what a failed condition names is set, or taken back. */
int drawn_proved(struct drawn *drawn, struct drawing *drawing, int more, struct session *session);

/* Whether a message names a key: in its parts, as [section] key, or as section.key. */
int drawn_names_key(const struct drawn *drawn, const struct dpf_error *error);
/* The time of day. Valid until the next call. */
const char *drawn_time(void);
/* How many keys, of those that are drawn, fewer than `least` drawings were taken to their end with. */
int drawn_count_below(const struct drawn *drawn, int64_t least);
/* How many keys have not been taken to an end, and may be yet (draw_is_missing). */
int drawn_count_missing(const struct drawn *drawn);
/* Keys that fewer than `least` drawings were taken to their end with, one a line, or all; returns how many. */
int drawn_print_keys(const struct drawn *drawn, int64_t least, int all);

#endif
