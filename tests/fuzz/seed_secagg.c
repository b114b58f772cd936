/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seed_secagg.c - writes corpus-secagg_wire and corpus-secagg_machines: every message of an honest round with
 * either kind of server, once with all clients and once with one that is lost before its input.
 *
 *     seed_secagg DIRECTORY      that of the two corpora; see the fuzz targets for the bytes in front
 */
#include <stdio.h>

#include "secagg_fuzz_round.h"

static const char *directory;
static int written;

static void save(const char *corpus, const char *name, const uint8_t *front, size_t n_front,
                 const uint8_t *bytes, size_t n)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/corpus-secagg_%s/%s", directory, corpus, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(front, 1, n_front, file) != n_front || fwrite(bytes, 1, n, file) != n ||
        fclose(file) != 0) {
        fprintf(stderr, "%s cannot be written\n", path);
        exit(1);
    }
    written++;
}

/* For the decoders: how many entries of what size the receiver expects, and the bits of a number. */
static void save_wire(const char *name, const struct secagg_header *header, const uint8_t *message, size_t n)
{
    static const uint8_t entry[SECAGG_N_KINDS] = {[SECAGG_ROSTER] = 2 * SECAGG_KEY_BYTES,
                                                  [SECAGG_SHARES] = SECAGG_SEALED_BYTES,
                                                  [SECAGG_DELIVERY] = SECAGG_SEALED_BYTES,
                                                  [SECAGG_SIGNATURES] = SECAGG_SIGNATURE_BYTES,
                                                  [SECAGG_UNMASK] = SECAGG_SHARE_BYTES};
    uint8_t count = header->kind == SECAGG_SHARES ? CLIENTS - 1 : CLIENTS;
    if (header->kind == SECAGG_INPUT)
        count = DIMENSION - 1;
    if (header->kind == SECAGG_KEYS)
        count = header->size > 2 * SECAGG_KEY_BYTES;
    const uint8_t front[4] = {count, 0, entry[header->kind], (uint8_t)(stage.server.group.bits - 1)};
    save("wire", name, front, sizeof(front), message, n);
}

static void save_both(int flags, int lost, int to_client, const uint8_t *message, size_t n)
{
    struct secagg_header header;
    char name[80];
    require(secagg_read_header(message, n, &header) == SECAGG_OK);
    snprintf(name, sizeof(name), "%s-%s-%s", secagg_kind_name(header.kind), flags ? "malicious" : "honest",
             lost ? "lost" : "all");
    save_wire(name, &header, message, n);
    const uint8_t front[5] = {
        (uint8_t)flags, (uint8_t)(stage.server.phase - (flags == 0 && stage.server.phase > SERVER_INPUT)),
        (uint8_t)(header.kind - 1), (uint8_t)to_client, 1};
    save("machines", name, front, sizeof(front), header.body, header.size);
}

static void record_phase(int flags, int lost)
{
    for (uint32_t i = 0; i < CLIENTS; i++) {
        uint8_t down[ROOM], up[ROOM];
        size_t n_down, n_up;
        if (lost && i == 2 && stage.server.phase >= SERVER_INPUT)
            continue;
        require(secagg_server_send(&stage.server, i, down, sizeof(down), &n_down) == SECAGG_OK);
        if (i == 1)
            save_both(flags, lost, 1, down, n_down);
        require(take(i, down, n_down, up, &n_up) == SECAGG_OK);
        if (i == 1)
            save_both(flags, lost, 0, up, n_up);
        require(secagg_server_receive(&stage.server, ids[i], up, n_up) == SECAGG_OK);
    }
    require(secagg_server_close(&stage.server) == SECAGG_OK);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: seed_secagg DIRECTORY\n");
        return 2;
    }
    directory = argv[1];
    make_identities();
    for (int flags = 0; flags < 2; flags++)
        for (int lost = 0; lost < 2 - flags; lost++) {
            begin(flags ? SECAGG_MALICIOUS : 0);
            while (stage.server.phase < SERVER_DONE)
                record_phase(flags, lost);
        }
    printf("%d files\n", written);
    return 0;
}
