/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/who_finder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/bytes/array.h"
#include "format/bytes/unit_name.h"
#include "symbolizer/profile/cgroup_verdicts.h"
#include "symbolizer/profile/task_comm.h"
#include "symbolizer/profile/trace_fields.h"

#define CGROUP_NAMESPACE 6 /* uapi: CGROUP_NS_INDEX */

struct who_finder {
	const struct replay *replay;
	struct intern *strings;
	struct raw_profile *raw;
	const struct profile_options *options;
	struct process_table *processes; /* NULL: nobody asks for them */
	const char *unknown, *any;
	const char **events; /* names */
	size_t nr_events, cap_events;
	struct cgroup_verdicts *verdicts;
	/* Of the stream, as of the last name: it gets more while it is read, and may be another one then. */
	const struct event_set *set;
	size_t first_wait; /* replay_first_wait() */
	struct tracepoints tracepoints;
	struct buf trace; /* of the last sample */
	/* Whose sample came last. */
	uint64_t epoch;
	uint32_t pid, tid;
	const char *comm; /* NULL: nobody's */
};

struct who_finder *
who_finder_new(const struct replay *replay, struct intern *strings, struct raw_profile *raw,
	       const struct profile_options *options, struct process_table *processes)
{
	struct who_finder *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	*f = (struct who_finder){ .replay = replay,
				  .strings = strings,
				  .raw = raw,
				  .options = options,
				  .processes = processes,
				  .unknown = intern_string(strings, "[unknown]"),
				  .any = intern_string(strings, "") };
	/* Without memory for them nothing is remembered. */
	if (options->filter && filter_by_cgroup(options->filter))
		f->verdicts = cgroup_verdicts_new();
	if (f->unknown && f->any)
		return f;
	who_finder_free(f);
	return NULL;
}

void
who_finder_free(struct who_finder *f)
{
	if (!f)
		return;
	free(f->events);
	tracepoints_done(&f->tracepoints);
	buf_done(&f->trace);
	cgroup_verdicts_free(f->verdicts);
	free(f);
}

/* Samples of one task come one after another, mostly. */
static const char *
comm_of(struct who_finder *f, uint32_t pid, uint32_t tid)
{
	const uint64_t epoch = replay_epoch(f->replay);
	char spare[TASK_COMM_BYTES];

	if (!f->comm || f->epoch != epoch || f->pid != pid || f->tid != tid) {
		f->comm = intern_string(f->strings,
					task_comm(replay_model(f->replay), pid, tid, spare));
		f->epoch = epoch;
		f->pid = pid;
		f->tid = tid;
	}
	return f->comm;
}

/* Samples of older kernels have no control group, and not every group has a name. */
static const char *
cgroup_of(struct who_finder *f, const struct replay_sample *s)
{
	const char *path = NULL;

	if (s->has_cgroup)
		path = task_model_cgroup(replay_model(f->replay), s->cgroup);
	return path ? intern_string(f->strings, path) : f->unknown;
}

/* What systemd made the group for. */
static const char *
unit_of(struct who_finder *f, const char *cgroup)
{
	size_t len;
	const char *unit = unit_name_of_cgroup(cgroup, &len);

	return intern_add(f->strings, unit, len);
}

const struct tracepoint *
who_finder_tracepoint(struct who_finder *f, int event)
{
	return f->set ? tracepoints_of(&f->tracepoints, f->set,
				       wait_samples_stream_event(f->first_wait, event))
		      : NULL;
}

/* The fields that are asked for; "": of no tracepoint, or it has none of them. */
static const char *
trace_of(struct who_finder *f, const struct replay_sample *s)
{
	const struct tracepoint *t = s->copied ? who_finder_tracepoint(f, s->event) : NULL;

	if (!t)
		return f->any;
	buf_clear(&f->trace);
	if (f->options->trace_fields)
		trace_fields_text(f->options->trace_fields, t, s->copied->raw, &f->trace);
	else
		tracepoint_text(t, s->copied->raw, &f->trace);
	if (f->trace.len == 0 && !buf_failed(&f->trace))
		return f->any;
	return buf_failed(&f->trace)
		? NULL
		: intern_add(f->strings, (const char *)f->trace.p, f->trace.len);
}

/* As in perf: of a container its own. A thread whose NAMESPACES the recording lacks has those of its process. */
static const char *
cgroup_id_of(struct who_finder *f, const struct replay_sample *s)
{
	const struct task_model *m = replay_model(f->replay);
	uint64_t dev, inode;
	char text[48];

	if (!task_model_namespace(m, s->pid, s->tid, CGROUP_NAMESPACE, &dev, &inode) &&
	    !task_model_namespace(m, s->pid, s->pid, CGROUP_NAMESPACE, &dev, &inode))
		return f->unknown;
	snprintf(text, sizeof(text), "%" PRIu64 "/0x%" PRIx64, dev, inode);
	return intern_string(f->strings, text);
}

/* Who ended a wait. */
static const char *
waker_of(struct who_finder *f, const struct waker *w)
{
	char spare[TASK_COMM_BYTES];

	if (!w->known)
		return f->any;
	return intern_string(f->strings,
			     w->interrupt
				     ? "[interrupt]"
				     : task_comm(replay_model(f->replay), w->pid, w->tid, spare));
}

/* Names of events are asked for as they come: a recording gets more while it is written. */
static int
take_events(struct who_finder *f, int event)
{
	int err = 0;

	if (event >= 0 && f->nr_events <= (size_t)event) {
		f->set = replay_events(f->replay);
		f->first_wait = replay_first_wait(f->replay);
	}
	while (err == 0 && event >= 0 && f->nr_events <= (size_t)event) {
		const char *name =
			intern_string(f->strings, replay_event_name(f->replay, f->nr_events));

		err = name ? array_reserve(f->events, f->nr_events, f->cap_events, 1)
			   : -FMT_E_NOMEM;
		if (err == 0)
			f->events[f->nr_events++] = name;
	}
	return err;
}

static bool
wants_comm(const struct profile_options *o)
{
	return !o->any_comm || (o->filter && filter_by_comm(o->filter));
}

/* Whose it is, by all that is known of that; control groups are looked up for those who ask. */
static int
find_who(struct who_finder *f, const struct replay_sample *s, struct raw_who *ret)
{
	const struct profile_options *o = f->options;
	int err = take_events(f, s->event);

	if (err)
		return err;
	*ret = (struct raw_who){
		.comm = wants_comm(o) ? comm_of(f, s->pid, s->tid) : f->any,
		.cgroup = f->unknown,
		.unit = f->unknown,
		.cgroup_id = f->unknown,
		.waker = f->any,
		.pid = s->pid,
		.tid = s->tid,
		.cpu = s->cpu,
		.event = s->event,
		.times = { UINT64_MAX, 0 },
	};
	if (o->by_trace)
		ret->trace = trace_of(f, s);
	if (o->by_time)
		ret->time = (s->time_ns + o->bucket_shift_ns) / o->bucket_ns;
	if (o->by_cgroup || o->by_unit || (o->filter && filter_by_cgroup(o->filter)))
		ret->cgroup = cgroup_of(f, s);
	if (o->by_unit && ret->cgroup)
		ret->unit = unit_of(f, ret->cgroup);
	if (o->by_waker)
		ret->waker = waker_of(f, &s->waker);
	if (o->by_cgroup_id)
		ret->cgroup_id = cgroup_id_of(f, s);
	if (!ret->comm || !ret->cgroup || !ret->unit || !ret->cgroup_id || !ret->waker ||
	    (o->by_trace && !ret->trace))
		return -FMT_E_NOMEM;
	return 0;
}

static void
judge_who(const struct who_finder *f, struct raw_who *who)
{
	const struct filter *filter = f->options->filter;
	const struct filter_subject subject = {
		.comm = who->comm,
		.cgroup = who->cgroup,
		.event = who->event < 0 ? "" : f->events[who->event],
		.pid = who->pid,
		.tid = who->tid,
		.cpu = who->cpu,
		.verdicts = f->verdicts,
	};

	who->in_scope = !filter || filter_scope(filter, &subject);
	who->wanted = who->in_scope && (!filter || filter_sample(filter, &subject));
}

/* A new one may have a new name. */
static int
keep_who(struct who_finder *f, struct raw_who *who, uint32_t pid, uint32_t *ret)
{
	const size_t known = f->raw->nr_whos;
	int err;

	if (f->processes)
		who->pid = pid;
	err = raw_profile_who(f->raw, who, ret);
	if (err == 0 && f->processes && *ret == known)
		err = process_table_see(f->processes, replay_model(f->replay), pid);
	return err;
}

int
who_finder_find(struct who_finder *f, const struct replay_sample *s, uint32_t detail, uint32_t *ret)
{
	const struct profile_options *o = f->options;
	struct raw_who who;
	int err = find_who(f, s, &who);

	if (err < 0)
		return err;
	judge_who(f, &who);
	who.detail = detail;
	if (who.wanted && o->filter && filter_by_trace(o->filter))
		who.wanted = s->copied &&
			filter_trace(o->filter, who_finder_tracepoint(f, s->event), s->copied->raw);
	if (o->any_comm)
		who.comm = f->any;
#define X(type, name) who.name = o->by_##name ? who.name : 0;
	PROFILE_KEYS(X)
#undef X
	return keep_who(f, &who, s->pid, ret);
}

int
who_finder_later(struct who_finder *f, uint32_t known, uint64_t time_ns, uint32_t *ret)
{
	const struct profile_options *o = f->options;
	struct raw_who who = f->raw->whos[known];

	who.time = (time_ns + o->bucket_shift_ns) / o->bucket_ns;
	who.seen = (struct profile_weight){ 0 };
	who.times = (struct raw_times){ UINT64_MAX, 0 };
	return raw_profile_who(f->raw, &who, ret);
}

size_t
who_finder_events(const struct who_finder *f)
{
	return f->nr_events;
}

const char *
who_finder_event(const struct who_finder *f, size_t event)
{
	return f->events[event];
}
