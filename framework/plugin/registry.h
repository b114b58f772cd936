/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry.h - finding plugins, loading them safely, and making instances.
 *
 * registry_open scans the search path in a child process, so that a plugin that crashes or changes
 * the process when loaded cannot hurt the run, and learns which file has which component. A plugin
 * is loaded into this process only when a component of it is asked for; it is never unloaded.
 */
#ifndef DPF_PLUGIN_REGISTRY_H
#define DPF_PLUGIN_REGISTRY_H

#include <stdint.h>

#include "base/error.h"
#include "base/pool.h"
#include "base/random.h"
#include "config/config.h"
#include "dpframe/dpframe.h"

struct registry;
struct text;

struct registry_entry {
    const dpf_component *component;
    const dpf_plugin *plugin;
    const char *path; /* absolute, resolved */
    char sha256[65];  /* of what registry_find has found */
};

/*
 * Search path, in this order: extra directories (command line), configured ones, DPFRAME_PLUGIN_PATH
 * (colon-separated; ignored if the process is privileged), the build tree's plugins if the
 * executable lies in one, the install directory. All must be absolute; names are sorted. A directory
 * that does not exist is an error only if it was named by the user. A file that cannot be used, and a
 * component that two files offer, is warned of once in a process, and an error only when it is asked for.
 */
struct registry *registry_open(const char *const *directories, int n_directories, struct dpf_error *error);
void registry_free(struct registry *registry); /* plugins stay loaded */

/* Loads on demand. role is DPF_ROLE_*. An unknown id is DPF_FAULT_CONFIG and suggests the nearest;
   where is the section for the message. NULL on error. */
const struct registry_entry *registry_find(struct registry *registry, const char *role, const char *id,
                                           struct dpf_error *error);
/* All components, sorted by role and id; nothing is loaded. */
int64_t registry_count(const struct registry *registry);
const char *registry_role_at(const struct registry *registry, int64_t index);
const char *registry_id_at(const struct registry *registry, int64_t index);
/* Loads it, to be looked at and not to be run: without sha256. NULL on error. */
const struct registry_entry *registry_at(struct registry *registry, int64_t index, struct dpf_error *error);
/* Whether there is such a component; nothing is loaded. */
int registry_has(const struct registry *registry, const char *role, const char *id);
/* As registry_at, of one that is there. */
const struct registry_entry *registry_look(struct registry *registry, const char *role, const char *id,
                                           struct dpf_error *error);
/* Adds the ids of the components of a role for which fits says yes, separated by commas; "none" if there are none. */
void registry_add_fitting(struct registry *registry, const char *role,
                          int (*fits)(const dpf_component *component, uint32_t flags), uint32_t flags,
                          struct text *out);
/* Entries loaded by registry_find so far: for run.json. */
int64_t registry_used_count(const struct registry *registry);
const struct registry_entry *registry_used_at(const struct registry *registry, int64_t index);
/* Role, id and digest of each, for the digest of what a run is made from. */
void registry_add_used(const struct registry *registry, struct text *text);

/* A running component. */
struct instance {
    const struct registry_entry *entry;
    const void *functions; /* the role's table */
    void *self;
    struct config_values values;
    dpf_host host;   /* given to the plugin */
    void *internals; /* private */
};

/* What instances of a run share. */
struct instance_environment {
    const struct random_root *seeded;  /* keys all but mechanisms, samplers, aggregators and recommenders */
    const struct random_root *privacy; /* keys those */
    struct config *config;
    /* Receives dpf_log_service.metric; may be NULL. */
    void (*metric)(void *context, const char *section, const char *name, double value);
    void *metric_context;
};

/*
 * Binds the section's parameters (strictly) and creates the instance. section is where its
 * parameters stand ("users.mechanism"); it also keys its randomness.
 */
struct instance *instance_new(const struct registry_entry *entry, const char *section,
                              const struct instance_environment *environment, struct dpf_error *error);
void instance_free(struct instance *instance);
/* Draws of a component with private randomness come from another root from now on, which must outlive it. No
   call may be going on. */
void instance_rekey(struct instance *instance, const struct random_root *privacy);
/* Whether the component has opened a random stream of the whole run, which others may read as well. */
int instance_shares_stream(const struct instance *instance);
/*
 * Turns the status of a callback into an error: 0 if status is DPF_OK, else -1 with what the plugin
 * reported through dpf_host.fail (or a generic sentence), the component, the section, file:line of the
 * parameter if one was named, and the step ("round 3, items").
 */
int instance_result(struct instance *instance, dpf_status status, const char *step, struct dpf_error *error);

/* Only the plugin's report, or a generic sentence: for statements, not for an error with a place.
 */
void instance_reason(struct instance *instance, dpf_status status, char *out, size_t size);

/* The call object of a worker: scratch and identity. One per worker; reset before each callback. */
struct worker;
struct worker *worker_new(int index, int n_workers);
void worker_free(struct worker *worker);
/* Prepares for a callback into instance and returns the call. Scratch from before is reused. */
dpf_call *worker_call(struct worker *worker, struct instance *instance, int32_t round, uint32_t draw,
                      uint32_t party);
/*
 * Lets the call that was just prepared run tasks on the pool, until the next one is prepared. The pool has to
 * be idle, the calling thread's worker be 0 and n_workers the pool's.
 */
void worker_lend_pool(struct worker *worker, struct pool *pool);
/* Whether all calls are to stop: interrupt_is_wanted, and a sign of life for whoever watches. */
int worker_cancelled(void);
/* What a run that was asked to stop leaves, as a clause for the user. */
const char *worker_cancelled_leaves(int checkpoint);

#endif
