/* SPDX-License-Identifier: Apache-2.0 */
/* What a party keeps: a round is answered once, whatever is started again, and nothing is sent that could not
 * be written down. */
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sodium.h>

#include "kit/test.h"
#include "base/files.h"
#include "federation/party_state.h"

static char root[32] = "/tmp/dpframe-test-XXXXXX";
static char directory[64];
static const uint8_t session[16] = {1, 2, 3};
static const char digest[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
static const char records[] = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100";

static int begin(void **state)
{
    (void)state;
    if (sodium_init() < 0 || !mkdtemp(root))
        return -1;
    snprintf(directory, sizeof directory, "%s/state", root);
    return 0;
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
    return nftw(root, remove_it, 16, FTW_DEPTH | FTW_PHYS);
}

static void open_state(struct party_state *state)
{
    struct dpf_error error = {0};
    if (party_state_open(state, directory, &error) != 0)
        fail_msg("%s", error.text);
}

/* Enters the run; the error, or "". */
static const char *enter(struct party_state *state, const uint8_t of[16], const char *agreed,
                         const char *user, const char *data, int *is_known)
{
    static struct dpf_error error;
    error = (struct dpf_error){0};
    return party_state_enter(state, of, agreed, user, data, is_known, &error) == 0 ? "" : error.text;
}

TEST(a_round_that_was_answered_stays_answered)
{
    struct party_state state;
    struct dpf_error error = {0};
    struct stat info;
    uint8_t instance[16];
    int known;
    const mode_t before = umask(0);
    open_state(&state);
    umask(before);
    assert_int_equal(stat(directory, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    char *file = files_join(directory, "instance");
    assert_int_equal(stat(file, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    free(file);
    memcpy(instance, state.instance, 16);
    assert_string_equal(enter(&state, session, digest, "17", records, &known), "");
    assert_false(known);
    assert_int_equal(party_state_keep(&state, 0, &error), 0); /* joined, and no more */
    assert_int_equal(state.answered, 0);
    assert_int_equal(party_state_keep(&state, 3, &error), 0);
    assert_int_equal(party_state_keep(&state, 5, &error), 0);
    party_state_close(&state);
    open_state(&state);
    assert_memory_equal(state.instance, instance, 16); /* the same directory is the same party */
    assert_string_equal(enter(&state, session, digest, "17", records, &known), "");
    assert_true(known);
    assert_int_equal(state.next_round, 5);
    assert_int_equal(state.answered, 2);
    const uint8_t other[16] = {9};
    assert_string_equal(enter(&state, other, digest, "17", records, &known), "");
    assert_false(known);
    assert_int_equal(state.next_round, 0);
    assert_int_equal(state.answered, 0);
    party_state_close(&state);
}

/* A server has begun rounds again: one that was paid for may be answered once more, one that was not stays answered. */
TEST(a_round_that_is_paid_again_may_be_answered_again)
{
    struct party_state state;
    struct dpf_error error = {0};
    const uint8_t of[16] = {7};
    int known;
    open_state(&state);
    assert_string_equal(enter(&state, of, digest, "17", records, &known), "");
    assert_int_equal(party_state_keep(&state, 4, &error), 0);
    assert_int_equal(party_state_keep(&state, 5, &error), 0);
    assert_int_equal(party_state_repeat(&state, 2, 0, &error), 0);
    assert_int_equal(state.next_round, 5);
    assert_int_equal(party_state_repeat(&state, 3, 1, &error), 0);
    party_state_close(&state);
    open_state(&state);
    assert_string_equal(enter(&state, of, digest, "17", records, &known), "");
    assert_true(known);
    assert_int_equal(state.next_round, 4);
    assert_int_equal(state.answered, 1);
    assert_int_equal(state.repeats, 3);
    assert_int_equal(state.paid, 1);
    party_state_close(&state);
}

TEST(a_run_is_joined_as_one_and_with_one_file)
{
    struct party_state state;
    int known;
    open_state(&state);
    assert_non_null(strstr(enter(&state, session, digest, "18", records, &known), "joined as another user"));
    assert_non_null(
        strstr(enter(&state, session, digest, "17", digest, &known), "joined with other records"));
    assert_non_null(
        strstr(enter(&state, session, records, "17", records, &known), "something else was agreed to"));
    party_state_close(&state);
}

TEST(one_process_has_the_directory)
{
    struct party_state state, second;
    struct dpf_error error = {0};
    open_state(&state);
    assert_int_equal(party_state_open(&second, directory, &error), -1);
    assert_non_null(strstr(error.text, "a party joins once"));
    party_state_close(&second);
    party_state_close(&state);
}

/* A file that cannot be read may hold any round: none is answered. */
TEST(a_damaged_file_answers_nothing)
{
    struct party_state state;
    char path[160];
    int known;
    open_state(&state);
    assert_string_equal(enter(&state, session, digest, "17", records, &known), "");
    snprintf(path, sizeof path, "%s/run-%s.json", directory, state.session);
    assert_int_equal(truncate(path, 10), 0);
    assert_non_null(
        strstr(enter(&state, session, digest, "17", records, &known), "so that none is answered"));
    assert_int_equal(unlink(path), 0);
    party_state_close(&state);
}

/* Where nothing more can be written the round is not answered, and what was written before stays. */
TEST(a_full_disk_is_a_failure)
{
    int status, known;
    struct party_state state;
    struct dpf_error error = {0};
    open_state(&state);
    assert_string_equal(enter(&state, session, digest, "17", records, &known), "");
    assert_int_equal(party_state_keep(&state, 3, &error), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        const struct rlimit none = {0, 0};
        signal(SIGXFSZ, SIG_IGN);
        _exit(setrlimit(RLIMIT_FSIZE, &none) == 0 && party_state_keep(&state, 4, &error) == -1 &&
                      strstr(error.text, "cannot write")
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_string_equal(enter(&state, session, digest, "17", records, &known), "");
    assert_int_equal(state.next_round, 3);
    party_state_close(&state);
}

FIXTURE(begin, end)
