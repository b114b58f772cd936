/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/deciders.h"
#include "reading/input_facts.h"

/* ---- lists and numbers ----------------------------------------------------------------------------- */

enum list_source {
    LIST_CATALOGUE,
    LIST_GENERATED,
    LIST_OF_CELLS,
    LIST_DECLARED, /* public by declaration; faulty lines keep their ids in it */
    LIST_HIDDEN,   /* a bound on its length is declared, and nothing that is seen has its rows */
    LIST_OF_RECORDS
};

/* A bound in place of a list, where nothing that is seen shows a user. */
static int is_bounded(asked *q, int side)
{
    return side == DPF_SIDE_USERS && q->promise.unit == DPF_UNIT_USER && q->declared[side] > 0 &&
           !q->shows_users;
}

static enum list_source source_of(asked *q, int side)
{
    if (is_set(q, side == DPF_SIDE_ITEMS ? D_ITEMS_FILE : D_USERS_FILE))
        return LIST_CATALOGUE;
    /* Who hides whether a user is there has no public list of users. */
    if (side == DPF_SIDE_USERS && hides_users(q))
        return LIST_HIDDEN;
    if (is_generated(q))
        return LIST_GENERATED;
    if (promise_same_cells(&q->promise))
        return LIST_OF_CELLS;
    if (q->promise.ids_public)
        return LIST_DECLARED;
    return is_bounded(q, side) ? LIST_HIDDEN : LIST_OF_RECORDS;
}

int input_hides_users(asked *q)
{
    return source_of(q, DPF_SIDE_USERS) == LIST_HIDDEN;
}

static enum decider list(asked *q, int side)
{
    static const enum decider by[] = {
        [LIST_CATALOGUE] = BY_PUBLIC_LIST, [LIST_GENERATED] = BY_KEY, [LIST_OF_CELLS] = BY_ALL_CELLS,
        [LIST_DECLARED] = BY_PUBLIC_LIST,  [LIST_HIDDEN] = BY_KEY,    [LIST_OF_RECORDS] = BY_RECORDS};
    return by[source_of(q, side)];
}

enum decider decide_users(asked *q)
{
    return list(q, DPF_SIDE_USERS);
}

enum decider decide_items(asked *q)
{
    return list(q, DPF_SIDE_ITEMS);
}

const char *lost_users(asked *q)
{
    if (q->promise.unit == DPF_UNIT_RECORD)
        return "The list of users is taken from the data, so a user that one unit alone has shows by having "
               "a row in what is released, or by being counted. Name a list that does not depend on the "
               "records ([data] users-file); or, if it is public which ids occur, declare that ([privacy] "
               "id-lists = public).";
    if (q->shows_users)
        return "The list of users is taken from the data, and what is released shows it: a user without one "
               "valid record is not in it. Name a list that does not depend on the records ([data] "
               "users-file); or, if it is public which ids occur, declare that ([privacy] id-lists = "
               "public).";
    return "The number of users is taken from the data, and a user without one valid record is not counted. "
           "Declare a bound ([model] users), or name a list that does not depend on the records ([data] "
           "users-file); or, if it is public which ids occur, declare that ([privacy] id-lists = public).";
}

const char *lost_items(asked *q)
{
    (void)q;
    return "The list of items is taken from the data, so an item that one unit alone has shows by having a "
           "row in what is released, or by being counted. Give a catalogue that does not depend on the users "
           "([data] items-file); or, if it is public which ids occur, declare that ([privacy] id-lists = "
           "public).";
}

void say_users(asked *q, struct text *out)
{
    switch (source_of(q, DPF_SIDE_USERS)) {
    case LIST_CATALOGUE:
        text_add(out, "The catalogue of users ([data] users-file): who is in it, not who has records.\n");
        break;
    case LIST_HIDDEN:
        text_add(out, "A bound on the number of users ([model] users).\n");
        break;
    case LIST_GENERATED:
        text_add(out, "The list of users, and their number, that of the generator. It shows who is in the "
                      "data.\n");
        break;
    case LIST_DECLARED:
        text_add(out, "The list of users, and their number, taken from the data: which ids occur is declared "
                      "to be public ([privacy] id-lists). It shows who is in the data.\n");
        break;
    default:
        text_add(out, "The list of users, and their number, taken from the data. It shows who is in the "
                      "data.\n");
    }
}

#define SHOWS_ITSELF                                                                                         \
    " An item that only one user ever touched shows by being there. Give a catalogue that does not depend "  \
    "on the users ([data] items-file)."

void say_items(asked *q, struct text *out)
{
    switch (source_of(q, DPF_SIDE_ITEMS)) {
    case LIST_CATALOGUE:
        text_add(out, "The catalogue of items ([data] items-file), in its order.\n");
        break;
    case LIST_GENERATED:
        text_add(out, "The list of items, and their number, that of the generator.\n");
        break;
    case LIST_OF_CELLS:
        text_add(out, "The list of items, and their number, taken from the data.\n");
        break;
    case LIST_DECLARED:
        text_add(out, "The list of items, and their number, taken from the data: which ids occur is declared "
                      "to be public ([privacy] id-lists)." SHOWS_ITSELF "\n");
        break;
    default:
        text_add(out, "The list of items, and their number, taken from the data." SHOWS_ITSELF "\n");
    }
}

const char *input_list_source(int side, asked *q)
{
    const enum list_source source = source_of(q, side);
    if (promise_same_cells(&q->promise))
        return "that of the records, of which values alone are protected";
    return source == LIST_CATALOGUE ? "a catalogue"
           : is_generated(q)        ? "that of the generator"
           : source == LIST_HIDDEN  ? "protected but for a bound on its length"
                                    : "taken from the data";
}

/* The length of its list, or where that is hidden, the bound on it. */
enum decider decide_users_number(asked *q)
{
    if (!input_hides_users(q))
        return BY_NOBODY;
    return q->declared[DPF_SIDE_USERS] > 0 ? BY_KEY : BY_RECORDS;
}

const char *lost_users_number(asked *q)
{
    (void)q;
    return "The number of users is taken from the data, and noise and regularisation depend on it, but the "
           "adjacency promises to hide whether a user takes part. Set [model] users to a public upper bound, "
           "or protect with adjacency = replace or zero-out.";
}

enum decider decide_enough_users(asked *q)
{
    if (q->least_users <= 1)
        return BY_NOBODY;
    return hides_users(q) ? BY_RECORDS : decide_users(q);
}

const char *lost_enough_users(asked *q)
{
    if (hides_users(q))
        return "An aggregator or mechanism stops the run if too few users take part, and the adjacency "
               "promises to hide how many there are. Use aggregator = sum with noise at the sum, or "
               "adjacency "
               "= replace or zero-out.";
    return "An aggregator or mechanism stops the run if too few users take part, and a user without one "
           "valid "
           "record takes no part. Name a list of users that does not depend on the records ([data] "
           "users-file); or, if it is public which ids occur, declare that ([privacy] id-lists = public).";
}
