/* SPDX-License-Identifier: Apache-2.0 */
/* The probe, which plans noise in shares without the flag with which it would know how many parties are honest. */
#define PROBE "test-uncounted-shares"
#define PROBE_FLAGS 0
#define PROBE_LEAST(honest) (honest)
#include "probe.c"
