/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.h - OpenBLAS without linking it: it takes milliseconds to load, and plugins alone compute with it.
 */
#ifndef DPF_BASE_BLAS_H
#define DPF_BASE_BLAS_H

/* No threads, whether it is loaded by now or will be. Before the process has threads of its own. */
void blas_one_thread(void);
/* Whether it is loaded: then the program cannot prevent any more that it has started threads. */
int blas_is_loaded(void);
/* Its kernels and how it was built; NULL if it is not loaded. */
const char *blas_core(void);
const char *blas_config(void);

#endif
