/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/plugin_load.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "plugin/descriptor.h"
#include "plugin/process_state.h"

/* Majors whose entry points are looked for, to tell a plugin of another age from a stranger. */
#define NEWEST_MAJOR_PROBED 9

typedef const dpf_plugin *(*entry_function)(uint32_t host_minor);

static int check_one(const char *path, const char *what, struct stat *info, struct dpf_error *error)
{
    if (stat(path, info) != 0)
        return error_at(error, DPF_FAULT_PLUGIN, path, 0, "cannot inspect the %s: %s", what, strerror(errno));
    if (info->st_uid != 0 && info->st_uid != geteuid())
        return error_at(
            error, DPF_FAULT_PLUGIN, path, 0,
            "the %s belongs to user %ld; plugins must belong to root or to the user who runs them", what,
            (long)info->st_uid);
    if (info->st_mode & S_IWOTH)
        return error_at(error, DPF_FAULT_PLUGIN, path, 0,
                        "the %s is writable by everybody: run \"chmod o-w %s\"", what, path);
    return 0;
}

/* A pipe of that name would be waited for. */
static int check_object(const char *path, struct dpf_error *error)
{
    struct stat info;
    if (check_one(path, "file", &info, error) != 0)
        return -1;
    if (!S_ISREG(info.st_mode))
        return error_at(
            error, DPF_FAULT_PLUGIN, path, 0,
            "is not a regular file, so it is not a dpframe plugin: remove it from the plugin directory");
    return 0;
}

int plugin_path_check(const char *path, struct dpf_error *error)
{
    if (path[0] != '/')
        return error_at(error, DPF_FAULT_PLUGIN, path, 0, "a plugin's path must be absolute");
    struct stat info;
    char *directory = files_directory(path);
    int status = check_object(path, error) == 0 ? check_one(directory, "directory", &info, error) : -1;
    free(directory);
    return status;
}

static int no_entry(void *object, const char *path, struct dpf_error *error)
{
    for (int major = 0; major <= NEWEST_MAJOR_PROBED; major++) {
        char name[32];
        snprintf(name, sizeof name, "dpframe_plugin_v%d", major);
        if (major != DPF_ABI_MAJOR && dlsym(object, name))
            return error_at(
                error, DPF_FAULT_PLUGIN, path, 0,
                "built for ABI %d, this host speaks %d: rebuild the plugin against this dpframe's headers",
                major, DPF_ABI_MAJOR);
    }
    return error_at(error, DPF_FAULT_PLUGIN, path, 0,
                    "has no function " DPF_ENTRY_NAME
                    ", so it is not a dpframe plugin: remove it from the plugin directory");
}

const dpf_plugin *plugin_load_unchecked(const char *path, struct dpf_error *error)
{
    dlerror();
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        const char *reason = dlerror();
        const size_t length = strlen(path);
        if (reason && strncmp(reason, path, length) == 0 && strncmp(reason + length, ": ", 2) == 0)
            reason += length + 2; /* the message begins with the path already */
        error_at(error, DPF_FAULT_PLUGIN, path, 0, "cannot be loaded: %s",
                 reason ? reason : "no reason given");
        return NULL;
    }
    /* POSIX makes the conversion of the object pointer valid; ISO C has no word for it. */
    entry_function entry;
    void *symbol = dlsym(object, DPF_ENTRY_NAME);
    memcpy(&entry, &symbol, sizeof entry);
    if (!symbol) {
        no_entry(object, path, error);
        return NULL;
    }
    const dpf_plugin *plugin = entry(DPF_ABI_MINOR);
    if (plugin != entry(DPF_ABI_MINOR)) {
        error_at(error, DPF_FAULT_PLUGIN, path, 0,
                 DPF_ENTRY_NAME " returns another descriptor when it is called again");
        return NULL;
    }
    if (!plugin)
        error_at(error, DPF_FAULT_PLUGIN, path, 0, DPF_ENTRY_NAME " returned NULL");
    return plugin;
}

const dpf_plugin *plugin_load(const char *path, struct dpf_error *error)
{
    struct process_state before;
    if (plugin_path_check(path, error) != 0)
        return NULL;
    process_state_save(&before);
    const dpf_plugin *plugin = plugin_load_unchecked(path, error);
    struct text differences = {0};
    if (process_state_compare(&before, &differences)) {
        process_state_restore(&before);
        error_at(error, DPF_FAULT_PLUGIN, path, 0,
                 "loading it changed %s of the process (restored); a plugin must leave these alone, also by "
                 "way of "
                 "-ffast-math or a library's constructors",
                 differences.data ? differences.data : "the state");
        plugin = NULL;
    }
    text_free(&differences);
    process_state_free(&before);
    if (plugin && descriptor_check(plugin, path, error) != 0)
        plugin = NULL;
    return plugin;
}
