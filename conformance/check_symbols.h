/* SPDX-License-Identifier: Apache-2.0 */
/* check_symbols.h - the dynamic symbols of a shared object, read from the file without loading it. */
#ifndef DPF_CONFORMANCE_CHECK_SYMBOLS_H
#define DPF_CONFORMANCE_CHECK_SYMBOLS_H

#include "base/error.h"

/* Called for each named dynamic symbol. defined: this file exports it; weak: it may stay unresolved. */
typedef void (*check_symbol_seen)(void *context, const char *name, int defined, int weak);

int check_symbols(const char *path, check_symbol_seen seen, void *context, struct dpf_error *error);

#endif
