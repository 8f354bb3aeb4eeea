/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/load/progress.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "format/bytes/time_text.h"
#include "symbolizer/text/screen_text.h"

#define QUIET_MS 500 /* what is done by then needs no words */
#define AGAIN_MS 200

struct progress {
	size_t total, done; /* recordings */
	/* Of the only one: times of its samples. */
	uint64_t from_ns, until_ns, reached_ns;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	bool ended;
	bool shown; /* a line is there, to be wiped */
};

static unsigned
percent(const struct progress *p)
{
	const size_t done = __atomic_load_n(&p->done, __ATOMIC_RELAXED);
	const uint64_t reached = __atomic_load_n(&p->reached_ns, __ATOMIC_RELAXED);
	double part = (double)done / (double)p->total;

	if (p->total == 1 && reached > p->from_ns && p->until_ns > p->from_ns)
		part = (double)(reached - p->from_ns) / (double)(p->until_ns - p->from_ns);
	return part < 1 ? (unsigned)(part * 100) : 100;
}

void
progress_wipe(struct progress *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	if (p->shown)
		(void)fputs("\r\033[K", stderr);
	p->shown = false;
	pthread_mutex_unlock(&p->lock);
}

static void *
tell(void *arg)
{
	struct progress *p = arg;
	unsigned wait_ms = QUIET_MS;

	pthread_mutex_lock(&p->lock);
	while (!p->ended) {
		struct timespec until;
		int64_t ns;

		clock_gettime(CLOCK_MONOTONIC, &until);
		ns = time_text_ns(&until) + wait_ms * INT64_C(1000000);
		until = (struct timespec){ ns / SECOND_NS, ns % SECOND_NS };
		if (pthread_cond_timedwait(&p->changed, &p->lock, &until) != ETIMEDOUT)
			continue;
		p->shown = true;
		/* Back at the front, for whoever writes without wiping it. */
		(void)fprintf(stderr, "\rReading: %u %%\033[K\r", percent(p));
		wait_ms = AGAIN_MS;
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* Of the only recording, from where to where it will be read. */
static void
find_span(struct progress *p, struct input_set *set)
{
	const struct filter *f = set->filter;
	struct input_range range;
	uint64_t from, until;

	if (input_set_range(set, &range) < 0 || range.samples == 0)
		return;
	p->from_ns = range.first_ns;
	p->until_ns = range.last_ns;
	if (!f || time_choice_needs_range(filter_times_const(f)) ||
	    time_choice_window(filter_times_const(f), &recording_reader_meta(set->in.reader)->start,
			       &from, &until) < 0)
		return;
	p->from_ns = from > p->from_ns ? from : p->from_ns;
	p->until_ns = until < p->until_ns ? until : p->until_ns;
}

struct progress *
progress_start(struct input_set *set)
{
	struct progress *p;
	pthread_condattr_t clock;

	if (screen_text_columns(STDERR_FILENO) <= 0)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->total = input_set_count(set);
	if (!set->archive)
		find_span(p, set);
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&p->changed, &clock);
	pthread_condattr_destroy(&clock);
	if (p->total > 0 && pthread_create(&p->thread, NULL, tell, p) == 0)
		return p;
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->changed);
	free(p);
	return NULL;
}

void
progress_stop(struct progress *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->ended = true;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	progress_wipe(p);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->changed);
	free(p);
}

void
progress_add(struct progress *p)
{
	if (p)
		__atomic_add_fetch(&p->done, 1, __ATOMIC_RELAXED);
}

uint64_t *
progress_reached(struct progress *p)
{
	return p && p->total == 1 ? &p->reached_ns : NULL;
}
