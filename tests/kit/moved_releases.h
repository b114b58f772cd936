/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moved_releases.h - how far the releases of a pipeline move between two neighbouring data sets, with noise
 * switched off, against what its ledger states; and whether both runs complete.
 *
 * An observer looks on (seen/seen.h). It rounds what each party adds to the grid and writes it down, and releases
 * numbers that depend on where they stand alone: an adversary's choice of all earlier releases, the same for both
 * neighbours.
 *
 * Include after cmocka.
 */
#ifndef DPF_TEST_MOVED_RELEASES_H
#define DPF_TEST_MOVED_RELEASES_H

#include "dpframe/accounting.h"
#include "kit/random_pipeline.h"
#include "kit/plain_host.h"
#include "plan/release.h"
#include "plan/plan_make.h"
#include "seen/seen.h"

#define USERS PIPELINE_USERS
#define ITEMS PIPELINE_ITEMS

/* ---- what is sent ------------------------------------------------------------------------------------- */

#define MAX_CELLS 8192
#define MAX_WIDTH 48
#define MAX_TERMS 2

/* A row of one message, or of their sum where that is all that is seen. */
struct cell {
    int term, round, gram;
    uint32_t draw;
    int64_t party, row;
    int64_t messages; /* that have the row */
    int64_t sent[MAX_WIDTH];
};

/* A training, who looks on, and what is seen. */
struct world {
    struct training training;
    int n;
    struct cell *cells;
    const struct term_plan *terms[MAX_TERMS]; /* with noise */
    int by_message[MAX_TERMS];
    int n_terms;
    double size; /* of what is released */
};

/* The ids of users: anyone may leave, from the front, the middle or the end of their order, which has
   integers and texts. The last one never changes. */
extern const char *const names[USERS + 1];
#define CONSTANT USERS

/* Users are told apart by their ids: indices move when one of them leaves. */
int64_t user_id(const struct world *world, int64_t index);

struct cell *cell_of(struct world *world, const struct cell *key);

dpf_status see_part(struct world *by, const struct seen *seen);

/* A number in (-1, 1), by place. */
double arbitrary(uint64_t a, uint64_t b, uint64_t c);

dpf_status look(void *context, const struct seen *seen);

/* ---- neighbours --------------------------------------------------------------------------------------- */

/* Under add-remove the user is in neither part of the second data set. Else the list of users is public: who has no
   records stays in the catalogue of users. */
int user_leaves(const struct pipeline *p);

/* Keys that are set last: of splits and weights that are drawn, "" for those of files. */
extern char keyed[512];
/* Whether the list of items comes from a catalogue; and who has rated what is not in it, or -1. */
extern int catalogued, stranger;

/*
 * The training part, and a test part of one more item that everybody has rated: so users and items without
 * training records exist. Without a catalogue the test part has all pairs that are not in the other, so that
 * the list of items stays as it is; with one, items may come and go. `absent` is in neither part, or -1.
 */
void write_ratings(int ratings[USERS][ITEMS], int absent);

/* Trains. 0, or -1 if the pipeline is refused or breaks down. */
int train(struct world *world, const struct pipeline *p, double size);

/* ---- comparison --------------------------------------------------------------------------------------- */

/* By how much one release of a term moved, in each block and then in each block of the Gram row. */
struct moved {
    int round;
    uint32_t draw;
    dpf_norms blocks[2 * DPF_MAX_BLOCKS];
    int64_t coordinates; /* that are not the same */
};

struct moved *release_of(struct moved *list, int *n, const struct cell *cell);

#define MAX_RUN 16 /* rounds of correlated noise */

/* The move of a whole run: of C times the sums of all rounds, which is what is released. */
int compare_runs(struct world *a, struct world *b, int t, struct moved *out);

int compare_releases(struct world *a, struct world *b, int t, struct moved *out);

/* What an accountant takes an event to move by; -1: it proves nothing about it. */
double charged(const struct plan *plan, const dpf_event *event);

/* The largest part of what is stated that a release of the term used; above 1 the ledger is wrong. */
double part_used(const struct plan *plan, const struct term_plan *term, const struct moved *moved);

void compare(const struct pipeline *p, struct world *a, struct world *b, double *most);

extern struct world worlds[2];

/* ---- a pair ------------------------------------------------------------------------------------------- */

enum outcome { REFUSED, UNPROVED, BROKEN, COMPARED };

/*
 * Trains with the ratings of both neighbours and compares. absent: the user who is not in the second one, or
 * -1; strange: who has rated what is in no catalogue, in the first one, or -1. most is raised to the largest
 * part of what is stated that a release used. Both see the same releases, so both complete or neither does,
 * where completion is promised.
 */
enum outcome measure_pair(const struct pipeline *p, int ratings[2][USERS][ITEMS], int absent, int strange,
                          double size, double *most);

void use_catalogue(struct pipeline *p, int yes);

void forget_pair(void);

int worlds_begin(void **state);

int worlds_end(void **state);

void write_weights(void);

#endif
