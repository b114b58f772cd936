/* SPDX-License-Identifier: Apache-2.0 */
/* What is printed fits the terminal, in words for people and for shells. */
#include "integration/command_fixture.h"

/* ---- exit codes ------------------------------------------------------------------------------------- */

static void fits(int width)
{
    for (const char *line = command_out; *line;) {
        const char *end = strchr(line, '\n');
        int n = 0;
        for (const char *p = line; p < end; p++)
            n += ((unsigned char)*p & 0xc0) != 0x80;
        if (n > width)
            fail_msg("a line of %d characters where %d fit: %.*s", n, width, (int)(end - line), line);
        line = end + 1;
    }
}

TEST(output_fits_the_terminal)
{
    static const char *const commands[] = {"--help",
                                           "list",
                                           "describe data",
                                           "describe run",
                                           "describe gaussian",
                                           "account sound.ini",
                                           "run --help",
                                           "start --help"};
    static const char *const all[] = {"--jobs",       "--dry-run",    "--resume",
                                      "--candidates", "--plugin-dir", "--version"};
    command_expect("--help", 0, "");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        assert_non_null(strstr(command_out, all[i]));
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        unsetenv("COLUMNS");
        command_expect(commands[i], 0, "");
        fits(80);
        setenv("COLUMNS", "100", 1);
        command_expect(commands[i], 0, "");
        fits(100);
    }
    unsetenv("COLUMNS");
    /* Lines of running text are filled again; what explains an option stays in its column. */
    command_expect("start --help", 0, "");
    assert_non_null(strstr(command_out, "directory (FILE's name with .ini"));
    command_expect("recommend --help", 0, "");
    assert_non_null(strstr(command_out, "\n                     of the same ones."));
    command_expect("run --help", 0, "");
    assert_non_null(strstr(command_out, "\n  --resume "));
    setenv("COLUMNS", "50", 1);
    command_expect("describe run", 0, "");
    fits(50);
    command_expect("account sound.ini", 0, "");
    fits(50);
    unsetenv("COLUMNS");
}

TEST(a_run_without_noise_says_so_in_one_line)
{
    command_expect(
        "-c sound.ini -o items.mechanism= -o items.transforms= -o items.solver=gradient-descent -O noiseless",
        0, "");
    assert_non_null(strstr(command_out, "Privacy: none. "));
    assert_null(strstr(command_out, "CONDITIONS OF THE PROOF"));
    static char statement[1 << 16];
    command_slurp(command_path("noiseless/release/guarantee.txt"), statement, sizeof statement);
    assert_non_null(strstr(statement, "CONDITIONS OF THE PROOF")); /* the file has all of it */
    command_expect("-c sound.ini -O with-noise", 0, "");
    assert_non_null(strstr(command_out, "CONDITIONS OF THE PROOF"));
}

/* What completion/ asks for. */
TEST(shells_get_words)
{
    command_expect("complete commands", 0, "");
    assert_non_null(strstr(command_out, "recommend\n"));
    assert_non_null(strstr(command_out, "start\n"));
    command_expect("complete components", 0, "");
    assert_non_null(strstr(command_out, "gaussian\n"));
    command_expect("complete sections", 0, "");
    assert_non_null(strstr(command_out, "evaluate\n"));
    command_expect("complete keys", 0, "");
    assert_non_null(strstr(command_out, "model.rank=\n"));
    assert_non_null(strstr(command_out, "items.mechanism=\n"));
    assert_null(strstr(command_out, "items.mechanism.noise-multiplier=\n"));
    command_expect("complete keys sound.ini", 0, "");
    assert_non_null(strstr(command_out, "items.mechanism.noise-multiplier=\n"));
    command_expect("complete keys absent.ini", 0, "");
    assert_string_equal(command_err, "");
    command_expect("complete options audit", 0, "");
    assert_non_null(strstr(command_out, "--canaries\n"));
    assert_non_null(strstr(command_out, "-c\n"));
    assert_null(strstr(command_out, "--curve\n"));
    command_expect("complete options nothing", 0, "");
    assert_string_equal(command_out, "");
    command_expect("complete", 0, "");
    assert_string_equal(command_out, "");
}

/* ---- output that does not arrive -------------------------------------------------------------------- */

/* The curve as CSV, as pictures where there is gnuplot, and as a table; a file that cannot be written is
 * named. */
TEST(the_curve_is_a_table_a_file_and_a_picture)
{
    command_expect("account -c sound.ini -o accountants.list=rdp,pld --curve curve.csv --odometer spent.csv",
                   0, "");
    assert_non_null(strstr(command_out, "DELTA FOR EACH EPSILON"));
    assert_int_equal(
        shell("test $(grep -c '^rdp,' curve.csv) = 41 && test $(grep -c '^pld,' curve.csv) = 41"), 0);
    assert_int_equal(shell("test $(grep -c ',rdp,' spent.csv) = 3"), 0);
    if (shell("command -v gnuplot >/dev/null") == 0) {
        assert_int_equal(shell("test -s curve.svg && test -s curve.png && test -s spent.svg"), 0);
        assert_false(command_exists("gnuplot.log"));
    }
    command_expect("account -c sound.ini --curve nowhere/curve.csv", 1, "nowhere/curve.csv");
}

/* Whatever is printed is as wide as the terminal at most; a configuration alone stays as it is, to be copied.
 */
TEST(no_line_is_wider_than_the_terminal)
{
    static const char *const commands[] = {"$D --help",
                                           "$D run --help",
                                           "$D report --help",
                                           "$D list",
                                           "$D describe privacy",
                                           "$D account -c sound.ini --curve /dev/null",
                                           "$D check sound.ini | sed -n '/^# Pipeline/,$p'"};
    char line[512];
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        for (int width = 60; width <= 110; width += 25) {
            snprintf(line, sizeof line, "export COLUMNS=%d; %s | awk -v most=%d 'length > most' >wide.txt",
                     width, commands[i], width);
            assert_int_equal(shell(line), 0);
            command_slurp(command_path("wide.txt"), line, sizeof line);
            if (*line)
                fail_msg("%s at %d columns: %s", commands[i], width, line);
        }
}

FIXTURE(begin, training_end)
