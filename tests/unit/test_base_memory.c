/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse blocks of all sizes, small ones and mapped ones, are zero, aligned, writable to their ends and apart. */
#include "base/memory.h"
#include "kit/test.h"

#include <string.h>

TEST(sparse_blocks_are_zero_and_apart)
{
    static const size_t sizes[] = {1, 63, 64, 4096, 65535, 65536, 65537, 1 << 20};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    for (int round = 0; round < 3; round++) { /* what was freed is cleared again */
        unsigned char *blocks[SIZES];
        for (int i = 0; i < SIZES; i++) {
            blocks[i] = memory_sparse(sizes[i], 1);
            assert_non_null(blocks[i]);
            assert_true((uintptr_t)blocks[i] % 64 == 0);
            for (size_t at = 0; at < sizes[i]; at++)
                assert_true(blocks[i][at] == 0);
            memset(blocks[i], i + 1, sizes[i]);
        }
        for (int i = 0; i < SIZES; i++) {
            for (size_t at = 0; at < sizes[i]; at++)
                assert_true(blocks[i][at] == i + 1);
            memory_sparse_free(blocks[i]);
        }
    }
    memory_sparse_free(NULL);
    assert_null(memory_sparse(SIZE_MAX / 2, 3));
}
