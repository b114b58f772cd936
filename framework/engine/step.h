/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step.h - the common part of all kinds of side steps.
 *
 * record    the solver steps after each record, released or not: see step_by_record.c;
 * local     no mechanism: rows in batches, query to solver, all in float32;
 * rows      released, row by row: for each batch of rows the step encodes and sums every party's query;
 * messages  released, party by party: the step makes, transforms, encodes and sums the whole message of each
 *           user (or silo), then decodes the sum;
 * federated a whole round: parties solve, and send their solved rows.
 */
#ifndef DPF_ENGINE_STEP_H
#define DPF_ENGINE_STEP_H

#include "base/violations.h"
#include "engine/engine.h"
#include "engine/parties.h"
#include "plan/sum_range.h"

/* One worker's buffers by purpose, grown on demand and kept. */
enum buffer_slot {
    BUFFER_ROWS,
    BUFFER_OFFSETS,
    BUFFER_OTHERS,
    BUFFER_WEIGHTS,
    BUFFER_PAIRS,
    BUFFER_DEGREES,
    BUFFER_CONTRIBUTORS,
    BUFFER_BLOCKS,
    BUFFER_TERM_BLOCKS,
    BUFFER_WIDE,
    BUFFER_WIDE2,
    BUFFER_INTEGERS,
    BUFFER_SUMS,
    BUFFER_NEXT,
    BUFFER_SAVED,
    BUFFER_POOL,
    BUFFER_COUNT
};
/* The uses of a worker's processor time where parties solve. */
enum step_phase { PHASE_SUMS, PHASE_NOISE, PHASE_SOLVES, PHASE_COUNT };

struct buffers {
    void *data[BUFFER_COUNT];
    size_t bytes[BUFFER_COUNT];
    double cpu[PHASE_COUNT];
};

/* A term while the engine runs. */
struct term_run {
    struct term_plan *plan;
    const dpf_loss *loss;
    const dpf_mechanism *mechanism;   /* NULL: local */
    const dpf_aggregator *aggregator; /* NULL: local */
    const dpf_sampler *sampler;       /* NULL: all */
    float **values; /* after record transforms: of each party, of all, and of all by user; or NULL */
    const float *party_weights; /* drawn for this round: users; NULL: all 1 */
    float *party_weight_buffer;
    int32_t *participations;    /* how often each user has taken part, where that is capped */
    int64_t *last_round;        /* in which each user has taken part, where they are kept apart; or -1 */
    uint64_t *user_keys;        /* of each user's id, for samplers */
    unsigned char *noise_state; /* the mechanism's state for each row of its sums */
    uint64_t row_state;         /* bytes of it for a row; 0: nothing */
    dpf_factors self, other, residual; /* as the loss reads them in this step */
    float *other_copy;                 /* rows after factor transforms */
    float *received, *zeros;           /* rows that friends sent, and no rows: see relation_messages.h */
    float *gram;                       /* the Gram row, decoded; n_gram of them (party site) */
    int64_t n_gram;
    struct sum_bound *sum_bounds; /* of what is sent, for this noise: see plan/sum_range.h */
    dpf_noise_plan noise;         /* the plan's, or this step's where bounds come from data */
    double other_l1;              /* the bound on the other side's rows that this noise is for */
    uint32_t draw;                /* index of the mechanism's draws in this step */
    uint32_t sample;              /* and of the sampler's */
    const int32_t *members;       /* the other side's rows that the solving party has; NULL: all */
    int64_t n_members;
    int64_t rows; /* of a message after transforms, with the Gram row, for the rows that the data has */
    /* The factor by which a release of this step multiplies the noise plan's variances. */
    double variance_factor, gram_variance_factor;
};

struct checkpoint;
struct observed;

struct engine {
    struct plan *plan;
    const struct dataset *dataset;
    struct pool *pool;
    struct model *model;
    struct parties parties;
    int n_workers;
    struct worker **workers; /* for callbacks */
    struct worker **nested;  /* for callbacks made inside a solver's callback */
    struct buffers *buffers;
    struct dpf_error *errors; /* one for each worker */
    int tolerant;             /* faults of single records and parties stop nothing: see step_violations.c */
    uint8_t *forgivable;      /* by worker: the error comes from a component, not from the machine */
    struct violations *violations; /* by worker: what was forgiven */
    uint8_t *reset[2];             /* local rows that return to their initial values after the step */
    int any_reset;
    struct term_run *terms[2];
    float *next[2]; /* new rows of a simultaneous update */
    int64_t round;
    struct csr
        here_by_item; /* records of this rank's users, once sums by item want them; ptr NULL: not yet, or all are here */
    const struct engine_remote *remote;  /* NULL: all parties are here */
    const struct checkpoint *checkpoint; /* NULL: none is written */
    struct observed *observed;           /* somebody looks on; NULL: nobody. See observed.h */
    struct engine_stats *stats;
    const dpf_features *item_features; /* public ones, or NULL */
    dpf_features feature_view;
    float *rows[2]; /* while a party solves: its own rows of either side; else NULL */
    /* Variances of the noise in a side's blocks, and then in its Gram row: 2 x query.width; see
     * noise_variance.h. */
    double *noise_variance[2];
    int has_noise[2];
    uint64_t *order_keys[2]; /* of ids, for solvers that step after each record; NULL: not yet */
};

/* 64-byte aligned, contents undefined. NULL after reporting that memory ran out. */
void *step_buffer(struct engine *engine, int worker, enum buffer_slot slot, size_t count, size_t size);

/* Processor seconds of the calling thread; a phase adds the time since then. */
double step_clock(void);
void step_took(struct engine *engine, int worker, enum step_phase phase, double since);

/* -1, with an error that names the round and what is left. */
int step_interrupted(const struct engine *engine, struct dpf_error *error);
/* 0, or -1 with the worker's error if the run is to stop. */
int step_stopped(struct engine *engine, int worker);
/* The first worker's error, moved to error. Returns -1. */
int step_failed(struct engine *engine, struct dpf_error *error);
/* "round 3, items" */
const char *step_name(const struct engine *engine, int side, char buffer[64]);

/* Holders of records: the parties 0 .. n-1, or all records together. */
#define HOLDER_ALL (-1)
#define HOLDER_HERE (-2) /* the records of this rank's users, by item */

/* A holder's records by rows of the term's side: user-item records, or links. */
const struct csr *step_records(const struct engine *engine, const struct term_run *term, int64_t holder);
/*
 * Groups for rows first .. first+count-1 of a holder, weights drawn where a record sampler asks. The arrays
 * belong to the worker's buffers and the data set.
 */
int step_groups(struct engine *engine, struct term_run *term, int64_t holder, int64_t first, int64_t count,
                int worker, dpf_groups *groups);
/*
 * The weights of a record sampler for the records base .. base+n-1 of csr, whose row is own[i] on csr's
 * side `orientation`. values as the loss sees them, or NULL.
 */
int step_draw_records(struct engine *engine, struct term_run *term, int orientation, const struct csr *csr,
                      const float *values, int64_t first, int64_t count, int worker, float *weights);
/*
 * Void records (struct csr) are handed to losses with weight 0. Weights that are all 1 give the sums that no
 * weights give, to the last bit, so that records without a void one among them need none.
 */
int step_has_voids(const struct csr *csr, int64_t base, int64_t n);
void step_void_weights(const struct csr *csr, int64_t base, int64_t n, float *weights);
/* The rows of a side: everybody's, or those of the party that is solving. */
dpf_factors step_rows_in_use(const struct engine *engine, int side);
/* The sensitivity rests on the largest weight that the sampler states: what is above it is a fault, or 0. */
int step_check_weights(struct engine *engine, const struct term_run *term, float *weights, int64_t n,
                       int worker);
/* The callback object for a term's component: the right draw for its lifetime. */
dpf_call *step_call(struct engine *engine, int worker, struct instance *instance, uint32_t draw,
                    uint32_t party);
/* Turns a status into the worker's error: 0 or -1. */
int step_result(struct engine *engine, int worker, struct instance *instance, dpf_status status, int side);
/* The same for what a function of sum.h returned, with the worker's error: no record is at fault. */
int step_sum(struct engine *engine, int worker, int status);

/*
 * ---- the engine's only calls of encode, decode and draw: noise_calls.c ----
 *
 * As dpf_mechanism.encode and decode, and dpf_sampler.draw, of the term's components. While nobody looks on they call the
 * component and do nothing else. An observer is told of each (observed.h).
 */
dpf_status noise_encode(struct engine *engine, struct term_run *term, const dpf_call *call,
                        const dpf_query *query, const double *values, int64_t stride, dpf_encoded *out);
dpf_status noise_decode(struct engine *engine, struct term_run *term, const dpf_call *call,
                        const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride);
dpf_status noise_draw(struct engine *engine, struct term_run *term, const dpf_call *call,
                      const dpf_draw *draw, float *weights);

/* ---- faults of protected records: step_violations.c ---- */

int step_open_violations(struct engine *engine, struct dpf_error *error);
/* All violations, those of the workers and, where all ranks get here (status 0), of the ranks, in the order
   of rounds and rows, go to `into` (NULL: are only counted). Returns the status, or -1 if the ranks cannot be
   joined. */
int step_close_violations(struct engine *engine, struct violations *into, int status,
                          struct dpf_error *error);
/* Whether the worker's error may be forgiven; then it is gone, to be tried again in smaller parts. */
int step_forgive(struct engine *engine, int worker);
/* The same, and lists the error, whose cause is known. row: a row or a party, for the list. */
int step_note(struct engine *engine, int worker, int64_t row);
/* A local row that returns to its initial value once the side step is done. Any thread. */
void step_reset_later(struct engine *engine, int side, int64_t row);
int step_reset_rows(struct engine *engine, struct dpf_error *error);
/*
 * Solves rows first .. first+count-1 of a side together; if that fails, and rows of the side stay with their
 * parties, one by one, and those that fail alone return to their initial values.
 */
int step_row_by_row(struct engine *engine, int worker, int side, int64_t first, int64_t count,
                    int (*solve)(void *context, int64_t first, int64_t count, int worker), void *context);
/* The loss's sums for groups of one holder's records, without the records that are at fault. */
int step_accumulate(struct engine *engine, int worker, struct term_run *term, uint32_t party,
                    const dpf_groups *groups, const double *grid, double *out);

/* The user whose records are here alone, or -1. */
static inline int64_t step_own_party(const struct engine *engine)
{
    return engine->remote ? engine->remote->party : -1;
}
static inline int step_is_server(const struct engine *engine)
{
    return engine->remote && engine->remote->party < 0;
}

/* Public features of a side's rows, or NULL: users have none. */
static inline const dpf_features *step_features(const struct engine *engine, int side)
{
    return side == DPF_SIDE_ITEMS ? engine->item_features : NULL;
}

/* The mechanism's state from this row on, or NULL. */
static inline void *step_noise_state(const struct term_run *term, int64_t row)
{
    return term->row_state ? term->noise_state + (uint64_t)row * term->row_state : NULL;
}

/* Room for how often and when users have taken part, where that is limited. */
int step_open_participations(const struct engine *engine, struct term_run *term, struct dpf_error *error);
/* A party that was started again, or pays for a round once more, goes on counting where it was. */
void step_count_answered(const struct engine *engine, struct term_run *term);

/* Factors, bounds, draws and weights of a term for this step. */
int step_prepare(struct engine *engine, struct term_run *term, struct dpf_error *error);
/* Compares the users' weights of this round with what the plan states, before anything is sent. kept: the run
   had not departed from its plan before they were drawn. All ranks call it. */
int step_compare_with_plan(struct engine *engine, const struct term_run *term, int kept,
                           struct dpf_error *error);

/* After the last round: applies the term's factor transforms to the other side's rows. */
int step_return_transformed(struct engine *engine, struct term_run *term, struct dpf_error *error);
/* The Gram row of a term, without noise, from the other side's rows `members` (NULL: all n), in
   float64 into out (width of gram_query). Runs in parallel. */
int step_gram_exact(struct engine *engine, struct term_run *term, const int32_t *members, int64_t n,
                    double *out, struct dpf_error *error);
/* Sets the number of Gram row and makes room for them. */
int step_gram_room(struct term_run *term, int64_t n, struct dpf_error *error);

/* Solves rows from decoded blocks: common tail of all kinds. blocks has stride step_stride(width). */
struct solve_batch {
    int side;
    int64_t first, count;
    const float *blocks;
    const float *gram;
    const dpf_groups *groups; /* operator form: the term's groups, else NULL */
    struct term_run *term;
    const float *current;   /* count rows of model stride; NULL: the side's */
    int64_t degrees_holder; /* whose records count, for solvers that read degrees */
    float *next;            /* count rows of model stride; NULL: the side's new rows */
};
int step_solve(struct engine *engine, int worker, const struct solve_batch *batch);

static inline int64_t step_stride(int64_t width)
{
    return (width + 15) / 16 * 16;
}
/* Rows handled together: about half a megabyte of blocks. */
int64_t step_batch_rows(int64_t width);

/* A term's blocks for groups in float32, exact. */
int step_accumulate_local(struct engine *engine, int worker, struct term_run *term, const dpf_groups *groups,
                          float *out, int64_t stride);

int step_local(struct engine *engine, int side, struct dpf_error *error);
/* A side of either kind whose solver has DPF_SOLVER_BY_RECORD. */
int step_by_record(struct engine *engine, int side, struct dpf_error *error);
int step_by_rows(struct engine *engine, int side, struct dpf_error *error);
int step_by_messages(struct engine *engine, int side, struct dpf_error *error);
/* At a party: its message of this round, to the server. */
int step_send_message(struct engine *engine, int side, struct dpf_error *error);
/* A whole round in which parties solve; released is the side whose rows they send. */
int step_federated(struct engine *engine, int released, struct dpf_error *error);

#endif
