/* SPDX-License-Identifier: Apache-2.0 */
/* dates.h - dates and times as texts. */
#ifndef DPF_LINES_DATES_H
#define DPF_LINES_DATES_H

#include "lines/fields.h"

/* ISO 8601: YYYY-MM-DD, and HH:MM:SS with a fraction and a zone behind a blank or a T, as seconds since 1970 in UTC.
   -1: it is none of these, or there is no such day. */
int field_date(const struct field *field, double *out);

#endif
