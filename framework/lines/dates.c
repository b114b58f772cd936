/* SPDX-License-Identifier: Apache-2.0 */
#include "lines/dates.h"

#include <stdint.h>

static int number_at(const struct field *field, size_t at, size_t digits, int *out)
{
    *out = 0;
    for (size_t i = at; i < at + digits; i++) {
        if (i >= field->length || field->data[i] < '0' || field->data[i] > '9')
            return -1;
        *out = 10 * *out + (field->data[i] - '0');
    }
    return 0;
}

/* Days from 1970-01-01 in the proleptic Gregorian calendar, March to February years of 400-year cycles. */
static int64_t days_from_epoch(int year, int month, int day)
{
    const int64_t y = year - (month <= 2), era = y / 400, of_era = y - era * 400;
    const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const int is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && is_leap);
}

/* Behind the seconds: a fraction, then Z or +HH:MM (the zone, UTC where there is none). -1: something else. */
static int take_zone(const struct field *field, size_t at, double *seconds)
{
    const char *text = field->data;
    double unit = 1;
    if (at < field->length && text[at] == '.') {
        const size_t first = ++at;
        for (; at < field->length && text[at] >= '0' && text[at] <= '9'; at++)
            *seconds += (text[at] - '0') * (unit /= 10);
        if (at == first)
            return -1;
    }
    if (at == field->length || (at + 1 == field->length && text[at] == 'Z'))
        return 0;
    int hours, minutes;
    const size_t colon = at + 6 == field->length;
    if ((text[at] != '+' && text[at] != '-') || at + 5 + colon != field->length ||
        (colon && text[at + 3] != ':') || number_at(field, at + 1, 2, &hours) != 0 ||
        number_at(field, at + 3 + colon, 2, &minutes) != 0 || hours > 23 || minutes > 59)
        return -1;
    *seconds -= (text[at] == '+' ? 1 : -1) * (hours * 3600 + minutes * 60);
    return 0;
}

int field_date(const struct field *field, double *out)
{
    int year, month, day, hour = 0, minute = 0, second = 0;
    const char *text = field->data;
    if ((field->length != 10 && field->length < 19) || text[4] != '-' || text[7] != '-' ||
        number_at(field, 0, 4, &year) != 0 || number_at(field, 5, 2, &month) != 0 ||
        number_at(field, 8, 2, &day) != 0)
        return -1;
    if (field->length >= 19 &&
        ((text[10] != ' ' && text[10] != 'T') || text[13] != ':' || text[16] != ':' ||
         number_at(field, 11, 2, &hour) != 0 || number_at(field, 14, 2, &minute) != 0 ||
         number_at(field, 17, 2, &second) != 0))
        return -1;
    if (month < 1 || month > 12 || day < 1 || day > days_of_month(year, month) || hour > 23 || minute > 59 ||
        second > 60)
        return -1;
    *out = (double)(days_from_epoch(year, month, day) * 86400 + hour * 3600 + minute * 60 + second);
    return field->length > 19 ? take_zone(field, 19, out) : 0;
}
