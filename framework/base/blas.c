/* SPDX-License-Identifier: Apache-2.0 */
#include "base/blas.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* The library stays loaded as long as the plugin that needs it, which is for ever: the handle counts, and is closed. */
static void *function_of(const char *name)
{
    void *library = dlopen("libopenblas.so.0", RTLD_LAZY | RTLD_NOLOAD);
    void *function = library ? dlsym(library, name) : NULL;
    if (library)
        dlclose(library);
    return function;
}

int blas_is_loaded(void)
{
    return function_of("openblas_set_num_threads") != NULL;
}

void blas_one_thread(void)
{
    void (*set)(int);
    void *function = function_of("openblas_set_num_threads");
    memcpy(&set, &function, sizeof set); /* POSIX makes the conversion valid; ISO C has no word for it */
    if (function)
        set(1);
    else
        setenv("OPENBLAS_NUM_THREADS", "1", 1);
}

static const char *text_of(const char *name)
{
    char *(*text)(void);
    void *function = function_of(name);
    memcpy(&text, &function, sizeof text);
    return function ? text() : NULL;
}

const char *blas_core(void)
{
    return text_of("openblas_get_corename");
}

const char *blas_config(void)
{
    return text_of("openblas_get_config");
}
