/* SPDX-License-Identifier: Apache-2.0 */
/* A sum is opened, added to and closed once; one that honest messages cannot add up to is not believed, and leaves nothing. */
#include <math.h>
#include <string.h>

#include "kit/test.h"
#include "engine/sum.h"

#define ROWS 4
#define WIDTH 3
#define N (ROWS * WIDTH)

static dpf_status absorb(void *self, const dpf_call *call, dpf_aggregation *into, const dpf_encoded *message)
{
    (void)self;
    (void)call;
    for (int64_t i = 0; i < N; i++) {
        const uint64_t s = (uint64_t)into->sums[i] + (uint64_t)message->values[i];
        into->sums[i] = (int64_t)(into->modulus ? (s + 4 * into->modulus) % into->modulus : s);
    }
    into->survivors++;
    into->bytes_up += 10;
    return DPF_OK;
}

static dpf_status merge(void *self, const dpf_call *call, dpf_aggregation *into, const dpf_aggregation *from)
{
    (void)self;
    (void)call;
    for (int64_t i = 0; i < N; i++)
        into->sums[i] += from->sums[i];
    into->survivors += from->survivors;
    into->bytes_up += from->bytes_up;
    return DPF_OK;
}

static double scale(void *self, int64_t survivors)
{
    (void)self;
    return 1.0 / (double)survivors;
}

static const dpf_aggregator aggregator = {
    .flags = DPF_AGGREGATOR_ADDS, .absorb = absorb, .merge = merge, .scale = scale};

struct fixture {
    struct instance instance;
    struct worker *workers[2];
    struct sum sum;
    struct sum_shape shape;
    struct sum_hands hands;
    struct sum_bound bounds[2 * WIDTH];
    struct dpf_error error;
};

static void begin(struct fixture *f, int parts)
{
    memset(f, 0, sizeof *f);
    f->instance.functions = &aggregator;
    for (int w = 0; w < 2; w++)
        assert_non_null(f->workers[w] = worker_new(w, 2));
    for (int i = 0; i < 2 * WIDTH; i++)
        f->bounds[i] = (struct sum_bound){.message = 100};
    f->shape = (struct sum_shape){
        .aggregator = &f->instance, .rows = ROWS, .width = WIDTH, .n_parties = 10, .bounds = f->bounds};
    f->hands = (struct sum_hands){.workers = f->workers, .n = parts, .step = "round 1, items"};
}

static void end(struct fixture *f)
{
    sum_free(&f->sum);
    for (int w = 0; w < 2; w++)
        worker_free(f->workers[w]);
}

static int add(struct fixture *f, int worker, int64_t first, int64_t others)
{
    int64_t values[N];
    for (int i = 0; i < N; i++)
        values[i] = i == 0 ? first : others;
    const dpf_encoded message = {.size = sizeof message,
                                 .width = WIDTH,
                                 .n_rows = ROWS,
                                 .total_rows = ROWS,
                                 .values = values,
                                 .stride = WIDTH,
                                 .survivors = 1};
    return sum_add(&f->sum, worker, 0, &message, &f->error);
}

/* Two messages, one of which has `first`. Whether the sum is believed. */
static int believes(struct fixture *f, int64_t first)
{
    sum_clear(&f->sum);
    f->error = (struct dpf_error){0};
    assert_int_equal(sum_open(&f->sum, &f->shape, &f->hands, &f->error), 0);
    assert_int_equal(add(f, 0, first, 1), 0);
    assert_int_equal(add(f, f->hands.n - 1, 0, 1), 0);
    const int status = sum_close(&f->sum, &f->error);
    assert_int_equal(status == 0, sum_result(&f->sum) != NULL);
    for (int i = 0; i < N && status != 0; i++) /* nothing is left, in any part */
        for (int w = 0; w < f->sum.n_parts; w++)
            assert_int_equal(f->sum.parts[w].aggregation.sums[i], 0);
    if (status != 0)
        assert_non_null(strstr(f->error.text, "a party has sent a false message"));
    return status == 0;
}

TEST(honest_messages_pass_and_others_do_not)
{
    for (int parts = 1; parts <= 2; parts++) {
        struct fixture f;
        begin(&f, parts);
        assert_true(believes(&f, 200)); /* 2 messages of 100 */
        assert_true(believes(&f, -200));
        assert_false(believes(&f, 203));
        assert_false(believes(&f, -203));
        assert_false(believes(&f, INT64_C(1) << 61));
        f.bounds[0].variance = 8; /* 64 (sqrt(2 * 8) + 1) more */
        assert_true(believes(&f, 520));
        assert_false(believes(&f, 523));
        f.bounds[0] = (struct sum_bound){.message = NAN};
        assert_true(believes(&f, INT64_C(1) << 61)); /* nothing is known */
        f.bounds[0] = (struct sum_bound){.message = 100, .messages = 1};
        assert_false(believes(&f, 150));
        f.bounds[0] = (struct sum_bound){.most = 7};
        assert_true(believes(&f, 14));
        assert_false(believes(&f, 16));
        assert_false(believes(&f, -1));
        f.bounds[0].message = f.bounds[1].message = 100;
        f.bounds[0].most = 0;
        f.shape.gram = 1; /* the last row has bounds of its own */
        f.bounds[WIDTH].message = 0.1;
        assert_false(believes(&f, 0));
        end(&f);
    }
}

TEST(residues_are_nearest_to_zero)
{
    struct fixture f;
    begin(&f, 1);
    f.shape.modulus = 10007;
    assert_true(believes(&f, -200));
    assert_false(believes(&f, -203));
    assert_false(believes(&f, 5000));
    assert_false(believes(&f, -5000));
    end(&f);
}

TEST(order_and_counts)
{
    struct fixture f;
    struct engine_stats stats = {0};
    begin(&f, 1);
    assert_null(sum_result(&f.sum));
    assert_int_equal(add(&f, 0, 1, 1), -1); /* not open */
    f.shape.least = 3;
    assert_int_equal(sum_open(&f.sum, &f.shape, &f.hands, &f.error), 0);
    assert_int_equal(sum_open(&f.sum, &f.shape, &f.hands, &f.error), -1);
    assert_null(sum_result(&f.sum));
    assert_int_equal(add(&f, 0, 1, 1), 0);
    f.error = (struct dpf_error){0};
    assert_int_equal(sum_close(&f.sum, &f.error), -1);
    assert_non_null(strstr(f.error.text, "has 1 messages, but its noise needs 3"));
    assert_int_equal(f.sum.state, SUM_FAILED);
    assert_int_equal(f.sum.parts[0].aggregation.sums[0], 0);
    assert_int_equal(add(&f, 0, 1, 1), -1);
    assert_int_equal(sum_close(&f.sum, &f.error), -1);
    sum_tally(&f.sum, 1, &stats);
    assert_int_equal(stats.messages, 0);
    sum_clear(&f.sum);
    f.shape.least = 0;
    assert_int_equal(sum_open(&f.sum, &f.shape, &f.hands, &f.error), 0);
    assert_non_null(sum_plain(&f.sum));
    sum_plain(&f.sum)[3] = 42;
    sum_plain_counts(&f.sum, 4, 99);
    assert_int_equal(sum_close(&f.sum, &f.error), 0);
    assert_int_equal(sum_result(&f.sum)->sums[3], 42);
    assert_true(sum_scale(&f.sum) == 0.25);
    sum_tally(&f.sum, 1, &stats);
    assert_int_equal(stats.messages, 4);
    assert_int_equal(stats.bytes_up, 99);
    end(&f);
}

/* ---- links ---- */

static uint64_t told_limit;
static int64_t answered;

static int gather(void *context, const struct remote_release *release, struct dpf_error *error)
{
    (void)context;
    (void)error;
    told_limit = release->limit;
    release->sums->sums[0] = 7;
    release->sums->survivors = 2;
    return 0;
}

static int answer(void *context, const struct remote_release *release, struct dpf_error *error)
{
    (void)context;
    (void)error;
    answered = release->message->values[0];
    return 0;
}

TEST(links_carry_messages_and_their_limit)
{
    struct fixture f;
    struct engine_remote remote = {.party = -1, .gather = gather, .answer = answer};
    begin(&f, 1);
    f.hands.link.remote = &remote;
    assert_int_equal(sum_open(&f.sum, &f.shape, &f.hands, &f.error), 0);
    assert_null(sum_plain(&f.sum));
    assert_int_equal(add(&f, 0, 1, 1), -1); /* messages come over links */
    assert_int_equal(sum_close(&f.sum, &f.error), 0);
    assert_in_range(told_limit, 100, 102);
    assert_int_equal(sum_result(&f.sum)->sums[0], 7);
    f.bounds[2].message = NAN; /* what nothing bounds must not make sums overflow */
    sum_clear(&f.sum);
    assert_int_equal(sum_open(&f.sum, &f.shape, &f.hands, &f.error), 0);
    assert_int_equal(sum_close(&f.sum, &f.error), 0);
    assert_in_range(told_limit, 1000, INT64_C(1) << 60);
    remote.party = 3;
    sum_clear(&f.sum);
    assert_int_equal(sum_open(&f.sum, &f.shape, &f.hands, &f.error), 0);
    assert_int_equal(add(&f, 0, 5, 1), 0);
    assert_int_equal(answered, 5);
    assert_int_equal(f.sum.state, SUM_SENT);
    assert_int_equal(add(&f, 0, 5, 1), -1); /* once */
    assert_int_equal(sum_close(&f.sum, &f.error), 0);
    assert_null(sum_result(&f.sum));
    end(&f);
}
