/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/session.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "format/buf.h"
#include "format/recording_meta.h"
#include "recorder/command.h"
#include "recorder/event.h"
#include "recorder/host.h"
#include "recorder/live.h"
#include "recorder/ring_set.h"
#include "recorder/session_error.h"
#include "recorder/target.h"
#include "recorder/writer.h"

#define SESSION_MAGIC 0x73657373u
#define BLOCK_AGE_NS UINT64_C(5000000000)
#define SECOND_NS UINT64_C(1000000000)
#define MS_NS UINT64_C(1000000)
#define TIMER_MS 200	       /* rings are visited at least this often */
#define TIMER_MS_FULL 5	       /* while the queue is full */
#define RECORD_BYTES_GUESS 512 /* a sample with its call chain, rather more than less */
#define RING_PAGES_MAX (1u << 20)

enum wake { WAKE_EVENT, WAKE_STOP, WAKE_FAILURE, WAKE_COMMAND };

struct session {
	uint32_t magic;
	struct session_options options;
	struct event_plan plan;
	struct target target;
	struct ring_set rings;
	struct recording_meta *meta;
	struct live *live;
	struct writer *writer;
	struct command *command;
	pid_t command_pid;
	struct buf notes; /* text */
	int epoll_fd, stop_fd, failure_fd;
	size_t running; /* sampling events whose tasks have not all ended */
	int timer_ms;
	bool stopped, finished;
	bool gone;	    /* the command was let go */
	uint64_t loop_ns;   /* when the loop last looked at the clock */
	uint64_t status_ns; /* when losses were last asked for */
};

/* --- opening ----------------------------------------------------------------------------- */

static int
check_options(const struct session_options *o, struct session_error *error)
{
	uint32_t pages = o->ring_pages, sideband = o->sideband_pages;

	if (o->frequency_hz && o->period)
		return session_usage(error, "a frequency and a period exclude each other");
	if ((pages & (pages - 1)) || pages > RING_PAGES_MAX || (sideband & (sideband - 1)) ||
	    sideband > RING_PAGES_MAX)
		return session_usage(error,
				     "the pages of a ring are a power of two, and at most %u",
				     RING_PAGES_MAX);
	if (o->target == SESSION_COMMAND && !o->command)
		return session_usage(error, "no command to record");
	return 0;
}

static void
set_defaults(struct session_options *o)
{
	if (!o->ring_pages)
		o->ring_pages = SESSION_RING_PAGES;
	if (!o->sideband_pages)
		o->sideband_pages = SESSION_SIDEBAND_PAGES;
	if (!o->queue_bytes)
		o->queue_bytes = SESSION_QUEUE_BYTES;
	if (!o->block_age_ns)
		o->block_age_ns = BLOCK_AGE_NS;
}

/* Half the time in which a ring can fill, within reason: the watermark wakes as well. */
static int
timer_ms(const struct session *s)
{
	uint64_t bytes = (uint64_t)s->options.ring_pages * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t hz = s->plan.frequency_hz_effective ? s->plan.frequency_hz_effective : 1000;
	uint64_t each = RECORD_BYTES_GUESS;
	uint64_t ms;

	if (s->options.call_graph == SESSION_CALL_GRAPH_DWARF)
		each += s->options.stack_bytes ? s->options.stack_bytes : 8192;
	ms = bytes * 1000 / (hz * each) / 2;
	return ms < 10 ? 10 : ms > TIMER_MS ? TIMER_MS : (int)ms;
}

static int
watch(struct session *s, int fd, enum wake kind)
{
	struct epoll_event e = { .events = EPOLLIN,
				 .data.u64 = (uint64_t)kind << 32 | (uint32_t)fd };

	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

/*
 * Every descriptor is watched although only one of a ring is mapped: waking a ring wakes
 * all its events, and the end of a task shows on its own descriptor only.
 */
static int
watch_events(struct session *s)
{
	int r = 0;

	for (size_t i = 0; i < s->rings.nr; i++) {
		const struct cpu_rings *c = &s->rings.cpus[i];

		for (size_t k = 0; r == 0 && k < c->nr; k++) {
			r = watch(s, c->events[k].fd, WAKE_EVENT);
			s->running += !s->plan.defs[c->events[k].def].sideband;
		}
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
		r = watch(s, s->stop_fd, WAKE_STOP);
	if (r == 0)
		r = watch(s, s->failure_fd, WAKE_FAILURE);
	if (r == 0 && s->command && command_fd(s->command) >= 0)
		r = watch(s, command_fd(s->command), WAKE_COMMAND);
	return r < 0 ? session_fail(error, r, "cannot watch the events: %s", strerror(-r)) : 0;
}

static int
open_events(struct session *s, struct session_error *error)
{
	struct ring_set_options o = { .plan = &s->plan,
				      .target = &s->target,
				      .pages = s->options.ring_pages,
				      .sideband_pages = s->options.sideband_pages };
	pid_t child = s->command ? command_pid(s->command) : 0;
	int r = event_plan_make(&s->options, &s->plan, &s->notes, error);

	if (r == 0)
		r = target_resolve(&s->options, child, &s->target, error);
	if (r == 0)
		r = ring_set_open(&s->rings, &o, &s->notes, error);
	if (r < 0)
		return r;
	r = watch_events(s);
	return r < 0 ? session_fail(error, r, "cannot watch the events: %s", strerror(-r)) : 0;
}

/* The events of the plan, in its order: an index means the same in both. */
static int
make_meta(struct session *s, struct session_error *error)
{
	struct recording_meta *m = recording_meta_new();
	int r = 0;

	if (!m)
		return session_fail(error, -ENOMEM, "out of memory");
	s->meta = m;
	m->frequency_hz = s->plan.frequency_hz;
	m->frequency_hz_effective = s->plan.frequency_hz_effective;
	if (!m->events)
		m->events = event_set_new();
	if (!m->events)
		return session_fail(error, -ENOMEM, "out of memory");
	for (size_t i = 0; r == 0 && i < s->plan.nr; i++) {
		const struct event_def *def = &s->plan.defs[i];

		r = event_set_add(m->events, span_of(&def->attr, def->attr.size), def->name, NULL);
	}
	if (r == 0)
		r = ring_set_ids(&s->rings, m->events);
	if (r == 0)
		r = recording_meta_set(&m->cmdline, s->options.cmdline ? s->options.cmdline : "");
	if (r == 0)
		r = recording_meta_set(&m->writer, s->options.writer ? s->options.writer : "spoor");
	return r < 0 ? session_fail(error, -ENOMEM, "out of memory") : 0;
}

static int
open_live(struct session *s, struct session_error *error)
{
	struct live_options o = { .events = s->meta->events, .sideband = (int)s->plan.sideband };
	int r;

	if (s->target.single_tasks) {
		o.pids = s->options.pids;
		o.nr_pids = s->options.nr_pids;
	} else if (s->options.target == SESSION_COMMAND) {
		s->command_pid = command_pid(s->command);
		o.pids = &s->command_pid;
		o.nr_pids = 1;
	}
	r = live_open(&o, &s->live);
	if (r < 0)
		return session_fail(error, r, "cannot read the state of the system: %s",
				    strerror(-r));
	r = host_describe(s->meta, live_kallsyms(s->live));
	if (r < 0)
		return session_fail(error, r, "cannot describe this host: %s", strerror(-r));
	for (const char *n = live_notes(s->live); *n;) {
		int len = (int)strcspn(n, "\n");

		session_note(&s->notes, "%.*s", len, n);
		n += len + (n[len] == '\n');
	}
	buf_u8(&s->notes, 0);
	if (buf_failed(&s->notes) || recording_meta_set(&s->meta->notes, (char *)s->notes.p) < 0)
		return session_fail(error, -ENOMEM, "out of memory");
	return 0;
}

static int
open_writer(struct session *s, struct session_error *error)
{
	struct writer_options o = {
		.sink = io_sink_fd(s->options.out_fd),
		.meta = s->meta,
		.live = s->live,
		.sideband = s->plan.sideband,
		.count_lost_records = !s->plan.defs[s->plan.sideband].lost,
		.queue_bytes = s->options.queue_bytes,
		.block_age_ns = s->options.block_age_ns,
		.failure_fd = s->failure_fd,
	};
	struct buf state;
	int r;

	if (!o.sink)
		return session_fail(error, -ENOMEM, "out of memory");
	s->options.out_fd = -1;
	r = writer_open(&o, &s->writer, error);
	if (r < 0)
		return r;
	buf_init(&state);
	r = live_scan(s->live, host_now_ns(), &state);
	if (r < 0)
		r = session_fail(error, r, "cannot read /proc: %s", strerror(-r));
	else
		r = writer_state(s->writer, buf_span(&state), error);
	buf_done(&state);
	return r < 0 ? r : writer_start(s->writer, error);
}

static int
open_all(struct session *s, struct session_error *error)
{
	int r = check_options(&s->options, error);

	if (r < 0)
		return r;
	set_defaults(&s->options);
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
	r = open_live(s, error);
	if (r == 0)
		r = open_writer(s, error);
	if (r < 0)
		return r;
	s->timer_ms = timer_ms(s);
	s->loop_ns = s->status_ns = host_now_ns();
	if (s->options.target != SESSION_COMMAND)
		ring_set_control(&s->rings, false, PERF_EVENT_IOC_ENABLE);
	return 0;
}

static void
free_session(struct session *s)
{
	if (s->command)
		command_stop(s->command);
	command_free(s->command);
	writer_free(s->writer);
	if (s->live)
		live_close(s->live);
	ring_set_close(&s->rings);
	target_done(&s->target);
	event_plan_done(&s->plan);
	recording_meta_free(s->meta);
	buf_done(&s->notes);
	if (s->options.out_fd >= 0)
		close(s->options.out_fd);
	for (int i = 0; i < 3; i++) {
		int fd = (int[]){ s->epoll_fd, s->stop_fd, s->failure_fd }[i];

		if (fd >= 0)
			close(fd);
	}
	free(s);
}

int
session_open(const struct session_options *options, struct session **ret,
	     struct session_error *error)
{
	struct session *s = calloc(1, sizeof(*s));
	int r;

	if (!s) {
		close(options->out_fd);
		return session_fail(error, -ENOMEM, "out of memory");
	}
	s->magic = SESSION_MAGIC;
	s->options = *options;
	s->epoll_fd = s->stop_fd = s->failure_fd = -1;
	s->target.cgroup_fd = -1;
	buf_init(&s->notes);
	r = open_all(s, error);
	if (r < 0)
		free_session(s);
	else
		*ret = s;
	return r;
}

/* --- running ----------------------------------------------------------------------------- */

void
session_stop(struct session *s)
{
	uint64_t one = 1;
	int saved = errno;

	if (write(s->stop_fd, &one, sizeof(one)) < 0)
		errno = saved; /* it is full of wishes to stop */
	errno = saved;
}

/* Time that passed although nothing kept us: the recorder was not let run. */
static void
note_stall(struct session *s, uint64_t now_ns, int waited_ms)
{
	uint64_t due = s->loop_ns + (uint64_t)waited_ms * MS_NS;

	if (now_ns > due + SECOND_NS)
		s->rings.stall_ns += now_ns - due;
	s->loop_ns = now_ns;
}

static void
take_event(struct session *s, const struct epoll_event *e)
{
	int fd = (int)(uint32_t)e->data.u64;

	switch ((enum wake)(e->data.u64 >> 32)) {
	case WAKE_EVENT:
		if (!(e->events & (EPOLLHUP | EPOLLERR)))
			break;
		/* Its task and all that inherited from it have ended: it would be ready for ever. */
		epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		for (size_t i = 0; i < s->rings.nr; i++)
			s->running -= cpu_rings_samples_to(&s->rings.cpus[i], &s->plan, fd);
		s->stopped |= s->target.single_tasks && s->running == 0;
		break;
	case WAKE_COMMAND:
		s->stopped |= command_ended(s->command);
		break;
	case WAKE_STOP:
	case WAKE_FAILURE:
		s->stopped = true;
		break;
	}
}

static void
look_for_losses(struct session *s, uint64_t now_ns)
{
	struct queue *q = writer_queue(s->writer);
	bool resync = false;

	s->status_ns = now_ns;
	ring_set_losses(&s->rings, q, &resync);
	if (resync)
		queue_send(q, WRITER_RESYNC, 0, now_ns);
	queue_wake(q);
}

static int
wait_ms(const struct session *s, uint64_t now_ns, uint64_t deadline_ns, bool full)
{
	uint64_t ms = (uint64_t)(full ? TIMER_MS_FULL : s->timer_ms);

	if (deadline_ns && deadline_ns - now_ns < ms * MS_NS)
		ms = (deadline_ns - now_ns) / MS_NS + 1;
	return (int)ms;
}

static int
loop(struct session *s, uint64_t deadline_ns, struct session_error *error)
{
	struct epoll_event events[64];
	bool full = false;

	while (!s->stopped) {
		uint64_t now_ns = host_now_ns();
		int ms, n;

		if (deadline_ns && now_ns >= deadline_ns)
			break;
		ms = wait_ms(s, now_ns, deadline_ns, full);
		n = epoll_wait(s->epoll_fd, events, 64, ms);
		if (n < 0 && errno != EINTR)
			return session_fail(error, -errno, "epoll_wait: %s", strerror(errno));
		for (int i = 0; i < n; i++)
			take_event(s, &events[i]);
		now_ns = host_now_ns();
		note_stall(s, now_ns, ms);
		full = !ring_set_pass(&s->rings, writer_queue(s->writer), now_ns);
		if (now_ns - s->status_ns >= SECOND_NS)
			look_for_losses(s, now_ns);
		s->stopped |= writer_failed(s->writer) || (s->command && command_ended(s->command));
	}
	return 0;
}

int
session_go(struct session *s, struct session_error *error)
{
	assert(s->magic == SESSION_MAGIC);
	if (!s->command || s->gone)
		return 0;
	s->gone = true;
	return command_go(s->command, error);
}

int
session_run(struct session *s, struct session_error *error)
{
	uint64_t deadline_ns = 0;
	int r;

	assert(s->magic == SESSION_MAGIC);
	if (s->options.duration_ns)
		deadline_ns = host_now_ns() + s->options.duration_ns;
	r = session_go(s, error);
	if (r == 0)
		r = loop(s, deadline_ns, error);
	/* What the writer has to say comes with session_finish(), which knows it. */
	return r == 0 && writer_failed(s->writer) ? session_finish(s, error) : r;
}

/* --- ending ------------------------------------------------------------------------------ */

/* The events are off: there is time now, and nothing more comes. */
static void
drain_rest(struct session *s)
{
	const struct timespec ms = { .tv_nsec = (long)MS_NS };
	struct queue *q = writer_queue(s->writer);
	bool resync = false;

	while (!ring_set_pass(&s->rings, q, host_now_ns()))
		nanosleep(&ms, NULL);
	while (!ring_set_losses(&s->rings, q, &resync)) {
		queue_wake(q);
		nanosleep(&ms, NULL);
	}
}

static void
send_waiting(struct session *s, enum writer_message kind, uint64_t a, uint64_t b, struct span bytes)
{
	const struct timespec ms = { .tv_nsec = (long)MS_NS };
	struct queue *q = writer_queue(s->writer);
	uint8_t *to;

	while (!(to = queue_reserve(q, bytes.len))) {
		queue_wake(q);
		nanosleep(&ms, NULL);
	}
	if (bytes.len)
		memcpy(to, bytes.p, bytes.len);
	queue_commit(q, kind, a, b, bytes.len);
	queue_wake(q);
}

/* What the counters say at the end, as records of their own kind. */
static void
send_reads(struct session *s, uint64_t now_ns)
{
	struct span rest, record;
	struct buf reads;

	buf_init(&reads);
	if (ring_set_reads(&s->rings, s->meta->events, now_ns, &reads) == 0) {
		rest = buf_span(&reads);
		while (perf_record_next(&rest, &record) > 0)
			send_waiting(s, WRITER_RECORDS, 0, 0, record);
	}
	buf_done(&reads);
}

int
session_finish(struct session *s, struct session_error *error)
{
	uint64_t now_ns;

	assert(s->magic == SESSION_MAGIC);
	if (s->finished)
		return 0;
	s->finished = true;
	ring_set_control(&s->rings, false, PERF_EVENT_IOC_DISABLE);
	ring_set_control(&s->rings, true, PERF_EVENT_IOC_DISABLE);
	now_ns = host_now_ns();
	if (s->command)
		command_stop(s->command);
	drain_rest(s);
	send_reads(s, now_ns);
	send_waiting(s, WRITER_PASS, now_ns, now_ns, (struct span){ 0 });
	send_waiting(s, WRITER_END, 0, 0, (struct span){ 0 });
	return writer_finish(s->writer, error);
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
	struct writer_totals t;

	assert(s->magic == SESSION_MAGIC);
	writer_totals(s->writer, &t);
	*ret = (struct session_stats){
		.samples = t.samples,
		.records = t.records,
		.lost = t.lost,
		.file_bytes = t.file_bytes,
		.frequency_hz = s->plan.frequency_hz_effective,
		.cpus = (uint32_t)s->target.sampled.nr,
		.throttled = t.throttled,
	};
}

const char *
session_notes(const struct session *s)
{
	return (const char *)s->notes.p;
}

int
session_command_status(const struct session *s)
{
	return s->command ? command_status(s->command) : -1;
}
