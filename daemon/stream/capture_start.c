/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a capture begins: what is asked for against the limits, copies of it, its file, its thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/process/descriptor.h"
#include "daemon/stream/capture_internal.h"
#include "daemon/stream/memory_share.h"
#include "format/bytes/time_text.h"
#include "recorder/host/host.h"
#include "recorder/host/subuid.h"

#define LEFT_FILES_EACH 4 /* of a user that wait so, whether they have been given up or not */
#define LEFT_FILES_MAX 32

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
	if (!copy_text(o->cgroup, &c->cgroup) || !copy_text(o->cgroups, &c->cgroups) ||
	    !copy_text(o->cpus, &c->cpus))
		return -ENOMEM;
	if (o->nr_pids)
		memcpy(c->pids, o->pids, o->nr_pids * sizeof(*c->pids));
	o->events = c->nr_events ? (const char *const *)c->events : NULL;
	o->pids = c->pids;
	o->cgroup = c->cgroup;
	o->cgroups = c->cgroups;
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
capture_count(const struct capture_set *set, uid_t uid, bool over)
{
	const struct capture *c;
	uint32_t n = 0;

	TAILQ_FOREACH(c, &set->list, entry)
		n += counts(c, uid, over);
	TAILQ_FOREACH(c, &set->left, entry)
		n += counts(c, uid, over);
	return n;
}

/* Is it too much, with what is over and still has threads: captures, and files of such? */
static bool
has_left(const struct capture_set *set, uid_t uid, uint32_t captures, uint32_t files_max)
{
	uint32_t over = capture_count(set, uid, true);

	return (over && capture_count(set, uid, false) + over >= captures) ||
		client_file_left(uid) >= files_max;
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
	uint64_t for_ns;

	if (uid != 0 && capture_count(set, uid, false) >= each)
		return session_fail(error, -EBUSY,
				    "%u captures of uid %u are running: a user other than root "
				    "has half of max_captures, which is %u",
				    each, (unsigned int)uid, max);
	if (uid != 0 && capture_count(set, uid, false) + capture_debts(set, uid, &for_ns) >= each)
		return session_fail(error, -EBUSY,
				    "captures of uid %u had more of the CPUs than capture_cpu "
				    "allows: no more for %.1f s",
				    (unsigned int)uid, (double)for_ns / SECOND_NS);
	if (has_left(set, uid, uid != 0 ? each + 1 : max + each, LEFT_FILES_EACH))
		return session_fail(
			error, -EBUSY,
			"uid %u has too many finished captures that wait for their files or "
			"tasks: try again when these have ended",
			(unsigned int)uid);
	if (uid != 0 && has_left(set, (uid_t)-1, max + each, LEFT_FILES_MAX))
		return session_fail(error, -EBUSY,
				    "too many finished captures wait for their files or tasks: "
				    "try again when these have ended");
	return 0;
}

static int
check_wish(const struct capture_set *set, const struct session_options *wish,
	   struct capture_refusal *why)
{
	uint64_t max_ns = set->config->max_capture_time;
	uint32_t max = set->config->max_captures;

	if (wish->target == SESSION_COMMAND || wish->command)
		return session_usage(&why->error, "the daemon runs no commands");
	if (wish->duration_ns > max_ns)
		return refuse_by_limit(why, "max_capture_time", max_ns / SECOND_NS);
	if (set->running >= max && (wish->uid != 0 || capture_count(set, 0, false) >= max))
		return refuse_by_limit(why, "max_captures", max);
	if (wish->for_user && wish->call_graph == SESSION_CALL_GRAPH_DWARF && wish->out_fd < 0)
		return session_usage(&why->error,
				     "call graph dwarf writes to a file of yours only: give "
				     "one (-o)");
	return check_slots(set, subuid_owner(wish->uid), &why->error);
}

/* Before anything of it is allocated. What is over has its memory until its threads have ended. */
static int
take_memory(const struct capture_set *set, struct session_options *o, struct session_error *error)
{
	uint32_t have = capture_count(set, (uid_t)-1, false) + capture_count(set, (uid_t)-1, true);

	if (memory_share_capture(set->config->max_captures, have,
				 strcmp(set->config->flight_recorder, "none") != 0, o))
		return 0;
	return session_fail(error, -EBUSY,
			    "no memory for another capture: %u captures hold theirs, some of "
			    "which may be over and wait for their files: try again later",
			    have);
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
	struct capture *c = arg;
	struct clock_triple now;
	int r;

	if (c->out)
		return give_file(c->out, o, error);
	host_clocks(&now);
	r = archive_capture(c->archive, now.realtime, true, &o->sink, c->file, error);
	c->sink = o->sink;
	return r;
}

/* Members of the group read the archive: not what ptrace(2) would keep from them. */
static int
show_output(void *arg, const struct session *session, struct session_error *error)
{
	const struct capture *c = arg;
	int r = c->out || session_contents(session) ? 0 : archive_show(c->archive, c->sink);

	return r < 0 ? session_fail(error, r, "%s: its mode: %s", c->file, strerror(-r)) : 0;
}

static void
set_defaults(const struct capture_set *set, struct session_options *o)
{
	if (o->duration_ns == 0)
		o->duration_ns = set->config->max_capture_time;
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
	static const struct session_thread_hooks hooks = { give_output, show_output };
	int r = own_options(c, o);

	if (r < 0)
		return session_fail(error, r, "out of memory");
	o->sink = NULL;
	set_defaults(set, o);
	o->without_contents = o->for_user && !c->out;
	c->archive = set->archive;
	c->progress.duration_ns = o->duration_ns;
	c->progress.notes = "";
	return session_thread_start(o, &hooks, c, set->wake_fd, &c->thread, error);
}

/* The client's descriptor is taken over, also when something went wrong before (r). */
static int
take_file(struct capture *c, const struct session_options *wish, int r, struct session_error *error)
{
	if (wish->out_fd < 0)
		return r;
	if (r < 0) {
		descriptor_close(wish->out_fd, subuid_owner(wish->uid));
		return r;
	}
	r = client_file_new(wish->out_fd, subuid_owner(wish->uid), &c->out);
	return r < 0 ? session_fail(error, r, "cannot start a thread: %s", strerror(-r)) : 0;
}

int
capture_start(struct capture_set *set, const struct session_options *wish,
	      const struct capture_waiter *waiter, uint64_t *ret_id, struct capture_refusal *why)
{
	struct session_options o = *wish;
	struct capture *c = NULL;
	struct session_error *error = &why->error;
	int r = check_wish(set, wish, why);

	o.out_fd = -1;
	if (r == 0)
		r = take_memory(set, &o, error);
	if (r == 0) {
		capture_share_cpu(set, 1);
		c = calloc(1, sizeof(*c));
		r = c ? 0 : session_fail(error, -ENOMEM, "out of memory");
	}
	r = take_file(c, wish, r, error);
	if (r == 0)
		r = start(set, c, &o, error);
	if (r < 0) {
		capture_free(c);
		capture_share_cpu(set, 0);
		return r;
	}
	c->progress.id = set->next_id++;
	c->uid = subuid_owner(wish->uid);
	c->asked_ns = host_now_ns();
	c->waiter = *waiter;
	TAILQ_INSERT_TAIL(&set->list, c, entry);
	set->running++;
	*ret_id = c->progress.id;
	return 0;
}
