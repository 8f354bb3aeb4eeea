/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/control/capture_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <bsd/sys/queue.h>

#include "daemon/config/config_value.h"
#include "daemon/control/capture_limits.h"
#include "daemon/process/descriptor.h"
#include "format/block/loss.h"

#define PIDS_MAX 1024
#define CPUS_BYTES 1024

struct capture_call {
	LIST_ENTRY(capture_call) next;
	struct capture_calls *owner;
	uint64_t id;
	uid_t uid;
	void *client; /* who asked; NULL: gone */
	bool waits;   /* not of a oneway call */
	bool ends_with_client;
};

/* What is asked for, for as long as the call is being handled. */
struct wish {
	struct session_options options;
	const char *events[CAPTURE_EVENTS_MAX];
	pid_t pids[PIDS_MAX];
	char cgroups[CAPTURE_CGROUPS_MAX * CAPTURE_CGROUP_BYTES];
};

struct capture_calls {
	struct capture_set *captures;
	capture_calls_begun_fn *begun;
	method_call_answer_fn *ended;
	void *arg;
	LIST_HEAD(, capture_call) running;
};

struct capture_calls *
capture_calls_new(struct capture_set *captures, capture_calls_begun_fn *begun,
		  method_call_answer_fn *ended, void *arg)
{
	struct capture_calls *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->captures = captures;
	c->begun = begun;
	c->ended = ended;
	c->arg = arg;
	LIST_INIT(&c->running);
	return c;
}

void
capture_calls_free(struct capture_calls *c)
{
	struct capture_call *one;

	while (c && (one = LIST_FIRST(&c->running))) {
		capture_forget(c->captures, one->id);
		LIST_REMOVE(one, next);
		free(one);
	}
	free(c);
}

void
capture_calls_leave(struct capture_calls *c, const void *client)
{
	struct capture_call *one;

	LIST_FOREACH(one, &c->running, next) {
		if (one->client != client)
			continue;
		one->client = NULL;
		if (one->ends_with_client)
			(void)capture_stop(c->captures, one->id);
	}
}

/* --- replies ----------------------------------------------------------------------------- */

json_t *
capture_calls_lost(const struct session_stats *stats)
{
	json_t *lost = json_object();

	for (int i = 0; i < LOSS_CAUSES; i++)
		if (json_object_set_new(lost, loss_key((enum loss_cause)i),
					json_integer((json_int_t)stats->loss[i])) < 0) {
			json_decref(lost);
			return NULL;
		}
	return lost;
}

/* Lines as an array. */
static json_t *
notes_json(const char *notes)
{
	json_t *all = json_array();
	char line[512];

	while (notes && *notes) {
		size_t len = strcspn(notes, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)len, notes);
		notes += len + (notes[len] == '\n');
		if (json_array_append_new(all, varlink_text(line)) < 0) {
			json_decref(all);
			return NULL;
		}
	}
	return all;
}

static json_t *
progress_json(const struct capture_progress *p, uid_t uid)
{
	json_t *j = json_pack("{sIsbsIsIsosIsIsfsfso}", "id", (json_int_t)p->number, "running",
			      !p->ended, "uid", (json_int_t)uid, "samples",
			      (json_int_t)p->stats.samples, "lost", capture_calls_lost(&p->stats),
			      "bytes", (json_int_t)p->stats.file_bytes, "frequency_hz",
			      (json_int_t)p->stats.frequency_hz, "elapsed_s",
			      (double)p->elapsed_ns / 1e9, "duration_s",
			      (double)p->duration_ns / 1e9, "notes", notes_json(p->notes));

	if (j && p->file[0] && json_object_set_new(j, "file", varlink_text(p->file)) < 0) {
		json_decref(j);
		return NULL;
	}
	return j;
}

static struct capture_call *
capture_calls_find(struct capture_calls *c, uint64_t id)
{
	struct capture_call *one;

	LIST_FOREACH(one, &c->running, next)
		if (one->id == id)
			break;
	return one;
}

/* By the number that clients know. */
static struct capture_call *
capture_calls_numbered(struct capture_calls *c, uint64_t number)
{
	struct capture_progress p;
	struct capture_call *one;

	LIST_FOREACH(one, &c->running, next)
		if (capture_progress(c->captures, one->id, &p) == 0 && p.number == number && number)
			break;
	return one;
}

json_t *
capture_calls_reply(struct capture_calls *c, uint64_t id)
{
	const struct capture_call *one = capture_calls_find(c, id);
	struct capture_progress p;

	if (!one || capture_progress(c->captures, id, &p) < 0 || !p.begun)
		return NULL;
	return json_pack("{so}", "capture", progress_json(&p, one->uid));
}

static void
on_begin(void *arg)
{
	struct capture_call *one = arg;

	one->owner->begun(one->owner->arg, one->waits ? one->client : NULL);
}

static void
on_end(void *arg, const struct capture_progress *last)
{
	struct capture_call *one = arg;
	void *client = one->waits ? one->client : NULL;
	struct capture_calls *c = one->owner;
	struct method_call call = { .wait = METHODS_ANSWERED };

	if (last->error[0])
		method_call_fail(&call, -last->saved_errno, last->error);
	else
		call.parameters = json_pack("{so}", "capture", progress_json(last, one->uid));
	if (!call.error && !call.parameters)
		method_call_fail(&call, -ENOMEM, "");
	LIST_REMOVE(one, next);
	free(one);
	/* Last, as the client's next call may come from within. */
	c->ended(c->arg, client, call.error, call.parameters);
}

/* --- what is asked for ------------------------------------------------------------------- */

/* Below the root of the hierarchy, whatever it is joined to: nothing that leads out of there. */
static bool
cgroup_good(const char *path)
{
	const char *part = path;

	if (!*path || *path == '/' || strlen(path) >= CAPTURE_CGROUP_BYTES)
		return false;
	for (;;) {
		size_t len = strcspn(part, "/");

		if (len == 2 && strncmp(part, "..", 2) == 0)
			return false;
		if (!part[len])
			return true;
		part += len + 1;
	}
}

static bool
read_events(struct method_call *call, struct wish *w)
{
	struct session_options *o = &w->options;
	json_t *events = method_call_parameter(call, "events"), *j;
	size_t i;

	if (json_array_size(events) > CAPTURE_EVENTS_MAX)
		return method_call_invalid(call, "events");
	json_array_foreach(events, i, j)
	{
		const char *s = json_string_value(j);

		if (!*s || strlen(s) >= CAPTURE_EVENT_BYTES)
			return method_call_invalid(call, "events");
		w->events[i] = s;
	}
	o->nr_events = json_array_size(events);
	o->events = o->nr_events ? w->events : NULL;
	return true;
}

static bool
read_pids(struct method_call *call, struct wish *w, const char *name, enum session_target target)
{
	struct session_options *o = &w->options;
	json_t *pids = method_call_parameter(call, name), *j;
	size_t i;

	if (!pids)
		return true;
	if (o->target != SESSION_ALL || json_array_size(pids) == 0 ||
	    json_array_size(pids) > PIDS_MAX)
		return method_call_invalid(call, name);
	json_array_foreach(pids, i, j)
	{
		json_int_t pid = json_integer_value(j);

		if (pid < 1 || pid > INT32_MAX)
			return method_call_invalid(call, name);
		w->pids[i] = (pid_t)pid;
	}
	o->target = target;
	o->pids = w->pids;
	o->nr_pids = json_array_size(pids);
	return true;
}

/* As target.h takes them, with commas: a name that has one is none here. */
static bool
read_cgroups(struct method_call *call, struct wish *w)
{
	json_t *cgroups = method_call_parameter(call, "cgroups"), *j;
	struct session_options *o = &w->options;
	size_t i, n = 0;

	if (!cgroups)
		return true;
	if (o->target != SESSION_ALL || json_array_size(cgroups) == 0 ||
	    json_array_size(cgroups) > CAPTURE_CGROUPS_MAX)
		return method_call_invalid(call, "cgroups");
	json_array_foreach(cgroups, i, j)
	{
		const char *s = json_string_value(j);

		if (strchr(s, ',') || (*s && !cgroup_good(s)))
			return method_call_invalid(call, "cgroups");
		n += (size_t)snprintf(w->cgroups + n, sizeof(w->cgroups) - n, "%s%s", i ? "," : "",
				      s);
	}
	o->cgroups = w->cgroups;
	o->target = SESSION_CGROUP;
	return true;
}

static bool
read_target(struct method_call *call, struct wish *w)
{
	struct session_options *o = &w->options;

	o->cgroup = json_string_value(method_call_parameter(call, "cgroup"));
	o->cpus = json_string_value(method_call_parameter(call, "cpus"));
	if (!read_pids(call, w, "pids", SESSION_PID) || !read_pids(call, w, "tids", SESSION_TID))
		return false;
	if (o->cgroup && (o->target != SESSION_ALL || !cgroup_good(o->cgroup)))
		return method_call_invalid(call, "cgroup");
	if (o->cgroup)
		o->target = SESSION_CGROUP;
	if (!read_cgroups(call, w))
		return false;
	if (o->cpus &&
	    (!*o->cpus || strlen(o->cpus) >= CPUS_BYTES ||
	     strspn(o->cpus, "0123456789,-") != strlen(o->cpus)))
		return method_call_invalid(call, "cpus");
	return true;
}

static bool
read_call_graph(struct method_call *call, struct session_options *o)
{
	const char *s = json_string_value(method_call_parameter(call, "call_graph"));

	o->call_graph = SESSION_CALL_GRAPH_DEFAULT;
	if (!s || config_call_graph_parse(s, o) == 0)
		return true;
	return method_call_invalid(call, "call_graph");
}

/* What options of spoor record of these names ask for. */
static bool
read_extra(struct method_call *call, struct session_options *o)
{
	struct session_extra *e = &o->extra;
	const struct {
		const char *name;
		bool *to;
	} knobs[] = { { "user_callchains", &e->user_callchains },
		      { "kernel_callchains", &e->kernel_callchains },
		      { "all_user", &e->all_user },
		      { "all_kernel", &e->all_kernel },
		      { "no_inherit", &e->no_inherit },
		      { "switch_events", &e->switch_events },
		      { "skip_missing", &e->skip_missing } };
	int64_t frames;

	for (size_t i = 0; i < sizeof(knobs) / sizeof(knobs[0]); i++)
		*knobs[i].to = json_is_true(method_call_parameter(call, knobs[i].name));
	if (e->user_callchains && e->kernel_callchains)
		return method_call_invalid(call, "kernel_callchains");
	if (e->all_user && e->all_kernel)
		return method_call_invalid(call, "all_kernel");
	if (!method_call_int(call, "max_stack", 1, SESSION_MAX_STACK, e->max_stack, &frames))
		return false;
	e->max_stack = (uint16_t)frames;
	return true;
}

static bool
read_rate(struct method_call *call, struct session_options *o)
{
	int64_t hz, period;

	if (!method_call_int(call, "frequency_hz", 1, 1000000, 0, &hz) ||
	    !method_call_int(call, "period", 1, INT64_MAX, 0, &period))
		return false;
	if (hz && period)
		return method_call_invalid(call, "period");
	o->frequency_hz = (uint64_t)hz;
	o->period = (uint64_t)period;
	return true;
}

/* Without one, all that is allowed: a client that hangs must not record for ever. */
static bool
read_duration(struct method_call *call, struct session_options *o)
{
	json_t *j = method_call_parameter(call, "duration_s");
	double s = json_number_value(j);

	if (j && !(s >= 0.001))
		return method_call_invalid(call, "duration_s");
	o->duration_ns = s < 1e9 ? (uint64_t)(s * 1e9) : UINT64_MAX;
	return true;
}

static bool
read_descriptor(struct method_call *call, struct session_options *o)
{
	int64_t index;

	if (!method_call_int(call, "file_descriptor", 0, 0, -1, &index))
		return false;
	if (index < 0)
		return true;
	if (call->fd < 0 || !descriptor_takes_recording(call->fd))
		return method_call_invalid(call, "file_descriptor");
	o->out_fd = call->fd;
	return true;
}

/*
 * Each thread of a process has each event on each CPU. Three quarters of all descriptors are for the
 * captures of users, in equal parts: none of those leaves too few to accept clients with.
 */
static uint64_t
descriptors_max(uint64_t max_captures)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0)
		return 0;
	return l.rlim_max / 4 * 3 / (max_captures ? max_captures : 1);
}

static bool
read_wish(struct method_call *call, struct wish *w)
{
	struct session_options *o = &w->options;

	o->for_user = call->process != 0;
	o->uid = call->process;
	o->gid = call->gid;
	o->out_fd = -1;
	if (o->for_user)
		o->descriptors_max = descriptors_max(call->context->config->max_captures);
	return read_events(call, w) && read_target(call, w) && read_call_graph(call, o) &&
		read_extra(call, o) && read_rate(call, o) && read_duration(call, o) &&
		read_descriptor(call, o);
}

/* --- methods ----------------------------------------------------------------------------- */

void
capture_calls_start(struct method_call *call)
{
	struct capture_call *c = calloc(1, sizeof(*c));
	struct wish *w = calloc(1, sizeof(*w));
	const struct capture_waiter waiter = { on_begin, on_end, c };
	struct capture_refusal why = { .limit = NULL };
	int r;

	if (!c || !w || !read_wish(call, w))
		goto out;
	c->owner = call->captures;
	c->uid = call->process;
	c->client = call->client;
	c->waits = !call->message->oneway;
	c->ends_with_client = !method_call_parameter(call, "duration_s");
	/* Taken over in any case. */
	if (w->options.out_fd >= 0)
		call->fd = -1;
	r = capture_start(call->captures->captures, &w->options, &waiter, &c->id, &why);
	if (r < 0) {
		if (why.limit)
			method_call_limit(call, why.limit, why.value);
		else
			method_call_fail(call, r, why.error.text);
		goto out;
	}
	LIST_INSERT_HEAD(&call->captures->running, c, next);
	call->wait = METHODS_CAPTURE;
	call->wait_id = c->id;
	c = NULL;
out:
	free(w);
	free(c);
}

void
capture_calls_stop(struct method_call *call)
{
	const struct capture_call *one;
	int64_t id;

	if (!method_call_int(call, "id", 0, INT64_MAX, 0, &id))
		return;
	one = capture_calls_numbered(call->captures, (uint64_t)id);
	if (one && one->uid != call->process && call->access < METHODS_ROOT) {
		call->error = VARLINK_PERMISSION_DENIED;
		return;
	}
	if (!one || capture_stop(call->captures->captures, one->id) < 0) {
		call->error = METHODS_INTERFACE ".NoSuchCapture";
		call->parameters = json_pack("{sI}", "id", (json_int_t)id);
		return;
	}
	call->parameters = json_object();
}

void
capture_calls_list(struct method_call *call)
{
	json_t *all = json_array();
	const struct capture_call *one;
	struct capture_progress p;

	LIST_FOREACH(one, &call->captures->running, next) {
		/* One without a number may be refused yet. */
		if (capture_progress(call->captures->captures, one->id, &p) < 0 || !p.number)
			continue;
		/* A list that lacks one would say that it does not run. */
		if (json_array_append_new(all, progress_json(&p, one->uid)) < 0) {
			json_decref(all);
			return;
		}
	}
	call->parameters = json_pack("{so}", "captures", all);
}
