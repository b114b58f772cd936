/* SPDX-License-Identifier: Apache-2.0 */
/* What linking with -ffast-math does. */
#include <fenv.h>

#include "specimen.h"

__attribute__((constructor)) static void at_load(void)
{
#if defined(__x86_64__)
    uint32_t control;
    __asm__ volatile("stmxcsr %0" : "=m"(control));
    control |= UINT32_C(0x8040); /* flush to zero, denormals are zero */
    __asm__ volatile("ldmxcsr %0" : : "m"(control));
#else
    fesetround(FE_TOWARDZERO);
#endif
}
