/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/deciders.h"

#include <math.h>

#include "base/text.h"

/* ---- the form of the files ------------------------------------------------------------------------- */

static const struct data_form *form_of(asked *q)
{
    return &data_forms[data_of(q, D_FORMAT)->integer];
}

static int is_named(asked *q, int column)
{
    int64_t number;
    const char *text = data_of(q, column)->text;
    return text && *text && strcmp(text, "auto") != 0 && strcmp(text, "none") != 0 &&
           text_to_int(text, &number) != 0;
}

/* A column that is named has to have a name. */
static int names_a_column(asked *q)
{
    int any = 0;
    for (int c = D_COLUMN_USER; c <= D_COLUMN_WEIGHT; c++)
        any |= is_named(q, c);
    return any;
}

enum decider decide_files(asked *q)
{
    return is_generated(q) ? BY_NOBODY : BY_PUBLIC_LIST;
}

enum decider decide_public_files(asked *q)
{
    return q->public_files && *q->public_files ? BY_RECORDS : BY_PUBLIC_LIST;
}

const char *lost_public_files(asked *q)
{
    return q->public_files;
}

enum decider decide_header(asked *q)
{
    const int64_t key = data_of(q, D_HEADER)->integer;
    if (is_generated(q))
        return BY_NOBODY;
    if (key != HEADER_AUTO || names_a_column(q))
        return BY_KEY;
    return form_of(q)->header != HEADER_AUTO ? BY_FORMAT : BY_RECORDS;
}

const char *lost_header(asked *q)
{
    (void)q;
    return "Whether there is a header is found out from the first line, which may be a record. Set [data] "
           "header to yes or no.";
}

/* Whether the first line of each file is its header, by declaration. */
static int has_header(asked *q)
{
    const int64_t key = data_of(q, D_HEADER)->integer;
    return key == HEADER_YES ||
           (key == HEADER_AUTO && (form_of(q)->header == HEADER_YES || names_a_column(q)));
}

enum decider decide_fields(asked *q)
{
    const enum decider by = decide_header(q);
    if (by == BY_NOBODY || by == BY_RECORDS) /* told by that fact */
        return BY_NOBODY;
    if (data_of(q, D_FIELDS)->integer)
        return BY_KEY;
    return has_header(q) ? BY_HEADER : form_of(q)->fields ? BY_FORMAT : BY_RECORDS;
}

const char *lost_fields(asked *q)
{
    (void)q;
    return "How many fields a line has is found out from the first one, which is a record. Set [data] "
           "fields.";
}

enum decider decide_columns(asked *q)
{
    return is_generated(q) ? BY_NOBODY : has_header(q) ? BY_HEADER : BY_KEY;
}

/* Which of them exist, as opposed to which is which. */
static enum decider column(asked *q, int key)
{
    return is_generated(q) ? BY_NOBODY : has_no(q, key) || !has_header(q) ? BY_KEY : BY_HEADER;
}

enum decider decide_values(asked *q)
{
    return column(q, D_COLUMN_RATING);
}

enum decider decide_times(asked *q)
{
    return column(q, D_COLUMN_TIME);
}

enum decider decide_weights(asked *q)
{
    return column(q, D_COLUMN_WEIGHT);
}

enum decider decide_quoted_line_ends(asked *q)
{
    return is_generated(q) ? BY_NOBODY : data_of(q, D_MULTI_LINE)->integer ? BY_RECORDS : BY_KEY;
}

const char *lost_quoted_line_ends(asked *q)
{
    (void)q;
    return "A quote in one record decides where the lines of others end. Set [data] multi-line = no.";
}

enum decider decide_sections(asked *q)
{
    if (!form_of(q)->sections)
        return BY_NOBODY;
    return BY_RECORDS;
}

const char *lost_sections(asked *q)
{
    (void)q;
    return "A line such as \"7:\" says which item the lines behind it rate, so one person's line moves the "
           "records of others. Write the item into each line and use [data] format = csv.";
}

void say_files(asked *q, struct text *out)
{
    text_add(out, "The files that [data] names: their names and their number%s.\n",
             has_header(q) ? ", and the header of each" : "");
}

/* ---- a record -------------------------------------------------------------------------------------- */

enum decider decide_dropped(asked *q)
{
    const int by_threshold =
        data_of(q, D_FEEDBACK)->integer != FEEDBACK_EXPLICIT && isfinite(data_of(q, D_THRESHOLD)->real);
    if (!by_threshold && data_of(q, D_OUT_OF_RANGE)->integer != RANGE_DROP)
        return BY_NOBODY;
    if (q->promise.adjacency != DPF_ADJ_REPLACE_VALUE)
        return BY_LINE; /* the cell stays where it is public (enum void_rule) */
    /* A value below the threshold cannot be replaced by one that counts: it would be an interaction. */
    return by_threshold || !q->promise.pattern_public ? BY_RECORDS : BY_LINE;
}

const char *lost_dropped(asked *q)
{
    (void)q;
    return "A record counts or is dropped by its value ([data] threshold or out-of-range = drop), so another "
           "value makes it appear or disappear. Set [data] out-of-range = clip and no threshold, or protect "
           "with adjacency = flip or add-remove; or, for out-of-range alone, if it is public who rated what, "
           "declare that ([privacy] interaction-pattern = public).";
}

enum decider decide_cells(asked *q)
{
    return q->promise.pattern_public ? BY_ALL_CELLS : BY_RECORDS;
}

void say_cells(asked *q, struct text *out)
{
    const int values_only = q->promise.adjacency == DPF_ADJ_REPLACE_VALUE;
    if (q->promise.pattern_public && (values_only || q->promise.adjacency == DPF_ADJ_ZERO_OUT))
        text_add(out,
                 "Who rated what ([privacy] interaction-pattern): only values are protected, not the ids "
                 "in a line.\n");
    else if (values_only)
        text_add(out, "Who rated what: this adjacency is about values only. Whether it is public nobody has "
                      "declared ([privacy] interaction-pattern); see C8.\n");
}
