/* SPDX-License-Identifier: Apache-2.0 */
/* public_files.h - whether what is taken as public is a file of its own, and not one with records. */
#ifndef DPF_DATA_PUBLIC_FILES_H
#define DPF_DATA_PUBLIC_FILES_H

#include "base/error.h"
#include "config/config.h"

#define PUBLIC_FILES 512

/* Writes a sentence on the keys of public files that name a file with records, and what to do; "" if none does. A file
   is the same under any name and link, and so is one beside its copy named .gz; what files say is not compared.
   Faults: DPF_FAULT_DATA for files. */
int data_public_files(const struct config_values *data, const struct config_values *split,
                      char out[PUBLIC_FILES], struct dpf_error *error);

#endif
