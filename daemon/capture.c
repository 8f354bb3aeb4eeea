/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/capture.h"

#include <bsd/string.h>
#include <bsd/sys/queue.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/client_file.h"
#include "daemon/descriptor.h"
#include "daemon/log.h"
#include "daemon/session_thread.h"
#include "format/time_text.h"
#include "recorder/host.h"
#include "recorder/sample_bound.h"
#include "recorder/session_error.h"

#define QUEUE_BYTES (8u << 20) /* each; what the base stream does not have to wait for */

/*
 * A capture has its slot until its time is over or it is stopped. What it then waits for is for a
 * client to say: a file that takes nothing, a task that lets nobody have events.
 */
#define OPEN_NS (15 * SECOND_NS)
#define OVER_NS SECOND_NS	  /* after its time: the threads have seen it by then */
#define GRACE_NS (10 * SECOND_NS) /* to write the rest into a client's file */
#define GRACE_AT_EXIT_S 3	  /* of all together */
#define FILE_GIVEN_UP "the file does not take the rest"
#define LEFT_EACH 4 /* of a user that wait so, whether they have been given up or not */
#define LEFT_MAX 32

struct capture {
	TAILQ_ENTRY(capture) entry;
	struct capture_progress progress;
	struct session_thread *thread;
	uint64_t asked_ns, begun_ns;
	uint64_t over_ns; /* since when it has no slot any more; 0: it has one */
	uid_t uid;
	struct client_file *out; /* NULL: into the archive */
	bool given_up;		 /* its file */
	struct archive *archive;
	char file[ARCHIVE_NAME_MAX]; /* the thread's until it records or has ended */
	struct capture_waiter waiter;
	/* Our copies of what the session borrows. */
	char **events;
	size_t nr_events;
	pid_t *pids;
	char *cgroup, *cpus;
	char *notes; /* NULL: it has not begun */
};

TAILQ_HEAD(capture_list, capture);

struct capture_set {
	const struct config *config;
	struct archive *archive;
	int wake_fd;
	uint64_t next_id;
	uint32_t running;	    /* that have a slot */
	unsigned int seconds;	    /* waited for clients' files at the end */
	_Atomic uint32_t cpu_share; /* of each of them: sample_bound.h */
	struct capture_list list;   /* somebody may wait for */
	struct capture_list left;   /* that could not be begun, until their threads end */
};

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

/*
 * All alike, so that what one takes is not the others'. With one more: of what is about to be
 * opened, which is bounded by what it will have.
 */
static void
share_cpu(struct capture_set *set, uint32_t with)
{
	uint32_t all = set->config->capture_cpu * (SAMPLE_SHARE_ALL / CONFIG_PERCENT_ALL);
	uint32_t sharers = set->running + with;

	if (!all)
		set->cpu_share = SAMPLE_SHARE_ALL;
	else
		set->cpu_share = sharers ? all / sharers : all;
}

static void
capture_free(struct capture *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nr_events; i++)
		free(c->events[i]);
	free(c->events);
	free(c->pids);
	free(c->cgroup);
	free(c->cpus);
	free(c->notes);
	client_file_free(c->out);
	free(c);
}

/* --- starting ---------------------------------------------------------------------------- */

static bool
copy_text(const char *from, char **to)
{
	*to = from ? strdup(from) : NULL;
	return !from || *to;
}

/* Points the options, which are already a copy, to copies that live as long as c. */
static int
own_options(struct capture *c, struct session_options *o)
{
	c->events = calloc(o->nr_events + 1, sizeof(*c->events));
	c->pids = calloc(o->nr_pids + 1, sizeof(*c->pids));
	if (!c->events || !c->pids)
		return -ENOMEM;
	for (; c->nr_events < o->nr_events; c->nr_events++)
		if (!copy_text(o->events[c->nr_events], &c->events[c->nr_events]))
			return -ENOMEM;
	if (!copy_text(o->cgroup, &c->cgroup) || !copy_text(o->cpus, &c->cpus))
		return -ENOMEM;
	if (o->nr_pids)
		memcpy(c->pids, o->pids, o->nr_pids * sizeof(*c->pids));
	o->events = c->nr_events ? (const char *const *)c->events : NULL;
	o->pids = c->pids;
	o->cgroup = c->cgroup;
	o->cpus = c->cpus;
	return 0;
}

static bool
counts(const struct capture *c, uid_t uid, bool over)
{
	return (uid == (uid_t)-1 || c->uid == uid) && !!c->over_ns == over;
}

/* Captures of a user (-1: of all) that have a slot, or that have none and still have threads. */
static uint32_t
count(const struct capture_set *set, uid_t uid, bool over)
{
	const struct capture *c;
	uint32_t n = 0;

	TAILQ_FOREACH(c, &set->list, entry)
		n += counts(c, uid, over);
	TAILQ_FOREACH(c, &set->left, entry)
		n += counts(c, uid, over);
	return n;
}

/* What is over and still has threads: captures, and files of such. */
static uint32_t
left(const struct capture_set *set, uid_t uid)
{
	return count(set, uid, true) + client_file_left(uid);
}

static int
refuse_by_limit(struct capture_refusal *why, const char *limit, uint64_t value)
{
	why->limit = limit;
	why->value = value;
	return session_fail(&why->error, -EBUSY, "%s is %llu", limit, (unsigned long long)value);
}

/* A user other than root has half of them; root has its own, whatever the others have. */
static int
check_slots(const struct capture_set *set, uid_t uid, struct session_error *error)
{
	uint32_t max = set->config->max_captures, each = (max + 1) / 2;

	if (uid != 0 && count(set, uid, false) >= each)
		return session_fail(error, -EBUSY,
				    "%u captures of uid %u are running: a user other than root "
				    "has half of max_captures, which is %u",
				    each, (unsigned int)uid, max);
	if (left(set, uid) >= LEFT_EACH)
		return session_fail(
			error, -EBUSY,
			"captures of uid %u that are over still wait for their files or "
			"tasks: no more until these answer",
			(unsigned int)uid);
	if (uid != 0 && left(set, (uid_t)-1) >= LEFT_MAX)
		return session_fail(error, -EBUSY,
				    "%u captures that are over still wait for their files or "
				    "tasks, which is the limit",
				    LEFT_MAX);
	return 0;
}

static int
check_request(const struct capture_set *set, const struct capture_request *rq,
	      struct capture_refusal *why)
{
	uint64_t max_ns = set->config->max_capture_time;
	uint32_t max = set->config->max_captures;

	if (rq->options.target == SESSION_COMMAND || rq->options.command)
		return session_usage(&why->error, "the daemon runs no commands");
	if (rq->options.duration_ns > max_ns)
		return refuse_by_limit(why, "max_capture_time", max_ns / SECOND_NS);
	if (set->running >= max && (rq->uid != 0 || count(set, 0, false) >= max))
		return refuse_by_limit(why, "max_captures", max);
	if (rq->options.for_user && rq->options.call_graph == SESSION_CALL_GRAPH_DWARF &&
	    rq->out_fd < 0)
		return session_usage(&why->error,
				     "what call graph dwarf records of your processes is for "
				     "a file of yours: give one (-o)");
	return check_slots(set, rq->uid, &why->error);
}

static int
give_file(struct client_file *out, struct session_options *o, struct session_error *error)
{
	int r = client_file_is_pseudo(out);

	if (r < 0)
		return session_fail(error, r, "the file does not answer: %s", strerror(-r));
	if (r)
		return session_usage(error,
				     "the file is one of the kernel's own (proc, sysfs and "
				     "the like): a recording goes into a file on a disk");
	o->sink = client_file_sink(out);
	return 0;
}

/* On the capture's thread: where the session writes to. */
static int
give_output(void *arg, struct session_options *o, struct session_error *error)
{
	struct archive_error why = { .saved_errno = 0 };
	struct capture *c = arg;
	struct clock_triple now;
	int r;

	if (c->out)
		return give_file(c->out, o, error);
	host_clocks(&now);
	/* Members of the group read the archive: not what ptrace(2) would keep from them. */
	r = archive_capture(c->archive, now.realtime, o->call_graph == SESSION_CALL_GRAPH_DWARF,
			    &o->sink, c->file, &why);
	return r < 0 ? session_fail(error, r, "%s", why.text) : 0;
}

static void
set_defaults(const struct capture_set *set, struct session_options *o)
{
	if (o->duration_ns == 0)
		o->duration_ns = set->config->max_capture_time;
	if (o->queue_bytes == 0)
		o->queue_bytes = QUEUE_BYTES;
	o->suspend_on_full = false;
	/* Whether there is a bound at all is decided when it begins. */
	o->cpu_share = set->config->capture_cpu ? &set->cpu_share : NULL;
	(void)session_build_ids_parse(set->config->build_ids, &o->build_ids);
	o->cmdline = "spoord capture";
	o->writer = "spoord " SPOOR_VERSION;
}

static int
start(struct capture_set *set, struct capture *c, struct session_options *o,
      struct session_error *error)
{
	int r = own_options(c, o);

	if (r < 0)
		return session_fail(error, r, "out of memory");
	o->sink = NULL;
	set_defaults(set, o);
	c->archive = set->archive;
	c->progress.duration_ns = o->duration_ns;
	c->progress.notes = "";
	return session_thread_start(o, give_output, c, set->wake_fd, &c->thread, error);
}

/* The client's descriptor is taken over, also when something went wrong before (r). */
static int
take_file(struct capture *c, const struct capture_request *rq, int r, struct session_error *error)
{
	if (rq->out_fd < 0)
		return r;
	if (r < 0) {
		descriptor_close(rq->out_fd, rq->uid);
		return r;
	}
	r = client_file_new(rq->out_fd, rq->uid, &c->out);
	return r < 0 ? session_fail(error, r, "cannot start a thread: %s", strerror(-r)) : 0;
}

int
capture_start(struct capture_set *set, const struct capture_request *request,
	      const struct capture_waiter *waiter, uint64_t *ret_id, struct capture_refusal *why)
{
	struct session_options o = request->options;
	struct capture *c = NULL;
	struct session_error *error = &why->error;
	int r = check_request(set, request, why);

	o.out_fd = -1;
	if (r == 0) {
		share_cpu(set, 1);
		c = calloc(1, sizeof(*c));
		r = c ? 0 : session_fail(error, -ENOMEM, "out of memory");
	}
	r = take_file(c, request, r, error);
	if (r == 0)
		r = start(set, c, &o, error);
	if (r < 0) {
		capture_free(c);
		share_cpu(set, 0);
		return r;
	}
	c->progress.id = set->next_id++;
	c->uid = request->uid;
	c->asked_ns = host_now_ns();
	c->waiter = *waiter;
	TAILQ_INSERT_TAIL(&set->list, c, entry);
	set->running++;
	*ret_id = c->progress.id;
	return 0;
}

/* --- while it runs ----------------------------------------------------------------------- */

static struct capture *
find(struct capture_set *set, uint64_t id)
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
	share_cpu(set, 0);
}

int
capture_stop(struct capture_set *set, uint64_t id)
{
	struct capture *c = find(set, id);

	if (!c)
		return -ENOENT;
	session_thread_stop(c->thread);
	give_up_slot(set, c);
	return 0;
}

void
capture_forget(struct capture_set *set, uint64_t id)
{
	struct capture *c = find(set, id);

	if (c)
		c->waiter = (struct capture_waiter){ NULL, NULL, NULL };
}

int
capture_progress(struct capture_set *set, uint64_t id, struct capture_progress *ret)
{
	struct capture *c = find(set, id);

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

/* Its thread has ended, or is to be waited for. */
static void
end(struct capture_set *set, struct capture *c)
{
	struct capture_progress *p = &c->progress;
	struct session_error error = { .saved_errno = 0 };
	int r;

	TAILQ_REMOVE(&set->list, c, entry);
	give_up_slot(set, c);
	p->elapsed_ns = elapsed_ns(c);
	r = session_thread_close(c->thread, &p->stats, &error);
	strlcpy(p->file, c->file, sizeof(p->file));
	tell_end(c, r, c->given_up ? FILE_GIVEN_UP : error.text);
	log_info("capture %llu ends: %llu samples, %llu lost%s%s", (unsigned long long)p->id,
		 (unsigned long long)p->stats.samples, (unsigned long long)p->stats.lost,
		 r < 0 ? ": " : "", p->error);
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
	log_warning("capture %llu of uid %u is given up: " FILE_GIVEN_UP,
		    (unsigned long long)c->progress.id, (unsigned int)c->uid);
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
	log_warning("capture %llu of uid %u is given up: %s", (unsigned long long)c->progress.id,
		    (unsigned int)c->uid, why);
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
reap(struct capture_set *set)
{
	struct capture *c, *next;

	for (c = TAILQ_FIRST(&set->left); c; c = next) {
		next = TAILQ_NEXT(c, entry);
		if (!session_thread_ended(c->thread))
			continue;
		TAILQ_REMOVE(&set->left, c, entry);
		(void)session_thread_close(c->thread, NULL, NULL);
		log_info("capture %llu, which was given up, has ended",
			 (unsigned long long)c->progress.id);
		capture_free(c);
	}
}

static void
begin(struct capture *c)
{
	struct capture_progress *p = &c->progress;

	p->begun = true;
	c->begun_ns = host_now_ns();
	strlcpy(p->file, c->file, sizeof(p->file));
	c->notes = strdup(session_notes(session_thread_session(c->thread)));
	p->notes = c->notes ? c->notes : "";
	log_info("capture %llu of uid %u begins%s%s", (unsigned long long)p->id,
		 (unsigned int)c->uid, c->out ? "" : ": ", p->file);
	if (c->waiter.on_begin)
		c->waiter.on_begin(c->waiter.arg);
}

void
capture_set_dispatch(struct capture_set *set)
{
	struct capture *c, *next;

	for (c = TAILQ_FIRST(&set->list); c; c = next) {
		next = TAILQ_NEXT(c, entry);
		if (!c->progress.begun && session_thread_opened(c->thread))
			begin(c);
		if (session_thread_ended(c->thread))
			end(set, c);
		else
			look_at_clock(set, c);
	}
	reap(set);
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

	if (p->each_second(p->arg) && ++p->set->seconds < GRACE_AT_EXIT_S)
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

	for (c = TAILQ_FIRST(&set->list); c; c = next) {
		next = TAILQ_NEXT(c, entry);
		if ((c->out || !c->progress.begun) != theirs)
			continue;
		p->capture = c;
		if (theirs && c->out && set->seconds >= GRACE_AT_EXIT_S)
			give_up_file(c);
		if (session_thread_wait(c->thread, theirs ? still_waiting : p->each_second,
					theirs ? p : p->arg))
			end(set, c);
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
	reap(set);
	if (!TAILQ_EMPTY(&set->left))
		return false;
	free(set);
	return true;
}

void
capture_set_reload(struct capture_set *set, const struct config *c)
{
	set->config = c;
	share_cpu(set, 0);
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
