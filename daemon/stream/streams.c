/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/stream/streams.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/process/chores.h"
#include "daemon/process/log.h"
#include "daemon/process/notify.h"
#include "daemon/stream/base_stream.h"
#include "daemon/stream/capture.h"
#include "daemon/stream/cpu_use.h"
#include "daemon/stream/flight.h"
#include "daemon/stream/governor.h"
#include "daemon/stream/usage.h"
#include "format/bytes/time_text.h"
#include "recorder/ground/session_error.h"
#include "recorder/helper/helper.h"
#include "recorder/host/host.h"

#define FLUSH_SECONDS 60

struct streams {
	const struct config *config;
	struct chores *chores;
	struct base_stream *base;
	struct capture_set *captures;
	struct flight *flight; /* NULL: there is none */
	int wake_fd;	       /* threads that have ended */
	uint64_t begun_ns;
	unsigned int flush_seconds;
	struct usage usage;
	struct governor governor;
	struct cpu_use cpu;
	const char *unheld; /* the budget that was told of; NULL: none */
};

struct capture_set *
streams_captures(struct streams *s)
{
	return s->captures;
}

int
streams_open(const struct config *c, struct archive *a, struct streams **ret,
	     struct session_error *error)
{
	struct streams *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return session_fail(error, -ENOMEM, "out of memory");
	s->config = c;
	s->begun_ns = host_now_ns();
	governor_init(&s->governor);
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wake_fd < 0) {
		r = session_fail(error, -errno, "eventfd: %s", strerror(errno));
		goto fail;
	}
	r = capture_set_new(c, a, s->wake_fd, &s->captures);
	if (r < 0) {
		session_fail(error, r, "out of memory");
		goto fail;
	}
	r = chores_new(s->wake_fd, &s->chores);
	if (r < 0) {
		session_fail(error, r, "cannot start a thread: %s", strerror(-r));
		goto fail;
	}
	r = base_stream_open(c, a, s->chores, s->wake_fd, &s->base, error);
	if (r == 0)
		r = flight_open(c, a, s->wake_fd, &s->flight, error);
	if (r < 0)
		goto fail;
	*ret = s;
	return 0;
fail:
	streams_close(s);
	return r;
}

/* While files are being closed: the service manager waits, but not for ever. */
static bool
still_flushing(void *arg)
{
	struct streams *s = arg;

	if (++s->flush_seconds > FLUSH_SECONDS)
		return false;
	(void)notify_send("EXTEND_TIMEOUT_USEC=5000000\nWATCHDOG=1");
	return true;
}

void
streams_close(struct streams *s)
{
	if (!s)
		return;
	/* First what is ours: a client's file may take all the time there is. */
	base_stream_stop(s->base);
	flight_stop(s->flight);
	if (chores_close(s->chores, still_flushing, s)) {
		base_stream_close(s->base, still_flushing, s);
		flight_close(s->flight);
	} else {
		log_error("the last segment: the disk does not take it: given up");
	}
	/* A thread that was given up may still write to it, until the process ends. */
	if (!capture_set_free(s->captures, still_flushing, s) || s->flush_seconds > FLUSH_SECONDS)
		return;
	if (s->wake_fd >= 0)
		close(s->wake_fd);
	free(s);
}

int
streams_fd(const struct streams *s)
{
	return s->wake_fd;
}

/* --- budgets ----------------------------------------------------------------------------- */

static void
set_frequency(struct streams *s)
{
	base_stream_set_frequency(s->base, governor_frequency(&s->governor, s->config->frequency));
}

/* What the governor leaves of the budget of side-band. */
static void
set_sideband(struct streams *s, unsigned int before)
{
	unsigned int halved = s->governor.sideband;

	if (halved == before)
		return;
	base_stream_set_sideband(s->base, halved);
	if (!s->config->sideband_share)
		return;
	log_notice("%s: side-band at 1/%u of sideband_share",
		   governor_sideband_reason(&s->governor), 1u << halved);
}

/* Once when it begins, which spoorctl status shows with other warnings, and once when it is over. */
static void
tell_unheld(struct streams *s)
{
	double times;
	const char *budget = governor_unheld(&s->governor, &times);

	if (*budget && !s->unheld)
		log_warning(
			"%s: %.1f times as much is used, and nothing is left to be lowered: processes "
			"that start, end and map files cost this%s",
			budget, times, s->flight ? ", twice with flight_recorder" : "");
	else if (!*budget && s->unheld)
		log_notice("%s: is kept to again", s->unheld);
	s->unheld = *budget ? budget : NULL;
}

static void
govern(struct streams *s)
{
	const struct usage_point *used = usage_now(&s->usage);
	const unsigned int sideband = s->governor.sideband;
	struct session_stats stats;
	const struct governor_budget budget = {
		.cpu_milli_percent = s->config->cpu_budget,
		.memory_bytes = s->config->memory_budget,
		.disk_bytes_per_s = s->config->disk_budget,
		.sideband = s->config->sideband_share != 0,
	};
	struct governor_reading now = {
		.now_ns = used->at_ns,
		.rss_bytes = s->usage.rss_bytes,
		.written_bytes = used->written_bytes,
		/* A capture was asked for, and has an end: the base stream does not pay for it. */
		.hold = capture_set_busy(s->captures),
	};
	const char *reason = governor_reason(&s->governor);
	enum governor_step step;
	uint64_t hz;

	base_stream_stats(s->base, &stats);
	/* Neither what clients ask for nor what helpers do is for samples to pay. */
	now.cpu_ns = stats.cpu_ns + helper_cpu_ns();
	now.sideband_cpu_ns = stats.sideband_ns + helper_cpu_ns();
	now.fixed_cpu_ns = flight_cpu_ns(s->flight);
	now.sideband_bytes = stats.sideband_bytes;
	step = governor_decide(&s->governor, &budget, &now, s->config->frequency);
	set_sideband(s, sideband);
	tell_unheld(s);
	switch (step) {
	case GOVERNOR_STAY:
		return;
	case GOVERNOR_TRIM:
		malloc_trim(0);
		return;
	case GOVERNOR_LOWER:
		reason = governor_reason(&s->governor);
		break;
	case GOVERNOR_RAISE:
		break;
	}
	set_frequency(s);
	hz = governor_frequency(&s->governor, s->config->frequency);
	log_notice("%s: sampling at %llu of %llu Hz", reason, (unsigned long long)hz,
		   (unsigned long long)s->config->frequency);
}

/* Who takes what of it, also of what no budget lowers. */
static void
account(struct streams *s)
{
	struct session_stats stats;
	struct cpu_use_reading now = { .now_ns = usage_now(&s->usage)->at_ns,
				       .cpu_ns = usage_now(&s->usage)->cpu_ns };

	base_stream_stats(s->base, &stats);
	now.parts_ns[CPU_USE_SIDEBAND] = stats.sideband_ns;
	now.parts_ns[CPU_USE_SAMPLES] =
		stats.cpu_ns > stats.sideband_ns ? stats.cpu_ns - stats.sideband_ns : 0;
	now.parts_ns[CPU_USE_HELPERS] = helper_cpu_ns();
	now.parts_ns[CPU_USE_FLIGHT] = flight_cpu_ns(s->flight);
	now.parts_ns[CPU_USE_CAPTURES] = capture_set_cpu(s->captures, now.users);
	cpu_use_take(&s->cpu, &now, s->config->cpu_budget);
}

/* --- the loop's -------------------------------------------------------------------------- */

void
streams_dispatch(struct streams *s, uint64_t now_ns)
{
	uint64_t ended;

	if (read(s->wake_fd, &ended, sizeof(ended)) < 0 && errno != EAGAIN)
		log_error("eventfd: %s", strerror(errno));
	chores_dispatch(s->chores);
	capture_set_dispatch(s->captures);
	base_stream_dispatch(s->base, now_ns);
	flight_dispatch(s->flight);
	usage_take(&s->usage, now_ns, base_stream_written_bytes(s->base));
	govern(s);
	account(s);
}

struct chores *
streams_chores(struct streams *s)
{
	return s->chores;
}

static void
take_config(struct streams *s, const struct config *c)
{
	s->config = c;
	governor_forget(&s->governor);
	cpu_use_forget(&s->cpu);
	s->unheld = NULL;
	set_frequency(s);
	capture_set_reload(s->captures, c);
}

int
streams_reload(struct streams *s, const struct config *c, struct session_error *error)
{
	uint64_t hz = governor_frequency(&s->governor, c->frequency);
	int r = base_stream_reload(s->base, c, hz, error);

	if (r == 0)
		take_config(s, c);
	return r;
}

int
streams_reloaded(struct streams *s, const struct config *c, struct session_error *error)
{
	int r = base_stream_reloaded(s->base, error);

	if (r == 0)
		take_config(s, c);
	return r;
}

int
streams_rotate(struct streams *s, uint64_t *ret_state_ns, struct session_error *error)
{
	return base_stream_rotate(s->base, ret_state_ns, error);
}

uint64_t
streams_sync_due(const struct streams *s, uint64_t asked_ns)
{
	return base_stream_sync_due(s->base, asked_ns);
}

int
streams_sync(struct streams *s, uint64_t asked_ns, struct session_error *error)
{
	return base_stream_sync(s->base, asked_ns, error);
}

int
streams_dump(struct streams *s, struct flight_dump *ret, struct session_error *error)
{
	return flight_dump(s->flight, ret, error);
}

void
streams_status(struct streams *s, struct streams_status *ret)
{
	*ret = (struct streams_status){
		.frequency_hz = s->config->frequency,
		.governor = governor_reason(&s->governor),
		.cpu_percent = usage_cpu_percent(&s->usage),
		.rss_bytes = s->usage.rss_bytes,
		.written_bytes_per_s = usage_written_per_s(&s->usage),
		.uptime_s = (host_now_ns() - s->begun_ns) / SECOND_NS,
		.captures = capture_set_running(s->captures),
		.flight_recorder = s->config->flight_recorder,
		.flight_bytes = flight_bytes(s->flight),
		.cpu_budget_percent = (double)s->config->cpu_budget / 1000,
		.cpu = s->cpu,
		.cpu_over_s = s->cpu.exceeded ? (host_now_ns() - s->cpu.over_ns) / SECOND_NS : 0,
		.lowered_hz = governor_frequency(&s->governor, s->config->frequency),
		.sideband_governor = governor_sideband_reason(&s->governor),
		.sideband_parts = s->config->sideband_share ? 1u << s->governor.sideband : 1,
	};
	base_stream_stats(s->base, &ret->base);
}

bool
streams_alive(struct streams *s, uint64_t now_ns)
{
	/* All are asked: each remembers what it saw. */
	bool chores = chores_alive(s->chores, now_ns), base = base_stream_alive(s->base, now_ns),
	     captures = capture_set_alive(s->captures, now_ns),
	     flight = flight_alive(s->flight, now_ns);

	return chores && base && captures && flight;
}
