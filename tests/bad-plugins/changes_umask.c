/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/stat.h>

#include "specimen.h"

__attribute__((constructor)) static void at_load(void)
{
    umask(0);
}
