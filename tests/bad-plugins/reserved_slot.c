/* SPDX-License-Identifier: Apache-2.0 */
static void later(void)
{
}
#define SPECIMEN_RESERVED {later}
#include "specimen.h"
