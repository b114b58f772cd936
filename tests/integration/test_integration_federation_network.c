/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Over gRPC between network namespaces, as on machines: a network that goes down, a process that is stopped, and one
 * that is killed. Needs root, ip and the link grpc.
 */
#include "kit/test.h"
#include "integration/federated_methods.h"

static char space[32];

/* A command of the shell in the test's directory; $N is the namespace. */
static int run(const char *line)
{
    char command[4096];
    snprintf(command, sizeof command, "cd '%s' && N=%s && exec 2>/dev/null && %s", training_directory, space,
             line);
    return system(command);
}

static int begin_network(void)
{
    snprintf(space, sizeof space, "dpf%d", (int)getpid());
    return run("ip netns add $N && ip link add $N type veth peer name eth0 netns $N && ip addr add "
               "10.213.7.1/30 dev $N && "
               "ip link set $N up && ip -n $N addr add 10.213.7.2/30 dev eth0 && ip -n $N link set eth0 up");
}

static void end_network(void)
{
    run("ip netns del $N; ip link del $N");
}

static const char longer[] = "-o run.rounds=12 -o federation.join-time=30";

/* Twelve parties, the fourth of them within the namespace; when it returns, the first round has been made, and the
 * network is down. */
static pid_t begin_run(const char *run_name, pid_t pids[N_PARTIES + 1], char options[N_PARTIES + 1][400])
{
    char server_options[512], name[64];
    if (geteuid() != 0 || begin_network() != 0) {
        print_message("[  SKIPPED ] network namespaces need root and ip\n");
        skip();
    }
    make_certificates("IP:10.213.7.1");
    run_config = "hdpmf.ini";
    grpc_options("server", server_options, sizeof server_options);
    strcat(server_options, longer);
    strcat(server_options,
           " -o federation.deadline=2 -o federation.link=faulty-grpc -o federation.link.delay=1 -o "
           "federation.link.delay-time=0.1");
    snprintf(socket_path, sizeof socket_path, "10.213.7.1:%d", 20000 + (int)getpid() % 20000);
    snprintf(name, sizeof name, "%s-server", run_name);
    const pid_t server = start(name, "serve %s -v -c hdpmf.ini -O %s %s %s", socket_path, run_name,
                               base_options, server_options);
    for (int p = 1; p <= N_PARTIES; p++) {
        char number[16];
        snprintf(number, sizeof number, "%d", p);
        grpc_options(number, options[p], 400);
        strcat(options[p], longer);
        run_within = p == 4 ? space : NULL;
        pids[p] = start_party(run_name, p, options[p]);
    }
    run_within = NULL;
    for (int i = 0; i < 600 && !strstr(said(name), "in the sum of round 0:"); i++)
        command_sleep(50);
    assert_int_equal(run("ip -n $N link set eth0 down"), 0);
    return server;
}

/* Party 4 is behind the network that goes down, 6 is stopped for two deadlines, and 8 is killed: all three while rounds
 * are made. Whatever the server says is in its sums is in them. */
TEST(a_network_that_goes_down)
{
    if (!has_grpc())
        skip();
    static char options[N_PARTIES + 1][400];
    pid_t pids[N_PARTIES + 1];
    const pid_t server = begin_run("net", pids, options);
    kill(pids[6], SIGSTOP);
    kill(pids[8], SIGKILL);
    command_sleep(4500);
    kill(pids[6], SIGCONT);
    const int code = ended(server);
    kill(pids[4], SIGKILL); /* it never hears the end */
    for (int p = 1; p <= N_PARTIES; p++)
        ended(pids[p]);
    end_network();
    if (code != 0)
        fail_msg("%s", said("net-server"));
    expect_simulated("net", NULL, "-o run.rounds=12");
    const char *last = strstr(said("net-server"), "in the sum of round 11:");
    assert_non_null(last);
    assert_null(strstr(last, " 3 ")); /* parties 4 and 8 */
    assert_null(strstr(last, " 7 "));
}

/* Nothing tells the server that party 4 has died. It starts again on another machine, and is let in at once. */
TEST(a_silent_death)
{
    if (!has_grpc())
        skip();
    static char options[N_PARTIES + 1][400];
    pid_t pids[N_PARTIES + 1];
    const pid_t server = begin_run("silent", pids, options);
    kill(pids[4], SIGKILL);
    ended(pids[4]);
    pids[4] = start_party("silent", 4, options[4]);
    expect_end(server, "silent-server", 0, "\"4\" has come back by a new connection");
    for (int p = 1; p <= N_PARTIES; p++)
        assert_int_equal(ended(pids[p]), 0);
    end_network();
    assert_non_null(strstr(said("silent-server"), "in the sum of round 11: 0 1 2 3 4 5 6 7 8 9 10 11\n"));
}

FIXTURE(methods_begin, training_end)
