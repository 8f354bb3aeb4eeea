/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/stream/flight.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/config/config_value.h"
#include "daemon/process/log.h"
#include "daemon/stream/configured.h"
#include "daemon/stream/memory_share.h"
#include "daemon/stream/session_thread.h"
#include "format/bytes/time_text.h"
#include "recorder/host/host.h"

/* Of a sample in its ring: 12 fields, and a call chain of 28 frames. */
#define SAMPLE_BYTES 320
#define RING_PAGES_MAX (UINT64_C(1) << 20)

struct flight {
	struct archive *archive;
	struct session_thread *thread;
	struct session_options options;
	struct configured configured;
	uint64_t span_ns, ring_bytes, sample_bytes, cpu_ns;
	bool told, over; /* that it records; that it does no more */
};

/* --- a file that is nowhere -------------------------------------------------------------- */

static int
nowhere_write(struct io_sink *self, const void *p, size_t n)
{
	(void)self;
	(void)p;
	(void)n;
	return 0;
}

static int
nowhere_sync(struct io_sink *self)
{
	(void)self;
	return 0;
}

static int
nowhere_cut(struct io_sink *self, uint64_t size)
{
	(void)self;
	(void)size;
	return 0;
}

static void
nowhere_close(struct io_sink *self)
{
	free(self);
}

/* What the session has open between dumps: it gets the beginning of a file, and no record. */
static struct io_sink *
nowhere_new(void)
{
	struct io_sink *sink = malloc(sizeof(*sink));

	if (sink)
		*sink = (struct io_sink){ nowhere_write, nowhere_sync, nowhere_cut, nowhere_close };
	return sink;
}

/* --- life ------------------------------------------------------------------------------- */

/* On the session's thread. */
static int
give_nowhere(void *arg, struct session_options *o, struct session_error *error)
{
	(void)arg;
	o->sink = nowhere_new();
	return o->sink ? 0 : session_fail(error, -ENOMEM, "out of memory");
}

/* Of each CPU: so many samples, and what is left of the next power of two. */
static uint32_t
ring_pages(uint64_t span_ns, uint64_t hz, uint64_t sample_bytes)
{
	double bytes = (double)span_ns / (double)SECOND_NS * (double)hz * (double)sample_bytes;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), pages = 1;

	while (pages < RING_PAGES_MAX && (double)(pages * page) < bytes)
		pages *= 2;
	return (uint32_t)pages;
}

static int
set_options(struct flight *f, const struct config *c, uint64_t hz, struct session_error *error)
{
	struct session_options *o = &f->options;
	uint64_t sample_bytes = SAMPLE_BYTES;
	int r;

	*o = (struct session_options){
		.frequency_hz = hz,
		.target = SESSION_ALL,
		.overwrite = true,
		.dump_again = true,
		.spare_shared = true,
		.sideband_pages = SESSION_SIDEBAND_PAGES_RARE,
		.out_fd = -1,
		/* An archive without room costs a dump, and not the recorder. */
		.suspend_on_full = true,
		.cmdline = "spoord flight_recorder",
		.writer = "spoord " SPOOR_VERSION,
	};
	memory_share_flight(o);
	r = configured_apply(&f->configured, c, o, error);
	if (o->call_graph == SESSION_CALL_GRAPH_DWARF)
		sample_bytes += o->stack_bytes ? o->stack_bytes : SESSION_STACK_BYTES;
	f->sample_bytes = sample_bytes;
	o->ring_pages = ring_pages(f->span_ns, hz, sample_bytes);
	f->ring_bytes = o->ring_pages * (uint64_t)sysconf(_SC_PAGESIZE);
	return r;
}

int
flight_open(const struct config *c, struct archive *a, int wake_fd, struct flight **ret,
	    struct session_error *error)
{
	uint64_t span_ns, hz;
	static const struct session_thread_hooks hooks = { .prepare = give_nowhere };
	struct flight *f;
	int r;

	*ret = NULL;
	if (config_flight_parse(c->flight_recorder, &span_ns, &hz) < 0 || !span_ns)
		return 0;
	f = calloc(1, sizeof(*f));
	if (!f)
		return session_fail(error, -ENOMEM, "out of memory");
	f->archive = a;
	f->span_ns = span_ns;
	r = set_options(f, c, hz, error);
	if (r == 0)
		r = session_thread_start(&f->options, &hooks, f, wake_fd, &f->thread, error);
	if (r < 0)
		flight_close(f);
	else
		*ret = f;
	return r;
}

void
flight_stop(struct flight *f)
{
	if (f)
		session_thread_stop(f->thread);
}

void
flight_close(struct flight *f)
{
	if (!f)
		return;
	(void)session_thread_close(f->thread, NULL, NULL);
	configured_done(&f->configured);
	free(f);
}

/* --- what the main thread asks ----------------------------------------------------------- */

uint64_t
flight_held_ns(uint64_t span_ns, uint64_t ring_bytes, uint64_t hz, uint64_t sample_bytes)
{
	uint64_t unit = SECOND_NS;
	double ns;

	if (!hz)
		return span_ns;
	ns = (double)ring_bytes / ((double)hz * (double)sample_bytes) * SECOND_NS;
	if (ns >= (double)span_ns)
		return span_ns;
	if (ns >= 600.0 * SECOND_NS)
		unit = 60 * SECOND_NS;
	else if (ns < 10.0 * SECOND_NS)
		unit = SECOND_NS / 1000;
	return (uint64_t)ns / unit * unit;
}

static void
tell_begun(struct flight *f)
{
	char span[CONFIG_VALUE_MAX], each[CONFIG_VALUE_MAX], all[CONFIG_VALUE_MAX];
	char asked[CONFIG_VALUE_MAX], less[CONFIG_VALUE_MAX + 64] = "";
	struct session_stats stats;
	uint64_t held_ns;

	session_thread_stats(f->thread, &stats);
	session_thread_log_notes(f->thread, "flight recorder: ");
	held_ns = flight_held_ns(f->span_ns, f->ring_bytes, stats.frequency_hz, f->sample_bytes);
	config_time_print(held_ns, span);
	config_time_print(f->span_ns, asked);
	config_bytes_print(f->ring_bytes, each);
	if (held_ns < f->span_ns)
		snprintf(less, sizeof(less), " (not %s: that needs more than the largest ring)",
			 asked);
	config_bytes_print(f->ring_bytes * stats.cpus, all);
	log_notice("flight recorder: about %s%s at %" PRIu64 " Hz, in rings of %s on each of %u "
		   "CPUs: %s of memory, beside memory_budget",
		   span, less, stats.frequency_hz, each, (unsigned int)stats.cpus, all);
}

void
flight_dispatch(struct flight *f)
{
	const char *why;

	if (!f || f->over)
		return;
	if (!f->told && session_thread_opened(f->thread)) {
		f->told = true;
		tell_begun(f);
	}
	if (!session_thread_ended(f->thread))
		return;
	f->over = true;
	why = session_thread_failure(f->thread);
	log_error(
		"the flight recorder has ended%s%s%s; there is none until spoord is started again",
		f->told ? "" : " before it began", why ? ": " : "", why ? why : "");
}

bool
flight_alive(struct flight *f, uint64_t now_ns)
{
	return !f || session_thread_alive(f->thread, true, now_ns);
}

uint64_t
flight_bytes(const struct flight *f)
{
	struct session_stats stats;

	if (!f || !session_thread_running(f->thread))
		return 0;
	session_thread_stats(f->thread, &stats);
	return f->ring_bytes * stats.cpus;
}

/* A recorder that has ended keeps the time that it took. */
uint64_t
flight_cpu_ns(struct flight *f)
{
	struct session_stats stats;

	if (f && session_thread_running(f->thread)) {
		session_thread_stats(f->thread, &stats);
		if (stats.cpu_ns > f->cpu_ns)
			f->cpu_ns = stats.cpu_ns;
	}
	return f ? f->cpu_ns : 0;
}

/* --- dumps ------------------------------------------------------------------------------ */

static int
into_file(struct flight *f, struct session *s, struct flight_dump *dump,
	  struct session_error *error)
{
	struct io_sink *sink, *next = nowhere_new();
	struct clock_triple now;
	int r;

	if (!next)
		return session_fail(error, -ENOMEM, "out of memory");
	host_clocks(&now);
	r = archive_capture(f->archive, now.realtime, session_contents(s), &sink, dump->file,
			    error);
	if (r == 0)
		r = session_rotate(s, sink, error);
	if (r < 0) {
		next->close(next);
		return r;
	}
	r = session_dump(s, next, error);
	/* What is there cannot be trusted to be on the disk. */
	return r > 0 ? -EIO : r;
}

int
flight_dump(struct flight *f, struct flight_dump *ret, struct session_error *error)
{
	struct session_stats before, after;
	struct flight_dump dump = { .file = "" };
	int r;

	if (!f)
		return session_fail(error, -ENOENT,
				    "there is no flight recorder: flight_recorder in spoord.conf "
				    "begins one");
	if (!session_thread_running(f->thread))
		return session_fail(error, -EAGAIN, "the flight recorder does not record");
	session_thread_stats(f->thread, &before);
	r = into_file(f, session_thread_session(f->thread), &dump, error);
	if (r < 0)
		return r;
	session_thread_stats(f->thread, &after);
	dump.samples = after.samples - before.samples;
	if (after.loss[LOSS_DROPPED] > before.loss[LOSS_DROPPED])
		return session_fail(error, -ENOSPC, "%s: the archive did not take all of it",
				    dump.file);
	*ret = dump;
	return 0;
}
