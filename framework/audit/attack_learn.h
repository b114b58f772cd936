/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack_learn.h - computes a score for each training and target from what the attacker saw in many
 * trainings.
 *
 * Online likelihood-ratio attack (LiRA; Carlini, Chien, Nasr, Song, Terzis, Tramer, Membership Inference
 * Attacks From First Principles, 2022): trainings with and without a target teach the two
 * distributions of what the attacker sees; the score of another training is the logarithm of their ratio
 * there. Reference trainings and attacked ones are never the same: the trainings are cut into folds, and the
 * other folds score those of a fold.
 *
 * The attacker sees many numbers, or a list, of a training and a target. The references of a fold are halved.
 * One half teaches a direction: weights (mean in - mean out) / variance of each number, shrunk to zero where
 * chance explains the difference; for lists, the logarithm of how much more often each item is listed. The
 * other half teaches the two normal laws of the sum, of one variance, again with their difference shrunk. The
 * halves then change places, and the two scores are added. A target has the score 0 if the references taught
 * nothing about it.
 */
#ifndef DPF_AUDIT_ATTACK_LEARN_H
#define DPF_AUDIT_ATTACK_LEARN_H

#include <stdint.h>

#include "base/error.h"

#define ATTACK_FOLDS 4

struct attack_sample {
    int64_t trainings, targets, width;
    /* [(training * targets + target) * width + i]: numbers; or the items of a list, -1 after its end. */
    const float *numbers;
    int64_t n_items;   /* of lists; 0: numbers */
    const uint8_t *in; /* [training * targets + target] */
};

/* scores: trainings x targets; large: the target was in. */
int attack_learn(const struct attack_sample *sample, double *scores, struct dpf_error *error);

#endif
