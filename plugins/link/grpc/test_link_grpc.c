/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends in one process, over the loopback interface, with certificates that openssl makes for the test.
 */
#include <ftw.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kit/plain_host.h"
#include "kit/link_end.h"

static char directory[32] = "/tmp/dpframe-test-XXXXXX";
static char address[32];

/* ca.pem and ca.key sign NAME.pem for a common name, from day `from` on for a day, counted from today. */
static const char make_script[] =
    "cd '%s' && exec 2>/dev/null && "
    "authority() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $1.key -out "
    "$1.pem "
    "-subj \"/CN=$1\" -days 3; } && "
    "sign() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $1.key -out $1.csr "
    "-subj "
    "\"/CN=$2\" && printf 'subjectAltName=%%s\\n' \"$4\" > $1.ext && openssl x509 -req -in $1.csr -CA $3.pem "
    "-CAkey "
    "$3.key -CAcreateserial -out $1.pem -days $5 -extfile $1.ext; } && "
    "authority ca && authority other && sign server server ca DNS:localhost,IP:127.0.0.1 2 && "
    "sign alice alice ca DNS:alice 2 && sign bob bob ca DNS:bob 2 && sign mallory alice other DNS:alice 2 && "
    "sign elsewhere server ca DNS:elsewhere 2 && sign expired alice ca DNS:alice -1";

static int remove_it(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

static int begin(void **state)
{
    (void)state;
    char script[2048];
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(any);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (!mkdtemp(directory) || bind(fd, (struct sockaddr *)&any, sizeof(any)) != 0 ||
        getsockname(fd, (struct sockaddr *)&any, &n) != 0)
        return -1;
    close(fd); /* nobody else takes the port in the meantime, or the test fails */
    snprintf(address, sizeof(address), "localhost:%d", ntohs(any.sin_port));
    snprintf(script, sizeof(script), make_script, directory);
    return system(script) == 0 ? 0 : -1;
}

static int end_all(void **state)
{
    (void)state;
    return nftw(directory, remove_it, 16, FTW_DEPTH | FTW_PHYS);
}

static dpf_status try_end(struct end *end, int32_t which, const char *ca, const char *name, const char *more)
{
    char settings[400];
    const dpf_component *component = plain_component("grpc", DPF_ROLE_LINK, "grpc");
    snprintf(settings, sizeof(settings), "ca=%s/%s.pem; certificate=%s/%s.pem; key=%s/%s.key%s", directory,
             ca, directory, name, directory, name, more);
    plain_open(&end->host, component, settings);
    end->link = component->functions;
    plain_clear(&end->host);
    return end->link->open(end->host.self, which, address);
}

static void open_end(struct end *end, int32_t which, const char *name)
{
    if (try_end(end, which, "ca", name, "") != DPF_OK)
        fail_msg("%s", end->host.report);
}

TEST(an_address_has_a_port)
{
    static const char *const addresses[] = {"localhost:99999", "localhost:0",   "localhost",
                                            ":70000",          "localhost:12a", ""};
    char kept[sizeof(address)];
    memcpy(kept, address, sizeof(kept));
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        struct end end;
        snprintf(address, sizeof(address), "%s", addresses[i]);
        assert_int_equal(try_end(&end, DPF_LINK_SERVES, "ca", "server", ""), DPF_E_CONFIG);
        assert_non_null(strstr(end.host.report, "write HOST:PORT"));
        plain_close(&end.host);
    }
    memcpy(address, kept, sizeof(kept));
}

TEST(messages_arrive_whole_and_in_order)
{
    struct end server, alice, bob;
    open_end(&server, DPF_LINK_SERVES, "server");
    assert_true(server.link->flags == DPF_LINK_PROTECTED);
    open_end(&alice, DPF_LINK_JOINS, "alice");
    dpf_link_event event = next(&server, DPF_LINK_OPENED);
    assert_int_equal(event.peer, 0);
    assert_string_equal(event.name, "alice");
    open_end(&bob, DPF_LINK_JOINS, "bob");
    event = next(&server, DPF_LINK_OPENED);
    assert_int_equal(event.peer, 1);
    assert_string_equal(event.name, "bob");
    send_text(&alice, DPF_LINK_SERVER, "one");
    send_text(&alice, DPF_LINK_SERVER, "");
    send_text(&alice, DPF_LINK_SERVER, "three");
    expect_text(&server, 0, "one");
    expect_text(&server, 0, "");
    expect_text(&server, 0, "three");
    send_text(&server, 1, "to bob");
    expect_text(&bob, DPF_LINK_SERVER, "to bob");
    send_text(&server, 0, "last words");
    server.link->hang_up(server.host.self, 0);
    expect_text(&alice, DPF_LINK_SERVER, "last words");
    next(&alice, DPF_LINK_CLOSED);
    next(&server, DPF_LINK_CLOSED);
    plain_close(&bob.host);
    assert_int_equal(next(&server, DPF_LINK_CLOSED).peer, 1);
    open_end(&bob, DPF_LINK_JOINS, "bob");
    assert_int_equal(next(&server, DPF_LINK_OPENED).peer, 2);
    plain_close(&server.host);
    next(&bob, DPF_LINK_CLOSED);
    plain_close(&bob.host);
    plain_close(&alice.host);
}

/* Larger than what gRPC takes at once. */
TEST(large_messages_are_cut_and_joined)
{
    struct end server, alice;
    const uint64_t n = (UINT64_C(10) << 20) + 12345;
    uint8_t *large = malloc(n);
    assert_non_null(large);
    for (uint64_t i = 0; i < n; i++)
        large[i] = (uint8_t)(i * 7 >> 3);
    open_end(&server, DPF_LINK_SERVES, "server");
    open_end(&alice, DPF_LINK_JOINS, "alice");
    next(&server, DPF_LINK_OPENED);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(server.link->send(server.host.self, 0, large, n), DPF_OK);
        const dpf_link_event event = next(&alice, DPF_LINK_MESSAGE);
        assert_int_equal(event.n_bytes, n);
        assert_memory_equal(event.bytes, large, n);
    }
    free(large);
    plain_close(&alice.host);
    plain_close(&server.host);
}

static void refused(const char *what, const char *ca, const char *name, const char *why)
{
    struct end party;
    const dpf_status status = try_end(&party, DPF_LINK_JOINS, ca, name, "");
    if (status == DPF_OK) { /* TLS 1.3: the server's refusal of a certificate comes after the handshake */
        dpf_link_event event = {.size = sizeof(event)};
        assert_int_equal(party.link->receive(party.host.self, 10, &event), DPF_OK);
        if (event.kind != DPF_LINK_CLOSED)
            fail_msg("%s is let in", what);
    } else {
        assert_non_null(strstr(party.host.report, why));
    }
    plain_close(&party.host);
}

/* The server lets nobody in whom the authority has not signed today; a party talks to nobody else either. */
TEST(certificates_are_checked_at_both_ends)
{
    static const char *const not_accepted = "one of the certificates is not accepted";
    struct end server;
    dpf_link_event event = {.size = sizeof(event)};
    open_end(&server, DPF_LINK_SERVES, "server");
    refused("a certificate of another authority", "ca", "mallory", not_accepted);
    refused("an expired certificate", "ca", "expired", "renew the certificate, or set the clock");
    refused("a server of another authority", "other", "mallory", not_accepted);
    assert_int_equal(server.link->receive(server.host.self, 0, &event), DPF_OK);
    assert_int_equal(event.kind, DPF_LINK_NOTHING);
    plain_close(&server.host);
    open_end(&server, DPF_LINK_SERVES, "elsewhere");
    refused("a server of another name", "ca", "alice", not_accepted);
    struct end party;
    assert_int_equal(try_end(&party, DPF_LINK_JOINS, "ca", "alice", "; server-name=elsewhere"), DPF_OK);
    assert_string_equal(next(&server, DPF_LINK_OPENED).name, "alice");
    plain_close(&party.host);
    plain_close(&server.host);
}

/* A connection without TLS is no connection. */
TEST(what_is_not_encrypted_is_refused)
{
    struct end server;
    char byte;
    dpf_link_event event = {.size = sizeof(event)};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    to.sin_port = htons((uint16_t)atoi(strchr(address, ':') + 1));
    open_end(&server, DPF_LINK_SERVES, "server");
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
    assert_true(send(fd, preface, sizeof(preface) - 1, MSG_NOSIGNAL) > 0);
    while (recv(fd, &byte, 1, 0) > 0) /* an alert, and the end */
        ;
    close(fd);
    assert_int_equal(server.link->receive(server.host.self, 0.2, &event), DPF_OK);
    assert_int_equal(event.kind, DPF_LINK_NOTHING);
    plain_close(&server.host);
}

TEST(mistakes_are_named)
{
    struct end server, second;
    assert_int_equal(try_end(&server, DPF_LINK_JOINS, "ca", "alice", ""), DPF_E_CONFIG);
    assert_non_null(strstr(server.host.report, "nobody serves at localhost:"));
    plain_close(&server.host);
    assert_int_equal(try_end(&server, DPF_LINK_SERVES, "ca", "nobody", ""), DPF_E_CONFIG);
    assert_non_null(strstr(server.host.report, "nobody.pem cannot be read"));
    plain_close(&server.host);
    open_end(&server, DPF_LINK_SERVES, "server");
    assert_int_equal(try_end(&second, DPF_LINK_SERVES, "ca", "server", ""), DPF_E_CONFIG);
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
    open_end(&server, DPF_LINK_SERVES, "server");
    open_end(&alice, DPF_LINK_JOINS, "alice");
    assert_int_equal(next(&server, DPF_LINK_OPENED).peer, 0);
    open_end(&bob, DPF_LINK_JOINS, "bob");
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
    open_end(&alice, DPF_LINK_JOINS, "alice");
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

FIXTURE(begin, end_all)
