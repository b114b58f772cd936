/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi.c - ranks that are the processes of an MPI job: mpirun, srun.
 *
 * MPI's own sum of integers wraps silently, and MPI counts with int. So sums are added here, in a reduction
 * that notices, and what is long goes in pieces. Errors of MPI itself end the job (MPI_ERRORS_ARE_FATAL):
 * where the ranks no longer agree on what comes next there is nobody to tell.
 */
#include <mpi.h>

#include "dpframe/dpframe.h"
#include "watch.h"

#define PIECE (INT64_C(1) << 24) /* elements of 8 bytes in one call */

struct mpi {
    const dpf_host *host;
    int is_ours; /* MPI was started here, and ends here */
    int is_open;
    int rank, ranks;
    MPI_Op adding;
    MPI_Comm world;
    double timeout;
    struct watch watch; /* open with it */
};

enum { P_TIMEOUT, N_PARAMS };

static const dpf_param params[N_PARAMS] = {
    [P_TIMEOUT] =
        DPF_PARAM_REAL_F("timeout", 300, 0, 1e6, 0, "s",
                         "A rank that waits for others, of which some have made no progress for so long, "
                         "names them and ends the job. 0: it waits for ever."),
};

/*
 * MPI gives a reduction no room for anything but the values. Reductions run on the one thread that calls MPI,
 * and are over when the call returns. A rank may see an overflow that the others do not, so they ask each
 * other afterwards.
 */
static int overflowed;

static void add(void *from, void *into, int *n, MPI_Datatype *type)
{
    const int64_t *a = from;
    int64_t *b = into;

    (void)type;
    for (int i = 0; i < *n; i++) {
        overflowed |= __builtin_add_overflow(a[i], b[i], &b[i]);
    }
}

static dpf_status create(const dpf_host *host, const dpf_params *values, void **self)
{
    struct mpi *mpi = *self;

    mpi->host = host;
    mpi->timeout = values->values[P_TIMEOUT].real;
    return DPF_OK;
}

static void leave(struct mpi *mpi)
{
    int over = 0;

    watch_enter(&mpi->watch);
    MPI_Barrier(mpi->world); /* nobody leaves before all are done: a launcher ends the others */
    watch_leave(&mpi->watch);
    watch_close(&mpi->watch);
    MPI_Op_free(&mpi->adding);
    MPI_Comm_free(&mpi->world);
    MPI_Finalized(&over);
    if (mpi->is_ours && !over) {
        MPI_Finalize();
    }
}

static void destroy(void *self)
{
    struct mpi *mpi = self;

    if (mpi->is_open) {
        leave(mpi);
    }
}

static int count_near(const struct mpi *mpi)
{
    MPI_Comm machine;
    int n = 1;

    MPI_Comm_split_type(mpi->world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &n);
    MPI_Comm_free(&machine);
    return n;
}

static dpf_status open_ranks(void *self, dpf_ranks *out)
{
    struct mpi *mpi = self;
    int started = 0, over = 0, level = MPI_THREAD_SINGLE;

    MPI_Finalized(&over);
    MPI_Initialized(&started);
    if (over) {
        return mpi->host->fail(mpi->host, DPF_E_UNSUPPORTED, -1,
                               "the ranks have parted already: a process joins an MPI job once");
    }
    if (!started && MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS) {
        return mpi->host->fail(mpi->host, DPF_E_INTERNAL, -1, "MPI could not be started");
    }
    mpi->is_ours = !started;
    MPI_Comm_dup(MPI_COMM_WORLD, &mpi->world);
    MPI_Op_create(add, 1, &mpi->adding);
    MPI_Comm_rank(mpi->world, &mpi->rank);
    MPI_Comm_size(mpi->world, &mpi->ranks);
    mpi->is_open = 1;
    if (watch_open(&mpi->watch, mpi->world, mpi->timeout) != 0 && mpi->rank == 0) {
        dpf_log(mpi->host)->message(
            mpi->host, DPF_LOG_WARNING,
            "this MPI has no calls from several threads: [run.comm] timeout has no effect");
    }
    out->rank = mpi->rank;
    out->ranks = mpi->ranks;
    out->near = count_near(mpi);
    return DPF_OK;
}

/* The same answer on all ranks. Ends the call. */
static dpf_status judge(struct mpi *mpi)
{
    int any = 0;

    MPI_Allreduce(&overflowed, &any, 1, MPI_INT, MPI_LOR, mpi->world);
    watch_leave(&mpi->watch);
    return any ? mpi->host->fail(mpi->host, DPF_E_RANGE, -1, "a sum over the ranks leaves 64 bits") : DPF_OK;
}

static dpf_status sum(void *self, int64_t *values, int64_t n)
{
    struct mpi *mpi = self;

    watch_enter(&mpi->watch);
    overflowed = 0;
    for (int64_t at = 0; at < n; at += PIECE) {
        const int64_t count = n - at < PIECE ? n - at : PIECE;
        MPI_Allreduce(MPI_IN_PLACE, values + at, (int)count, MPI_INT64_T, mpi->adding, mpi->world);
        watch_moves(&mpi->watch);
    }
    return judge(mpi);
}

static dpf_status reduce(void *self, int64_t *values, const int64_t *offsets)
{
    struct mpi *mpi = self;

    watch_enter(&mpi->watch);
    overflowed = 0;
    for (int owner = 0; owner < mpi->ranks; owner++) {
        for (int64_t at = offsets[owner]; at < offsets[owner + 1]; at += PIECE) {
            const int64_t rest = offsets[owner + 1] - at, count = rest < PIECE ? rest : PIECE;
            MPI_Reduce(owner == mpi->rank ? MPI_IN_PLACE : values + at, values + at, (int)count, MPI_INT64_T,
                       mpi->adding, owner, mpi->world);
            watch_moves(&mpi->watch);
        }
    }
    return judge(mpi);
}

static void send_all(struct mpi *mpi, char *data, uint64_t bytes, int root)
{
    const uint64_t piece = (uint64_t)PIECE * sizeof(int64_t);

    for (uint64_t at = 0; at < bytes; at += piece) {
        const uint64_t count = bytes - at < piece ? bytes - at : piece;
        MPI_Bcast(data + at, (int)count, MPI_BYTE, root, mpi->world);
        watch_moves(&mpi->watch);
    }
}

static dpf_status broadcast(void *self, void *data, uint64_t bytes, int32_t root)
{
    struct mpi *mpi = self;

    watch_enter(&mpi->watch);
    send_all(mpi, data, bytes, root);
    watch_leave(&mpi->watch);
    return DPF_OK;
}

/* Elements as MPI counts them: whole rows, so that an int is enough for more than 2 GB. */
static MPI_Datatype element_of(uint64_t bytes)
{
    MPI_Datatype type;

    MPI_Type_contiguous((int)bytes, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Counts and places of each rank's elements; 0 if an int does not hold them. */
static int places(const struct mpi *mpi, const int64_t *offsets, int *counts, int *at)
{
    if (offsets[mpi->ranks] > INT32_MAX) {
        return 0;
    }
    for (int r = 0; r < mpi->ranks; r++) {
        counts[r] = (int)(offsets[r + 1] - offsets[r]);
        at[r] = (int)offsets[r];
    }
    return 1;
}

static int *take_room(const struct mpi *mpi, int arrays)
{
    return dpf_memory(mpi->host)->allocate(mpi->host, (uint64_t)mpi->ranks * (uint64_t)arrays * sizeof(int));
}

/* Ranks must not part over memory: who has none ends the job. */
static int *need_room(const struct mpi *mpi, int arrays)
{
    int *room = take_room(mpi, arrays);

    if (!room) {
        MPI_Abort(mpi->world, 1);
    }
    return room;
}

static dpf_status gather(void *self, void *data, uint64_t bytes, const int64_t *offsets)
{
    struct mpi *mpi = self;
    int *counts = need_room(mpi, 2), *at = counts + mpi->ranks;

    watch_enter(&mpi->watch);

    if (bytes <= INT32_MAX && places(mpi, offsets, counts, at)) {
        MPI_Datatype element = element_of(bytes);
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, counts, at, element, mpi->world);
        MPI_Type_free(&element);
    } else {
        for (int r = 0; r < mpi->ranks; r++) {
            send_all(mpi, (char *)data + (uint64_t)offsets[r] * bytes,
                     (uint64_t)(offsets[r + 1] - offsets[r]) * bytes, r);
        }
    }
    watch_leave(&mpi->watch);
    dpf_memory(mpi->host)->release(mpi->host, counts);
    return DPF_OK;
}

static void send_in_pieces(struct mpi *mpi, const char *from, uint64_t bytes, int to, char *into,
                           uint64_t expected, int source)
{
    const uint64_t piece = (uint64_t)PIECE * sizeof(int64_t);

    for (uint64_t at = 0; at < bytes || at < expected; at += piece) {
        const uint64_t out = at >= bytes ? 0 : bytes - at < piece ? bytes - at : piece;
        const uint64_t in = at >= expected ? 0 : expected - at < piece ? expected - at : piece;
        MPI_Sendrecv(from + (out ? at : 0), (int)out, MPI_BYTE, out ? to : MPI_PROC_NULL, 0,
                     into + (in ? at : 0), (int)in, MPI_BYTE, in ? source : MPI_PROC_NULL, 0, mpi->world,
                     MPI_STATUS_IGNORE);
        watch_moves(&mpi->watch);
    }
}

/* In turns: in turn t with the ranks t places on and t places back, so that nobody is waited for by all. */
static dpf_status exchange(void *self, uint64_t bytes, const void *from, const int64_t *from_offsets,
                           void *into, const int64_t *into_offsets)
{
    struct mpi *mpi = self;

    watch_enter(&mpi->watch);
    for (int turn = 0; turn < mpi->ranks; turn++) {
        const int to = (mpi->rank + turn) % mpi->ranks;
        const int source = (mpi->rank + mpi->ranks - turn) % mpi->ranks;
        send_in_pieces(mpi, (const char *)from + (uint64_t)from_offsets[to] * bytes,
                       (uint64_t)(from_offsets[to + 1] - from_offsets[to]) * bytes, to,
                       (char *)into + (uint64_t)into_offsets[source] * bytes,
                       (uint64_t)(into_offsets[source + 1] - into_offsets[source]) * bytes, source);
    }
    watch_leave(&mpi->watch);
    return DPF_OK;
}

static dpf_status least(void *self, int64_t *value)
{
    struct mpi *mpi = self;

    watch_enter(&mpi->watch);
    MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INT64_T, MPI_MIN, mpi->world);
    watch_leave(&mpi->watch);
    return DPF_OK;
}

static const dpf_comm functions = {
    .open = open_ranks,
    .sum = sum,
    .reduce = reduce,
    .gather = gather,
    .exchange = exchange,
    .broadcast = broadcast,
    .least = least,
};

DPF_COMPONENT(component, DPF_ROLE_COMM, functions, .id = "mpi", .version = "1.0.0",
              .summary = "The processes of an MPI job (mpirun, srun) make one run together", .citation = "",
              DPF_PARAMS(params), .create = create, .destroy = destroy, .instance_bytes = sizeof(struct mpi))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.mpi", "1.0.0", "Apache-2.0", component)
