/* SPDX-License-Identifier: Apache-2.0 */
/* A checkpoint is resumed once, and what the interrupted attempt departed from is not forgotten. */
#include "integration/command_fixture.h"

#define RUN                                                                                                  \
    "--plugin-dir %s/integration-plugins -q -c sound.ini -o run.checkpoint=true -o run.rounds=6 "            \
    "-o items.sampler=test-crowded -o run.order=items,users "
#define LEDGER "-o privacy.ledger=spent.jsonl "

static void expect(const char *more, int code, const char *text)
{
    char arguments[512];
    snprintf(arguments, sizeof arguments, RUN "%s", getenv("DPFRAME_BUILD_DIR"), more);
    command_expect(arguments, code, text);
}

/* A run that is interrupted in its third round, of which every tenth user is a part, or everybody. */
static void interrupt(const char *more, int everybody)
{
    setenv("TEST_STOPS_IN", "3", 1);
    if (everybody)
        setenv("TEST_CROWD", "yes", 1);
    expect(more, 128 + SIGINT, "interrupted in round 3; no results are written. The checkpoint is kept");
    unsetenv("TEST_STOPS_IN");
    unsetenv("TEST_CROWD");
}

static void expect_lines(int n)
{
    char line[128];
    snprintf(line, sizeof line, "test \"$(wc -l <spent.jsonl)\" -eq %d", n);
    assert_int_equal(shell(line), 0);
}

TEST(a_copy_of_a_checkpoint_is_not_resumed)
{
    interrupt(LEDGER "-O out", 0);
    assert_int_equal(shell("cp -rp out copy && cp -p out/private/checkpoint kept"), 0);
    expect(LEDGER "-O out --resume", 0, "");
    expect_lines(3);
    /* In the place of the old one, beside the results; or as a new file; or elsewhere. */
    assert_int_equal(shell("cp -p kept out/private/checkpoint"), 0);
    expect(LEDGER "-O out --resume", 2, "is older than the results");
    assert_int_equal(shell("touch out/private/checkpoint"), 0);
    expect(LEDGER "-O out --resume", 2, "was resumed before");
    expect(LEDGER "-O copy --resume", 2, "was resumed before");
    expect(LEDGER "-O copy --resume", 2, "was resumed before");
    expect_lines(3);
}

/* Without a ledger, the results alone tell. */
TEST(results_are_not_followed_by_an_older_checkpoint)
{
    interrupt("-O alone", 0);
    assert_int_equal(shell("cp -p alone/private/checkpoint kept"), 0);
    expect("-O alone --resume", 0, "");
    assert_int_equal(shell("cp -p kept alone/private/checkpoint"), 0);
    expect("-O alone --resume", 2, "is older than the results");
}

/* Each interruption leaves a checkpoint that can be resumed, once. */
TEST(a_run_is_interrupted_again)
{
    assert_int_equal(shell("rm -f spent.jsonl"), 0);
    interrupt(LEDGER "-O twice", 0);
    interrupt(LEDGER "-O twice --resume", 0);
    expect(LEDGER "-O twice --resume", 0, "");
    expect_lines(4);
}

/* A process that was charged, and ended before it had a checkpoint of its own. */
TEST(a_process_that_came_to_nothing_is_followed_by_another)
{
    static const char flip[] =
        "f=torn/private/checkpoint; b=$(od -An -tu1 -j 100 -N 1 $f); printf "
        "\"\\\\$(printf %o $((b ^ 1)))\" | dd of=$f bs=1 seek=100 conv=notrunc 2>/dev/null";
    assert_int_equal(shell("rm -f spent.jsonl"), 0);
    interrupt(LEDGER "-O torn", 0);
    assert_int_equal(shell("cp -rp torn before"), 0);
    assert_int_equal(shell(flip), 0);
    expect(LEDGER "-O torn --resume", 1, "incomplete or damaged");
    expect_lines(3);
    assert_int_equal(shell(flip), 0);
    expect(LEDGER "-O torn --resume", 0, "");
    expect_lines(4);
    expect(LEDGER "-O before --resume", 2, "was resumed before");
}

TEST(the_deviation_of_an_interrupted_attempt_is_kept)
{
    interrupt("-O fair", 0);
    expect("-O fair --resume", 0, "");
    assert_int_equal(shell("grep -q 'far more users' fair/release/guarantee.txt"), 1);
    interrupt("-O crowded", 1);
    expect("-O crowded --resume", 0, "");
    json_t *run = command_json("crowded/run.json");
    const json_t *guarantee = json_object_get(run, "guarantee");
    assert_true(json_is_false(json_object_get(guarantee, "run_holds")));
    assert_non_null(
        strstr(json_string_value(json_object_get(guarantee, "deviation")), "round 3, items: far more users"));
    json_decref(run);
    /* Of what was charged, nothing is released. */
    interrupt(LEDGER "-O silent", 1);
    expect(LEDGER "-O silent --resume", 1, "far more users");
    assert_false(command_exists("silent/release/guarantee.txt"));
}

FIXTURE(begin, training_end)
