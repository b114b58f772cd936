/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/role_tables.h"

#include <math.h>
#include <string.h>

#include "dpframe/dpframe.h"

#define REQUIRE(TABLE, FUNCTION)                                                                             \
    do {                                                                                                     \
        if (!(TABLE)->FUNCTION)                                                                              \
            return "function " #FUNCTION " is missing";                                                      \
    } while (0)

static const char *loss_fault(const void *functions)
{
    const dpf_loss *loss = functions;
    if (loss->layouts & ~(DPF_LAYOUT_PACKED | DPF_LAYOUT_FULL | DPF_LAYOUT_LOWER | DPF_LAYOUT_OPERATOR))
        return "layouts has an unknown bit";
    REQUIRE(loss, query);
    REQUIRE(loss, sensitivity);
    REQUIRE(loss, accumulate);
    if (!loss->apply != !(loss->layouts & DPF_LAYOUT_OPERATOR))
        return "function apply and DPF_LAYOUT_OPERATOR go together";
    return NULL;
}

static const char *sampler_fault(const void *functions)
{
    const dpf_sampler *sampler = functions;
    if (sampler->level != DPF_LEVEL_PARTY && sampler->level != DPF_LEVEL_RECORD)
        return "level is neither DPF_LEVEL_PARTY nor DPF_LEVEL_RECORD";
    if (sampler->flags)
        return "flags has an unknown bit";
    REQUIRE(sampler, describe);
    REQUIRE(sampler, draw);
    return NULL;
}

static const char *message_or_state_fault(const dpf_transform *transform)
{
    int message = transform->kind == DPF_TRANSFORM_MESSAGE;
    if (transform->records || transform->predictions || transform->factors ||
        (!message && (transform->measure || transform->factor)))
        return "a function of another kind is set";
    if (message) {
        REQUIRE(transform, forward);
        if (transform->project || transform->adjoint)
            return "a function of another kind is set";
        if (transform->rows && !transform->inverse)
            return "function inverse is missing: rows changes the number of rows";
        if (!transform->measure != !transform->factor)
            return "measure and factor belong together";
        return NULL;
    }
    REQUIRE(transform, project);
    REQUIRE(transform, adjoint);
    if (transform->forward || transform->inverse)
        return "a function of another kind is set";
    return NULL;
}

static const char *transform_fault(const void *functions)
{
    const dpf_transform *transform = functions;
    int kind = transform->kind;
    if (kind < DPF_TRANSFORM_RECORD || kind > DPF_TRANSFORM_STATE)
        return "kind is not one of DPF_TRANSFORM_*";
    if (transform->flags & ~(DPF_TRANSFORM_PER_USER | DPF_TRANSFORM_NEEDS_DENSE | DPF_TRANSFORM_BY_WEIGHT |
                             DPF_TRANSFORM_ISOMETRY))
        return "flags has an unknown bit";
    if ((transform->flags & DPF_TRANSFORM_BY_WEIGHT) && kind != DPF_TRANSFORM_RECORD)
        return "flag BY_WEIGHT is for records";
    if ((transform->flags & DPF_TRANSFORM_ISOMETRY) && kind != DPF_TRANSFORM_MESSAGE)
        return "flag ISOMETRY is for messages";
    if (kind == DPF_TRANSFORM_MESSAGE || kind == DPF_TRANSFORM_STATE)
        return message_or_state_fault(transform);
    if (transform->forward || transform->inverse || transform->project || transform->adjoint ||
        transform->measure || transform->factor)
        return "a function of another kind is set";
    if (kind == DPF_TRANSFORM_RECORD) {
        REQUIRE(transform, records);
        return transform->factors ? "a function of another kind is set" : NULL;
    }
    REQUIRE(transform, factors);
    return transform->records || transform->predictions ? "a function of another kind is set" : NULL;
}

static const char *mechanism_fault(const void *functions)
{
    const dpf_mechanism *mechanism = functions;
    if (mechanism->flags & ~(DPF_MECHANISM_CONTRIBUTORS | DPF_MECHANISM_PER_USER | DPF_MECHANISM_DENSE |
                             DPF_MECHANISM_ROUNDS | DPF_MECHANISM_SHARES | DPF_MECHANISM_DIVIDES))
        return "flags has an unknown bit";
    REQUIRE(mechanism, plan);
    REQUIRE(mechanism, events);
    REQUIRE(mechanism, encode);
    REQUIRE(mechanism, decode);
    return NULL;
}

static const char *aggregator_fault(const void *functions)
{
    const dpf_aggregator *aggregator = functions;
    if (aggregator->sees != DPF_SEES_MESSAGES && aggregator->sees != DPF_SEES_SUM)
        return "sees is neither DPF_SEES_MESSAGES nor DPF_SEES_SUM";
    if (aggregator->flags &
        ~(DPF_AGGREGATOR_BY_ROWS | DPF_AGGREGATOR_DENSE | DPF_AGGREGATOR_ADDS | DPF_AGGREGATOR_FILLS))
        return "flags has an unknown bit";
    REQUIRE(aggregator, absorb);
    REQUIRE(aggregator, scale);
    const int n_missing = !aggregator->exchange_bytes + !aggregator->exchange_open +
                          !aggregator->exchange_room + !aggregator->party_answer + !aggregator->server_send +
                          !aggregator->server_take + !aggregator->server_close;
    return n_missing == 0 || n_missing == 7 ? NULL : "a round by messages has all of its functions or none";
}

static const char *link_fault(const void *functions)
{
    const dpf_link *link = functions;
    if (link->flags != DPF_LINK_LOCAL && link->flags != DPF_LINK_PROTECTED)
        return "flags is neither DPF_LINK_LOCAL nor DPF_LINK_PROTECTED";
    REQUIRE(link, open);
    REQUIRE(link, send);
    REQUIRE(link, receive);
    REQUIRE(link, hang_up);
    REQUIRE(link, close);
    REQUIRE(link, admit);
    return NULL;
}

static const char *solver_fault(const void *functions)
{
    const dpf_solver *solver = functions;
    if (!(solver->flags & (DPF_SOLVER_GRADIENT | DPF_SOLVER_QUADRATIC)))
        return "flags names no form of query";
    if (solver->flags >= DPF_SOLVER_RIDGE << 1)
        return "flags has an unknown bit";
    REQUIRE(solver, solve);
    return NULL;
}

static const char *accountant_fault(const void *functions)
{
    const dpf_accountant *accountant = functions;
    if (accountant->kind != DPF_ACCOUNTANT_PROOF && accountant->kind != DPF_ACCOUNTANT_CLAIM)
        return "kind is neither DPF_ACCOUNTANT_PROOF nor DPF_ACCOUNTANT_CLAIM";
    REQUIRE(accountant, epsilon);
    return NULL;
}

static const char *recommender_fault(const void *functions)
{
    const dpf_recommender *recommender = functions;
    REQUIRE(recommender, flags);
    REQUIRE(recommender, releases);
    REQUIRE(recommender, state_bytes);
    REQUIRE(recommender, fit);
    if (!recommender->form && !recommender->check)
        return "function check is missing; only a component with function form can do without it";
    if (!recommender->form && !recommender->scores)
        return "function scores is missing; only a component with function form can do without it";
    return NULL;
}

static const char *comm_fault(const void *functions)
{
    const dpf_comm *comm = functions;
    REQUIRE(comm, open);
    REQUIRE(comm, sum);
    REQUIRE(comm, reduce);
    REQUIRE(comm, gather);
    REQUIRE(comm, exchange);
    REQUIRE(comm, broadcast);
    REQUIRE(comm, least);
    return NULL;
}

/* Every table ends with its reserved slots. */
#define TABLE(TYPE) offsetof(TYPE, reserved_slots), sizeof(((TYPE *)0)->reserved_slots)

const struct role role_table[N_ROLES] = {
    {DPF_ROLE_LOSS, "loss", 0, loss_fault, TABLE(dpf_loss)},
    {DPF_ROLE_SAMPLER, "sampler", 1, sampler_fault, TABLE(dpf_sampler)},
    {DPF_ROLE_TRANSFORM, "transform", 0, transform_fault, TABLE(dpf_transform)},
    {DPF_ROLE_MECHANISM, "mechanism", 1, mechanism_fault, TABLE(dpf_mechanism)},
    {DPF_ROLE_AGGREGATOR, "aggregator", 1, aggregator_fault, TABLE(dpf_aggregator)},
    {DPF_ROLE_SOLVER, "solver", 0, solver_fault, TABLE(dpf_solver)},
    {DPF_ROLE_ACCOUNTANT, "accountant", 0, accountant_fault, TABLE(dpf_accountant)},
    {DPF_ROLE_RECOMMENDER, "recommender", 1, recommender_fault, TABLE(dpf_recommender)},
    {DPF_ROLE_COMM, "comm", 0, comm_fault, TABLE(dpf_comm)},
    {DPF_ROLE_LINK, "link", 1, link_fault, TABLE(dpf_link)},
};

const char *role_fault(const struct role *role, const void *functions)
{
    const unsigned char *slots = (const unsigned char *)functions + role->reserved_at;
    for (size_t i = 0; i < role->reserved_bytes; i++)
        if (slots[i])
            return "a reserved slot is set; a plugin that needs it is for a newer dpframe, and any other "
                   "leaves "
                   "it NULL";
    return role->fault(functions);
}

int32_t sampler_lifetime(const dpf_sampler *sampler, void *self)
{
    return sampler->lifetime ? sampler->lifetime(self) : DPF_LIFETIME_ROUND;
}

int32_t mechanism_lifetime(const dpf_mechanism *mechanism, void *self)
{
    return mechanism->lifetime ? mechanism->lifetime(self) : DPF_LIFETIME_ROUND;
}

double mechanism_budget(const dpf_mechanism *mechanism, void *self)
{
    return mechanism->budget ? mechanism->budget(self) : (double)NAN;
}

const struct role *role_find(const char *id)
{
    for (int i = 0; i < N_ROLES; i++)
        if (strcmp(role_table[i].id, id) == 0)
            return &role_table[i];
    return NULL;
}

const char *role_name(const char *id)
{
    const struct role *role = role_find(id);
    return role ? role->name : id;
}
