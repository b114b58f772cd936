/* SPDX-License-Identifier: Apache-2.0 */
/* npy_header.h - the dictionary at the head of a .npy file. */
#ifndef DPF_RUN_NPY_HEADER_H
#define DPF_RUN_NPY_HEADER_H

#include <stdint.h>

#define NPY_MAX_DIMENSIONS 8

struct npy_header {
    char descr[16]; /* the type, "<f4" */
    int fortran_order;
    int n_dimensions;
    int64_t shape[NPY_MAX_DIMENSIONS];
};

/* Parses the NUL-terminated text of a dictionary. Returns NULL, or what is wrong with it. */
const char *npy_header_parse(const char *text, struct npy_header *out);

#endif
