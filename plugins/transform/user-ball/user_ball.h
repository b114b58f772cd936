/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_ball.h - a user's whole message on or in a ball: what the transforms clip-user and scale-user share.
 *
 * clip-user takes m * min(1, C / |m|), scale-user m * C / |m|: the norm is then C whatever the user holds.
 *
 * The norm runs over all rows and all blocks of the message, so that whatever a user holds, and however many
 * records, it moves the sum by at most C in that norm, and replacing the user by at most 2 C. This is one bound over all blocks together (dpf_joint_norm): a mechanism charges
 * it once, not once for every block.
 *
 * With a bound for each block it is |m| = max_b |m_b| / C_b with C = 1: one factor for the whole message,
 * which weights the user's records alike, and every block within its own bound, a Gram row's block together
 * with the rows' block of that place.
 */
#ifndef DPF_USER_BALL_USER_BALL_H
#define DPF_USER_BALL_USER_BALL_H

#include "dpframe/dpframe.h"
#include "row_power.h"

/* The components' parameters. */
enum { USER_BALL_NORM, USER_BALL_BOUND, USER_BALL_BLOCK_BOUNDS, USER_BALL_PARAMS };
enum { NORM_L2, NORM_L1 };

extern const dpf_enum_value user_ball_norms[2];

#define USER_BALL_PARAM_TABLE(VERB)                                                                          \
    {                                                                                                        \
        [USER_BALL_NORM] = DPF_PARAM_ENUM_F("norm", NORM_L2, user_ball_norms, DPF_PARAM_PRIVACY,             \
                                            "The norm that is " VERB "."),                                   \
        [USER_BALL_BOUND] = DPF_PARAM_REAL_F("bound", 1.0, 1e-100, 1e100, DPF_PARAM_PRIVACY, "",             \
                                             "C, the largest norm of a user's whole message."),              \
        [USER_BALL_BLOCK_BOUNDS] = DPF_PARAM_LIST_F(                                                         \
            "block-bounds", DPF_TYPE_REAL_LIST, "", 1e-100, 1e100, DPF_PARAM_PRIVACY, "",                    \
            "In place of bound: the largest norms of the message's blocks, in their order (of a "            \
            "quadratic: its matrix, its linear part, and the count where there is one)."),                   \
    }

/* An instance. */
struct user_ball {
    const dpf_host *host;
    int32_t exactly; /* 1: messages are lengthened as well */
    int32_t p;       /* of the norm: 2 or 1 */
    row_power power;
    double bound;            /* of the whole message; 1 where blocks have bounds of their own */
    const dpf_value *bounds; /* of blocks; count 0: one bound for all */
    /* What sensitivity has told; until then the instance may change. */
    int32_t laid_out;
    int32_t n_blocks;
    int32_t has_gram; /* 1: the last row of a message is a Gram row */
    dpf_block blocks[DPF_MAX_BLOCKS];
};

/* exactly 1: short messages are lengthened as well. */
dpf_status user_ball_new(const dpf_host *host, const dpf_params *values, int32_t exactly, void **self);
extern const dpf_transform user_ball_functions;

#endif
