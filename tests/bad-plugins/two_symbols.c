/* SPDX-License-Identifier: Apache-2.0 */
#include "specimen.h"

DPF_EXPORT int another_symbol(void);
DPF_EXPORT int another_symbol(void)
{
    return 1;
}
