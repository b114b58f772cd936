/* SPDX-License-Identifier: Apache-2.0 */
/* Events that deny what a release does are refused, and the refusal names component and event. */
#include <string.h>

#include "kit/test.h"
#include "plan/event_check.h"
#include "plugin/registry.h"

#define GRAM(b) (UINT32_C(1) << (DPF_GRAM_BIT + (b)))
enum { FIRST = 1, SECOND = 2, THIRD = 4 }; /* blocks; the third never moves */

static const dpf_component component = {.id = "odd"};
static const struct registry_entry entry = {.component = &component};
static struct instance mechanism = {.entry = &entry};
static struct term_plan term;
static struct term_sensitivity sensitivity;
static dpf_event events[4];
static int32_t n;

static dpf_sensitivity moves_by(double norm)
{
    dpf_sensitivity out = dpf_unstated();
    for (int u = 0; u < DPF_N_UNITS; u++)
        for (int a = 0; a < DPF_N_ADJACENCIES; a++)
            out.at[u][a] = (dpf_norms){norm, norm, norm};
    return out;
}

static void add(int32_t kind, uint32_t blocks, double norm)
{
    events[n] = (dpf_event){.kind = kind, .side = DPF_SIDE_ITEMS, .count = 1, .blocks = blocks, .scale = 1};
    events[n++].sensitivity = moves_by(norm);
}

static int begin(void **state)
{
    (void)state;
    term = (struct term_plan){.name = "items", .side = DPF_SIDE_ITEMS, .mechanism = &mechanism};
    term.sent = (dpf_query){.n_blocks = 3, .has_gram = 1};
    for (int b = 0; b < 3; b++) {
        sensitivity.blocks[b] = moves_by(b < 2 ? 1 : 0);
        sensitivity.gram[b] = moves_by(b == 0 ? 1 : 0);
        term.noise.scale[b] = b < 2 ? 1 : 0;
        term.noise.gram_scale[b] = b == 0 ? 1 : 0;
    }
    n = 0;
    return 0;
}

static void accepted(void)
{
    struct dpf_error error = {0};
    if (event_check(&term, &sensitivity, events, n, &error) != 0)
        fail_msg("%s", error.text);
}

/* part: of the error's text. */
static void refused(const char *part)
{
    struct dpf_error error = {0};
    assert_int_equal(event_check(&term, &sensitivity, events, n, &error), -1);
    assert_int_equal(error.fault, DPF_FAULT_PLUGIN);
    if (!strstr(error.text, part) || !strstr(error.text, "[items.mechanism] mechanism odd"))
        fail_msg("\"%s\" is missing in: %s", part, error.text);
}

TEST_WITH(sound_events_are_accepted, begin, NULL)
{
    add(DPF_EVENT_GAUSSIAN, FIRST | SECOND | GRAM(0), 1);
    accepted(); /* what no unit moves needs no event, */
    add(DPF_EVENT_NO_OP, THIRD | GRAM(1) | GRAM(2), 0);
    events[1].flags = DPF_EVENT_DATA_BLIND;
    accepted();
    begin(test_state);
    add(DPF_EVENT_LAPLACE, 0, 1); /* no bits: the whole message, whatever moves */
    accepted();
    begin(test_state);
    add(DPF_EVENT_GAUSSIAN, FIRST | GRAM(0), 1);
    add(DPF_EVENT_NON_PRIVATE, SECOND, NAN); /* released as it is, and said so */
    accepted();
}

TEST_WITH(blocks_that_move_are_not_free, begin, NULL)
{
    static const struct {
        int32_t kind;
        uint32_t flags;
        double norm;
    } denials[] = {{DPF_EVENT_NO_OP, 0, 1},
                   {DPF_EVENT_NON_PRIVATE, DPF_EVENT_DATA_BLIND, 1},
                   {DPF_EVENT_GAUSSIAN, DPF_EVENT_DATA_BLIND, 1},
                   {DPF_EVENT_NON_PRIVATE, 0, 0},
                   {DPF_EVENT_GAUSSIAN, 0, 0}};
    static const uint32_t blocks[] = {FIRST, SECOND, GRAM(0), FIRST | THIRD};
    for (size_t d = 0; d < sizeof denials / sizeof *denials; d++)
        for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
            begin(test_state);
            add(DPF_EVENT_GAUSSIAN, (FIRST | SECOND | GRAM(0)) & ~blocks[b], 1);
            add(denials[d].kind, blocks[b], denials[d].norm);
            events[1].flags = denials[d].flags;
            refused("event 1 (items, term 0, block");
        }
    begin(test_state); /* one unit under one adjacency is enough, stated or not */
    sensitivity.blocks[2].at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l1 = NAN;
    sensitivity.blocks[2].at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l2 = NAN;
    sensitivity.blocks[2].at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].linf = NAN;
    add(DPF_EVENT_GAUSSIAN, FIRST | SECOND | GRAM(0), 1);
    add(DPF_EVENT_NO_OP, THIRD, 0);
    refused("no-op) costs nothing, but the data moves block 2");
}

TEST_WITH(every_block_has_one_event, begin, NULL)
{
    add(DPF_EVENT_GAUSSIAN, FIRST | GRAM(0), 1);
    refused("states no event of block 1");
    begin(test_state);
    add(DPF_EVENT_GAUSSIAN, FIRST | SECOND, 1);
    refused("states no event of block gram 0");
    begin(test_state);
    add(DPF_EVENT_GAUSSIAN, FIRST | SECOND | GRAM(0), 1);
    add(DPF_EVENT_GAUSSIAN, SECOND, 1);
    refused("block 1, gaussian) is about block 1, and so is event 0");
    begin(test_state);
    add(DPF_EVENT_GAUSSIAN, FIRST | SECOND | GRAM(0) | UINT32_C(1) << 5, 1);
    refused("is about block 5, which the release has not");
    term.sent.has_gram = 0;
    n = 0;
    add(DPF_EVENT_GAUSSIAN, FIRST | SECOND | GRAM(0), 1);
    refused("is about block gram 0, which the release has not");
}

TEST_WITH(noise_that_is_stated_is_planned, begin, NULL)
{
    add(DPF_EVENT_GAUSSIAN, FIRST | SECOND | GRAM(0), 1);
    term.noise.scale[1] = 0;
    refused("states noise, but its plan adds none to block 1");
}
