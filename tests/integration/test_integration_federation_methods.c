/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Methods over links, against their simulations, byte for byte: HDPMF, whose parties solve after the release;
 * its form in which the server sees messages with rows of their own; the recommender private-gram; and DPIMF,
 * whose parties are sites that solve.
 */
#include "kit/test.h"
#include "integration/federated_methods.h"

/* A user's row is for the rows before and after a release; the noise comes in shares. A party that is lost after its
 * input is in the first sum and in no other. */
TEST(hdpmf_solves_after_the_release)
{
    static const char *const options[N_PARTIES + 1] = {
        [4] = "-o federation.link=faulty -o federation.link.kill-after=5"};
    pid_t pids[N_PARTIES + 1];
    run_config = "hdpmf.ini";
    pid_t server = start_server("hdpmf", "");
    start_parties("hdpmf", pids, NULL);
    all_end_well(server, "hdpmf-server", pids, N_PARTIES);
    command_expect("-q -c hdpmf.ini -O hdpmf-alone -o privacy.randomness=reproducible", 0, "");
    same_release("hdpmf", "hdpmf-alone");
    assert_int_equal(communication("hdpmf", "bytes_up"), communication("hdpmf-alone", "bytes_up"));
    same_row("hdpmf-7-out", "hdpmf-alone", 6, 2);
    server = start_server("hdpmf-lost", "");
    start_parties("hdpmf-lost", pids, options);
    assert_int_equal(ended(pids[4]), 128 + SIGKILL);
    pids[4] = 0;
    all_end_well(server, "hdpmf-lost-server", pids, N_PARTIES);
    expect_simulated("hdpmf-lost",
                     "round 0: 0 1 2 3 4 5 6 7 8 9 10 11\nround 1: 0 1 2 4 5 6 7 8 9 10 11\n"
                     "round 2: 0 1 2 4 5 6 7 8 9 10 11\n",
                     "");
}

/* Where the server sees messages, each party adds all of the noise, and sends the rows of its items. */
TEST(messages_in_the_open)
{
    pid_t pids[N_PARTIES + 1];
    run_config = "open.ini";
    const pid_t server = start_server("open", "");
    start_parties("open", pids, NULL);
    all_end_well(server, "open-server", pids, N_PARTIES);
    command_expect("-q -c open.ini -O open-alone -o privacy.randomness=reproducible", 0, "");
    same_release("open", "open-alone");
}

/* All arrays of the released model. */
static void same_model(const char *run, const char *other)
{
    static const char *const arrays[] = {"in",     "out",  "span",     "popularity",
                                         "column", "bias", "loadings", "variance"};
    int n = 0;
    for (size_t a = 0; a < sizeof arrays / sizeof arrays[0]; a++) {
        char name[64], path[128];
        snprintf(name, sizeof name, "release/model/%s.npy", arrays[a]);
        snprintf(path, sizeof path, "%s/%s", run, name);
        if (!command_exists(path))
            continue;
        same_file(run, other, name, 64);
        n++;
    }
    assert_true(n >= 2);
    same_file(run, other, "release/model/index.json", 100);
}

/* The model is made at each end from what the server has released; the scores of a party are its own. */
TEST(private_gram_from_sums)
{
    static const char *const options[N_PARTIES + 1] = {
        [4] = "-o federation.link=faulty -o federation.link.kill-after=2"};
    static const char *const forms[] = {"gram", "projected"};
    pid_t pids[N_PARTIES + 1];
    char words[2048], run[32], alone[48], own[48], server_name[48], more[128];
    const char *all[N_PARTIES + 1];
    run_config = "gram.ini";
    for (int f = 0; f < 2; f++) {
        snprintf(run, sizeof run, "gram-%s", forms[f]);
        snprintf(alone, sizeof alone, "%s-alone", run);
        snprintf(own, sizeof own, "%s-7-out", run);
        snprintf(server_name, sizeof server_name, "%s-server", run);
        snprintf(more, sizeof more, "-o model.recommender.form=%s", forms[f]);
        for (int p = 1; p <= N_PARTIES; p++)
            all[p] = more;
        const pid_t server = start_server(run, more);
        start_parties(run, pids, all);
        all_end_well(server, server_name, pids, N_PARTIES);
        snprintf(words, sizeof words, "-q -c gram.ini -O %s %s -o privacy.randomness=reproducible", alone,
                 more);
        command_expect(words, 0, "");
        same_model(run, alone);
        same_model(own, alone);
        assert_int_equal(communication(run, "bytes_up"), communication(alone, "bytes_up"));
    }
    const pid_t server = start_server("gram-lost", "");
    start_parties("gram-lost", pids, options);
    assert_int_equal(ended(pids[4]), 128 + SIGKILL);
    pids[4] = 0;
    all_end_well(server, "gram-lost-server", pids, N_PARTIES);
    write_survivors("gram-lost", "gram-survivors.txt");
    snprintf(
        words, sizeof words,
        "-q -c gram.ini -O gram-eleven -o privacy.randomness=reproducible -o model.aggregator=chosen-sum -o "
        "model.aggregator.survivors=gram-survivors.txt --plugin-dir %s",
        training_plugins("integration-plugins"));
    command_expect(words, 0, "");
    same_model("gram-lost", "gram-eleven");
}

/* Sums that are made more than once have a round each, and the statement counts them. */
TEST(rounds_of_sums)
{
    static const struct {
        const char *name, *options, *says;
    } cases[] = {
        /* users, counts, biases and moments, then corrections and Grams */
        {"ratings", "-o model.recommender=private-ratings -o model.recommender.rounds=3",
         "In 10 rounds, once"},
        /* counts, then matrices and linear terms */
        {"als", "-o model.recommender=private-als -o model.recommender.rounds=2", "In 5 rounds, once"},
    };
    pid_t pids[N_PARTIES + 1];
    const char *all[N_PARTIES + 1];
    char words[1024], name[64], alone[64], text[1 << 14];
    run_config = "ratings.ini";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *run = cases[i].name;
        for (int p = 1; p <= N_PARTIES; p++)
            all[p] = cases[i].options;
        const pid_t server = start_server(run, cases[i].options);
        start_parties(run, pids, all);
        snprintf(name, sizeof name, "%s-server", run);
        all_end_well(server, name, pids, N_PARTIES);
        snprintf(words, sizeof words, "-q -c ratings.ini -O %s-alone -o privacy.randomness=reproducible %s",
                 run, cases[i].options);
        command_expect(words, 0, "");
        snprintf(alone, sizeof alone, "%s-alone", run);
        same_model(run, alone);
        snprintf(name, sizeof name, "%s-7-out", run);
        same_model(name, alone);
        snprintf(name, sizeof name, "%s-7-state/statement.txt", run);
        command_slurp(command_path(name), text, sizeof text);
        assert_non_null(strstr(text, cases[i].says));
    }
}

TEST(dpimf_at_sites)
{
    pid_t pids[N_PARTIES + 1] = {0};
    char text[1 << 14];
    static const char *const sites = "-o federation.parties=sites.txt";
    run_config = "dpimf.ini";
    divide_users();
    pid_t server = start_server("dpimf", sites);
    for (int site = 1; site <= 3; site++)
        pids[site] = start_site("dpimf", site, "");
    all_end_well(server, "dpimf-server", pids, 3);
    command_expect("-q -c dpimf.ini -O dpimf-alone -o privacy.randomness=reproducible", 0, "");
    same_release("dpimf", "dpimf-alone");
    same_release("dpimf-2-out", "dpimf-alone");
    command_slurp(command_path("dpimf-2-state/statement.txt"), text, sizeof text);
    assert_non_null(strstr(text, "A user must be at one site only"));
    /* The mean is over those that are left. */
    server = start_server("dpimf-lost", sites);
    pids[1] = start_site("dpimf-lost", 1, "");
    pids[2] = start_site("dpimf-lost", 2, "-o federation.link=faulty -o federation.link.kill-after=3");
    pids[3] = start_site("dpimf-lost", 3, "");
    assert_int_equal(ended(pids[2]), 128 + SIGKILL);
    pids[2] = 0;
    all_end_well(server, "dpimf-lost-server", pids, 3);
    expect_simulated("dpimf-lost", "round 0: 0 1 2\nround 1: 0 2\n", "-o items.aggregator.mean=yes");
    /* Real noise: nothing is proved of the published method, so a site has to say that it takes part all the same. */
    base_options = "";
    expect_end(start_site("dpimf-real", 1, "-o consent.max-epsilon=3"), "dpimf-real-1", 2,
               "nothing is proved of this run");
    expect_end(start_site("dpimf-real", 1, "-o consent.proved=no -o consent.max-epsilon=3"), "dpimf-real-1",
               2, "has no epsilon to limit");
    server = start_server("dpimf-real", sites);
    for (int site = 1; site <= 3; site++)
        pids[site] = start_site("dpimf-real", site, "-o consent.proved=no");
    all_end_well(server, "dpimf-real-server", pids, 3);
    assert_true(command_exists("dpimf-real/release/item_factors.npy"));
    assert_false(command_exists("dpimf-real-1-state/ledger"));
    base_options = "--insecure-test -o privacy.randomness=reproducible";
    expect_end(start_site("dpimf-name", 1, "-o federation.site=west"), "dpimf-name-1", 2,
               "is not in the list");
}

/* A site with many users sends one message under secure aggregation, with its share of the noise and the proof for users. */
TEST(sites_send_the_sums_of_their_users)
{
    pid_t pids[N_PARTIES + 1] = {0};
    char text[1 << 14];
    static const char *const sites = "-o federation.parties=sites.txt";
    run_config = "pooled.ini";
    divide_users();
    pid_t server = start_server("pooled", sites);
    for (int site = 1; site <= 3; site++)
        pids[site] = start_site("pooled", site, "");
    all_end_well(server, "pooled-server", pids, 3);
    command_expect("-q -c pooled.ini -O pooled-alone -o privacy.randomness=reproducible", 0, "");
    same_release("pooled", "pooled-alone");
    same_release("pooled-2-out", "pooled-alone");
    assert_int_equal(communication("pooled", "bytes_up"), communication("pooled-alone", "bytes_up"));
    command_slurp(command_path("pooled-2-state/statement.txt"), text, sizeof text);
    assert_non_null(strstr(text, "site \"middle\", one of 3"));
    if (has_grpc()) { /* the same over gRPC, whose certificates have the sites' names */
        static const char *const names[] = {"server", "north", "middle", "south"};
        char links[4][400], address[64];
        make_certificates("DNS:localhost");
        for (int end = 0; end <= 3; end++)
            grpc_options(names[end], links[end], sizeof links[end]);
        snprintf(address, sizeof address, "localhost:%d", 20000 + (int)getpid() % 20000);
        server = start("pooled-calls-server", "serve %s -v -c pooled.ini -O pooled-calls %s %s %s", address,
                       base_options, sites, links[0]);
        snprintf(socket_path, sizeof socket_path, "%s", address);
        for (int site = 1; site <= 3; site++)
            pids[site] = start_site("pooled-calls", site, links[site]);
        all_end_well(server, "pooled-calls-server", pids, 3);
        same_release("pooled-calls", "pooled-alone");
        assert_int_equal(communication("pooled-calls", "bytes_up"),
                         communication("pooled-alone", "bytes_up"));
    }
    /* Real noise: the statement is about whole users, and holds against the server. */
    base_options = "";
    server = start_server("pooled-real", sites);
    for (int site = 1; site <= 3; site++)
        pids[site] = start_site("pooled-real", site, "-o consent.max-epsilon=1000000");
    all_end_well(server, "pooled-real-server", pids, 3);
    base_options = "--insecure-test -o privacy.randomness=reproducible";
}

/* ---- what cannot be ---- */

TEST(combinations_that_are_refused)
{
    static const struct {
        const char *config, *options, *why;
    } cases[] = {
        {"hdpmf.ini", "-o items.mechanism.simulate=sum", "only a simulation can draw the parties' noise"},
        {"hdpmf.ini", "-o items.mechanism=laplace-mixture -o items.aggregator=sum",
         "how many parties send a row"},
        {"hdpmf.ini", "-o items.aggregator=modular-sum", "secagg, sum and mean have messages"},
        {"gram.ini", "-o model.aggregator=modular-sum", "secagg, sum and mean have messages"},
        {"gram.ini", "-o model.aggregator=sum -o consent.proved=no", "each has a share of the noise alone"},
        {"gram.ini", "-o model.aggregator=", "trains on all records"},
        {"gram.ini", "-o parties.kind=curator", "set [parties] kind = users"},
        {"dpimf.ini", "-o items.mechanism.lifetime=run", "lives for the whole run"},
        {"gram.ini", "-o consent.observer=parties", "against the server and other parties"},
    };
    run_config = "";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const pid_t pid =
            start("refused",
                  "join nowhere -q -c %s --data mine1.csv -O refused-out -o federation.state=refused-state "
                  "-o federation.join-time=0 --insecure-test -o privacy.randomness=reproducible %s",
                  cases[i].config, cases[i].options);
        expect_end(pid, "refused", 2, cases[i].why);
    }
}

FIXTURE(methods_begin, training_end)
