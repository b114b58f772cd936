/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices on arbitrary bytes: refused with a reason, or read whole, written, and read again as the same. */
#include "fuzz_file.h"

#include "run/npy.h"

static void check_again(const struct npy_matrix *matrix)
{
    static char path[64];
    struct npy_matrix again;
    struct dpf_error error = {0};
    if (!*path)
        snprintf(path, sizeof path, "/tmp/dpframe-fuzz-%ld.npy", (long)getpid());
    const int64_t columns = matrix->columns, rows = matrix->rows;
    PROMISE((matrix->float32
                 ? npy_write_float32(path, matrix->float32, rows, columns, columns, &error)
                 : npy_write_float64(path, matrix->float64, rows, columns, columns, &error)) == 0);
    PROMISE(npy_read(path, &again, &error) == 0);
    unlink(path);
    const size_t n = (size_t)(rows * columns);
    PROMISE(again.rows == rows && again.columns == columns && !again.float32 == !matrix->float32);
    PROMISE(n == 0 || (matrix->float32 ? memcmp(again.float32, matrix->float32, n * sizeof(float))
                                       : memcmp(again.float64, matrix->float64, n * sizeof(double))) == 0);
    npy_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_file file;
    struct npy_matrix matrix = {0};
    struct dpf_error error = {0};
    fuzz_file_set(&file, data, size);
    if (npy_read(file.path, &matrix, &error) != 0) {
        PROMISE(error.fault == DPF_FAULT_DATA && strstr(error.text, file.path));
        PROMISE(!matrix.float32 && !matrix.float64);
        return 0;
    }
    PROMISE(!matrix.float32 != !matrix.float64 && matrix.rows >= 0 && matrix.columns >= 0);
    PROMISE((size_t)(matrix.rows * matrix.columns) <= size / sizeof(float));
    check_again(&matrix);
    npy_free(&matrix);
    return 0;
}
