/* SPDX-License-Identifier: Apache-2.0 */
/* record_fixture.h - for the tests of samplers that draw records: a few thousand of them, rows of either side. */
#ifndef DPF_RECORD_FIXTURE_H
#define DPF_RECORD_FIXTURE_H

#include "kit/plain_random.h"

#define CHECK_USERS 60
#define CHECK_ITEMS 50
#define CHECK_RECORDS (CHECK_USERS * CHECK_ITEMS)

extern int32_t check_users[CHECK_RECORDS];

/* User u's row has entries (u + 1) / CHECK_USERS, of either sign. */
dpf_draw check_draw(void);

/* A mechanism whose loss is context * weight. */
dpf_status check_linear_profile(void *context, double weight, double *epsilon);

void check_take(struct plain_host *host, uint32_t draw_index, const dpf_draw *draw, float *weights);

/* A record's fate depends on draw, user and item alone: not on what else is asked. */
void check_fates(struct plain_host *host);

void check_parties_refused(struct plain_host *host);

#endif
