/* SPDX-License-Identifier: Apache-2.0 */
/*
 * role/solver.h - from a query's blocks to the next rows.
 */
#ifndef DPFRAME_ROLE_SOLVER_H
#define DPFRAME_ROLE_SOLVER_H

#include "../host.h"
#include "../query.h"
#include "../utility.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DPF_ROLE_SOLVER "dpframe.solver/1"

/* Flags. */
#define DPF_SOLVER_GRADIENT UINT32_C(1)   /* takes gradient queries */
#define DPF_SOLVER_QUADRATIC UINT32_C(2)  /* takes quadratic queries */
#define DPF_SOLVER_INDEFINITE UINT32_C(4) /* also solves where A is not positive definite */
#define DPF_SOLVER_DEGREES UINT32_C(8)    /* reads how many records each row has (condition C8) */
#define DPF_SOLVER_OPERATOR UINT32_C(16)  /* prefers products with A to A itself; accepts both */
#define DPF_SOLVER_PRIOR UINT32_C(32)     /* needs a constant ridge above 0 of every unknown */
/*
 * Steps after each record. solve gets one row at a time, with the query of a single record at the row as it stands after the
 * record before; the records of a row come in an order that follows from their ids, the seed and the round.
 */
#define DPF_SOLVER_BY_RECORD UINT32_C(64)
#define DPF_SOLVER_RIDGE                                                                                     \
    UINT32_C(128) /* needs a ridge above 0 of every unknown, constant or for each record */

/* A batch of rows. */
typedef struct dpf_solve {
    uint32_t size;
    int32_t side;
    int32_t n_rounds; /* of the run, for schedules; call.round is the current one */
    int32_t state_width;
    int64_t n_rows;
    int64_t first_row; /* rows first_row .. first_row + n_rows - 1 */
    const dpf_query *query;
    const float *blocks;    /* n_rows x query.width */
    int64_t blocks_stride;  /* multiple of 16; 64-byte aligned */
    const float *gram;      /* query.width numbers to be added to each row's blocks, or NULL */
    const int32_t *degrees; /* records of each row, or NULL */
    /* Rows: unknowns are columns query.first .. query.first + query.dimension - 1. */
    const float *current;
    int64_t current_stride;
    float *next; /* may equal current; leave other columns alone */
    int64_t next_stride;
    float *state; /* n_rows x state_width, kept between rounds, zero at first; NULL if width is 0 */
    const dpf_query *gram_query; /* describes gram; query itself unless that has layout OPERATOR */
    /*
     * Operator form: NULL unless the query's quadratic block has layout OPERATOR, which happens only
     * for solvers with DPF_SOLVER_OPERATOR. Writes A x, without Gram row and ridge, for the batch's
     * rows first .. first + count - 1; x and out have d numbers a row, are 64-byte aligned with
     * strides that are multiples of 16, and their padding is zero. Each call gathers the rows' records
     * anew, so do all steps of one row before the next to keep its records in cache. If it fails, it has
     * reported why: return its status.
     */
    dpf_status (*product)(void *product_context, int64_t first, int64_t count, const float *x,
                          int64_t x_stride, float *out, int64_t out_stride);
    void *product_context;
    /*
     * Variance of the noise in each of the query.width numbers of a row's blocks, and of gram; NULL: no
     * noise; NaN: unknown (after a transform that is not an isometry, and in friends' messages). It is the
     * planned variance for messages from all parties, even where a row gets messages from only some.
     */
    const double *noise_variance;
    const double *gram_noise_variance;
} dpf_solve;

typedef struct dpf_solver {
    uint32_t flags;
    uint32_t reserved;
    /* [setup, optional] How many numbers of state (moments) each row needs, for d unknowns. NULL: none. */
    int32_t (*state_width)(void *self, int32_t dimension);
    /* [any, optional] A bound on the Euclidean norm of the returned rows, or infinity. NULL: infinity. */
    double (*radius)(void *self);
    /* [run, required] Solves the batch. All of next must be finite. */
    dpf_status (*solve)(void *self, const dpf_call *call, const dpf_solve *batch);
    /*
     * [setup, optional] What is proved about the error of a release; NULL: nothing. Called twice. First with
     * n_numbers 0: adds the numbers that go in, with the plan's values; none where its theorem is not about
     * this release. Then with values that the command line may have changed, within their ranges: adds bounds
     * and notes, and sets source, title and error.
     */
    dpf_status (*utility)(void *self, const dpf_utility_setup *setup, dpf_utility *report);
    /* NULL. A later minor may name a slot; what it names is optional. */
    void (*reserved_slots[3])(void);
} dpf_solver;

#ifdef __cplusplus
}
#endif
#endif
