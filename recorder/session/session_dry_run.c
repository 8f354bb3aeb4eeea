/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a session would open, by its options: checked and settled, without one descriptor of an event. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "recorder/event/event_filter.h"
#include "recorder/ground/session_error.h"
#include "recorder/ring/buildid_probe.h"
#include "recorder/session/session_internal.h"

#define BLOCK_AGE_NS UINT64_C(5000000000)
#define RING_PAGES_MAX (1u << 20)

int
session_check_options(const struct session_options *o, struct session_error *error)
{
	uint32_t pages = o->ring_pages, sideband = o->sideband_pages, aux = o->aux_pages;

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
	return 0;
}

void
session_set_defaults(struct session_options *o)
{
	if (o->build_ids == SESSION_BUILD_IDS_AUTO)
		o->build_ids = buildid_probe_harmless() ? SESSION_BUILD_IDS_KERNEL
							: SESSION_BUILD_IDS_FILE;
	if (!o->ring_pages)
		o->ring_pages = SESSION_RING_PAGES;
	/* A flight recorder's samples wake nobody in time. */
	if (!o->sideband_pages && o->overwrite)
		o->sideband_pages = SESSION_SIDEBAND_PAGES_RARE;
	/* Context switches, or call chains, are as many as samples, and must not cost the map of who was who. */
	if (!o->sideband_pages)
		o->sideband_pages = (o->extra.switch_events || o->extra.deferred) &&
				o->ring_pages > SESSION_SIDEBAND_PAGES
			? o->ring_pages
			: SESSION_SIDEBAND_PAGES;
	if (!o->queue_bytes)
		o->queue_bytes = SESSION_QUEUE_BYTES;
	if (!o->block_age_ns)
		o->block_age_ns = BLOCK_AGE_NS;
}

void
session_size_rings(struct session_options *o, const struct event_plan *plan)
{
	if (!plan->aux)
		return;
	if (!o->aux_pages)
		o->aux_pages = SESSION_AUX_BYTES / (uint32_t)sysconf(_SC_PAGESIZE);
	/* With a trace come records of each context switch: see session_set_defaults(). */
	if (o->sideband_pages == SESSION_SIDEBAND_PAGES && o->ring_pages > o->sideband_pages)
		o->sideband_pages = o->ring_pages;
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
	struct rlimit l;

	if (session_has_tracees(o))
		nr += TRACEE_DESCRIPTORS * target->nr_tasks;
	/* The soft limit is raised when it is hit. */
	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && nr >= l.rlim_max && (!max || l.rlim_max < max))
		return session_fail(
			error, -EMFILE,
			"%zu events, of %zu threads or control groups on %zu CPUs, need "
			"%llu file descriptors, and the hard limit is %llu: raise it "
			"(ulimit -Hn), or name fewer",
			plan->nr - 1, target->nr_tasks, target->online.nr, (unsigned long long)nr,
			(unsigned long long)l.rlim_max);
	if (!max || nr <= max)
		return 0;
	return session_fail(error, -EMFILE,
			    "%zu threads on %zu CPUs with %zu events need %llu file descriptors; "
			    "the limit is %llu: name fewer threads, events or CPUs, or a control "
			    "group",
			    target->nr_tasks, target->online.nr, plan->nr - 1,
			    (unsigned long long)nr, (unsigned long long)max);
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
	if (r < 0)
		goto out;
	session_size_rings(&o, &plan);
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
