/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accounting_table.h - every kind of event and every accountant, and which serves which.
 *
 * The one place that a new kind or accountant has to be added to: accounting_table_open fails if the headers
 * name a kind, or a built plugin has an accountant, that is not here.
 */
#ifndef DPF_TESTS_ACCOUNTING_TABLE_H
#define DPF_TESTS_ACCOUNTING_TABLE_H

#include "kit/accounting_case.h"

#define N_COLUMNS_OF_ACCOUNTANTS 7

/* Columns of the table: accountants with settings. */
extern struct column_of_table {
    const char *id, *settings;
    int units; /* bit of DPF_UNIT_*: it refuses all questions about other units */
    struct case_accountant instance;
} columns[N_COLUMNS_OF_ACCOUNTANTS];

/*
 * A letter for each column. Of an event without sampling whose sensitivity is stated for all questions:
 * v a finite value, 0 nothing, i infinity, - refused; u a value for a user that is replaced or zeroed, else
 * refused.
 * Of a Poisson draw: a amplified, where the unit asked for is drawn and comes or goes; = charged as if
 * everybody took part, for it may not be known what a draw changes.
 */
struct row_of_table {
    const char *event; /* an example: see case_parse */
    const char *verdicts;
    const char *draws;
};
enum { N_ROWS = 16 };
extern const struct row_of_table rows[N_ROWS];

dpf_event row_event(int32_t kind);

int accounting_table_open(void **state);

int accounting_table_close(void **state);

/* ---- questions ----------------------------------------------------------------------------------- */

dpf_question table_question(int32_t unit, int32_t adjacency);

dpf_status table_ask(int column, const dpf_event *events, int64_t n, const dpf_question *question,
                     double *epsilon);

/* v, 0, i or -; for u what it is for that question. */
char table_verdict(int32_t kind, int column, int32_t unit, int32_t adjacency);

#endif
