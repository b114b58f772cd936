/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes wrong between a server and parties, beside what test_integration_federation has: the oracle is again
 * the simulation over those who are in the sums, or that nothing is released.
 */
#include <arpa/inet.h>
#include <sys/socket.h>

#include "kit/test.h"
#include "integration/federated_methods.h"

/* ---- a server that may send anything ---- */

/* Keys of all parties are known beforehand, so that the server cannot play parties of its own, nor tell two stories
 * of who has survived: the machines' tests have those lies one by one. */
TEST(keys_that_are_known_beforehand)
{
    static char options[N_PARTIES + 1][256];
    const char *all[N_PARTIES + 1];
    pid_t pids[N_PARTIES + 1];
    static const char *const common = "-o items.aggregator.malicious=yes -o federation.parties=keys.txt";
    run_config = "hdpmf.ini";
    shell_in_directory(
        "for p in 1 2 3 4 5 6 7 8 9 10 11 12; do openssl genpkey -algorithm ed25519 -out sign$p.pem && "
        "echo \"$p $(openssl pkey -in sign$p.pem -pubout | sed -n 2p)\" >> keys.txt; done");
    for (int p = 1; p <= N_PARTIES; p++) {
        snprintf(options[p], sizeof options[p], "%s -o federation.signing-key=sign%d.pem%s", common, p,
                 p == 9 ? " -o federation.link=faulty -o federation.link.kill-after=5" : "");
        all[p] = options[p];
    }
    const pid_t server = start_server("keys", common);
    pid_t stranger =
        start("keys-stranger",
              "join %s -q -c hdpmf.ini --data mine3.csv -O stranger -o federation.state=stranger-state "
              "%s %s -o federation.signing-key=sign4.pem",
              socket_path, base_options, common);
    expect_end(stranger, "keys-stranger", 3,
               "this key is not the one that the list of parties has for \"3\"");
    shell_in_directory(
        "sed 's/^3 .*/'\"3 $(openssl pkey -in sign4.pem -pubout | sed -n 2p | sed 's,/,\\\\/,g')\"'/' "
        "keys.txt > other-keys.txt");
    stranger =
        start("keys-other",
              "join %s -q -c hdpmf.ini --data mine3.csv -O stranger -o federation.state=stranger-state "
              "%s %s -o federation.parties=other-keys.txt -o federation.signing-key=sign4.pem",
              socket_path, base_options, common);
    expect_end(stranger, "keys-other", 2, "the list of [federation] parties, with their keys is");
    start_parties("keys", pids, all);
    assert_int_equal(ended(pids[9]), 128 + SIGKILL);
    pids[9] = 0;
    all_end_well(server, "keys-server", pids, N_PARTIES);
    expect_simulated("keys",
                     "round 0: 0 1 2 3 4 5 6 7 8 9 10 11\nround 1: 0 1 2 3 4 5 6 7 9 10 11\n"
                     "round 2: 0 1 2 3 4 5 6 7 9 10 11\n",
                     "");
}

/* ---- connections ---- */

/* Messages of a party: HELLO, READY, then keys, shares, input and unmasking of each round. The connection is lost with
 * its shares, and with its answer to the list of survivors: the server asks again, and the answer that was kept is sent. */
TEST(a_connection_that_is_lost_in_a_round)
{
    static const char *const options[N_PARTIES + 1] = {
        [3] = "-o federation.link=faulty -o federation.link.cut-after=3",
        [8] = "-o federation.link=faulty -o federation.link.cut-after=5",
    };
    pid_t pids[N_PARTIES + 1];
    run_config = "hdpmf.ini";
    pid_t server = start_server("cut", "-o federation.reconnect=20");
    start_parties("cut", pids, options);
    all_end_well(server, "cut-server", pids, N_PARTIES);
    expect_simulated("cut",
                     "round 0: 0 1 2 3 4 5 6 7 8 9 10 11\nround 1: 0 1 2 3 4 5 6 7 8 9 10 11\n"
                     "round 2: 0 1 2 3 4 5 6 7 8 9 10 11\n",
                     "");
    assert_non_null(strstr(said("cut-server"), "\"3\" is gone"));
}

/* Losses, repeats, delays and disorder everywhere: whatever the server says is in its sums is in them. */
TEST(messages_in_disorder)
{
    static char options[N_PARTIES + 1][512];
    const char *all[N_PARTIES + 1];
    char server_options[512];
    pid_t pids[N_PARTIES + 1];
    static const char *const disorder = "-o federation.link=faulty -o federation.link.reorder=0.03 "
                                        "-o federation.link.duplicate=0.3 -o "
                                        "federation.link.delay=0.3 -o federation.link.delay-time=0.1 "
                                        "-o federation.link.drop=0.01 -o run.rounds=2";
    run_config = "hdpmf.ini";
    for (int p = 1; p <= N_PARTIES; p++) {
        snprintf(options[p], sizeof options[p], "%s -o federation.link.seed=%d", disorder, p);
        all[p] = options[p];
    }
    snprintf(server_options, sizeof server_options, "%s -o federation.deadline=1.5 -o federation.join-time=3",
             disorder);
    const pid_t server = start_server("disorder", server_options);
    start_parties("disorder", pids, all);
    const int code = ended(server);
    for (int p = 1; p <= N_PARTIES; p++) {
        kill(pids[p], SIGTERM); /* one that has not heard the end */
        ended(pids[p]);
    }
    if (code != 0) {
        assert_int_equal(code, 1);
        nothing_is_released("disorder");
    } else
        expect_simulated("disorder", NULL, "-o run.rounds=2");
}

/* ---- parties that are not as they should be ---- */

/* A server that sees messages leaves out one with numbers that no solved row has. */
TEST(numbers_out_of_range)
{
    pid_t pids[N_PARTIES + 1] = {0};
    run_config = "dpimf.ini";
    divide_users();
    const pid_t server =
        start_server("range", "-o federation.parties=sites.txt -o federation.deadline=2 -o run.rounds=1");
    for (int site = 1; site <= 3; site++)
        pids[site] = start_site("range", site,
                                site == 2 ? "-o run.rounds=1 -o federation.link=liar" : "-o run.rounds=1");
    all_end_well(server, "range-server", pids, 3);
    expect_simulated("range", "round 0: 0 2\n", "-o items.aggregator.mean=yes -o run.rounds=1");
}

/* A clock that is a year ahead moves no deadline. A disk that is full when the round has to be written down ends the
 * party before its answer leaves. */
TEST(a_wrong_clock_and_a_full_disk)
{
    char preload[600];
    pid_t pids[N_PARTIES + 1];
    if (!disturbed(preload, sizeof preload))
        skip();
    run_config = "hdpmf.ini";
    const pid_t server = start_server("disturbed", "");
    for (int p = 1; p <= N_PARTIES; p++) {
        if (p == 3 || p == 5)
            setenv("LD_PRELOAD", preload, 1);
        setenv("DISTURBED_CLOCK", p == 3 ? "31536000" : "0", 1);
        if (p == 5)
            setenv("DISTURBED_FILE", "/run-", 1);
        setenv("DISTURBED_AFTER", "1", 1);
        pids[p] = start_party("disturbed", p, "");
        unsetenv("LD_PRELOAD");
        unsetenv("DISTURBED_FILE");
    }
    expect_end(pids[5], "disturbed-5", 1, "No space left on device");
    pids[5] = 0;
    all_end_well(server, "disturbed-server", pids, N_PARTIES);
    expect_simulated("disturbed",
                     "round 0: 0 1 2 3 5 6 7 8 9 10 11\nround 1: 0 1 2 3 5 6 7 8 9 10 11\n"
                     "round 2: 0 1 2 3 5 6 7 8 9 10 11\n",
                     "");
}

/* ---- real noise ---- */

enum { ROUNDS = 3, ITEMS = 20, COLUMNS = 2 };

/* Numbers of a log, added to out by round, row and column: encoded ones less `noise` times the noise in them. */
static void add_log(const char *prefix, const char *who, int noise, int64_t out[ROUNDS][ITEMS][COLUMNS])
{
    char name[96];
    unsigned draw;
    int row, column;
    long long number, drawn;
    snprintf(name, sizeof name, "%s-%s.log", prefix, who);
    FILE *stream = fopen(command_path(name), "r");
    if (!stream)
        fail_msg("%s is not there", name);
    while (fscanf(stream, "%u %d %d %lld %lld", &draw, &row, &column, &number, &drawn) == 5) {
        assert_true(draw < ROUNDS && row < ITEMS && column < COLUMNS);
        out[draw][row][column] += noise < 0 ? drawn : number - noise * drawn;
    }
    fclose(stream);
}

/* What the parties of a run encoded (0), that less its noise (1), or the noise (-1), added up. */
static void add_parties(const char *prefix, int noise, int64_t out[ROUNDS][ITEMS][COLUMNS])
{
    char who[16];
    memset(out, 0, sizeof(int64_t) * ROUNDS * ITEMS * COLUMNS);
    for (int p = 0; p < N_PARTIES; p++) {
        snprintf(who, sizeof who, "%d", p);
        add_log(prefix, who, noise, out);
    }
}

/*
 * With noise that nobody can repeat: the sum that the server decodes, less the noise that a test build of the mechanism
 * has written down at each party, is the sum of the records' contributions. In the first round these are those of a
 * simulation, which has other noise.
 */
TEST(real_noise_is_in_the_sum)
{
    static int64_t sum[ROUNDS][ITEMS][COLUMNS], noise[ROUNDS][ITEMS][COLUMNS], exact[ROUNDS][ITEMS][COLUMNS],
        simulated[ROUNDS][ITEMS][COLUMNS], other_noise[ROUNDS][ITEMS][COLUMNS];
    static char options[2048];
    const char *all[N_PARTIES + 1];
    pid_t pids[N_PARTIES + 1];
    char words[2200];
    run_config = "hdpmf.ini";
    base_options = "";
    snprintf(options, sizeof options, "-o items.mechanism=logged-gamma --plugin-dir %s",
             training_plugins("integration-plugins"));
    for (int p = 1; p <= N_PARTIES; p++)
        all[p] = options;
    setenv("LOGGED_NOISE", "real", 1);
    const pid_t server = start_server("secure", options);
    start_parties("secure", pids, all);
    all_end_well(server, "secure-server", pids, N_PARTIES);
    setenv("LOGGED_NOISE", "simulated", 1);
    snprintf(words, sizeof words, "-q -c hdpmf.ini -O secure-simulated %s", options);
    command_expect(words, 0, "");
    unsetenv("LOGGED_NOISE");
    add_log("real", "sum", 0, sum);
    add_parties("real", -1, noise);
    add_parties("real", 1, exact);
    add_parties("simulated", 1, simulated);
    add_parties("simulated", -1, other_noise);
    int64_t drawn = 0, told = 0;
    for (int d = 0; d < ROUNDS; d++)
        for (int i = 0; i < ITEMS; i++)
            for (int c = 0; c < COLUMNS; c++) {
                assert_int_equal(sum[d][i][c] - noise[d][i][c], exact[d][i][c]);
                drawn += noise[d][i][c] != other_noise[d][i][c];
                told += exact[d][i][c] != 0;
            }
    assert_memory_equal(exact[0], simulated[0], sizeof exact[0]);
    assert_true(drawn > 100 && told > 50);
    base_options = "--insecure-test -o privacy.randomness=reproducible";
}

/* ---- monitoring ---- */

static int ask(int port, const char *what, char *out, size_t size)
{
    struct sockaddr_in where = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    size_t n = 0;
    if (connect(fd, (struct sockaddr *)&where, sizeof where) != 0) {
        close(fd);
        return -1;
    }
    assert_int_equal(write(fd, what, strlen(what)), strlen(what));
    for (ssize_t got; n < size - 1 && (got = read(fd, out + n, size - 1 - n)) > 0;)
        n += (size_t)got;
    out[n] = '\0';
    close(fd);
    return 0;
}

/* Counts of parties are told where the statement does not protect who takes part, and only there. */
TEST(metrics_of_the_server)
{
    static const char *const get = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    static char text[1 << 14];
    char options[256];
    run_config = "hdpmf.ini";
    for (int protects = 0; protects < 2; protects++) {
        const int port = 30000 + (int)getpid() % 20000 + protects;
        snprintf(options, sizeof options, "-o federation.join-time=60 -o federation.metrics=127.0.0.1:%d%s",
                 port, protects ? " -o privacy.adjacency=add-remove" : "");
        const pid_t server = start_server(protects ? "metrics-hidden" : "metrics", options);
        pid_t party = start_party(protects ? "metrics-hidden" : "metrics", 1,
                                  protects ? "-o privacy.adjacency=add-remove" : "");
        for (int i = 0; i < 300; i++) {
            command_sleep(50);
            if (ask(port, get, text, sizeof text) == 0 && (protects || strstr(text, "parties_joined 1")))
                break;
        }
        assert_non_null(strstr(text, "200 OK"));
        assert_non_null(strstr(text, "Content-Type: application/openmetrics-text; version=1.0.0"));
        assert_non_null(strstr(text, "\ndpframe_rounds_planned 3\n"));
        assert_non_null(strstr(text, "\ndpframe_rounds_complete 0\n"));
        assert_non_null(strstr(text, "\ndpframe_parties_listed 12\n"));
        assert_string_equal(text + strlen(text) - 6, "# EOF\n");
        if (protects)
            assert_null(strstr(text, "joined"));
        else
            assert_non_null(strstr(text, "\ndpframe_parties_joined 1\n"));
        assert_int_equal(
            ask(port, "GET /private HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", text, sizeof text), 0);
        assert_non_null(strstr(text, "404"));
        kill(server, SIGTERM);
        kill(party, SIGTERM);
        ended(server);
        ended(party);
    }
    expect_end(start_server("metrics-wrong", "-o federation.metrics=here"), "metrics-wrong-server", 2,
               "write 127.0.0.1:9464");
}

/* A slow party is named, costs the others a quorum's time instead of the deadline, and is not asked again; who is not
   enrolled is refused, and who is taken off the list leaves in the middle of the run. */
TEST(slow_and_revoked_parties_are_left_out)
{
    pid_t pids[N_PARTIES + 1];
    const char *all[N_PARTIES + 1] = {NULL};
    run_config = "hdpmf.ini";
    training_file("enrolled.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n");
    all[5] = "-o federation.link=faulty -o federation.link.silent-after=3";
    all[1] = "-o federation.link=faulty -o federation.link.delay=1 -o federation.link.delay-time=0.3";
    base_options = "--insecure-test -o privacy.randomness=reproducible -o run.rounds=6";
    const pid_t server = start_server(
        "field", "-o federation.enrolled=enrolled.txt -o federation.quorum=9 -o "
                 "federation.exclude-after=1 -o federation.deadline=600 -o federation.join-time=8");
    start_parties("field", pids, all);
    expect_end(pids[12], "field-12", 2, "\"12\" is not enrolled at the server now");
    for (int i = 0; i < 900 && !strstr(said("field-server"), "round 1: "); i++)
        command_sleep(50);
    training_file("enrolled.txt", "1\n2\n3\n5\n6\n7\n8\n9\n10\n11\n");
    expect_end(pids[4], "field-4", 1, "\"4\" is not enrolled at the server now");
    expect_end(server, "field-server", 0, "from \"5\" (excluded until it joins anew): lost for the round");
    assert_non_null(strstr(said("field-server"), "a party is refused: \"12\" is not enrolled"));
    for (int p = 1; p < N_PARTIES; p++)
        if (p != 4 && p != 5)
            assert_int_equal(ended(pids[p]), 0);
    ended(pids[5]);
    expect_end(start_server("field-quorum", "-o federation.quorum=2"), "field-quorum-server", 2,
               "[federation] quorum = 2: the noise needs ");
    base_options = "--insecure-test -o privacy.randomness=reproducible";
}

FIXTURE(methods_begin, training_end)
