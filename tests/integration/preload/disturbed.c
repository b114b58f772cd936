/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disturbed.c - loaded before the C library: a machine whose clock is wrong by DISTURBED_CLOCK seconds, and whose
 * disk is full for the files with DISTURBED_FILE in their path, but for the first DISTURBED_AFTER of them. And a client of
 * secagg that gives wrong shares: what the others have encrypted for it differs in byte DISTURBED_SHARE (0: of self masks,
 * 32: of mask keys). And a person at a terminal who presses Ctrl-C at moment DISTURBED_SIGNAL: moments are those at which the
 * program looks at its clock or writes a file to the disk. The file DISTURBED_MOMENTS gets how many there were.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* POSIX has it that functions are objects for dlsym. */
static void find(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

/* ---- Ctrl-C ------------------------------------------------------------------------------------------- */

static struct {
    pid_t pid; /* the program, not what it starts */
    long at;   /* 0: never */
    atomic_long moments;
    char path[256];
} person;

__attribute__((constructor)) static void sit_down(void)
{
    const char *at = getenv("DISTURBED_SIGNAL"), *path = getenv("DISTURBED_MOMENTS");
    if (!at || !path)
        return;
    person.at = atol(at);
    person.pid = getpid();
    snprintf(person.path, sizeof person.path, "%s", path);
    unsetenv("DISTURBED_SIGNAL"); /* programs that it starts */
}

__attribute__((destructor)) static void stand_up(void)
{
    FILE *out = person.pid == getpid() ? fopen(person.path, "w") : NULL;
    if (out) {
        fprintf(out, "%ld\n", atomic_load(&person.moments));
        fclose(out);
    }
}

static void pass_moment(void)
{
    if (person.pid == getpid() && atomic_fetch_add(&person.moments, 1) + 1 == person.at)
        raise(SIGINT);
}

int isatty(int fd)
{
    static int (*real)(int);
    if (!real)
        find("isatty", &real);
    return person.pid && fd == STDERR_FILENO ? 1 : real(fd);
}

/* ---- clock and disk ----------------------------------------------------------------------------------- */

static long shift(void)
{
    const char *text = getenv("DISTURBED_CLOCK");
    return text ? atol(text) : 0;
}

int clock_gettime(clockid_t which, struct timespec *out)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        find("clock_gettime", &real);
    const int status = real(which, out);
    if (which == CLOCK_MONOTONIC)
        pass_moment();
    if (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)
        out->tv_sec += shift();
    return status;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

int crypto_aead_xchacha20poly1305_ietf_decrypt(unsigned char *out, unsigned long long *n_out,
                                               unsigned char *unused, const unsigned char *in,
                                               unsigned long long n, const unsigned char *with,
                                               unsigned long long n_with, const unsigned char *nonce,
                                               const unsigned char *key)
{
    static int (*real)(unsigned char *, unsigned long long *, unsigned char *, const unsigned char *,
                       unsigned long long, const unsigned char *, unsigned long long, const unsigned char *,
                       const unsigned char *);
    const char *at = getenv("DISTURBED_SHARE");
    if (!real)
        find("crypto_aead_xchacha20poly1305_ietf_decrypt", &real);
    const int status = real(out, n_out, unused, in, n, with, n_with, nonce, key);
    if (status == 0 && at)
        out[atoi(at)] ^= 1;
    return status;
}

int fsync(int fd)
{
    static int (*real)(int);
    static int seen;
    char name[64], path[1024];
    const char *full = getenv("DISTURBED_FILE"), *after = getenv("DISTURBED_AFTER");
    if (!real)
        find("fsync", &real);
    pass_moment();
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    const ssize_t n = full ? readlink(name, path, sizeof path - 1) : -1;
    if (n > 0) {
        path[n] = '\0';
        if (strstr(path, full) && ++seen > (after ? atoi(after) : 0)) {
            errno = ENOSPC;
            return -1;
        }
    }
    return real(fd);
}
