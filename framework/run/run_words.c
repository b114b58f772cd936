/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/terminal.h"
#include "base/text.h"
#include "dataset/summary.h"
#include "run/summary_table.h"

static void print_verdict(const char *words, enum verdict verdict)
{
    struct text text = {0};
    const enum colour colour = verdict == VERDICT_BETTER ? COLOUR_GREEN : COLOUR_YELLOW;
    terminal_wrap(&text, "", 0, words, terminal_width(STDOUT_FILENO));
    printf("%s%s%s\n", terminal_colour(STDOUT_FILENO, colour), text.data ? text.data : words,
           terminal_colour(STDOUT_FILENO, COLOUR_NONE));
    text_free(&text);
}

void run_words_results(const struct results *results, const char *words, enum verdict verdict,
                       const char *directory)
{
    const int width = terminal_width(STDOUT_FILENO);
    char *table = results->test->n || results->released ? summary_table(results, width) : NULL;
    const struct guarantee *guarantee = &results->plan->guarantee;
    char *statement =
        guarantee_protects(guarantee) ? guarantee_text_wide(guarantee, width) : guarantee_line(guarantee);
    if (table)
        printf("%s\n", table);
    if (words)
        print_verdict(words, verdict);
    printf("%s\nResults: %s (released: %s/release, private: %s/private)\n", statement ? statement : "",
           directory, directory, directory);
    free(table);
    free(statement);
}

/* For the curator: nothing of it is in release/, nor in the exit status. */
void run_words_violations(const struct results *results, int of_party, const char *directory)
{
    const struct violations *v = results->violations;
    const struct dataset_summary *summary = &results->dataset->summary;
    if (v->n > 0)
        log_message(LOG_LEVEL_WARNING,
                    "%lld faults in protected records were counted as zero ([privacy] on-violation = zero). "
                    "They are listed in %s/private/violations.txt; the first: %.400s",
                    (long long)v->n, directory, v->kept ? v->list[0].text : "");
    /* A party is one of many: the model has the others' records. */
    if (v->n > 0 && !of_party && summary_has_no_record(summary))
        log_message(LOG_LEVEL_WARNING, "no valid record was read: the model has only noise in it; check "
                                       "[data] format, delimiter and fields");
    else if (v->n > 0 && !of_party && summary->ratings == 0 && summary->out_of_catalogue > 0)
        log_message(
            LOG_LEVEL_WARNING,
            "no record is of the catalogues: the model has only noise in it; check [data] items-file and "
            "users-file, which name the column of a table as FILE:COLUMN");
    if (!results->dataset->implicit && !of_party && 2 * summary->clipped > summary->ratings)
        log_message(
            LOG_LEVEL_WARNING,
            "%lld of %lld values lie outside of the declared range and were moved to its ends: check [data] "
            "value-min and value-max",
            (long long)summary->clipped, (long long)summary->ratings);
}

/*
 * A metric that has nothing to average, as that of a band in which nobody is. If none has, a run without a proof fails;
 * where there is a proof, the number of users with test records decides nothing.
 */
int run_words_unavailable(const struct results *results, const char *directory, struct dpf_error *error)
{
    int64_t available = 0;
    for (int64_t i = 0; i < results->test->n; i++) {
        available += results->test->items[i].n != 0;
        if (results->test->items[i].n == 0)
            log_message(LOG_LEVEL_WARNING,
                        "metric %s is not available: the test part has nothing to average for it",
                        results->test->items[i].name);
    }
    if (results->test->n == 0 || available || results->plan->guarantee.zero_violations)
        return 0;
    return error_set(
        error, DPF_FAULT_DATA,
        "no metric is available: the test part has nothing to average. All results are written to %s",
        directory);
}
