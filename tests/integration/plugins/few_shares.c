/* SPDX-License-Identifier: Apache-2.0 */
/* The probe, which would decode a sum that lacks the share of one honest party. */
#define PROBE "test-few-shares"
#define PROBE_FLAGS DPF_MECHANISM_SHARES
#define PROBE_LEAST(honest) ((honest)-1)
#include "probe.c"
