/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dpframe-check against plugins that break one rule each: the rule must be the one that is found,
 * and the sound specimens beside them must pass, or the kit would prove nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "kit/test.h"
#include "sanitized.h"

static const struct {
    const char *name;
    const char *rule;
    const char *outcome;
} broken[] = {
    {"changes_locale", "load.state", "fail"},
    {"changes_locale", "file.imports", "fail"},
    {"changes_float_mode", "load.state", "fail"},
    {"changes_umask", "load.state", "fail"},
    {"changes_signals", "load.state", "fail"},
    {"changes_directory", "load.state", "fail"},
    {"crashes_at_load", "load.works", "crash"},
    {"exits_at_load", "load.works", "crash"},
    {"undefined_symbol", "load.works", "fail"},
    {"other_major", "load.works", "fail"},
    {"no_entry", "load.works", "fail"},
    {"impure_entry", "load.works", "fail"},
    {"two_symbols", "file.exports", "fail"},
    {"wrong_magic", "descriptor.plugin", "fail"},
    {"short_descriptor", "descriptor.plugin", "fail"},
    {"newer_minor", "descriptor.plugin", "fail"},
    {"unknown_role", "descriptor.components", "fail"},
    {"bad_id", "descriptor.components", "fail"},
    {"null_text", "descriptor.components", "fail"},
    {"no_function", "descriptor.components", "fail"},
    {"other_kind", "descriptor.components", "fail"},
    {"no_destroy", "descriptor.components", "fail"},
    {"default_outside", "descriptor.params", "fail"},
    {"no_help", "descriptor.params", "fail"},
    {"same_name_twice", "descriptor.params", "fail"},
    {"component_twice", "descriptor.unique", "fail"},
    {"calls_rand", "file.imports", "fail"},
    {"leaks", "create.leak", "fail"},
    {"leaks_on_failure", "create.memory-leak", "fail"},
    {"ignores_no_memory", "create.memory", "crash"},
    {"depends_on_block", "run.blocks", "fail"},
    {"keeps_state", "run.repeat", "fail"},
    {"depends_on_worker", "run.workers", "fail"},
    {"writes_outside", "run.blocks", "fail"},
    {"reads_scratch", "run.repeat", "fail"},
    {"ignores_no_scratch", "run.memory", "crash"},
    {"hides_no_memory", "run.memory", "fail"},
    {"keeps_memory", "run.memory", "fail"},
    {"changes_inputs", "run.inputs", "fail"},
    {"exceeds_bounds", "transform.bounds", "fail"},
    {"transform_other_factor", "transform.factor", "fail"},
    {"mechanism_too_little_noise", "mechanism.noise", "fail"},
    {"mechanism_first_block_only", "mechanism.noise", "fail"},
    {"mechanism_biased", "mechanism.noise", "fail"},
    {"mechanism_repeats_noise", "mechanism.distinct", "fail"},
    {"mechanism_takes_nan", "mechanism.range", "fail"},
    {"mechanism_guesses", "mechanism.unknown", "fail"},
    {"mechanism_understates", "mechanism.events", "fail"},
    {"mechanism_blind", "mechanism.events", "fail"},
    {"mechanism_blind", "mechanism.privacy", "fail"},
    {"mechanism_less_for_more", "mechanism.monotone", "fail"},
    {"mechanism_pure_half", "mechanism.privacy", "fail"},
    {"mechanism_approx_nothing", "mechanism.privacy", "fail"},
    {"mechanism_zcdp_tenth", "mechanism.privacy", "fail"},
    {"mechanism_understates", "mechanism.privacy", "fail"},
    {"mechanism_one_party", "mechanism.noise", "fail"},
    {"mechanism_one_block_more", "mechanism.plan", "fail"},
    {"loss_understates", "loss.sensitivity", "fail"},
    {"loss_slightly_understates", "loss.sensitivity", "fail"},
    {"loss_forgets_records", "loss.sensitivity", "fail"},
    {"loss_falls_with_bounds", "loss.monotone", "fail"},
    {"loss_ignores_grid", "loss.grid", "fail"},
    {"loss_hides_rows", "loss.zeros", "fail"},
    {"sampler_other_rate", "sampler.rate", "fail"},
    {"sampler_by_position", "run.blocks", "fail"},
    {"sampler_never_fresh", "sampler.fresh", "fail"},
    {"solver_leaves_ball", "solver.rows", "fail"},
    {"solver_takes_nan", "run.nonfinite", "fail"},
    {"solver_other_columns", "solver.rows", "fail"},
    {"aggregator_by_order", "aggregator.sum", "fail"},
    {"aggregator_by_worker", "aggregator.tasks", "fail"},
    {"aggregator_opens_few", "aggregator.survivors", "fail"},
    {"aggregator_odd_scale", "aggregator.scale", "fail"},
    {"accountant_guesses", "accountant.refuses", "fail"},
    {"accountant_ignores_count", "accountant.monotone", "fail"},
    {"accountant_wrong_way", "accountant.monotone", "fail"},
    {"accountant_knows_all", "accountant.refuses", "fail"},
    {"accountant_ignores_reserved", "accountant.refuses", "fail"},
    {"recommender_undeclared", "recommender.declared", "fail"},
    {"recommender_own_noise", "recommender.fresh", "fail"},
    {"recommender_by_worker", "recommender.workers", "fail"},
    {"recommender_sums_all", "recommender.processes", "fail"},
    {"recommender_takes_any_state", "recommender.state", "fail"},
    {"recommender_reads_others", "recommender.reads", "fail"},
    {"recommender_tells_nobody", "recommender.witness", "fail"},
    {"recommender_less_noise", "recommender.noise", "fail"},
    {"recommender_hides_exact", "recommender.noise", "fail"},
    {"recommender_counts_voids", "recommender.voids", "fail"},
    {"recommender_hates_voids", "recommender.voids", "fail"},
    {"recommender_hides_no_noise", "recommender.releases", "fail"},
};

static const char *const sound[] = {
    "mechanism_pure_sound", "mechanism_zcdp_sound",   "sound",        "mechanism_sound",  "loss_sound",
    "loss_zeros_sound",     "sampler_sound",          "solver_sound", "aggregator_sound", "accountant_sound",
    "recommender_sound",    "recommender_voids_sound"};

/* The exit status; the report goes to output. */
static int run_check(const char *name, const char *options, char *output, size_t size)
{
    char command[8192];
    snprintf(command, sizeof command, "'%s' '%s/%s/%s.so' %s 2>/dev/null", CHECK_COMMAND, BAD_PLUGIN_DIR,
             name, name, options);
    FILE *stream = popen(command, "r");
    assert_non_null(stream);
    size_t length = fread(output, 1, size - 1, stream);
    output[length] = '\0';
    int status = pclose(stream);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(test_broken)
{
    static char output[1 << 16];
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        char options[128], wanted[128];
        snprintf(options, sizeof options, "--json --rule %s", broken[i].rule);
        snprintf(wanted, sizeof wanted, "\"outcome\": \"%s\"", broken[i].outcome);
        int status = run_check(broken[i].name, options, output, sizeof output);
        if (status != 1 || !strstr(output, wanted))
            fail_msg("%s does not %s rule %s (status %d): %s", broken[i].name, broken[i].outcome,
                     broken[i].rule, status, output);
    }
}

TEST(test_sound)
{
    static char output[1 << 16];
    for (size_t i = 0; i < sizeof sound / sizeof sound[0]; i++) {
        int status = run_check(sound[i], "", output, sizeof output);
        if (status != 0)
            fail_msg("%s: %s", sound[i], output);
    }
}

/* Statistical rules must not depend on luck: sound mechanisms pass for every seed. */
TEST(test_seeds)
{
    static char output[1 << 16];
    for (int seed = 2; seed < CASES(7, 3); seed++) {
        char options[64];
        snprintf(options, sizeof options, "--rule mechanism --seed %d", seed);
        if (run_check("mechanism_sound", options, output, sizeof output) != 0)
            fail_msg("seed %d: %s", seed, output);
    }
}

TEST(test_command)
{
    static char output[1 << 16];
    assert_int_equal(run_check("sound", "--no-such-option", output, sizeof output), 2);
    assert_int_equal(run_check("no_such_file", "", output, sizeof output), 2);
    assert_int_equal(run_check("sound", "--in-process --rule create", output, sizeof output), 0);
    assert_non_null(strstr(output, "pass 5"));
}

/* With a list of skips, a rule that does not run is a failure. An empty list allows none. */
TEST(test_skips)
{
    static char output[1 << 16];
    assert_int_equal(run_check("aggregator_sound", "--rule run.", output, sizeof output), 0);
    assert_int_equal(run_check("aggregator_sound", "--rule run. --skips /dev/null", output, sizeof output),
                     1);
    assert_non_null(strstr(output, "skipped, and the list gives no reason"));
    assert_int_equal(run_check("aggregator_sound", "--skips /nowhere/list", output, sizeof output), 2);
}
