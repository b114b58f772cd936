/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "kit/plain_host.h"
#include "kit/link_end.h"

static char directory[] = "/tmp/dpframe-test-XXXXXX", path[64];

static void make(struct end *end)
{
    const dpf_component *component = plain_component("local", DPF_ROLE_LINK, "local");
    plain_open(&end->host, component, "");
    end->link = component->functions;
}

static void open_end(struct end *end, int32_t which)
{
    make(end);
    plain_clear(&end->host);
    if (end->link->open(end->host.self, which, path) != DPF_OK)
        fail_msg("%s", end->host.report);
}

static void pump(struct end *end)
{
    dpf_link_event event = {.size = sizeof(event)};
    assert_int_equal(end->link->receive(end->host.self, 0, &event), DPF_OK);
    assert_int_equal(event.kind, DPF_LINK_NOTHING);
}

TEST(messages_arrive_whole_and_in_order)
{
    struct end server, party, other;
    open_end(&server, DPF_LINK_SERVES);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600); /* its owner alone */
    open_end(&party, DPF_LINK_JOINS);
    assert_int_equal(next(&server, DPF_LINK_OPENED).peer, 0);
    open_end(&other, DPF_LINK_JOINS);
    assert_int_equal(next(&server, DPF_LINK_OPENED).peer, 1);
    send_text(&party, DPF_LINK_SERVER, "one");
    send_text(&party, DPF_LINK_SERVER, "");
    send_text(&party, DPF_LINK_SERVER, "three");
    expect_text(&server, 0, "one");
    expect_text(&server, 0, "");
    expect_text(&server, 0, "three");
    send_text(&server, 1, "to the other");
    expect_text(&other, DPF_LINK_SERVER, "to the other");
    pump(&party);
    plain_close(&other.host);
    assert_int_equal(next(&server, DPF_LINK_CLOSED).peer, 1);
    send_text(&server, 1, "to nobody"); /* is no failure */
    open_end(&other, DPF_LINK_JOINS);
    assert_int_equal(next(&server, DPF_LINK_OPENED).peer, 2); /* a number of its own */
    /* What was sent before a close arrives before it. */
    send_text(&server, 0, "last words");
    server.link->hang_up(server.host.self, 0);
    expect_text(&party, DPF_LINK_SERVER, "last words");
    next(&party, DPF_LINK_CLOSED);
    plain_close(&party.host);
    plain_close(&server.host);
    next(&other, DPF_LINK_CLOSED);
    plain_close(&other.host);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* More than any socket's buffer holds, to one that does not read, while others go on. */
TEST(a_peer_that_does_not_read_delays_nobody)
{
    struct end server, slow, quick;
    const uint64_t n = UINT64_C(20) << 20;
    uint8_t *large = malloc(n);
    assert_non_null(large);
    for (uint64_t i = 0; i < n; i++)
        large[i] = (uint8_t)(i * 7 >> 3);
    open_end(&server, DPF_LINK_SERVES);
    open_end(&slow, DPF_LINK_JOINS);
    open_end(&quick, DPF_LINK_JOINS);
    next(&server, DPF_LINK_OPENED);
    next(&server, DPF_LINK_OPENED);
    assert_int_equal(server.link->send(server.host.self, 0, large, n), DPF_OK);
    send_text(&server, 1, "quick");
    expect_text(&quick, DPF_LINK_SERVER, "quick");
    send_text(&quick, DPF_LINK_SERVER, "back");
    expect_text(&server, 1, "back");
    for (;;) { /* both ends, in turns: one thread */
        dpf_link_event event = {.size = sizeof(event)};
        pump(&server);
        assert_int_equal(slow.link->receive(slow.host.self, 0.001, &event), DPF_OK);
        if (event.kind == DPF_LINK_NOTHING)
            continue;
        assert_int_equal(event.kind, DPF_LINK_MESSAGE);
        assert_int_equal(event.n_bytes, n);
        assert_memory_equal(event.bytes, large, n);
        break;
    }
    free(large);
    plain_close(&slow.host);
    plain_close(&quick.host);
    plain_close(&server.host);
}

TEST(what_is_no_message_closes_the_peer)
{
    struct end server;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path));
    open_end(&server, DPF_LINK_SERVES);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(write(fd, "GET / HTTP/1.1\r\n", 16), 16);
    next(&server, DPF_LINK_OPENED);
    next(&server, DPF_LINK_CLOSED);
    close(fd);
    plain_close(&server.host);
}

TEST(addresses)
{
    struct end server, second;
    make(&server);
    plain_clear(&server.host);
    assert_int_equal(server.link->open(server.host.self, DPF_LINK_JOINS, path), DPF_E_CONFIG);
    assert_non_null(strstr(server.host.report, "nobody serves at"));
    plain_clear(&server.host);
    assert_int_equal(server.link->open(server.host.self, DPF_LINK_SERVES, ""), DPF_E_CONFIG);
    /* A file that is there is left alone; the socket of a process that is gone is not. */
    const int fd = open(path, O_CREAT | O_WRONLY, 0600);
    close(fd);
    plain_clear(&server.host);
    assert_int_equal(server.link->open(server.host.self, DPF_LINK_SERVES, path), DPF_E_CONFIG);
    assert_int_equal(unlink(path), 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path));
    const int stale = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(stale, (const struct sockaddr *)&address, sizeof(address)), 0);
    close(stale);
    assert_int_equal(server.link->open(server.host.self, DPF_LINK_SERVES, path), DPF_OK);
    make(&second);
    plain_clear(&second.host);
    assert_int_equal(second.link->open(second.host.self, DPF_LINK_SERVES, path), DPF_E_CONFIG);
    assert_non_null(strstr(second.host.report, "cannot listen at"));
    plain_close(&second.host);
    plain_close(&server.host);
}

/* Whom the host has not admitted may say who it is, and no more; then up to what the host has allowed. One message
   goes to several peers from one buffer. */
TEST(limits_hold)
{
    struct end server, alice, bob;
    static uint8_t bytes[5001];
    const int64_t both[] = {2, 1};
    open_end(&server, DPF_LINK_SERVES);
    open_end(&alice, DPF_LINK_JOINS);
    assert_int_equal(next(&server, DPF_LINK_OPENED).peer, 0);
    open_end(&bob, DPF_LINK_JOINS);
    assert_int_equal(next(&server, DPF_LINK_OPENED).peer, 1);
    assert_int_equal(alice.link->send(alice.host.self, DPF_LINK_SERVER, bytes, DPF_LINK_FIRST + 1), DPF_OK);
    assert_int_equal(next(&server, DPF_LINK_CLOSED).peer, 0);
    next(&alice, DPF_LINK_CLOSED);
    plain_close(&alice.host);
    assert_int_equal(bob.link->send(bob.host.self, DPF_LINK_SERVER, bytes, DPF_LINK_FIRST), DPF_OK);
    assert_int_equal(next(&server, DPF_LINK_MESSAGE).n_bytes, DPF_LINK_FIRST);
    server.link->admit(server.host.self, 1, 5000);
    for (int i = 0; i < 3; i++)
        assert_int_equal(bob.link->send(bob.host.self, DPF_LINK_SERVER, bytes, 5000), DPF_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(next(&server, DPF_LINK_MESSAGE).n_bytes, 5000);
    open_end(&alice, DPF_LINK_JOINS);
    assert_int_equal(next(&server, DPF_LINK_OPENED).peer, 2);
    assert_int_equal(server.link->share(server.host.self, both, 2, (const uint8_t *)"to both", 7), DPF_OK);
    expect_text(&alice, DPF_LINK_SERVER, "to both");
    expect_text(&bob, DPF_LINK_SERVER, "to both");
    assert_int_equal(bob.link->send(bob.host.self, DPF_LINK_SERVER, bytes, 5001), DPF_OK);
    assert_int_equal(next(&server, DPF_LINK_CLOSED).peer, 1);
    plain_close(&bob.host);
    plain_close(&alice.host);
    plain_close(&server.host);
}

static int make_directory(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof(path), "%s/socket", directory);
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    return rmdir(directory);
}

FIXTURE(make_directory, remove_directory)
