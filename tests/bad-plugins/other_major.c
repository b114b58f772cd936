/* SPDX-License-Identifier: Apache-2.0 */
#define SPECIMEN_NO_ENTRY
#include "specimen.h"

DPF_EXPORT const dpf_plugin *dpframe_plugin_v2(uint32_t host_minor);
DPF_EXPORT const dpf_plugin *dpframe_plugin_v2(uint32_t host_minor)
{
    (void)host_minor;
    return &specimen_plugin;
}
