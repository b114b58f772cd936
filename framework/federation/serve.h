/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.h - the server of a run whose parties are processes of their own.
 *
 * It waits for parties, charges the run, and then asks in each round those parties that the sampler draws and
 * that are there. Whoever does not answer a phase in time is lost for the round. A round that cannot be
 * opened ends the run: nothing of it is released.
 */
#ifndef DPF_FEDERATION_SERVE_H
#define DPF_FEDERATION_SERVE_H

#include "run/arguments.h"

/* address: as the link reads it. */
int federation_serve(const struct arguments *arguments, const char *address, int insecure,
                     struct dpf_error *error);

#endif
