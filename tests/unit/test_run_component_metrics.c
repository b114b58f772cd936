/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "kit/test.h"
#include "base/pool.h"
#include "run/component_metrics.h"

static int report_some(void *context, int64_t task, int worker)
{
    (void)worker;
    component_metrics_add(context, "items.mechanism", "clipped", 0.1 * (double)(task % 10));
    component_metrics_add(context, "items.aggregator", task % 2 ? "odd" : "even", (double)task);
    return 0;
}

static char *after(int workers)
{
    struct component_metrics metrics;
    component_metrics_open(&metrics);
    struct pool *pool = pool_new(workers);
    assert_int_equal(pool_run(pool, 1000, report_some, &metrics), 0);
    pool_free(pool);
    json_t *json = component_metrics_json(&metrics);
    char *text = json_dumps(json, JSON_REAL_PRECISION(17));
    const json_t *odd = json_object_get(json_object_get(json, "items.aggregator"), "odd");
    assert_int_equal(json_integer_value(json_object_get(odd, "n")), 500);
    assert_true(json_real_value(json_object_get(odd, "mean")) == 500.0);
    assert_true(json_real_value(json_object_get(odd, "least")) == 1.0);
    assert_true(json_real_value(json_object_get(odd, "largest")) == 999.0);
    json_decref(json);
    component_metrics_close(&metrics);
    return text;
}

TEST(the_same_for_any_number_of_workers)
{
    char *one = after(1), *two = after(2), *seven = after(7);
    assert_string_equal(one, two);
    assert_string_equal(one, seven);
    free(one);
    free(two);
    free(seven);
}

TEST(what_is_not_a_number_is_counted_apart)
{
    struct component_metrics metrics;
    component_metrics_open(&metrics);
    component_metrics_add(&metrics, "a", "b", NAN);
    component_metrics_add(&metrics, "a", "b", 2.0);
    component_metrics_add(&metrics, "a", "b", INFINITY);
    json_t *json = component_metrics_json(&metrics);
    const json_t *b = json_object_get(json_object_get(json, "a"), "b");
    assert_int_equal(json_integer_value(json_object_get(b, "n")), 1);
    assert_int_equal(json_integer_value(json_object_get(b, "not_finite")), 2);
    assert_true(json_real_value(json_object_get(b, "mean")) == 2.0);
    json_decref(json);
    component_metrics_close(&metrics);
}
