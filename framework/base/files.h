/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - paths, hashes, and files that are written completely or not at all. */
#ifndef DPF_BASE_FILES_H
#define DPF_BASE_FILES_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"

/* Joins relative to a directory; an absolute path is copied. NULL if out of memory. Free it. */
char *files_join(const char *directory, const char *path);
/* The directory part of a path, "." if it has none. Free it. */
char *files_directory(const char *path);
/* The directory of the program that runs. NULL if it cannot be told. Free it. */
char *files_program_directory(void);
/*
 * Where results go that a configuration of the installation names: its paths are relative to its own directory, and nothing
 * is to be written there. path, absolute: below PREFIX/share/dpframe/results it becomes results/ of the current
 * directory; any other path is copied. NULL if out of memory. Free it.
 */
char *files_not_installed(const char *path);
/*
 * Creates the directory and its parents. What is called private, and all below it but a directory called release,
 * is its owner's alone, whatever the umask: directories have mode 0700 and files 0600. A private directory of the
 * process's user that was there before is closed. Elsewhere the umask decides.
 */
int files_make_directory(const char *path, struct dpf_error *error);
/* The same for one that the configuration names, by "[section] key": failures are faults of the
 * configuration. */
int files_make_configured(const char *key, const char *path, struct dpf_error *error);
/* The mode, before the umask, of a file with that path: 0600 or 0666. */
mode_t files_mode(const char *path);
/*
 * Keeps other processes that lock it out of a directory: a descriptor to close, or -1 if somebody else has
 * it. A file system without locks lets everybody in. The lock goes with the process.
 */
int files_lock_directory(const char *path, struct dpf_error *error);
/* SHA-256 of a file's bytes as 64 hex digits and NUL. */
int files_sha256(const char *path, char hex[65], struct dpf_error *error);
/* Of the running program's file, read once: it is the same for all runs of a process. */
int files_program_sha256(char hex[65], struct dpf_error *error);
/* The same of bytes that are handed over one after the other. */
struct files_hash;
struct files_hash *files_hash_new(void);
void files_hash_add(struct files_hash *hash, const void *bytes, size_t n);
/* Writes the hash, unless hex is NULL, and frees all. */
void files_hash_end(struct files_hash *hash, char hex[65]);
/* The SHA-256 of so many bytes. */
void files_hash_bytes(const void *bytes, size_t n, char hex[65]);

/*
 * An atomic write: open gives a stream to a temporary file beside the target; commit flushes, syncs
 * and renames it; abandon removes it. Exactly one of the two must follow. A link is followed; a target that
 * is not an ordinary file, such as /dev/stdout, is written in place.
 */
struct files_write {
    FILE *stream;
    char *target;
    char *temporary; /* NULL: written in place */
};
int files_open_write(struct files_write *write, const char *target, struct dpf_error *error);
/* The same for a file that its owner alone may read (mode 0600), wherever it is. */
int files_open_private(struct files_write *write, const char *target, struct dpf_error *error);
int files_commit_write(struct files_write *write, struct dpf_error *error);
void files_abandon_write(struct files_write *write);
/* Writes all bytes at a place of an open file; -1 with errno. */
int files_write_at(int fd, const void *data, size_t bytes, int64_t at);
/* Is that the name of a temporary file that a killed write has left? */
int files_is_leftover(const char *name);
/* Removes the remains of killed writes in a directory. No other process may write there. */
void files_remove_leftovers(const char *directory);
/* All in one for small texts. */
int files_write_text(const char *target, const char *text, struct dpf_error *error);
int files_write_private_text(const char *target, const char *text, struct dpf_error *error);

/* Lines of a text file, one after the other, without their ends (LF or CR LF). */
struct files_lines {
    FILE *stream;
    char *line;
    size_t capacity;
};
/* Faults: DPF_FAULT_DATA. */
int files_open_lines(struct files_lines *lines, const char *path, struct dpf_error *error);
/* Valid until the next call; NULL at the end. */
char *files_next_line(struct files_lines *lines);
void files_close_lines(struct files_lines *lines);

#endif
