/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - the trained model and its predictions: factor rows of both sides, or a recommender's state.
 *
 * A prediction is offset + <user row, item row> over all columns; columns are
 * [user bias | factors | item bias], and a row has the constant 1 in the other side's bias column.
 * Rows are padded to 64 bytes with zeros. With [model] recommender there are no rows; see recommender_fit.h.
 */
#ifndef DPF_ENGINE_MODEL_H
#define DPF_ENGINE_MODEL_H

#include <stdint.h>

#include "base/error.h"
#include "dataset/dataset.h"
#include "plan/plan.h"
#include "score/form.h"

struct side_factors {
    int64_t rows;
    float *data;         /* rows x stride: what readers see; memory_sparse */
    int64_t state_rows;  /* of the projected space, 0 without a state transform */
    float *state_space;  /* state_rows x stride: the solved rows, NULL without a state transform */
    float *solver_state; /* rows (or state_rows) x the solver's width, or NULL */
};

struct model {
    int32_t columns;
    int64_t stride;
    double offset;
    struct side_factors sides[2];
    void *state; /* of a trained recommender, 64-byte aligned; NULL where there are rows */
    uint64_t state_bytes;
    int64_t *told,
        n_told; /* of a recommender over links: all sums, of which each is a count and its numbers */
    struct score_form form;        /* of a saved state, in place of one; else empty */
    const struct plan *plan;       /* for the inverses of record transforms, */
    const struct dataset *dataset; /* and the privacy weights that they need */
    const struct records *train;   /* that a component reads: the data set's, or */
    struct records sound;          /* those of them that are not void */
};

/* A factorization with initial values from run.seed, a baseline filled in from the training records, or a recommender
   without a state yet. */
int model_init(struct model *model, const struct plan *plan, const struct dataset *dataset,
               struct dpf_error *error);
/* The row that model_init drew, of a side without a state transform, into out (stride numbers). */
int model_initial_row(const struct model *model, const struct dataset *dataset, int side, int64_t row,
                      float *out, struct dpf_error *error);
/* Scores are of the records of this data set from now on: those trained with are forgotten. */
int model_read(struct model *model, const struct dataset *dataset, struct dpf_error *error);
void model_free(struct model *model);
/* Zeroed rows of both sides. Part of model_init. */
int model_make_rows(struct model *model, int32_t columns, struct dpf_error *error);
/* The mean of all training values that are not void. */
int model_mean_value(const struct dataset *dataset, double *mean, struct dpf_error *error);
/* A model is factor rows of both sides, or a state. */
static inline int model_has_rows(const struct model *model)
{
    return model->columns > 0;
}
/* Whether every rank has a side's rows of all ranks, or only its own. */
int model_shares_rows(const struct plan *plan, int side);
/* The rows of a side that are there: all, or the rank's own. */
void model_rows_here(const struct model *model, const struct dataset *dataset, int side, int64_t *first,
                     int64_t *last);
/* Rows (of the model's stride) of which each rank has its own become those of all ranks. */
int model_gather_rows(const struct model *model, const struct dataset *dataset, int side, float *rows,
                      struct dpf_error *error);
dpf_factors model_factors(const struct model *model, int side);

#endif
