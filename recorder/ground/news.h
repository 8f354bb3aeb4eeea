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

struct news {
	pthread_mutex_t lock;
	char lines[NEWS_LINES][NEWS_BYTES];
	size_t first, nr;
	uint64_t left_out;
};

void news_init(struct news *n);
void news_put(struct news *n, const char *line);
/* The oldest line. False: there is none. */
bool news_take(struct news *n, char *line, size_t cap);

#endif
