/* SPDX-License-Identifier: Apache-2.0 */
/* ratings_fit.h - from records to what is released: sums of integers, noise, and what follows from them. */
#ifndef DPF_PRIVATE_RATINGS_FIT_H
#define DPF_PRIVATE_RATINGS_FIT_H

#include "ratings_params.h"
#include "ratings_server.h"

struct private_ratings {
    const dpf_host *host;
    const dpf_value *values;
    const dpf_random_service *random;
    dpf_stream *noise[N_RELEASES];
    dpf_stream *latent; /* where latent loadings start */
};

/* All releases of a run, in order. The server's arrays are placed. */
dpf_status ratings_fit_run(const struct private_ratings *self, const dpf_call *call, const dpf_fit *fit,
                           struct ratings_server *server);

#endif
