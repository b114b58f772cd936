/* SPDX-License-Identifier: Apache-2.0 */
/* gram_fixture.h - records, columns and training for the tests of private-gram. */
#ifndef PRIVATE_GRAM_FIXTURE_H
#define PRIVATE_GRAM_FIXTURE_H

#include <math.h>

#include "ease_state.h"
#include "gram_sum.h"
#include "kit/plain_random.h"
#include "kit/plain_scores.h"
#include "unit_rows.h"

#define USERS 120
#define ITEMS 40
#define WORKERS 3

extern const dpf_component *gram_component;
extern const dpf_recommender *gram_recommender;

/* ---- records --- */

struct data {
    uint8_t has[USERS][ITEMS];
    int64_t n_users, n_items, offsets[USERS + 1];
    int32_t items[USERS * ITEMS];
    dpf_interactions records;
};
extern struct data gram_data; /* of gram_open */

/* Users in the order given, all but the one that leaves (-1: nobody). */
void index_data(struct data *d, int64_t leaves, int backwards);

dpf_recommender_setup setup_of(const struct data *d);

const dpf_call *call_with(struct plain_host *host, int32_t workers, uint32_t draw);

/* ---- columns, plan and releases --- */

struct columns_case {
    int32_t column[ITEMS];
    double weight[ITEMS];
    struct gram_columns columns;
};

void make_columns(struct columns_case *c, int64_t every);

/* Rows with less of q, which has norm 1 and rises with the column; the call's scratch has the levels. */
void centre_columns(const dpf_call *call, struct columns_case *c, int32_t spared, double part,
                    struct row_centre *centre);

/* The user's row with a number for each column; those of the level where the user has no record. */
void whole_row(const struct gram_columns *columns, const struct data *d, int64_t user, int32_t *out);

/* A basis along which rows are projected, and the levels of a centre. */
struct along_case {
    double basis[ITEMS * ITEMS], levels[CENTRE_LEVELS * ITEMS];
    struct gram_directions along;
};

void fill_levels(struct along_case *a, const struct gram_columns *columns, int32_t d);

void make_along(struct along_case *a, const struct gram_columns *columns, int32_t d, double scale);

struct gram_plan plan_of(const struct data *d, int32_t form);

void stated(struct plain_host *host, const dpf_recommender_setup *setup, int32_t expected,
            dpf_recommender_release releases[GRAM_MOST_RELEASES]);

/* ---- training --- */

struct seen {
    double numbers[GRAM_MOST_RELEASES][ITEMS * ITEMS];
    int64_t n[GRAM_MOST_RELEASES];
    double noise; /* of the tail: squares, in units of its scale */
};

/* A trained state, to be freed; what left in *seen. */
void *fit_seen(struct plain_host *host, const struct data *d, int without_noise, uint32_t draw,
               struct seen *seen, uint64_t *used);

int gram_open(void **state);

int gram_close(void **state);

#endif
