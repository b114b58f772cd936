/* SPDX-License-Identifier: Apache-2.0 */
#define SPECIMEN_NO_ENTRY
#include "specimen.h"

DPF_EXPORT const dpf_plugin *some_function(void);
DPF_EXPORT const dpf_plugin *some_function(void)
{
    return &specimen_plugin;
}
