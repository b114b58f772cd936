/* SPDX-License-Identifier: Apache-2.0 */
/*
 * abi_layout.c - the layout of every public structure, as plugins that exist were compiled with it.
 *
 * Compiling this file is the test. Do not change a line once it has been released: a structure may only
 * grow at its end, which changes its SIZE here and adds lines, and only if it starts with its size.
 */
#include "dpframe/dpframe.h"

#include <stdio.h>
#include <string.h>

#define SIZE(TYPE, BYTES) DPF_STATIC_ASSERT(sizeof(TYPE) == (BYTES), "size of " #TYPE)
#define AT(TYPE, FIELD, BYTES) DPF_STATIC_ASSERT(offsetof(TYPE, FIELD) == (BYTES), #TYPE "." #FIELD)

/* clang-format off */

/* dpframe/params.h */
SIZE(dpf_enum_value, 16);
AT(dpf_enum_value, name, 0);
AT(dpf_enum_value, help, 8);

SIZE(dpf_param, 88);
AT(dpf_param, name, 0);
AT(dpf_param, type, 8);
AT(dpf_param, flags, 12);
AT(dpf_param, lo, 16);
AT(dpf_param, hi, 24);
AT(dpf_param, default_real, 32);
AT(dpf_param, default_integer, 40);
AT(dpf_param, default_text, 48);
AT(dpf_param, values, 56);
AT(dpf_param, n_values, 64);
AT(dpf_param, unit, 72);
AT(dpf_param, help, 80);

SIZE(dpf_value, 64);
AT(dpf_value, type, 0);
AT(dpf_value, is_set, 4);
AT(dpf_value, integer, 8);
AT(dpf_value, real, 16);
AT(dpf_value, text, 24);
AT(dpf_value, reals, 32);
AT(dpf_value, integers, 40);
AT(dpf_value, count, 48);
AT(dpf_value, reserved, 56);

SIZE(dpf_params, 16);
AT(dpf_params, size, 0);
AT(dpf_params, n_values, 4);
AT(dpf_params, values, 8);

/* dpframe/plugin.h */
SIZE(dpf_component, 96);
AT(dpf_component, size, 0);
AT(dpf_component, flags, 4);
AT(dpf_component, role, 8);
AT(dpf_component, id, 16);
AT(dpf_component, version, 24);
AT(dpf_component, summary, 32);
AT(dpf_component, citation, 40);
AT(dpf_component, params, 48);
AT(dpf_component, n_params, 56);
AT(dpf_component, param_stride, 60);
AT(dpf_component, create, 64);
AT(dpf_component, destroy, 72);
AT(dpf_component, functions, 80);
AT(dpf_component, instance_bytes, 88);

SIZE(dpf_plugin, 48);
AT(dpf_plugin, magic, 0);
AT(dpf_plugin, size, 4);
AT(dpf_plugin, abi_minor_needed, 8);
AT(dpf_plugin, n_components, 12);
AT(dpf_plugin, id, 16);
AT(dpf_plugin, version, 24);
AT(dpf_plugin, licence, 32);
AT(dpf_plugin, components, 40);

/* dpframe/host.h */
SIZE(dpf_host, 32);
AT(dpf_host, size, 0);
AT(dpf_host, abi_minor, 4);
AT(dpf_host, context, 8);
AT(dpf_host, service, 16);
AT(dpf_host, fail, 24);

SIZE(dpf_memory_service, 16);
AT(dpf_memory_service, allocate, 0);
AT(dpf_memory_service, release, 8);

SIZE(dpf_log_service, 16);
AT(dpf_log_service, message, 0);
AT(dpf_log_service, metric, 8);

SIZE(dpf_cursor, 640);
AT(dpf_cursor, opaque, 0);

SIZE(dpf_rows, 48);
AT(dpf_rows, draw, 0);
AT(dpf_rows, party, 4);
AT(dpf_rows, n, 8);
AT(dpf_rows, ids, 16);
AT(dpf_rows, first, 24);
AT(dpf_rows, width, 32);
AT(dpf_rows, stride, 40);

SIZE(dpf_random_service, 112);
AT(dpf_random_service, open, 0);
AT(dpf_random_service, seek, 8);
AT(dpf_random_service, bits, 16);
AT(dpf_random_service, uniform, 24);
AT(dpf_random_service, below, 32);
AT(dpf_random_service, bernoulli, 40);
AT(dpf_random_service, discrete_laplace, 48);
AT(dpf_random_service, discrete_gaussian, 56);
AT(dpf_random_service, normal, 64);
AT(dpf_random_service, laplace, 72);
AT(dpf_random_service, skellam, 80);
AT(dpf_random_service, row_bits, 88);
AT(dpf_random_service, row_normal, 96);
AT(dpf_random_service, row_laplace, 104);

SIZE(dpf_call, 64);
AT(dpf_call, size, 0);
AT(dpf_call, worker, 4);
AT(dpf_call, n_workers, 8);
AT(dpf_call, round, 12);
AT(dpf_call, draw, 16);
AT(dpf_call, party, 20);
AT(dpf_call, host, 24);
AT(dpf_call, context, 32);
AT(dpf_call, scratch, 40);
AT(dpf_call, cancelled, 48);
AT(dpf_call, run_tasks, 56);

/* dpframe/view.h */
SIZE(dpf_factors, 32);
AT(dpf_factors, data, 0);
AT(dpf_factors, rows, 8);
AT(dpf_factors, stride, 16);
AT(dpf_factors, cols, 24);
AT(dpf_factors, reserved, 28);

/* dpframe/privacy.h */
SIZE(dpf_norms, 24);
AT(dpf_norms, l1, 0);
AT(dpf_norms, l2, 8);
AT(dpf_norms, linf, 16);

SIZE(dpf_sensitivity, 768);
AT(dpf_sensitivity, at, 0);

SIZE(dpf_joint_norm, 560);
AT(dpf_joint_norm, blocks, 0);
AT(dpf_joint_norm, within, 4);
AT(dpf_joint_norm, across, 8);
AT(dpf_joint_norm, reserved, 12);
AT(dpf_joint_norm, weight, 16);
AT(dpf_joint_norm, at, 272);
AT(dpf_joint_norm, reserved_words, 528);

SIZE(dpf_joint_norms, 24);
AT(dpf_joint_norms, size, 0);
AT(dpf_joint_norms, n, 4);
AT(dpf_joint_norms, capacity, 8);
AT(dpf_joint_norms, reserved, 12);
AT(dpf_joint_norms, bounds, 16);

SIZE(dpf_bounds, 144);
AT(dpf_bounds, size, 0);
AT(dpf_bounds, side, 4);
AT(dpf_bounds, dimension, 8);
AT(dpf_bounds, from_data, 12);
AT(dpf_bounds, value_lo, 16);
AT(dpf_bounds, value_hi, 24);
AT(dpf_bounds, offset, 32);
AT(dpf_bounds, weight_max, 40);
AT(dpf_bounds, other_l1, 48);
AT(dpf_bounds, other_l2, 56);
AT(dpf_bounds, other_linf, 64);
AT(dpf_bounds, self_l1, 72);
AT(dpf_bounds, self_l2, 80);
AT(dpf_bounds, self_linf, 88);
AT(dpf_bounds, records_per_user, 96);
AT(dpf_bounds, n_self, 104);
AT(dpf_bounds, n_other, 112);
AT(dpf_bounds, residual_l2, 120);
AT(dpf_bounds, value_change, 128);
AT(dpf_bounds, other_upper, 136);

SIZE(dpf_sampling, 96);
AT(dpf_sampling, kind, 0);
AT(dpf_sampling, unit, 4);
AT(dpf_sampling, hidden_from, 8);
AT(dpf_sampling, reserved, 12);
AT(dpf_sampling, rate, 16);
AT(dpf_sampling, weight_max, 24);
AT(dpf_sampling, weight_from, 32);
AT(dpf_sampling, weight_below, 40);
AT(dpf_sampling, budget, 48);
AT(dpf_sampling, threshold, 56);
AT(dpf_sampling, separation, 64);
AT(dpf_sampling, reserved_words, 72);

SIZE(dpf_event_numbers, 64);
AT(dpf_event_numbers, pure.epsilon, 0);
AT(dpf_event_numbers, approx.epsilon, 0);
AT(dpf_event_numbers, approx.delta, 8);
AT(dpf_event_numbers, zcdp.xi, 0);
AT(dpf_event_numbers, zcdp.rho, 8);
AT(dpf_event_numbers, skellam.variance, 0);
AT(dpf_event_numbers, pbm.theta, 0);
AT(dpf_event_numbers, pbm.trials, 8);
AT(dpf_event_numbers, pbm.clients, 16);
AT(dpf_event_numbers, pbm.coordinates, 24);
AT(dpf_event_numbers, response.flip, 0);
AT(dpf_event_numbers, selection.repetitions, 0);
AT(dpf_event_numbers, selection.eta, 8);
AT(dpf_event_numbers, selection.gamma, 16);
AT(dpf_event_numbers, selection.candidates, 24);
AT(dpf_event_numbers, candidate.releases, 0);
AT(dpf_event_numbers, correlated.rounds, 0);
AT(dpf_event_numbers, correlated.separation, 8);
AT(dpf_event_numbers, correlated.participations, 16);
AT(dpf_event_numbers, correlated.attained, 24);

SIZE(dpf_event, 1104);
AT(dpf_event, kind, 0);
AT(dpf_event, flags, 4);
AT(dpf_event, lifetime, 8);
AT(dpf_event, side, 12);
AT(dpf_event, count, 16);
AT(dpf_event, term, 24);
AT(dpf_event, blocks, 28);
AT(dpf_event, round, 32);
AT(dpf_event, weighted, 36);
AT(dpf_event, scale, 40);
AT(dpf_event, grid, 48);
AT(dpf_event, p, 56);
AT(dpf_event, sensitivity, 120);
AT(dpf_event, unweighted, 888);
AT(dpf_event, sampling, 912);
AT(dpf_event, reserved, 1008);
AT(dpf_event, messages, 1072);
AT(dpf_event, numbers, 1080);
AT(dpf_event, notes, 1088);

/* dpframe/query.h */
SIZE(dpf_block, 32);
AT(dpf_block, kind, 0);
AT(dpf_block, layout, 4);
AT(dpf_block, offset, 8);
AT(dpf_block, length, 12);
AT(dpf_block, ld, 16);
AT(dpf_block, reserved, 20);

SIZE(dpf_query, 304);
AT(dpf_query, size, 0);
AT(dpf_query, form, 4);
AT(dpf_query, dimension, 8);
AT(dpf_query, first, 12);
AT(dpf_query, width, 16);
AT(dpf_query, support, 20);
AT(dpf_query, has_gram, 24);
AT(dpf_query, n_blocks, 28);
AT(dpf_query, blocks, 32);
AT(dpf_query, ridge_per_count, 288);
AT(dpf_query, ridge_constant, 296);

SIZE(dpf_groups, 112);
AT(dpf_groups, size, 0);
AT(dpf_groups, side, 4);
AT(dpf_groups, self, 8);
AT(dpf_groups, other, 16);
AT(dpf_groups, n_groups, 24);
AT(dpf_groups, rows, 32);
AT(dpf_groups, offsets, 40);
AT(dpf_groups, others, 48);
AT(dpf_groups, values, 56);
AT(dpf_groups, weights, 64);
AT(dpf_groups, offset, 72);
AT(dpf_groups, party_row, 80);
AT(dpf_groups, reserved, 84);
AT(dpf_groups, residual, 88);
AT(dpf_groups, self_features, 96);
AT(dpf_groups, other_features, 104);

/* dpframe/utility.h */
SIZE(dpf_utility_setup, 96);
AT(dpf_utility_setup, size, 0);
AT(dpf_utility_setup, side, 4);
AT(dpf_utility_setup, query, 8);
AT(dpf_utility_setup, bounds, 16);
AT(dpf_utility_setup, blocks, 24);
AT(dpf_utility_setup, scale, 32);
AT(dpf_utility_setup, sampling, 40);
AT(dpf_utility_setup, events, 48);
AT(dpf_utility_setup, n_events, 56);
AT(dpf_utility_setup, reserved, 60);
AT(dpf_utility_setup, rows, 64);
AT(dpf_utility_setup, rounds, 72);
AT(dpf_utility_setup, budget, 80);
AT(dpf_utility_setup, target, 88);

SIZE(dpf_utility_number, 80);
AT(dpf_utility_number, name, 0);
AT(dpf_utility_number, help, 8);
AT(dpf_utility_number, value, 16);
AT(dpf_utility_number, least, 24);
AT(dpf_utility_number, most, 32);
AT(dpf_utility_number, flags, 40);
AT(dpf_utility_number, reserved, 44);
AT(dpf_utility_number, reserved_words, 48);

SIZE(dpf_utility_bound, 64);
AT(dpf_utility_bound, name, 0);
AT(dpf_utility_bound, help, 8);
AT(dpf_utility_bound, published, 16);
AT(dpf_utility_bound, derived, 24);
AT(dpf_utility_bound, reserved, 32);

SIZE(dpf_utility, 80);
AT(dpf_utility, size, 0);
AT(dpf_utility, numbers_capacity, 4);
AT(dpf_utility, numbers, 8);
AT(dpf_utility, n_numbers, 16);
AT(dpf_utility, n_bounds, 20);
AT(dpf_utility, bounds, 24);
AT(dpf_utility, bounds_capacity, 32);
AT(dpf_utility, notes_capacity, 36);
AT(dpf_utility, notes, 40);
AT(dpf_utility, n_notes, 48);
AT(dpf_utility, reserved, 52);
AT(dpf_utility, source, 56);
AT(dpf_utility, title, 64);
AT(dpf_utility, error, 72);

/* dpframe/role/accountant.h */
SIZE(dpf_question, 40);
AT(dpf_question, size, 0);
AT(dpf_question, unit, 4);
AT(dpf_question, adjacency, 8);
AT(dpf_question, observer, 12);
AT(dpf_question, delta, 16);
AT(dpf_question, epsilon, 24);
AT(dpf_question, rounds, 32);

SIZE(dpf_answer, 496);
AT(dpf_answer, size, 0);
AT(dpf_answer, at_grid_end, 4);
AT(dpf_answer, epsilon, 8);
AT(dpf_answer, epsilon_lower, 16);
AT(dpf_answer, delta, 24);
AT(dpf_answer, order, 32);
AT(dpf_answer, source, 40);
AT(dpf_answer, note, 232);
AT(dpf_answer, stated_unit, 488);
AT(dpf_answer, stated_adjacency, 492);

SIZE(dpf_accountant, 64);
AT(dpf_accountant, kind, 0);
AT(dpf_accountant, reserved, 4);
AT(dpf_accountant, epsilon, 8);
AT(dpf_accountant, delta, 16);
AT(dpf_accountant, epsilon_per_unit, 24);
AT(dpf_accountant, reserved_slots, 32);

/* dpframe/role/aggregator.h */
SIZE(dpf_aggregation, 80);
AT(dpf_aggregation, size, 0);
AT(dpf_aggregation, width, 4);
AT(dpf_aggregation, rows, 8);
AT(dpf_aggregation, n_parties, 16);
AT(dpf_aggregation, modulus, 24);
AT(dpf_aggregation, least_survivors, 32);
AT(dpf_aggregation, sums, 40);
AT(dpf_aggregation, state, 48);
AT(dpf_aggregation, survivors, 56);
AT(dpf_aggregation, bytes_up, 64);
AT(dpf_aggregation, bytes_down, 72);

SIZE(dpf_aggregator_limits, 32);
AT(dpf_aggregator_limits, size, 0);
AT(dpf_aggregator_limits, reserved, 4);
AT(dpf_aggregator_limits, corrupt, 8);
AT(dpf_aggregator_limits, survivors, 16);
AT(dpf_aggregator_limits, parties, 24);

SIZE(dpf_aggregator, 120);
AT(dpf_aggregator, sees, 0);
AT(dpf_aggregator, flags, 4);
AT(dpf_aggregator, state_bytes, 8);
AT(dpf_aggregator, absorb, 16);
AT(dpf_aggregator, merge, 24);
AT(dpf_aggregator, finish, 32);
AT(dpf_aggregator, scale, 40);
AT(dpf_aggregator, limits, 48);
AT(dpf_aggregator, exchange_bytes, 56);
AT(dpf_aggregator, exchange_open, 64);
AT(dpf_aggregator, exchange_room, 72);
AT(dpf_aggregator, party_answer, 80);
AT(dpf_aggregator, server_send, 88);
AT(dpf_aggregator, server_take, 96);
AT(dpf_aggregator, server_close, 104);
AT(dpf_aggregator, reserved_slots, 112);

SIZE(dpf_exchange, 184);
AT(dpf_exchange, size, 0);
AT(dpf_exchange, end, 4);
AT(dpf_exchange, width, 8);
AT(dpf_exchange, reserved, 12);
AT(dpf_exchange, rows, 16);
AT(dpf_exchange, n_parties, 24);
AT(dpf_exchange, modulus, 32);
AT(dpf_exchange, least_survivors, 40);
AT(dpf_exchange, round, 48);
AT(dpf_exchange, next_round, 56);
AT(dpf_exchange, agreed, 64);
AT(dpf_exchange, server_key, 96);
AT(dpf_exchange, parties, 128);
AT(dpf_exchange, state, 136);
AT(dpf_exchange, limit, 144);
AT(dpf_exchange, in_sum, 152);
AT(dpf_exchange, identities, 160);
AT(dpf_exchange, signing_key, 168);
AT(dpf_exchange, n_identities, 176);

/* dpframe/role/link.h */
SIZE(dpf_link_event, 40);
AT(dpf_link_event, size, 0);
AT(dpf_link_event, kind, 4);
AT(dpf_link_event, peer, 8);
AT(dpf_link_event, bytes, 16);
AT(dpf_link_event, n_bytes, 24);
AT(dpf_link_event, name, 32);

SIZE(dpf_link, 128);
AT(dpf_link, flags, 0);
AT(dpf_link, reserved, 4);
AT(dpf_link, largest, 8);
AT(dpf_link, open, 16);
AT(dpf_link, send, 24);
AT(dpf_link, receive, 32);
AT(dpf_link, hang_up, 40);
AT(dpf_link, close, 48);
AT(dpf_link, admit, 56);
AT(dpf_link, share, 64);
AT(dpf_link, reserved_slots, 72);

/* dpframe/role/comm.h */
SIZE(dpf_ranks, 16);
AT(dpf_ranks, size, 0);
AT(dpf_ranks, rank, 4);
AT(dpf_ranks, ranks, 8);
AT(dpf_ranks, near, 12);

SIZE(dpf_comm, 120);
AT(dpf_comm, open, 0);
AT(dpf_comm, sum, 8);
AT(dpf_comm, reduce, 16);
AT(dpf_comm, gather, 24);
AT(dpf_comm, exchange, 32);
AT(dpf_comm, broadcast, 40);
AT(dpf_comm, least, 48);
AT(dpf_comm, reserved_slots, 56);

/* dpframe/role/loss.h */
SIZE(dpf_side_info, 48);
AT(dpf_side_info, size, 0);
AT(dpf_side_info, side, 4);
AT(dpf_side_info, n_self, 8);
AT(dpf_side_info, n_other, 16);
AT(dpf_side_info, columns, 24);
AT(dpf_side_info, first, 28);
AT(dpf_side_info, dimension, 32);
AT(dpf_side_info, bias, 36);
AT(dpf_side_info, layout, 40);
AT(dpf_side_info, is_released, 44);

SIZE(dpf_loss, 88);
AT(dpf_loss, layouts, 0);
AT(dpf_loss, flags, 4);
AT(dpf_loss, query, 8);
AT(dpf_loss, sensitivity, 16);
AT(dpf_loss, gram, 24);
AT(dpf_loss, accumulate, 32);
AT(dpf_loss, accumulate_local, 40);
AT(dpf_loss, apply, 48);
AT(dpf_loss, accumulate_scaled, 56);
AT(dpf_loss, utility, 64);
AT(dpf_loss, reserved_slots, 72);

/* dpframe/role/mechanism.h */
SIZE(dpf_release, 136);
AT(dpf_release, size, 0);
AT(dpf_release, side, 4);
AT(dpf_release, query, 8);
AT(dpf_release, rows, 16);
AT(dpf_release, unit, 24);
AT(dpf_release, adjacency, 28);
AT(dpf_release, blocks, 32);
AT(dpf_release, gram, 40);
AT(dpf_release, joint, 48);
AT(dpf_release, n_parties, 56);
AT(dpf_release, min_honest, 64);
AT(dpf_release, noise_factor, 72);
AT(dpf_release, from_data, 80);
AT(dpf_release, fewer_bits, 84);
AT(dpf_release, rounds, 88);
AT(dpf_release, separation, 96);
AT(dpf_release, participations, 104);
AT(dpf_release, max_curious, 112);
AT(dpf_release, block_shares, 120);
AT(dpf_release, gram_share, 128);

SIZE(dpf_noise_plan, 560);
AT(dpf_noise_plan, size, 0);
AT(dpf_noise_plan, where, 4);
AT(dpf_noise_plan, n_blocks, 8);
AT(dpf_noise_plan, spare_shares, 12);
AT(dpf_noise_plan, grid, 16);
AT(dpf_noise_plan, scale, 80);
AT(dpf_noise_plan, variance, 144);
AT(dpf_noise_plan, gram_grid, 208);
AT(dpf_noise_plan, gram_scale, 272);
AT(dpf_noise_plan, gram_variance, 336);
AT(dpf_noise_plan, modulus, 400);
AT(dpf_noise_plan, wrap_bound, 408);
AT(dpf_noise_plan, least_survivors, 416);
AT(dpf_noise_plan, opaque, 424);
AT(dpf_noise_plan, bare, 552);
AT(dpf_noise_plan, message_most, 556);

SIZE(dpf_encoded, 80);
AT(dpf_encoded, size, 0);
AT(dpf_encoded, width, 4);
AT(dpf_encoded, n_rows, 8);
AT(dpf_encoded, rows, 16);
AT(dpf_encoded, first_row, 24);
AT(dpf_encoded, total_rows, 32);
AT(dpf_encoded, values, 40);
AT(dpf_encoded, stride, 48);
AT(dpf_encoded, survivors, 56);
AT(dpf_encoded, contributors, 64);
AT(dpf_encoded, state, 72);

SIZE(dpf_mechanism, 136);
AT(dpf_mechanism, flags, 0);
AT(dpf_mechanism, reserved, 4);
AT(dpf_mechanism, lifetime, 8);
AT(dpf_mechanism, budget, 16);
AT(dpf_mechanism, plan, 24);
AT(dpf_mechanism, events, 32);
AT(dpf_mechanism, encode, 40);
AT(dpf_mechanism, decode, 48);
AT(dpf_mechanism, epsilon_at_weight, 56);
AT(dpf_mechanism, conditional_stddev, 64);
AT(dpf_mechanism, row_state, 72);
AT(dpf_mechanism, correlation, 80);
AT(dpf_mechanism, settings, 88);
AT(dpf_mechanism, reserved_slots, 96);

/* dpframe/role/recommender.h */
SIZE(dpf_csr, 48);
AT(dpf_csr, rows, 0);
AT(dpf_csr, offsets, 8);
AT(dpf_csr, others, 16);
AT(dpf_csr, values, 24);
AT(dpf_csr, reserved, 32);

SIZE(dpf_interactions, 168);
AT(dpf_interactions, size, 0);
AT(dpf_interactions, divided, 4);
AT(dpf_interactions, n_users, 8);
AT(dpf_interactions, n_items, 16);
AT(dpf_interactions, n, 24);
AT(dpf_interactions, by_user, 32);
AT(dpf_interactions, by_item, 80);
AT(dpf_interactions, item_features, 128);
AT(dpf_interactions, first_user, 136);
AT(dpf_interactions, end_user, 144);
AT(dpf_interactions, user_voids, 152);
AT(dpf_interactions, item_voids, 160);

SIZE(dpf_recommender_setup, 72);
AT(dpf_recommender_setup, size, 0);
AT(dpf_recommender_setup, parties, 4);
AT(dpf_recommender_setup, n_users, 8);
AT(dpf_recommender_setup, n_items, 16);
AT(dpf_recommender_setup, value_lo, 24);
AT(dpf_recommender_setup, value_hi, 32);
AT(dpf_recommender_setup, noise_factor, 40);
AT(dpf_recommender_setup, without_noise, 48);
AT(dpf_recommender_setup, unit, 52);
AT(dpf_recommender_setup, adjacency, 56);
AT(dpf_recommender_setup, item_features, 60);
AT(dpf_recommender_setup, shares, 64);

SIZE(dpf_recommender_release, 1400);
AT(dpf_recommender_release, flags, 0);
AT(dpf_recommender_release, reads, 4);
AT(dpf_recommender_release, noise_where, 8);
AT(dpf_recommender_release, sees, 12);
AT(dpf_recommender_release, reserved, 16);
AT(dpf_recommender_release, event, 24);
AT(dpf_recommender_release, name, 1128);
AT(dpf_recommender_release, why, 1176);
AT(dpf_recommender_release, largest, 1336);
AT(dpf_recommender_release, share_steps, 1344);
AT(dpf_recommender_release, reserved_words, 1352);

SIZE(dpf_witnessed, 56);
AT(dpf_witnessed, size, 0);
AT(dpf_witnessed, release, 4);
AT(dpf_witnessed, row, 8);
AT(dpf_witnessed, n, 16);
AT(dpf_witnessed, width, 24);
AT(dpf_witnessed, numbers, 32);
AT(dpf_witnessed, exact, 40);
AT(dpf_witnessed, scales, 48);

SIZE(dpf_witness, 16);
AT(dpf_witness, context, 0);
AT(dpf_witness, saw, 8);

SIZE(dpf_user_sum, 48);
AT(dpf_user_sum, size, 0);
AT(dpf_user_sum, release, 4);
AT(dpf_user_sum, n, 8);
AT(dpf_user_sum, context, 16);
AT(dpf_user_sum, message, 24);
AT(dpf_user_sum, sums, 32);
AT(dpf_user_sum, survivors, 40);

SIZE(dpf_summing, 16);
AT(dpf_summing, context, 0);
AT(dpf_summing, sum, 8);

SIZE(dpf_fit, 96);
AT(dpf_fit, size, 0);
AT(dpf_fit, reserved, 4);
AT(dpf_fit, setup, 8);
AT(dpf_fit, records, 16);
AT(dpf_fit, state, 24);
AT(dpf_fit, state_bytes, 32);
AT(dpf_fit, messages, 40);
AT(dpf_fit, bytes_up, 48);
AT(dpf_fit, bytes_down, 56);
AT(dpf_fit, witness, 64);
AT(dpf_fit, summing, 72);
AT(dpf_fit, processes, 80);
AT(dpf_fit, add_up, 88);

SIZE(dpf_scoring, 32);
AT(dpf_scoring, size, 0);
AT(dpf_scoring, user, 4);
AT(dpf_scoring, records, 8);
AT(dpf_scoring, state, 16);
AT(dpf_scoring, scores, 24);

SIZE(dpf_recommender, 80);
AT(dpf_recommender, flags, 0);
AT(dpf_recommender, releases, 8);
AT(dpf_recommender, state_bytes, 16);
AT(dpf_recommender, fit, 24);
AT(dpf_recommender, check, 32);
AT(dpf_recommender, scores, 40);
AT(dpf_recommender, form, 48);
AT(dpf_recommender, reserved_slots, 56);

/* dpframe/score_form.h */
SIZE(dpf_array, 80);
AT(dpf_array, name, 0);
AT(dpf_array, type, 8);
AT(dpf_array, reserved_number, 12);
AT(dpf_array, rows, 16);
AT(dpf_array, columns, 24);
AT(dpf_array, stride, 32);
AT(dpf_array, data, 40);
AT(dpf_array, reserved, 48);

SIZE(dpf_form, 48);
AT(dpf_form, size, 0);
AT(dpf_form, n_arrays, 4);
AT(dpf_form, n_scalars, 8);
AT(dpf_form, reserved, 12);
AT(dpf_form, formula, 16);
AT(dpf_form, arrays, 24);
AT(dpf_form, scalar_names, 32);
AT(dpf_form, scalars, 40);

/* dpframe/role/sampler.h */
SIZE(dpf_sampler_setup, 72);
AT(dpf_sampler_setup, size, 0);
AT(dpf_sampler_setup, side, 4);
AT(dpf_sampler_setup, n_parties, 8);
AT(dpf_sampler_setup, n_records, 16);
AT(dpf_sampler_setup, budget, 24);
AT(dpf_sampler_setup, epsilon_at_weight, 32);
AT(dpf_sampler_setup, context, 40);
AT(dpf_sampler_setup, privacy_weight_lo, 48);
AT(dpf_sampler_setup, privacy_weight_hi, 56);
AT(dpf_sampler_setup, privacy_weight_mean, 64);

SIZE(dpf_draw, 88);
AT(dpf_draw, size, 0);
AT(dpf_draw, level, 4);
AT(dpf_draw, n, 8);
AT(dpf_draw, first, 16);
AT(dpf_draw, users, 24);
AT(dpf_draw, items, 32);
AT(dpf_draw, values, 40);
AT(dpf_draw, privacy_weights, 48);
AT(dpf_draw, user_factors, 56);
AT(dpf_draw, item_factors, 64);
AT(dpf_draw, other_l1, 72);
AT(dpf_draw, keys, 80);

SIZE(dpf_sampler, 72);
AT(dpf_sampler, level, 0);
AT(dpf_sampler, flags, 4);
AT(dpf_sampler, lifetime, 8);
AT(dpf_sampler, prepare, 16);
AT(dpf_sampler, describe, 24);
AT(dpf_sampler, draw, 32);
AT(dpf_sampler, reserved_slots, 40);

/* dpframe/role/solver.h */
SIZE(dpf_solve, 152);
AT(dpf_solve, size, 0);
AT(dpf_solve, side, 4);
AT(dpf_solve, n_rounds, 8);
AT(dpf_solve, state_width, 12);
AT(dpf_solve, n_rows, 16);
AT(dpf_solve, first_row, 24);
AT(dpf_solve, query, 32);
AT(dpf_solve, blocks, 40);
AT(dpf_solve, blocks_stride, 48);
AT(dpf_solve, gram, 56);
AT(dpf_solve, degrees, 64);
AT(dpf_solve, current, 72);
AT(dpf_solve, current_stride, 80);
AT(dpf_solve, next, 88);
AT(dpf_solve, next_stride, 96);
AT(dpf_solve, state, 104);
AT(dpf_solve, gram_query, 112);
AT(dpf_solve, product, 120);
AT(dpf_solve, product_context, 128);
AT(dpf_solve, noise_variance, 136);
AT(dpf_solve, gram_noise_variance, 144);

SIZE(dpf_solver, 64);
AT(dpf_solver, flags, 0);
AT(dpf_solver, reserved, 4);
AT(dpf_solver, state_width, 8);
AT(dpf_solver, radius, 16);
AT(dpf_solver, solve, 24);
AT(dpf_solver, utility, 32);
AT(dpf_solver, reserved_slots, 40);

/* dpframe/role/transform.h */
SIZE(dpf_records, 40);
AT(dpf_records, size, 0);
AT(dpf_records, reserved, 4);
AT(dpf_records, n, 8);
AT(dpf_records, users, 16);
AT(dpf_records, items, 24);
AT(dpf_records, privacy_weights, 32);

SIZE(dpf_message, 64);
AT(dpf_message, size, 0);
AT(dpf_message, party, 4);
AT(dpf_message, n_rows, 8);
AT(dpf_message, rows, 16);
AT(dpf_message, first_row, 24);
AT(dpf_message, total_rows, 32);
AT(dpf_message, values, 40);
AT(dpf_message, stride, 48);
AT(dpf_message, width, 56);
AT(dpf_message, zero_rows, 60);

SIZE(dpf_transform, 120);
AT(dpf_transform, kind, 0);
AT(dpf_transform, flags, 4);
AT(dpf_transform, bounds, 8);
AT(dpf_transform, sensitivity, 16);
AT(dpf_transform, rows, 24);
AT(dpf_transform, records, 32);
AT(dpf_transform, predictions, 40);
AT(dpf_transform, factors, 48);
AT(dpf_transform, forward, 56);
AT(dpf_transform, inverse, 64);
AT(dpf_transform, project, 72);
AT(dpf_transform, adjoint, 80);
AT(dpf_transform, measure, 88);
AT(dpf_transform, factor, 96);
AT(dpf_transform, reserved_slots, 104);

/* dpframe/features.h */
SIZE(dpf_feature_column, 64);
AT(dpf_feature_column, name, 0);
AT(dpf_feature_column, kind, 8);
AT(dpf_feature_column, field, 12);
AT(dpf_feature_column, mean, 16);
AT(dpf_feature_column, deviation, 24);
AT(dpf_feature_column, reserved, 32);

SIZE(dpf_features, 56);
AT(dpf_features, size, 0);
AT(dpf_features, n_fields, 4);
AT(dpf_features, rows, 8);
AT(dpf_features, columns, 16);
AT(dpf_features, offsets, 24);
AT(dpf_features, at, 32);
AT(dpf_features, values, 40);
AT(dpf_features, column, 48);

/* Numbers that mean something to compiled plugins. */
#define IS(NAME, VALUE) DPF_STATIC_ASSERT((NAME) == (VALUE), #NAME)
IS(DPF_ABI_MAJOR, 1);
IS(DPF_PLUGIN_MAGIC, 0x4d465044);
IS(DPF_OK, 0);
IS(DPF_E_CONFIG, 1);
IS(DPF_E_RANGE, 2);
IS(DPF_E_MEMORY, 3);
IS(DPF_E_UNSUPPORTED, 4);
IS(DPF_E_NUMERIC, 5);
IS(DPF_E_PRIVACY, 6);
IS(DPF_E_CANCELLED, 7);
IS(DPF_E_INTERNAL, 8);
IS(DPF_TYPE_BOOL, 1);
IS(DPF_TYPE_INT, 2);
IS(DPF_TYPE_REAL, 3);
IS(DPF_TYPE_ENUM, 4);
IS(DPF_TYPE_STRING, 5);
IS(DPF_TYPE_PATH, 6);
IS(DPF_TYPE_INT_LIST, 7);
IS(DPF_TYPE_REAL_LIST, 8);
IS(DPF_PARAM_PRIVACY, 1);
IS(DPF_PARAM_REQUIRED, 2);
IS(DPF_PARAM_OPEN_LO, 4);
IS(DPF_PARAM_OPEN_HI, 8);
IS(DPF_PARAM_DEPRECATED, 16);
IS(DPF_COMPONENT_EXPERIMENTAL, 1);
IS(DPF_LOG_DEBUG, 0);
IS(DPF_LOG_INFO, 1);
IS(DPF_LOG_WARNING, 2);
IS(DPF_PARTY_AGGREGATE, 0xffffffff);
IS(DPF_LIFETIME_RUN, 1);
IS(DPF_LIFETIME_ROUND, 2);
IS(DPF_LIFETIME_SOLVE, 3);
IS(DPF_UNIT_RECORD, 0);
IS(DPF_UNIT_USER, 1);
IS(DPF_N_UNITS, 2);
IS(DPF_ADJ_REPLACE_VALUE, 0);
IS(DPF_ADJ_FLIP, 1);
IS(DPF_ADJ_REPLACE, 2);
IS(DPF_ADJ_ADD_REMOVE, 3);
IS(DPF_ADJ_ZERO_OUT, 4);
IS(DPF_N_ADJACENCIES, 5);
IS(DPF_UNIT_ROWS, 4);
IS(DPF_ADJACENCY_ROWS, 8);
IS(DPF_GRAM_BIT, 16);
IS(DPF_BLOCK_BITS, 32);
IS(DPF_OBSERVER_OUTSIDER, 0);
IS(DPF_OBSERVER_SERVER, 1);
IS(DPF_OBSERVER_PARTIES, 2);
IS(DPF_SIDE_USERS, 0);
IS(DPF_SIDE_ITEMS, 1);
IS(DPF_SAMPLING_NONE, 0);
IS(DPF_SAMPLING_POISSON, 1);
IS(DPF_SAMPLING_FIXED, 2);
IS(DPF_SAMPLING_REPLACED, 3);
IS(DPF_SAMPLING_WEIGHTED, 4);
IS(DPF_SAMPLING_CYCLIC, 5);
IS(DPF_EVENT_NO_OP, 0);
IS(DPF_EVENT_NON_PRIVATE, 1);
IS(DPF_EVENT_UNSUPPORTED, 2);
IS(DPF_EVENT_LAPLACE, 3);
IS(DPF_EVENT_GAUSSIAN, 4);
IS(DPF_EVENT_DISCRETE_LAPLACE, 5);
IS(DPF_EVENT_DISCRETE_GAUSSIAN, 6);
IS(DPF_EVENT_PURE, 7);
IS(DPF_EVENT_APPROX, 8);
IS(DPF_EVENT_ZCDP, 9);
IS(DPF_EVENT_SKELLAM, 10);
IS(DPF_EVENT_PBM, 11);
IS(DPF_EVENT_RANDOMIZED_RESPONSE, 12);
IS(DPF_EVENT_SELECTION, 13);
IS(DPF_EVENT_CANDIDATE, 14);
IS(DPF_REPETITIONS_NEGATIVE_BINOMIAL, 0);
IS(DPF_REPETITIONS_POISSON, 1);
IS(DPF_EVENT_CORRELATED_GAUSSIAN, 15);
IS(DPF_EVENT_NOISE_KNOWN, 1);
IS(DPF_EVENT_NOISE_SHARED, 2);
IS(DPF_EVENT_FLOATING_POINT, 4);
IS(DPF_EVENT_BOUNDS_FROM_DATA, 8);
IS(DPF_EVENT_DATA_BLIND, 16);
IS(DPF_EVENT_FLAGS, 31);
IS(DPF_FORM_GRADIENT, 1);
IS(DPF_FORM_QUADRATIC, 2);
IS(DPF_BLOCK_GRADIENT, 1);
IS(DPF_BLOCK_QUADRATIC, 2);
IS(DPF_BLOCK_LINEAR, 3);
IS(DPF_BLOCK_COUNT, 4);
IS(DPF_LAYOUT_PACKED, 1);
IS(DPF_LAYOUT_FULL, 2);
IS(DPF_LAYOUT_LOWER, 4);
IS(DPF_LAYOUT_OPERATOR, 8);
IS(DPF_MAX_BLOCKS, 8);
IS(DPF_SUPPORT_OBSERVED, 1);
IS(DPF_SUPPORT_DENSE, 2);
IS(DPF_ACCOUNTANT_PROOF, 1);
IS(DPF_ACCOUNTANT_CLAIM, 2);
IS(DPF_SEES_MESSAGES, 1);
IS(DPF_SEES_SUM, 2);
IS(DPF_AGGREGATOR_BY_ROWS, 1);
IS(DPF_AGGREGATOR_DENSE, 2);
IS(DPF_AGGREGATOR_ADDS, 4);
IS(DPF_AGGREGATOR_FILLS, 8);
IS(DPF_NOISE_NOWHERE, 0);
IS(DPF_NOISE_AT_PARTY, 1);
IS(DPF_NOISE_AT_SUM, 2);
IS(DPF_NOISE_IN_SHARES, 3);
IS(DPF_LEVEL_PARTY, 1);
IS(DPF_LEVEL_RECORD, 2);
IS(DPF_PARTIES_CURATOR, 0);
IS(DPF_PARTIES_SILOS_BY_USERS, 1);
IS(DPF_PARTIES_SILOS_BY_ITEMS, 2);
IS(DPF_PARTIES_USERS, 3);
IS(DPF_READS_CONSTANTS, 0);
IS(DPF_READS_RELEASES, 1);
IS(DPF_READS_OWN_RECORDS, 2);
IS(DPF_READS_RAW, 3);
IS(DPF_RELEASE_ROW_OF_USER, 1);
IS(DPF_RELEASE_SENT_BY_USERS, 2);
IS(DPF_RELEASE_COUNTS_USERS, 4);
IS(DPF_RELEASE_NOISE_BY_USERS, 8);
IS(DPF_RELEASE_OBSERVED_ONLY, 16);
IS(DPF_RELEASE_READS_DEGREES, 32);
IS(DPF_RELEASE_FACTS, 63);
IS(DPF_MAX_RELEASES, 16);
IS(DPF_RECOMMENDER_STATE_RELEASED, 1);
IS(DPF_RECOMMENDER_SCORES_AT_HOME, 2);
IS(DPF_SOLVER_GRADIENT, 1);
IS(DPF_SOLVER_QUADRATIC, 2);
IS(DPF_SOLVER_INDEFINITE, 4);
IS(DPF_SOLVER_DEGREES, 8);
IS(DPF_SOLVER_OPERATOR, 16);
IS(DPF_SOLVER_BY_RECORD, 64);
IS(DPF_TRANSFORM_RECORD, 1);
IS(DPF_TRANSFORM_FACTOR, 2);
IS(DPF_TRANSFORM_MESSAGE, 3);
IS(DPF_TRANSFORM_STATE, 4);
IS(DPF_TRANSFORM_PER_USER, 1);
IS(DPF_TRANSFORM_NEEDS_DENSE, 2);
IS(DPF_TRANSFORM_BY_WEIGHT, 4);
IS(DPF_TRANSFORM_ISOMETRY, 8);
IS(DPF_END_SERVER, 0);
IS(DPF_END_PARTY, 1);
IS(DPF_EXCHANGE_GOES_ON, 0);
IS(DPF_EXCHANGE_REFUSED, 1);
IS(DPF_EXCHANGE_OVER, 2);
IS(DPF_LINK_LOCAL, 1);
IS(DPF_LINK_PROTECTED, 2);
IS(DPF_LINK_SERVES, 0);
IS(DPF_LINK_JOINS, 1);
IS(DPF_LINK_SERVER, 0);
IS(DPF_LINK_NOTHING, 0);
IS(DPF_LINK_OPENED, 1);
IS(DPF_LINK_MESSAGE, 2);
IS(DPF_LINK_CLOSED, 3);

/* Names that the host and plugins find each other by. */
static const struct {
    const char *now;
    const char *released;
} names[] = {
    {DPF_ENTRY_NAME, "dpframe_plugin_v1"},
    {DPF_SERVICE_MEMORY, "dpframe.memory/1"},
    {DPF_SERVICE_LOG, "dpframe.log/1"},
    {DPF_SERVICE_RANDOM, "dpframe.random/1"},
    {DPF_ROLE_ACCOUNTANT, "dpframe.accountant/1"},
    {DPF_ROLE_AGGREGATOR, "dpframe.aggregator/1"},
    {DPF_ROLE_COMM, "dpframe.comm/1"},
    {DPF_ROLE_LOSS, "dpframe.loss/1"},
    {DPF_ROLE_MECHANISM, "dpframe.mechanism/1"},
    {DPF_ROLE_RECOMMENDER, "dpframe.recommender/1"},
    {DPF_ROLE_SAMPLER, "dpframe.sampler/1"},
    {DPF_ROLE_SOLVER, "dpframe.solver/1"},
    {DPF_ROLE_TRANSFORM, "dpframe.transform/1"},
    {DPF_ROLE_LINK, "dpframe.link/1"},
};
/* clang-format on */

int main(void)
{
    int changed = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i].now, names[i].released) != 0) {
            printf("\"%s\" has become \"%s\"\n", names[i].released, names[i].now);
            changed = 1;
        }
    }
    return changed;
}
