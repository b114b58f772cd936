/* SPDX-License-Identifier: Apache-2.0 */
#include "run/training_curve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* "train,ROUND,rmse,VALUE,N"; 0 if the line is another one. */
static int64_t read_line(char *line, double *value)
{
    char *save = NULL, *part = strtok_r(line, ",", &save), *round = strtok_r(NULL, ",", &save),
         *metric = strtok_r(NULL, ",", &save), *text = strtok_r(NULL, ",", &save);
    int64_t number;
    if (!text || strcmp(part, "train") != 0 || strcmp(metric, "rmse") != 0 ||
        text_to_int(round, &number) != 0 || number < 1 || text_to_real(text, value) != 0)
        return 0;
    return number;
}

size_t training_curve_read(const char *path, double *values, size_t most)
{
    FILE *stream = fopen(path, "r");
    char line[256];
    size_t last = 0;
    for (size_t i = 0; i < most; i++)
        values[i] = (double)NAN;
    while (stream && fgets(line, sizeof line, stream)) {
        double value;
        const int64_t round = read_line(line, &value);
        if (round < 1 || (size_t)round > most)
            continue;
        values[round - 1] = value;
        last = (size_t)round > last ? (size_t)round : last;
    }
    if (stream)
        fclose(stream);
    return last;
}
