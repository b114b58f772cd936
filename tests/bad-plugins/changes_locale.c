/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>

#include "specimen.h"

__attribute__((constructor)) static void at_load(void)
{
    setlocale(LC_ALL, "C.UTF-8");
}
