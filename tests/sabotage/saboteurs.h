/* SPDX-License-Identifier: Apache-2.0 */
/* saboteurs.h - the components of tests/sabotage, and who has to notice each: the table of docs/sabotage.md. */
#ifndef DPF_TESTS_SABOTEURS_H
#define DPF_TESTS_SABOTEURS_H

enum { KIT = 1, AUDIT = 2, STATISTICS = 4, NEIGHBOURS = 8, HOST = 16, REPEATS = 32 };
#define N_CATCHERS 6

enum role { MECHANISM, TRANSFORM, LOSS, SAMPLER, AGGREGATOR, SOLVER, RECOMMENDER };

struct saboteur {
    const char *file, *component;
    enum role role;
    const char *rule; /* of the kit, that has to fail */
    int by;           /* who notices; others are not asked */
};

static const struct saboteur saboteurs[] = {
    {"half_noise", "half-noise", MECHANISM, "mechanism.noise", KIT | AUDIT | STATISTICS},
    {"noise_again", "noise-again", MECHANISM, "mechanism.distinct", KIT | AUDIT | STATISTICS},
    {"noise_by_pairs", "noise-by-pairs", MECHANISM, "mechanism.noise", KIT | AUDIT | STATISTICS},
    {"short_shares", "short-shares", MECHANISM, "mechanism.noise", KIT | AUDIT | STATISTICS},
    {"other_correlation", "other-correlation", MECHANISM, "mechanism.correlation", KIT | AUDIT | STATISTICS},
    {"one_participation", "one-participation", MECHANISM, "mechanism.privacy", KIT | AUDIT | NEIGHBOURS},
    {"half_stated", "half-stated", MECHANISM, "mechanism.events", KIT | AUDIT | NEIGHBOURS},
    {"no_count_noise", "no-count-noise", MECHANISM, "mechanism.noise", KIT | AUDIT | STATISTICS},
    {"no_gram_noise", "no-gram-noise", MECHANISM, "mechanism.noise", KIT | AUDIT | STATISTICS},
    {"says_public", "says-public", MECHANISM, "mechanism.events", KIT | HOST},
    {"pbm_sparse", "pbm-sparse", MECHANISM, NULL, AUDIT | STATISTICS},

    {"clip_most", "clip-most", TRANSFORM, "transform.sensitivity", KIT | AUDIT | NEIGHBOURS},
    {"transform_faults", "clip-not-one-user", TRANSFORM, "transform.sensitivity", KIT | NEIGHBOURS},
    {"transform_faults", "clip-first-round", TRANSFORM, "transform.sensitivity", KIT | AUDIT | NEIGHBOURS},
    {"transform_faults", "clip-twice", TRANSFORM, "transform.sensitivity", KIT | AUDIT | NEIGHBOURS},
    {"transform_faults", "clip-by-row", TRANSFORM, "transform.sensitivity", KIT | AUDIT | NEIGHBOURS},
    {"transform_faults", "clip-by-sign", TRANSFORM, "transform.sensitivity", KIT | AUDIT | NEIGHBOURS},
    {"transform_faults", "clip-tells-length", TRANSFORM, "transform.sensitivity", KIT | AUDIT | NEIGHBOURS},
    {"transform_faults", "clip-half-stated", TRANSFORM, "transform.sensitivity", KIT | AUDIT | NEIGHBOURS},

    {"loss_faults", "loss-twice", LOSS, "loss.sensitivity", KIT | AUDIT | NEIGHBOURS},
    {"loss_faults", "loss-one-row", LOSS, "loss.sensitivity", KIT | AUDIT | NEIGHBOURS},
    {"loss_faults", "loss-one-user", LOSS, "loss.sensitivity", KIT | AUDIT | NEIGHBOURS},
    {"loss_faults", "loss-one-value", LOSS, "loss.sensitivity", KIT | AUDIT | NEIGHBOURS},
    {"loss_faults", "loss-later", LOSS, "loss.sensitivity", KIT | AUDIT | NEIGHBOURS},
    {"loss_faults", "loss-clips-late", LOSS, "loss.sensitivity", KIT | AUDIT | NEIGHBOURS},
    {"loss_faults", "loss-half-stated", LOSS, "loss.sensitivity", KIT | AUDIT | NEIGHBOURS},

    {"sampler_faults", "draws-everybody", SAMPLER, "sampler.rate", KIT | STATISTICS | HOST},
    {"sampler_faults", "draws-heavier", SAMPLER, "sampler.rate", KIT | HOST},
    {"sampler_faults", "draws-one-user", SAMPLER, "sampler.units", KIT | STATISTICS},
    {"sampler_faults", "draws-no-number", SAMPLER, "sampler.units", KIT | HOST},
    {"sampler_faults", "draws-again", SAMPLER, "sampler.fresh", KIT | STATISTICS},
    {"sampler_faults", "draws-in-pairs", SAMPLER, "sampler.units", KIT | STATISTICS},
    {"sampler_faults", "draws-too-soon", SAMPLER, "sampler.apart", KIT | HOST},

    {"aggregator_faults", "sum-drops-one", AGGREGATOR, "aggregator.sum", KIT | AUDIT | STATISTICS},
    {"aggregator_faults", "sum-one-twice", AGGREGATOR, "aggregator.sum", KIT | AUDIT | STATISTICS},
    {"aggregator_faults", "sum-cuts-numbers", AGGREGATOR, "aggregator.sum", KIT | AUDIT | STATISTICS},
    {"aggregator_faults", "sum-adds-its-own", AGGREGATOR, "aggregator.sum", KIT | AUDIT | STATISTICS},
    {"aggregator_faults", "sum-keeps-the-last", AGGREGATOR, "aggregator.sum", KIT | AUDIT | STATISTICS},
    {"aggregator_faults", "sum-by-order", AGGREGATOR, "aggregator.sum", KIT | AUDIT | STATISTICS},
    {"aggregator_faults", "sum-mixes-rows", AGGREGATOR, "aggregator.sum", KIT | STATISTICS},

    {"solver_faults", "solver-leaves-ball", SOLVER, "solver.rows", KIT | AUDIT | NEIGHBOURS},
    {"solver_faults", "solver-leaves-ball-later", SOLVER, "solver.rows", KIT | AUDIT | NEIGHBOURS},
    {"solver_faults", "solver-states-less", SOLVER, "solver.rows", KIT | AUDIT | NEIGHBOURS},
    {"solver_faults", "solver-not-finite", SOLVER, "solver.rows", KIT | HOST},
    {"solver_faults", "solver-not-finite-later", SOLVER, "solver.rows", KIT | HOST},
    {"solver_faults", "solver-by-worker", SOLVER, "run.workers", KIT | REPEATS},
    {"solver_faults", "solver-keeps-state", SOLVER, "run.repeat", KIT | REPEATS},

    {"sums_half_noise", "sums-half-noise", RECOMMENDER, "recommender.noise", KIT | AUDIT | STATISTICS},
    {"sums_noise_again", "sums-noise-again", RECOMMENDER, "recommender.noise", KIT | AUDIT | STATISTICS},
    {"sums_noise_alike", "sums-noise-alike", RECOMMENDER, "recommender.noise", KIT | AUDIT | STATISTICS},
    {"sums_unclipped", "sums-unclipped", RECOMMENDER, "recommender.moves", KIT | AUDIT | NEIGHBOURS},
    {"sums_half_stated", "sums-half-stated", RECOMMENDER, "recommender.moves", KIT | AUDIT | NEIGHBOURS},
    {"recommender_faults", "counts-half-stated", RECOMMENDER, "recommender.moves", KIT | NEIGHBOURS},
    {"recommender_faults", "counts-no-cap", RECOMMENDER, "recommender.moves", KIT | NEIGHBOURS},
    {"recommender_faults", "counts-less-noise", RECOMMENDER, "recommender.noise", KIT | STATISTICS},
    {"recommender_faults", "counts-noise-again", RECOMMENDER, "recommender.noise", KIT | STATISTICS},
    {"recommender_faults", "counts-keep-records", RECOMMENDER, "recommender.moves", KIT | NEIGHBOURS},
    {"recommender_faults", "counts-raw-item", RECOMMENDER, "recommender.moves", KIT | NEIGHBOURS},
    {"recommender_faults", "counts-one-user", RECOMMENDER, "recommender.moves", KIT | NEIGHBOURS},
    {"voids_count", "voids-count", RECOMMENDER, "recommender.voids", KIT | NEIGHBOURS},
};
#define N_SABOTEURS (sizeof saboteurs / sizeof saboteurs[0])

#endif
