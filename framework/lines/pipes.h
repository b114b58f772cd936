/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipes.h - standard input ("-") and pipes, where a file is expected.
 *
 * Files are read more than once: their form is looked at first, and quotes change how they are read. So what comes through a
 * pipe is kept, while the process lives, in a file without a name (in TMPDIR, else /tmp) that nobody else can open.
 */
#ifndef DPF_LINES_PIPES_H
#define DPF_LINES_PIPES_H

#include "base/error.h"

/* Whether the path is "-" or a pipe. */
int pipes_is_one(const char *path);
/*
 * A path by which the content can be read as often as wanted: the path itself unless it is "-" or a pipe. Only the first
 * call for a pipe reads it, and waits for its end. reader: the key or option that asks, of the caller's; standard input has
 * one. NULL with an error: DPF_FAULT_CONFIG, DPF_FAULT_DATA or DPF_FAULT_RUN.
 */
const char *pipes_path(const char *path, const char *reader, struct dpf_error *error);

#endif
