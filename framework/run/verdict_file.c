/* SPDX-License-Identifier: Apache-2.0 */
#include "run/verdict_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/json_out.h"
#include "run/run_json.h"

static const char *const names[] = {[VERDICT_NONE] = "none",
                                    [VERDICT_BETTER] = "better",
                                    [VERDICT_OPEN] = "cannot tell",
                                    [VERDICT_WORSE] = "worse"};

int verdict_file_write(const char *directory, enum verdict verdict, const char *words,
                       const struct comparison *models, int n_models, struct dpf_error *error)
{
    json_t *json = json_pack("{s:s, s:s, s:s, s:o}", "note", "private: do not publish", "verdict",
                             names[verdict], "text", words, "models", run_json_comparisons(models, n_models));
    char *path = files_join(directory, VERDICT_FILE);
    const int status = json_write(path, json, error);
    free(path);
    return status;
}

void verdict_file_read(const char *directory, struct verdict_file *out)
{
    char *path = files_join(directory, VERDICT_FILE);
    *out = (struct verdict_file){.json = json_load_file(path, 0, NULL)};
    const char *name = json_string_value(json_object_get(out->json, "verdict"));
    for (size_t i = 0; name && i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            out->verdict = (enum verdict)i;
    out->words = json_string_value(json_object_get(out->json, "text"));
    out->models = json_object_get(out->json, "models");
    free(path);
}

void verdict_file_close(struct verdict_file *file)
{
    json_decref(file->json);
    *file = (struct verdict_file){0};
}
