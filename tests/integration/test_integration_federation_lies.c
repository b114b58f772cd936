/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parties and servers that are not what they say: a patched client under secure aggregation, a peer that floods the server
 * before it says who it is, and names and reasons that would be lines or commands in somebody's log.
 */
#include "kit/test.h"
#include "integration/federated_methods.h"

/* ---- a patched client --------------------------------------------------------------------------------- */

/* A program with the plugins that were built, and a mechanism that lies in place of the true one. */
static void make_patched(void)
{
    char line[2048];
    snprintf(line, sizeof line, "cp -r %s patched && cp %s/dpframe %s/laplace-gamma.so patched",
             training_plugins("plugins"), getenv("DPFRAME_BUILD_DIR"),
             training_plugins("integration-patched"));
    shell_in_directory(line);
}

/* All parties of a run, of which the first is another program or has another library; the run ends, and nothing is
 * released; the message is about a party, and not about the configuration. */
static void expect_lie(const char *run, const char *program, const char *share, const char *const *options,
                       const char *link, const char *text)
{
    static char all[N_PARTIES + 1][600];
    pid_t pids[N_PARTIES + 1];
    char preload[600], plugins[300], name[64], server[600] = "";
    if (*link)
        grpc_options("server", server, sizeof server);
    run_config = "hdpmf.ini";
    snprintf(name, sizeof name, "%s-server", run);
    if (*link) {
        snprintf(socket_path, sizeof socket_path, "localhost:%d", 20000 + (int)getpid() % 20000);
        pids[0] = start(name, "serve %s -v -c hdpmf.ini -O %s %s %s", socket_path, run, base_options, server);
    } else
        pids[0] = start_server(run, "");
    for (int p = 1; p <= N_PARTIES; p++) {
        char number[16], own[400] = "";
        snprintf(number, sizeof number, "%d", p);
        if (*link)
            grpc_options(number, own, sizeof own);
        snprintf(all[p], sizeof all[p], "%s %s", own, options && options[p] ? options[p] : "");
        if (p == 1 && program) {
            snprintf(plugins, sizeof plugins, "%s/patched:", training_directory);
            parties_plugins(plugins);
            run_program = program;
        }
        if (p == 1 && share && disturbed(preload, sizeof preload)) {
            setenv("LD_PRELOAD", preload, 1);
            setenv("DISTURBED_SHARE", share, 1);
        }
        pids[p] = start_party(run, p, all[p]);
        run_program = NULL;
        parties_plugins("");
        unsetenv("LD_PRELOAD");
        unsetenv("DISTURBED_SHARE");
    }
    expect_end(pids[0], name, 1, text);
    nothing_is_released(run);
    for (int p = 1; p <= N_PARTIES; p++) {
        const int code = ended(pids[p]);
        assert_true(code == 1 || code == 128 + SIGKILL);
    }
}

TEST(lies_under_secure_aggregation)
{
    static const char *const one_lost[N_PARTIES + 1] = {
        [8] = "-o federation.link=faulty -o federation.link.kill-after=4"};
    char program[300], preload[600];
    if (!disturbed(preload, sizeof preload))
        skip();
    make_patched();
    snprintf(program, sizeof program, "%s/patched/dpframe", training_directory);
    expect_lie("far", program, NULL, NULL, "", "a party has sent a false message");
    expect_lie("mask", NULL, "0", NULL, "", "a party has sent a false share");
    expect_lie("key", NULL, "32", one_lost, "", "a party has sent a false share");
    if (!has_grpc())
        return;
    make_certificates("DNS:localhost");
    expect_lie("far-call", program, NULL, NULL, "grpc", "a party has sent a false message");
    expect_lie("mask-call", NULL, "0", NULL, "grpc", "a party has sent a false share");
}

/* ---- text of others ----------------------------------------------------------------------------------- */

#define FORGED "~round~99:~FORGED~LINE^[2J^]0;owned\xe2\x80\xae"
#define FORGES(KIND, AT)                                                                                     \
    " -o federation.link=liar -o federation.link.kind=" KIND " -o federation.link.text-at=" AT               \
    " -o federation.link.text=" FORGED

/* What it has written is lines of its own: no other begins, and no terminal obeys. */
static void expect_clean(const char *name)
{
    char path[96];
    static char text[1 << 16];
    for (int out = 0; out < 2; out++) {
        snprintf(path, sizeof path, "%s.%s", name, out ? "out" : "err");
        command_slurp(command_path(path), text, sizeof text);
        assert_null(strstr(text, "\nround"));
        assert_null(strstr(text, "\nFORGED"));
        assert_null(strchr(text, 27));
        assert_null(strstr(text, "\xe2\x80\xae"));
    }
}

/* A party's name and reason at the server, and in what the server answers; the server's reasons and list at a party. */
TEST(text_of_others_is_escaped)
{
    char options[2048];
    run_config = "hdpmf.ini";
    pid_t server = start_server("names", "-o federation.join-time=600");
    snprintf(options, sizeof options, "%s", FORGES("1", "57")); /* HELLO: its name */
    expect_end(start_party("names", 1, options), "names-1", 2, "FORGED");
    snprintf(options, sizeof options, "-o run.rounds=9 %s", FORGES("8", "8")); /* ABORT */
    expect_end(start_party("names", 2, options), "names-2", 2, "[run] rounds is");
    kill(server, SIGTERM);
    expect_end(server, "names-server", 128 + SIGTERM, "a party is refused: ");
    assert_non_null(strstr(said("names-server"), "leaves: it says: \\x0around\\x0a99:"));
    expect_clean("names-server");
    expect_clean("names-1");
    snprintf(options, sizeof options, "-o federation.join-time=4 -o federation.least-parties=8 %s",
             FORGES("8", "8"));
    server = start_server("reasons", options);
    pid_t party = start_party("reasons", 1, "");
    expect_end(server, "reasons-server", 1, "parties have joined");
    expect_end(party, "reasons-1", 1, "FORGED");
    expect_clean("reasons-1");
    snprintf(options, sizeof options, "-o federation.join-time=600 %s", FORGES("7", "8")); /* REFUSED */
    server = start_server("refusals", options);
    party = start_party("refusals", 1, "");
    for (int i = 0; i < 600 && !strstr(said("refusals-server"), "\"1\" has joined"); i++)
        command_sleep(20);
    pid_t second = start("refusals-again",
                         "join %s -q -c hdpmf.ini --data mine1.csv -O refusals-out -o federation.state=other "
                         "-o consent.max-epsilon=1e6 %s",
                         socket_path, base_options); /* with another directory */
    expect_end(second, "refusals-again", 2, "FORGED");
    expect_clean("refusals-again");
    kill(server, SIGTERM);
    kill(party, SIGTERM);
    ended(server);
    ended(party);
}

/* ---- a flood ------------------------------------------------------------------------------------------ */

/* Most memory of a process, in kB. */
static long peak_of(pid_t pid)
{
    char path[64], line[256];
    long peak = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    while (fgets(line, sizeof line, stream))
        sscanf(line, "VmHWM: %ld", &peak);
    fclose(stream);
    assert_true(peak > 0);
    return peak;
}

/* A peer with a certificate sends 64 MB in place of who it is: the server keeps a thousandth of that, and hangs up. */
TEST(a_flood_before_the_name)
{
    static const long most = 8192;
    char own[400], options[2048];
    run_config = "hdpmf.ini";
    for (int calls = 0; calls < 1 + has_grpc(); calls++) {
        const char *run = calls ? "flood-calls" : "flood";
        char name[64];
        *own = '\0';
        snprintf(name, sizeof name, "%s-server", run);
        pid_t server;
        if (calls) {
            make_certificates("DNS:localhost");
            grpc_options("server", own, sizeof own);
            snprintf(socket_path, sizeof socket_path, "localhost:%d", 20000 + (int)getpid() % 20000);
            server = start(name, "serve %s -v -c hdpmf.ini -O %s -o federation.join-time=600 %s %s",
                           socket_path, run, base_options, own);
            grpc_options("3", own, sizeof own);
        } else
            server = start_server(run, "-o federation.join-time=600");
        pid_t first = start_party(run, 3, own); /* so that all code is in memory */
        for (int i = 0; i < 600 && !strstr(said(name), "\"3\" has joined"); i++)
            command_sleep(20);
        const long before = peak_of(server);
        if (calls)
            grpc_options("5", own, sizeof own);
        for (int i = 0; i < 2; i++) {
            snprintf(options, sizeof options,
                     "%s -o federation.join-time=1 -o federation.link=liar%s -o federation.link.kind=1 "
                     "-o federation.link.text-at=57 -o federation.link.text=5 -o "
                     "federation.link.pad=67108864",
                     own, calls ? "-grpc" : "");
            const pid_t flooder = start_party(run, 5, options);
            assert_int_equal(ended(flooder), 1);
        }
        const long after = peak_of(server);
        if (after - before > most)
            fail_msg("a flood takes %ld kB of the server's memory", after - before);
        print_message("%s: %ld kB before, %ld kB after\n", run, before, after);
        kill(server, SIGTERM);
        kill(first, SIGTERM);
        ended(server);
        ended(first);
    }
}

FIXTURE(methods_begin, training_end)
