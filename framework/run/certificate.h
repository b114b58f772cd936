/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificate.h - what a stranger needs to check a statement: docs/certificate.md has the format.
 *
 * Every line follows from the configuration, from what it declares, and from hashes of the program and its plugins. None is
 * computed from protected records, so the file may be released with the statement. It leaves out what is declared and yet
 * nobody's business: paths, seeds, the key of the noise.
 */
#ifndef DPF_RUN_CERTIFICATE_H
#define DPF_RUN_CERTIFICATE_H

#include <jansson.h>

#include "plan/plan.h"

/* Of a complete plan whose statement is made. A new reference; NULL if out of memory. */
json_t *certificate_json(const struct plan *plan);

#endif
