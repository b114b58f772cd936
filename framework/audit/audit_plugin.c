/* SPDX-License-Identifier: Apache-2.0 */
/* dpframe audit --plugin: one component by itself, in the smallest pipeline that it can stand in. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "audit/audit_session.h"
#include "base/log.h"
#include "base/text.h"
#include "config/gone.h"
#include "dpframe/role/mechanism.h"
#include "dpframe/role/recommender.h"

/*
 * One release of a mechanism, or four rounds where its noise is correlated between them: sums of gradients,
 * for user rows of norm 1 that stay as they are, so that the change of one value moves a single number by as
 * much as the plan says, and nothing else is private.
 */
static const char mechanism_text[] = "[run]\nrounds = %d\n"
                                     "[data]\nformat = synthetic\nvalue-min = 1\nvalue-max = 5\n"
                                     "synthetic.users = 20\nsynthetic.items = 6\nsynthetic.ratings = 60\n"
                                     "synthetic.min-per-user = 1\n"
                                     "[split]\nkind = none\n"
                                     "[model]\nrank = 1\ninit-norm = 1\ninit-scale = 1\n"
                                     "[users]\nupdate = no\n"
                                     "[items]\nloss = squared-error\nmechanism = %s\naggregator = sum\n"
                                     "solver = gradient-descent\n"
                                     "[items.loss]\nregularization = 0\nclip-error = 100\n"
                                     "[items.solver]\nrate = 1e-3\n"
                                     "%s"
                                     "[privacy]\nunit = record\nadjacency = replace-value\n"
                                     "interaction-pattern = public\ndelta = 1e-5\n"
                                     "[accountants]\nlist = pure, pld, rdp\n";

/* What users of a recommender send, of which one record differs. */
static const char recommender_text[] = "[run]\n"
                                       "[data]\nformat = synthetic\nfeedback = implicit\n"
                                       "synthetic.users = 20\nsynthetic.items = 6\nsynthetic.ratings = 60\n"
                                       "synthetic.min-per-user = 1\n"
                                       "[split]\nkind = none\n"
                                       "[model]\nrecommender = %s\n"
                                       "[parties]\nkind = users\n"
                                       "[privacy]\nunit = record\nadjacency = flip\nobserver = server\n"
                                       "delta = 1e-5\n"
                                       "[accountants]\nlist = pure, pld, rdp\n";

/* The same of one that predicts values, which it wants in a range: all of a user's ratings differ. */
static const char ratings_text[] = "[run]\n"
                                   "[data]\nformat = synthetic\nvalue-min = 1\nvalue-max = 5\n"
                                   "synthetic.users = 20\nsynthetic.items = 6\nsynthetic.ratings = 60\n"
                                   "synthetic.min-per-user = 1\n"
                                   "[split]\nkind = none\n"
                                   "[model]\nusers = 20\nrecommender = %s\n"
                                   "[parties]\nkind = users\n"
                                   "[privacy]\nunit = user\nadjacency = add-remove\nobserver = outsider\n"
                                   "delta = 1e-5\n"
                                   "[accountants]\nlist = pure, pld, rdp\n";

static int has_param(const dpf_component *component, const char *name)
{
    for (int64_t i = 0; i < component->n_params; i++) {
        const char *at = (const char *)component->params + i * component->param_stride;
        if (strcmp(((const dpf_param *)(const void *)at)->name, name) == 0)
            return 1;
    }
    return 0;
}

static int role_name(const dpf_component *component, char role[32])
{
    const char *dot = strchr(component->role, '.');
    snprintf(role, 32, "%s", dot ? dot + 1 : component->role);
    role[strcspn(role, "/")] = '\0';
    return strcmp(component->role, DPF_ROLE_MECHANISM) == 0 ||
           strcmp(component->role, DPF_ROLE_RECOMMENDER) == 0;
}

/* The component of that id that draws noise of its own; NULL, and an error, if there is none. */
static const dpf_component *find_component(struct registry *registry, const char *id, struct dpf_error *error)
{
    char role[32], other[32] = "", shown[TEXT_SHOWN];
    for (int64_t i = 0; i < registry_count(registry); i++) {
        if (strcmp(registry_id_at(registry, i), id) != 0)
            continue;
        const struct registry_entry *entry = registry_at(registry, i, error);
        if (!entry)
            return NULL;
        const dpf_component *component = entry->component;
        if (role_name(component, role))
            return component;
        snprintf(other, sizeof other, "%s", role);
    }
    if (gone_component(id) && !*other)
        error_set(error, DPF_FAULT_CONFIG, "--plugin %s is gone: %s", text_show(id, shown),
                  gone_component(id));
    else if (*other)
        error_set(
            error, DPF_FAULT_CONFIG,
            "--plugin %s: it is of the role %s; by itself only a mechanism or a recommender adds noise. "
            "Audit a configuration (-c) that uses it",
            text_show(id, shown), other);
    else
        error_set(error, DPF_FAULT_CONFIG, "--plugin %s: no component has that id: see dpframe list",
                  text_show(id, shown));
    return NULL;
}

/* Whether that recommender predicts values, as the arguments configure it. */
static int predicts_values(const struct arguments *arguments, const char *path)
{
    struct dpf_error ignored = {0};
    struct session session = {0};
    struct arguments own = *arguments;
    own.config = path;
    const enum log_level level = log_set_level(LOG_LEVEL_NONE);
    int answer = 0;
    if (session_open(&session, &own, 0, &ignored) == 0)
        answer = !plan_has(&session.plan, MODEL_RANKS_ONLY);
    session_close(&session);
    log_set_level(level);
    return answer;
}

static int write_mechanism(const dpf_component *component, int file)
{
    /* What has a noise multiplier has noise by default, and takes a delta only if it is told to. */
    const int asks = has_param(component, "delta") && !has_param(component, "noise-multiplier");
    const char *delta = asks ? "[items.mechanism]\ndelta = 1e-5\n" : "";
    const int rounds = ((const dpf_mechanism *)component->functions)->correlation ? 4 : 1;
    return dprintf(file, mechanism_text, rounds, component->id, delta) > 0 ? 0 : -1;
}

static int write_recommender(const dpf_component *component, const struct arguments *arguments,
                             const struct audit_plugin *out)
{
    if (dprintf(out->file, recommender_text, component->id) <= 0)
        return -1;
    if (!predicts_values(arguments, out->path))
        return 0;
    return ftruncate(out->file, 0) == 0 && lseek(out->file, 0, SEEK_SET) == 0 &&
                   dprintf(out->file, ratings_text, component->id) > 0
               ? 0
               : -1;
}

int audit_plugin_open(const struct arguments *arguments, const char *id, struct audit_plugin *out,
                      struct dpf_error *error)
{
    struct registry *registry = registry_open(arguments->plugin_dirs, arguments->n_plugin_dirs, error);
    const dpf_component *component = registry ? find_component(registry, id, error) : NULL;
    int status = component ? 0 : -1;
    out->file = -1;
    if (status == 0) {
        out->file = memfd_create("dpframe-audit", MFD_CLOEXEC);
        snprintf(out->path, sizeof out->path, "/proc/self/fd/%d", out->file);
        if (out->file < 0 || (strcmp(component->role, DPF_ROLE_MECHANISM) == 0
                                  ? write_mechanism(component, out->file)
                                  : write_recommender(component, arguments, out)) != 0)
            status = error_set(error, DPF_FAULT_RUN, "--plugin %s: cannot write its configuration", id);
    }
    registry_free(registry);
    return status;
}

void audit_plugin_close(struct audit_plugin *plugin)
{
    if (plugin->file >= 0)
        close(plugin->file);
}
