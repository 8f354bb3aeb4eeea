/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/names/names_ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/bytes/array.h"
#include "recorder/host/proc_look.h"
#include "symbolizer/names/names_child.h"
#include "symbolizer/names/names_clock.h"

#define GRACE_NS (SECOND_NS / 2) /* from a child's own deadline to its end by SIGKILL */
#define REAP_NS (SECOND_NS / 2)	 /* until it is left behind: it waits for a file system */

struct slot {
	pid_t child; /* 0: it is free */
	pid_t pid;
	uid_t uid;
	int fd;
	int64_t began_ns, deadline_ns;
	volatile pid_t *started; /* what the child has executed, which may outlive it; 0: nothing */
};

struct user {
	uid_t uid;
	int nr_late;
	int64_t spent_ns; /* of all places */
};

struct round {
	struct slot slots[NAMES_AT_ONCE];
	struct user *users;
	size_t nr_users, cap_users;
	uint64_t timeout_ns;
	void (*tell)(void *arg, const struct names_answer *a);
	void *arg;
};

/* --- users --------------------------------------------------------------------------------- */

static struct user *
user_of(const struct round *r, uid_t uid)
{
	for (size_t i = 0; i < r->nr_users; i++)
		if (r->users[i].uid == uid)
			return &r->users[i];
	return NULL;
}

/* Where there is no memory it is not counted. */
static void
count_time(struct round *r, uid_t uid, int64_t spent_ns, bool late)
{
	struct user *u = user_of(r, uid);

	if (!u) {
		if (array_reserve(r->users, r->nr_users, r->cap_users, 1) < 0)
			return;
		u = &r->users[r->nr_users++];
		*u = (struct user){ .uid = uid };
	}
	u->nr_late += late;
	u->spent_ns += spent_ns;
}

/* Why no other process of this user is asked; NULL: one is. */
static const char *
why_not(const struct round *r, uid_t uid)
{
	const struct user *u = user_of(r, uid);

	if (u && u->nr_late >= NAMES_LATE_MAX)
		return "not asked: processes of its user did not answer within the time";
	if (u && uid != 0 && u->spent_ns >= NAMES_AT_ONCE * (int64_t)r->timeout_ns)
		return "not asked: processes of its user took all the time that one user has";
	return NULL;
}

/* --- one process ---------------------------------------------------------------------------- */

static void
tell_failed(struct round *r, pid_t pid, const char *why)
{
	struct names_answer a = { .pid = pid };

	names_answer_say(&a, NAMES_FAILED, "%s", why);
	r->tell(r->arg, &a);
}

static void
release(struct slot *s)
{
	(void)close(s->fd);
	*s = (struct slot){ .started = s->started };
}

static void
begin(struct round *r, struct slot *s, pid_t pid, uid_t uid)
{
	const int64_t began_ns = names_clock_now();
	const int64_t deadline_ns = began_ns + (int64_t)r->timeout_ns;
	const pid_t parent = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
		tell_failed(r, pid, strerror(errno));
		return;
	}
	*s = (struct slot){ .pid = pid,
			    .uid = uid,
			    .fd = ends[0],
			    .began_ns = began_ns,
			    .deadline_ns = deadline_ns + GRACE_NS,
			    .started = s->started };
	*s->started = 0;
	s->child = fork();
	if (s->child == 0)
		names_child_run(parent, pid, ends[1], s->started, deadline_ns);
	(void)close(ends[1]);
	if (s->child > 0)
		return;
	tell_failed(r, pid, strerror(errno));
	release(s);
}

/* What it waits for, the signal ends; where it does not, the process ends with this one. */
static void
reap(pid_t child)
{
	const int64_t deadline_ns = names_clock_now() + REAP_NS;

	(void)kill(child, SIGKILL);
	while (waitpid(child, NULL, WNOHANG) == 0 && names_clock_now() < deadline_ns)
		(void)poll(NULL, 0, 2);
}

/*
 * What the child executed is this process's own child when the child has ended: it adopts. One that was ended already is no
 * child any more, and its number may be that of another slot's.
 */
static void
end_started(const struct round *r, const struct slot *s)
{
	const pid_t started = *s->started;
	bool known = started <= 0;

	for (int i = 0; i < NAMES_AT_ONCE; i++)
		known |= r->slots[i].child == started;
	if (!known && waitpid(started, NULL, WNOHANG) == 0)
		reap(started);
}

/* What it wrote, or that it wrote nothing. */
static void
end(struct round *r, struct slot *s)
{
	struct names_answer a = { 0 };
	const bool late = names_clock_now() >= s->deadline_ns - GRACE_NS;
	const ssize_t n = read(s->fd, &a, sizeof(a));

	reap(s->child);
	end_started(r, s);
	if (n == (ssize_t)sizeof(a) && names_answer_check(&a, s->pid))
		r->tell(r->arg, &a);
	else
		tell_failed(r, s->pid,
			    late ? "no answer within the time" : "whoever asked it was ended");
	count_time(r, s->uid, names_clock_now() - s->began_ns, late);
	release(s);
}

/* --- all of them ---------------------------------------------------------------------------- */

/* Until one of them has ended, or is late. */
static void
await(struct round *r)
{
	struct pollfd fds[NAMES_AT_ONCE];
	int64_t first_ns = INT64_MAX;

	for (int i = 0; i < NAMES_AT_ONCE; i++) {
		const struct slot *s = &r->slots[i];

		fds[i] = (struct pollfd){ .fd = s->child ? s->fd : -1, .events = POLLIN };
		if (s->child && s->deadline_ns < first_ns)
			first_ns = s->deadline_ns;
	}
	if (first_ns == INT64_MAX)
		return;
	if (poll(fds, NAMES_AT_ONCE, names_clock_ms(first_ns, 1 << 30)) < 0)
		return;
	for (int i = 0; i < NAMES_AT_ONCE; i++) {
		struct slot *s = &r->slots[i];

		if (s->child && (fds[i].revents || names_clock_now() >= s->deadline_ns))
			end(r, s);
	}
}

static struct slot *
free_slot(struct round *r)
{
	for (int i = 0; i < NAMES_AT_ONCE; i++)
		if (!r->slots[i].child)
			return &r->slots[i];
	return NULL;
}

static bool
is_busy(const struct round *r)
{
	for (int i = 0; i < NAMES_AT_ONCE; i++)
		if (r->slots[i].child)
			return true;
	return false;
}

/* Room that children share, and the children of children that end. 0, -errno. */
static int
prepare(struct round *r, int *ret_adopted)
{
	volatile pid_t *started = mmap(NULL, NAMES_AT_ONCE * sizeof(*started),
				       PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (started == MAP_FAILED)
		return -errno;
	for (int i = 0; i < NAMES_AT_ONCE; i++)
		r->slots[i].started = started + i;
	*ret_adopted = 0;
	(void)prctl(PR_GET_CHILD_SUBREAPER, ret_adopted);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	return 0;
}

/* Orphans are adopted during a round alone: between rounds this process waits for no child. */
static void
finish(struct round *r, int adopted)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, adopted);
	free(r->users);
	(void)munmap((void *)(uintptr_t)r->slots[0].started, NAMES_AT_ONCE * sizeof(pid_t));
}

void
names_ask_all(const pid_t *pids, size_t nr, uint64_t timeout_ns,
	      void (*tell)(void *arg, const struct names_answer *a), void *arg)
{
	struct round r = { .timeout_ns = timeout_ns, .tell = tell, .arg = arg };
	int adopted, rc = prepare(&r, &adopted);

	for (size_t i = 0; i < nr && rc < 0; i++)
		tell_failed(&r, pids[i], strerror(-rc));
	if (rc < 0)
		return;
	for (size_t i = 0; i < nr; i++) {
		uid_t uid = (uid_t)-1;
		const char *why;
		struct slot *s;

		while (!(s = free_slot(&r)))
			await(&r);
		/* One that is gone is told by who asks it. */
		(void)proc_look_owner(pids[i], &uid);
		why = why_not(&r, uid);
		if (why)
			tell_failed(&r, pids[i], why);
		else
			begin(&r, s, pids[i], uid);
	}
	while (is_busy(&r))
		await(&r);
	finish(&r, adopted);
}
