/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logged_gamma.c - a test build of the mechanism laplace-gamma, from its own source: it writes down what each party
 * encodes and the noise in it, and what the server decodes. LOGGED_NOISE is the beginning of the files' names.
 *
 * Noise is read at (draw, party, row), so the encoding of zeros has the noise of the message and nothing else.
 */
#include <stdio.h>
#include <stdlib.h>

#include "dpframe/additive_mechanism.h"
#include "dpframe/plugin.h"

#undef DPF_SINGLE_COMPONENT_PLUGIN
#define DPF_SINGLE_COMPONENT_PLUGIN(ID, VERSION, LICENCE, COMPONENT)
/* The sources themselves, whose entry point the macro above leaves out. */
#include "gamma_shares.c"
#include "laplace_gamma.c"

/* "draw row column number number" */
static void write_rows(const char *who, uint32_t draw, const dpf_encoded *rows, const int64_t *noise)
{
    char path[256];
    const char *prefix = getenv("LOGGED_NOISE");
    snprintf(path, sizeof path, "%s-%s.log", prefix ? prefix : "logged", who);
    FILE *stream = fopen(path, "a");
    if (!stream)
        abort();
    for (int64_t r = 0; r < rows->n_rows; r++)
        for (int32_t c = 0; c < rows->width; c++)
            fprintf(stream, "%u %lld %d %lld %lld\n", draw, (long long)(rows->first_row + r), (int)c,
                    (long long)rows->values[r * rows->stride + c],
                    noise ? (long long)noise[r * rows->width + c] : 0);
    fclose(stream);
}

static dpf_status logged_encode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                const dpf_query *query, const double *values, int64_t stride,
                                dpf_encoded *out)
{
    char who[32];
    const uint64_t n = (uint64_t)out->n_rows * (uint64_t)out->width;
    double *zeros = call->scratch(call, n * sizeof *zeros);
    int64_t *noise = call->scratch(call, n * sizeof *noise);
    if (!zeros || !noise)
        return DPF_E_MEMORY;
    memset(zeros, 0, n * sizeof *zeros);
    dpf_encoded alone;
    dpf_copy(&alone, sizeof alone, out);
    alone.values = noise;
    alone.stride = out->width;
    dpf_status status = dpf_additive_mechanism_encode(self, call, plan, query, zeros, out->width, &alone);
    if (status == DPF_OK)
        status = dpf_additive_mechanism_encode(self, call, plan, query, values, stride, out);
    snprintf(who, sizeof who, "%u", call->party);
    if (status == DPF_OK)
        write_rows(who, call->draw, out, noise);
    return status;
}

static dpf_status logged_decode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride)
{
    write_rows("sum", call->draw, sums, NULL);
    return gamma_decode(self, call, plan, query, sums, out, stride);
}

DPF_EXPORT const dpf_plugin *dpframe_plugin_v1(uint32_t host_minor);
DPF_EXPORT const dpf_plugin *dpframe_plugin_v1(uint32_t host_minor)
{
    static dpf_mechanism mechanism;
    static dpf_component logged;
    static const dpf_component *const list[] = {&logged};
    static const dpf_plugin plugin = {
        DPF_PLUGIN_MAGIC, sizeof plugin, 0, 1, "org.dpframe.test.logged-gamma", "1.0.0", "Apache-2.0", list};
    (void)host_minor;
    mechanism = functions;
    mechanism.encode = logged_encode;
    mechanism.decode = logged_decode;
    logged = component;
    logged.id = "logged-gamma";
    logged.functions = &mechanism;
    return &plugin;
}
