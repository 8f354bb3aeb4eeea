/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * news: lines that a running session has to tell people, from its threads to whoever asks.
 *
 * Bounded: what nobody takes in time is counted and told in the last line. Safe from any thread.
 */
#ifndef RECORDER_GROUND_NEWS_H
#define RECORDER_GROUND_NEWS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NEWS_LINES 16
#define NEWS_BYTES 256
#define NEWS_NO_USER UINT32_MAX /* as LOG_NO_USER, TASK_USER_UNKNOWN */

struct news_line {
	uint32_t uid; /* whose processes cause it, or NEWS_NO_USER */
	char text[NEWS_BYTES];
};

struct news {
	pthread_mutex_t lock;
	struct news_line lines[NEWS_LINES];
	size_t first, nr;
	uint64_t left_out;
};

void news_init(struct news *n);
void news_put(struct news *n, uint32_t uid, const char *text);
/* The oldest line. False: there is none. */
bool news_take(struct news *n, struct news_line *ret);

#endif
