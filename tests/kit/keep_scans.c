/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/keep_scans.h"

void keep_scans(void)
{
    char folder[4096];
    const char *build = getenv("DPFRAME_BUILD_DIR");
    snprintf(folder, sizeof folder, "%s/kept-scans", build ? build : "/tmp");
    mkdir(folder, 0700);
    setenv("XDG_CACHE_HOME", folder, 1);
    scan_cache_enable();
}
