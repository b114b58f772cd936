/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack_learn.h - from what was seen in many trainings to a score for each of them and each target.
 *
 * Online likelihood-ratio attack (LiRA; Carlini, Chien, Nasr, Song, Terzis, Tramer, Membership Inference
 * Attacks From First Principles, 2022): a target's distribution of what is seen is learnt from trainings with
 * and without it, and the score of another training is the logarithm of their ratio there. Reference
 * trainings and attacked ones are never the same: the trainings are cut into folds, and those of a fold are
 * scored by the others.
 *
 * What is seen of a training and a target are many numbers, or a list. The references of a fold are halved.
 * One half teaches a direction: weights (mean in - mean out) / variance of each number, shrunk to zero where
 * the difference is no larger than chance makes it; of lists the logarithm of how much more often each item
 * is listed. The other half teaches the two normal laws of the sum, of one variance, again with their
 * difference shrunk. The halves then change places, and the two scores are added. A target about which
 * nothing was learnt has the score 0.
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
