/* SPDX-License-Identifier: Apache-2.0 */
/*
 * abi.h - versions, status codes and the export macro.
 *
 * The plugin ABI is made of fixed-width integers, float, double and pointers only: no enums, bool,
 * long, bit-fields or structures passed by value. It is defined for little-endian LP64 systems.
 */
#ifndef DPFRAME_ABI_H
#define DPFRAME_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The major is part of the entry symbol's name; the minor only ever adds optional things. */
#define DPF_ABI_MAJOR 1
#define DPF_ABI_MINOR 0

/* "DPFM", little-endian: the first field of dpf_plugin. */
#define DPF_PLUGIN_MAGIC UINT32_C(0x4d465044)

#if defined(__GNUC__) || defined(__clang__)
#define DPF_EXPORT __attribute__((visibility("default")))
#else
#error "dpframe plugins need gcc or clang"
#endif

/*
 * Status codes. Callbacks return one of these. 0 is success, everything else is a failure, after
 * which the host releases nothing and the instance may only be destroyed. A failing callback should
 * first call dpf_host.fail with a sentence for the user.
 */
typedef int32_t dpf_status;
#define DPF_OK 0
#define DPF_E_CONFIG 1 /* parameters contradict each other or what they are used with; not about records */
#define DPF_E_RANGE 2  /* a value lies outside what the component can represent */
#define DPF_E_MEMORY 3 /* the host's allocator returned NULL */
#define DPF_E_UNSUPPORTED 4 /* the component knows the request but does not serve it */
#define DPF_E_NUMERIC 5     /* NaN, infinity, or no convergence */
#define DPF_E_PRIVACY 6     /* going on would break the stated guarantee */
#define DPF_E_CANCELLED 7   /* the host asked to stop */
#define DPF_E_INTERNAL 8    /* a bug in the component */

#if defined(__cplusplus)
#define DPF_STATIC_ASSERT(cond, text) static_assert(cond, text)
#else
#define DPF_STATIC_ASSERT(cond, text) _Static_assert(cond, text)
#endif

DPF_STATIC_ASSERT(sizeof(void *) == 8, "the dpframe ABI is defined for 64-bit systems");
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the dpframe ABI is defined for little-endian systems"
#endif

/*
 * A size-prefixed structure of the other side may be larger or smaller than your headers say. Clear or copy
 * one as a whole only with these two functions; never assign it.
 */
/* Sets all of it to 0 but its size. */
static inline void dpf_clear(void *structure)
{
    uint32_t size;
    memcpy(&size, structure, sizeof size);
    memset((char *)structure + sizeof size, 0, size - sizeof size);
}

/* Copies into `room` bytes and states that size; fields that `from` lacks become 0. */
static inline void dpf_copy(void *to, size_t room, const void *from)
{
    uint32_t size;
    memcpy(&size, from, sizeof size);
    memset(to, 0, room);
    memcpy(to, from, size < room ? size : room);
    size = (uint32_t)room;
    memcpy(to, &size, sizeof size);
}

#ifdef __cplusplus
}
#endif
#endif
