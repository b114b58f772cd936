/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of slabs: each its own bytes, until its slab has been given back for each of them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "base/slabs.h"

TEST(arrays_do_not_meet)
{
    enum { N = 40 };
    static const size_t counts[] = {0, 1, 63, 64, 65, 5000, 300000, 3000000};
    struct slabs slabs = {0};
    struct slab *of[N], *first = NULL;
    unsigned char *arrays[N];
    int shared = 0;
    for (int i = 0; i < N; i++) {
        const size_t n = counts[i % 8];
        arrays[i] = slabs_take(&slabs, n, 1, &of[i]);
        assert_non_null(arrays[i]);
        assert_int_equal((uintptr_t)arrays[i] % 64, 0);
        memset(arrays[i], i, n);
        shared += of[i] == first;
        first = of[i];
    }
    assert_true(shared > N / 2); /* or they would be no better than malloc */
    slabs_close(&slabs);
    assert_null(slabs.open);
    for (int turn = 0; turn < 2; turn++) /* every other one; the rest stay as they are */
        for (int i = turn; i < N; i += 2) {
            for (size_t k = 0; k < counts[i % 8]; k++)
                assert_int_equal(arrays[i][k], i);
            slab_put(of[i]);
        }
    slab_put(NULL);
}

TEST(what_cannot_be_is_refused)
{
    struct slabs slabs = {0};
    struct slab *of = NULL;
    assert_null(slabs_take(&slabs, SIZE_MAX / 2, 4, &of));
    assert_null(slabs_take(&slabs, SIZE_MAX - 3, 1, &of));
    assert_null(of);
    slabs_close(&slabs);
}
