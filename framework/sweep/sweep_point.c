/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/sweep_point.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/log.h"
#include "data/load.h"
#include "plan/charge.h"
#include "run/session_warnings.h"
#include "sweep/sweep_dir.h"
#include "plan/plan_make.h"

/* ---- the fingerprint -------------------------------------------------------------------------------- */

/* The resolved configuration without what changes no result. */
static char *configuration_text(const struct plan *plan)
{
    json_t *resolved = plan_resolved(plan);
    json_t *run = json_object_get(resolved, "run");
    json_object_del(run, "output");
    json_object_del(run, "threads");
    json_object_del(run, "plugin-dir");
    char *text = json_dumps(resolved, JSON_SORT_KEYS | JSON_COMPACT);
    json_decref(resolved);
    return text;
}

static int data_hash(const struct sweep_base *base, const struct plan *plan, const char *key, char hex[65],
                     struct dpf_error *error)
{
    const char *known = json_string_value(json_object_get(base->data_hashes, key));
    if (known) {
        memcpy(hex, known, 65);
        return 0;
    }
    if (data_files_sha256(&plan->data, &plan->split, hex, error) != 0)
        return -1;
    json_object_set_new(base->data_hashes, key, json_string(hex));
    return 0;
}

static int make_fingerprint(const struct sweep_base *base, const struct plan *plan, struct sweep_point *out)
{
    struct text text = {0};
    char hash[65];
    char *configuration = configuration_text(plan);
    int status = configuration ? data_hash(base, plan, out->source_key, hash, &out->problem)
                               : error_memory(&out->problem);
    if (status == 0) {
        text_add(&text, "dpframe %s\n%s\ndata %s\n", DPFRAME_VERSION, configuration, hash);
        registry_add_used(plan->registry, &text);
        files_hash_bytes(text.data, text.length, out->fingerprint);
    }
    text_free(&text);
    free(configuration);
    return status;
}

/* ---- preparing --------------------------------------------------------------------------------------- */

static int write_config(const struct sweep_base *base, struct plan *plan, struct sweep_point *out,
                        struct dpf_error *error)
{
    plan->output = store_path(base->directory, "points", out->point->name, "");
    char *ini = plan_resolved_ini(plan);
    const int status = base->dry_run || base->keep_config ? 0 : files_write_text(out->config, ini, error);
    free(ini);
    return status;
}

static int inspect(const struct sweep_base *base, struct session *session, struct sweep_point *out,
                   struct dpf_error *error)
{
    struct plan *plan = &session->plan;
    if (plan_check_read(plan, &out->problem) != 0)
        return 0;
    json_t *keys = plan_privacy_keys(plan);
    json_object_update(base->privacy_keys, keys);
    json_decref(keys);
    out->source_key = data_source_key(&plan->data, &plan->split, plan->run.params.values[RUN_SEED].integer);
    if (make_fingerprint(base, plan, out) != 0)
        return 0;
    out->done = store_is_done(base->directory, out->point->name, out->fingerprint);
    return write_config(base, plan, out, error);
}

struct config *sweep_points_read(const struct arguments *arguments, struct design *design,
                                 struct points *points, struct dpf_error *error)
{
    struct config *config =
        config_load(arguments->config, arguments->overrides, arguments->n_overrides, error);
    if (config && design_read(config, design, error) == 0 && design_check_files(design, error) == 0 &&
        points_make(design, points, error) == 0)
        return config;
    config_free(config);
    return NULL;
}

int sweep_point_open(const struct arguments *arguments, const struct design *design,
                     const struct point *point, struct session *session, struct dpf_error *error)
{
    struct arguments *own = memory_need(1, sizeof *own);
    *own = *arguments;
    if (point->variant) {
        own->layers = (const char *const *)point->variant->layers.texts;
        own->n_layers = (int)point->variant->layers.n;
    }
    own->settings = (const char *const *)point->settings;
    own->n_settings = point->n_settings;
    own->settings_directory = design->directory;
    const int status = session_open(session, own, 0, error);
    free(own);
    return status;
}

int sweep_point_judge(struct session *session, struct dpf_error *problem)
{
    if (session_complete_without_training(session, problem) != 0)
        return -1;
    const enum log_level level = log_set_level(LOG_LEVEL_NONE); /* each run says it in its log */
    const int status = session_check(session, problem);
    log_set_level(level);
    return status == 0 ? plan_charge(&session->plan, 0, problem) : -1;
}

void sweep_point_judge_prepared(const struct sweep_base *base, struct sweep_row *row, struct sweep_point *out)
{
    struct session session = {0};
    if (out->problem.fault)
        return;
    if (!row->first || !point_repeats(base->design, row->first, out->point)) {
        *row = (struct sweep_row){.first = out->point};
        if (sweep_point_open(base->arguments, base->design, out->point, &session, &row->problem) == 0)
            sweep_point_judge(&session, &row->problem);
        session_close(&session);
    }
    out->problem = row->problem;
}

int sweep_point_prepare(const struct sweep_base *base, const struct point *point, struct sweep_point *out,
                        struct dpf_error *error)
{
    *out = (struct sweep_point){.point = point};
    out->config = store_path(base->directory, "configs", point->name, ".ini");
    struct session session = {0};
    int status = 0;
    if (sweep_point_open(base->arguments, base->design, point, &session, &out->problem) == 0)
        status = inspect(base, &session, out, error);
    session_close(&session);
    return status;
}

void sweep_point_free(struct sweep_point *point)
{
    free(point->source_key);
    free(point->config);
}
