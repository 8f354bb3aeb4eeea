/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake_streams: streams and an archive that only remember what they were asked, for programs
 * that test the control socket. Defines the functions themselves, and so is included by one
 * source of a program, whose symbols then go before those of libdaemon.
 */
#ifndef TESTS_LAB_FAKE_STREAMS_H
#define TESTS_LAB_FAKE_STREAMS_H

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/stdlib.h>
#include <bsd/string.h>

#include "daemon/control/control.h"
#include "daemon/control/methods.h"
#include "daemon/stream/capture.h"
#include "daemon/stream/flight.h"

#define FAKE_CAPTURES 4
#define FAKE_CAPTURE_NS UINT64_C(600000000000)

struct fake_capture {
	uint64_t id;			/* 0: none */
	struct session_options options; /* but for what it points to: that is below */
	char text[5][64];		/* two events, cgroup, cpus, cgroups */
	const char *events[2];
	pid_t pids[2];
	int out_fd;
	uid_t uid;
	bool begun, stopped, forgotten;
	struct capture_waiter waiter;
};

static struct fake {
	int error; /* what everything that can fail fails with */
	unsigned int rotations, dumps, syncs, keeps, vacuums, reloads, starts;
	uint64_t from_s, until_s, max_use, max_age_s, max_segments, sync_due_ns;
	char label[128];
	unsigned int pin_steps, pins_freed; /* steps: that the next keep takes */
	size_t files;			    /* in the archive */
	uint64_t active_s; /* when the last of them, being written, was begun; 0: none is */
	uint64_t next_id;
	uint64_t now_ns;   /* of the calls */
	uint64_t state_ns; /* that sideband_share takes for what a segment begins with */
	struct methods_rotations rotated, dumped;
	int held, begun; /* pipes: syncs write to begun, then wait for a byte of held; 0: none */
	struct chores *chores;
	struct fake_capture captures[FAKE_CAPTURES];
} fake;

static inline void
fake_reset(void)
{
	for (size_t i = 0; i < FAKE_CAPTURES; i++)
		if (fake.captures[i].id && fake.captures[i].out_fd >= 0)
			close(fake.captures[i].out_fd);
	memset(&fake, 0, sizeof(fake));
}

static inline struct fake_capture *
fake_find(uint64_t id)
{
	for (size_t i = 0; i < FAKE_CAPTURES; i++)
		if (fake.captures[i].id == id)
			return &fake.captures[i];
	return NULL;
}

/* What streams_dispatch() does of a capture whose time is over. */
static inline void
fake_end(uint64_t id, const char *error)
{
	struct fake_capture c = *fake_find(id);
	struct capture_progress last = { .ended = true };

	capture_progress(NULL, id, &last);
	last.ended = true;
	if (error)
		(void)strlcpy(last.error, error, sizeof(last.error));
	memset(fake_find(id), 0, sizeof(c));
	if (c.out_fd >= 0)
		close(c.out_fd);
	if (!c.forgotten)
		c.waiter.on_end(c.waiter.arg, &last);
}

/* What streams_dispatch() does of captures that have come to record. False: there is none. */
static inline bool
fake_begin(void)
{
	bool any = false;

	for (size_t i = 0; i < FAKE_CAPTURES; i++) {
		struct fake_capture *c = &fake.captures[i];

		if (!c->id || c->begun)
			continue;
		c->begun = any = true;
		if (!c->forgotten)
			c->waiter.on_begin(c->waiter.arg);
	}
	return any;
}

struct chores *
streams_chores(struct streams *s)
{
	(void)s;
	return fake.chores;
}

void
streams_status(struct streams *s, struct streams_status *ret)
{
	(void)s;
	*ret = (struct streams_status){ .frequency_hz = 19,
					.governor = "cpu_budget",
					.flight_recorder = "10s @ 999" };
	ret->base = (struct session_stats){ .samples = 1000, .lost = 7, .cpus = 2 };
	ret->base.frequency_hz = 10;
	ret->base.loss[LOSS_KERNEL_SAMPLES] = 7;
	ret->cpu_percent = 0.05;
	ret->rss_bytes = 9 << 20;
	ret->uptime_s = 60;
	for (size_t i = 0; i < FAKE_CAPTURES; i++)
		ret->captures += fake.captures[i].id != 0;
}

struct capture_set *
streams_captures(struct streams *s)
{
	(void)s;
	return NULL;
}

static inline int
fake_session(struct session_error *error)
{
	if (fake.error)
		(void)strlcpy(error->text, "the fake fails", sizeof(error->text));
	return fake.error;
}

int
streams_rotate(struct streams *s, uint64_t *ret_state_ns, struct session_error *error)
{
	(void)s;
	*ret_state_ns = fake.state_ns;
	fake.rotations++;
	return fake_session(error);
}

int
streams_dump(struct streams *s, struct flight_dump *ret, struct session_error *error)
{
	(void)s;
	fake.dumps++;
	*ret = (struct flight_dump){ .file = "captures/x.spoor", .samples = 5 };
	return fake_session(error);
}

uint64_t
streams_sync_due(const struct streams *s, uint64_t asked_ns)
{
	(void)s;
	(void)asked_ns;
	return fake.sync_due_ns;
}

int
streams_sync(struct streams *s, uint64_t asked_ns, struct session_error *error)
{
	char c;

	(void)s;
	(void)asked_ns;
	fake.syncs++;
	if (fake.held)
		(void)!(write(fake.begun, "", 1) == 1 && read(fake.held, &c, 1));
	return fake_session(error);
}

static inline const char *
fake_text(char to[64], const char *from)
{
	(void)strlcpy(to, from ? from : "", 64);
	return from ? to : NULL;
}

static inline void
fake_copy(struct fake_capture *c)
{
	struct session_options *o = &c->options;

	for (size_t i = 0; i < 2 && i < o->nr_events; i++)
		c->events[i] = fake_text(c->text[i], o->events[i]);
	for (size_t i = 0; i < 2 && i < o->nr_pids; i++)
		c->pids[i] = o->pids[i];
	o->events = o->events ? c->events : NULL;
	o->pids = o->pids ? c->pids : NULL;
	o->cgroup = fake_text(c->text[2], o->cgroup);
	o->cpus = fake_text(c->text[3], o->cpus);
	o->cgroups = fake_text(c->text[4], o->cgroups);
}

int
capture_start(struct capture_set *set, const struct session_options *request,
	      const struct capture_waiter *waiter, uint64_t *ret_id, struct capture_refusal *why)
{
	struct fake_capture *c = fake_find(0);

	(void)set;
	if (request->duration_ns > FAKE_CAPTURE_NS)
		why->limit = "max_capture_time";
	else if (!c)
		why->limit = "max_captures";
	if (fake.error || why->limit) {
		if (request->out_fd >= 0)
			close(request->out_fd);
		return fake.error ? fake_session(&why->error) : -EBUSY;
	}
	fake.starts++;
	*c = (struct fake_capture){ .id = ++fake.next_id,
				    .options = *request,
				    .out_fd = request->out_fd,
				    .uid = request->uid,
				    .waiter = *waiter };
	fake_copy(c);
	*ret_id = c->id;
	return 0;
}

int
capture_stop(struct capture_set *set, uint64_t id)
{
	struct fake_capture *c = fake_find(id);

	(void)set;
	if (!c)
		return -ENOENT;
	c->stopped = true;
	return 0;
}

void
capture_forget(struct capture_set *set, uint64_t id)
{
	(void)set;
	if (fake_find(id))
		fake_find(id)->forgotten = true;
}

int
capture_progress(struct capture_set *set, uint64_t id, struct capture_progress *ret)
{
	const struct fake_capture *c = fake_find(id);

	(void)set;
	if (!c)
		return -ENOENT;
	*ret = (struct capture_progress){
		.id = id, .number = id, .begun = c->begun, .duration_ns = c->options.duration_ns
	};
	ret->stats.samples = 5;
	ret->elapsed_ns = 1500000000;
	if (c->out_fd < 0)
		(void)strlcpy(ret->file, "captures/fake.spoor", sizeof(ret->file));
	return 0;
}

int
archive_keep(struct archive *a, const char *label, uint64_t from_s, uint64_t until_s, bool member,
	     struct archive_pins **ret_pins, struct session_error *error)
{
	(void)a;
	(void)member;
	*ret_pins = fake.pin_steps ? (struct archive_pins *)&fake : NULL;
	fake.keeps++;
	fake.from_s = from_s;
	fake.until_s = until_s;
	(void)strlcpy(fake.label, label, sizeof(fake.label));
	if (fake.error)
		(void)strlcpy(error->text, "the fake archive fails", sizeof(error->text));
	return fake.error ? fake.error : 3;
}

bool
archive_pins_step(struct archive_pins *p)
{
	(void)p;
	return --fake.pin_steps > 0;
}

void
archive_pins_free(struct archive_pins *p)
{
	fake.pins_freed += p != NULL;
}

int
archive_vacuum(struct archive *a, uint64_t max_use, uint64_t max_age_s, uint64_t max_segments,
	       uint64_t *ret_bytes, uint32_t *ret_copies, struct session_error *error)
{
	(void)a;
	(void)error;
	fake.vacuums++;
	fake.max_use = max_use;
	fake.max_age_s = max_age_s;
	fake.max_segments = max_segments;
	*ret_bytes = 4096;
	*ret_copies = 5;
	return fake.error ? fake.error : 2;
}

ssize_t
archive_list(struct archive *a, struct archive_entry **ret)
{
	(void)a;
	if (fake.error)
		return fake.error;
	*ret = calloc(fake.files + 1, sizeof(**ret));
	for (size_t i = 0; *ret && i < fake.files; i++) {
		struct archive_entry *e = &(*ret)[i];

		/* The first one's name is not UTF-8. */
		snprintf(e->name, sizeof(e->name), "%s%zu.spoor", i ? "" : "\xff", i);
		e->kind = i + 1 == fake.files && fake.active_s ? "active" : "segment";
		e->bytes = 4096;
		e->start_s = i + 1 == fake.files ? fake.active_s : i;
		e->end_s = e->start_s + 1;
	}
	return (ssize_t)fake.files;
}

void
archive_usage(struct archive *a, struct archive_usage *ret)
{
	(void)a;
	*ret = (struct archive_usage){ .bytes = 12345, .max_use = 1 << 20, .segments = 3 };
}

static inline uint64_t
fake_reload(void *arg)
{
	(void)arg;
	return ++fake.reloads;
}

/* What a socket can be given to by who is not root is his own group. */
static inline const char *
fake_group(void)
{
	const struct group *own = geteuid() != 0 ? getgrgid(getegid()) : NULL;

	return own ? own->gr_name : "daemon";
}

/* Constant, so that neither the reader of configurations nor its defaults are needed. */
static inline const struct config *
fake_config(const char *control_socket)
{
	static char path[108], group[256], directory[] = "/var/lib/spoor";
	static struct config c;

	(void)strlcpy(path, control_socket, sizeof(path));
	(void)strlcpy(group, fake_group(), sizeof(group));
	c = (struct config){ .archive_directory = directory,
			     .control_socket = path,
			     .control_group = group,
			     .max_captures = FAKE_CAPTURES,
			     .max_capture_time = FAKE_CAPTURE_NS,
			     .max_clients = 8,
			     .client_timeout = UINT64_C(30000000000) };
	return &c;
}

#endif
