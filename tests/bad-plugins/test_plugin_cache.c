/* SPDX-License-Identifier: Apache-2.0 */
/* What the cache of scans may do: save a scan of files that are unchanged, and nothing else. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/test.h"
#include "plugin/registry.h"
#include "plugin/scan_cache.h"

static char root[] = "/tmp/dpframe-cache-XXXXXX", plugins[64], cache[64], file[512];

static void run(const char *format, const char *a, const char *b)
{
    char command[8192];
    snprintf(command, sizeof command, format, a, b, b);
    assert_int_equal(system(command), 0);
}

static void copy_plugin(const char *name)
{
    char from[4096];
    snprintf(from, sizeof from, "%s/%s/%s.so", BAD_PLUGIN_DIR, name, name);
    run("cp '%s' '%s/new' && cd '%s' && mv new some.so", from, plugins);
}

static int begin(void **state)
{
    (void)state;
    if (!mkdtemp(root))
        return -1;
    snprintf(plugins, sizeof plugins, "%s/plugins", root);
    snprintf(cache, sizeof cache, "%s/dpframe", root);
    return mkdir(plugins, 0700) == 0 && setenv("XDG_CACHE_HOME", root, 1) == 0 ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    run("rm -r '%s'%s", root, "");
    return 0;
}

/* How many components there are, and the first one's id. */
static int64_t components(char id[64])
{
    struct dpf_error error = {0};
    const char *directories[] = {plugins};
    struct registry *registry = registry_open(directories, 1, &error);
    if (!registry)
        fail_msg("%s", error.text);
    const int64_t n = registry_count(registry);
    snprintf(id, 64, "%s", n > 0 ? registry_id_at(registry, 0) : "");
    registry_free(registry);
    return n;
}

/* The only file in the cache; whether it is there. */
static int find_file(void)
{
    DIR *directory = opendir(cache);
    int n = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (entry->d_name[0] != '.') {
            snprintf(file, sizeof file, "%s/%.200s", cache, entry->d_name);
            n++;
        }
    if (directory)
        closedir(directory);
    assert_true(n <= 1);
    return n;
}

TEST(nothing_is_kept_unless_enabled)
{
    char id[64];
    copy_plugin("sound");
    assert_int_equal(components(id), 1);
    assert_int_equal(find_file(), 0);
    scan_cache_enable();
}

/* The scan is not made: the cache's word is taken for the list. */
TEST(an_unchanged_file_is_not_scanned)
{
    char id[64];
    struct stat info;
    assert_int_equal(components(id), 1);
    assert_string_equal(id, "specimen");
    assert_int_equal(find_file(), 1);
    assert_int_equal(stat(file, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    run("sed -i 's/ specimen / phantom1 /' '%s'%s", file, "");
    assert_int_equal(components(id), 1);
    assert_string_equal(id, "phantom1");
}

TEST(a_file_of_others_is_not_read)
{
    char id[64];
    assert_int_equal(find_file(), 1);
    assert_int_equal(chmod(file, 0620), 0);
    assert_int_equal(components(id), 1);
    assert_string_equal(id, "specimen");
}

TEST(another_program_s_file_is_not_read)
{
    char id[64];
    assert_int_equal(find_file(), 1);
    run("sed -i '1s/:/1:/; s/ specimen / phantom2 /' '%s'%s", file, "");
    assert_int_equal(components(id), 1);
    assert_string_equal(id, "specimen");
}

/* Damaged at every length, and of other bytes. */
TEST(a_damaged_file_is_no_fault)
{
    char id[64];
    struct stat info;
    assert_int_equal(components(id), 1);
    assert_int_equal(find_file(), 1);
    assert_int_equal(stat(file, &info), 0);
    for (off_t length = info.st_size - 1; length >= 0; length -= 23) {
        assert_int_equal(truncate(file, length), 0);
        assert_int_equal(components(id), 1);
        assert_string_equal(id, "specimen");
        assert_int_equal(truncate(file, length), 0); /* what was written anew, too */
    }
    run("head -c 3000 /dev/urandom >'%s'%s", file, "");
    assert_int_equal(components(id), 1);
}

TEST(a_changed_file_is_scanned)
{
    char id[64];
    assert_int_equal(components(id), 1);
    copy_plugin("crashes_at_load");
    assert_int_equal(components(id), 0);
    assert_int_equal(components(id), 0); /* what cannot be used is not kept */
    copy_plugin("sound");
    assert_int_equal(components(id), 1);
}

/* The next writer drops what is gone. */
TEST(lines_of_files_that_are_gone_go)
{
    char id[64], other[600];
    snprintf(other, sizeof other, "%s/other.so", plugins);
    run("mv '%s/some.so' '%s'", plugins, other);
    assert_int_equal(components(id), 1);
    assert_int_equal(find_file(), 1);
    run("! grep -q some.so '%s' && grep -q other.so '%s'", file, file);
}

/* The HOME of a service that nobody made, and that of somebody else, as below sudo. */
TEST(no_home_is_made)
{
    char id[64], home[128];
    struct stat info;
    assert_int_equal(unsetenv("XDG_CACHE_HOME"), 0);
    snprintf(home, sizeof home, "%s/home", root);
    assert_int_equal(setenv("HOME", home, 1), 0);
    assert_int_equal(components(id), 1);
    assert_int_not_equal(stat(home, &info), 0);
    assert_int_equal(mkdir(home, 0700), 0);
    if (geteuid() == 0) { /* only root can give a directory away */
        assert_int_equal(chown(home, 65534, 65534), 0);
        assert_int_equal(components(id), 1);
        run("! test -e '%s/.cache'%s", home, "");
        assert_int_equal(chown(home, 0, 0), 0);
    }
    const mode_t mask = umask(0);
    assert_int_equal(components(id), 1);
    umask(mask);
    for (int i = 0; i < 2; i++) {
        strcat(home, i ? "/dpframe" : "/.cache");
        assert_int_equal(stat(home, &info), 0);
        assert_int_equal(info.st_mode & 0777, 0700);
    }
    assert_int_equal(setenv("XDG_CACHE_HOME", root, 1), 0);
}

/* Last, since what this process has loaded it does not look up in the cache. */
TEST(what_is_loaded_must_be_what_was_listed)
{
    char id[64];
    struct dpf_error error = {0};
    const char *directories[] = {plugins};
    assert_int_equal(components(id), 1);
    assert_int_equal(find_file(), 1);
    run("sed -i 's/ specimen / phantom3 /' '%s'%s", file, "");
    struct registry *registry = registry_open(directories, 1, &error);
    assert_non_null(registry);
    assert_string_equal(registry_id_at(registry, 0), "phantom3");
    assert_null(registry_find(registry, DPF_ROLE_TRANSFORM, "phantom3", &error));
    assert_non_null(strstr(error.text, "no longer does"));
    registry_free(registry);
}

FIXTURE(begin, end)
