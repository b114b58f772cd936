/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/event_check.h"

#include <math.h>
#include <stdio.h>

#include "dpframe/accounting.h"
#include "dpframe/joint.h"

/* What is compared: one term's release, and the events of it. */
struct checked {
    const struct term_plan *term;
    const struct term_sensitivity *sensitivity;
    const dpf_event *events;
    int32_t n;
};

static int refuse(const struct checked *c, int32_t event, struct dpf_error *error, const char *why)
{
    const char *id = c->term->mechanism->entry->component->id;
    char which[128] = "it";
    if (event >= 0)
        dpf_event_describe(&c->events[event], event, which, sizeof which);
    return error_set(
        error, DPF_FAULT_PLUGIN,
        "[%s.mechanism] mechanism %s: %s %s; nothing is proved with such a component: use another, or "
        "mend its function events",
        c->term->name, id, which, why);
}

static int exists(const struct checked *c, int32_t bit)
{
    const int gram = bit >= DPF_GRAM_BIT;
    return bit % DPF_GRAM_BIT < c->term->sent.n_blocks && (!gram || c->term->sent.has_gram);
}

static const dpf_sensitivity *sensitivity_of(const struct checked *c, int32_t bit)
{
    const int32_t gram = bit / DPF_GRAM_BIT, block = bit % DPF_GRAM_BIT;
    return gram ? &c->sensitivity->gram[block] : &c->sensitivity->blocks[block];
}

/* What is not stated may move. */
static int moves(const dpf_norms *norms)
{
    return !(norms->l1 == 0 || norms->l2 == 0 || norms->linf == 0);
}

static int some_unit_moves(const struct checked *c, int32_t bit)
{
    int any = 0;
    for (int u = 0; u < DPF_N_UNITS; u++)
        for (int a = 0; a < DPF_N_ADJACENCIES; a++)
            any |= moves(&sensitivity_of(c, bit)->at[u][a]);
    return any;
}

/* The event of a block: 0 bits stand for all of the message. */
static int covers(const dpf_event *event, int32_t bit)
{
    return event->blocks == 0 || (event->blocks >> bit & 1) != 0;
}

static int check_masks(const struct checked *c, struct dpf_error *error)
{
    char why[160];
    for (int32_t bit = 0; bit < DPF_BLOCK_BITS; bit++) {
        int32_t found = -1;
        char block[32] = "";
        dpf_text_add_blocks(block, sizeof block, UINT32_C(1) << bit);
        for (int32_t e = 0; e < c->n; e++) {
            if (!exists(c, bit) && c->events[e].blocks != 0 && covers(&c->events[e], bit)) {
                snprintf(why, sizeof why, "is about %s, which the release has not", block);
                return refuse(c, e, error, why);
            }
            if (!exists(c, bit) || !covers(&c->events[e], bit))
                continue;
            if (found >= 0) {
                snprintf(why, sizeof why, "is about %s, and so is event %d", block, (int)found);
                return refuse(c, e, error, why);
            }
            found = e;
        }
        if (exists(c, bit) && found < 0 && some_unit_moves(c, bit)) {
            snprintf(why, sizeof why, "states no event of %s, which the data moves", block);
            return refuse(c, -1, error, why);
        }
    }
    return 0;
}

/* An event that no accountant charges says of its blocks that nothing private is in them. */
static int is_denied(const struct checked *c, const dpf_event *event, int32_t bit)
{
    if (event->kind == DPF_EVENT_NO_OP || (event->flags & DPF_EVENT_DATA_BLIND))
        return some_unit_moves(c, bit);
    for (int u = 0; u < DPF_N_UNITS; u++)
        for (int a = 0; a < DPF_N_ADJACENCIES; a++)
            if (moves(&sensitivity_of(c, bit)->at[u][a]) && dpf_event_sensitivity(event, u, a) == 0)
                return 1;
    return 0;
}

static int has_noise(const struct checked *c, int32_t bit)
{
    const dpf_noise_plan *noise = &c->term->noise;
    const int32_t gram = bit / DPF_GRAM_BIT, block = bit % DPF_GRAM_BIT;
    return (gram ? noise->gram_scale[block] : noise->scale[block]) > 0;
}

int event_check(const struct term_plan *term, const struct term_sensitivity *sensitivity,
                const dpf_event *events, int32_t n, struct dpf_error *error)
{
    const struct checked c = {term, sensitivity, events, n};
    if (check_masks(&c, error) != 0)
        return -1;
    for (int32_t e = 0; e < n; e++)
        for (int32_t bit = 0; bit < DPF_BLOCK_BITS; bit++) {
            if (!exists(&c, bit) || !covers(&events[e], bit) || !some_unit_moves(&c, bit))
                continue;
            char why[160], block[32] = "";
            dpf_text_add_blocks(block, sizeof block, UINT32_C(1) << bit);
            if (is_denied(&c, &events[e], bit)) {
                snprintf(why, sizeof why,
                         "costs nothing, but the data moves %s, as the loss and the transforms state", block);
                return refuse(&c, e, error, why);
            }
            if (events[e].kind > DPF_EVENT_UNSUPPORTED && !has_noise(&c, bit)) {
                snprintf(why, sizeof why, "states noise, but its plan adds none to %s", block);
                return refuse(&c, e, error, why);
            }
        }
    return 0;
}
