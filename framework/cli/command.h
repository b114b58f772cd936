/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - the commands of dpframe. Each returns an exit code: 0 done, else enum dpf_fault. */
#ifndef DPF_CLI_COMMAND_H
#define DPF_CLI_COMMAND_H

#include "base/error.h"
#include "config/config.h"
#include "plan/plan.h"
#include "report/component_metrics.h"

#define MAX_OVERRIDES 256
#define MAX_PLUGIN_DIRS 16

/* Options that commands share, as given. */
struct arguments {
    const char *config;
    const char *overrides[MAX_OVERRIDES];
    int n_overrides;
    const char *plugin_dirs[MAX_PLUGIN_DIRS]; /* absolute */
    int n_plugin_dirs;
    const char *output;
    const char *format; /* --format, or "json" for --json */
    int quiet;
    int json;
    /* A point of a sweep, see struct config_request. */
    const char *const *layers;
    int n_layers;
    const char *const *settings;
    int n_settings;
    const char *settings_directory;
    /* Options of some commands. */
    int jobs; /* 0: not given */
    int dry_run, resume, all;
    const char *user, *data, *item, *exclude, *candidates;
    int64_t count;                   /* -n; 0: not given */
    int without_data;                /* set by commands that can do without the files of [data] */
    const char *rest[MAX_OVERRIDES]; /* operands */
    int n_rest;
};

/* Reads the options after the command's name. usage is the command's own help. Returns 0, 1 if help was
   printed, -1 on error. */
int arguments_parse(int argc, char **argv, const char *usage, struct arguments *out, struct dpf_error *error);
void arguments_free(struct arguments *arguments);
/* Where the first word stands that is neither an option nor the value of one; 0: nowhere. */
int arguments_first_word(int argc, char **argv);
/* Whether a word is the name of a configuration. */
int arguments_is_config(const char *word);
/* An option of one command alone, before the others are parsed: "NAME VALUE" or "NAME=VALUE" at argv[*i],
   which is moved to the last word taken. *value is NULL before. Returns 1 if it was there, 0 if not, -1 on
   error. */
int arguments_own_value(int argc, char **argv, int *i, const char *name, const char **value,
                        struct dpf_error *error);

/* A plan whose sections above the plan's own are bound too, before it is completed. */
struct session {
    struct plan plan;
    struct config_values evaluate;
    struct component_metrics metrics;
    int is_open; /* the metrics have a lock to be destroyed */
};
int session_open(struct session *session, const struct arguments *arguments, int without_mechanisms,
                 struct dpf_error *error);
void session_close(struct session *session);
/* Completes the plan for commands that need no training: sizes come from the configuration, else the data
   is read for them where it can be. */
int session_complete_without_training(struct session *session, struct dpf_error *error);
/* 1 if the configuration describes a sweep. */
int session_is_sweep(const struct arguments *arguments);

/* One run of a configuration. */
struct run_request {
    const struct arguments *arguments; /* output is taken from them too */
    struct data_parsed *parsed;        /* of the run's data, used up; or NULL */
    int threads;                       /* in place of run.threads = 0; 0: one for each processor */
    int quiet;
};
int run_once(const struct run_request *request, struct dpf_error *error);
/* Runs the sweep that the configuration describes. */
int sweep_run(const struct arguments *arguments, struct dpf_error *error);
/* Prints the statement of each point of that sweep, as a table or as JSON. The error counts the points that
   cannot be run; each has been reported. */
int sweep_statements(const struct arguments *arguments, struct dpf_error *error);

/* dpframe account --choose-pbm: theta, q and p for a target, printed. The plan of the session is complete. */
int account_choose_pbm(const struct arguments *arguments, struct session *session, const char *target,
                       struct dpf_error *error);

int command_run(int argc, char **argv);
int command_complete(int argc, char **argv);
int command_start(int argc, char **argv);
int command_report(int argc, char **argv);
int command_recommend(int argc, char **argv);
int command_predict(int argc, char **argv);
int command_similar(int argc, char **argv);
int command_evaluate(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_convert(int argc, char **argv);
int command_check(int argc, char **argv);
int command_account(int argc, char **argv);
int command_audit(int argc, char **argv);
int command_list(int argc, char **argv);
int command_describe(int argc, char **argv);
int command_generate(int argc, char **argv);

/* Prints the error as dpframe does and returns its exit code. With as_json, as one line of JSON:
   {"error": {"kind", "message", "file", "line", "key", "value"}}, null where the fault has no such part. */
void command_errors_as_json(int as_json);
int command_failed(const struct dpf_error *error);

#endif
