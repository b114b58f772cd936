/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_json.h - writes events as JSON, and reads the same events back, to the last bit.
 *
 * This form is for programs, that of ledger.h for people. An unstated number (NaN) is null, infinity is text.
 */
#ifndef DPF_PRIVACY_EVENT_JSON_H
#define DPF_PRIVACY_EVENT_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "dpframe/privacy.h"

/* A new reference; NULL without memory. */
json_t *events_to_json(const dpf_event *events, int64_t n);
/* The events of a list, to be freed. NULL, and *n -1, if it is no list of events; NULL and 0 for none. */
dpf_event *events_from_json(const json_t *list, int64_t *n);

#endif
