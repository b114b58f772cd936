/* SPDX-License-Identifier: Apache-2.0 */
/* config_support.h - files and lookups that the tests of the config room share. */
#ifndef DPF_TESTS_CONFIG_SUPPORT_H
#define DPF_TESTS_CONFIG_SUPPORT_H

#include "kit/test.h"
#include "config/config.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int support_enter(void **state);

int support_leave(void **state);

void support_write(const char *path, const char *text);

struct config *support_parse(const char *text);

const char *support_value(const struct config *config, const char *section, const char *key);

void support_assert_contains(const char *text, const char *part);

#endif
