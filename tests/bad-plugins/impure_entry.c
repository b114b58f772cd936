/* SPDX-License-Identifier: Apache-2.0 */
#define SPECIMEN_NO_ENTRY
#include "specimen.h"

DPF_EXPORT const dpf_plugin *dpframe_plugin_v1(uint32_t host_minor);
DPF_EXPORT const dpf_plugin *dpframe_plugin_v1(uint32_t host_minor)
{
    static dpf_plugin copies[2];
    static int calls;
    (void)host_minor;
    copies[calls & 1] = specimen_plugin;
    return &copies[calls++ & 1];
}
