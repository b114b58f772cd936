/* SPDX-License-Identifier: Apache-2.0 */
#define SPECIMEN_NO_ENTRY
#include "specimen.h"

DPF_EXPORT const dpf_plugin *dpframe_plugin_v1(uint32_t host_minor);
DPF_EXPORT const dpf_plugin *dpframe_plugin_v1(uint32_t host_minor)
{
    return host_minor == UINT32_MAX ? &specimen_plugin : NULL;
}
