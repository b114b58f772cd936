/* SPDX-License-Identifier: Apache-2.0 */
/*
 * federation_options.h - sections [federation] and [consent]: how ends find each other and how long they
 * wait, and what a party asks of any run before it takes part. Neither is a part of what the ends agree on.
 */
#ifndef DPF_FEDERATION_FEDERATION_OPTIONS_H
#define DPF_FEDERATION_FEDERATION_OPTIONS_H

#include "config/config.h"

enum federation_param {
    FEDERATION_LINK,
    FEDERATION_DEADLINE,
    FEDERATION_JOIN_TIME,
    FEDERATION_LEAST_PARTIES,
    FEDERATION_STATE,
    FEDERATION_PARTIES,
    FEDERATION_SITE,
    FEDERATION_SIGNING_KEY,
    FEDERATION_RECONNECT,
    FEDERATION_METRICS,
    FEDERATION_ENROLLED,
    FEDERATION_QUORUM,
    FEDERATION_EXCLUDE_AFTER,
    FEDERATION_N_PARAMS
};
enum consent_param {
    CONSENT_MAX_EPSILON,
    CONSENT_UNIT,
    CONSENT_OBSERVER,
    CONSENT_LEAST_PARTIES,
    CONSENT_PROVED,
    CONSENT_N_PARAMS
};
enum consent_unit { CONSENT_ANY_UNIT, CONSENT_RECORD, CONSENT_USER };
enum consent_observer { CONSENT_OUTSIDER, CONSENT_SERVER, CONSENT_PARTIES };

const dpf_param *federation_params(int64_t *n);
const dpf_param *consent_params(int64_t *n);
/* Check the sections for commands that have no use for them, and mark their keys as read. */
int federation_check(struct config *config, struct dpf_error *error);
int consent_check(struct config *config, struct dpf_error *error);
/* Refuses a key that a party sets for itself, of [consent] or its state, site and signing-key, in an included file,
   which others may have written. Its own are the file that it names, and overrides. */
int federation_check_own(const struct config *config, struct dpf_error *error);

#endif
