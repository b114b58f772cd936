/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sanitized.h - whether this is built with the address or the thread sanitizer. They look at memory, which the first
 * cases touch like the last, and are many times slower: loops that only add cases to a number take fewer there.
 */
#ifndef DPF_TEST_SANITIZED_H
#define DPF_TEST_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* Cases of a loop: `many`, or `few` in a sanitized build. */
#define CASES(many, few) (SANITIZED ? (few) : (many))

#endif
