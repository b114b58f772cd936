/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>

#include "specimen.h"

__attribute__((constructor)) static void at_load(void)
{
    signal(SIGUSR1, SIG_IGN);
}
