/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/link_end.h"

#define LINK_PATIENCE 10 /* s: an event may take so long */

dpf_link_event next(struct end *end, int32_t kind)
{
    dpf_link_event event = {.size = sizeof(event)};
    assert_int_equal(end->link->receive(end->host.self, LINK_PATIENCE, &event), DPF_OK);
    if (event.kind != kind)
        fail_msg("event %d instead of %d, %s", event.kind, kind, event.name ? event.name : "");
    return event;
}

void send_text(struct end *end, int64_t peer, const char *text)
{
    assert_int_equal(end->link->send(end->host.self, peer, (const uint8_t *)text, strlen(text)), DPF_OK);
}

void expect_text(struct end *end, int64_t peer, const char *text)
{
    const dpf_link_event event = next(end, DPF_LINK_MESSAGE);
    assert_int_equal(event.peer, peer);
    assert_int_equal(event.n_bytes, strlen(text));
    assert_memory_equal(event.bytes, text, event.n_bytes);
}
