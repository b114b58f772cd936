/* SPDX-License-Identifier: Apache-2.0 */
/* Every plugin that loading alone can convict is refused with a text that names the file and the reason. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/test.h"
#include "plugin/plugin_scan.h"
#include "plugin/process_state.h"
#include "plugin/registry.h"

static const struct {
    const char *name;
    const char *reason; /* part of the message */
} refused[] = {
    {"changes_locale", "the locale"},
    {"changes_float_mode", "the floating-point environment"},
    {"changes_umask", "the umask"},
    {"changes_signals", "signal handlers"},
    {"changes_directory", "the current directory"},
    {"crashes_at_load", "crashes when it is loaded"},
    {"exits_at_load", "ends the process when it is loaded"},
    {"undefined_symbol", "function_that_nobody_defines"},
    {"other_major", "built for ABI 2, this host speaks 1"},
    {"no_entry", "it is not a dpframe plugin"},
    {"impure_entry", "another descriptor"},
    {"null_entry", "returned NULL"},
    {"wrong_magic", "magic number"},
    {"short_descriptor", "at least"},
    {"newer_minor", "needs ABI 1.1, this host speaks 1.0"},
    {"unknown_role", "dpframe.oracle/1"},
    {"bad_id", "Bad_Id"},
    {"null_text", "summary"},
    {"no_function", "function factors is missing"},
    {"reserved_slot", "a reserved slot is set"},
    {"other_kind", "another kind"},
    {"no_destroy", "function destroy is missing"},
    {"default_outside", "the default is outside the bounds"},
    {"default_on_open_end", "the default is outside the bounds"},
    {"default_nan", "the default is outside the bounds"},
    {"default_list_outside", "default list is outside the bounds"},
    {"no_help", "no help"},
    {"same_name_twice", "in the table twice"},
    {"enum_without_values", "without values"},
    {"enum_default_outside", "not an index of the values"},
    {"component_twice", "has transform specimen twice"},
};

static struct registry *open_one(const char *name, struct dpf_error *error)
{
    char directory[4096];
    snprintf(directory, sizeof directory, "%s/%s", BAD_PLUGIN_DIR, name);
    const char *directories[] = {directory};
    return registry_open(directories, 1, error);
}

/* A file that cannot be used is no reason to refuse the others; what is asked for and may be in it is. */
TEST(test_refused)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct dpf_error error = {0};
        struct registry *registry = open_one(refused[i].name, &error);
        if (!registry)
            fail_msg("%s: nothing else can be used: %s", refused[i].name, error.text);
        assert_int_equal(registry_count(registry), 0);
        assert_null(registry_find(registry, DPF_ROLE_TRANSFORM, "specimen", &error));
        assert_int_equal(error.fault, DPF_FAULT_PLUGIN);
        if (!strstr(error.text, refused[i].name) || !strstr(error.text, refused[i].reason))
            fail_msg("%s: the message does not say \"%s\": %s", refused[i].name, refused[i].reason,
                     error.text);
        registry_free(registry);
    }
}

static int count_component(void *context, int64_t index, const char *role, const char *id,
                           struct dpf_error *error)
{
    (void)index, (void)role, (void)id, (void)error;
    (*(int *)context)++;
    return 0;
}

static int count_broken(void *context, int64_t index, const struct dpf_error *reason, struct dpf_error *error)
{
    (void)error;
    assert_int_equal(reason->fault, DPF_FAULT_PLUGIN);
    assert_non_null(strstr(reason->text, index == 0 ? "crashes" : "no_entry"));
    (*(int *)context) += 100;
    return 0;
}

/* Before, between and behind those that are sound. */
TEST(test_sound_ones_among_broken_ones)
{
    const char *paths[] = {BAD_PLUGIN_DIR "/crashes_at_load/crashes_at_load.so",
                           BAD_PLUGIN_DIR "/sound/sound.so", BAD_PLUGIN_DIR "/no_entry/no_entry.so"};
    const char *directories[] = {BAD_PLUGIN_DIR "/crashes_at_load", BAD_PLUGIN_DIR "/sound",
                                 BAD_PLUGIN_DIR "/no_entry"};
    struct dpf_error error = {0};
    int found = 0;
    assert_int_equal(plugin_scan(paths, 3, 20, count_component, count_broken, &found, &error), 0);
    assert_int_equal(found, 201);
    struct registry *registry = registry_open(directories, 3, &error);
    assert_non_null(registry);
    assert_int_equal(registry_count(registry), 1);
    assert_non_null(registry_find(registry, DPF_ROLE_TRANSFORM, "specimen", &error));
    assert_null(registry_find(registry, DPF_ROLE_TRANSFORM, "other", &error));
    assert_non_null(strstr(error.text, "/sound:"));
    assert_non_null(strstr(error.text, "DPFRAME_PLUGIN_PATH"));
    assert_non_null(strstr(error.text, "crashes when it is loaded"));
    assert_non_null(strstr(error.text, "no_entry.so"));
    registry_free(registry);
}

TEST(test_sound)
{
    struct dpf_error error = {0};
    struct registry *registry = open_one("sound", &error);
    if (!registry)
        fail_msg("%s", error.text);
    const struct registry_entry *entry = registry_find(registry, DPF_ROLE_TRANSFORM, "specimen", &error);
    if (!entry)
        fail_msg("%s", error.text);
    assert_string_equal(entry->component->id, "specimen");
    assert_string_equal(entry->plugin->id, "org.dpframe.test.specimen");
    assert_int_equal(entry->path[0], '/');
    assert_int_equal(strlen(entry->sha256), 64);
    assert_int_equal(registry_used_count(registry), 1);
    assert_ptr_equal(registry_used_at(registry, 0), entry);
    assert_ptr_equal(registry_find(registry, DPF_ROLE_TRANSFORM, "specimen", &error), entry);
    assert_int_equal(registry_used_count(registry), 1);
    assert_null(registry_find(registry, DPF_ROLE_TRANSFORM, "spezimen", &error));
    assert_int_equal(error.fault, DPF_FAULT_CONFIG);
    assert_non_null(strstr(error.text, "did you mean \"specimen\""));
    registry_free(registry);
}

TEST(test_duplicates)
{
    struct dpf_error error = {0};
    const char *directories[] = {BAD_PLUGIN_DIR "/sound", BAD_PLUGIN_DIR "/sound_again"};
    struct registry *registry = registry_open(directories, 2, &error);
    assert_non_null(registry);
    assert_null(registry_find(registry, DPF_ROLE_TRANSFORM, "specimen", &error));
    registry_free(registry);
    assert_int_equal(error.fault, DPF_FAULT_PLUGIN);
    assert_non_null(strstr(error.text, "/sound/sound.so"));
    assert_non_null(strstr(error.text, "/sound_again/sound_again.so"));
}

TEST(test_same_directory_twice_is_no_duplicate)
{
    struct dpf_error error = {0};
    const char *directories[] = {BAD_PLUGIN_DIR "/sound", BAD_PLUGIN_DIR "/sound/../sound"};
    struct registry *registry = registry_open(directories, 2, &error);
    assert_non_null(registry);
    registry_free(registry);
}

TEST(test_directories)
{
    struct dpf_error error = {0};
    const char *relative[] = {"plugins"};
    assert_null(registry_open(relative, 1, &error));
    assert_int_equal(error.fault, DPF_FAULT_CONFIG);
    error.fault = DPF_FAULT_NONE;
    const char *missing[] = {"/nonexistent/plugins"};
    assert_null(registry_open(missing, 1, &error));
    assert_non_null(strstr(error.text, "/nonexistent/plugins"));
    error.fault = DPF_FAULT_NONE;
    setenv("DPFRAME_PLUGIN_PATH", BAD_PLUGIN_DIR "/sound:", 1); /* an empty element is not "." */
    assert_null(registry_open(NULL, 0, &error));
    assert_non_null(strstr(error.text, "DPFRAME_PLUGIN_PATH"));
    error.fault = DPF_FAULT_NONE;
    setenv("DPFRAME_PLUGIN_PATH", BAD_PLUGIN_DIR "/sound", 1);
    struct registry *registry = registry_open(NULL, 0, &error);
    unsetenv("DPFRAME_PLUGIN_PATH");
    assert_non_null(registry);
    assert_non_null(registry_find(registry, DPF_ROLE_TRANSFORM, "specimen", &error));
    registry_free(registry);
}

/* A copy that everybody may change, in a directory of its own. */
static void copy_sound(const char *target)
{
    char command[8192];
    snprintf(command, sizeof command, "cp '%s/sound/sound.so' '%s'", BAD_PLUGIN_DIR, target);
    assert_int_equal(system(command), 0);
}

static void not_usable(const char *const *directories, const char *why)
{
    struct dpf_error error = {0};
    struct registry *registry = registry_open(directories, 1, &error);
    assert_non_null(registry);
    assert_int_equal(registry_count(registry), 0);
    assert_null(registry_find(registry, DPF_ROLE_TRANSFORM, "specimen", &error));
    assert_int_equal(error.fault, DPF_FAULT_PLUGIN);
    assert_non_null(strstr(error.text, why));
    registry_free(registry);
}

TEST(test_writable_by_others)
{
    char directory[] = "/tmp/dpframe-loader-XXXXXX";
    assert_non_null(mkdtemp(directory));
    char file[256];
    snprintf(file, sizeof file, "%s/sound.so", directory);
    copy_sound(file);
    const char *directories[] = {directory};
    struct dpf_error error = {0};
    assert_int_equal(chmod(file, 0646), 0);
    not_usable(directories, "the file is writable by everybody");
    assert_int_equal(chmod(file, 0644), 0);
    assert_int_equal(chmod(directory, 0707), 0);
    not_usable(directories, "the directory is writable by everybody");
    assert_int_equal(chmod(directory, 0700), 0);
    struct registry *registry = registry_open(directories, 1, &error);
    assert_non_null(registry);
    registry_free(registry);
    unlink(file);
    rmdir(directory);
}

TEST(test_hanging)
{
    const char *paths[] = {BAD_PLUGIN_DIR "/sound/sound.so",
                           BAD_PLUGIN_DIR "/hangs_at_load/hangs_at_load.so"};
    struct dpf_error error = {0};
    int found = 0;
    assert_int_equal(plugin_scan(paths, 2, 1, count_component, NULL, &found, &error), -1);
    assert_int_equal(found, 1);
    assert_non_null(strstr(error.text, "hangs_at_load.so: loading it took longer than 1 second"));
}

/* The child's misfortunes must not reach the process that scans. */
TEST(test_process_is_untouched)
{
    struct process_state before;
    process_state_save(&before);
    for (size_t i = 0; i < 5; i++) {
        struct dpf_error ignored = {0};
        registry_free(open_one(refused[i].name, &ignored));
    }
    struct text differences = {0};
    assert_int_equal(process_state_compare(&before, &differences), 0);
    process_state_free(&before);
}
