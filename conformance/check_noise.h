/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_noise.h - is noise what is stated? For mechanisms and for recommenders alike.
 *
 * A table holds the noise of many draws under keys or at indices of their own, each number over its stated
 * standard deviation. Draws are independent of each other, and so are all numbers of a draw, if what is stated
 * is true. Judged are mean, variance and tail of each part (a block, or a release), mean and variance of each
 * number alone, and correlations: of each number with each, of neighbours in a row and in a column, of parts
 * (blocks, rounds, releases), and of one draw with the next. Errors are measured where they can be, from the
 * spread between draws; bounds are six of them and more, and the key is fixed.
 */
#ifndef DPF_CONFORMANCE_CHECK_NOISE_H
#define DPF_CONFORMANCE_CHECK_NOISE_H

#include <stdint.h>

#include "conformance/check.h"

enum noise_law { LAW_UNKNOWN, LAW_GAUSSIAN, LAW_LAPLACE }; /* for the tail */

#define CHECK_NOISE_PARTS 160

/* Numbers first .. first + n - 1 of each draw. */
struct noise_part {
    char name[80]; /* "block 1 of the Gram row", "release 2 (biases of items)" */
    int64_t first, n, width;
    enum noise_law law;
    double step; /* of the grid, over the standard deviation: how coarse the law is */
    double bias; /* that rounding may cause, over the standard deviation */
};

struct noise_table {
    int64_t draws, n, room; /* room: numbers of a draw that there is memory for */
    float *z;               /* draws x room; NaN: a number without noise */
    struct noise_part parts[CHECK_NOISE_PARTS];
    int n_parts;
};

/* Memory of the rule's; -1 with the rule failed. */
int check_noise_open(struct check *check, int64_t draws, int64_t room, struct noise_table *out);
static inline float *check_noise_row(const struct noise_table *table, int64_t draw)
{
    return table->z + draw * table->room;
}
/* Reports the first thing that is not as stated; 0 if there is none. where: "" or a clause on the inputs. */
int check_noise_judge(struct check *check, const struct noise_table *table, const char *where);

#endif
