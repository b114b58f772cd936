/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fails each allocation in turn. The functions of base/memory.h are defined here, so that the linker
 * takes these and leaves memory.o in its archive.
 */
#include "config_support.h"

#include <math.h>

#include "base/memory.h"

static long allocations_left = -1; /* negative: no limit */

static int may_allocate(void)
{
    if (allocations_left == 0)
        return 0;
    if (allocations_left > 0)
        allocations_left--;
    return 1;
}

void *memory_new(size_t count, size_t size)
{
    return may_allocate() ? calloc(count ? count : 1, size ? size : 1) : NULL;
}

void *memory_raw(size_t count, size_t size)
{
    return memory_new(count, size);
}

void *memory_grow(void *array, size_t *capacity, size_t needed, size_t size)
{
    /* Grows by one element at a time, so that every append can fail. */
    if (array && needed <= *capacity)
        return array;
    void *grown = may_allocate() ? realloc(array, needed * size) : NULL;
    if (grown)
        *capacity = needed;
    return grown;
}

char *memory_text(const char *text)
{
    char *copy = memory_new(strlen(text) + 1, 1);
    return copy ? strcpy(copy, text) : NULL;
}

char *memory_format(const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    assert_true(length >= 0);
    assert_true((size_t)length < sizeof text);
    return memory_text(text);
}

static const dpf_enum_value precisions[] = {{"exact", ""}, {"float", ""}};
static const dpf_param table[] = {
    DPF_PARAM_REAL_F("epsilon", 1.0, 0, INFINITY, 0, "", ""),
    DPF_PARAM_ENUM_F("precision", 0, precisions, 0, ""),
    DPF_PARAM_TEXT_F("path", DPF_TYPE_PATH, "", 0, ""),
    DPF_PARAM_TEXT_F("name", DPF_TYPE_STRING, "none", 0, ""),
    DPF_PARAM_LIST_F("seeds", DPF_TYPE_INT_LIST, "1..3", 0, 100, 0, "", ""),
};
#define N_PARAMS (int64_t)(sizeof table / sizeof table[0])

/* Everything that the room does, once. */
static int use_all(struct dpf_error *error)
{
    static const char *const overrides[] = {"s.epsilon=2", "s.seeds=3, 4..6", "extra.x=1"};
    struct config *config = config_load("main.ini", overrides, 3, error);
    if (!config)
        return -1;
    struct config_values values = {0};
    int status = config_bind(config, "s", table, N_PARAMS, sizeof table[0], "mechanism x", 1, &values, error);
    for (int64_t i = 0; i < N_PARAMS && status == 0; i++) {
        char *text = config_value_text(&table[i], &values.params.values[i]);
        if (!text)
            status = error_memory(error);
        free(text);
    }
    config_consume(config, "extra", "x");
    if (status == 0)
        status = config_check_consumed(config, NULL, 0, error);
    config_values_free(&values);
    config_free(config);
    return status;
}

static void every_failed_allocation_is_an_error(void **state)
{
    (void)state;
    support_write("sub/base.ini", "[s]\npath = x\nname = a\n[s.name]\nk = 1\n");
    support_write("main.ini", "include = sub/base.ini\n[s]\nprecision = float\nname = b\n");
    int failures = 0;
    for (long k = 0;; k++) {
        struct dpf_error error = {0};
        allocations_left = k;
        int status = use_all(&error);
        allocations_left = -1;
        if (status == 0)
            break;
        assert_string_equal(error.text, "out of memory");
        assert_int_equal(error.fault, DPF_FAULT_RUN);
        failures++;
    }
    assert_in_range(failures, 60, 400);
}

/* Messages that need memory, such as lists of names, must not crash without it. */
static void errors_survive_without_memory(void **state)
{
    (void)state;
    static const char *const texts[] = {"[s]\nprecision = x\n", "[s]\nzzz = 1\n", "[s]\nseeds = 1, x\n"};
    for (size_t i = 0; i < 3; i++) {
        for (long k = 0; k < 12; k++) {
            struct config *config = support_parse(texts[i]);
            struct dpf_error error = {0};
            struct config_values values;
            allocations_left = k;
            assert_int_equal(
                config_bind(config, "s", table, N_PARAMS, sizeof table[0], NULL, 1, &values, &error), -1);
            allocations_left = -1;
            assert_int_not_equal(error.fault, DPF_FAULT_NONE);
            config_free(config);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_failed_allocation_is_an_error, support_enter, support_leave),
        cmocka_unit_test(errors_survive_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
