/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/moved_releases.h"

/* The ratings of the pair that is being compared, a line for each user; 0: none. */
static int (*shown_pair)[USERS][ITEMS];

/* cmocka cuts long messages, so the pipeline is printed apart. */
static void pipeline_fails(const struct pipeline *p, const char *format, ...) DPF_PRINTF(2, 3);

static int seen_term(const struct world *by, const struct seen *seen)
{
    const struct term_plan *term = &by->training.plan.sides[seen->side].terms[seen->term];
    for (int t = 0; t < by->n_terms; t++)
        if (by->terms[t] == term)
            return t;
    fail_msg("a term that is not solved");
    return 0;
}

static int64_t seen_row(const struct seen *seen, int64_t r)
{
    return seen->rows ? seen->rows[r] : seen->first_row + r;
}

const char *const names[USERS + 1] = {"-3", "1", "7", "b", "zz", "5"};

int64_t user_id(const struct world *world, int64_t index)
{
    const char *id = id_map_text(&world->training.dataset.users, index);
    int64_t u = 0;
    while (u <= USERS && strcmp(names[u], id) != 0)
        u++;
    assert_true(u <= USERS);
    return u;
}

static int64_t row_key(const struct world *world, const struct term_plan *term, int gram, int64_t row)
{
    const int of_user = term->side == DPF_SIDE_USERS && row < world->training.dataset.users.n;
    return gram ? -1 : of_user ? user_id(world, row) : row;
}

static int64_t party_key(const struct world *world, int by_message, uint32_t party)
{
    if (!by_message)
        return 0;
    /* Users have other numbers where one is missing; silos keep theirs. */
    const int is_user = world->training.plan.parties.params.values[PARTIES_KIND].integer == PARTIES_USERS;
    return is_user && (int64_t)party < world->training.dataset.users.n ? user_id(world, party) : party;
}

struct cell *cell_of(struct world *world, const struct cell *key)
{
    for (int i = 0; i < world->n; i++) {
        struct cell *c = &world->cells[i];
        if (c->term == key->term && c->round == key->round && c->draw == key->draw &&
            c->party == key->party && c->gram == key->gram && c->row == key->row)
            return c;
    }
    return NULL;
}

static struct cell *cell_for(struct world *world, const struct cell *key)
{
    struct cell *c = cell_of(world, key);
    if (c)
        return c;
    assert_true(world->n < MAX_CELLS);
    c = &world->cells[world->n++];
    *c = *key;
    return c;
}

/* What a party adds to a row, in steps of the grid. */
static dpf_status write_down(const struct seen *seen, int64_t r, struct cell *c)
{
    const int gram = seen_row(seen, r) == seen->gram_row;
    c->messages++;
    for (int32_t b = 0; b < seen->query->n_blocks; b++) {
        const dpf_block *block = &seen->query->blocks[b];
        const double grid = gram ? seen->noise->gram_grid[b] : seen->noise->grid[b];
        for (int32_t i = block->offset; i < block->offset + block->length; i++) {
            int64_t steps;
            if (!dpf_additive_to_integer(seen->exact[r * seen->width + i] / grid, 0x1p58, &steps))
                return DPF_E_RANGE;
            c->sent[i] += steps;
        }
    }
    return DPF_OK;
}

dpf_status see_part(struct world *by, const struct seen *seen)
{
    const int t = seen_term(by, seen);
    dpf_status status = DPF_OK;
    assert_true(seen->width <= MAX_WIDTH);
    for (int64_t r = 0; r < seen->n_rows && status == DPF_OK; r++) {
        const int64_t row = seen_row(seen, r);
        const int gram = row == seen->gram_row;
        const struct cell key = {.term = t,
                                 .round = seen->round,
                                 .gram = gram,
                                 .draw = seen->index,
                                 .party = party_key(by, by->by_message[t], seen->party),
                                 .row = row_key(by, by->terms[t], gram, row)};
        status = write_down(seen, r, cell_for(by, &key));
    }
    return status;
}

double arbitrary(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) ^ b * UINT64_C(0xbf58476d1ce4e5b9) ^
                 c * UINT64_C(0x94d049bb133111eb);
    for (int i = 0; i < 3; i++) {
        x ^= x >> 29;
        x *= UINT64_C(0xbf58476d1ce4e5b9);
    }
    return (double)(int64_t)(x ^ x >> 32) * 0x1p-63;
}

static void choose_release(const struct world *by, const struct seen *seen)
{
    const int t = seen_term(by, seen);
    for (int64_t r = 0; r < seen->n_rows; r++) {
        const int64_t row = seen_row(seen, r);
        const int64_t key = row_key(by, by->terms[t], row == seen->gram_row, row);
        for (int32_t i = 0; i < seen->width; i++)
            seen->numbers[r * seen->stride + i] =
                by->size * arbitrary((uint64_t)key * 64 + (uint64_t)i,
                                     (uint64_t)seen->round * 4096 + seen->index,
                                     (uint64_t)t * 97 + seen->party);
    }
}

dpf_status look(void *context, const struct seen *seen)
{
    struct world *by = context;
    if (seen->what == SEES_PARTS)
        return see_part(by, seen);
    choose_release(by, seen);
    return DPF_OK;
}

/* Whether the observer sees each message, whose noise then has to cover it alone. */
static int sees_messages(const struct plan *plan, const struct term_plan *term)
{
    const dpf_aggregator *aggregator = term->aggregator->functions;
    if (plan->sides[term->side].solve_at == SOLVE_AT_PARTY || term->source == SOURCE_RELATION)
        return 1;
    return plan->parties.params.values[PARTIES_KIND].integer != PARTIES_CURATOR &&
           plan->guarantee.observer != DPF_OBSERVER_OUTSIDER && aggregator->sees == DPF_SEES_MESSAGES;
}

static void find_terms(struct world *world)
{
    const struct plan *plan = &world->training.plan;
    world->n_terms = 0;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < plan->sides[side].n_terms; i++) {
            const struct term_plan *term = &plan->sides[side].terms[i];
            if (!plan->sides[side].updated || !term->mechanism)
                continue;
            assert_true(world->n_terms < MAX_TERMS);
            world->by_message[world->n_terms] = sees_messages(plan, term);
            world->terms[world->n_terms++] = term;
        }
}

int user_leaves(const struct pipeline *p)
{
    return p->unit == DPF_UNIT_USER && p->adjacency == DPF_ADJ_ADD_REMOVE;
}

/* Whose contribution is nothing does not change how rows are mixed: the test's files, without it, would. */
static int is_out_of_reach(const struct pipeline *p, const struct plan *plan)
{
    int mixed = 0;
    const struct side_plan *users = &plan->sides[DPF_SIDE_USERS];
    for (int i = 0; users->updated && i < users->n_terms; i++)
        for (int k = 0; k < users->terms[i].n_transforms; k++)
            mixed |= ((const dpf_transform *)users->terms[i].transforms[k]->functions)->rows != NULL;
    return user_leaves(p) && mixed;
}

char keyed[512];

int catalogued, stranger;

void write_ratings(int ratings[USERS][ITEMS], int absent)
{
    static const char head[] = "user,item,rating\n";
    char text[4096], test[1024];
    snprintf(text, sizeof text, "%s", head);
    if (stranger >= 0 && stranger != absent)
        snprintf(text, sizeof text, "%s%s,stranger,5\n", head, names[stranger]);
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s,0,3\n", names[CONSTANT]);
    snprintf(test, sizeof test, "%s%s,%d,3\n", head, names[CONSTANT], ITEMS);
    for (int u = 0; u < USERS; u++) {
        for (int i = 0; i < ITEMS; i++)
            if (ratings[u][i])
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s,%d,%d\n", names[u], i,
                         ratings[u][i]);
        for (int i = catalogued ? ITEMS : 0; i <= ITEMS && u != absent; i++)
            if (i == ITEMS || !ratings[u][i])
                snprintf(test + strlen(test), sizeof test - strlen(test), "%s,%d,3\n", names[u], i);
    }
    training_file("ratings.csv", text);
    training_file("test.csv", test);
}

/* Nothing is evaluated here. */
static void skip_evaluation(struct config *config)
{
    for (int64_t i = 0; i < config_size(config); i++)
        if (strcmp(config_at(config, i)->section, "evaluate") == 0)
            config_consume(config, "evaluate", config_at(config, i)->key);
}

int train(struct world *world, const struct pipeline *p, double size)
{
    struct training *t = &world->training;
    struct pool *pool = pool_new(1);
    memset(t, 0, sizeof *t);
    world->n = 0;
    struct plan *plan = &t->plan;
    t->status = training_plan(plan, p->text, keyed, &t->error);
    if (t->status == 0)
        skip_evaluation(plan->config);
    if (t->status == 0)
        t->status = data_read(&plan->data, &plan->split, plan->seeded, pool, &t->dataset, &t->error);
    if (t->status == 0)
        t->status = plan_complete(plan, t->dataset.users.n, t->dataset.items.n, &t->error);
    if (t->status == 0 && plan->guarantee.plan_holds)
        t->status = model_init(&t->model, plan, &t->dataset, &t->error);
    if (t->status == 0 && plan->guarantee.plan_holds) {
        const struct observer observer = {
            .context = world, .wants = SEES_PARTS | SEES_SUMS, .replays = 1, .saw = look};
        const struct engine_hooks hooks = {.observer = &observer};
        find_terms(world);
        world->size = size;
        t->status = engine_run(plan, &t->dataset, pool, &t->model, &hooks, &t->stats, &t->error);
    }
    pool_free(pool);
    return t->status;
}

static void add_difference(const struct term_plan *term, const struct cell *a, const struct cell *b,
                           struct moved *out)
{
    const struct cell *any = a ? a : b;
    for (int32_t k = 0; k < term->sent.n_blocks; k++) {
        const dpf_block *block = &term->sent.blocks[k];
        const double grid = any->gram ? term->noise.gram_grid[k] : term->noise.grid[k];
        dpf_norms *norms = &out->blocks[k + (any->gram ? term->sent.n_blocks : 0)];
        for (int32_t i = block->offset; i < block->offset + block->length; i++) {
            const double x = fabs((double)((a ? a->sent[i] : 0) - (b ? b->sent[i] : 0))) * grid;
            out->coordinates += x > 0;
            norms->l1 += x;
            norms->l2 = hypot(norms->l2, x);
            norms->linf = fmax(norms->linf, x);
        }
    }
}

struct moved *release_of(struct moved *list, int *n, const struct cell *cell)
{
    for (int i = 0; i < *n; i++)
        if (list[i].round == cell->round && list[i].draw == cell->draw)
            return &list[i];
    assert_true(*n < 16);
    list[*n] = (struct moved){.round = cell->round, .draw = cell->draw};
    return &list[(*n)++];
}

static void (*correlation_of(const struct term_plan *term))(void *, const dpf_noise_plan *, double *, int64_t)
{
    return ((const dpf_mechanism *)term->mechanism->functions)->correlation;
}

/* What C of a mechanism whose noise is correlated between rounds makes of the cells of a row up to one of
 * them. */
static struct cell mixed_cell(struct world *world, int t, const struct cell *at)
{
    struct cell out = *at, key = *at;
    double c[MAX_RUN], sum[MAX_WIDTH] = {0};
    assert_true(at->round < MAX_RUN);
    correlation_of(world->terms[t])(world->terms[t]->mechanism->self, &world->terms[t]->noise, c,
                                    at->round + 1);
    for (int back = 0; back <= at->round; back++) {
        key.round = at->round - back;
        key.draw = (uint32_t)key.round;
        const struct cell *earlier = cell_of(world, &key);
        for (int i = 0; earlier && i < MAX_WIDTH; i++)
            sum[i] += c[back] * (double)earlier->sent[i];
    }
    for (int i = 0; i < MAX_WIDTH; i++)
        out.sent[i] = llrint(sum[i]);
    return out;
}

int compare_runs(struct world *a, struct world *b, int t, struct moved *out)
{
    const int64_t rounds = a->training.plan.run.params.values[RUN_ROUNDS].integer;
    *out = (struct moved){.round = 0};
    for (int w = 0; w < 2; w++)
        for (int i = 0; i < (w ? b : a)->n; i++) {
            struct cell key = (w ? b : a)->cells[i];
            const int known = w && cell_of(a, &key) != NULL;
            int first = key.term == t && !known;
            for (key.round--; first && key.round >= 0; key.round--) { /* each row once */
                key.draw = (uint32_t)key.round;
                first = !cell_of(a, &key) && !cell_of(b, &key);
            }
            for (key.round = 0; first && key.round < rounds; key.round++) {
                key.draw = (uint32_t)key.round;
                const struct cell x = mixed_cell(a, t, &key), y = mixed_cell(b, t, &key);
                add_difference(b->terms[t], &x, &y, out);
            }
        }
    return 1;
}

int compare_releases(struct world *a, struct world *b, int t, struct moved *out)
{
    const struct term_plan *term = b->terms[t];
    int n = 0;
    if (correlation_of(term))
        return compare_runs(a, b, t, out);
    for (int i = 0; i < a->n; i++)
        if (a->cells[i].term == t)
            add_difference(term, &a->cells[i], cell_of(b, &a->cells[i]), release_of(out, &n, &a->cells[i]));
    for (int i = 0; i < b->n; i++)
        if (b->cells[i].term == t && !cell_of(a, &b->cells[i]))
            add_difference(term, NULL, &b->cells[i], release_of(out, &n, &b->cells[i]));
    return n;
}

double charged(const struct plan *plan, const dpf_event *event)
{
    struct plain_host plain;
    const struct guarantee *g = &plan->guarantee;
    const dpf_question question = {.size = sizeof question,
                                   .unit = g->unit,
                                   .adjacency = g->adjacency,
                                   .observer = g->observer,
                                   .delta = 1e-5};
    dpf_charge charge;
    plain_init(&plain, NULL);
    const dpf_status status = dpf_charge_event(&plain.host, event, 0, &question, &charge);
    if (status != DPF_OK || charge.unbounded)
        return -1;
    return charge.copies == 0 ? 0 : charge.sensitivity;
}

/* How far the event's blocks moved, in its norm and in units of its scale. */
static double moved_of(const struct term_plan *term, const dpf_event *event, const struct moved *moved)
{
    const int norm = dpf_event_norm(event->kind);
    double sum = 0;
    for (int bit = 0; bit < DPF_BLOCK_BITS; bit++) {
        const int gram = bit >= DPF_GRAM_BIT, b = bit % DPF_GRAM_BIT;
        if (!(event->blocks >> bit & 1))
            continue;
        const double scale = gram ? term->noise.gram_scale[b] : term->noise.scale[b];
        const dpf_norms *norms = &moved->blocks[b + (gram ? term->sent.n_blocks : 0)];
        const double by = (norm == 2 ? norms->l2 : norms->l1) * (scale > 0 ? event->scale / scale : 1);
        sum = norm == 2 ? hypot(sum, by) : sum + by;
    }
    return sum;
}

static const struct term_plan *ledger_term(const struct plan *plan, int64_t e)
{
    const dpf_event *event = &plan->ledger.entries[e].event;
    return &plan->sides[event->side].terms[event->term];
}

double part_used(const struct plan *plan, const struct term_plan *term, const struct moved *moved)
{
    double most = 0;
    for (int64_t e = 0; e < plan->ledger.n; e++) {
        const dpf_event *event = &plan->ledger.entries[e].event;
        if (ledger_term(plan, e) != term)
            continue;
        if (event->kind == DPF_EVENT_PBM)
            return (double)moved->coordinates / event->p.pbm.coordinates; /* each of which is clipped */
        const double stated = charged(plan, event), by = moved_of(term, event, moved);
        if (stated >= 0 && by > 0)
            most = fmax(most, by / stated);
    }
    return most;
}

static void print_pair(void)
{
    for (int w = 0; shown_pair && w < 2; w++)
        for (int u = 0; u < USERS; u++) {
            printf("; ratings %d %d:", w, u + 1);
            for (int i = 0; i < ITEMS; i++)
                printf(" %d", shown_pair[w][u][i]);
            printf("\n");
        }
}

static void pipeline_fails(const struct pipeline *p, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    printf("FAULT %s\n%s%s", text, p->text, keyed);
    print_pair();
    if (!getenv("DPFRAME_RANDOM_TELL"))
        fail_msg("%s", text);
}

/* Counts of records that are declared to be public, and of users who send, are the same for neighbours, but
   not in the test's data sets without the unit: what is made from them, and the rounds that follow, cannot be
   compared. */
static int counts_differ(const struct pipeline *p, const struct world *world)
{
    int counted = p->support_public;
    for (int t = 0; t < world->n_terms && user_leaves(p); t++)
        counted |= plan_counts_users(world->terms[t]);
    return counted && p->adjacency != DPF_ADJ_REPLACE_VALUE;
}

/* Rows that are released were made from the same releases. */
static void assert_same_rows(const struct pipeline *p, struct world *a, struct world *b)
{
    const struct training *x = &a->training, *y = &b->training;
    if (counts_differ(p, b))
        return;
    for (int side = 0; side < 2; side++) {
        const struct side_plan *plan = &x->plan.sides[side];
        const int64_t rows = x->model.sides[side].rows;
        if (!plan->updated || !plan->public_rows || rows != y->model.sides[side].rows)
            continue;
        for (int64_t r = 0; r < rows; r++)
            if (memcmp(training_row(x, side, r), training_row(y, side, r),
                       (size_t)x->model.columns * sizeof(float)) != 0)
                return pipeline_fails(p, "row %lld of %s was made from more than what was released",
                                      (long long)r, plan_side_name(side));
    }
}

/* Not more releases move than are counted, which matters where participations are capped. */
static void assert_counted(const struct pipeline *p, const struct world *world, int t,
                           const struct moved *moved, int n)
{
    const struct plan *plan = &world->training.plan;
    const struct term_plan *term = world->terms[t];
    int64_t moving = 0, counted = 0;
    for (int i = 0; i < n; i++)
        moving += moved[i].coordinates > 0;
    for (int64_t e = 0; e < plan->ledger.n && !counted; e++)
        if (ledger_term(plan, e) == term)
            counted = plan->ledger.entries[e].event.count;
    if (moving > counted && !counts_differ(p, world))
        pipeline_fails(p, "%lld releases of %s move, %lld are counted", (long long)moving, term->name,
                       (long long)counted);
}

/* Where clients' own trials are the noise, each row has as many of them as are counted on. */
static void assert_shared(const struct pipeline *p, int t, const struct world *world)
{
    const struct plan *plan = &world->training.plan;
    for (int64_t e = 0; e < plan->ledger.n; e++) {
        const dpf_event *event = &plan->ledger.entries[e].event;
        if (event->kind != DPF_EVENT_PBM || ledger_term(plan, e) != world->terms[t] || world->by_message[t])
            continue;
        int64_t most = 0; /* with fewer senders than are counted on nothing is decoded */
        for (int i = 0; i < world->n; i++)
            if (world->cells[i].term == t && world->cells[i].messages > most)
                most = world->cells[i].messages;
        for (int i = 0; i < world->n && (double)most >= event->p.pbm.clients; i++)
            if (world->cells[i].term == t && (double)world->cells[i].messages < event->p.pbm.clients)
                return pipeline_fails(p, "row %lld of %s has the trials of %lld clients, %g are counted on",
                                      (long long)world->cells[i].row, world->terms[t]->name,
                                      (long long)world->cells[i].messages, event->p.pbm.clients);
    }
}

void compare(const struct pipeline *p, struct world *a, struct world *b, double *most)
{
    const struct plan *plan = &b->training.plan;
    for (int t = 0; t < b->n_terms; t++) {
        struct moved moved[16];
        assert_shared(p, t, a);
        assert_shared(p, t, b);
        const int n = compare_releases(a, b, t, moved);
        assert_counted(p, b, t, moved, n);
        for (int i = 0; i < n; i++) {
            if (counts_differ(p, b) && moved[i].round > 0)
                continue;
            const double used = part_used(plan, b->terms[t], &moved[i]);
            if (used > 1)
                pipeline_fails(p, "round %d: a unit moves %s by %.9g of what is stated", moved[i].round + 1,
                               b->terms[t]->name, used);
            *most = fmax(*most, used);
        }
    }
    assert_same_rows(p, a, b);
}

struct world worlds[2];

enum outcome measure_pair(const struct pipeline *p, int ratings[2][USERS][ITEMS], int absent, int strange,
                          double size, double *most)
{
    int broken[2] = {0, 0};
    enum outcome outcome = COMPARED;
    shown_pair = ratings;
    for (int w = 0; w < 2; w++) {
        stranger = w == 0 ? strange : -1;
        write_ratings(ratings[w], w == 1 ? absent : -1);
        broken[w] = train(&worlds[w], p, size) != 0;
        const struct plan *plan = &worlds[w].training.plan;
        if (!plan->guarantee.plan_holds || is_out_of_reach(p, plan)) {
            outcome = broken[w] && !plan->guarantee.plan_holds ? REFUSED : UNPROVED;
            break;
        }
    }
    if (outcome == COMPARED && broken[0] != broken[1])
        pipeline_fails(p, "one of two neighbours completes, the other says: %.150s",
                       worlds[broken[1]].training.error.text);
    else if (outcome == COMPARED && broken[0])
        outcome = BROKEN;
    else if (outcome == COMPARED)
        compare(p, &worlds[0], &worlds[1], most);
    shown_pair = NULL;
    return outcome;
}

void use_catalogue(struct pipeline *p, int yes)
{
    const size_t used = strlen(p->text);
    /* The test's neighbours have the same lists of ids, but for users who leave. */
    snprintf(p->text + used, sizeof p->text - used, "[privacy]\nid-lists = public\n");
    if (p->unit == DPF_UNIT_USER && !user_leaves(p))
        snprintf(p->text + strlen(p->text), sizeof p->text - strlen(p->text),
                 "[data]\nusers-file = %s/users.txt\n", training_directory);
    catalogued = yes;
    if (yes)
        snprintf(p->text + strlen(p->text), sizeof p->text - strlen(p->text),
                 "[data]\nitems-file = %s/catalogue.txt\n", training_directory);
}

void forget_pair(void)
{
    training_free(&worlds[0].training);
    training_free(&worlds[1].training);
    memset(&worlds[0].training, 0, sizeof worlds[0].training);
    memset(&worlds[1].training, 0, sizeof worlds[1].training);
}

int worlds_begin(void **state)
{
    for (int w = 0; w < 2; w++) {
        worlds[w].cells = calloc(MAX_CELLS, sizeof *worlds[w].cells);
        if (!worlds[w].cells)
            return -1;
    }
    if (training_begin(state) != 0)
        return -1;
    training_file("catalogue.txt", "3\n6\n0\n5\n1\n4\n2\n");
    training_file("users.txt", "b\n-3\n5\n1\nzz\n7\n");
    return 0;
}

int worlds_end(void **state)
{
    for (int w = 0; w < 2; w++)
        free(worlds[w].cells);
    return training_end(state);
}

void write_weights(void)
{
    training_file("weights-users.txt", "5 0.3\n-3 1\n1 0.5\n7 0.8\nb 0.6\nzz 1\n");
    training_file("weights-items.txt", "0 0.5\n1 1\n2 0.3\n3 0.7\n4 0.9\n5 1\n6 1\n");
}
