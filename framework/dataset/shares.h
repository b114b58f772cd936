/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shares.h - which records a rank keeps.
 *
 * Each side's rows are cut into one range for each rank. A rank has the training, test and candidate records
 * of its users, and the training records of its items a second time, by item. Every rank has
 * all indices, ids, public features and numbers of records of each row, so all ranks derive the same from an
 * index or a degree. A rank alone keeps everything.
 */
#ifndef DPF_DATA_SHARES_H
#define DPF_DATA_SHARES_H

#include "dataset/dataset.h"

/* Users that are counted together where something is added up over users: shares are made of whole chunks, so
   that a sum over chunks, in their order, is the same for any number of ranks. */
int64_t shares_chunk(int64_t n_users);

/* Whose rows of a side are whose, from the places of their records (n + 1, from 0): ranges of about as many.
 */
int shares_decide(struct dataset *dataset, int side, const int64_t *ptr, int64_t n, struct dpf_error *error);

/* Gives away what belongs to the other ranks. All ranks have read the same; nothing where each has read a
   part (spread.h). */
int shares_keep_own(struct dataset *dataset, struct dpf_error *error);

/* The rank's rows of a side: first .. last-1. */
int64_t shares_first(const struct dataset *dataset, int side);
int64_t shares_last(const struct dataset *dataset, int side);
/* The ranges of all ranks, as ranks_gather takes them, into offsets (ranks + 1). */
void shares_offsets(const struct dataset *dataset, int side, int64_t *offsets);

/* The rank whose range of offsets has that row. */
int shares_rank(const int64_t *offsets, int64_t row);

/* n things in as many ranges as there are ranks, about equally long. */
void shares_even(int64_t n, int64_t *offsets);

/* The training records that are not void, of the same rows at the same ranks. All ranks call it. out is filled
   on success. */
int shares_sound_records(const struct dataset *dataset, struct records *out, struct dpf_error *error);

#endif
