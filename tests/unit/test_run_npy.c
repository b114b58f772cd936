/* SPDX-License-Identifier: Apache-2.0 */
#include "run/npy.h"
#include "kit/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/npy_header.h"

static char path[256];

static void put_file(const void *bytes, size_t n)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, n, stream), n);
    assert_int_equal(fclose(stream), 0);
}

static size_t get_file(unsigned char *bytes, size_t size)
{
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    size_t n = fread(bytes, 1, size, stream);
    fclose(stream);
    return n;
}

static int read_back(struct npy_matrix *matrix, struct dpf_error *error)
{
    memset(error, 0, sizeof *error);
    return npy_read(path, matrix, error);
}

/* Two rows of three of a matrix with stride 4, byte by byte. */
TEST(has_the_layout_of_the_format)
{
    static const float padded[] = {1, -2, 0.5f, 99, 0, 3, 256, 99};
    static const unsigned char data[] = {
        0, 0, 0x80, 0x3f, 0, 0, 0,    0xc0, 0, 0, 0,    0x3f, /* 1, -2, 0.5 */
        0, 0, 0,    0,    0, 0, 0x40, 0x40, 0, 0, 0x80, 0x43, /* 0, 3, 256 */
    };
    static const char dictionary[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    unsigned char bytes[512];
    struct dpf_error error = {.fault = DPF_FAULT_NONE};
    assert_int_equal(npy_write_float32(path, padded, 2, 3, 4, &error), 0);
    size_t n = get_file(bytes, sizeof bytes);
    assert_int_equal(n, 128 + sizeof data);
    assert_memory_equal(bytes, "\x93NUMPY\x01\x00", 8);
    assert_int_equal(bytes[8] | bytes[9] << 8, 128 - 10);
    assert_memory_equal(bytes + 10, dictionary, strlen(dictionary));
    for (size_t i = 10 + strlen(dictionary); i < 127; i++)
        assert_int_equal(bytes[i], ' ');
    assert_int_equal(bytes[127], '\n');
    assert_memory_equal(bytes + 128, data, sizeof data);
}

TEST(headers_are_aligned_whatever_the_shape)
{
    unsigned char bytes[512];
    struct dpf_error error = {.fault = DPF_FAULT_NONE};
    static const int64_t columns[] = {0, 9, 99999999, 999999999999, INT64_MAX};
    for (int i = 0; i < 5; i++) {
        double nothing = 0;
        assert_int_equal(npy_write_float64(path, &nothing, 0, columns[i], columns[i], &error), 0);
        size_t n = get_file(bytes, sizeof bytes);
        assert_int_equal(n % 64, 0);
        assert_int_equal(bytes[8] | bytes[9] << 8, n - 10);
        assert_int_equal(bytes[n - 1], '\n');
        struct npy_matrix matrix;
        assert_int_equal(read_back(&matrix, &error), 0);
        assert_int_equal(matrix.rows, 0);
        assert_true(matrix.columns == columns[i]);
        npy_free(&matrix);
    }
}

TEST(reads_what_it_wrote)
{
    static const double wide[] = {1.0 / 3, -0.0, INFINITY, 5e-324, 1e308, 7};
    static const float narrow[] = {0.1f, -0.0f, 3.4e38f, 1e-45f};
    struct npy_matrix matrix;
    struct dpf_error error = {.fault = DPF_FAULT_NONE};
    assert_int_equal(npy_write_float64(path, wide, 3, 2, 2, &error), 0);
    assert_int_equal(read_back(&matrix, &error), 0);
    assert_true(matrix.rows == 3);
    assert_true(matrix.columns == 2);
    assert_true(!matrix.float32);
    assert_memory_equal(matrix.float64, wide, sizeof wide);
    npy_free(&matrix);
    assert_int_equal(npy_write_float32(path, narrow, 1, 4, 4, &error), 0);
    assert_int_equal(read_back(&matrix, &error), 0);
    assert_true(matrix.rows == 1);
    assert_true(matrix.columns == 4);
    assert_true(!matrix.float64);
    assert_memory_equal(matrix.float32, narrow, sizeof narrow);
    npy_free(&matrix);
}

/* A file as others may write it: key order, quotes, later formats, no padding. */
static void put_foreign(int version, const char *dictionary, const void *data, size_t bytes)
{
    unsigned char file[512] = {0};
    size_t length = strlen(dictionary), at = version == 1 ? 10 : 12;
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (unsigned char)version;
    file[8] = (unsigned char)length;
    memcpy(file + at, dictionary, length);
    memcpy(file + at + length, data, bytes);
    put_file(file, at + length + bytes);
}

TEST(reads_what_others_wrote)
{
    static const double data[] = {4, 5};
    struct npy_matrix matrix;
    struct dpf_error error;
    for (int version = 1; version <= 3; version++) {
        put_foreign(version, "{\"shape\":(2,1),\"descr\":\"<f8\" , 'fortran_order': False}\n", data,
                    sizeof data);
        assert_int_equal(read_back(&matrix, &error), 0);
        assert_true(matrix.rows == 2);
        assert_true(matrix.columns == 1);
        assert_memory_equal(matrix.float64, data, sizeof data);
        npy_free(&matrix);
    }
}

TEST(refuses_what_it_cannot_use)
{
    static const struct {
        int version;
        const char *dictionary;
        const char *say;
    } wrong[] = {
        {1, "{'descr': '>f8', 'fortran_order': False, 'shape': (1, 2), }", "astype('<f8')"},
        {1, "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 2), }", "astype('<f8')"},
        {1, "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1, 2), }", "plain type"},
        {1, "{'descr': '<f8', 'fortran_order': True, 'shape': (1, 2), }", "ascontiguousarray"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", "1 dimensions"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", "0 dimensions"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 3), }", "does not fill"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }", "does not fill"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967297), }", "does not fill"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 9223372036854775808), }", "tuple"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -2), }", "tuple"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, }", "tuple"},
        {1, "{'descr': '<f8', 'fortran_order': False, }", "lacks"},
        {1, "{'descr': '<f8', 'descr': '<f8', 'shape': (1, 2)}", "twice"},
        {1, "{'descr': '<f8', 'fortran_order': 0, 'shape': (1, 2)}", "True nor False"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), 'x': 1}", "unknown entry"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2)} 7", "after its dictionary"},
        {1, "{'descr': '<f8'  'shape': (1, 2)}", "does not end"},
        {1, "['descr']", "not a dictionary"},
        {4, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }", "format 4.0"},
    };
    static const double data[] = {1, 2};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct npy_matrix matrix;
        struct dpf_error error;
        put_foreign(wrong[i].version, wrong[i].dictionary, data, sizeof data);
        assert_int_equal(read_back(&matrix, &error), -1);
        assert_int_equal(error.fault, DPF_FAULT_DATA);
        assert_null(matrix.float64);
        if (!strstr(error.text, wrong[i].say) || !strstr(error.text, path))
            fail_msg("\"%s\" does not say \"%s\"", error.text, wrong[i].say);
    }
}

/* Under the sanitizers this also shows that damage is never more than a message. */
TEST(survives_damage)
{
    static const float data[] = {1, 2, 3, 4, 5, 6};
    unsigned char whole[256], damaged[256];
    struct npy_matrix matrix;
    struct dpf_error error = {.fault = DPF_FAULT_NONE};
    assert_int_equal(npy_write_float32(path, data, 2, 3, 3, &error), 0);
    size_t n = get_file(whole, sizeof whole);
    for (size_t length = 0; length < n; length++) {
        put_file(whole, length);
        assert_int_equal(read_back(&matrix, &error), -1);
        assert_int_equal(error.fault, DPF_FAULT_DATA);
    }
    for (size_t at = 0; at < 70; at++) {
        for (int bit = 0; bit < 8; bit++) {
            memcpy(damaged, whole, n);
            damaged[at] ^= (unsigned char)(1 << bit);
            put_file(damaged, n);
            if (read_back(&matrix, &error) == 0) {
                assert_true(matrix.rows * matrix.columns * (matrix.float64 ? 2 : 1) == 6);
                npy_free(&matrix);
            }
        }
    }
    memcpy(damaged, whole, n);
    damaged[n] = 0;
    put_file(damaged, n + 1); /* a byte too many */
    assert_int_equal(read_back(&matrix, &error), -1);
}

TEST(a_failed_write_leaves_what_was_there)
{
    static const float data[] = {1, 2};
    struct dpf_error error = {.fault = DPF_FAULT_NONE};
    struct npy_matrix matrix;
    assert_int_equal(npy_write_float32(path, data, 1, 2, 2, &error), 0);
    assert_int_equal(npy_write_float32(path, data, 2, 2, 1, &error), -1); /* stride below columns */
    assert_int_equal(error.fault, DPF_FAULT_RUN);
    assert_int_equal(read_back(&matrix, &error), 0);
    assert_int_equal(matrix.rows, 1);
    npy_free(&matrix);
    error.fault = DPF_FAULT_NONE;
    assert_int_equal(npy_write_float32("/nonexistent/a.npy", data, 1, 2, 2, &error), -1);
    assert_non_null(strstr(error.text, "/nonexistent/a.npy"));
    assert_int_equal(npy_read("/nonexistent/a.npy", &matrix, &error), -1);
}

/* Both directions with NumPy itself, where there is one. */
TEST(agrees_with_numpy)
{
    static const double data[] = {1.5, -2, 1e30, 0.1, 0.2, 0.3, 99, 99};
    char command[1024];
    struct npy_matrix matrix;
    struct dpf_error error = {.fault = DPF_FAULT_NONE};
    if (system("python3 -c 'import numpy' 2>/dev/null") != 0) {
        print_message("python3 has no numpy: skipped\n");
        skip();
    }
    assert_int_equal(npy_write_float64(path, data, 2, 3, 3, &error), 0);
    snprintf(command, sizeof command,
             "python3 -c \"import numpy as n; a = n.load('%s'); assert a.dtype == n.float64; "
             "assert a.tolist() == [[1.5, -2, 1e30], [0.1, 0.2, 0.3]]; n.save('%s', a.astype('f4')[:, "
             "1:].copy())\"",
             path, path);
    assert_int_equal(system(command), 0);
    assert_int_equal(read_back(&matrix, &error), 0);
    assert_true(matrix.rows == 2);
    assert_true(matrix.columns == 2);
    assert_true(matrix.float32[0] == -2);
    assert_true(matrix.float32[2] == 0.2f);
    assert_true(matrix.float32[3] == 0.3f);
    npy_free(&matrix);
}

static int name_file(void **state)
{
    (void)state;
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/dpframe-npy-%ld.npy", folder ? folder : "/tmp", (long)getpid());
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

FIXTURE(name_file, remove_file)
