/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Client and server, in every state of a round of three clients, given a message with any body: with the
 * right authenticator, as from a server or a client that deviates, or with none. A client that refuses is
 * silent for good; a server that refuses has not changed.
 */
#include "secagg_fuzz_round.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct stage stages[2][PHASES + 1]; /* by kind of server and phase */
static int n_phases[2];

static void honest_phase(void)
{
    for (uint32_t i = 0; i < CLIENTS; i++) {
        uint8_t down[ROOM], up[ROOM];
        size_t n_down, n_up;
        require(secagg_server_send(&stage.server, i, down, sizeof(down), &n_down) == SECAGG_OK);
        require(take(i, down, n_down, up, &n_up) == SECAGG_OK);
        require(secagg_server_receive(&stage.server, ids[i], up, n_up) == SECAGG_OK);
    }
    require(secagg_server_close(&stage.server) == SECAGG_OK);
}

static void prepare(void)
{
    make_identities();
    for (uint32_t flags = 0; flags < 2; flags++) {
        begin(flags ? SECAGG_MALICIOUS : 0);
        for (n_phases[flags] = 0; stage.server.phase < SERVER_DONE; n_phases[flags]++) {
            stages[flags][n_phases[flags]] = stage;
            honest_phase();
        }
        require(stage.server.survivors == CLIENTS && stage.server.sums[0] == 3 && stage.server.sums[1] == 3);
    }
}

static size_t wrap(enum secagg_kind kind, uint32_t sender, const uint8_t *channel, const uint8_t *body,
                   size_t n, uint8_t *out)
{
    struct secagg_writer writer;
    size_t size = 0;
    secagg_write_begin(&writer, out, ROOM);
    secagg_write(&writer, body, n);
    return secagg_write_end(&writer, kind, sender, stage.server.setup.terms.session,
                            kind == SECAGG_START ? NULL : channel, &size) == SECAGG_OK
               ? size
               : 0;
}

static void to_client(const uint8_t *message, size_t n)
{
    uint8_t reply[ROOM];
    size_t up;
    struct secagg_header header;
    if (take(1, message, n, reply, &up) == SECAGG_OK) {
        require(secagg_read_header(reply, up, &header) == SECAGG_OK && header.sender == ids[1]);
        require(take(1, message, n, reply, &up) != SECAGG_OK); /* never the same twice */
    } else {
        require(stage.clients[1].state == CLIENT_ENDED);
    }
    require(up == 0);
}

static void to_server(const uint8_t *message, size_t n)
{
    static struct stage before;
    before = stage;
    if (secagg_server_receive(&stage.server, ids[1], message, n) == SECAGG_OK) {
        require(secagg_server_receive(&stage.server, ids[1], message, n) == SECAGG_OUT_OF_ORDER);
    } else {
        /* The work space and the channel of keys that were refused aside. */
        require(memcmp(before.server.sums, stage.server.sums, DIMENSION * sizeof(uint64_t)) == 0);
        require(before.server.members[1].reached == stage.server.members[1].reached);
    }
    while (stage.server.phase < SERVER_DONE && secagg_server_close(&stage.server) == SECAGG_OK)
        continue;
}

/* Bytes: which server, phase, kind, who gets it, whether it is wrapped; then a body or a whole message. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int prepared;
    if (!prepared)
        prepare();
    prepared = 1;
    if (size < 5 || size > 1024)
        return 0;
    const int malicious = data[0] & 1;
    stage = stages[malicious][data[1] % n_phases[malicious]];
    const enum secagg_kind kind = (enum secagg_kind)(1 + data[2] % (SECAGG_N_KINDS - 1));
    const int for_client = data[3] & 1;
    uint8_t message[ROOM];
    size_t n = size - 5;
    memcpy(message, data + 5, n);
    if (data[4] & 1)
        n = wrap(kind, for_client ? SECAGG_SERVER : ids[1],
                 for_client ? stage.clients[1].channel : stage.server.members[1].channel, data + 5, size - 5,
                 message);
    if (for_client)
        to_client(message, n);
    else
        to_server(message, n);
    return 0;
}
