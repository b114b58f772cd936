/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_rows.h - a figure of a benchmark for scripts/bench to collect, beside what is printed for people.
 *
 * A row goes to the file that the variable DPFRAME_BENCH_ROWS names, if it is set: name, value, unit, and
 * what the value is compared with, in the same unit, measured in the same minute: a limit of the machine, or
 * a peer. The smaller the value the better.
 *
 * For a value in nanoseconds and a limit of bench/machine.c, limit_value may be left to scripts/bench-table: 0
 * stands for 8 bytes at that rate, a negative number for so many bytes or operations.
 */
#ifndef DPF_BENCH_ROWS_H
#define DPF_BENCH_ROWS_H

#include <stdio.h>
#include <stdlib.h>

static inline void bench_row(const char *name, double value, const char *unit, const char *limit,
                             double limit_value)
{
    const char *path = getenv("DPFRAME_BENCH_ROWS");
    FILE *rows = path && *path ? fopen(path, "a") : NULL;
    if (!rows)
        return;
    fprintf(rows, "%s\t%.6g\t%s\t%s\t%.6g\n", name, value, unit, limit, limit_value);
    fclose(rows);
}

#endif
