/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_merge.h - merges a source into the ones before it, key by key.
 *
 * The swap rule: where the new source changes the value of a key, the parameters of the component that the
 * old value named are dropped. Otherwise a variant that says "mechanism = gaussian" would have to know, and
 * reset, every parameter that its base gave to another mechanism. For key K of section S, from an
 * old list of names to a new one ("laplace" to "gaussian" are lists of one), these sections go:
 *   S.K and S.K.*, except S.K.X and below for a name X that stays;
 *   S.X, S.K1.X and below, for each name X that goes, K1 being K without a final "s".
 * Only entries of earlier sources are dropped, never those of the new source.
 */
#ifndef DPF_CONFIG_CONFIG_MERGE_H
#define DPF_CONFIG_CONFIG_MERGE_H

#include "config/config_store.h"

int merge_source(struct config *config, const struct config_source *source, struct dpf_error *error);
/* Puts entries in the order of sections, then of keys, as first named. */
void merge_finish(struct config *config);

#endif
