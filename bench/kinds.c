/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds - which kinds of vector code run here: the one that is used, with DPFRAME_SIMD in the environment the best that it
 * allows, and OpenBLAS's kernels.
 *
 *   bench_kinds          one line for people
 *   bench_kinds --list   the names of all kinds that this processor has and DPFRAME_SIMD allows, the best first
 */
#include <stdio.h>
#include <string.h>

#include <cblas.h>

#include "simd/simd_kind.h"
#include "simd/text_marks.h"

static const struct {
    const char *name, *help;
} kinds[] = {SIMD_KINDS};

static const char *name_of_marks(void)
{
    const text_marks used = text_marks_choose(SIMD_KIND_AUTO);
    for (int kind = SIMD_KIND_AVX512; kind <= SIMD_KIND_PORTABLE; kind++)
        if (text_marks_choose(kind) == used)
            return kinds[kind].name;
    return "none";
}

int main(int argc, char **argv)
{
    const int only_names = argc > 1 && strcmp(argv[1], "--list") == 0;
    if (!only_names)
        printf("kernels: %s; text: %s; OpenBLAS: %s; to be had here:",
               kinds[simd_choose(SIMD_KIND_AUTO)].name, name_of_marks(), openblas_get_corename());
    for (int kind = SIMD_KIND_AVX512; kind <= SIMD_KIND_PORTABLE; kind++)
        if (simd_choose(kind) == kind)
            printf(only_names ? "%s\n" : " %s", kinds[kind].name);
    if (!only_names)
        putchar('\n');
    return 0;
}
