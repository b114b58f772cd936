/* SPDX-License-Identifier: Apache-2.0 */
/* Who is attacked, what is looked at, and the coins. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "audit/attack.h"
#include "audit/crew.h"
#include "base/memory.h"
#include "base/prf.h"

static const struct csr *records_of(const struct attack *attack)
{
    return &attack->base->train.by_user;
}

static int64_t row_length(const struct csr *csr, int64_t row)
{
    return csr->ptr[row + 1] - csr->ptr[row];
}

/* ---- users --------------------------------------------------------------------------------------------- */

struct lot {
    uint64_t draw;
    int32_t user;
};

static int by_draw(const void *a, const void *b)
{
    const struct lot *x = a, *y = b;
    if (x->draw != y->draw)
        return x->draw < y->draw ? -1 : 1;
    return (x->user > y->user) - (x->user < y->user);
}

/* All users with two records or more, in random order: one record would leave the attacker nothing to know.
 */
static int64_t draw_lots(const struct attack *attack, const struct prf *prf, struct lot *lots)
{
    int64_t n = 0;
    for (int64_t user = 0; user < attack->base->users.n; user++)
        if (row_length(records_of(attack), user) >= 2)
            lots[n++] = (struct lot){prf_value(prf, id_map_text(&attack->base->users, user)), (int32_t)user};
    qsort(lots, (size_t)n, sizeof *lots, by_draw);
    return n;
}

/* ---- items --------------------------------------------------------------------------------------------- */

struct candidate {
    int64_t records;
    int32_t item;
};

static int by_rarity(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->records != y->records)
        return x->records < y->records ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

/* The item in question, at random among the user's or the rarest of them; then the others. */
static void choose_items(const struct attack *attack, enum attack_item which, const struct prf *prf,
                         struct canary *target, struct attack_probe *probe)
{
    const struct csr *csr = records_of(attack);
    const int64_t n = row_length(csr, target->user);
    struct candidate *all = memory_need((size_t)n, sizeof *all);
    struct prf within;
    int64_t asked = 0;
    uint64_t least = UINT64_MAX;
    prf_within(prf, id_map_text(&attack->base->users, target->user), &within);
    for (int64_t i = 0; i < n; i++) {
        const int32_t item = csr->others[csr->ptr[target->user] + i];
        all[i] = (struct candidate){row_length(&attack->base->train.by_item, item), item};
    }
    qsort(all, (size_t)n, sizeof *all, by_rarity);
    for (int64_t i = 0; i < n && which == ATTACK_ITEM_RANDOM; i++) {
        const uint64_t draw = prf_value(&within, id_map_text(&attack->base->items, all[i].item));
        if (draw < least) {
            least = draw;
            asked = i;
        }
    }
    target->item = attack->game == ATTACK_ATTRIBUTE ? all[asked].item : -1;
    if (attack->game == ATTACK_ATTRIBUTE)
        probe->items[probe->n++] = target->item;
    for (int64_t i = 0; i < n && probe->n < ATTACK_PROBES; i++)
        if (all[i].item != target->item)
            probe->items[probe->n++] = all[i].item;
    free(all);
}

/* ---- what the attacker knows --------------------------------------------------------------------------- */

/* The records of targets, without the one in question; of all others none. */
static int make_known(struct attack *attack, struct dpf_error *error)
{
    const struct dataset *base = attack->base;
    const int64_t users = base->users.n;
    const struct neighbours without = {
        .unit = DPF_UNIT_USER, .adjacency = DPF_ADJ_ZERO_OUT, .as_they_are = 1};
    struct canary *all = memory_need((size_t)users, sizeof *all);
    unsigned char *bits = memory_need((size_t)users, 1);
    for (int64_t user = 0; user < users; user++) {
        all[user] = (struct canary){(int32_t)user, -1};
        bits[user] = 1;
    }
    for (int64_t t = 0; t < attack->n_targets; t++) {
        all[attack->targets[t].user] = attack->targets[t];
        bits[attack->targets[t].user] = attack->game == ATTACK_ATTRIBUTE;
    }
    const int status = neighbours_make(base, &without, all, bits, users, &attack->known, error);
    free(all);
    free(bits);
    return status;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static int64_t factor_width(const struct attack *attack)
{
    const struct plan *plan = attack->plan;
    const int64_t scores = ATTACK_PROBES + 2;
    if (!plan_has(plan, MODEL_HAS_ROUNDS))
        return scores;
    const int64_t rows = (ATTACK_NUMBERS - scores) / plan->columns;
    return scores + (rows < ATTACK_PROBES + 1 ? rows : ATTACK_PROBES + 1) * plan->columns;
}

static int make_room(struct attack *attack, struct dpf_error *error)
{
    const int64_t cells = attack->trainings * attack->n_targets;
    attack->width[ATTACK_FACTORS] = factor_width(attack);
    attack->width[ATTACK_LISTS] = attack->n_witnesses > 0 ? ATTACK_PROBES : 0;
    attack->width[ATTACK_OWN_LIST] = attack->game == ATTACK_ATTRIBUTE ? attack->list_length : 0;
    attack->in = memory_new((size_t)cells, 1);
    int ready = attack->in != NULL;
    for (int view = 0; view < ATTACK_N_VIEWS; view++) {
        if (attack->width[view] == 0)
            continue;
        attack->numbers[view] = crew_memory((size_t)(cells * attack->width[view]) * sizeof(float));
        ready &= attack->numbers[view] != NULL;
    }
    return ready ? 0 : error_memory(error);
}

static int flip_coins(struct attack *attack, const struct random_root *root, struct dpf_error *error)
{
    dpf_stream *stream = random_stream_open(root, "audit", "attack coins", error);
    if (!stream)
        return -1;
    for (int64_t t = 0; t < attack->trainings; t++) {
        dpf_cursor cursor;
        random_seek(stream, (uint32_t)t, 0, (uint32_t)attack->game, &cursor);
        random_bernoulli(&cursor, 0.5, attack->in + t * attack->n_targets, attack->n_targets);
    }
    random_stream_free(stream);
    return 0;
}

static int choose(struct attack *attack, int64_t wanted, enum attack_item which,
                  const struct random_root *root, struct dpf_error *error)
{
    struct prf of_users, of_items;
    struct lot *lots = memory_need((size_t)attack->base->users.n + 1, sizeof *lots);
    prf_open(root, "audit", "attack users", &of_users);
    prf_open(root, "audit", "attack items", &of_items);
    const int64_t n = draw_lots(attack, &of_users, lots);
    /* Half of the users at most: the others are whom they hide among. */
    attack->n_targets = wanted < n / 2 ? wanted : n / 2;
    attack->targets = memory_need((size_t)attack->n_targets + 1, sizeof *attack->targets);
    attack->probes = memory_need((size_t)attack->n_targets + 1, sizeof *attack->probes);
    attack->witnesses = memory_need(ATTACK_WITNESSES, sizeof *attack->witnesses);
    int status = 0;
    if (attack->n_targets < 2)
        status = error_set(error, DPF_FAULT_DATA,
                           "an attack needs four users with two training records or more; there are %lld",
                           (long long)n);
    for (int64_t t = 0; t < attack->n_targets && status == 0; t++) {
        attack->targets[t].user = lots[t].user;
        choose_items(attack, which, &of_items, &attack->targets[t], &attack->probes[t]);
    }
    for (int64_t i = attack->n_targets; i < n && attack->n_witnesses < ATTACK_WITNESSES; i++)
        attack->witnesses[attack->n_witnesses++] = lots[i].user;
    free(lots);
    return status;
}

int attack_open(struct attack *attack, int64_t n_targets, enum attack_item which, struct dpf_error *error)
{
    struct random_root *root = random_root_seeded(attack->seed, "audit attack", error);
    if (!root)
        return -1;
    int status = choose(attack, n_targets, which, root, error);
    if (status == 0)
        status = make_room(attack, error);
    if (status == 0)
        status = flip_coins(attack, root, error);
    if (status == 0)
        status = make_known(attack, error);
    random_root_free(root);
    return status;
}

void attack_close(struct attack *attack)
{
    for (int view = 0; view < ATTACK_N_VIEWS; view++)
        if (attack->numbers[view])
            munmap(attack->numbers[view],
                   (size_t)(attack->trainings * attack->n_targets * attack->width[view]) * sizeof(float));
    dataset_free(&attack->known);
    free(attack->targets);
    free(attack->probes);
    free(attack->witnesses);
    free(attack->in);
    memset(attack, 0, sizeof *attack);
}
