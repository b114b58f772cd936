/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/config_support.h"

/* Every test that needs files runs in a directory of its own, which is also the current one. */
static char support_directory[] = "/tmp/dpframe-config-XXXXXX";

int support_enter(void **state)
{
    (void)state;
    strcpy(support_directory, "/tmp/dpframe-config-XXXXXX");
    if (!mkdtemp(support_directory) || chdir(support_directory) != 0)
        return -1;
    return mkdir("sub", 0700);
}

static void support_remove_files(const char *directory)
{
    DIR *entries = opendir(directory);
    if (!entries)
        return;
    for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (entry->d_name[0] != '.')
            remove(path);
    }
    closedir(entries);
}

int support_leave(void **state)
{
    (void)state;
    support_remove_files("sub");
    support_remove_files(".");
    return chdir("/") == 0 ? rmdir(support_directory) : -1;
}

void support_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

struct config *support_parse(const char *text)
{
    struct dpf_error error = {0};
    struct config *config = config_parse("t.ini", text, strlen(text), &error);
    if (!config)
        fail_msg("%s", error.text);
    return config;
}

const char *support_value(const struct config *config, const char *section, const char *key)
{
    const struct config_entry *entry = config_find(config, section, key);
    return entry ? entry->value : "(absent)";
}

void support_assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" does not contain \"%s\"", text, part);
}
