/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/new_plugin.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "plugin/search_path.h"

static const char *const roles[] = {"mechanism", "loss", "sampler", "accountant", "transform"};
enum { N_ROLES_WITH_TEMPLATE = sizeof roles / sizeof roles[0], MOST_FILE = 1 << 20 };

/* Names as the template has them, and what they become. */
struct names {
    char from[3][64]; /* acme-ROLE, acme_ROLE, com.acme.ROLE */
    char to[3][96];
};

static int check_role(const char *role, struct dpf_error *error)
{
    char shown[TEXT_SHOWN];
    for (int i = 0; i < N_ROLES_WITH_TEMPLATE; i++)
        if (strcmp(role, roles[i]) == 0)
            return 0;
    const char *nearest = text_nearest(role, roles, N_ROLES_WITH_TEMPLATE);
    return error_set(error, DPF_FAULT_CONFIG,
                     "there is no template for the role \"%s\"%s%s%s; there are mechanism, loss, sampler, "
                     "accountant and transform",
                     text_show(role, shown), nearest ? "; did you mean " : "", nearest ? nearest : "",
                     nearest ? "?" : "");
}

/* As the loader wants ids: lower-case words and digits, joined by '-'. */
static int check_name(const char *name, struct dpf_error *error)
{
    char shown[TEXT_SHOWN];
    const size_t length = strlen(name);
    int is_good = length > 0 && length <= 48 && name[0] >= 'a' && name[0] <= 'z' && name[length - 1] != '-' &&
                  strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == length && !strstr(name, "--");
    return is_good
               ? 0
               : error_set(error, DPF_FAULT_CONFIG,
                           "\"%s\" is not a component's id: use lower-case words and digits joined by '-', "
                           "at most 48 characters, for instance acme-noise",
                           text_show(name, shown));
}

static void choose_names(const char *role, const char *name, struct names *out)
{
    snprintf(out->from[0], sizeof out->from[0], "acme-%s", role);
    snprintf(out->from[1], sizeof out->from[1], "acme_%s", role);
    snprintf(out->from[2], sizeof out->from[2], "com.acme.%s", role);
    snprintf(out->to[0], sizeof out->to[0], "%s", name);
    snprintf(out->to[1], sizeof out->to[1], "%s", name);
    snprintf(out->to[2], sizeof out->to[2], "com.example.%s", name);
    for (char *c = out->to[1]; *c; c++)
        *c = *c == '-' ? '_' : *c;
}

static void add_renamed(struct text *out, const char *text, const struct names *names)
{
    while (*text) {
        int which = 0;
        while (which < 3 && strncmp(text, names->from[which], strlen(names->from[which])) != 0)
            which++;
        if (which < 3) {
            text_add(out, "%s", names->to[which]);
            text += strlen(names->from[which]);
        } else {
            text_add(out, "%c", *text++);
        }
    }
}

static char *read_file(const char *path, struct dpf_error *error)
{
    FILE *in = fopen(path, "rb");
    char *text = in ? memory_new(MOST_FILE, 1) : NULL;
    const size_t n = text ? fread(text, 1, MOST_FILE - 1, in) : 0;
    if (!text || ferror(in) || n == MOST_FILE - 1) {
        error_set(error, DPF_FAULT_CONFIG, "cannot read the template %s: %s", path,
                  errno ? strerror(errno) : "it is too long");
        free(text);
        text = NULL;
    }
    if (in)
        fclose(in);
    return text;
}

static int copy_file(const char *from, const char *to, const char *name, const struct names *names,
                     struct dpf_error *error)
{
    struct text content = {0}, renamed = {0};
    char *source = files_join(from, name), *text = read_file(source, error);
    int status = text ? 0 : -1;
    if (status == 0) {
        add_renamed(&renamed, name, names);
        add_renamed(&content, text, names);
        char *target = files_join(to, renamed.data);
        status = files_write_text(target, content.data ? content.data : "", error);
        free(target);
    }
    text_free(&content);
    text_free(&renamed);
    free(text);
    free(source);
    return status;
}

/* Copies the template's files into a directory that exists and is empty. */
static int copy_template(const char *from, const char *to, const struct names *names, struct dpf_error *error)
{
    DIR *directory = opendir(from);
    int status = directory ? 0
                           : error_set(error, DPF_FAULT_CONFIG,
                                       "cannot read the template %s: %s; install dpframe as a whole", from,
                                       strerror(errno));
    for (struct dirent *entry; status == 0 && (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            status = copy_file(from, to, entry->d_name, names, error);
    if (directory)
        closedir(directory);
    return status;
}

/* What a failed copy has left. */
static void remove_directory(const char *path)
{
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char *file = entry->d_name[0] != '.' ? files_join(path, entry->d_name) : NULL;
        if (file)
            unlink(file);
        free(file);
    }
    if (directory)
        closedir(directory);
    rmdir(path);
}

/* Everything is written beside the directory, which appears when it is complete. An empty one may be there.
 */
static int write_project(const char *role, const char *name, const char *directory, struct dpf_error *error)
{
    struct names names = {0};
    char shown[TEXT_SHOWN];
    char *templates = search_path_templates(), *from = templates ? files_join(templates, role) : NULL;
    size_t length = strlen(directory);
    while (length > 1 && directory[length - 1] == '/')
        length--;
    char *partial = memory_format("%.*s.partial-%ld", (int)length, directory, (long)getpid());
    int status = from ? 0 : error_set(error, DPF_FAULT_RUN, "the templates were not found");
    choose_names(role, name, &names);
    if (status == 0 && mkdir(partial, 0777) != 0)
        status = error_set(error, DPF_FAULT_CONFIG, "cannot make the directory %s: %s",
                           text_show(partial, shown), strerror(errno));
    else if (status == 0) {
        status = copy_template(from, partial, &names, error);
        if (status == 0 && rename(partial, directory) != 0)
            status = error_set(error, DPF_FAULT_CONFIG,
                               "cannot write %s: %s; choose a directory that is new or empty",
                               text_show(directory, shown),
                               errno == ENOTEMPTY || errno == EEXIST ? "it contains files" : strerror(errno));
        if (status != 0)
            remove_directory(partial);
    }
    free(partial);
    free(from);
    free(templates);
    return status;
}

int new_plugin_write(const char *role, const char *name, const char *directory, struct dpf_error *error)
{
    return check_role(role, error) != 0 || check_name(name, error) != 0
               ? -1
               : write_project(role, name, directory, error);
}
