/* SPDX-License-Identifier: Apache-2.0 */
#include "tiled_cholesky.h"

#include <stddef.h>

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);

enum { TILE = 256 };

struct panel {
    struct matrix *a;
    int32_t first, width; /* columns of the panel; behind it are rows and columns from first + width on */
};

static double *cell(const struct panel *p, int32_t row, int32_t column)
{
    return p->a->at + (int64_t)column * p->a->rows + row;
}

static int32_t tile_of(const struct panel *p, int64_t task, int32_t *rows)
{
    const int32_t first = p->first + p->width + (int32_t)task * TILE, left = p->a->rows - first;
    *rows = left < TILE ? left : TILE;
    return first;
}

/* Rows below the panel's square: times its inverse, transposed. */
static void solve_rows(void *context, int64_t task, int32_t worker)
{
    const struct panel *p = context;
    int32_t rows;
    const int32_t first = tile_of(p, task, &rows);
    (void)worker;
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, p->width, 1.0,
                cell(p, p->first, p->first), p->a->rows, cell(p, first, p->first), p->a->rows);
}

/* Columns behind the panel, on and below the diagonal: less the product of the panel's rows. */
static void update_columns(void *context, int64_t task, int32_t worker)
{
    const struct panel *p = context;
    int32_t columns;
    const int32_t first = tile_of(p, task, &columns), n = p->a->rows, below = first + columns;
    (void)worker;
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, columns, p->width, -1.0, cell(p, first, p->first), n,
                1.0, cell(p, first, first), n);
    if (below < n)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, n - below, columns, p->width, -1.0,
                    cell(p, below, p->first), n, cell(p, first, p->first), n, 1.0, cell(p, below, first), n);
}

int tiled_cholesky(const dpf_call *call, struct matrix *a)
{
    for (int32_t first = 0; first < a->rows; first += TILE) {
        struct panel p = {a, first, a->rows - first < TILE ? a->rows - first : TILE};
        const int width = p.width, n = a->rows;
        const int64_t tiles = (a->rows - first - width + TILE - 1) / TILE;
        int info = 0;
        dpotrf_("L", &width, cell(&p, first, first), &n, &info, 1);
        if (info != 0 || call->cancelled(call))
            return 0;
        dpf_run_tasks(call, tiles, solve_rows, &p);
        dpf_run_tasks(call, tiles, update_columns, &p);
    }
    return 1;
}
