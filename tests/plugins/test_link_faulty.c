/* SPDX-License-Identifier: Apache-2.0 */
/* In front of a link that keeps what it is given: which messages come through, in which order. */
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kit/plain_host.h"
#undef fail /* a macro of cmocka, and a function of the host */
#include "integration/links/link_faulty.c"

enum { MOST = 4096 };
static uint8_t arrived[MOST];
static int n_arrived;

static dpf_status take(void *self, int64_t peer, const uint8_t *bytes, uint64_t n)
{
    (void)self;
    assert_int_equal(peer, 3);
    assert_int_equal(n, 1);
    assert_true(n_arrived < MOST);
    arrived[n_arrived++] = bytes[0];
    return DPF_OK;
}

static dpf_status nothing(void *self, double seconds, dpf_link_event *out)
{
    (void)self;
    const struct timespec pause = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&pause, NULL);
    out->kind = DPF_LINK_NOTHING;
    return DPF_OK;
}

static void no_close(void *self)
{
    (void)self;
}

static const dpf_link keeper = {.flags = DPF_LINK_LOCAL, .send = take, .receive = nothing, .close = no_close};

static const dpf_link *open_faulty(struct plain_host *host, const char *settings)
{
    plain_open(host, &over_local, settings);
    ((struct faulty *)host->self)->wrapped.link = &keeper;
    n_arrived = 0;
    return over_local.functions;
}

static void send_all(const dpf_link *link, struct plain_host *host, int n)
{
    for (int i = 0; i < n; i++) {
        const uint8_t byte = (uint8_t)i;
        assert_int_equal(link->send(host->self, 3, &byte, 1), DPF_OK);
    }
}

TEST(everything_comes_through_by_default)
{
    struct plain_host host;
    const dpf_link *link = open_faulty(&host, "");
    send_all(link, &host, 100);
    assert_int_equal(n_arrived, 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(arrived[i], i);
    plain_close(&host);
}

/* As many as the probability says, give or take six deviations, and the same ones for the same seed. */
TEST(losses_follow_from_the_seed)
{
    struct plain_host host;
    uint8_t before[MOST];
    const dpf_link *link = open_faulty(&host, "drop=0.25; seed=7");
    send_all(link, &host, 1000);
    const int n = n_arrived;
    assert_in_range(n, 750 - 82, 750 + 82);
    memcpy(before, arrived, (size_t)n);
    plain_close(&host);
    link = open_faulty(&host, "drop=0.25; seed=7");
    send_all(link, &host, 1000);
    assert_int_equal(n_arrived, n);
    assert_memory_equal(arrived, before, (size_t)n);
    plain_close(&host);
}

TEST(repeats_and_reorders)
{
    struct plain_host host;
    const dpf_link *link = open_faulty(&host, "duplicate=1");
    send_all(link, &host, 3);
    assert_int_equal(n_arrived, 6);
    assert_memory_equal(arrived, "\0\0\1\1\2\2", 6);
    plain_close(&host);
    link = open_faulty(&host, "reorder=0.5; seed=2");
    send_all(link, &host, 200);
    int swapped = 0;
    for (int i = 1; i < n_arrived; i++)
        swapped += arrived[i] < arrived[i - 1];
    assert_true(swapped > 10);
    assert_true(n_arrived > 150); /* the last ones may be waiting for one that does not come */
    plain_close(&host);
}

TEST(delays_and_silence)
{
    struct plain_host host;
    dpf_link_event event = {.size = sizeof(event)};
    const dpf_link *link = open_faulty(&host, "delay=1; delay-time=0.1");
    send_all(link, &host, 2);
    assert_int_equal(n_arrived, 0);
    assert_int_equal(link->receive(host.self, 0.02, &event), DPF_OK);
    assert_int_equal(n_arrived, 0);
    assert_int_equal(link->receive(host.self, 0.3, &event), DPF_OK);
    assert_int_equal(n_arrived, 2);
    plain_close(&host);
    link = open_faulty(&host, "silent-after=2");
    send_all(link, &host, 5);
    assert_int_equal(n_arrived, 2);
    plain_close(&host);
}

TEST(a_process_dies_where_it_is_told_to)
{
    int status;
    const pid_t pid = fork();
    if (pid == 0) {
        struct plain_host host;
        const dpf_link *link = open_faulty(&host, "kill-after=2");
        send_all(link, &host, 2);
        if (n_arrived == 2)
            send_all(link, &host, 1);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == 9);
}
