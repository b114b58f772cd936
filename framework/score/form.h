/* SPDX-License-Identifier: Apache-2.0 */
/*
 * form.h - a model as a formula with named arrays and numbers; docs/model-state.md has the formulas.
 *
 * A form is a view: its arrays lie in a state, in factor rows or in mapped files. Whatever a component or a file
 * states is checked here, once, by the table of formulas: shapes, ranges and orders.
 */
#ifndef DPF_SCORE_FORM_H
#define DPF_SCORE_FORM_H

#include <stdint.h>

#include "base/error.h"
#include "dpframe/score_form.h"

enum score_formula {
    SCORE_FUNCTION, /* plugin/1: the component's own function */
    SCORE_BASE,
    SCORE_ROWS,
    SCORE_RIDGE,
    SCORE_EASE,
    SCORE_NEIGHBOURS,
    SCORE_FORMULAS
};

/* Arrays and numbers of each formula, by their places. */
enum { BASE_BASE };
enum { ROWS_ITEMS, ROWS_USERS };
enum { ROWS_OFFSET };
enum { RIDGE_BIAS, RIDGE_LOADINGS, RIDGE_VARIANCE };
enum { RIDGE_CENTRE, RIDGE_UNIT, RIDGE_RESIDUAL_VARIANCE };
enum { EASE_COLUMN, EASE_POPULARITY, EASE_UNDO, EASE_WEIGHT, EASE_IN, EASE_OUT, EASE_SPAN };
enum { EASE_VALUE_LOW, EASE_VALUE_HIGH, EASE_LOWEST_WEIGHT };
enum { NEIGHBOURS_ITEMS, NEIGHBOURS_SIMILARITIES, NEIGHBOURS_REPORTED };
#define SCORE_MOST_ARRAYS 7
#define SCORE_MOST_SCALARS 3

/* What the table of formulas demands of an array. */
struct score_array_rule {
    const char *name;
    const char *rows, *columns; /* its shape: "items", "factors", ..., or "1" */
    const char *unit;
    int32_t type;
    int32_t optional;
    double least, most; /* range of its numbers */
};
struct score_formula_rule {
    const char *name; /* "ridge/1" */
    struct score_array_rule arrays[SCORE_MOST_ARRAYS];
    const char *scalars[SCORE_MOST_SCALARS];
    int reads_records; /* scores read the user's own records */
};
extern const struct score_formula_rule score_formulas[SCORE_FORMULAS];

struct score_form {
    enum score_formula formula;
    int64_t n_items;
    dpf_array arrays[SCORE_MOST_ARRAYS]; /* by place; name NULL: absent */
    double scalars[SCORE_MOST_SCALARS];
    void *owned[SCORE_MOST_ARRAYS]; /* copies of arrays that had another type than the formula's */
};

/*
 * Checks a stated form by the table, and fills in *out. from: where it was read, for messages ("recommender X",
 * "x/index.json"). n_users: -1 if not known. On failure returns -1 with an error of that fault, and *out is empty.
 */
int score_form_read(const dpf_form *said, int64_t n_items, int64_t n_users, const char *from,
                    enum dpf_fault fault, struct score_form *out, struct dpf_error *error);
/* Copies the arrays that lie outside of the block, so that their memory may go. On failure the form is empty. */
int score_form_keep(struct score_form *form, const void *block, uint64_t bytes, struct dpf_error *error);
void score_form_free(struct score_form *form);

static inline const float *score_floats(const struct score_form *form, int place)
{
    return form->arrays[place].data;
}
static inline int64_t score_columns(const struct score_form *form, int place)
{
    return form->arrays[place].columns;
}
/* ease/1: factors and directions. */
static inline int64_t ease_width(const struct score_form *form)
{
    return form->arrays[EASE_OUT].rows + form->arrays[EASE_SPAN].rows;
}
/* ease/1: whether factors are the columns themselves, so that "in" has the directions alone. */
static inline int ease_is_plain(const struct score_form *form)
{
    return form->arrays[EASE_OUT].rows > 0 && form->arrays[EASE_OUT].rows == form->arrays[EASE_IN].rows &&
           form->arrays[EASE_IN].columns == form->arrays[EASE_SPAN].rows;
}

#endif
