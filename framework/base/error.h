/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h - one error object, filled where the failure is known best.
 *
 * Functions that can fail take a dpf_error and return 0 or -1. The first report wins, so callers may
 * add nothing. The fault decides the exit code of the command.
 */
#ifndef DPF_BASE_ERROR_H
#define DPF_BASE_ERROR_H

#include <stdarg.h>

enum dpf_fault {
    DPF_FAULT_NONE = 0,
    DPF_FAULT_RUN = 1,    /* the run failed */
    DPF_FAULT_CONFIG = 2, /* the configuration or the command is wrong */
    DPF_FAULT_DATA = 3,   /* the data is wrong */
    DPF_FAULT_PLUGIN = 4  /* a plugin is wrong */
};

struct dpf_error {
    enum dpf_fault fault;
    char text[2048]; /* the whole message: place, problem, remedy */
    /* The same in parts, for programs; empty, or 0, where the fault has no such part. */
    char file[512];
    long line;
    char key[104]; /* "section.key" */
    char value[96];
};

#define DPF_PRINTF(F, A) __attribute__((format(printf, F, A)))

/* Both return -1, so that "return error_set(...)" reads well. Later reports are ignored. */
int error_set(struct dpf_error *error, enum dpf_fault fault, const char *format, ...) DPF_PRINTF(3, 4);
/* Prefixed by "file:line: "; line 0 is left out. */
int error_at(struct dpf_error *error, enum dpf_fault fault, const char *file, long line, const char *format,
             ...) DPF_PRINTF(5, 6);
int error_memory(struct dpf_error *error);
/* The configuration is valid; the run failed. Returns -1. */
int error_while_running(struct dpf_error *error);
/* What to do, the last part of the message; NULL where it has none. Points into the text. */
const char *error_remedy(const struct dpf_error *error);
/* "run", "configuration", "data" or "plugin". */
const char *error_kind(enum dpf_fault fault);

#endif
