/* SPDX-License-Identifier: Apache-2.0 */
#include "base/violations.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "base/text.h"

static int by_order(const void *a, const void *b)
{
    const struct violation *x = a, *y = b;
    for (int i = 0; i < 2; i++)
        if (x->order[i] != y->order[i])
            return x->order[i] < y->order[i] ? -1 : 1;
    return strcmp(x->text, y->text);
}

static void sort_and_cut(struct violations *violations)
{
    if (violations->kept > 1)
        qsort(violations->list, violations->kept, sizeof *violations->list, by_order);
    while (violations->kept > VIOLATIONS_KEPT)
        free(violations->list[--violations->kept].text);
    violations->is_cut = violations->kept == VIOLATIONS_KEPT;
}

static void append(struct violations *violations, const struct violation *violation)
{
    violations->list = memory_need_grow(violations->list, &violations->capacity, violations->kept + 1,
                                        sizeof *violations->list);
    violations->list[violations->kept++] = *violation;
    if (violations->kept == 2 * (size_t)VIOLATIONS_KEPT)
        sort_and_cut(violations);
}

int violations_want(const struct violations *violations, int64_t first, int64_t second)
{
    if (!violations->is_cut)
        return 1;
    const int64_t *last = violations->list[VIOLATIONS_KEPT - 1].order;
    return first < last[0] || (first == last[0] && second <= last[1]);
}

void violations_add(struct violations *violations, int64_t first, int64_t second, struct dpf_error *error)
{
    violations->n++;
    if (violations_want(violations, first, second))
        append(violations, &(struct violation){{first, second}, error->fault, memory_text(error->text)});
    error->fault = DPF_FAULT_NONE;
    error->text[0] = '\0';
}

void violations_merge(struct violations *into, struct violations *lists, int n)
{
    for (int i = 0; i < n; i++) {
        into->n += lists[i].n;
        for (size_t k = 0; k < lists[i].kept; k++)
            append(into, &lists[i].list[k]);
        free(lists[i].list);
        lists[i] = (struct violations){0};
    }
    sort_and_cut(into);
}

void violations_join(struct violations *into, struct violations *from)
{
    into->n += from->n;
    for (size_t i = 0; i < from->kept; i++)
        if (into->kept < VIOLATIONS_KEPT)
            append(into, &from->list[i]);
        else
            free(from->list[i].text);
    free(from->list);
    *from = (struct violations){0};
}

int violations_report(const struct violations *violations, struct dpf_error *error)
{
    if (violations->n == 0)
        return 0;
    return error_set(error, violations->list[0].fault, "%s", violations->list[0].text);
}

char *violations_text(const struct violations *violations)
{
    struct text text = {0};
    for (size_t i = 0; i < violations->kept; i++)
        text_add(&text, "%s\n", violations->list[i].text);
    if (violations->n > (int64_t)violations->kept)
        text_add(&text, "and %lld more\n", (long long)(violations->n - (int64_t)violations->kept));
    return text.data ? text.data : memory_text("");
}

void violations_free(struct violations *violations)
{
    for (size_t i = 0; i < violations->kept; i++)
        free(violations->list[i].text);
    free(violations->list);
    *violations = (struct violations){0};
}

/* ---- ranks ------------------------------------------------------------------------------------------------
 */

/* One entry on its way: its numbers, then its text with the NUL. */
static size_t packed_bytes(const struct violation *violation)
{
    return sizeof violation->order + sizeof(int32_t) + strlen(violation->text) + 1;
}

static char *pack(const struct violation *violation, char *at)
{
    const int32_t fault = (int32_t)violation->fault;
    memcpy(at, violation->order, sizeof violation->order);
    memcpy(at + sizeof violation->order, &fault, sizeof fault);
    strcpy(at + sizeof violation->order + sizeof fault, violation->text);
    return at + packed_bytes(violation);
}

static const char *unpack(const char *at, struct violations *into)
{
    struct violation violation;
    struct dpf_error error = {0};
    int32_t fault;
    memcpy(violation.order, at, sizeof violation.order);
    memcpy(&fault, at + sizeof violation.order, sizeof fault);
    violation.text = (char *)(uintptr_t)(at + sizeof violation.order + sizeof fault);
    error_set(&error, (enum dpf_fault)fault, "%s", violation.text);
    violations_add(into, violation.order[0], violation.order[1], &error);
    return at + packed_bytes(&violation);
}

int violations_gather(struct violations *violations, struct dpf_error *error)
{
    const int size = ranks_size(), rank = ranks_rank();
    if (size == 1)
        return 0;
    int64_t n = violations->n;
    int64_t *offsets = memory_need((size_t)size + 1, sizeof *offsets),
            *even = memory_need((size_t)size + 1, sizeof *even);
    char *bytes = NULL;
    for (size_t i = 0; i < violations->kept; i++)
        offsets[rank + 1] += (int64_t)packed_bytes(&violations->list[i]);
    for (int r = 0; r <= size; r++)
        even[r] = r;
    int status = ranks_gather(offsets + 1, sizeof *offsets, even, error);
    if (status == 0) {
        for (int r = 0; r < size; r++)
            offsets[r + 1] += offsets[r];
        bytes = memory_need((size_t)offsets[size] + 1, 1);
        char *at = bytes + offsets[rank];
        for (size_t i = 0; i < violations->kept; i++)
            at = pack(&violations->list[i], at);
    }
    if (status == 0 && ranks_gather(bytes, 1, offsets, error) == 0 && ranks_sum(&n, 1, error) == 0) {
        violations_free(violations);
        for (const char *from = bytes; from < bytes + offsets[size];)
            from = unpack(from, violations);
        sort_and_cut(violations);
        violations->n = n;
    } else {
        status = -1;
    }
    free(offsets);
    free(even);
    free(bytes);
    return status;
}
