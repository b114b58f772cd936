/* SPDX-License-Identifier: Apache-2.0 */
/* worker.h - functions for workers that only tests and the conformance kit need beyond registry.h. */
#ifndef DPF_PLUGIN_WORKER_H
#define DPF_PLUGIN_WORKER_H

#include <stdint.h>

/* Fills scratch with this byte before it is handed out, so that reads of it show; -1: off. */
void worker_fill_scratch(int byte);

#endif
