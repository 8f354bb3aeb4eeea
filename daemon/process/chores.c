/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/process/chores.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "daemon/process/joinable.h"
#include "daemon/process/watchdog.h"
#include "format/bytes/time_text.h"
#include "recorder/host/host.h"

STAILQ_HEAD(chore_list, chore);

struct chores {
	int wake_fd;
	struct joinable thread;
	pthread_mutex_t lock;
	pthread_cond_t asked;
	/* Under lock: */
	struct chore_list waiting, done;
	bool busy, quit;
	uint64_t nr_done;
	uint64_t turn; /* that is being served: of each user one chore has it */
	/* The main thread's: */
	struct watchdog_counter seen;
};

/*
 * A user's chores have one turn after another; the first, the next one. Were it the one that is
 * being served, users who each ask again at once would keep it from ever being over.
 */
static uint64_t
turn_of(const struct chores *c, const struct chore *one)
{
	uint64_t turn = c->turn + 1;
	const struct chore *other;

	STAILQ_FOREACH(other, &c->waiting, next)
		if (other->for_client && other->uid == one->uid && other->turn >= turn)
			turn = other->turn + 1;
	return turn;
}

/*
 * Before the user's other chores, which so wait for what was asked first, but behind all others' turns.
 */
static void
put_back(struct chores *c, struct chore *one)
{
	struct chore *other;

	one->turn = c->turn + 1;
	STAILQ_FOREACH(other, &c->waiting, next)
		if (other->for_client && other->uid == one->uid)
			other->turn++;
	STAILQ_INSERT_TAIL(&c->waiting, one, next);
}

/* The next one that may be done now; NULL: there is none, before *ret_due_ns (0: one that is asked for). */
static struct chore *
chores_take(struct chores *c, uint64_t *ret_due_ns)
{
	struct chore *one, *first = NULL;
	const uint64_t now_ns = host_now_ns();

	*ret_due_ns = 0;
	STAILQ_FOREACH(one, &c->waiting, next) {
		if (!one->for_client) {
			first = one;
			break;
		}
		if (one->again_ns > now_ns) {
			if (!*ret_due_ns || one->again_ns < *ret_due_ns)
				*ret_due_ns = one->again_ns;
			continue;
		}
		if (!first || one->turn < first->turn)
			first = one;
	}
	if (!first)
		return NULL;
	STAILQ_REMOVE(&c->waiting, first, chore, next);
	if (first->for_client)
		c->turn = first->turn;
	return first;
}

static void
wait_for_chore(struct chores *c, uint64_t due_ns)
{
	const struct timespec due = { .tv_sec = (time_t)(due_ns / SECOND_NS),
				      .tv_nsec = (long)(due_ns % SECOND_NS) };

	if (due_ns)
		(void)pthread_cond_timedwait(&c->asked, &c->lock, &due);
	else
		pthread_cond_wait(&c->asked, &c->lock);
}

static void *
chores_body(void *arg)
{
	struct chores *c = arg;
	struct chore *one;
	uint64_t due_ns;

	pthread_mutex_lock(&c->lock);
	while (!c->quit) {
		one = chores_take(c, &due_ns);
		if (!one) {
			wait_for_chore(c, due_ns);
			continue;
		}
		c->busy = true;
		one->again = false;
		one->again_ns = 0;
		pthread_mutex_unlock(&c->lock);
		one->run(one);
		pthread_mutex_lock(&c->lock);
		c->busy = false;
		c->nr_done++;
		if (one->again && !c->quit) {
			put_back(c, one);
			continue;
		}
		one->dropped = one->again;
		STAILQ_INSERT_TAIL(&c->done, one, next);
		(void)eventfd_write(c->wake_fd, 1);
	}
	pthread_mutex_unlock(&c->lock);
	joinable_end(&c->thread);
	return NULL;
}

int
chores_new(int wake_fd, struct chores **ret)
{
	struct chores *c = calloc(1, sizeof(*c));
	pthread_condattr_t clock;
	int r;

	if (!c)
		return -ENOMEM;
	c->wake_fd = wake_fd;
	STAILQ_INIT(&c->waiting);
	STAILQ_INIT(&c->done);
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&c->asked, &clock);
	pthread_condattr_destroy(&clock);
	r = joinable_start(&c->thread, "spoord-chores", chores_body, c);
	if (r < 0) {
		free(c);
		return r;
	}
	*ret = c;
	return 0;
}

void
chores_add(struct chores *c, struct chore *one)
{
	one->asked_ns = host_now_ns();
	one->dropped = false;
	one->again_ns = 0;
	pthread_mutex_lock(&c->lock);
	if (c->quit) {
		one->dropped = true;
		STAILQ_INSERT_TAIL(&c->done, one, next);
	} else {
		one->turn = one->for_client ? turn_of(c, one) : 0;
		STAILQ_INSERT_TAIL(&c->waiting, one, next);
	}
	pthread_cond_signal(&c->asked);
	pthread_mutex_unlock(&c->lock);
}

void
chores_dispatch(struct chores *c)
{
	struct chore *one;

	for (;;) {
		pthread_mutex_lock(&c->lock);
		one = STAILQ_FIRST(&c->done);
		if (one)
			STAILQ_REMOVE_HEAD(&c->done, next);
		pthread_mutex_unlock(&c->lock);
		if (!one)
			return;
		one->done(one);
	}
}

bool
chores_alive(struct chores *c, uint64_t now_ns)
{
	const struct chore *one;
	uint64_t nr_done;
	bool idle;

	pthread_mutex_lock(&c->lock);
	idle = !c->busy;
	STAILQ_FOREACH(one, &c->waiting, next)
		idle &= one->again_ns > now_ns;
	nr_done = c->nr_done;
	pthread_mutex_unlock(&c->lock);
	if (idle)
		c->seen.since_ns = 0;
	return idle || watchdog_moves(&c->seen, nr_done, now_ns);
}

bool
chores_close(struct chores *c, bool (*each_second)(void *arg), void *arg)
{
	struct chore *one;

	if (!c)
		return true;
	pthread_mutex_lock(&c->lock);
	c->quit = true;
	STAILQ_FOREACH(one, &c->waiting, next)
		one->dropped = true;
	STAILQ_CONCAT(&c->done, &c->waiting);
	pthread_cond_signal(&c->asked);
	pthread_mutex_unlock(&c->lock);
	chores_dispatch(c);
	if (!joinable_join(&c->thread, each_second, arg))
		return false;
	chores_dispatch(c);
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->asked);
	free(c);
	return true;
}
