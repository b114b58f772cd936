/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/extremes.h"

#include <stdlib.h>

#include "base/memory.h"

const char *extremes_name(enum extreme which)
{
    static const char *const names[N_EXTREMES] = {
        [EXTREME_ALL_HIGH] = "all items with the highest value",
        [EXTREME_ALL_LOW] = "all items with the lowest value",
        [EXTREME_ALL_MIXED] = "all items with the highest and lowest value in turn",
        [EXTREME_HALF] = "every other item",
        [EXTREME_RAREST] = "the rarest item alone",
        [EXTREME_COMMONEST] = "the commonest item alone",
    };
    return names[which];
}

void extremes_free(struct extreme_records *extreme)
{
    free(extreme->items);
    free(extreme->values);
    *extreme = (struct extreme_records){.items = NULL};
}

/* The item with the fewest or the most records. */
static int32_t single_item(const struct dataset *base, int most)
{
    const int64_t *ptr = base->train.by_item.ptr;
    int64_t best = 0;
    for (int64_t i = 1; i < base->items.n; i++) {
        const int64_t n = ptr[i + 1] - ptr[i], found = ptr[best + 1] - ptr[best];
        if (most ? n > found : n < found)
            best = i;
    }
    return (int32_t)best;
}

static int takes(enum extreme which, int64_t item, int32_t single)
{
    return which == EXTREME_HALF                                   ? item % 2 == 0
           : which == EXTREME_RAREST || which == EXTREME_COMMONEST ? item == single
                                                                   : 1;
}

int extremes_make(const struct dataset *base, const struct neighbours *kind, enum extreme which,
                  struct extreme_records *out)
{
    const int one_value = base->implicit || !(kind->value_lo < kind->value_hi);
    *out = (struct extreme_records){.items = NULL};
    if (one_value && (which == EXTREME_ALL_LOW || which == EXTREME_ALL_MIXED))
        return 1;
    out->items = memory_raw((size_t)base->items.n + 1, sizeof *out->items);
    out->values = memory_raw((size_t)base->items.n + 1, sizeof *out->values);
    if (!out->items || !out->values) {
        extremes_free(out);
        return -1;
    }
    const int32_t single = single_item(base, which == EXTREME_COMMONEST);
    int64_t n = 0;
    for (int64_t i = 0; i < base->items.n; i++) {
        if (!takes(which, i, single))
            continue;
        const int low = which == EXTREME_ALL_LOW || (which == EXTREME_ALL_MIXED && n % 2);
        out->items[n] = (int32_t)i;
        out->values[n++] = (float)(low ? kind->value_lo : kind->value_hi);
    }
    out->records = (struct canary_records){n, out->items, out->values};
    return 0;
}
