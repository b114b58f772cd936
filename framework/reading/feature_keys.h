/* SPDX-License-Identifier: Apache-2.0 */
/* feature_keys.h - the keys [data] item-features.* and user-features.*. */
#ifndef DPF_READING_FEATURE_KEYS_H
#define DPF_READING_FEATURE_KEYS_H

/* Keys of one side, from the first one of the side in the table of [data]. */
enum feature_key {
    FEATURE_PATH,
    FEATURE_CATEGORIES,
    FEATURE_NUMBERS,
    FEATURE_USER_KEYS, /* users have these, and items more */
    FEATURE_FORMAT = FEATURE_USER_KEYS,
    FEATURE_YEAR,
    FEATURE_ITEM_KEYS
};

#endif
