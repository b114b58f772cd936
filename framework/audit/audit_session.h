/* SPDX-License-Identifier: Apache-2.0 */
/* audit_session.h - data that the parts of "dpframe audit" share. */
#ifndef DPF_AUDIT_AUDIT_SESSION_H
#define DPF_AUDIT_AUDIT_SESSION_H

#include "audit/audit_params.h"
#include "audit/extremes.h"
#include "audit/held_out.h"
#include "audit/moves.h"
#include "audit/noise_check.h"
#include "audit/one_run.h"
#include "audit/trials.h"
#include "run/session.h"

/* A stated epsilon, and the audit's result for it. */
struct audit_statement {
    char name[48];
    const char *kind; /* "proved", "claimed", "not proved" */
    int of_pair;      /* it is about pairs such as the one that is audited */
    double epsilon, delta;
    struct held_out_verdict verdict;
    struct one_run_verdict one_run;
    double lower; /* of either */
    int violated; /* lower > epsilon, it is of the pair, and proved or claimed */
};

struct audit_session {
    const struct arguments *arguments;
    int of_plugin; /* the configuration is made for one component, whose statement alone counts */
    struct session session;
    struct config_values values; /* [audit] */
    struct dataset base;         /* of [data] */
    struct trials trials;
    int thin;   /* of the pair, see struct neighbours */
    int shaped; /* the canary's user has extreme.records, which are of that kind */
    enum extreme shape;
    struct extreme_records extreme;
    char pair[512];  /* the two data sets, in words */
    double *results; /* in memory shared with the jobs: n_trials x 2 x width */
    int64_t n_trials, width;
    struct one_run one_run;
    struct audit_statement *statements;
    int n_statements;
    struct noise_check noise;
    struct move move;        /* the largest of all candidates */
    char mover[128];         /* whose it is */
    const char *mover_shape; /* with which records, or NULL: its own */
    double seconds;
};

/* Reads the data, completes the plan, and makes the pair of data sets, or the canaries of one run. */
int audit_pair_make(struct audit_session *audit, struct dpf_error *error);
/* Sets n_trials: what [audit] trials says, or usual; fewer than least are refused. */
int audit_trials(struct audit_session *audit, int64_t usual, int64_t least, struct dpf_error *error);
/* Runs the trials, --jobs at a time, each in a process of its own. */
int audit_jobs_run(struct audit_session *audit, struct dpf_error *error);
/* Compares the statements of the plan's accountants and of [audit] claim with the bounds. */
int audit_judge(struct audit_session *audit, struct dpf_error *error);
/* As text or JSON on standard output. Returns how many statements are violated and findings about the noise
   failed. */
int audit_report(const struct audit_session *audit);

/* A configuration in memory that has one component to audit, at a path that can be read. */
struct audit_plugin {
    int file; /* -1: none */
    char path[64];
};
int audit_plugin_open(const struct arguments *arguments, const char *id, struct audit_plugin *out,
                      struct dpf_error *error);
void audit_plugin_close(struct audit_plugin *plugin);

static inline const dpf_value *audit_value(const struct audit_session *audit, enum audit_param param)
{
    return &audit->values.params.values[param];
}

/* Many canaries in one training, instead of many trainings with one. */
static inline int audit_in_one_run(const struct audit_session *audit)
{
    return audit_value(audit, AUDIT_CANARIES)->integer != 0;
}

#endif
