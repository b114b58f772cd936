/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/deciders.h"

#include <math.h>

#include "reading/input_facts.h"

/* ---- what is kept, held out, weighed --------------------------------------------------------------- */

enum decider decide_items_kept(asked *q)
{
    return data_of(q, D_FILTER_ITEM_MIN)->integer ? BY_ALL_CELLS : BY_NOBODY;
}

const char *lost_items_kept(asked *q)
{
    (void)q;
    return "Which items are left follows from how many ratings they have ([data] filter.item-min), and "
           "one record can take others along. Train on a catalogue that does not depend on the "
           "users ([data] items-file).";
}

static int64_t split_kind(asked *q)
{
    return q->split->params.values[S_KIND].integer;
}

/* A line at fault may have no time, so that where lines at fault keep their cells, times must not choose. */
static int times_choose(asked *q)
{
    return (split_kind(q) == SPLIT_LEAVE_ONE_OUT && q->split->params.values[S_BY].integer == BY_TIME) ||
           (data_of(q, D_FILTER_USER_MAX)->integer && data_of(q, D_FILTER_KEEP)->integer == KEEP_LATEST);
}

enum decider decide_own_kept(asked *q)
{
    const int64_t kind = split_kind(q);
    if (times_choose(q) && promise_same_cells(&q->promise) && !is_generated(q))
        return BY_RECORDS;
    return kind == SPLIT_PER_USER || kind == SPLIT_LEAVE_ONE_OUT || data_of(q, D_FILTER_USER_MIN)->integer ||
                   data_of(q, D_FILTER_USER_MAX)->integer
               ? BY_OWN_CELLS
               : BY_NOBODY;
}

const char *lost_own_kept(asked *q)
{
    if (promise_same_cells(&q->promise))
        return "Times choose which of a user's records are held out or kept, and a record whose line is at "
               "fault may have none. Set [split] by = random, [data] filter.keep = random.";
    return "Which records of a user are held out or kept follows from all records of that user, so one more "
           "moves others ([split] kind, [data] filter.user-min and user-max). Ask for unit = user, or use "
           "kind "
           "= random without these filters, where each record's own ids decide.";
}

enum decider decide_time_window(asked *q)
{
    if (split_kind(q) != SPLIT_TIME)
        return BY_NOBODY;
    return promise_same_cells(&q->promise) ? BY_RECORDS : BY_LINE;
}

const char *lost_time_window(asked *q)
{
    (void)q;
    return "Times choose which records are held out, and a record whose line is at fault may have none, "
           "although who rated what is public. Set [split] kind = random, or protect with adjacency = "
           "add-remove.";
}

enum decider decide_exact_split(asked *q)
{
    return split_kind(q) == SPLIT_RANDOM_EXACT ? BY_RECORDS : BY_NOBODY;
}

const char *lost_exact_split(asked *q)
{
    (void)q;
    return "Which records are held out follows from all of them ([split] kind = random-exact). Use kind = "
           "random, where each record's own ids decide.";
}

void say_test_files(asked *q, struct text *out)
{
    if (split_kind(q) == SPLIT_FILES)
        text_add(out,
                 q->releases_metrics
                     ? "The split by files: neighbours are training and test parts that differ in one unit.\n"
                     : "The split by files: neighbours are training parts that differ in one unit.\n");
}

/* A link of a user who is not listed is left out, which whoever it leads to can see. */
enum decider decide_links(asked *q)
{
    if (!is_set(q, D_RELATION_PATH))
        return BY_NOBODY;
    return input_hides_users(q) ? BY_RECORDS : decide_users(q);
}

const char *lost_links(asked *q)
{
    (void)q;
    return "A link is left out if one of its users is not listed, so that one user's records decide about "
           "another's links. Name a list of users that does not depend on the records ([data] users-file).";
}

void say_links(asked *q, struct text *out)
{
    if (is_set(q, D_RELATION_PATH))
        text_add(out, "Links between users: none of the units and adjacencies is about them.\n");
}

enum decider decide_similarities(asked *q)
{
    return is_set(q, D_RELATION_PATH) && data_of(q, D_RELATION_SIMILARITY)->integer ? BY_RECORDS : BY_NOBODY;
}

const char *lost_similarities(asked *q)
{
    (void)q;
    return "Weights of links are similarities of the raw ratings and get no noise. Use [data] "
           "relation.similarity = none.";
}

enum decider decide_offset(asked *q)
{
    return q->offset_is_mean ? BY_RECORDS : BY_KEY;
}

const char *lost_offset(asked *q)
{
    (void)q;
    return "The offset is the mean of the training ratings and gets no noise. Use [model] offset = midpoint.";
}

void say_range(asked *q, struct text *out)
{
    if (isfinite(q->value_lo) && isfinite(q->value_hi) && q->value_lo < q->value_hi)
        text_add(out, "The declared range of values, %g to %g.\n", q->value_lo, q->value_hi);
}

void say_privacy_weights(asked *q, struct text *out)
{
    if (data_of(q, D_WEIGHTS_KIND)->integer != 0 || !has_no(q, D_COLUMN_WEIGHT))
        text_add(out, "Privacy weights of users, items and records.\n");
}

void say_item_features(asked *q, struct text *out)
{
    if (is_set(q, D_ITEM_FEATURES))
        text_add(out, "The features of items ([data] item-features): declared public, read without noise.\n");
    if (is_set(q, D_ITEM_NAMES))
        text_add(out, "The names of items ([data] item-names): declared public, written beside the ids.\n");
}

/* ---- while it runs --------------------------------------------------------------------------------- */

void say_parties(asked *q, struct text *out)
{
    if (q->has_parties)
        text_add(out, "Which party holds which rows.\n");
}

enum decider decide_rounds(asked *q)
{
    return q->stops_by_error ? BY_RECORDS : BY_RELEASE;
}

const char *lost_rounds(asked *q)
{
    (void)q;
    return "When the run stops follows from the training error, which is computed from raw ratings, and the "
           "number of rounds shows. Make all rounds ([run] until = rounds), or stop by what is released "
           "(until "
           "= released-rows).";
}

void say_configuration(asked *q, struct text *out)
{
    (void)q;
    text_add(out, "The configuration, [run] seed and initial rows included.\n");
}
