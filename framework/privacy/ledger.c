/* SPDX-License-Identifier: Apache-2.0 */
#include "privacy/ledger.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dpframe/accounting.h"

int ledger_block(uint32_t blocks)
{
    int bit = 0;
    if (blocks == 0 || (blocks & (blocks - 1)) != 0)
        return -1;
    while (!(blocks >> bit & 1))
        bit++;
    return bit % DPF_GRAM_BIT;
}

struct ledger_entry *ledger_add(struct ledger *ledger, const dpf_event *event, const char *source)
{
    size_t capacity = (size_t)ledger->capacity;
    ledger->entries =
        memory_need_grow(ledger->entries, &capacity, (size_t)ledger->n + 1, sizeof *ledger->entries);
    ledger->capacity = (int64_t)capacity;
    struct ledger_entry *entry = &ledger->entries[ledger->n++];
    memset(entry, 0, sizeof *entry);
    entry->event = *event;
    snprintf(entry->source, sizeof entry->source, "%s", source);
    return entry;
}

void ledger_deviate(struct ledger *ledger, const char *format, ...)
{
    if (ledger->deviation[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(ledger->deviation, sizeof ledger->deviation, format, args);
    va_end(args);
}

void ledger_free(struct ledger *ledger)
{
    free(ledger->entries);
    memset(ledger, 0, sizeof *ledger);
}

/* ---- several runs -------------------------------------------------------------------------------------- */

/* What accountants read of an event, but for how often it is made. Each run draws noise of its own: one that
   is kept for a run, and made once in it, is fresh in the next. */
static dpf_event comparable(const dpf_event *event)
{
    dpf_event out = *event;
    out.side = out.term = out.round = 0;
    out.blocks = 1;
    out.count = 0;
    if (event->count == 1)
        out.lifetime = DPF_LIFETIME_ROUND;
    out.messages = out.numbers = 0;
    memset(out.notes, 0, sizeof out.notes);
    return out;
}

int64_t ledger_join_events(dpf_event *events, int64_t n)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (events[i].kind >= DPF_EVENT_SELECTION)
            return n;
    for (int64_t i = 0; i < n; i++) {
        const dpf_event one = comparable(&events[i]);
        int64_t k = 0;
        for (; k < kept; k++) {
            const dpf_event other = comparable(&events[k]);
            if (one.lifetime == DPF_LIFETIME_ROUND && memcmp(&one, &other, sizeof one) == 0)
                break;
        }
        const int64_t count = events[i].count;
        if (k < kept) {
            events[k].count += count;
            continue;
        }
        events[kept] = events[i];
        events[kept++].lifetime = one.lifetime;
    }
    return kept;
}

void ledger_times(const struct ledger *ledger, int64_t runs, struct ledger *out)
{
    *out = (struct ledger){0};
    for (int64_t i = 0; i < ledger->n; i++) {
        const struct ledger_entry *entry = &ledger->entries[i];
        const int fresh = comparable(&entry->event).lifetime == DPF_LIFETIME_ROUND;
        dpf_event event = entry->event;
        if (fresh) {
            event.lifetime = DPF_LIFETIME_ROUND;
            event.count *= runs;
        }
        for (int64_t k = 0; k < (fresh ? 1 : runs); k++) {
            struct ledger_entry *one = ledger_add(out, &event, entry->source);
            one->per_round = entry->per_round;
            one->participations = entry->participations * (fresh ? runs : 1);
        }
    }
}

/* JSON has no infinity and no NaN: "infinity", and null for what is not stated. */
static json_t *number(double value)
{
    if (isnan(value))
        return json_null();
    return isinf(value) ? json_string(value > 0 ? "infinity" : "-infinity") : json_real(value);
}

static json_t *norms_json(const dpf_norms *norms)
{
    return json_pack("{s:o, s:o, s:o}", "l1", number(norms->l1), "l2", number(norms->l2), "linf",
                     number(norms->linf));
}

static int is_stated(const dpf_norms *norms)
{
    return !(isnan(norms->l1) && isnan(norms->l2) && isnan(norms->linf));
}

/* {"record": {"replace-value": {"l1", "l2", "linf"}, ...}, "user": {...}}; what is not stated is left out. */
static json_t *sensitivity_json(const dpf_sensitivity *sensitivity)
{
    json_t *units = json_object();
    for (int unit = 0; unit < DPF_N_UNITS; unit++) {
        json_t *adjacencies = json_object();
        for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++) {
            const dpf_norms *norms = &sensitivity->at[unit][adjacency];
            if (is_stated(norms))
                json_object_set_new(adjacencies, dpf_adjacency_name(adjacency), norms_json(norms));
        }
        json_object_set_new(units, dpf_unit_name(unit), adjacencies);
    }
    return units;
}

static json_t *sampling_json(const dpf_sampling *sampling)
{
    static const char *const kinds[] = {"none",     "poisson", "fixed-size", "with-replacement",
                                        "weighted", "cyclic"};
    static const char *const hidden[] = {"nobody", "outsider", "server", "parties"};
    const int known = sampling->kind >= 0 && sampling->kind <= DPF_SAMPLING_CYCLIC;
    const int from = sampling->hidden_from + 1;
    return json_pack("{s:s, s:s, s:o, s:s, s:o}", "kind", known ? kinds[sampling->kind] : "unknown", "unit",
                     dpf_unit_name(sampling->unit), "rate", number(sampling->rate), "secret_up_to",
                     from >= 0 && from <= 3 ? hidden[from] : "unknown", "weight_max",
                     number(sampling->weight_max));
}

/* What the ledger says of privacy weights, beside what every sampling says. */
static void add_weights(json_t *object, const dpf_event *event)
{
    const dpf_sampling *sampling = &event->sampling;
    if (event->weighted)
        json_object_set_new(object, "unweighted", norms_json(&event->unweighted));
    if (sampling->weight_from > 0 || sampling->weight_below > 0)
        json_object_set_new(object, "privacy_weights",
                            json_pack("{s:o, s:o}", "from", number(sampling->weight_from), "below",
                                      number(sampling->weight_below)));
    if (sampling->budget > 0)
        json_object_set_new(object, "personal_budgets",
                            json_pack("{s:o, s:o}", "of_weight_1", number(sampling->budget), "threshold",
                                      number(sampling->threshold)));
}

static json_t *flags_json(uint32_t flags)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } names[] = {
        {DPF_EVENT_NOISE_KNOWN, "noise-known-to-server"},
        {DPF_EVENT_NOISE_SHARED, "noise-in-shares"},
        {DPF_EVENT_FLOATING_POINT, "floating-point"},
        {DPF_EVENT_BOUNDS_FROM_DATA, "bounds-from-data"},
        {DPF_EVENT_DATA_BLIND, "data-blind"},
    };
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (flags & names[i].flag)
            json_array_append_new(list, json_string(names[i].name));
    return list;
}

static const char *lifetime_name(int32_t lifetime)
{
    return lifetime == DPF_LIFETIME_RUN ? "run" : lifetime == DPF_LIFETIME_SOLVE ? "solve" : "round";
}

/* ["0", "1", "gram 0"] */
static json_t *blocks_json(uint32_t blocks)
{
    json_t *list = json_array();
    for (int bit = 0; bit < DPF_BLOCK_BITS; bit++) {
        char name[16];
        snprintf(name, sizeof name, "%s%d", bit < DPF_GRAM_BIT ? "" : "gram ", bit % DPF_GRAM_BIT);
        if (blocks >> bit & 1)
            json_array_append_new(list, json_string(name));
    }
    return list;
}

static json_t *entry_json(const struct ledger_entry *entry)
{
    const dpf_event *event = &entry->event;
    json_t *parameters = json_array();
    for (size_t i = 0; i < sizeof event->p.all / sizeof event->p.all[0]; i++)
        json_array_append_new(parameters, number(event->p.all[i]));
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:I, s:i, s:o, s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "source", entry->source,
        "kind", dpf_event_kind_name(event->kind), "side", event->side == DPF_SIDE_USERS ? "users" : "items",
        "count", (json_int_t)event->count, "term", (int)event->term, "blocks", blocks_json(event->blocks),
        "first_round", (int)event->round, "noise_lifetime", lifetime_name(event->lifetime), "scale",
        number(event->scale), "grid", number(event->grid), "parameters", parameters, "sensitivity",
        sensitivity_json(&event->sensitivity), "sampling", sampling_json(&event->sampling), "flags",
        flags_json(event->flags));
    if (object)
        add_weights(object, event);
    if (object && event->sampling.separation > 1)
        json_object_set_new(object, "separation", json_integer((json_int_t)event->sampling.separation));
    return object;
}

json_t *ledger_json(const struct ledger *ledger)
{
    json_t *list = json_array();
    for (int64_t i = 0; list && i < ledger->n; i++)
        json_array_append_new(list, entry_json(&ledger->entries[i]));
    return list;
}
