/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that is killed and continues from its checkpoint. With reproducible noise the released bytes are those of a
 * run that nothing has disturbed; with real noise each end's ledger has a line for each round that it made again, and
 * none for rounds that were finished.
 */
#include "kit/test.h"
#include "integration/federated_methods.h"

#define KEEPS "-o run.checkpoint=yes -o federation.join-time=20 -o federation.deadline=20 "
#define KILLED "-o federation.link=%s -o federation.link.kill-after=%d"

/* The n-th process of a run's server; the last one is not killed. */
static pid_t next_server(const char *run, int n, int after, const char *options)
{
    const int is_local = !strchr(socket_path, ':');
    char name[64], kill[96] = "";
    snprintf(name, sizeof name, "%s-server%d", run, n);
    if (n == 0 && is_local)
        snprintf(socket_path, sizeof socket_path, "%s/%s.sock", training_directory, run);
    if (after > 0)
        snprintf(kill, sizeof kill, KILLED, is_local ? "faulty" : "faulty-grpc", after);
    return start(name, "serve %s -v -c %s -O %s %s " KEEPS "%s %s %s", socket_path, run_config, run,
                 n > 0 ? "--resume" : "", base_options, options, kill);
}

static void next_is_killed(const char *run, int n, int after, const char *options)
{
    const int code = ended(next_server(run, n, after, options));
    char name[64];
    snprintf(name, sizeof name, "%s-server%d", run, n);
    if (code != 128 + SIGKILL)
        fail_msg("%s was not killed after %d messages, but ended with %d: %s", name, after, code, said(name));
}

/* All processes that follow one another, and at last one that ends the run. */
static void killed_and_continued(const char *run, const int *after, int n_kills, const char *options)
{
    char name[64];
    for (int n = 0; n < n_kills; n++)
        next_is_killed(run, n, after[n], options);
    snprintf(name, sizeof name, "%s-server%d", run, n_kills);
    expect_end(next_server(run, n_kills, 0, options), name, 0, "");
}

static void none_has_failed(const char *run, const pid_t pids[N_PARTIES + 1], int n)
{
    char name[64];
    for (int p = 1; p <= n; p++) {
        snprintf(name, sizeof name, "%s-%d", run, p);
        expect_end(pids[p], name, 0, "");
    }
}

static void same_as_undisturbed(const char *run, const char *options)
{
    char words[1024], simulated[80];
    snprintf(simulated, sizeof simulated, "%s-undisturbed", run);
    snprintf(words, sizeof words, "-q -c %s -O %s -o privacy.randomness=reproducible %s", run_config,
             simulated, options);
    command_expect(words, 0, "");
    same_release(run, simulated);
}

static int count_lines(const char *path)
{
    static char text[1 << 16];
    int lines = 0;
    command_slurp(command_path(path), text, sizeof text);
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    return lines;
}

static int64_t repeats_of(const char *run)
{
    static char text[1 << 16];
    char path[96];
    int n = 0;
    snprintf(path, sizeof path, "%s/release/guarantee.txt", run);
    command_slurp(command_path(path), text, sizeof text);
    const char *at = strstr(text, "Interruptions ended ");
    return at && sscanf(at, "Interruptions ended %d rounds", &n) == 1 ? n : at != NULL;
}

/* ---- reproducible noise: bytes ------------------------------------------------------------------------ */

/* Messages of a server: TERMS to twelve parties; in each round ROUND, and one in each of four phases of secagg, to each
 * of them; at the end OVER. The first five processes die in the five parts of the first round, which all make again; the
 * next ones later, and the last while it tells the parties the end. */
TEST(killed_in_every_phase)
{
    static const int after[] = {20, 30, 41, 54, 66, 80, 138};
    pid_t pids[N_PARTIES + 1];
    run_config = "hdpmf.ini";
    snprintf(socket_path, sizeof socket_path, "%s/phases.sock", training_directory);
    start_parties("phases", pids, NULL);
    killed_and_continued("phases", after, sizeof after / sizeof *after, "");
    none_has_failed("phases", pids, N_PARTIES);
    same_as_undisturbed("phases", "");
    assert_int_equal(repeats_of("phases"), 6); /* the seventh was killed when all rounds were made */
    for (int p = 1; p <= N_PARTIES; p += 5) {
        char out[64];
        snprintf(out, sizeof out, "phases-%d-out", p);
        same_row(out, "phases-undisturbed", p - 1, 2); /* its own row has not moved twice */
    }
    assert_false(command_exists("phases/private/checkpoint"));
    expect_end(next_server("phases", 9, 0, ""), "phases-server9", 2, "does not exist. Only a run with");
}

/* A party's own step comes before its message, or it solves the released rows: it finds itself as it was before the round. */
TEST(killed_with_other_orders)
{
    static const int in_rounds[] = {31, 40}, of_sites[] = {8, 8};
    pid_t pids[N_PARTIES + 1];
    run_config = "open.ini";
    snprintf(socket_path, sizeof socket_path, "%s/order.sock", training_directory);
    start_parties("order", pids, NULL);
    killed_and_continued("order", in_rounds, 2, "");
    none_has_failed("order", pids, N_PARTIES);
    same_as_undisturbed("order", "");
    run_config = "dpimf.ini";
    divide_users();
    snprintf(socket_path, sizeof socket_path, "%s/solves.sock", training_directory);
    for (int site = 1; site <= 3; site++)
        pids[site] = start_site("solves", site, "");
    killed_and_continued("solves", of_sites, 2, "-o federation.parties=sites.txt");
    none_has_failed("solves", pids, 3);
    same_as_undisturbed("solves", "");
}

TEST(killed_over_grpc)
{
    static const int after[] = {41, 66, 80};
    static char options[N_PARTIES + 1][400];
    const char *all[N_PARTIES + 1];
    char server[400];
    pid_t pids[N_PARTIES + 1];
    if (!has_grpc())
        skip();
    run_config = "hdpmf.ini";
    make_certificates("DNS:localhost");
    grpc_options("server", server, sizeof server);
    for (int p = 1; p <= N_PARTIES; p++) {
        char name[16];
        snprintf(name, sizeof name, "%d", p);
        grpc_options(name, options[p], sizeof options[p]);
        all[p] = options[p];
    }
    snprintf(socket_path, sizeof socket_path, "localhost:%d", 20000 + (int)getpid() % 20000);
    start_parties("calls", pids, all);
    killed_and_continued("calls", after, 3, server);
    none_has_failed("calls", pids, N_PARTIES);
    same_as_undisturbed("calls", "");
}

/* A server that is asked to stop tells the parties that it may continue, and they wait for it. */
TEST(stopped_and_continued)
{
    pid_t pids[N_PARTIES + 1];
    run_config = "hdpmf.ini";
    snprintf(socket_path, sizeof socket_path, "%s/stops.sock", training_directory);
    const pid_t server = next_server("stops", 0, 0,
                                     "-o federation.link=faulty -o federation.link.delay=1 -o "
                                     "federation.link.delay-time=0.3");
    start_parties("stops", pids, NULL);
    for (int i = 0; i < 600 && !strstr(said("stops-server0"), "round 1:"); i++)
        command_sleep(20);
    kill(server, SIGTERM);
    expect_end(server, "stops-server0", 128 + SIGTERM,
               "The checkpoint is kept: continue with the same command and --resume");
    expect_end(next_server("stops", 1, 0, ""), "stops-server1", 0, "");
    none_has_failed("stops", pids, N_PARTIES);
    assert_non_null(strstr(said("stops-3"), "the server stops, and may continue"));
    same_as_undisturbed("stops", "");
}

/* ---- real noise: what it costs ------------------------------------------------------------------------ */

/*
 * The first process dies when all have sent keys and shares of the first round, the next before anybody has sent
 * anything of the second. So a party pays for one round again, and the server for two. Party 6 does not allow more than
 * the run alone costs, and misses the round that is made again; party 9 dies with the server, and comes back.
 */
TEST(what_is_made_again_is_paid_again)
{
    pid_t pids[N_PARTIES + 1];
    const char *all[N_PARTIES + 1] = {NULL};
    run_config = "hdpmf.ini";
    base_options = "";
    all[6] = "-o consent.max-epsilon=700"; /* the run costs 600, and a round 200 */
    all[9] = "-o federation.join-time=3";  /* it gives up when the server is dead */
    snprintf(socket_path, sizeof socket_path, "%s/pays.sock", training_directory);
    const pid_t server = next_server("pays", 0, 54, "-o privacy.ledger=pays.ledger");
    for (int i = 0; i < 600 && access(socket_path, F_OK) != 0; i++)
        command_sleep(20);
    start_parties("pays", pids, all);
    assert_int_equal(ended(server), 128 + SIGKILL);
    expect_end(pids[9], "pays-9", 1, "");
    pids[9] = start_party("pays", 9, "");
    next_is_killed("pays", 1, 12 + 11 * 5 + 4, "-o privacy.ledger=pays.ledger");
    expect_end(next_server("pays", 2, 0, "-o privacy.ledger=pays.ledger"), "pays-server2", 0, "");
    none_has_failed("pays", pids, N_PARTIES);
    base_options = "--insecure-test -o privacy.randomness=reproducible";
    assert_int_equal(count_lines("pays.ledger"), 1 + 1 + 2);
    assert_int_equal(count_lines("pays-3-state/ledger"), 1 + 1 + 1);
    assert_int_equal(count_lines("pays-9-state/ledger"), 1 + 1 + 1);
    assert_int_equal(count_lines("pays-6-state/ledger"), 1 + 1);
    assert_non_null(strstr(said("pays-6"),
                           "the server makes round 1 again, which this party has sent for, and "
                           "misses now: "));
    assert_non_null(strstr(said("pays-server1"), "in the sum of round 0: 0 1 2 3 4 6 7 8 9 10 11\n"));
    assert_non_null(strstr(said("pays-server2"), "in the sum of round 1: 0 1 2 3 4 5 6 7 8 9 10 11\n"));
    assert_int_equal(repeats_of("pays"), 2);
}

/* A server that continues from an older copy would make rounds again that were finished: parties send nothing. */
TEST(an_old_copy_is_refused)
{
    pid_t pids[N_PARTIES + 1];
    run_config = "hdpmf.ini";
    snprintf(socket_path, sizeof socket_path, "%s/older.sock", training_directory);
    start_parties("older", pids, NULL);
    next_is_killed("older", 0, 41, "");
    shell_in_directory("cp -p older/private/checkpoint older.copy");
    expect_end(next_server("older", 3, 0, "-o items.mechanism.epsilon=100"), "older-server3", 2,
               "belongs to another run: [items.mechanism] epsilon was \"200\" and is \"100\"");
    expect_end(start_server("older", ""), "older-server", 2, "an interrupted run has left");
    next_is_killed("older", 1, 12 + 60 + 60 + 40, "");
    shell_in_directory("cp -p older.copy older/private/checkpoint");
    expect_end(next_server("older", 2, 0, "-o federation.join-time=2"), "older-server2", 1,
               "parties have joined");
    for (int p = 1; p <= N_PARTIES; p++) {
        char name[64];
        snprintf(name, sizeof name, "older-%d", p);
        expect_end(pids[p], name, 1, "the server continues from an old copy of its checkpoint");
    }
    nothing_is_released("older");
}

/* Only a factorization has rounds between which a state is kept, and the parties of the checkpoint are those of the list. */
TEST(what_cannot_be_continued)
{
    run_config = "gram.ini";
    expect_end(start_server("no-rounds", "-o run.checkpoint=yes"), "no-rounds-server", 2,
               "only a factorization has rounds between which its state can be kept");
    run_config = "hdpmf.ini";
    expect_end(start("party-resumes", "join %s -q -c hdpmf.ini --resume", socket_path), "party-resumes", 2,
               "this command has no option --resume");
}

FIXTURE(methods_begin, training_end)
