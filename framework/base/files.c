/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

char *files_join(const char *directory, const char *path)
{
    if (path[0] == '/' || !directory || strcmp(directory, ".") == 0)
        return memory_text(path);
    size_t length = strlen(directory);
    return memory_format("%s%s%s", directory, length && directory[length - 1] == '/' ? "" : "/", path);
}

char *files_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return memory_text(".");
    if (slash == path)
        return memory_text("/");
    return memory_format("%.*s", (int)(slash - path), path);
}

char *files_program_directory(void)
{
    char executable[4096];
    const ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
    if (length <= 0)
        return NULL;
    executable[length] = '\0';
    return files_directory(executable);
}

/* Without "." and "..", as text: an installation has no links among its directories. */
static char *plain_path(const char *path)
{
    char *out = memory_need(strlen(path) + 2, 1);
    size_t n = 0;
    while (*path) {
        const size_t length = strcspn(path, "/");
        if (length == 2 && memcmp(path, "..", 2) == 0) {
            while (n > 0 && out[--n] != '/')
                ;
        } else if (length > 0 && !(length == 1 && *path == '.')) {
            out[n++] = '/';
            memcpy(out + n, path, length);
            n += length;
        }
        path += length + (path[length] == '/');
    }
    return out;
}

char *files_not_installed(const char *path)
{
    static const char below[] = "/../share/dpframe/results";
    char here[4096];
    char *program = files_program_directory(),
         *joined = program ? memory_format("%s%s", program, below) : NULL,
         *root = joined ? plain_path(joined) : NULL, *plain = plain_path(path), *out = NULL;
    const size_t length = root ? strlen(root) : 0;
    if (root && strncmp(plain, root, length) == 0 && (plain[length] == '/' || !plain[length]) &&
        getcwd(here, sizeof here))
        out = memory_format("%s/results%s", here, plain + length);
    else
        out = memory_text(path);
    free(program);
    free(joined);
    free(root);
    free(plain);
    return out;
}

/* Of the directories on a path, the last one that is called private or release decides. */
static int is_private(const char *path, size_t length)
{
    int found = 0;
    for (size_t at = 0; at < length;) {
        const size_t n = strcspn(path + at, "/");
        if (n == 7 && at + n <= length) /* both names have 7 letters */
            found = memcmp(path + at, "private", n) == 0   ? 1
                    : memcmp(path + at, "release", n) == 0 ? 0
                                                           : found;
        at += n + 1;
    }
    return found;
}

mode_t files_mode(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && is_private(path, (size_t)(slash - path)) ? 0600 : 0666;
}

/* One that was there before is closed as well, unless it is somebody else's, or only on the way to what is made.
 */
static int make_one(const char *path, int is_last)
{
    const int closed = is_private(path, strlen(path));
    struct stat info;
    if (mkdir(path, closed ? 0700 : 0777) == 0)
        return 0;
    if (errno != EEXIST)
        return -1;
    if (closed && is_last && stat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
        (info.st_mode & 077))
        return chmod(path, info.st_mode & 0700);
    return 0;
}

int files_make_directory(const char *path, struct dpf_error *error)
{
    char *copy = memory_text(path);
    for (char *p = copy + 1;; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        char end = *p;
        *p = '\0';
        struct stat info;
        if (make_one(copy, end == '\0') != 0) {
            error_set(error, DPF_FAULT_RUN, "cannot create directory %s: %s", copy, strerror(errno));
            break;
        }
        if (stat(copy, &info) != 0 || !S_ISDIR(info.st_mode)) {
            error_set(error, DPF_FAULT_RUN, "%s exists and is not a directory", copy);
            break;
        }
        *p = end;
        if (end == '\0')
            break;
    }
    free(copy);
    return error->fault ? -1 : 0;
}

int files_make_configured(const char *key, const char *path, struct dpf_error *error)
{
    struct dpf_error reason = {0};
    if (files_make_directory(path, &reason) == 0)
        return 0;
    return error_set(error, DPF_FAULT_CONFIG, "%s = %s: %s; choose another one", key, path, reason.text);
}

/* OpenSSL's SHA-256 uses the processor's instructions for it: several times the speed of portable code. */
struct files_hash {
    EVP_MD_CTX *context;
};

static void need(int ok)
{
    if (ok)
        return;
    fputs("dpframe: OpenSSL cannot make a SHA-256 hash: is its default provider loaded?\n", stderr);
    _exit(1);
}

struct files_hash *files_hash_new(void)
{
    struct files_hash *hash = memory_need(1, sizeof *hash);
    hash->context = EVP_MD_CTX_new();
    need(hash->context && EVP_DigestInit_ex(hash->context, EVP_sha256(), NULL) == 1);
    return hash;
}

void files_hash_add(struct files_hash *hash, const void *bytes, size_t n)
{
    need(EVP_DigestUpdate(hash->context, bytes, n) == 1);
}

void files_hash_end(struct files_hash *hash, char hex[65])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    need(EVP_DigestFinal_ex(hash->context, digest, NULL) == 1);
    EVP_MD_CTX_free(hash->context);
    free(hash);
    if (hex)
        sodium_bin2hex(hex, 65, digest, 32);
}

void files_hash_bytes(const void *bytes, size_t n, char hex[65])
{
    struct files_hash *hash = files_hash_new();
    files_hash_add(hash, bytes, n);
    files_hash_end(hash, hex);
}

int files_lock_directory(const char *path, struct dpf_error *error)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return error_set(error, DPF_FAULT_CONFIG, "%s: %s", path, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return fd;
    close(fd);
    return error_set(
        error, DPF_FAULT_CONFIG,
        "[run] output = %s: another run is writing there; wait for it, or choose another directory", path);
}

int files_sha256(const char *path, char hex[65], struct dpf_error *error)
{
    static const size_t chunk = (size_t)1 << 18;
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return error_set(error, DPF_FAULT_RUN, "cannot open %s: %s", path, strerror(errno));
    struct files_hash *hash = files_hash_new();
    unsigned char *buffer = memory_need_raw(chunk, 1);
    for (size_t n; (n = fread(buffer, 1, chunk, stream)) > 0;)
        files_hash_add(hash, buffer, n);
    const int failed = ferror(stream);
    files_hash_end(hash, hex);
    free(buffer);
    fclose(stream);
    return failed ? error_set(error, DPF_FAULT_RUN, "cannot read %s", path) : 0;
}

int files_program_sha256(char hex[65], struct dpf_error *error)
{
    static char kept[65]; /* empty until it is known */
    if (!kept[0] && files_sha256("/proc/self/exe", kept, error) != 0) {
        kept[0] = '\0';
        return -1;
    }
    memcpy(hex, kept, sizeof kept);
    return 0;
}

/* What is there and is no ordinary file (a device, a pipe) cannot be replaced by one that is renamed over it.
 */
static int is_special(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

static int open_in_place(struct files_write *write)
{
    int fd = open(write->target, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    write->stream = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (!write->stream && fd >= 0)
        close(fd);
    return write->stream ? 0 : -1;
}

/* Exclusive, as the name can be guessed: a link that somebody left there is not followed. */
static int open_beside(struct files_write *write, mode_t mode)
{
    unlink(write->temporary);
    int fd = open(write->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    write->stream = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (!write->stream && fd >= 0)
        close(fd);
    return write->stream ? 0 : -1;
}

/* A link to a file stays, and what it points to is replaced. */
static void set_names(struct files_write *write, const char *target)
{
    char *real = realpath(target, NULL);
    write->target = is_special(target) || !real ? memory_text(target) : memory_text(real);
    free(real);
    if (!is_special(write->target))
        write->temporary = memory_format("%s.part%ld", write->target, (long)getpid());
}

static int open_write(struct files_write *write, const char *target, mode_t mode, struct dpf_error *error)
{
    struct stat info;
    memset(write, 0, sizeof *write);
    if (target[0] == '\0')
        return error_set(error, DPF_FAULT_CONFIG, "the name of the file to write is empty: give one");
    if (stat(target, &info) == 0 && S_ISDIR(info.st_mode))
        return error_set(error, DPF_FAULT_CONFIG, "cannot write %s: it is a directory; name a file", target);
    set_names(write, target);
    if ((write->temporary ? open_beside(write, mode) : open_in_place(write)) != 0) {
        error_set(error, DPF_FAULT_RUN, "cannot write %s: %s%s", target, strerror(errno),
                  errno == ENOENT ? "; make its directory before" : "");
        files_abandon_write(write);
        return -1;
    }
    return 0;
}

int files_open_write(struct files_write *write, const char *target, struct dpf_error *error)
{
    return open_write(write, target, files_mode(target), error);
}

int files_open_private(struct files_write *write, const char *target, struct dpf_error *error)
{
    return open_write(write, target, 0600, error);
}

static void sync_directory(const char *file)
{
    char *directory = files_directory(file);
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(directory);
}

/* Everything is with the system, and on the disk where there is one. 0, or the reason; -1: a reason that is lost, since an
   earlier write has failed. */
static int flush_stream(struct files_write *write)
{
    const int had_failed = ferror(write->stream);
    if (fflush(write->stream) != 0)
        return errno;
    if (had_failed)
        return -1;
    return write->temporary && fsync(fileno(write->stream)) != 0 ? errno : 0;
}

int files_commit_write(struct files_write *write, struct dpf_error *error)
{
    int reason = flush_stream(write);
    if (fclose(write->stream) != 0 && reason == 0)
        reason = errno;
    write->stream = NULL;
    if (reason == 0 && write->temporary && rename(write->temporary, write->target) != 0)
        reason = errno;
    if (reason != 0) {
        error_set(error, DPF_FAULT_RUN, "cannot write %s: %s", write->target,
                  reason < 0 ? "not all of it could be written; is the disk full?" : strerror(reason));
        files_abandon_write(write);
        return -1;
    }
    if (write->temporary)
        sync_directory(write->target);
    free(write->target);
    free(write->temporary);
    memset(write, 0, sizeof *write);
    return 0;
}

void files_abandon_write(struct files_write *write)
{
    if (write->stream)
        fclose(write->stream);
    if (write->temporary)
        unlink(write->temporary);
    free(write->target);
    free(write->temporary);
    memset(write, 0, sizeof *write);
}

int files_write_at(int fd, const void *data, size_t bytes, int64_t at)
{
    const char *from = data;
    while (bytes > 0) {
        const ssize_t n = pwrite(fd, from, bytes, (off_t)at);
        if (n < 0 && errno != EINTR)
            return -1;
        if (n > 0) {
            from += n;
            at += n;
            bytes -= (size_t)n;
        }
    }
    return 0;
}

int files_write_text(const char *target, const char *text, struct dpf_error *error)
{
    struct files_write write;
    if (files_open_write(&write, target, error) != 0)
        return -1;
    fputs(text, write.stream);
    return files_commit_write(&write, error);
}

int files_write_private_text(const char *target, const char *text, struct dpf_error *error)
{
    struct files_write write;
    if (files_open_private(&write, target, error) != 0)
        return -1;
    fputs(text, write.stream);
    return files_commit_write(&write, error);
}

int files_is_leftover(const char *name)
{
    const char *mark = NULL;
    for (const char *at = strstr(name, ".part"); at; at = strstr(at + 1, ".part"))
        mark = at;
    if (!mark || mark == name)
        return 0;
    const char *digits = mark + strlen(".part");
    return *digits && digits[strspn(digits, "0123456789")] == '\0';
}

void files_remove_leftovers(const char *directory)
{
    DIR *dir = opendir(directory);
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir))
        if (files_is_leftover(entry->d_name))
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
}

int files_open_lines(struct files_lines *lines, const char *path, struct dpf_error *error)
{
    *lines = (struct files_lines){.stream = fopen(path, "r")};
    return lines->stream ? 0 : error_set(error, DPF_FAULT_DATA, "cannot read %s: %s", path, strerror(errno));
}

char *files_next_line(struct files_lines *lines)
{
    ssize_t length = getline(&lines->line, &lines->capacity, lines->stream);
    if (length < 0)
        return NULL;
    while (length > 0 && (lines->line[length - 1] == '\n' || lines->line[length - 1] == '\r'))
        length--;
    lines->line[length] = '\0';
    return lines->line;
}

void files_close_lines(struct files_lines *lines)
{
    if (lines->stream)
        fclose(lines->stream);
    free(lines->line);
    *lines = (struct files_lines){0};
}
