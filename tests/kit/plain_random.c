/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_random.h"

struct random_root *plain_root;

static dpf_stream *plain_streams[PLAIN_MAX_STREAMS];

static int plain_n_streams;

dpf_status plain_random_open(const dpf_host *host, const char *purpose, dpf_stream **stream)
{
    struct dpf_error error = {0};

    (void)host;
    assert_non_null(plain_root);
    assert_true(plain_n_streams < PLAIN_MAX_STREAMS);
    *stream = random_stream_open(plain_root, "test", purpose, &error);
    assert_non_null(*stream);
    plain_streams[plain_n_streams++] = *stream;
    return DPF_OK;
}

const dpf_random_service plain_random = {
    .open = plain_random_open,
    .seek = random_seek,
    .bits = random_bits,
    .uniform = random_uniform,
    .below = random_below,
    .bernoulli = random_bernoulli,
    .discrete_laplace = random_discrete_laplace,
    .discrete_gaussian = random_discrete_gaussian,
    .normal = random_normal,
    .laplace = random_laplace,
    .skellam = random_skellam,
    .row_bits = random_row_bits,
    .row_normal = random_row_normal,
    .row_laplace = random_row_laplace,
};

void plain_random_start(uint64_t seed)
{
    struct dpf_error error = {0};

    plain_root = random_root_seeded(seed, "noise", &error);
    assert_non_null(plain_root);
}

void plain_random_stop(void)
{
    while (plain_n_streams > 0)
        random_stream_free(plain_streams[--plain_n_streams]);
    random_root_free(plain_root);
    plain_root = NULL;
}

int plain_random_end(void **state)
{
    (void)state;
    plain_random_stop();
    return 0;
}

void plain_open_random(struct plain_host *plain, const dpf_component *component, const char *settings)
{
    plain_init(plain, component);
    plain->random = &plain_random;
    const dpf_status status = plain_create(plain, settings);
    if (status != DPF_OK)
        fail_msg("create(%s) returned %d: %s", settings, (int)status, plain->report);
}

void plain_check_memory_random(const dpf_component *component, const char *settings)
{
    struct plain_host plain;

    for (int64_t allowed = 0; allowed < 100; allowed++) {
        plain_init(&plain, component);
        plain.random = &plain_random;
        plain.fail_after = allowed;
        const dpf_status status = plain_create(&plain, settings);
        plain_close(&plain);
        if (status == DPF_OK)
            return;
        assert_int_equal(status, DPF_E_MEMORY);
    }
    fail_msg("create never succeeded");
}
