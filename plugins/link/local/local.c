/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local.c - a link between processes of one user on one machine, over a UNIX socket.
 *
 * The socket is a file that its owner alone may open, so the kernel says who may join, and nothing is
 * encrypted. A message is its length in 8 bytes, little-endian, and its bytes. Nothing blocks but receive,
 * which waits for all peers at once and sends what has queued up: a peer that does not read delays nobody
 * else.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "dpframe/plugin.h"
#include "dpframe/role/link.h"

#define LARGEST (UINT64_C(1) << 31)
#define LENGTH_BYTES 8

struct bytes {
    uint8_t *data;
    uint64_t n, room;
};

/* A message on its way out, shared by those that it goes to. */
struct block {
    int64_t references;
    uint64_t n;
    uint8_t data[];
};

struct parcel {
    struct block *block;
    struct parcel *next;
};

struct peer {
    int fd; /* -1: closed */
    int64_t number;
    int announced;   /* OPENED has been reported */
    int closing;     /* hung up: what comes is thrown away until the peer has closed, too */
    int shut;        /* all has left, and it has been told that nothing more comes */
    double until;    /* the peer is closed then at the latest */
    struct bytes in; /* what has come of messages that were not given out yet */
    uint64_t given;  /* bytes at the front of in that the last event pointed to */
    struct parcel *out, **out_end;
    uint64_t sent;    /* bytes of the first that have left */
    uint64_t largest; /* of a message that it may send */
    char why[64];
};

struct local {
    const dpf_host *host;
    const dpf_memory_service *memory;
    int listener; /* -1 */
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    struct peer *peers;
    struct pollfd *polled;
    int64_t n, room;
    int64_t next_number;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static dpf_status failed(const struct local *local, const char *what, const char *path)
{
    char text[400];
    snprintf(text, sizeof(text), "%s %s: %s", what, path, strerror(errno));
    return local->host->fail(local->host, DPF_E_CONFIG, -1, text);
}

/* ---- bytes -------------------------------------------------------------------------------------- */

static void wipe(const struct local *local, struct bytes *bytes)
{
    local->memory->release(local->host, bytes->data);
    *bytes = (struct bytes){.data = NULL};
}

static int reserve(const struct local *local, struct bytes *bytes, uint64_t more)
{
    if (bytes->n + more <= bytes->room)
        return 0;
    /* A long message's length is known: room for it, and no more. */
    const uint64_t room = more > 65536 ? bytes->n + more : (bytes->n + more) * 2;
    uint8_t *grown = local->memory->allocate(local->host, room);
    if (!grown)
        return -1;
    if (bytes->n)
        memcpy(grown, bytes->data, bytes->n);
    local->memory->release(local->host, bytes->data);
    bytes->data = grown;
    bytes->room = room;
    return 0;
}

static void drop_front(struct bytes *bytes, uint64_t n)
{
    bytes->n -= n;
    if (n && bytes->n)
        memmove(bytes->data, bytes->data + n, bytes->n);
}

/* ---- peers -------------------------------------------------------------------------------------- */

static int set_modes(int fd)
{
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0 ? 0 : -1;
}

/* Room for one more peer, and for the listener beside all of them. */
static dpf_status make_room(struct local *local)
{
    if (local->n < local->room)
        return DPF_OK;
    const int64_t room = 2 * local->room + 16;
    struct peer *peers = local->memory->allocate(local->host, (uint64_t)room * sizeof(*peers));
    struct pollfd *polled = local->memory->allocate(local->host, (uint64_t)(room + 1) * sizeof(*polled));
    if (!peers || !polled) {
        local->memory->release(local->host, peers);
        local->memory->release(local->host, polled);
        return local->host->fail(local->host, DPF_E_MEMORY, -1, "out of memory");
    }
    if (local->n)
        memcpy(peers, local->peers, (uint64_t)local->n * sizeof(*peers));
    local->memory->release(local->host, local->peers);
    local->memory->release(local->host, local->polled);
    local->peers = peers;
    local->polled = polled;
    local->room = room;
    return DPF_OK;
}

/* There is room. */
static void add_peer(struct local *local, int fd, int announced)
{
    local->peers[local->n++] = (struct peer){.fd = fd,
                                             .number = local->next_number++,
                                             .announced = announced,
                                             .largest = announced ? LARGEST : DPF_LINK_FIRST};
}

static struct peer *find(const struct local *local, int64_t number)
{
    for (int64_t i = 0; i < local->n; i++)
        if (local->peers[i].number == number)
            return &local->peers[i];
    return NULL;
}

static void cut(struct peer *peer, const char *why)
{
    if (peer->fd < 0)
        return;
    close(peer->fd);
    peer->fd = -1;
    snprintf(peer->why, sizeof(peer->why), "%s", why);
}

static void drop_parcel(struct local *local, struct peer *peer)
{
    struct parcel *parcel = peer->out;
    peer->out = parcel->next;
    if (--parcel->block->references == 0)
        local->memory->release(local->host, parcel->block);
    local->memory->release(local->host, parcel);
    peer->sent = 0;
}

static void remove_peer(struct local *local, int64_t i)
{
    struct peer *peer = &local->peers[i];
    cut(peer, "");
    wipe(local, &peer->in);
    while (peer->out)
        drop_parcel(local, peer);
    local->peers[i] = local->peers[--local->n];
}

/* ---- what comes and goes ------------------------------------------------------------------------ */

static void flush(struct local *local, struct peer *peer)
{
    while (peer->fd >= 0 && peer->out) {
        const struct block *block = peer->out->block;
        const ssize_t n =
            send(peer->fd, block->data + peer->sent, block->n - peer->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0) {
            cut(peer, "the connection is gone");
            return;
        }
        peer->sent += (uint64_t)n;
        if (peer->sent == block->n)
            drop_parcel(local, peer);
    }
    if (!peer->out)
        peer->out_end = NULL;
    /* Closing with unread bytes would take from the peer what it has not read yet. */
    if (peer->fd >= 0 && peer->closing && !peer->shut) {
        shutdown(peer->fd, SHUT_WR);
        peer->shut = 1;
    }
}

static uint64_t length_of(const struct bytes *in)
{
    uint64_t length = 0;
    for (int i = LENGTH_BYTES - 1; i >= 0; i--)
        length = length << 8 | in->data[i];
    return length;
}

static int has_message(const struct peer *peer)
{
    return peer->in.n >= LENGTH_BYTES && peer->in.n - LENGTH_BYTES >= length_of(&peer->in);
}

/* Reads what is there, up to the end of the first message: what follows waits in the socket. */
static dpf_status fill(struct local *local, struct peer *peer)
{
    if (peer->closing)
        peer->in.n = 0;
    while (peer->fd >= 0 && !has_message(peer)) {
        uint64_t more = 65536;
        if (peer->in.n >= LENGTH_BYTES) {
            const uint64_t length = length_of(&peer->in);
            if (length > peer->largest) {
                cut(peer, "what it sends is not a message of dpframe");
                return DPF_OK;
            }
            more = length + LENGTH_BYTES - peer->in.n;
        }
        if (reserve(local, &peer->in, more) != 0)
            return local->host->fail(local->host, DPF_E_MEMORY, -1, "out of memory");
        const ssize_t n = recv(peer->fd, peer->in.data + peer->in.n, more, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return DPF_OK;
        if (n <= 0)
            cut(peer, n == 0 ? "it has closed the connection" : strerror(errno));
        else if (!peer->closing)
            peer->in.n += (uint64_t)n;
    }
    return DPF_OK;
}

/* What the last event pointed to is given back. */
static void forget_given(struct local *local)
{
    for (int64_t i = 0; i < local->n; i++)
        if (local->peers[i].given) {
            drop_front(&local->peers[i].in, local->peers[i].given);
            local->peers[i].given = 0;
            if (local->peers[i].in.n == 0)
                wipe(local, &local->peers[i].in); /* a party is silent for most of the time */
        }
}

/* Something that can be reported without waiting: in the order of peers, openings before messages before
 * closings. */
static int pick(struct local *local, dpf_link_event *out)
{
    for (int64_t i = 0; i < local->n; i++) {
        struct peer *peer = &local->peers[i];
        out->peer = peer->number;
        out->name = "";
        if (!peer->announced) {
            peer->announced = 1;
            out->kind = DPF_LINK_OPENED;
            return 1;
        }
        if (!peer->closing && peer->in.n >= LENGTH_BYTES && length_of(&peer->in) > peer->largest) {
            cut(peer, "its message is longer than it may be");
            peer->in.n = 0;
        }
        if (has_message(peer) && !peer->closing) {
            out->kind = DPF_LINK_MESSAGE;
            out->n_bytes = length_of(&peer->in);
            out->bytes = peer->in.data + LENGTH_BYTES;
            peer->given = out->n_bytes + LENGTH_BYTES;
            return 1;
        }
        if (peer->fd < 0) {
            static char why[64]; /* of one event at a time */
            memcpy(why, peer->why, sizeof(why));
            out->kind = DPF_LINK_CLOSED;
            out->name = why;
            remove_peer(local, i);
            return 1;
        }
    }
    return 0;
}

/* Waits until something can be read, written or accepted; the next deadline of a peer that is being closed
 * ends it, too. */
static dpf_status wait_for_peers(struct local *local, double seconds)
{
    nfds_t n = 0;
    const double time = now();
    for (int64_t i = 0; i < local->n; i++) {
        struct peer *peer = &local->peers[i];
        if (peer->closing && peer->until - time < seconds)
            seconds = peer->until > time ? peer->until - time : 0;
        local->polled[n++] =
            (struct pollfd){.fd = peer->fd, .events = (short)(POLLIN | (peer->out ? POLLOUT : 0))};
    }
    if (local->listener >= 0)
        local->polled[n++] = (struct pollfd){.fd = local->listener, .events = POLLIN};
    if (poll(local->polled, n, (int)(seconds * 1000 + 0.999)) <= 0)
        return DPF_OK;
    const int64_t n_before = local->n;
    for (int64_t i = 0; i < n_before; i++) {
        if (local->polled[i].revents & POLLOUT)
            flush(local, &local->peers[i]);
        if (local->polled[i].revents & (POLLIN | POLLHUP | POLLERR)) {
            const dpf_status status = fill(local, &local->peers[i]);
            if (status != DPF_OK)
                return status;
        }
    }
    if (local->listener < 0 || !(local->polled[n - 1].revents & POLLIN))
        return DPF_OK;
    const int fd = accept(local->listener, NULL, NULL);
    if (fd < 0)
        return DPF_OK;
    if (set_modes(fd) != 0) {
        close(fd);
        return DPF_OK;
    }
    add_peer(local, fd, 0);
    return make_room(local);
}

/* ---- the role's functions ----------------------------------------------------------------------- */

static int set_address(struct sockaddr_un *address, const char *path)
{
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    if (!*path || strlen(path) >= sizeof(address->sun_path))
        return -1;
    memcpy(address->sun_path, path, strlen(path) + 1);
    return 0;
}

/* A socket that nobody listens on is of a process that is gone. */
static void remove_stale(const struct sockaddr_un *address)
{
    struct stat info;
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0 && lstat(address->sun_path, &info) == 0 && S_ISSOCK(info.st_mode) &&
        connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 && errno == ECONNREFUSED)
        unlink(address->sun_path);
    if (fd >= 0)
        close(fd);
}

static dpf_status serve(struct local *local, const struct sockaddr_un *address)
{
    remove_stale(address);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0)
        return failed(local, "cannot open a socket for", address->sun_path);
    const mode_t before = umask(0177);
    const int bound = bind(fd, (const struct sockaddr *)address, sizeof(*address));
    umask(before);
    if (bound != 0 || set_modes(fd) != 0 || listen(fd, 1024) != 0) {
        const dpf_status status = failed(local, "cannot listen at", address->sun_path);
        close(fd);
        return status;
    }
    local->listener = fd;
    snprintf(local->path, sizeof(local->path), "%s", address->sun_path);
    return DPF_OK;
}

static dpf_status join(struct local *local, const struct sockaddr_un *address)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0)
        return failed(local, "cannot open a socket for", address->sun_path);
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 || set_modes(fd) != 0) {
        const dpf_status status = failed(local, "nobody serves at", address->sun_path);
        close(fd);
        return status;
    }
    add_peer(local, fd, 1);
    return DPF_OK;
}

static dpf_status open_end(void *self, int32_t end, const char *path)
{
    struct local *local = self;
    struct sockaddr_un address;
    if (set_address(&address, path) != 0)
        return local->host->fail(local->host, DPF_E_CONFIG, -1,
                                 "the address of a local link is the path of a file, of at most 107 bytes");
    local->next_number = 0;
    const dpf_status status = make_room(local);
    if (status != DPF_OK)
        return status;
    return end == DPF_LINK_SERVES ? serve(local, &address) : join(local, &address);
}

static struct block *make_block(const struct local *local, const uint8_t *bytes, uint64_t n_bytes)
{
    struct block *block = local->memory->allocate(local->host, sizeof(*block) + n_bytes + LENGTH_BYTES);
    if (!block)
        return NULL;
    block->references = 1;
    block->n = n_bytes + LENGTH_BYTES;
    for (int i = 0; i < LENGTH_BYTES; i++)
        block->data[i] = (uint8_t)(n_bytes >> (8 * i));
    if (n_bytes)
        memcpy(block->data + LENGTH_BYTES, bytes, n_bytes);
    return block;
}

static int append(struct local *local, struct peer *peer, struct block *block)
{
    struct parcel *parcel = local->memory->allocate(local->host, sizeof(*parcel));
    if (!parcel)
        return -1;
    *parcel = (struct parcel){.block = block};
    block->references++;
    if (peer->out)
        *peer->out_end = parcel;
    else
        peer->out = parcel;
    peer->out_end = &parcel->next;
    return 0;
}

static dpf_status share(void *self, const int64_t *numbers, int64_t n, const uint8_t *bytes, uint64_t n_bytes)
{
    struct local *local = self;
    int status = 0;
    if (n_bytes > LARGEST)
        return local->host->fail(local->host, DPF_E_RANGE, -1, "a message is longer than 2^31 bytes");
    struct block *block = make_block(local, bytes, n_bytes);
    for (int64_t i = 0; block && i < n && status == 0; i++) {
        struct peer *peer = find(local, numbers[i]);
        if (!peer || peer->fd < 0 || peer->closing)
            continue;
        status = append(local, peer, block);
        flush(local, peer);
    }
    if (block && --block->references == 0)
        local->memory->release(local->host, block);
    return block && status == 0 ? DPF_OK : local->host->fail(local->host, DPF_E_MEMORY, -1, "out of memory");
}

static dpf_status send_message(void *self, int64_t number, const uint8_t *bytes, uint64_t n_bytes)
{
    return share(self, &number, 1, bytes, n_bytes);
}

static void admit(void *self, int64_t number, uint64_t largest)
{
    struct peer *peer = find(self, number);
    if (peer)
        peer->largest = largest < LARGEST ? largest : LARGEST;
}

static dpf_status receive(void *self, double seconds, dpf_link_event *out)
{
    struct local *local = self;
    const double until = now() + seconds;
    forget_given(local);
    for (;;) {
        for (int64_t i = 0; i < local->n; i++)
            if (local->peers[i].closing && now() >= local->peers[i].until)
                cut(&local->peers[i], "hung up");
        if (pick(local, out))
            return DPF_OK;
        const double left = until - now();
        const dpf_status status = wait_for_peers(local, left > 0 ? left : 0);
        if (status != DPF_OK)
            return status;
        if (pick(local, out))
            return DPF_OK;
        if (left <= 0) {
            out->kind = DPF_LINK_NOTHING;
            return DPF_OK;
        }
    }
}

static void hang_up(void *self, int64_t number)
{
    struct local *local = self;
    struct peer *peer = find(local, number);
    if (!peer || peer->fd < 0 || peer->closing)
        return;
    peer->closing = 1;
    peer->until = now() + 1;
    flush(local, peer);
}

static void close_end(void *self)
{
    struct local *local = self;
    dpf_link_event ignored = {.size = sizeof(ignored)};
    if (local->listener >= 0) {
        close(local->listener);
        unlink(local->path);
    }
    local->listener = -1;
    for (int64_t i = 0; i < local->n; i++)
        hang_up(local, local->peers[i].number);
    while (local->n > 0 && receive(local, 1, &ignored) == DPF_OK)
        ;
    while (local->n > 0)
        remove_peer(local, local->n - 1);
}

static dpf_status create(const dpf_host *host, const dpf_params *params, void **self)
{
    struct local *local = *self;
    (void)params;
    local->host = host;
    local->memory = dpf_memory(host);
    local->listener = -1;
    return DPF_OK;
}

static void destroy(void *self)
{
    struct local *local = self;
    close_end(local);
    local->memory->release(local->host, local->peers);
    local->memory->release(local->host, local->polled);
}

static const dpf_link functions = {
    .flags = DPF_LINK_LOCAL,
    .largest = LARGEST,
    .open = open_end,
    .send = send_message,
    .receive = receive,
    .hang_up = hang_up,
    .close = close_end,
    .admit = admit,
    .share = share,
};

DPF_COMPONENT(
    component, DPF_ROLE_LINK, functions, .id = "local", .version = "1.0.0",
    .summary = "Processes of one user on one machine, over a UNIX socket: for trying out and for tests",
    .citation = "", .create = create, .destroy = destroy, .instance_bytes = sizeof(struct local))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.link.local", "1.0.0", "Apache-2.0", component)
