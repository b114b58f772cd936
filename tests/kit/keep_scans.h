/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep_scans.h - what a scan of the plugins found is kept in the build tree. A test that makes hundreds of plans would
 * otherwise load every plugin in a process of its own for each: half of its time.
 */
#ifndef DPF_TEST_KIT_KEEP_SCANS_H
#define DPF_TEST_KIT_KEEP_SCANS_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "plugin/scan_cache.h"

void keep_scans(void);

#endif
