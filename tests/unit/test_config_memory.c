/* SPDX-License-Identifier: Apache-2.0 */
/* Fails each allocation in turn: of small things, such as a configuration's, that ends the process (base/memory.h). */
#include "kit/config_support.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* The linker sends the room's own calls here (--wrap). */
void *__real_malloc(size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size)
{
    return may_allocate() ? __real_malloc(size) : NULL;
}

void *__wrap_realloc(void *block, size_t size)
{
    return may_allocate() ? __real_realloc(block, size) : NULL;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return may_allocate() ? __real_aligned_alloc(alignment, size) : NULL;
}

/* In a process of its own, with so many allocations: its exit code, and what it says on stderr. */
static int run_apart(int (*run)(const void *what), const void *what, long allocations, char said[64])
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        allocations_left = allocations;
        _exit(run(what));
    }
    close(ends[1]);
    const ssize_t n = read(ends[0], said, 63);
    said[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
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
static int use_all(const void *unused)
{
    static const char *const overrides[] = {"s.epsilon=2", "s.seeds=3, 4..6", "extra.x=1"};
    struct dpf_error error = {0};
    struct config *config = config_load("main.ini", overrides, 3, &error);
    struct config_values values = {0};
    (void)unused;
    if (!config ||
        config_bind(config, "s", table, N_PARAMS, sizeof table[0], "mechanism x", 1, &values, &error) != 0)
        return 3;
    for (int64_t i = 0; i < N_PARAMS; i++)
        free(config_value_text(&table[i], &values.params.values[i]));
    config_consume(config, "extra", "x");
    const int status = config_check_consumed(config, NULL, 0, &error);
    config_values_free(&values);
    config_free(config);
    return status == 0 ? 0 : 3;
}

TEST_WITH(every_failed_allocation_ends_the_process, support_enter, support_leave)
{
    char said[64];
    int failures = 0;
    support_write("sub/base.ini", "[s]\npath = x\nname = a\n[s.name]\nk = 1\n");
    support_write("main.ini", "include = sub/base.ini\n[s]\nprecision = float\nname = b\n");
    for (int code = 1; code != 0; failures++) {
        code = run_apart(use_all, NULL, failures, said);
        assert_in_range(code, 0, 1);
        assert_string_equal(said, code ? "dpframe: out of memory\n" : "");
    }
    assert_in_range(failures, 60, 400);
}

static int refuse(const void *text)
{
    struct config *config = support_parse(text);
    struct dpf_error error = {0};
    struct config_values values;
    const int status = config_bind(config, "s", table, N_PARAMS, sizeof table[0], NULL, 1, &values, &error);
    return status == -1 && error.fault == DPF_FAULT_CONFIG ? 2 : 3;
}

/* Messages that need memory, such as lists of names, must not crash without it. */
TEST(errors_survive_without_memory)
{
    static const char *const texts[] = {"[s]\nprecision = x\n", "[s]\nzzz = 1\n", "[s]\nseeds = 1, x\n"};
    char said[64];
    for (size_t i = 0; i < 3; i++)
        for (long k = 0; k < 80; k++)
            assert_in_range(run_apart(refuse, texts[i], k, said), 1, 2);
}
