/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - the commands of dpframe. Each returns an exit code: 0 done, else enum dpf_fault. */
#ifndef DPF_CLI_COMMAND_H
#define DPF_CLI_COMMAND_H

#include "base/error.h"
#include "run/arguments.h"
#include "run/failure.h"
#include "run/session.h"

/* Reads the options after the command's name. usage is the command's own help. Returns 0, 1 if help was
   printed, -1 on error. */
int arguments_parse(int argc, char **argv, const char *usage, struct arguments *out, struct dpf_error *error);
void arguments_free(struct arguments *arguments);
/* A command that takes so many operands and does one thing with them; wanted says what to name otherwise. Returns its exit
   code. */
int command_on(int argc, char **argv, const char *usage, int operands, const char *wanted,
               int (*act)(const struct arguments *, struct dpf_error *));
/* Prints a help text, as wide as the terminal at most. */
void arguments_print_usage(const char *usage);
/* Whether from now on the options of a help text are printed in place of it, one a line: for shells. */
void arguments_print_options(int wanted);
int arguments_prints_options(void);
/* Where the first word stands that is neither an option nor the value of one; 0: nowhere. */
int arguments_first_word(int argc, char **argv);
/* Whether a word is the name of a configuration. */
int arguments_is_config(const char *word);
/* Refuses operands that "dpframe COMMAND" does not take; a value of the configuration among them belongs behind -o. */
int arguments_no_operands(const struct arguments *arguments, const char *command, struct dpf_error *error);
/* An option of one command alone, before the others are parsed: "NAME VALUE" or "NAME=VALUE" at argv[*i],
   which is moved to the last word taken. *value is NULL before. Returns 1 if it was there, 0 if not, -1 on
   error. */
int arguments_own_value(int argc, char **argv, int *i, const char *name, const char **value,
                        struct dpf_error *error);

struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the name */
};

/* All of them, up to one without a name. */
extern const struct command command_table[];
/* NULL: there is none. */
const struct command *command_named(const char *name);

int command_run(int argc, char **argv);
int command_serve(int argc, char **argv);
int command_join(int argc, char **argv);
int command_sweep(int argc, char **argv);
int command_complete(int argc, char **argv);
int command_start(int argc, char **argv);
int command_report(int argc, char **argv);
int command_recommend(int argc, char **argv);
int command_predict(int argc, char **argv);
int command_similar(int argc, char **argv);
int command_items(int argc, char **argv);
int command_page(int argc, char **argv);
int command_evaluate(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_convert(int argc, char **argv);
int command_new_plugin(int argc, char **argv);
int command_check(int argc, char **argv);
int command_account(int argc, char **argv);
int command_audit(int argc, char **argv);
int command_list(int argc, char **argv);
int command_describe(int argc, char **argv);
int command_generate(int argc, char **argv);

#endif
