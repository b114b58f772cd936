/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs whose users are processes of their own, against the simulation in one process. The oracle is bytes:
 * with noise that can be reproduced, the server's released factors are those of a simulation that adds the
 * messages of the same survivors (chosen-sum, a plugin of the tests), or nothing is released at all.
 */
#include <glob.h>

#include "kit/test.h"
#include "integration/party_processes.h"

static const char base[] =
    "[run]\nrounds = 3\nthreads = 1\norder = users, items\noutput = out\n"
    "[data]\nformat = csv\nheader = yes\npath = ratings.csv\nfeedback = implicit\n"
    "users-file = users.txt\nitems-file = items.txt\n"
    "[split]\nkind = candidates\nfraction = 0.2\n"
    "[model]\nrank = 4\ninit = normal\ninit-scale = 0.1\n"
    "[parties]\nkind = users\n"
    "[users]\nloss = weighted-als\nsolver = cholesky\n[users.loss]\nconfidence = 15\nlambda = 0.25\n"
    "[items]\nloss = weighted-gradient\ntransforms = clip-rows, sparse-projection, hadamard-flatten\n"
    "residual = raw\nmechanism = pbm\naggregator = secagg\nsolver = adam\n"
    "[items.loss]\nconfidence = 15\nclip-error = 1\nobjective = full\nregularization = 0.09\n"
    "[items.transform.clip-rows]\nnorm = l1\nbound = 0.001\n"
    "[items.transform.sparse-projection]\nratio = 2\n[items.transform.hadamard-flatten]\nscope = rows\n"
    "[items.mechanism]\ntheta = 0.25\ntrials = 1\nbound = 0.002\n"
    "[items.solver]\nrate = 0.05\nbeta1 = 0.9\nbeta2 = 0.8\n"
    "[privacy]\nunit = user\nadjacency = replace\nobserver = server\ninteraction-pattern = private\n"
    "delta = 1e-5\nmin-honest = 6\n"
    "[accountants]\nlist = rdp\n[accountants.rdp]\norders = 1.25, 1.5, 1.75, 2, 3, 4\n"
    "[evaluate]\nmetrics = hr\n[federation]\njoin-time = 60\ndeadline = 20\n";

/* A loss that takes weights, and a sampler that gives them. */
static const char weighted[] =
    "[run]\nrounds = 3\nthreads = 1\norder = users, items\n"
    "[data]\nformat = csv\nheader = yes\npath = ratings.csv\nvalue-min = 1\nvalue-max = 5\n"
    "users-file = users.txt\nitems-file = items.txt\n"
    "[model]\nrank = 4\n[parties]\nkind = users\n[users]\nloss = explicit-als\nsolver = cholesky\n"
    "[items]\nloss = explicit-als\ntransforms = clip-rows, clip-user\nsolver = psd\n"
    "mechanism = gaussian\naggregator = secagg\nsampler = poisson-users\n"
    "[items.loss]\nregularization = constant\n[items.transform.clip-rows]\nbound = 1\n"
    "[items.transform.clip-user]\nbound = 1\n"
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 1\nwhere = sum\n"
    "[items.sampler]\nrate = 0.9\nweight = inverse\n"
    "[privacy]\nunit = user\nadjacency = zero-out\nobserver = outsider\ndelta = 1e-5\n"
    "[federation]\nstate = weighted-state\njoin-time = 0\n";

/* ---- tests -------------------------------------------------------------------------------------------- */

TEST(the_same_bytes_as_the_simulation)
{
    pid_t pids[N_PARTIES + 1];
    const pid_t server = start_server("all", "");
    start_parties("all", pids, NULL);
    expect_end(server, "all-server", 0, "12 of 12 parties have joined");
    assert_non_null(
        strstr(said("all-server"), "12 users x 20 items in the catalogues; the server has no records"));
    for (int p = 1; p <= N_PARTIES; p++)
        expect_end(pids[p], "all-1", 0, "");
    command_expect("-q -c base.ini -O simulated -o privacy.randomness=reproducible", 0, "");
    same_release("all", "simulated");
    same_release("all-7-out", "simulated"); /* a party has them, too */
    expect_simulated("all",
                     "round 0: 0 1 2 3 4 5 6 7 8 9 10 11\nround 1: 0 1 2 3 4 5 6 7 8 9 10 11\n"
                     "round 2: 0 1 2 3 4 5 6 7 8 9 10 11\n",
                     "");
    assert_int_equal(communication("all", "bytes_up"), communication("simulated", "bytes_up"));
    assert_int_equal(communication("all", "bytes_down"), communication("simulated", "bytes_down"));
    assert_true(communication("all", "bytes_up") > 10000);
}

/* Messages of a party: HELLO, READY, then keys, shares, input and unmasking of each round. */
TEST(parties_lost_in_each_phase)
{
    static const char *const options[N_PARTIES + 1] = {
        [2] = "-o federation.link=faulty -o federation.link.kill-after=2",  /* before its keys */
        [5] = "-o federation.link=faulty -o federation.link.kill-after=3",  /* before its shares */
        [8] = "-o federation.link=faulty -o federation.link.kill-after=4",  /* before its input */
        [11] = "-o federation.link=faulty -o federation.link.kill-after=5", /* after it */
    };
    pid_t pids[N_PARTIES + 1];
    const pid_t server = start_server("lost", "");
    start_parties("lost", pids, options);
    expect_end(server, "lost-server", 0, "");
    for (int p = 1; p <= N_PARTIES; p++)
        assert_int_equal(ended(pids[p]), options[p] ? 128 + SIGKILL : 0);
    expect_simulated(
        "lost", "round 0: 0 2 3 5 6 8 9 10 11\nround 1: 0 2 3 5 6 8 9 11\nround 2: 0 2 3 5 6 8 9 11\n", "");
}

/* Who is silent, or later than the deadline, is lost; who is slow is not. */
TEST(parties_late_in_each_phase)
{
    static const char *const options[N_PARTIES + 1] = {
        [1] = "-o federation.link=faulty -o federation.link.silent-after=2",
        [4] = "-o federation.link=faulty -o federation.link.silent-after=4",
        [6] = "-o federation.link=faulty -o federation.link.silent-after=5",
        [9] = "-o federation.link=faulty -o federation.link.delay=1 -o "
              "federation.link.delay-time=0.1",
    };
    const char *all[N_PARTIES + 1];
    static char texts[N_PARTIES + 1][256];
    for (int p = 1; p <= N_PARTIES; p++) {
        snprintf(texts[p], sizeof texts[p], "-o run.rounds=1 %s", options[p] ? options[p] : "");
        all[p] = texts[p];
    }
    pid_t pids[N_PARTIES + 1];
    const pid_t server = start_server("late", "-o federation.deadline=2 -o run.rounds=1");
    start_parties("late", pids, all);
    expect_end(server, "late-server", 0, "");
    for (int p = 1; p <= N_PARTIES; p++)
        assert_int_equal(ended(pids[p]), 0); /* all hear the end */
    expect_simulated("late", "round 0: 1 2 4 5 6 7 8 9 10 11\n", "-o run.rounds=1");
}

TEST(too_few_survivors_release_nothing)
{
    const char *options[N_PARTIES + 1] = {NULL};
    pid_t pids[N_PARTIES + 1];
    for (int p = 1; p <= 5; p++)
        options[p] = "-o federation.link=faulty -o federation.link.kill-after=4";
    const pid_t server = start_server("few", "");
    start_parties("few", pids, options);
    expect_end(server, "few-server", 1, "too few parties are left");
    nothing_is_released("few");
    for (int p = 1; p <= N_PARTIES; p++)
        assert_int_equal(ended(pids[p]), p <= 5 ? 128 + SIGKILL : 1);
    assert_non_null(strstr(said("few-7"), "the server ends the run: "));
    nothing_is_released("few-7-out");
}

/* What parties repeat changes nothing, and what the server repeats gets the same answer once more. */
TEST(repeats_and_reorders)
{
    const char *options[N_PARTIES + 1];
    pid_t pids[N_PARTIES + 1];
    for (int p = 1; p <= N_PARTIES; p++)
        options[p] = "-o federation.link=faulty -o federation.link.duplicate=1";
    pid_t server = start_server("twice", "");
    start_parties("twice", pids, options);
    expect_end(server, "twice-server", 0, "");
    for (int p = 1; p <= N_PARTIES; p++)
        assert_int_equal(ended(pids[p]), 0);
    same_release("twice", "simulated");
    server = start_server("replayed", "-o federation.link=faulty -o federation.link.duplicate=1");
    start_parties("replayed", pids, NULL);
    expect_end(server, "replayed-server", 0, "");
    for (int p = 1; p <= N_PARTIES; p++)
        assert_int_equal(ended(pids[p]), 0);
    same_release("replayed", "simulated");
}

TEST(who_agrees_to_something_else_stays_out)
{
    pid_t pids[N_PARTIES + 1];
    const pid_t server = start_server("terms", "");
    for (int p = 1; p < N_PARTIES; p++)
        pids[p] = start_party("terms", p, "");
    pid_t other = start_party("terms", N_PARTIES, "-o items.mechanism.theta=0.2");
    expect_end(other, "terms-12", 2, "[items.mechanism] theta is \"0.2\" here and");
    assert_non_null(
        strstr(said("terms-server"), "it would run something else: [items.mechanism] theta differs"));
    other = start_party("terms", N_PARTIES, "-o federation.state=another -o run.rounds=4");
    expect_end(other, "terms-12", 2, "[run] rounds is \"4\" here and");
    training_file("other-items.txt",
                  "20\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n");
    other = start_party("terms", N_PARTIES, "-o data.items-file=other-items.txt");
    expect_end(other, "terms-12", 2, "the list of [data] items-file is \"20 lines, ");
    /* A user that is here already, and one that is not on the list. */
    for (int i = 0; i < 600 && !strstr(said("terms-server"), "\"3\" has joined"); i++)
        command_sleep(20);
    other = start("terms-again",
                  "join %s -q -c base.ini --data mine3.csv -O again -o federation.state=again-state %s",
                  socket_path, base_options);
    expect_end(other, "terms-again", 2, "\"3\" is here already, with another directory");
    other = start("terms-state",
                  "join %s -q -c base.ini --data mine3.csv -O third -o federation.state=terms-3-state %s",
                  socket_path, base_options);
    expect_end(other, "terms-state", 2, "another process of this party is using it");
    other = start("terms-two",
                  "join %s -q -c base.ini --data ratings.csv -O all-users -o federation.state=two %s",
                  socket_path, base_options);
    expect_end(other, "terms-two", 3, "the records are of 12 users");
    /* One that says only at one end that it is a test. */
    other = start("terms-secure",
                  "join %s -q -c base.ini --data mine12.csv -O secure -o federation.state=two -o "
                  "consent.max-epsilon=1e6",
                  socket_path);
    expect_end(other, "terms-secure", 2, "--insecure-test is \"not given\" here and \"given\" at the server");
    pids[N_PARTIES] = start_party("terms", N_PARTIES, "");
    expect_end(server, "terms-server", 0, "a party is refused: ");
    for (int p = 1; p <= N_PARTIES; p++)
        assert_int_equal(ended(pids[p]), 0);
    same_release("terms", "simulated"); /* nothing of that has moved anything */
}

TEST(a_server_that_is_killed_releases_nothing)
{
    pid_t pids[N_PARTIES + 1];
    static const char *const waits = "-o federation.join-time=2";
    const char *options[N_PARTIES + 1];
    for (int p = 1; p <= N_PARTIES; p++)
        options[p] = waits;
    /* HELLO and READY of twelve are answered by twelve TERMS; then twelve ROUNDs and STARTs: it dies in the
     * second phase of the first round. */
    const pid_t server = start_server("killed", "-o federation.link=faulty -o federation.link.kill-after=40");
    start_parties("killed", pids, options);
    assert_int_equal(ended(server), 128 + SIGKILL);
    /* Another run at the same address is another run: parties of the first do not take part in it. */
    for (int p = 1; p <= N_PARTIES; p++)
        assert_int_equal(ended(pids[p]), 1);
    assert_non_null(strstr(said("killed-5"), "nobody serves at"));
    nothing_is_released("killed");
    nothing_is_released("killed-5-out");
}

/* With the noise of real runs: what was joined is charged once, and limits are limits. */
TEST(a_party_limits_what_it_takes_part_in)
{
    pid_t pids[N_PARTIES + 1];
    char text[1 << 14];
    base_options = "";
    pid_t server = start_server("real", "");
    start_parties("real", pids, NULL);
    expect_end(server, "real-server", 0, "");
    for (int p = 1; p <= N_PARTIES; p++)
        assert_int_equal(ended(pids[p]), 0);
    command_slurp(command_path("real-3-state/ledger"), text, sizeof text);
    const char *first = strchr(text, '\n');
    assert_non_null(first);
    assert_null(strchr(first + 1, '\n') + 1 < text + strlen(text) ? "two" : NULL); /* a head and one run */
    command_slurp(command_path("real-3-state/statement.txt"), text, sizeof text);
    assert_non_null(strstr(text, "It is user \"3\", one of 12 on the list"));
    assert_non_null(strstr(text, "it sends one message of 16\n               rows of 4 integers"));
    assert_non_null(strstr(text, "A sum over fewer than 6 gets no share"));
    assert_non_null(strstr(text, "PRIVACY STATEMENT"));
    assert_non_null(strstr(text, "BUDGET OF THE DATA SET"));
    assert_null(strstr(text, "deletion request")); /* which is for a curator */
    /* A second run would be beyond its limit, and it says so before it looks for a server. */
    pid_t party = start_party("real", 3, "-o consent.max-epsilon=60");
    expect_end(party, "real-3", 2,
               "[consent] max-epsilon = 60: 1 earlier run of this party has cost epsilon");
    party = start_party("real", 4, "-o consent.observer=parties");
    expect_end(party, "real-4", 2, "against the server and other parties");
    party = start_party("real", 4, "-o consent.least-parties=7");
    expect_end(party, "real-4", 2, "asks for sums over 7 parties at least, and the run opens sums over 6");
    party = start_party("real", 4, "-o privacy.unit=record");
    expect_end(party, "real-4", 2, "protects single records");
    party = start_party("real", 4, "-o privacy.randomness=reproducible");
    expect_end(party, "real-4", 2, "needs randomness = secure");
    party = start_party("real", 4, "-o items.aggregator=modular-sum");
    expect_end(party, "real-4", 2, "secagg, sum and mean have messages");
    party = start("weighted",
                  "join %s -q -c weighted.ini --data mine4.csv -O weighted-out -o consent.max-epsilon=9",
                  socket_path);
    expect_end(party, "weighted", 2, "a weight, which a party is not told");
    party = start("limitless", "join %s -q -c base.ini --data mine4.csv -O limitless", socket_path);
    expect_end(party, "limitless", 2, "[consent] max-epsilon: is missing");
    assert_non_null(strstr(said("limitless"), "your own file, which may say include = base.ini"));
    party = start("weighted",
                  "join %s -q -c weighted.ini --data mine4.csv -O weighted-out -o consent.max-epsilon=9",
                  socket_path);
    expect_end(party, "weighted", 2, "a weight, which a party is not told");
    /* A run that does not begin has been charged by who has joined, and both ends say so. */
    server = start_server("short", "-o federation.join-time=3 -o federation.least-parties=4");
    party = start_party("short", 4, "");
    expect_end(server, "short-server", 1, "1 of 12 parties have joined within 3 seconds");
    expect_end(party, "short-4", 1, "a party that has joined has charged its ledger already");
    assert_true(command_exists("short-4-state/ledger"));
    nothing_is_released("short");
    /* Where nobody came, nobody has been charged; and a party that waits says for what. */
    server = start_server("alone", "-o federation.join-time=1 -o federation.least-parties=4");
    expect_end(server, "alone-server", 1, "0 of 12 parties have joined within 1 seconds");
    assert_null(strstr(said("alone-server"), "charged"));
    party =
        start("waits", "join ./wrong.sock -c base.ini --data mine4.csv -O waits -o consent.max-epsilon=1e6 "
                       "-o federation.state=waits-state -o federation.join-time=2");
    expect_end(party, "waits", 1, "waiting for the server at ./wrong.sock, for 2 seconds at most");
    /* The statement is there whoever answers. */
    party = start_party("nobody", 5, "-o federation.join-time=0");
    expect_end(party, "nobody-5", 1, "nobody serves at");
    assert_true(command_exists("nobody-5-state/statement.txt"));
    assert_false(command_exists("nobody-5-state/ledger"));
    base_options = "--insecure-test -o privacy.randomness=reproducible";
}

/* What a party decides for itself it does not take from a file that it includes; it may say the same in its own. */
TEST(a_shared_file_decides_nothing_for_a_party)
{
    static const struct {
        const char *shared, *own, *options, *why;
        int code;
    } cases[] = {
        {"[consent]\nobserver = outsider\n", "", "", "[consent] observer = outsider: it stands in a file", 2},
        {"[consent]\nproved = no\n", "", "", "[consent] proved = no: it stands in a file", 2},
        {"[consent]\nobserver = outsider\n", "observer = server\n", "", "nobody serves at", 1},
        {"[consent]\nobserver = outsider\n", "", "-o consent.observer=server", "nobody serves at", 1},
        {"state = one-for-all\n", "", "", "[federation] state = one-for-all: it stands in a file", 2},
        {"site = north\n", "", "", "[federation] site = north: it stands in a file", 2},
        {"signing-key = all.key\n", "", "", "[federation] signing-key = all.key: it stands in a file", 2},
        {"state = one-for-all\n", "", "-o federation.state=own-state", "nobody serves at", 1},
    };
    static char shared[sizeof base + 64];
    char own[128];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(shared, sizeof shared, "%s%s", base, cases[i].shared); /* the last section is [federation] */
        snprintf(own, sizeof own, "include = shared.ini\n[consent]\nmax-epsilon = 800\n%s", cases[i].own);
        training_file("shared.ini", shared);
        training_file("own.ini", own);
        const pid_t party = start(
            "shared",
            "join %s/nobody.sock -q -c own.ini --data mine4.csv -O shared-out -o federation.join-time=0 %s",
            training_directory, cases[i].options);
        expect_end(party, "shared", cases[i].code, cases[i].why);
        assert_true(cases[i].code == 1 || strstr(said("shared"), "shared.ini:"));
    }
    assert_false(command_exists("one-for-all"));
}

/* The rounds that its file says it has taken part in, in place of those that it has. */
static void count_answered(const char *directory, int count)
{
    static char text[1 << 12];
    char path[300], line[64];
    glob_t found;
    snprintf(path, sizeof path, "%s/%s/run-*.json", training_directory, directory);
    assert_int_equal(glob(path, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    command_slurp(found.gl_pathv[0], text, sizeof text);
    char *at = strstr(text, "\"answered\": 1,");
    assert_non_null(at);
    snprintf(line, sizeof line, "\"answered\": %d,", count);
    memcpy(at, line, strlen(line));
    FILE *file = fopen(found.gl_pathv[0], "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    globfree(&found);
}

/* The same records but for the last one. */
static void leave_out_one(const char *from, const char *to)
{
    static char text[1 << 14];
    command_slurp(command_path(from), text, sizeof text);
    text[strlen(text) - 1] = '\0';
    *(strrchr(text, '\n') + 1) = '\0';
    training_file(to, text);
}

/*
 * A party that is killed and started again takes part in what follows, is charged once, and answers no round twice;
 * with other records it is refused; with its own it is the run that it has paid for, which is most of what it
 * allows. A limit on participations is one over all starts: the statement counts no more.
 */
TEST(a_party_comes_back)
{
    pid_t pids[N_PARTIES + 1];
#define CAPPED                                                                                               \
    "-o run.rounds=4 -o items.sampler=poisson-users -o items.sampler.rate=1 -o items.max-participations=4"
#define DIES " -o federation.link=faulty -o federation.link.kill-after=5"
    const char *all[N_PARTIES + 1];
    char text[1 << 14];
    for (int p = 1; p <= N_PARTIES; p++)
        all[p] = CAPPED;
    all[6] = CAPPED DIES " -o consent.max-epsilon=100";
    all[9] = CAPPED DIES;
    base_options = "";
    const pid_t server =
        start_server("back", CAPPED " -o federation.link=faulty -o federation.link.delay=1 -o "
                                    "federation.link.delay-time=0.35");
    start_parties("back", pids, all);
    assert_int_equal(ended(pids[6]), 128 + SIGKILL);
    assert_int_equal(ended(pids[9]), 128 + SIGKILL);
    leave_out_one("mine6.csv", "other6.csv");
    count_answered("back-9-state", 4);
    pids[9] = start_party("back", 9, CAPPED);
    const pid_t other = start("back-other",
                              "join %s -q -c base.ini --data other6.csv -O other -o "
                              "federation.state=back-6-state -o consent.max-epsilon=1e6 %s",
                              socket_path, CAPPED);
    expect_end(other, "back-other", 2, "and then it joined with other records; nothing is sent");
    pids[6] = start_party("back", 6, CAPPED " -o consent.max-epsilon=100");
    expect_end(pids[9], "back-9", 1, "the server asks for message 5, and the statement counts 4 at most");
    expect_end(server, "back-server", 0, "");
    for (int p = 1; p <= N_PARTIES; p++)
        if (p != 9)
            assert_int_equal(ended(pids[p]), 0);
    command_slurp(command_path("back-6-state/ledger"), text, sizeof text);
    int lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, 2);
    write_survivors("back", "back.txt");
    command_slurp(command_path("back.txt"), text, sizeof text);
    /* Its input of the first round counts, though it was killed after it; it is away, and then it is there. */
    assert_non_null(strstr(text, "round 0: 0 1 2 3 4 5 6 "));
    assert_non_null(strstr(text, "round 1: 0 1 2 3 4 6 "));
    assert_non_null(strstr(text, "round 3: 0 1 2 3 4 5 6 "));
    base_options = "--insecure-test -o privacy.randomness=reproducible";
}

/* Killed at any time: whatever the server says it has added is what it has added. */
TEST(parties_killed_at_random)
{
    pid_t pids[N_PARTIES + 1];
    const char *options[N_PARTIES + 1];
    for (int p = 1; p <= N_PARTIES; p++)
        options[p] = "-o run.rounds=20 -o federation.join-time=5";
    const pid_t server = start_server("random", "-o run.rounds=20 -o federation.link=faulty -o "
                                                "federation.link.delay=1 -o federation.link.delay-time=0.03");
    start_parties("random", pids, options);
    for (int i = 0; i < 6000 && !strstr(said("random-server"), "round 0:"); i++)
        command_sleep(20);
    unsigned seed = (unsigned)getpid();
    for (int p = 2; p <= 8; p += 3) {
        seed = seed * 1103515245u + 12345u;
        command_sleep(50 + (long)(seed >> 16) % 400);
        kill(pids[p], SIGKILL);
    }
    const int code = ended(server);
    for (int p = 1; p <= N_PARTIES; p++)
        ended(pids[p]);
    if (code != 0)
        fail_msg("%s", said("random-server"));
    expect_simulated("random", NULL, "-o run.rounds=20");
}

/* Over gRPC, if it was built: the same bytes; and the server believes the certificate, not what a party says.
 */
TEST(over_grpc)
{
    static char options[N_PARTIES + 1][400];
    const char *all[N_PARTIES + 1];
    char server_options[400], plugin[600];
    pid_t pids[N_PARTIES + 1];
    if (!has_grpc())
        skip();
    make_certificates("DNS:localhost");
    grpc_options("server", server_options, sizeof server_options);
    for (int p = 1; p <= N_PARTIES; p++) {
        char name[16];
        snprintf(name, sizeof name, "%d", p);
        grpc_options(name, options[p], sizeof options[p]);
        all[p] = options[p];
    }
    snprintf(socket_path, sizeof socket_path, "localhost:%d", 20000 + (int)getpid() % 20000);
    const pid_t server = start("grpc-server", "serve %s -v -c base.ini -O grpc %s %s", socket_path,
                               base_options, server_options);
    pid_t liar = start("grpc-liar",
                       "join %s -q -c base.ini --data mine3.csv -O liar -o federation.state=liar-state %s %s",
                       socket_path, base_options, options[4]);
    expect_end(liar, "grpc-liar", 2, "it is \"4\" by its certificate and says that it is \"3\"");
    if (disturbed(plugin,
                  sizeof plugin)) { /* the certificate of a party whose clock is a year ahead is over */
        char late[600];
        snprintf(late, sizeof late, "%s -o federation.join-time=0", options[3]);
        setenv("LD_PRELOAD", plugin, 1);
        setenv("DISTURBED_CLOCK", "31536000", 1);
        liar = start_party("grpc-late", 3, late);
        unsetenv("LD_PRELOAD");
        expect_end(liar, "grpc-late-3", 1, "renew the certificate, or set the clock");
    }
    start_parties("grpc", pids, all);
    expect_end(server, "grpc-server", 0, "");
    for (int p = 1; p <= N_PARTIES; p++)
        assert_int_equal(ended(pids[p]), 0);
    same_release("grpc", "simulated");
    assert_int_equal(communication("grpc", "bytes_up"), communication("simulated", "bytes_up"));
}

static int begin(void **state)
{
    if (parties_begin(state) != 0)
        return -1;
    training_file("base.ini", base);
    training_file("weighted.ini", weighted);
    return 0;
}

FIXTURE(begin, training_end)
