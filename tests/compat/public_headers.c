/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin that does nothing, in the common part of C11 and C++11: it must compile without a warning
 * in every dialect (tests/style/check-headers) and with every later version of the headers.
 */
#include "dpframe/dpframe.h"

static const dpf_enum_value kinds[] = {{"one", "the first"}, {"two", "the second"}};

static const dpf_param params[] = {
    DPF_PARAM_BOOL_F("flag", 1, 0, "A switch."),
    DPF_PARAM_INT_F("count", 3, 1, 10, DPF_PARAM_REQUIRED, "rounds", "A number."),
    DPF_PARAM_REAL_F("epsilon", 1.0, 0.0, 8.0, DPF_PARAM_OPEN_LO | DPF_PARAM_PRIVACY, "", "A budget."),
    DPF_PARAM_ENUM_F("kind", 0, kinds, 0, "A choice."),
    DPF_PARAM_TEXT_F("path", DPF_TYPE_PATH, "", 0, "A file."),
    DPF_PARAM_LIST_F("steps", DPF_TYPE_REAL_LIST, "1, 2", 0, 10, 0, "", "Numbers."),
};

static dpf_status create(const dpf_host *host, const dpf_params *values, void **self)
{
    const dpf_memory_service *memory = dpf_memory(host);
    if (!memory || values->n_values != sizeof(params) / sizeof(params[0]))
        return host->fail(host, DPF_E_INTERNAL, -1, "the host is not what it should be");
    *self = memory->allocate(host, 64);
    return *self ? DPF_OK : DPF_E_MEMORY;
}

static void destroy(void *self)
{
    (void)self;
}

static dpf_status solve(void *self, const dpf_call *call, const dpf_solve *batch)
{
    (void)self;
    if (call->cancelled(call))
        return DPF_E_CANCELLED;
    return dpf_packed_length(batch->query->dimension) > 0 ? DPF_OK : DPF_E_RANGE;
}

static const dpf_solver functions = {DPF_SOLVER_GRADIENT, 0, NULL, NULL, solve, NULL, {NULL}};

static const dpf_component component = {sizeof(dpf_component),
                                        DPF_COMPONENT_EXPERIMENTAL,
                                        DPF_ROLE_SOLVER,
                                        "example-nothing",
                                        "1.0.0",
                                        "does nothing",
                                        "",
                                        params,
                                        sizeof(params) / sizeof(params[0]),
                                        sizeof(dpf_param),
                                        create,
                                        destroy,
                                        &functions,
                                        0};

DPF_SINGLE_COMPONENT_PLUGIN("org.example.nothing", "1.0.0", "Apache-2.0", component)
