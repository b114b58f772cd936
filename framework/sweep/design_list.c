/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/design_list.h"

#include <stdlib.h>

#include "base/memory.h"

void design_list_add(struct design_list *list, char *text)
{
    list->texts = memory_need_grow(list->texts, &list->capacity, list->n + 1, sizeof *list->texts);
    list->texts[list->n++] = text;
}

void design_list_free(struct design_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->texts[i]);
    free(list->texts);
    *list = (struct design_list){0};
}
