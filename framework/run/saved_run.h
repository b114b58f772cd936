/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saved_run.h - a model from the directory of a run: its configuration, its ids, and its factors or state.
 *
 * Records are read again only where they are asked for: what a user has seen must not be recommended, and some
 * recommenders score by it. Data that has changed since the run is refused.
 */
#ifndef DPF_RUN_SAVED_RUN_H
#define DPF_RUN_SAVED_RUN_H

#include "run/session.h"
#include "data/load_for_items.h"
#include "engine/model.h"
#include "run/model_files.h"

struct saved_run {
    struct session session;
    struct dataset dataset;
    struct model model;
    struct model_files files; /* that a component's form lies in */
    struct pool *pool;
    json_t *json; /* run.json */
    struct left_records left;
};

/* With the run's records, or those of one user, by id, for whom the others need not be read (split_file.h). Overrides
   and directories of plugins are the arguments'. On failure, too, saved_run_close must follow. */
int saved_run_open(const struct arguments *arguments, const char *directory, const char *user,
                   struct saved_run *out, struct dpf_error *error);
void saved_run_close(struct saved_run *run);
/*
 * Without records: a recommender's state, or the items' rows and, if rows_of_users, those of the users, by the ids that
 * the run has written. Users have no records then: whoever needs them calls saved_run_open.
 */
int saved_run_open_model(const struct arguments *arguments, const char *directory, int rows_of_users,
                         struct saved_run *out, struct dpf_error *error);
/* Whether a bound holds for what the run released itself, and not for its plan alone. */
int saved_run_is_proved(const struct saved_run *run);
/* Whether the users of that run have rows, which tell all that the model needs to know of them. */
int saved_run_has_rows(const char *directory);
/*
 * A recommender's state and its items from release/ alone, without users: no records are read, so that
 * whatever is made of it is as public as the release. Fails where the state or the list of items is not
 * released.
 */
int saved_run_open_released(const struct arguments *arguments, const char *directory, struct saved_run *out,
                            struct dpf_error *error);
/*
 * The same for the records of another file, which is read as [data] of the run says, with the run's items and
 * the file's users: their rows are solved again, at home, for the items' saved rows; nothing is trained. The
 * run's own data is not read. Fails where users' rows are not solved from their own records alone.
 */
int saved_run_open_for(const struct arguments *arguments, const char *directory, const char *data,
                       struct saved_run *out, struct dpf_error *error);

#endif
