/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trec_files.h - lists and test records of a run as files of the Text REtrieval Conference, which trec_eval, pytrec_eval and
 * ranx read: DIR/run.txt with lines "user Q0 item rank score dpframe", DIR/qrels.txt with lines "user 0 item 1".
 *
 * The full ranking, cut at the largest k of [evaluate]: candidates, masked items and positives are those of the metrics.
 * Readers sort by score; among equal ones trec_eval takes the item whose id is last, where dpframe's metrics take the
 * expectation over all orders.
 */
#ifndef DPF_SAVED_TREC_FILES_H
#define DPF_SAVED_TREC_FILES_H

#include "run/saved_run.h"

/* Makes the directory and both files, private, or nothing. */
int trec_files_write(struct saved_run *run, const char *directory, struct dpf_error *error);

#endif
