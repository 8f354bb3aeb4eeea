/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/session/session.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/record/perf_record.h"
#include "recorder/event/event_filter.h"
#include "recorder/ground/descriptor_limit.h"
#include "recorder/ground/session_error.h"
#include "recorder/helper/helper.h"
#include "recorder/host/host.h"
#include "recorder/host/uevents.h"
#include "recorder/session/session_internal.h"

static int
watch_events(struct session *s)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->rings.nr; i++) {
		const struct cpu_rings *c = &s->rings.cpus[i];

		r = session_watch_cpu(s, c);
		for (size_t k = 0; k < c->nr; k++)
			s->running += event_def_samples_target(&s->plan.defs[c->events[k].def]);
	}
	return r;
}

static int
open_watch(struct session *s, struct session_error *error)
{
	int r = 0;

	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->failure_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->epoll_fd < 0 || s->stop_fd < 0 || s->failure_fd < 0)
		r = -errno;
	if (r == 0)
		r = session_requests_new(&s->requests);
	if (r == 0)
		r = session_watch(s, s->stop_fd, WAKE_STOP);
	if (r == 0)
		r = session_watch(s, s->failure_fd, WAKE_FAILURE);
	if (r == 0)
		r = session_watch(s, session_requests_fd(s->requests), WAKE_REQUEST);
	s->uevents_fd = uevents_open();
	if (r == 0 && s->uevents_fd >= 0)
		r = session_watch(s, s->uevents_fd, WAKE_UEVENT);
	if (r == 0 && s->command && command_fd(s->command) >= 0)
		r = session_watch(s, command_fd(s->command), WAKE_COMMAND);
	return r < 0 ? session_fail(error, r, "cannot watch the events: %s", strerror(-r)) : 0;
}

/* Those that came or went since the rings were opened are the drain's first business. */
static int
follow_cpus(struct session *s)
{
	int r = hotplug_open(&s->hotplug);

	if (r < 0)
		return r;
	s->follow_cpus = s->unsettled = true;
	return 0;
}

/* Whoever is not root sees contents of what ptrace(2) would show, and so of no whole CPU. */
static int
watch_tracees(struct session *s, struct session_error *error)
{
	const struct session_options *o = &s->options;

	if (!session_has_tracees(o))
		return 0;
	if (!s->target.single_tasks)
		return session_fail(
			error, -EPERM,
			"call graph dwarf copies stacks and registers: of all that runs "
			"on a CPU or in a control group only root may record them; name "
			"processes of your own, or use call graph fp");
	return tracees_open(s->target.tasks, s->target.nr_tasks, o->uid, o->gid, &s->tracees,
			    error);
}

/* What ended meanwhile may have left its number to somebody: its events are never enabled. */
static int
settle_tracees(struct session *s, struct session_error *error)
{
	int r;

	if (!s->tracees)
		return 0;
	r = tracees_settle(s->tracees, error);
	for (size_t i = 0; r == 0 && i < s->target.nr_tasks; i++)
		if (tracees_ended(s->tracees, s->target.tasks[i]))
			ring_set_retire_task(&s->rings, s->target.tasks[i]);
	tracees_close(s->tracees);
	s->tracees = NULL;
	return r;
}

/* What is copied of stacks, by the rings that there are. 0, -ENOMEM with *error filled. */
static int
size_stacks(struct session *s, uint32_t pages, struct session_error *error)
{
	s->stack_size.bytes =
		session_size_stacks(&s->options, pages, &s->target, &s->plan, &s->notes);
	free(s->opened);
	s->opened = NULL;
	return session_set_opened(s) < 0 ? session_fail(error, -ENOMEM, "out of memory") : 0;
}

/* Rings became smaller than was planned, by the mlock quota: copies of stacks are to fit into these. */
static int
open_smaller(struct session *s, struct cpu_rings_options *o, struct session_error *error)
{
	o->pages = s->rings.each.pages;
	o->sideband_pages = s->rings.each.sideband_pages;
	o->aux_pages = s->rings.each.aux_pages;
	ring_set_close(&s->rings);
	if (size_stacks(s, o->pages, error) < 0)
		return -ENOMEM;
	o->opened = s->opened;
	return ring_set_open(&s->rings, o, NULL, error); /* what there is to note was noted */
}

static int
open_events(struct session *s, struct session_error *error)
{
	struct cpu_rings_options o = { .plan = &s->plan,
				       .target = &s->target,
				       .skip_missing = s->options.extra.skip_missing,
				       .overwrite = s->options.overwrite,
				       .aux_snapshot = s->options.aux_snapshot,
				       .aux_snapshot_bytes = s->options.aux_snapshot_bytes };
	const uint32_t asked = s->options.ring_pages;
	pid_t child = s->command ? command_pid(s->command) : 0;
	int r = target_resolve(&s->options, child, &s->target, error);

	if (r == 0)
		r = event_plan_make(&s->options, &s->target, &s->plan, &s->notes, error);
	if (r == 0 && s->options.without_contents && event_plan_contents(&s->plan))
		r = session_usage(
			error,
			"samples that have contents of processes (stacks, registers, data "
			"addresses, fields of tracepoints) go into a file of yours only: "
			"give one (-o)");
	if (r == 0) {
		session_size_rings(&s->options, &s->plan, &s->target);
		r = size_stacks(s, s->options.ring_pages, error);
	}
	o.pages = o.pages_enough = s->options.ring_pages;
	/* Copies become smaller where the rest is missing, which is told when stacks are cut. */
	if (r == 0 && !asked)
		o.pages_enough = session_pages_enough(&s->options, &s->plan, &s->target);
	o.sideband_pages = s->options.sideband_pages;
	o.aux_pages = s->options.aux_pages;
	o.opened = s->opened;
	if (r == 0)
		r = session_check_descriptors(&s->options, &s->plan, &s->target, error);
	if (r == 0)
		r = watch_tracees(s, error);
	if (r == 0)
		r = ring_set_open(&s->rings, &o, &s->notes, error);
	if (r == 0 && s->opened && s->rings.each.pages < o.pages)
		r = open_smaller(s, &o, error);
	if (r == 0)
		r = settle_tracees(s, error);
	if (r < 0)
		return r;
	r = watch_events(s);
	s->phase_due_ns = target_of_cpus(&s->target) ? 0 : UINT64_MAX;
	if (r == 0 && target_of_cpus(&s->target))
		r = follow_cpus(s);
	return r < 0 ? session_fail(error, r, "cannot watch the events: %s", strerror(-r)) : 0;
}

/* The events of the plan, in its order: an index means the same in both. */
static int
add_events(const struct session *s, struct event_set *events)
{
	int r = events ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < s->plan.nr; i++) {
		const struct event_def *def = &s->plan.defs[i];

		r = event_set_add(events, span_of(&def->attr, def->attr.size), def->name, NULL);
		if (r == 0)
			r = event_set_format(events, i, def->format);
		if (r == 0)
			event_set_unit(events, i, &def->unit);
	}
	return r;
}

static int
make_meta(struct session *s, struct session_error *error)
{
	struct recording_meta *m = recording_meta_new();
	int r;

	if (!m)
		return session_fail(error, -ENOMEM, "out of memory");
	s->meta = m;
	m->frequency_hz = s->plan.frequency_hz;
	m->frequency_hz_effective = s->plan.frequency_hz_effective;
	m->counter_interval_ns = s->options.counter_interval_ns;
	if (!m->events)
		m->events = event_set_new();
	s->shapes = event_set_new();
	r = add_events(s, m->events);
	if (r == 0)
		r = add_events(s, s->shapes);
	if (r == 0)
		r = ring_set_ids(&s->rings, m->events);
	if (r == 0)
		r = recording_meta_set(&m->cmdline, s->options.cmdline ? s->options.cmdline : "");
	if (r == 0)
		r = recording_meta_set(&m->writer, s->options.writer ? s->options.writer : "spoor");
	return r < 0 ? session_fail(error, -ENOMEM, "out of memory") : 0;
}

/*
 * Without it nothing tells of a file without waiting for its file system: such files are left alone. The kernel is
 * asked: glibc has a statx() of its own where it is missing.
 */
static bool
statx_refused(void)
{
	struct statx st;

	return syscall(SYS_statx, AT_FDCWD, "/", AT_STATX_DONT_SYNC, STATX_TYPE, &st) < 0 &&
		(errno == ENOSYS || errno == EPERM);
}

/* state: gets what was there before. */
static int
open_live(struct session *s, struct buf *state, struct session_error *error)
{
	struct live_options o = { .events = s->meta->events,
				  .sideband = (int)s->plan.sideband,
				  .data_maps = s->plan.defs[s->plan.sideband].attr.mmap_data,
				  .model_bytes = s->options.model_bytes,
				  .objects = s->options.objects };
	int r;

	if (s->target.single_tasks) {
		o.pids = s->options.pids;
		o.nr_pids = s->options.nr_pids;
	} else if (s->options.target == SESSION_COMMAND) {
		s->command_pid = command_pid(s->command);
		o.pids = &s->command_pid;
		o.nr_pids = 1;
		o.waiting = true;
	}
	r = live_open(&o, &s->live);
	if (r < 0)
		return session_fail(error, r, "cannot read the state of the system: %s",
				    strerror(-r));
	if (s->options.state_bytes)
		live_bound_snapshot(s->live, s->options.state_bytes);
	r = live_scan(s->live, state);
	if (r < 0)
		return session_fail(error, r, "cannot read /proc: %s", strerror(-r));
	r = host_describe(s->meta, live_kallsyms(s->live));
	if (r < 0)
		return session_fail(error, r, "cannot describe this host: %s", strerror(-r));
	if (s->meta->pid_namespace && target_of_cpus(&s->target))
		session_note(&s->notes,
			     "recorded inside of a PID namespace: processes outside of it are "
			     "\"[other PID namespace]\"");
	if (statx_refused())
		session_note(
			&s->notes,
			"the system call statx is refused here (a seccomp filter that is older): code "
			"made at run time has no names, and mapped files may have no build-id");
	if (*live_note(s->live))
		session_note(&s->notes, "%s", live_note(s->live));
	buf_u8(&s->notes, 0);
	if (buf_failed(&s->notes) || recording_meta_set(&s->meta->notes, (char *)s->notes.p) < 0)
		return session_fail(error, -ENOMEM, "out of memory");
	return 0;
}

static int
open_writer(struct session *s, struct span state, struct session_error *error)
{
	struct writer_options o = {
		.meta = s->meta,
		.live = s->live,
		.requests = s->requests,
		.aux = s->plan.aux ? &s->plan.aux->about : NULL,
		.suspend_on_full = s->options.suspend_on_full,
		.flight = s->options.overwrite,
		.sideband = s->plan.sideband,
		.count_lost_records = !s->plan.defs[s->plan.sideband].lost,
		.queue_bytes = s->options.queue_bytes,
		.block_age_ns = s->options.block_age_ns,
		.block_bytes = s->options.block_bytes,
		.sideband_bytes_per_s = s->options.sideband_bytes_per_s,
		.failure_fd = s->failure_fd,
	};
	int r;

	o.sink = s->options.sink ? s->options.sink : io_sink_fd(s->options.out_fd);
	if (!o.sink)
		return session_fail(error, -ENOMEM, "out of memory");
	s->options.out_fd = -1;
	s->options.sink = NULL;
	s->meta = NULL;
	o.opened = s->opened;
	o.stacks_bytes = session_stacks_bytes(&s->options, &s->plan);
	o.stack_size = &s->stack_size;
	r = writer_open(&o, &s->writer, error);
	if (r == 0)
		r = writer_state(s->writer, state, error);
	return r < 0 ? r : writer_start(s->writer, error);
}

/* The writer's thread and the helpers are there only now. */
static int
leave_out_ourselves(struct session *s, struct session_error *error)
{
	int r = event_filter_exclude(&s->plan, s->command ? command_pid(s->command) : 0);

	if (r < 0)
		return session_fail(error, r, "out of memory");
	for (size_t i = 0; r == 0 && i < s->rings.nr; i++)
		r = cpu_rings_filter(&s->rings.cpus[i], &s->plan, error);
	for (size_t i = 0; i < s->plan.nr; i++)
		s->plan.defs[i].filter_due = false;
	return r < 0 ? r : 0;
}

static int
open_all(struct session *s, struct session_error *error)
{
	struct buf state;
	int r = session_check_options(&s->options, error);

	if (r < 0)
		return r;
	descriptor_limit_raise();
	/* Before there are threads and much memory. Without it others' files and maps are not read. */
	(void)helper_start();
	session_set_defaults(&s->options);
	if (s->options.command) {
		r = command_start(s->options.command, &s->command, error);
		if (r < 0)
			return r;
	}
	r = open_watch(s, error);
	if (r == 0)
		r = open_events(s, error);
	if (r == 0)
		r = make_meta(s, error);
	if (r < 0)
		return r;
	/* Side-band first, then the scan: what changes during it is told twice, never missed. */
	ring_set_control(&s->rings, true, PERF_EVENT_IOC_ENABLE);
	buf_init(&state);
	r = open_live(s, &state, error);
	if (r == 0)
		r = open_writer(s, buf_span(&state), error);
	buf_done(&state);
	if (r == 0)
		r = leave_out_ourselves(s, error);
	if (r < 0)
		return r;
	session_set_timer(s);
	s->frequency_hz = s->plan.frequency_hz_effective;
	s->cpus = ring_set_sampled(&s->rings);
	s->loop_ns = s->status_ns = host_now_ns();
	/* The queue is empty, and takes it. */
	if (s->options.starts_disabled)
		(void)ring_set_enable(&s->rings, writer_queue(s->writer), false, s->shapes,
				      s->loop_ns);
	if (!s->options.counters_wait)
		session_counters_begin(s);
	if (s->options.target != SESSION_COMMAND && !s->options.starts_disabled)
		ring_set_control(&s->rings, false, PERF_EVENT_IOC_ENABLE);
	return 0;
}

/* What was taken over and has no other owner. */
static void
close_output(const struct session_options *o)
{
	if (o->sink)
		o->sink->close(o->sink);
	if (o->out_fd >= 0)
		close(o->out_fd);
}

static void
free_session(struct session *s)
{
	session_requests_free(s->requests);
	if (s->command)
		command_stop(s->command);
	command_free(s->command);
	writer_free(s->writer);
	if (s->live)
		live_close(s->live);
	ring_set_close(&s->rings);
	free(s->opened);
	hotplug_close(&s->hotplug);
	if (s->uevents_fd >= 0)
		close(s->uevents_fd);
	tracees_close(s->tracees);
	target_done(&s->target);
	event_plan_done(&s->plan);
	recording_meta_free(s->meta);
	event_set_free(s->shapes);
	buf_done(&s->notes);
	buf_done(&s->counts);
	close_output(&s->options);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	if (s->stop_fd >= 0)
		close(s->stop_fd);
	if (s->failure_fd >= 0)
		close(s->failure_fd);
	free(s);
}

int
session_open(const struct session_options *options, struct session **ret,
	     struct session_error *error)
{
	struct session *s = calloc(1, sizeof(*s));
	int r;

	if (!s) {
		close_output(options);
		return session_fail(error, -ENOMEM, "out of memory");
	}
	s->magic = SESSION_MAGIC;
	s->options = *options;
	s->epoll_fd = s->stop_fd = s->failure_fd = s->uevents_fd = -1;
	s->hotplug = (struct hotplug){ .online_fd = -1 };
	buf_init(&s->notes);
	buf_init(&s->counts);
	r = open_all(s, error);
	if (r < 0)
		free_session(s);
	else
		*ret = s;
	return r;
}

int
session_close(struct session *s, struct session_error *error)
{
	int r = session_finish(s, error);

	s->magic = 0;
	free_session(s);
	return r;
}

/* --- what became of it ------------------------------------------------------------------- */

void
session_stats(const struct session *s, struct session_stats *ret)
{
	assert(s->magic == SESSION_MAGIC);
	writer_stats(s->writer, ret);
	ret->frequency_hz = atomic_load_explicit(&s->frequency_hz, memory_order_relaxed);
	ret->cpus = atomic_load_explicit(&s->cpus, memory_order_relaxed);
	ret->stack_bytes = atomic_load_explicit(&s->stack_bytes, memory_order_relaxed);
	ret->cpu_ns += atomic_load_explicit(&s->used_ns, memory_order_relaxed);
	ret->sideband_ns += atomic_load_explicit(&s->sideband_ns, memory_order_relaxed);
	ret->owed_ns = atomic_load_explicit(&s->owed_ns, memory_order_relaxed);
}

void
session_progress(const struct session *s, struct session_progress *ret)
{
	ret->drain = atomic_load_explicit(&s->progress, memory_order_relaxed);
	ret->writer = writer_progress(s->writer);
}

int
session_rotate(struct session *s, struct io_sink *sink, struct session_error *error)
{
	struct session_request rq = { .kind = REQUEST_ROTATE, .sink = sink };

	return session_request_wait(s->requests, &rq, error);
}

int
session_dump(struct session *s, struct io_sink *sink, struct session_error *error)
{
	struct session_request rq = { .kind = REQUEST_ROTATE, .sink = sink, .dump = true };

	return session_request_wait(s->requests, &rq, error);
}

int
session_snapshot(struct session *s, struct session_error *error)
{
	struct session_request rq = { .kind = REQUEST_SNAPSHOT };

	return session_request_wait(s->requests, &rq, error);
}

int
session_sync(struct session *s, struct session_error *error)
{
	struct session_request rq = { .kind = REQUEST_SYNC };

	return session_request_wait(s->requests, &rq, error);
}

int
session_set_frequency(struct session *s, uint64_t hz, uint64_t limit_hz,
		      struct session_error *error)
{
	struct session_request rq = { .kind = REQUEST_FREQUENCY, .hz = hz, .limit_hz = limit_hz };

	return session_request_wait(s->requests, &rq, error);
}

int
session_enable(struct session *s, const char *event, bool on, struct session_error *error)
{
	struct session_request rq = { .kind = REQUEST_ENABLE, .on = on, .event = event };

	return session_request_wait(s->requests, &rq, error);
}

int
session_count(struct session *s, bool on, struct session_error *error)
{
	struct session_request rq = { .kind = REQUEST_COUNT, .on = on };

	return session_request_wait(s->requests, &rq, error);
}

void
session_set_sideband(struct session *s, uint64_t bytes_per_s)
{
	assert(s->magic == SESSION_MAGIC);
	writer_set_sideband(s->writer, bytes_per_s);
}

void
session_allow_objects(struct session *s, uint64_t bytes)
{
	assert(s->magic == SESSION_MAGIC);
	writer_allow_objects(s->writer, bytes);
}

void
session_close_events(struct session *s)
{
	ring_set_close(&s->rings);
}

bool
session_contents(const struct session *s)
{
	return event_plan_contents(&s->plan);
}

const char *
session_notes(const struct session *s)
{
	return (const char *)s->notes.p;
}

bool
session_news(struct session *s, struct news_line *ret)
{
	return writer_news(s->writer, ret);
}

int
session_command_status(const struct session *s)
{
	return s->command ? command_status(s->command) : -1;
}
