/* SPDX-License-Identifier: Apache-2.0 */
/*
 * party_processes.h - a server and parties as processes of the built program, and the simulation that they are compared
 * with. Party p is user p of twelve and has mine<p>.csv, unless a test says otherwise.
 */
#ifndef INTEGRATION_PARTY_PROCESSES_H
#define INTEGRATION_PARTY_PROCESSES_H

#include "kit/spawned.h"
#include "kit/training.h"

enum { N_PARTIES = 12 };

/* ---- processes ---------------------------------------------------------------------------------------- */

extern const char *run_within;  /* a network namespace, or NULL */
extern const char *run_program; /* NULL: the one that was built */

/* Starts dpframe with words after a format, its output in NAME.out and NAME.err. */
pid_t start(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What NAME has said. */
const char *said(const char *name);

int ended(pid_t pid);

void expect_end(pid_t pid, const char *name, int code, const char *text);

/* Of the runs that follow. */
extern char socket_path[128];
extern const char *run_config, *base_options;

pid_t start_server(const char *output, const char *options);

/* Party p of a run; its directory is of the run too. */
pid_t start_party(const char *run, int p, const char *options);

void start_parties(const char *run, pid_t pids[N_PARTIES + 1], const char *const options[N_PARTIES + 1]);

/* The library that disturbs a process; 0: it was not built. */
int disturbed(char *path, size_t size);

void shell_in_directory(const char *line);

/* ---- gRPC --------------------------------------------------------------------------------------------- */

/* 0: it was not built. */
int has_grpc(void);

/* An authority, and certificates for the server, at that name or address, and for each party and site. */
void make_certificates(const char *at);

/* Of an end with the certificate of that name. */
void grpc_options(const char *name, char *out, size_t size);

/* ---- the oracle --------------------------------------------------------------------------------------- */

/* "round R: ID ..." as the server has it, from its log. */
void write_survivors(const char *run, const char *file);

/* A file of two runs, of at least so many bytes. */
void same_file(const char *a, const char *b, const char *name, size_t least);

void same_release(const char *a, const char *b);

/* The simulation over those who survived, as the server says; and who they were, as the test says. */
void expect_simulated(const char *run, const char *expected, const char *options);

int64_t communication(const char *run, const char *key);

void nothing_is_released(const char *run);

/* A user's own row, which the last bytes of the file have; rows have that many numbers. */
void same_row(const char *a, const char *b, int row, size_t columns);

/* ---- set-up ------------------------------------------------------------------------------------------- */

/* A file with the records of those parties, by number from 0 on. */
void join_files(const char *name, const int32_t *parties, int64_t n);

/* Parties find the links of tests, and plugins in front of them in a folder that ends in ':', or "". */
void parties_plugins(const char *more);

/* The directory of the test with a catalogue, all records, and each party's own. */
int parties_begin(void **state);

#endif
