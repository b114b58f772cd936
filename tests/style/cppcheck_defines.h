/* SPDX-License-Identifier: Apache-2.0 */
/* Read by scripts/lint alone: cppcheck has no definition of this macro of jansson, and skips code without it.
 */
#define json_object_foreach(object, key, value) for (key = "", value = object; value;)
