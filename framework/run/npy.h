/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npy.h - matrices in NumPy's .npy format.
 *
 * Written: format 1.0, little-endian, C order, two dimensions; the data begins at a multiple of 64
 * bytes, so that it can be mapped. Writes are atomic. Read: the same from formats 1.0 to 3.0.
 */
#ifndef DPF_RUN_NPY_H
#define DPF_RUN_NPY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Element (r, c) is data[r * stride + c]; stride is at least columns. */
int npy_write_float32(const char *path, const float *data, int64_t rows, int64_t columns, int64_t stride,
                      struct dpf_error *error);
int npy_write_float64(const char *path, const double *data, int64_t rows, int64_t columns, int64_t stride,
                      struct dpf_error *error);

/* Any type, by numpy's name for it and the size of a number; columns -1: one dimension, without padding. */
int npy_write(const char *path, const char *descr, size_t size, const void *data, int64_t rows,
              int64_t columns, int64_t stride, struct dpf_error *error);

/*
 * The same by all ranks, each of which has the rows offsets[rank] .. offsets[rank+1]-1 of data and writes
 * them at their place; rank 0 has the path, which leads to the same file for all. All make the call.
 */
int npy_write_shares(const char *path, const float *data, int64_t columns, int64_t stride,
                     const int64_t *offsets, struct dpf_error *error);

/* A matrix without padding; exactly one of the two arrays is there. */
struct npy_matrix {
    int64_t rows;
    int64_t columns;
    float *float32;
    double *float64;
};
/* Faults are DPF_FAULT_DATA, naming the file. On failure out is empty. */
int npy_read(const char *path, struct npy_matrix *out, struct dpf_error *error);
void npy_free(struct npy_matrix *matrix);

/* A file that is mapped, read only: of one dimension (one column) or two, of little-endian numbers of 1, 4 or 8 bytes. Empty:
   data is not NULL. */
struct npy_map {
    char descr[16];
    int64_t rows, columns;
    const void *data;
    void *block;
    size_t bytes;
};
int npy_map(const char *path, struct npy_map *out, struct dpf_error *error);
void npy_unmap(struct npy_map *map);

#endif
