/* SPDX-License-Identifier: Apache-2.0 */
#include "base/violations.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

int violations_want(const struct violations *violations)
{
    return violations->kept < VIOLATIONS_KEPT;
}

static void keep(struct violations *violations, const struct violation *violation)
{
    struct violation *list = violations_want(violations)
                                 ? memory_grow(violations->list, &violations->capacity, violations->kept + 1,
                                               sizeof *violations->list)
                                 : NULL;
    if (!list) {
        free(violation->text);
        return;
    }
    violations->list = list;
    list[violations->kept++] = *violation;
}

void violations_add(struct violations *violations, int64_t first, int64_t second, struct dpf_error *error)
{
    violations->n++;
    if (violations_want(violations)) {
        const struct violation violation = {{first, second}, error->fault, memory_text(error->text)};
        if (violation.text)
            keep(violations, &violation);
    }
    error->fault = DPF_FAULT_NONE;
    error->text[0] = '\0';
}

void violations_join(struct violations *into, struct violations *from)
{
    into->n += from->n;
    for (size_t i = 0; i < from->kept; i++)
        keep(into, &from->list[i]);
    free(from->list);
    *from = (struct violations){0};
}

static int by_order(const void *a, const void *b)
{
    const struct violation *x = a, *y = b;
    for (int i = 0; i < 2; i++)
        if (x->order[i] != y->order[i])
            return x->order[i] < y->order[i] ? -1 : 1;
    return strcmp(x->text, y->text);
}

void violations_sort(struct violations *violations)
{
    if (violations->kept > 1)
        qsort(violations->list, violations->kept, sizeof *violations->list, by_order);
}

int violations_report(const struct violations *violations, struct dpf_error *error)
{
    if (violations->n == 0)
        return 0;
    if (violations->kept == 0)
        return error_set(error, DPF_FAULT_DATA, "%lld faults in the data, and no memory for their texts",
                         (long long)violations->n);
    return error_set(error, violations->list[0].fault, "%s", violations->list[0].text);
}

char *violations_text(const struct violations *violations)
{
    struct text text = {0};
    for (size_t i = 0; i < violations->kept; i++)
        text_add(&text, "%s\n", violations->list[i].text);
    if (violations->n > (int64_t)violations->kept)
        text_add(&text, "and %lld more\n", (long long)(violations->n - (int64_t)violations->kept));
    if (!text.failed)
        return text.data ? text.data : memory_text("");
    text_free(&text);
    return NULL;
}

void violations_free(struct violations *violations)
{
    for (size_t i = 0; i < violations->kept; i++)
        free(violations->list[i].text);
    free(violations->list);
    *violations = (struct violations){0};
}
