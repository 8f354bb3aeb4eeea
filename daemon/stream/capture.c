/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/stream/capture.h"

#include <bsd/string.h>
#include <bsd/sys/queue.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/process/log.h"
#include "daemon/stream/capture_internal.h"
#include "format/bytes/time_text.h"
#include "recorder/event/sample_bound.h"
#include "recorder/ground/session_error.h"
#include "recorder/host/host.h"

/*
 * A capture has its slot until its time is over or it is stopped. What it then waits for is for a
 * client to say: a file that takes nothing, a task that lets nobody have events.
 */
#define OPEN_NS (15 * SECOND_NS)
#define OVER_NS SECOND_NS	  /* after its time: the threads have seen it by then */
#define GRACE_NS (10 * SECOND_NS) /* to write the rest into a client's file */
#define GRACE_AT_EXIT_S 3	  /* of all together */
/* To begin one takes some milliseconds of CPU time. What takes more is a tenth of the time of a slot, at most. */
#define OPENING_FREE_NS (SECOND_NS / 10)
#define OPENING_RESTS 10
#define FILE_GIVEN_UP "the file does not take the rest"
#define FILE_IN_MEMORY                                                                              \
	"the file is in memory (tmpfs, or an overlay), which counts as memory of the daemon: such " \
	"files get 32 MiB in all while it runs, and a user half of what is left; use a file on a "  \
	"disk"

int
capture_set_new(const struct config *c, struct archive *a, int wake_fd, struct capture_set **ret)
{
	struct capture_set *set = calloc(1, sizeof(*set));

	if (!set)
		return -ENOMEM;
	set->config = c;
	set->archive = a;
	set->wake_fd = wake_fd;
	set->next_id = 1;
	TAILQ_INIT(&set->list);
	TAILQ_INIT(&set->left);
	*ret = set;
	return 0;
}

uint32_t
capture_debts(const struct capture_set *set, uid_t uid, uint64_t *ret_ns)
{
	uint64_t now_ns = host_now_ns(), least_ns = UINT64_MAX;
	uint32_t n = 0;

	for (const struct capture_debt *d = set->debts; d < set->debts + CAPTURE_DEBTS; d++) {
		if (d->until_ns <= now_ns || (uid != (uid_t)-1 && d->uid != uid))
			continue;
		n++;
		if (d->until_ns - now_ns < least_ns)
			least_ns = d->until_ns - now_ns;
	}
	if (ret_ns)
		*ret_ns = n ? least_ns : 0;
	return n;
}

/* The one that ends first makes room. */
static void
owe(struct capture_set *set, uid_t uid, uint64_t for_ns)
{
	struct capture_debt *at = set->debts;

	/* Root needs no captures for that. */
	if (uid == 0 || for_ns == 0)
		return;
	for (struct capture_debt *d = at; d < set->debts + CAPTURE_DEBTS; d++)
		at = d->until_ns < at->until_ns ? d : at;
	*at = (struct capture_debt){ uid, host_now_ns() + for_ns };
}

void
capture_share_cpu(struct capture_set *set, uint32_t with)
{
	uint32_t all = set->config->capture_cpu * (SAMPLE_SHARE_ALL / CONFIG_PERCENT_ALL);
	uint32_t sharers = set->running + with + capture_debts(set, (uid_t)-1, NULL);

	if (!all)
		set->cpu_share = SAMPLE_SHARE_ALL;
	else
		set->cpu_share = sharers ? all / sharers : all;
}

void
capture_free(struct capture *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nr_events; i++)
		free(c->events[i]);
	free(c->events);
	free(c->pids);
	free(c->cgroup);
	free(c->cgroups);
	free(c->cpus);
	free(c->notes);
	client_file_free(c->out);
	free(c);
}

/* --- while it runs ----------------------------------------------------------------------- */

static struct capture *
capture_find(struct capture_set *set, uint64_t id)
{
	struct capture *c;

	TAILQ_FOREACH(c, &set->list, entry)
		if (c->progress.id == id)
			return c;
	return NULL;
}

/* Of recording: neither of what it takes to begin, nor of what is written when that is over. */
static uint64_t
elapsed_ns(const struct capture *c)
{
	const struct capture_progress *p = &c->progress;
	uint64_t ns = p->begun ? host_now_ns() - c->begun_ns : 0;

	return ns < p->duration_ns ? ns : p->duration_ns;
}

/* Its slot is somebody else's from now on. */
static void
give_up_slot(struct capture_set *set, struct capture *c)
{
	if (c->over_ns)
		return;
	c->over_ns = host_now_ns();
	set->running--;
	capture_share_cpu(set, 0);
}

/* One that is refused takes none: whoever has many refused does not make numbers grow. */
static void
give_number(struct capture_set *set, struct capture *c)
{
	if (!c->progress.number)
		c->progress.number = ++set->numbers;
}

int
capture_stop(struct capture_set *set, uint64_t id)
{
	struct capture *c = capture_find(set, id);

	if (!c)
		return -ENOENT;
	session_thread_stop(c->thread);
	give_up_slot(set, c);
	return 0;
}

void
capture_forget(struct capture_set *set, uint64_t id)
{
	struct capture *c = capture_find(set, id);

	if (c)
		c->waiter = (struct capture_waiter){ NULL, NULL, NULL };
}

int
capture_progress(struct capture_set *set, uint64_t id, struct capture_progress *ret)
{
	struct capture *c = capture_find(set, id);

	if (!c)
		return -ENOENT;
	*ret = c->progress;
	session_thread_stats(c->thread, &ret->stats);
	ret->elapsed_ns = elapsed_ns(c);
	return 0;
}

/* --- ending ------------------------------------------------------------------------------ */

static void
tell_end(struct capture *c, int error, const char *why)
{
	struct capture_progress *p = &c->progress;

	p->ended = true;
	if (error) {
		strlcpy(p->error, why, sizeof(p->error));
		p->saved_errno = -error;
	}
	if (c->waiter.on_end)
		c->waiter.on_end(c->waiter.arg, p);
	c->waiter = (struct capture_waiter){ NULL, NULL, NULL };
}

/* --- what they cost ---------------------------------------------------------------------- */

static struct capture_cpu *
cpu_of(struct capture_set *set, uid_t uid)
{
	struct capture_cpu *last = &set->cpu[CAPTURE_CPU_USERS - 1];

	for (struct capture_cpu *at = set->cpu; at < last; at++)
		if (at->ns == 0 || at->uid == uid)
			return at;
	return last;
}

static void
account(struct capture_set *set, struct capture *c, const struct session_stats *stats)
{
	struct capture_cpu *to = cpu_of(set, c->uid);

	if (stats->cpu_ns <= c->cpu_ns)
		return;
	to->uid = to == &set->cpu[CAPTURE_CPU_USERS - 1] ? UINT32_MAX : c->uid;
	to->ns += stats->cpu_ns - c->cpu_ns;
	c->cpu_ns = stats->cpu_ns;
}

uint64_t
capture_set_cpu(const struct capture_set *set, struct capture_cpu ret[CAPTURE_CPU_USERS])
{
	uint64_t ns = 0;

	memcpy(ret, set->cpu, sizeof(set->cpu));
	for (size_t i = 0; i < CAPTURE_CPU_USERS; i++)
		ns += ret[i].ns;
	return ns;
}

/* All control groups may have to be looked at, all threads of a process, all of tracefs. */
static void
owe_opening(struct capture_set *set, const struct capture *c)
{
	const uint64_t ns = session_thread_opening_ns(c->thread);

	if (ns > OPENING_FREE_NS)
		owe(set, c->uid, (ns - OPENING_FREE_NS) * OPENING_RESTS);
}

/* Of a capture that never began: the CPU time of its thread is in no statistics of a session. */
static void
account_opening(struct capture_set *set, struct capture *c)
{
	const struct session_stats took = { .cpu_ns = session_thread_opening_ns(c->thread) };

	owe_opening(set, c);
	account(set, c, &took);
}

/* Its thread has ended, or is to be waited for. */
static void
capture_end(struct capture_set *set, struct capture *c)
{
	struct capture_progress *p = &c->progress;
	struct session_error error = { .text = "" };
	int r;

	TAILQ_REMOVE(&set->list, c, entry);
	give_up_slot(set, c);
	p->elapsed_ns = elapsed_ns(c);
	if (!p->begun && session_thread_ended(c->thread))
		account_opening(set, c);
	r = session_thread_close(c->thread, &p->stats, &error);
	account(set, c, &p->stats);
	owe(set, c->uid, p->stats.owed_ns);
	strlcpy(p->file, c->file, sizeof(p->file));
	if (c->out && client_file_is_full(c->out))
		(void)strlcpy(error.text, FILE_IN_MEMORY, sizeof(error.text));
	/* One may begin and end while the daemon waits for it at its own end. */
	if (r == 0)
		give_number(set, c);
	tell_end(c, r, c->given_up ? FILE_GIVEN_UP : error.text);
	if (p->begun || r == 0)
		log_user_info(c->uid, LOG_USER_A_MINUTE,
			      "capture %llu ends: %llu samples, %llu lost%s%s",
			      (unsigned long long)p->number, (unsigned long long)p->stats.samples,
			      (unsigned long long)p->stats.lost, r < 0 ? ": " : "", p->error);
	else
		log_user_info(c->uid, 1, "no capture for uid %u: %s", (unsigned int)c->uid,
			      p->error);
	capture_free(c);
}

/* It ends by itself then. */
static void
give_up_file(struct capture *c)
{
	if (c->given_up)
		return;
	c->given_up = true;
	client_file_give_up(c->out);
	log_user_warning(c->uid, LOG_USER_A_MINUTE,
			 "capture %llu of uid %u is given up: " FILE_GIVEN_UP,
			 (unsigned long long)c->progress.number, (unsigned int)c->uid);
}

/* Whoever waits is told; its threads end when they can. */
static void
leave(struct capture_set *set, struct capture *c, const char *why)
{
	session_thread_stop(c->thread);
	if (c->out)
		client_file_give_up(c->out);
	give_up_slot(set, c);
	TAILQ_REMOVE(&set->list, c, entry);
	TAILQ_INSERT_TAIL(&set->left, c, entry);
	session_thread_stats(c->thread, &c->progress.stats);
	c->progress.elapsed_ns = elapsed_ns(c);
	give_number(set, c);
	log_user_warning(c->uid, LOG_USER_A_MINUTE, "capture %llu of uid %u is given up: %s",
			 (unsigned long long)c->progress.number, (unsigned int)c->uid, why);
	tell_end(c, -ETIMEDOUT, why);
}

/* By the clock, whatever its file and its tasks do. */
static void
look_at_clock(struct capture_set *set, struct capture *c)
{
	const struct capture_progress *p = &c->progress;
	uint64_t now_ns = host_now_ns();

	if (p->begun && now_ns >= c->begun_ns + p->duration_ns + OVER_NS)
		give_up_slot(set, c);
	if (!p->begun && now_ns >= c->asked_ns + OPEN_NS)
		leave(set, c,
		      "it could not be begun in 15 s: its file, or a task, does not answer");
	/* It may have begun a moment after now_ns. */
	else if (c->out && c->over_ns && now_ns >= c->over_ns + GRACE_NS)
		give_up_file(c);
}

static void
capture_reap(struct capture_set *set)
{
	struct capture *c, *next;

	TAILQ_FOREACH_SAFE(c, &set->left, entry, next) {
		if (!session_thread_ended(c->thread))
			continue;
		TAILQ_REMOVE(&set->left, c, entry);
		if (!c->progress.begun)
			account_opening(set, c);
		(void)session_thread_close(c->thread, NULL, NULL);
		log_user_info(c->uid, LOG_USER_A_MINUTE,
			      "capture %llu, which was given up, has ended",
			      (unsigned long long)c->progress.number);
		capture_free(c);
	}
}

static void
capture_begin(struct capture_set *set, struct capture *c)
{
	struct capture_progress *p = &c->progress;

	p->begun = true;
	owe_opening(set, c);
	give_number(set, c);
	c->begun_ns = host_now_ns();
	strlcpy(p->file, c->file, sizeof(p->file));
	c->notes = strdup(session_notes(session_thread_session(c->thread)));
	p->notes = c->notes ? c->notes : "";
	log_user_info(c->uid, LOG_USER_A_MINUTE, "capture %llu of uid %u begins%s%s",
		      (unsigned long long)p->number, (unsigned int)c->uid, c->out ? "" : ": ",
		      p->file);
	if (c->waiter.on_begin)
		c->waiter.on_begin(c->waiter.arg);
}

void
capture_set_dispatch(struct capture_set *set)
{
	struct session_stats stats;
	struct capture *c, *next;

	TAILQ_FOREACH_SAFE(c, &set->list, entry, next) {
		if (!c->progress.begun && session_thread_opened(c->thread))
			capture_begin(set, c);
		if (session_thread_ended(c->thread)) {
			capture_end(set, c);
			continue;
		}
		session_thread_stats(c->thread, &stats);
		account(set, c, &stats);
		look_at_clock(set, c);
	}
	capture_reap(set);
	capture_share_cpu(set, 0);
}

struct patience {
	struct capture_set *set;
	struct capture *capture;
	bool (*each_second)(void *arg);
	void *arg;
};

/* For what is a client's to answer: a file, or a task. */
static bool
still_waiting(void *arg)
{
	struct patience *p = arg;
	struct capture *c = p->capture;

	if ((!p->each_second || p->each_second(p->arg)) && ++p->set->seconds < GRACE_AT_EXIT_S)
		return true;
	if (!c->out || c->given_up)
		return false;
	give_up_file(c);
	return true;
}

/* Those that write into the archive come first: what waits for clients waits together. */
static void
end_all(struct patience *p, bool theirs)
{
	struct capture_set *set = p->set;
	struct capture *c, *next;

	TAILQ_FOREACH_SAFE(c, &set->list, entry, next) {
		if ((c->out || !c->progress.begun) != theirs)
			continue;
		p->capture = c;
		if (theirs && c->out && set->seconds >= GRACE_AT_EXIT_S)
			give_up_file(c);
		if (session_thread_wait(c->thread, theirs ? still_waiting : p->each_second,
					theirs ? p : p->arg))
			capture_end(set, c);
		else
			leave(set, c, "the daemon ends");
	}
}

bool
capture_set_free(struct capture_set *set, bool (*each_second)(void *arg), void *arg)
{
	struct patience p = { set, NULL, each_second, arg };
	struct capture *c;

	if (!set)
		return true;
	TAILQ_FOREACH(c, &set->list, entry)
		session_thread_stop(c->thread);
	end_all(&p, false);
	end_all(&p, true);
	capture_reap(set);
	if (!TAILQ_EMPTY(&set->left))
		return false;
	free(set);
	return true;
}

void
capture_set_reload(struct capture_set *set, const struct config *c)
{
	set->config = c;
	capture_share_cpu(set, 0);
}

uint32_t
capture_set_running(const struct capture_set *set)
{
	return set->running;
}

bool
capture_set_busy(const struct capture_set *set)
{
	return !TAILQ_EMPTY(&set->list);
}

bool
capture_set_alive(struct capture_set *set, uint64_t now_ns)
{
	struct capture *c;
	bool alive = true;

	TAILQ_FOREACH(c, &set->list, entry)
		alive &= session_thread_alive(c->thread, !c->out && c->progress.begun, now_ns);
	return alive;
}
