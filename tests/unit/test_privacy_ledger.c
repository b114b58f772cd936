/* SPDX-License-Identifier: Apache-2.0 */
#include "privacy/ledger.h"

#include "dpframe/host.h"
#include "kit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static dpf_event laplace_event(void)
{
    dpf_event event;
    memset(&event, 0, sizeof event);
    event.kind = DPF_EVENT_LAPLACE;
    event.flags = DPF_EVENT_NOISE_KNOWN | DPF_EVENT_DATA_BLIND;
    event.lifetime = DPF_LIFETIME_ROUND;
    event.count = 100;
    event.side = DPF_SIDE_ITEMS;
    event.blocks = 4;
    event.scale = 3.5;
    event.grid = 0.25;
    for (int unit = 0; unit < DPF_N_UNITS; unit++)
        for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++)
            event.sensitivity.at[unit][adjacency] = (dpf_norms){NAN, NAN, NAN};
    event.sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_FLIP] = (dpf_norms){1.5, NAN, INFINITY};
    event.sampling.kind = DPF_SAMPLING_POISSON;
    event.sampling.unit = DPF_UNIT_USER;
    event.sampling.hidden_from = DPF_OBSERVER_OUTSIDER;
    event.sampling.rate = 0.1;
    event.sampling.weight_max = 1.0;
    return event;
}

TEST(keeps_events_in_order)
{
    struct ledger ledger = {0};
    dpf_event event = laplace_event();
    for (int i = 0; i < 1000; i++) {
        event.round = i;
        ledger_add(&ledger, &event, "items, laplace");
    }
    assert_int_equal(ledger.n, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(ledger.entries[i].event.round, i);
    ledger_free(&ledger);
    assert_int_equal(ledger.n, 0);
    assert_null(ledger.entries);
}

TEST(cuts_long_sources)
{
    struct ledger ledger = {0};
    const dpf_event event = laplace_event();
    char source[300];
    memset(source, 'x', sizeof source - 1);
    source[sizeof source - 1] = '\0';
    ledger_add(&ledger, &event, source);
    assert_int_equal(strlen(ledger.entries[0].source), sizeof ledger.entries[0].source - 1);
    ledger_free(&ledger);
}

TEST(keeps_the_first_deviation)
{
    struct ledger ledger = {0};
    ledger_deviate(&ledger, "round %d: %d of %d parties answered", 3, 7, 10);
    ledger_deviate(&ledger, "another");
    assert_string_equal(ledger.deviation, "round 3: 7 of 10 parties answered");
    ledger_free(&ledger);
    assert_string_equal(ledger.deviation, "");
}

static const char *text_at(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    assert_non_null(text);
    return text;
}

/* What is not stated is left out or null, what is unbounded says so, names are those of the configuration. */
TEST(writes_named_fields)
{
    struct ledger ledger = {0};
    const dpf_event event = laplace_event();
    ledger_add(&ledger, &event, "items, laplace");
    json_t *list = ledger_json(&ledger);
    assert_int_equal(json_array_size(list), 1);
    json_t *entry = json_array_get(list, 0);
    assert_string_equal(text_at(entry, "kind"), "laplace");
    assert_string_equal(text_at(entry, "side"), "items");
    assert_string_equal(text_at(entry, "source"), "items, laplace");
    assert_int_equal(json_integer_value(json_object_get(entry, "count")), 100);
    assert_true(json_real_value(json_object_get(entry, "scale")) == 3.5);
    json_t *record = json_object_get(json_object_get(entry, "sensitivity"), "record");
    assert_int_equal(json_object_size(record), 1);
    json_t *norms = json_object_get(record, "flip");
    assert_true(json_real_value(json_object_get(norms, "l1")) == 1.5);
    assert_true(json_is_null(json_object_get(norms, "l2")));
    assert_string_equal(text_at(norms, "linf"), "infinity");
    json_t *sampling = json_object_get(entry, "sampling");
    assert_string_equal(text_at(sampling, "kind"), "poisson");
    assert_string_equal(text_at(sampling, "unit"), "user");
    assert_string_equal(text_at(sampling, "secret_up_to"), "outsider");
    json_t *flags = json_object_get(entry, "flags");
    assert_int_equal(json_array_size(flags), 2);
    assert_string_equal(json_string_value(json_array_get(flags, 0)), "noise-known-to-server");
    char *dump = json_dumps(list, 0);
    assert_non_null(dump);
    free(dump);
    json_decref(list);
    ledger_free(&ledger);
}
