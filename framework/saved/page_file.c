/* SPDX-License-Identifier: Apache-2.0 */
#include "saved/page_file.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/json_in.h"
#include "base/log.h"
#include "base/memory.h"
#include "plot/html_page.h"
#include "run/report_statement.h"
#include "run/run_json.h"
#include "run/saved_run.h"
#include "saved/page/page_assets.h"
#include "saved/page_model.h"

#define MOST_BYTES (20 << 20) /* of a page that a telephone opens */

#define ASSET(name) ((const char *)page_assets_##name)

/* ---- the head ----------------------------------------------------------------------------------------------- */

/* What a policy names an inline script or style by. */
static void add_hash(struct text *page, const char *content)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    char shown[sodium_base64_ENCODED_LEN(sizeof hash, sodium_base64_VARIANT_ORIGINAL)];
    crypto_hash_sha256(hash, (const unsigned char *)content, strlen(content));
    text_add(page, " 'sha256-%s'",
             sodium_bin2base64(shown, sizeof shown, hash, sizeof hash, sodium_base64_VARIANT_ORIGINAL));
}

/* Nothing may be fetched, sent or framed; what runs is what was written here. */
static void add_head(struct text *page, const char *title)
{
    struct text style = {0};
    html_page_style(&style);
    text_add(&style, "%s", ASSET(page_css));
    text_add(page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src");
    add_hash(page, ASSET(score_js));
    add_hash(page, ASSET(app_js));
    text_add(page, "; style-src");
    add_hash(page, style.data ? style.data : "");
    text_add(page, "; base-uri 'none'; form-action 'none'\"/>\n"
                   "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n"
                   "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                   "<meta name=\"referrer\" content=\"no-referrer\"/>\n");
    html_element(page, "title", title);
    text_add(page, "\n<style>%s</style></head>\n<body>\n<header>", style.data ? style.data : "");
    html_element(page, "h1", title);
    html_element(page, "p",
                 "This page holds a trained model and computes your list on your own device. It cannot send "
                 "anything: what you rate stays here, and is gone when you close it.");
    text_add(page, "</header>\n<main>\n");
    text_free(&style);
}

/* ---- what is promised ---------------------------------------------------------------------------------------- */

/* A file of the run as text, or NULL. */
static char *read_text(const char *directory, const char *name)
{
    char *path = files_join(directory, name);
    struct files_lines lines;
    struct dpf_error ignored = {0};
    struct text text = {0};
    if (files_open_lines(&lines, path, &ignored) == 0) {
        for (const char *line; (line = files_next_line(&lines));)
            text_add(&text, "%s\n", line);
        files_close_lines(&lines);
    }
    free(path);
    return text.data;
}

/* In one sentence; all of it unfolds. */
static void add_statement(struct text *page, const json_t *run, const char *directory)
{
    struct text promise = {0};
    char *statement = read_text(directory, "release/guarantee.txt");
    report_statement_promise(run, &promise);
    text_add(page,
             "<details class=\"box promise\"><summary>What the model tells about the people in its data. ");
    html_text(page, promise.data ? promise.data : "");
    text_add(page, "</summary>\n");
    report_statement_add(page, json_object_get(run, "guarantee"), statement, run_json_has_noise(run));
    text_add(page, "</details>\n");
    text_free(&promise);
    free(statement);
}

/* ---- the page ------------------------------------------------------------------------------------------------- */

static void add_script(struct text *page, const char *attributes, const char *content)
{
    text_add(page, "<script%s>", attributes);
    text_append(page, content, strlen(content));
    text_add(page, "</script>\n");
}

static int make_page(struct text *page, const struct saved_run *run, const char *directory, const char *model,
                     struct dpf_error *error)
{
    add_head(page, "Recommendations on your own device");
    add_statement(page, run->json, directory);
    text_add(page, "%s</main>\n", ASSET(body_html));
    add_script(page, " id=\"model\" type=\"application/json\"", model);
    add_script(page, "", ASSET(score_js));
    add_script(page, "", ASSET(app_js));
    text_add(page, "</body></html>\n");
    if (page->length > MOST_BYTES)
        return error_set(
            error, DPF_FAULT_CONFIG,
            "%s: the page would have %.1f MB, more than %d: name fewer items by [data] items-file, or, of "
            "DPLCF, fewer neighbours",
            directory, (double)page->length / 0x1p20, MOST_BYTES >> 20);
    return 0;
}

int page_file_write(const struct arguments *arguments, struct dpf_error *error)
{
    const char *directory = arguments->rest[0];
    struct saved_run run = {0};
    struct text page = {0};
    char *model = NULL, *path = arguments->output ? memory_text(arguments->output)
                                                  : files_join(directory, "release/page.html");
    log_set_level(LOG_LEVEL_WARNING);
    int status = saved_run_open_released(arguments, directory, &run, error);
    if (status == 0)
        status = page_model_write(&run, directory, &model, error);
    if (status == 0)
        status = make_page(&page, &run, directory, model, error);
    if (status == 0)
        status = files_write_text(path, page.data, error);
    if (status == 0)
        printf("%s\n", path);
    saved_run_close(&run);
    text_free(&page);
    free(model);
    free(path);
    return status;
}
