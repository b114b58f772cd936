/* SPDX-License-Identifier: Apache-2.0 */
/* link_liar.c - stands in front of a link, and puts the largest integer at the end of all that is long: for tests. */
#include <string.h>

#include "dpframe/plugin.h"
#include "dpframe/role/link.h"

enum { LONG = 200 }; /* longer than greetings, shorter than a message of numbers */

struct liar {
    const dpf_host *host;
    const dpf_link *link;
    void *self;
};

static dpf_status open_end(void *self, int32_t end, const char *address)
{
    struct liar *liar = self;
    return liar->link->open(liar->self, end, address);
}

static dpf_status send_message(void *self, int64_t peer, const uint8_t *bytes, uint64_t n)
{
    struct liar *liar = self;
    const int64_t most = INT64_MAX;
    if (n < LONG)
        return liar->link->send(liar->self, peer, bytes, n);
    uint8_t *copy = dpf_memory(liar->host)->allocate(liar->host, n);
    if (!copy)
        return DPF_E_MEMORY;
    memcpy(copy, bytes, n);
    memcpy(copy + n - sizeof most, &most, sizeof most);
    const dpf_status status = liar->link->send(liar->self, peer, copy, n);
    dpf_memory(liar->host)->release(liar->host, copy);
    return status;
}

static dpf_status receive(void *self, double seconds, dpf_link_event *out)
{
    struct liar *liar = self;
    return liar->link->receive(liar->self, seconds, out);
}

static void hang_up(void *self, int64_t peer)
{
    struct liar *liar = self;
    liar->link->hang_up(liar->self, peer);
}

static void admit(void *self, int64_t peer, uint64_t largest)
{
    struct liar *liar = self;
    liar->link->admit(liar->self, peer, largest);
}

static void close_end(void *self)
{
    struct liar *liar = self;
    liar->link->close(liar->self);
}

static dpf_status behind(void *self, const dpf_link *link, void *link_self)
{
    struct liar *liar = self;
    liar->link = link;
    liar->self = link_self;
    return DPF_OK;
}

static dpf_status create(const dpf_host *host, const dpf_params *given, void **self)
{
    struct liar *liar = dpf_memory(host)->allocate(host, sizeof *liar);
    (void)given;
    if (!liar)
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    *liar = (struct liar){.host = host};
    *self = liar;
    return DPF_OK;
}

static void destroy(void *self)
{
    struct liar *liar = self;
    dpf_memory(liar->host)->release(liar->host, liar);
}

static const dpf_link functions = {.flags = DPF_LINK_IN_FRONT,
                                   .open = open_end,
                                   .send = send_message,
                                   .receive = receive,
                                   .hang_up = hang_up,
                                   .close = close_end,
                                   .behind = behind,
                                   .admit = admit};

static const dpf_component component = {.size = sizeof(dpf_component),
                                        .role = DPF_ROLE_LINK,
                                        .id = "liar",
                                        .version = "1.0.0",
                                        .summary = "Alters what is sent",
                                        .citation = "",
                                        .param_stride = sizeof(dpf_param),
                                        .create = create,
                                        .destroy = destroy,
                                        .functions = &functions};

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.test.liar", "1.0.0", "Apache-2.0", component)
