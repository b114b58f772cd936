/* SPDX-License-Identifier: Apache-2.0 */
#include "run/noise_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sheet.h"
#include "dpframe/query.h"

const char *noise_block_name(int32_t kind)
{
    switch (kind) {
    case DPF_BLOCK_GRADIENT:
        return "gradient";
    case DPF_BLOCK_QUADRATIC:
        return "quadratic";
    case DPF_BLOCK_LINEAR:
        return "linear";
    case DPF_BLOCK_COUNT:
        return "count";
    default:
        return NULL;
    }
}

static void add_histogram(struct sheet *table, const struct noise_histogram *h)
{
    char block[32];
    for (int bin = 0; bin < NOISE_BINS; bin++) {
        double centre = (double)(bin - NOISE_BINS / 2) * h->width;
        sheet_text(table, h->term);
        snprintf(block, sizeof block, "%s%s", h->gram ? "gram " : "", noise_block_name(h->kind));
        sheet_text(table, block);
        sheet_exact(table, centre - h->width / 2);
        sheet_exact(table, centre + h->width / 2);
        sheet_exact(table, (double)h->counts[bin] / ((double)h->n * h->width));
        sheet_count(table, (long long)h->n);
    }
}

char *noise_table_text(const struct engine_stats *stats)
{
    static const char *const columns[] = {"term", "block", "from", "to", "density", "draws"};
    struct sheet table = {0};
    struct text text = {0};
    if (stats->n_noise == 0)
        return NULL;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        sheet_column(&table, columns[i], i < 2 ? SHEET_LEFT : SHEET_RIGHT);
    for (int i = 0; i < stats->n_noise; i++)
        add_histogram(&table, &stats->noise[i]);
    sheet_write(&table, SHEET_CSV, 0, &text);
    sheet_free(&table);
    return text.data;
}

int noise_table_read(char *line, const char *term, const char *block, double *value, double *density)
{
    char *save = NULL, *fields[5];
    double from, to;
    for (int i = 0; i < 5; i++)
        fields[i] = strtok_r(i ? NULL : line, ",", &save);
    if (!fields[4] || strcmp(fields[0], term) != 0 || strcmp(fields[1], block) != 0 ||
        text_to_real(fields[2], &from) != 0 || text_to_real(fields[3], &to) != 0 ||
        text_to_real(fields[4], density) != 0)
        return 0;
    *value = (from + to) / 2;
    return 1;
}

int noise_table_source(char *line, char *term, size_t term_size, char *block, size_t block_size)
{
    char *save = NULL, *first = strtok_r(line, ",", &save), *second = strtok_r(NULL, ",", &save);
    if (!second || strcmp(first, "term") == 0 || strlen(first) >= term_size || strlen(second) >= block_size)
        return 0;
    strcpy(term, first);
    strcpy(block, second);
    return 1;
}
