/* SPDX-License-Identifier: Apache-2.0 */
/* spawned.h - the built program as a user runs it. The directory is that of training.h. */
#ifndef DPF_TEST_SPAWNED_H
#define DPF_TEST_SPAWNED_H

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include <jansson.h>

#include "kit/training.h"

/* What the last command wrote. */
extern char command_out[1 << 20], command_err[1 << 16];
extern long command_peak; /* resident memory of the largest command so far, in KiB */

char *command_path(const char *name);

void command_slurp(const char *path, char *out, size_t size);

void command_redirect(const char *path, int to);

/* Starts dpframe with arguments separated by spaces, in the test's directory. */
pid_t command_start(const char *arguments);

/* The exit code, or 128 + the signal. */
int command_wait(pid_t pid);

int command_run_it(const char *arguments);

/* For fixtures: 0, or -1 with the program's words. */
int command_prepare(const char *arguments);

/* Exit code and a part of the message. */
void command_expect(const char *arguments, int code, const char *text);

void command_sleep(long milliseconds);

int command_exists(const char *name);

/* The JSON on standard output, or of a file; json_decref it. */
json_t *command_json(const char *name);

#endif
