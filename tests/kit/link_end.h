/* SPDX-License-Identifier: Apache-2.0 */
/* One end of a link in a test of its plugin. */
#ifndef LINK_END_H
#define LINK_END_H

#include "kit/plain_host.h"

struct end {
    struct plain_host host;
    const dpf_link *link;
};

/* The next event of a kind; other kinds fail the test. */
dpf_link_event next(struct end *end, int32_t kind);

void send_text(struct end *end, int64_t peer, const char *text);

void expect_text(struct end *end, int64_t peer, const char *text);

#endif
