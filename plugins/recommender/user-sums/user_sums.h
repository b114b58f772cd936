/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_sums.h - noisy sums of what users send, for recommenders at a curator: exact, independent of order.
 *
 * In a pass every user with records makes one message to some items, one to all, or both, each of norm 1 at
 * most. Messages are rounded toward zero to integers whose norm is checked (message_grid.h), summed in 64
 * bits, and get discrete Gaussian noise. So the bytes do not depend on workers, tasks or the users' order,
 * and a user who comes or goes moves a sum by 1 at most: scale is what each release's noise_grid says.
 *
 * Through an aggregator (dpf_fit.summing) every user sends the same integers, zeros where a plain sum has
 * nothing of it, with its share of the noise (noise_share.h).
 *
 * Where several processes train together, each sums its own users, the sums are added up over processes before
 * noise, and all processes draw the same noise (dpf_fit_add_up): the same bytes again.
 *
 * Scenario: user_sums_open; for each pass user_sums_run, then read `released`.
 */
#ifndef DPF_USER_SUMS_USER_SUMS_H
#define DPF_USER_SUMS_USER_SUMS_H

#include "dpframe/role/recommender.h"
#include "message_grid.h"

/* Fails where no range of ratings is declared, for recommenders that predict values in it. */
dpf_status user_sums_check_range(const dpf_host *host, const dpf_recommender_setup *setup);
/* The finest grid for noise of that sigma, in shares if the setup has some, or the silent one; fails if there
   is none. param: the parameter to name. */
dpf_status user_sums_choose_grid(const dpf_host *host, const dpf_recommender_setup *setup, int32_t param,
                                 double sigma, int silent, int32_t least_bits, struct noise_grid *out);
/* States such noise, and who adds it; all but name, count and sensitivities. */
void user_sums_state_noise(const dpf_recommender_setup *setup, const struct noise_grid *grid,
                           dpf_recommender_release *out);

/* What a user's messages to a release are. Users without records send nothing, or zeros. */
enum user_message_kind {
    MESSAGE_SIGNED,       /* any vector of norm 1 at most */
    MESSAGE_NOT_NEGATIVE, /* one without negative numbers, such as a count */
    MESSAGE_ONE           /* a single number, the same from all who have records */
};

/*
 * States a release that is `count` such sums with noise of the grid, of so many numbers in all; `out` is
 * zeroed. Messages x have norm 1 at most, the grid included, so a user who comes or goes moves a sum by 1 in
 * L2. One who is replaced, or one of whose records is another, there or gone, moves it from x to x':
 *   |x - x'|^2 = |x|^2 + |x'|^2 - 2 <x, x'>, which is 4 at most,
 *   2 at most where neither has negative numbers, for then <x, x'> >= 0, and rounding toward zero keeps signs,
 *   1 at most where both are 0 or the same number.
 */
void user_sums_state_release(const char *name, const dpf_recommender_setup *setup,
                             const struct noise_grid *grid, enum user_message_kind kind, int64_t count,
                             double numbers, dpf_recommender_release *out);

struct user_pass {
    int32_t to_items; /* release, or -1 */
    int32_t to_all;   /* release, or -1 */
    int64_t width;    /* numbers for each item */
    int64_t n_all;    /* numbers to all */
    int64_t round;    /* of the release: its noise is read there */
};

/* What one worker has for itself. */
struct user_desk {
    int64_t *sums;   /* n_items x width, then n_all */
    double *values;  /* as many as a user has records at most, */
    int32_t *chosen; /* and these, for messages to some of the items */
    double *to_items, *to_all, *work;
    int64_t *steps;
    int64_t *drawn; /* noise of a row */
};

/* A message: to_items has width numbers for each of items, to_all n_all, on the desk. */
struct user_message {
    int64_t n;
    const int32_t *items;
};

struct user_sums {
    const dpf_call *call;
    const dpf_fit *fit;
    const dpf_random_service *random;
    dpf_stream *const *noise;       /* of each release */
    const struct noise_grid *grids; /* of each release */
    /* Writes a user's message; several workers at once. n 0: nothing is sent to any item. */
    void (*send)(const void *context, const struct user_pass *pass, int64_t user, struct user_desk *desk,
                 struct user_message *message);
    const void *context;
    /* Largest that passes have, and doubles of work that send wants of a user with `longest` records. */
    int64_t widest, most_to_all, work;
    int64_t longest;  /* records of a user, found by open */
    double *released; /* of the last pass: n_items x width, then n_all */
    /* Own. */
    struct user_pass pass;
    struct user_desk *desks;
    int32_t n_desks;
    double *exact, *scales; /* for a witness */
};

/* The most records that a user has: what `work` may depend on. */
int64_t user_sums_longest(const dpf_fit *fit);
/* Takes scratch of the call. Failures are reported. */
dpf_status user_sums_open(struct user_sums *sums);
dpf_status user_sums_run(struct user_sums *sums, const struct user_pass *pass);

#endif
