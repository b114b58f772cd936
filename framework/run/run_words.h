/* SPDX-License-Identifier: Apache-2.0 */
/* run_words.h - what a run says on the terminal once its results are written. */
#ifndef DPF_RUN_RUN_WORDS_H
#define DPF_RUN_RUN_WORDS_H

#include "run/results.h"
#include "run/verdict.h"

/* The metrics, the verdict (words may be NULL), and the statement. */
void run_words_results(const struct results *results, const char *words, enum verdict verdict,
                       const char *directory);
/* What was wrong with records. A party is one of many: others have records, too. */
void run_words_violations(const struct results *results, int of_party, const char *directory);
/* Metrics that have nothing to average. -1 if none has, of a run without a proof. */
int run_words_unavailable(const struct results *results, const char *directory, struct dpf_error *error);

#endif
