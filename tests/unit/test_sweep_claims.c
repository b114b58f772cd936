/* SPDX-License-Identifier: Apache-2.0 */
/* Claims of points: of many processes one alone takes a point, whoever held it before. */
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/test.h"
#include "sweep/point_claim.h"

static char directory[64];

static int begin(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/dpframe-test-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_it(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

static int end(void **state)
{
    (void)state;
    return nftw(directory, remove_it, 16, FTW_DEPTH | FTW_PHYS);
}

static int take(const char *name, int take_over, struct claim *claim)
{
    struct claim_holder holder;
    struct dpf_error error = {0};
    const int status = claim_take(directory, name, take_over, claim, &holder, &error);
    if (status < 0)
        fail_msg("%s", error.text);
    return status;
}

/* A process that takes the point and is killed, by itself. */
static void leave_dead_claim(const char *name)
{
    const pid_t pid = fork();
    if (pid == 0) {
        struct claim claim;
        if (take(name, 0, &claim) != 0)
            _exit(1);
        raise(SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

TEST(a_claim_keeps_others_out_until_it_is_over)
{
    struct claim first, second;
    struct claim_holder holder;
    struct dpf_error error = {0};
    assert_int_equal(claim_look(directory, "a-0", &holder), CLAIM_FREE);
    assert_int_equal(take("a-0", 0, &first), 0);
    assert_int_equal(claim_look(directory, "a-0", &holder), CLAIM_HELD);
    assert_int_equal(holder.process, getpid());
    assert_int_equal(take("a-0", 0, &second), 1);
    assert_int_equal(take("a-0", 1, &second), 1); /* it is known to live */
    assert_int_equal(take("a-0.1", 0, &second), 0);
    assert_int_equal(claim_end(&first, &error), 0);
    assert_int_equal(claim_look(directory, "a-0", &holder), CLAIM_FREE);
    assert_int_equal(take("a-0", 0, &first), 0);
    assert_int_equal(claim_end(&first, &error), 0);
    assert_int_equal(claim_end(&second, &error), 0);
}

TEST(a_dead_process_holds_nothing)
{
    struct claim claim;
    struct claim_holder holder;
    struct dpf_error error = {0};
    leave_dead_claim("b");
    assert_int_equal(claim_look(directory, "b", &holder), CLAIM_DEAD);
    assert_int_equal(take("b", 0, &claim), 0);
    assert_int_equal(claim_end(&claim, &error), 0);
}

/* A process with the number of a dead one is not that one: its start differs. */
TEST(a_number_that_is_used_again_is_noticed)
{
    struct claim claim;
    struct claim_holder holder;
    struct dpf_error error = {0};
    char path[160], text[1024];
    assert_int_equal(take("c", 0, &claim), 0);
    snprintf(path, sizeof path, "%s/claims/c/1", directory);
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    fclose(stream);
    char *at = strstr(text, "\"started\": ");
    assert_non_null(at);
    at[strlen("\"started\": ")] = '9'; /* another digit would do as well unless it is this one */
    at[strlen("\"started\": ") + 1] = '9';
    assert_int_equal(unlink(path), 0);
    stream = fopen(path, "w");
    assert_true(stream && fputs(text, stream) >= 0);
    fclose(stream);
    assert_int_equal(claim_look(directory, "c", &holder), CLAIM_DEAD);
    assert_int_equal(claim_end(&claim, &error), 0);
}

/* Whoever cannot say who it is cannot be known to be dead. */
TEST(a_claim_that_cannot_be_read_stands)
{
    struct claim claim;
    struct claim_holder holder;
    struct dpf_error error = {0};
    char path[160];
    assert_int_equal(take("d", 0, &claim), 0);
    snprintf(path, sizeof path, "%s/claims/d/1", directory);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(claim_look(directory, "d", &holder), CLAIM_ELSEWHERE);
    struct claim second;
    assert_int_equal(take("d", 0, &second), 1);
    assert_int_equal(take("d", 1, &second), 0);
    assert_int_equal(claim_end(&claim, &error), 0);
    assert_int_equal(claim_end(&second, &error), 0);
}

/* Takes the point once the others are there, says whether it could, and lives until all have said it. */
static void contend(const char *name, const int ready[2], const int said[2], const int over[2])
{
    struct claim claim;
    char byte;
    close(ready[1]);
    close(over[1]);
    if (read(ready[0], &byte, 1) != 0)
        _exit(2);
    byte = (char)take(name, 0, &claim);
    if (write(said[1], &byte, 1) != 1)
        _exit(2);
    _exit(read(over[0], &byte, 1) == 0 ? 0 : 2);
}

/* Many find the same dead holder at the same time, again and again. */
TEST(one_of_many_takes_over)
{
    enum { N = 16, TIMES = 20 };
    for (int t = 0; t < TIMES; t++) {
        char name[16], byte;
        int ready[2], said[2], over[2], taken = 0;
        snprintf(name, sizeof name, "e%d", t);
        leave_dead_claim(name);
        assert_int_equal(pipe(ready) | pipe(said) | pipe(over), 0);
        for (int i = 0; i < N; i++) {
            const pid_t pid = fork();
            assert_true(pid >= 0);
            if (pid == 0)
                contend(name, ready, said, over);
        }
        close(ready[0]);
        close(ready[1]);
        for (int i = 0; i < N; i++) {
            assert_int_equal(read(said[0], &byte, 1), 1);
            taken += byte == 0;
        }
        assert_int_equal(taken, 1);
        close(over[1]);
        for (int i = 0; i < N; i++) {
            int status;
            assert_true(wait(&status) > 0);
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        }
        close(over[0]);
        close(said[0]);
        close(said[1]);
    }
}

FIXTURE(begin, end)
