/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/design_list.h"

#include <stdlib.h>

#include "base/memory.h"

int design_list_add(struct design_list *list, char *text, struct dpf_error *error)
{
    char **grown = text ? memory_grow(list->texts, &list->capacity, list->n + 1, sizeof *grown) : NULL;
    if (!grown) {
        free(text);
        return error_memory(error);
    }
    list->texts = grown;
    list->texts[list->n++] = text;
    return 0;
}

void design_list_free(struct design_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->texts[i]);
    free(list->texts);
    *list = (struct design_list){0};
}
