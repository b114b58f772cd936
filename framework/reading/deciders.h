/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deciders.h - the functions of the table of input_facts.c, by subject.
 *
 * decide_X says who decides X in a configuration, lost_X what is the case where nobody may and what to set, say_X what
 * the statement says is public then. All read keys alone.
 */
#ifndef DPF_READING_DECIDERS_H
#define DPF_READING_DECIDERS_H

#include <string.h>

#include "dpframe/privacy.h"
#include "reading/data_options.h"
#include "reading/data_params.h"
#include "reading/fact_question.h"

typedef const struct fact_question asked;

static inline const dpf_value *data_of(asked *q, int index)
{
    return &q->data->params.values[index];
}

static inline int is_set(asked *q, int index)
{
    const char *text = data_of(q, index)->text;
    return text && *text;
}

static inline int is_generated(asked *q)
{
    return data_of(q, D_FORMAT)->integer == FORMAT_SYNTHETIC;
}

static inline int has_no(asked *q, int column)
{
    return strcmp(data_of(q, column)->text, "none") == 0;
}

/* Whether it is to be hidden that a user takes part at all. */
static inline int hides_users(asked *q)
{
    return q->promise.unit == DPF_UNIT_USER && q->promise.adjacency == DPF_ADJ_ADD_REMOVE;
}

/* decide_files.c: the form of files, and records */
enum decider decide_files(asked *q);
enum decider decide_public_files(asked *q);
const char *lost_public_files(asked *q);
enum decider decide_header(asked *q);
const char *lost_header(asked *q);
enum decider decide_fields(asked *q);
const char *lost_fields(asked *q);
enum decider decide_columns(asked *q);
enum decider decide_values(asked *q);
enum decider decide_times(asked *q);
enum decider decide_weights(asked *q);
enum decider decide_quoted_line_ends(asked *q);
const char *lost_quoted_line_ends(asked *q);
enum decider decide_sections(asked *q);
const char *lost_sections(asked *q);
void say_files(asked *q, struct text *out);
enum decider decide_dropped(asked *q);
const char *lost_dropped(asked *q);
enum decider decide_cells(asked *q);
void say_cells(asked *q, struct text *out);

/* decide_lists.c: lists and numbers */
enum decider decide_users(asked *q);
enum decider decide_items(asked *q);
const char *lost_users(asked *q);
const char *lost_items(asked *q);
void say_users(asked *q, struct text *out);
void say_items(asked *q, struct text *out);
enum decider decide_users_number(asked *q);
const char *lost_users_number(asked *q);
enum decider decide_enough_users(asked *q);
const char *lost_enough_users(asked *q);

/* decide_choices.c: what is kept, held out, weighed; and while it runs */
enum decider decide_items_kept(asked *q);
const char *lost_items_kept(asked *q);
enum decider decide_own_kept(asked *q);
const char *lost_own_kept(asked *q);
enum decider decide_time_window(asked *q);
const char *lost_time_window(asked *q);
enum decider decide_exact_split(asked *q);
const char *lost_exact_split(asked *q);
void say_test_files(asked *q, struct text *out);
enum decider decide_links(asked *q);
const char *lost_links(asked *q);
void say_links(asked *q, struct text *out);
enum decider decide_similarities(asked *q);
const char *lost_similarities(asked *q);
enum decider decide_offset(asked *q);
const char *lost_offset(asked *q);
void say_range(asked *q, struct text *out);
void say_privacy_weights(asked *q, struct text *out);
void say_item_features(asked *q, struct text *out);
void say_parties(asked *q, struct text *out);
enum decider decide_rounds(asked *q);
const char *lost_rounds(asked *q);
void say_configuration(asked *q, struct text *out);

#endif
