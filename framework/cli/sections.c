/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sections.h"

#include "audit/audit_params.h"
#include "evaluate/evaluate.h"
#include "federation/federation_options.h"
#include "select/select_options.h"
#include "sweep/design.h"

const struct section *sections_of_use_cases(int *n)
{
    static const struct section sections[] = {
        {"evaluate", "metrics and how they are computed", evaluate_params, NULL},
        {"sweep", "a sweep; its axes and variants are keys of their own, see docs/configuration.md",
         design_params, design_consume},
        {"select", "which point of the sweep is released, chosen privately", select_params, select_consume},
        {"federation", "how the ends of dpframe serve and join find each other, and how long they wait",
         federation_params, federation_check},
        {"consent", "what a party asks of any run before it takes part", consent_params, consent_check},
        {"audit", "how dpframe audit looks for violations", audit_params, audit_check},
    };
    *n = (int)(sizeof sections / sizeof sections[0]);
    return sections;
}
