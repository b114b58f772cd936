/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - messages for the person at the terminal, on standard error. Thread-safe. */
#ifndef DPF_BASE_LOG_H
#define DPF_BASE_LOG_H

enum log_level { LOG_LEVEL_DEBUG = 0, LOG_LEVEL_INFO = 1, LOG_LEVEL_WARNING = 2, LOG_LEVEL_NONE = 3 };

/* Messages below the level are dropped. Starts at LOG_LEVEL_INFO. */
enum log_level log_set_level(enum log_level level); /* returns the one before */
void log_message(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
