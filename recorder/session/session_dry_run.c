/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a session would open, by its options: checked and settled; what is opened for that is closed again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/event/command.h"
#include "recorder/event/event_filter.h"
#include "recorder/event/event_open.h"
#include "recorder/event/event_refusal.h"
#include "recorder/ground/descriptor_limit.h"
#include "recorder/ground/session_error.h"
#include "recorder/host/host.h"
#include "recorder/ring/buildid_probe.h"
#include "recorder/session/session_internal.h"

#define BLOCK_AGE_NS UINT64_C(5000000000)
#define RING_PAGES_MAX (1u << 20)
/* What a session opens beside its events: of the queue, the clocks, /proc, files. Those of helpers are their own. */
#define DESCRIPTORS_BESIDE 24
/*
 * Recorded copies are of 8 KiB each: a ring of the usual size has those of 60 ms, and a drain thread beside ten busy
 * ones on its CPU waits longer. The ring has half a second of them, of those that are unwound a tenth
 * (session_stack_room()), and the queue what the writer thread cannot pack in time.
 */
#define STACKS_BYTES_MIN (UINT64_C(4) << 20)
#define STACKS_BYTES_MAX (UINT64_C(64) << 20)
#define BULK_PARTS_IN_RING 2		  /* of a second */
#define WAKEUPS_BYTES (UINT64_C(8) << 20) /* a second: 100,000 wake-ups of a CPU */
#define BULK_RING_BYTES_MAX (UINT64_C(8) << 20)
#define BULK_RINGS_BYTES_MAX (UINT64_C(256) << 20) /* of all CPUs */
#define BULK_SECONDS_IN_QUEUE 4
#define BULK_QUEUE_BYTES_MAX (UINT64_C(256) << 20)

int
session_check_options(const struct session_options *o, struct session_error *error)
{
	uint32_t pages = o->ring_pages, sideband = o->sideband_pages, aux = o->aux_pages;
	uint64_t pid_namespace;

	if (o->frequency_hz && o->period)
		return session_usage(error, "a frequency and a period exclude each other");
	if ((pages & (pages - 1)) || pages > RING_PAGES_MAX || (sideband & (sideband - 1)) ||
	    sideband > RING_PAGES_MAX || (aux & (aux - 1)) || aux > RING_PAGES_MAX)
		return session_usage(error,
				     "the pages of a ring are a power of two, and at most %u",
				     RING_PAGES_MAX);
	if (o->overwrite && o->counter_interval_ns)
		return session_usage(error,
				     "--counters are read all the time, and --overwrite keeps the "
				     "last moments alone: record them beside");
	if (o->overwrite && o->extra.deferred)
		return session_usage(error,
				     "--call-graph fp,defer: chains that come after their samples "
				     "are not kept with --overwrite");
	if (o->overwrite && o->extra.switch_events)
		return session_usage(
			error,
			"records of each context switch are no samples, and a flight "
			"recorder keeps no others: use the event off-cpu, or all of it "
			"without overwriting");
	if (o->target == SESSION_COMMAND && !o->command)
		return session_usage(error, "no command to record");
	if (host_pid_namespace(&pid_namespace) == -EXDEV)
		return session_fail(error, -EXDEV,
				    "/proc is of another PID namespace, where these numbers are "
				    "other processes': mount that of this one on /proc "
				    "(mount -t proc proc /proc, or unshare --mount-proc)");
	return 0;
}

void
session_set_defaults(struct session_options *o)
{
	if (o->build_ids == SESSION_BUILD_IDS_AUTO && !buildid_probe_harmless())
		o->build_ids = SESSION_BUILD_IDS_FILE;
	if (!o->block_age_ns)
		o->block_age_ns = BLOCK_AGE_NS;
}

/*
 * Bytes a second of copied stacks, of a CPU that is always busy, and of wake-ups, of one that wakes many. fixed: only those
 * that cannot become smaller.
 */
static uint64_t
bulk_bytes_a_second(const struct session_options *o, const struct event_plan *plan, bool fixed)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < plan->nr; i++) {
		const struct event_def *def = &plan->defs[i];
		uint64_t hz = event_plan_hz(plan, def);

		/* How often a period is over is not known before. */
		if (!hz || o->period)
			hz = SESSION_FREQUENCY_HZ;
		if (def->attr.sample_type & PERF_SAMPLE_STACK_USER)
			sum += hz * def->attr.sample_stack_user;
		if (!fixed || !event_def_sizes_stack(def))
			sum += hz * session_stack_room(def);
		/* A lost one costs the waits of all threads that it may have been of. */
		if (def->everybody)
			sum += WAKEUPS_BYTES;
	}
	return sum;
}

/* The power of two that holds so many, within bounds that are powers of two. */
static uint64_t
room_for(uint64_t bytes, uint64_t least, uint64_t most)
{
	uint64_t room = least;

	while (room < most && room < bytes)
		room *= 2;
	return room;
}

/* What all CPUs copy in two seconds, within bounds. */
uint64_t
session_stacks_bytes(const struct session_options *o, const struct event_plan *plan)
{
	const uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	const uint64_t bytes = room_for(bulk_bytes_a_second(o, plan, false) * cpus * 2,
					STACKS_BYTES_MIN, STACKS_BYTES_MAX);

	return o->stacks_bytes_max && o->stacks_bytes_max < bytes ? o->stacks_bytes_max : bytes;
}

static uint32_t
ring_pages(const struct session_options *o, uint64_t bulk, const struct target *target)
{
	const uint64_t rings = target->per_thread ? target->nr_tasks
		: target->online.nr		  ? target->online.nr
						  : 1;
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), least = SESSION_RING_PAGES * page;
	const uint64_t all = o->rings_bytes_max ? o->rings_bytes_max : BULK_RINGS_BYTES_MAX;
	uint64_t most = BULK_RING_BYTES_MAX;

	while (most > least && most * rings > all)
		most /= 2;
	return (uint32_t)(room_for(bulk / BULK_PARTS_IN_RING, least, most) / page);
}

/*
 * With a trace come records of each context switch, and of deferred call chains there are as many as samples: they
 * must not cost the map of who was who.
 */
static uint32_t
sideband_pages(const struct session_options *o, const struct event_plan *plan, uint32_t many_pages)
{
	bool many = o->extra.switch_events || o->extra.deferred || plan->aux;

	/* A flight recorder's samples wake no thread in time. */
	if (o->overwrite)
		return SESSION_SIDEBAND_PAGES_RARE;
	if (many && many_pages > SESSION_SIDEBAND_PAGES)
		return many_pages;
	return SESSION_SIDEBAND_PAGES;
}

void
session_size_rings(struct session_options *o, const struct event_plan *plan,
		   const struct target *target)
{
	const uint64_t bulk = bulk_bytes_a_second(o, plan, false);
	const uint64_t cpus = target->online.nr ? target->online.nr : 1;
	const uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);
	const uint32_t many = o->ring_pages ? o->ring_pages : SESSION_RING_PAGES;

	if (!o->ring_pages)
		o->ring_pages = ring_pages(o, bulk, target);
	if (!o->sideband_pages)
		o->sideband_pages = sideband_pages(o, plan, many);
	if (!o->queue_bytes)
		o->queue_bytes = room_for(bulk * BULK_SECONDS_IN_QUEUE * cpus, SESSION_QUEUE_BYTES,
					  BULK_QUEUE_BYTES_MAX);
	if (plan->aux && !o->aux_pages)
		o->aux_pages = SESSION_AUX_BYTES / page;
}

uint32_t
session_pages_enough(const struct session_options *o, const struct event_plan *plan,
		     const struct target *target)
{
	return ring_pages(o, bulk_bytes_a_second(o, plan, true), target);
}

bool
session_has_tracees(const struct session_options *o)
{
	return o->for_user && o->call_graph == SESSION_CALL_GRAPH_DWARF;
}

int
session_check_descriptors(const struct session_options *o, const struct event_plan *plan,
			  const struct target *target, struct session_error *error)
{
	uint64_t max = o->descriptors_max, nr = ring_set_descriptors(plan, target);
	uint64_t hard, room = descriptor_limit_free(&hard);

	if (session_has_tracees(o))
		nr += TRACEE_DESCRIPTORS * target->nr_tasks;
	if (nr + DESCRIPTORS_BESIDE > room && (!max || hard < max))
		return session_fail(
			error, -EMFILE,
			"%zu events, of %zu threads or control groups on %zu CPUs, need "
			"%llu file descriptors, and the hard limit is %llu: raise it "
			"(ulimit -Hn), or name fewer",
			plan->nr - 1, target->nr_tasks, target->online.nr,
			(unsigned long long)(nr + DESCRIPTORS_BESIDE + hard - room),
			(unsigned long long)hard);
	if (!max || nr <= max)
		return 0;
	return session_fail(error, -EMFILE,
			    "%zu threads on %zu CPUs with %zu events need %llu file descriptors; "
			    "the limit is %llu: name fewer threads, events or CPUs, or a control "
			    "group",
			    target->nr_tasks, target->online.nr, plan->nr - 1,
			    (unsigned long long)nr, (unsigned long long)max);
}

/* May each of the tasks be looked into? What has ended since is none. */
static int
try_tasks(const struct event_plan *plan, const struct target *target, struct session_error *error)
{
	struct perf_event_attr attr = plan->defs[0].attr;
	int r = 0;

	event_def_point(&plan->defs[0], &attr);
	attr.disabled = 1;
	attr.enable_on_exec = 0;
	for (size_t i = 0; r == 0 && target->single_tasks && i < target->nr_tasks; i++) {
		r = event_open_try(&attr, target->tasks[i], -1);
		r = r == -EACCES || r == -EPERM
			? event_open_error(&plan->defs[0], target->tasks[i], -1, r, error)
			: 0;
	}
	return r;
}

int
session_dry_run(const struct session_options *options, session_see_attr_fn *see, void *arg,
		char **ret_notes, struct session_error *error)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct session_options o = *options;
	struct target target = { 0 };
	struct event_plan plan = { 0 };
	struct buf notes;
	int r = session_check_options(&o, error);

	buf_init(&notes);
	if (r == 0) {
		session_set_defaults(&o);
		r = target_resolve(&o, getpid(), &target, error);
	}
	if (r == 0)
		r = event_plan_make(&o, &target, &plan, &notes, error);
	if (r == 0)
		r = session_check_descriptors(&o, &plan, &target, error);
	if (r == 0)
		r = event_filter_try(&plan, &target, error);
	if (r == 0)
		r = try_tasks(&plan, &target, error);
	if (r == 0 && o.command)
		r = command_check(o.command, error);
	if (r < 0)
		goto out;
	session_size_rings(&o, &plan, &target);
	(void)session_size_stacks(&o, o.ring_pages, &target, &plan, &notes);
	event_plan_rings(&plan, o.ring_pages * page, o.sideband_pages * page,
			 o.aux_snapshot ? 0 : o.aux_pages * page);
	session_see_attrs(&plan, see, arg);
out:
	buf_u8(&notes, 0);
	*ret_notes = buf_failed(&notes) ? NULL : strdup((const char *)notes.p);
	buf_done(&notes);
	event_plan_done(&plan);
	target_done(&target);
	return r;
}
