/* SPDX-License-Identifier: Apache-2.0 */
/* config_reader.h - reads the text of one file into a config_source, by inih. */
#ifndef DPF_CONFIG_CONFIG_READER_H
#define DPF_CONFIG_CONFIG_READER_H

#include "config/config_store.h"

/* source->file and ->directory are set; source_free it also after a failure. */
int reader_parse(struct config *config, struct config_source *source, const char *text, size_t length,
                 struct dpf_error *error);
/* Appends a key; refuses one that the source has already, unless it replaces. */
int reader_add(struct config *config, struct config_source *source, const struct config_entry *entry,
               int replace, struct dpf_error *error);

#endif
