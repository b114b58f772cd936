/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.h - the randomness of the whole program: keys, streams, cursors.
 *
 * A key is 32 bytes, in guarded memory if it is secret. A stream's key is derived from a root key, a section and a
 * purpose; a cursor reads the stream's ChaCha20 keystream at (draw, party, row), as one sequence, and other
 * functions read many rows of cells at once. See
 * dpf_random_service in dpframe/host.h for what the numbers mean; the plugin room's services.c makes that
 * table.
 *
 * Two roots: run.seed gives one (splits, initial values, synthetic data); the privacy root is either
 * drawn from the system and never written (secure) or derived from privacy.noise_seed (reproducible).
 */
#ifndef DPF_BASE_RANDOM_H
#define DPF_BASE_RANDOM_H

#include <stdint.h>

#include "base/error.h"
#include "dpframe/host.h"

struct random_root;

#define RANDOM_KEY_BYTES 32

/* A root from the system's generator. */
struct random_root *random_root_secure(struct dpf_error *error);
/* A root that rank 0 has drawn, on all ranks (base/ranks.h). */
int random_root_share(struct random_root *root, struct dpf_error *error);
/* A root that is a function of the seed and of the domain ("run", "noise"). */
struct random_root *random_root_seeded(uint64_t seed, const char *domain, struct dpf_error *error);
void random_root_free(struct random_root *root); /* wipes */

/* A stream for (section, purpose). Freed by random_stream_free. */
dpf_stream *random_stream_open(const struct random_root *root, const char *section, const char *purpose,
                               struct dpf_error *error);
void random_stream_free(dpf_stream *stream); /* wipes */
/* The stream becomes that of another root of the same kind, as if opened from it. No thread may be reading it. */
void random_stream_rekey(dpf_stream *stream, const struct random_root *root, const char *section,
                         const char *purpose);

/* A separate key for other uses of a root: BLAKE2b, keyed by the root, of (use, section, purpose).
 */
void random_derive_key(const struct random_root *root, const char *use, const char *section,
                       const char *purpose, uint8_t key[RANDOM_KEY_BYTES]);

/*
 * Puts the cursor at the start of the keystream that belongs to an id, whatever the number of the thing that
 * bears it: for draws from run.seed. A stream that is read so is not read by numbers too.
 */
void random_seek_id(const dpf_stream *stream, const char *id, dpf_cursor *cursor);

/* The functions of the service except open, which belongs to the plugin host. */
void random_seek(const dpf_stream *stream, uint32_t draw, uint32_t party, uint32_t row, dpf_cursor *cursor);
void random_bits(dpf_cursor *cursor, uint64_t *out, int64_t n);
void random_uniform(dpf_cursor *cursor, double *out, int64_t n);
void random_below(dpf_cursor *cursor, uint64_t bound, uint64_t *out, int64_t n);
void random_bernoulli(dpf_cursor *cursor, double p, uint8_t *out, int64_t n);
dpf_status random_discrete_laplace(dpf_cursor *cursor, uint64_t t, int64_t *out, int64_t n);
dpf_status random_discrete_gaussian(dpf_cursor *cursor, uint64_t s, int64_t *out, int64_t n);
dpf_status random_poisson(dpf_cursor *cursor, uint64_t mean, int64_t *out, int64_t n);
dpf_status random_skellam(dpf_cursor *cursor, uint64_t mean, int64_t *out, int64_t n);
void random_normal(dpf_cursor *cursor, double *out, int64_t n);
void random_laplace(dpf_cursor *cursor, double *out, int64_t n);
dpf_status random_row_bits(const dpf_stream *stream, const dpf_rows *rows, uint64_t *out);
dpf_status random_row_normal(const dpf_stream *stream, const dpf_rows *rows, double *out);
dpf_status random_row_laplace(const dpf_stream *stream, const dpf_rows *rows, double *out);

/* That many rows of that width have places in the layout of streams, whatever is drawn. */
int random_rows_fit(int64_t n_rows, int64_t width);

/* Uniform random permutation of 0 .. n-1 into out. */
void random_permutation(dpf_cursor *cursor, int64_t *out, int64_t n);
/* The same permutation in half the memory; n below 2^32. */
void random_permutation32(dpf_cursor *cursor, uint32_t *out, int64_t n);

#endif
