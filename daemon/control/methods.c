/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/control/methods.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bsd/string.h>

#include "daemon/config/config_value.h"
#include "daemon/control/capture_calls.h"
#include "daemon/control/cpu_use_json.h"
#include "daemon/process/log.h"
#include "daemon/process/log_kept.h"
#include "daemon/stream/flight.h"
#include "format/bytes/time_text.h"
#include "recorder/ground/session_error.h"
#include "recorder/host/host.h"

#define INTERVAL_S_MAX 3600
#define LIST_FILES_MAX 2000 /* of one reply: with the longest names, half of VARLINK_REPLY_BYTES */
#define ROTATE_AGAIN_NS (10 * SECOND_NS)
#define DUMP_AGAIN_NS (10 * SECOND_NS)

/* --- org.varlink.service ----------------------------------------------------------------- */

static void
get_info(struct method_call *call)
{
	call->parameters = json_pack("{ssssssss s[ss]}", "vendor", "The spoor authors", "product",
				     "spoord", "version", SPOOR_VERSION, "url",
				     "man:io.spoor.Recorder(7)", "interfaces",
				     "org.varlink.service", METHODS_INTERFACE);
}

static void
get_interface_description(struct method_call *call)
{
	const char *name = json_string_value(method_call_parameter(call, "interface"));
	const char *text = NULL;

	if (strcmp(name, METHODS_INTERFACE) == 0)
		text = varlink_idl_recorder;
	else if (strcmp(name, "org.varlink.service") == 0)
		text = varlink_idl_service;
	if (text)
		call->parameters = json_pack("{ss}", "description", text);
	else
		method_call_error(call, VARLINK_INTERFACE_NOT_FOUND,
				  json_pack("{ss}", "interface", name));
}

/* --- status ------------------------------------------------------------------------------ */

static int
set_int(json_t *object, const char *key, uint64_t n)
{
	return json_object_set_new(object, key, json_integer((json_int_t)n));
}

/* By user. */
static json_t *
sideband_over(const struct session_stats *stats)
{
	json_t *over = json_object();
	char uid[16];
	int failed = 0;

	for (size_t i = 0; over && i < stats->nr_over; i++) {
		uid[0] = '\0';
		if (stats->over[i].uid != UINT32_MAX)
			(void)snprintf(uid, sizeof(uid), "%" PRIu32, stats->over[i].uid);
		failed |= set_int(over, uid, stats->over[i].records);
	}
	if (!failed)
		return over;
	json_decref(over);
	return NULL;
}

/* What became of copied stacks, by unwind_stop_key(); empty where none was copied. */
static json_t *
stacks(const struct unwind_stops *s)
{
	json_t *j = json_object();
	int failed = 0;

	for (enum unwind_stop i = 0; j && i < UNWIND_STOPS_NR && unwind_stops_any(s); i++)
		failed |= set_int(j, unwind_stop_key(i), s->stacks[i]);
	if (!failed)
		return j;
	json_decref(j);
	return NULL;
}

static int
add_stream(json_t *j, const struct streams_status *s)
{
	json_t *lost = capture_calls_lost(&s->base);

	return json_object_set_new(j, "version", json_string(SPOOR_VERSION)) |
		set_int(j, "uptime_s", s->uptime_s) | set_int(j, "samples", s->base.samples) |
		set_int(j, "records", s->base.records) | json_object_set_new(j, "lost", lost) |
		set_int(j, "lost_samples", s->base.lost) |
		json_object_set_new(j, "sideband_over", sideband_over(&s->base)) |
		json_object_set_new(j, "stacks", stacks(&s->base.stacks)) |
		set_int(j, "stack_cut_bytes", s->base.stacks.cut_bytes) |
		set_int(j, "stack_bytes", s->base.stack_bytes) |
		set_int(j, "throttled", s->base.loss[LOSS_THROTTLED]) |
		set_int(j, "frequency_hz", s->base.frequency_hz) |
		set_int(j, "wanted_frequency_hz", s->frequency_hz) |
		json_object_set_new(j, "governor", json_string(s->governor)) |
		json_object_set_new(j, "suspended", json_boolean(s->base.suspended)) |
		set_int(j, "cpus_online", s->base.cpus) |
		json_object_set_new(j, "cpu_percent", json_real(s->cpu_percent)) |
		json_object_set_new(j, "cpu_use", cpu_use_json(s)) |
		set_int(j, "rss_bytes", s->rss_bytes) |
		set_int(j, "written_bytes_per_s", s->written_bytes_per_s) |
		set_int(j, "captures", s->captures) |
		json_object_set_new(j, "flight_recorder", json_string(s->flight_recorder)) |
		set_int(j, "flight_recorder_bytes", s->flight_bytes);
}

static json_t *
warnings(void)
{
	char line[LOG_KEPT_BYTES];
	json_t *j = json_array();

	for (size_t i = 0; j && log_kept(i, line); i++)
		if (json_array_append_new(j, varlink_text(line)) < 0) {
			json_decref(j);
			j = NULL;
		}
	return j;
}

static int
add_archive(json_t *j, const char *directory, const struct archive_usage *u)
{
	return json_object_set_new(j, "archive_directory", varlink_text(directory)) |
		set_int(j, "archive_bytes", u->bytes) |
		set_int(j, "objects_bytes", u->objects_bytes) |
		set_int(j, "archive_max_use_bytes", u->max_use) |
		set_int(j, "archive_keep_free_bytes", u->keep_free) |
		set_int(j, "archive_free_bytes", u->fs_free) | set_int(j, "segments", u->segments) |
		set_int(j, "kept_files", u->kept) | set_int(j, "capture_files", u->captures) |
		set_int(j, "quarantined_files", u->quarantined) |
		set_int(j, "deleted_segments", u->deleted_segments) |
		set_int(j, "deleted_bytes", u->deleted_bytes) |
		set_int(j, "lost_files", u->lost_files) |
		json_object_set_new(j, "lost_file", varlink_text(u->lost));
}

json_t *
methods_status(const struct control_context *context)
{
	struct streams_status status = { 0 };
	struct archive_usage usage = { 0 };
	json_t *j = json_object();

	streams_status(context->streams, &status);
	archive_usage(context->archive, &usage);
	if (add_stream(j, &status) | add_archive(j, context->config->archive_directory, &usage) |
	    json_object_set_new(j, "warnings", warnings())) {
		json_decref(j);
		return NULL;
	}
	return j;
}

static void
get_status(struct method_call *call)
{
	call->parameters = methods_status(call->context);
}

static void
monitor(struct method_call *call)
{
	int64_t interval_s;

	if (!call->message->more) {
		method_call_error(call, VARLINK_EXPECTED_MORE, NULL);
		return;
	}
	if (!method_call_int(call, "interval_s", 1, INTERVAL_S_MAX, 1, &interval_s))
		return;
	call->wait = METHODS_MONITOR;
	call->wait_ns = (uint64_t)interval_s * SECOND_NS;
	call->parameters = methods_status(call->context);
}

/* --- the archive ------------------------------------------------------------------------- */

/* Is the segment being written concerned? When that cannot be told, it is. */
static bool
reaches_active(struct archive *a, uint64_t until_s)
{
	struct archive_entry *entries = NULL;
	ssize_t n = archive_list(a, &entries);
	bool reaches = n < 0;

	for (ssize_t i = 0; i < n; i++)
		if (strcmp(entries[i].kind, "active") == 0 && entries[i].start_s <= until_s)
			reaches = true;
	free(entries);
	return reaches;
}

/* This user's place, or that of whoever may ask again first. */
static size_t
rotation_of(const struct methods_rotations *r, uid_t uid)
{
	size_t first = 0;

	for (size_t i = 0; i < METHODS_ROTATIONS; i++) {
		if (r->last[i].again_ns && r->last[i].uid == uid)
			return i;
		if (r->last[i].again_ns < r->last[first].again_ns)
			first = i;
	}
	return first;
}

/* did: what was done not long ago, up to the name of the user. */
static int
too_soon(const struct method_call *call, const struct methods_rotations *r, size_t i,
	 const char *did, struct session_error *error)
{
	return session_fail(error, -EAGAIN,
			    "%s uid %u not long ago; members may ask again in %" PRIu64 " s", did,
			    (unsigned int)r->last[i].uid,
			    (r->last[i].again_ns - call->now_ns + SECOND_NS - 1) / SECOND_NS);
}

/*
 * Each segment begins with a snapshot, which has the maps of everybody, and max_segments counts
 * segments whatever is in them: who has them closed in quick succession pushes out the history.
 * That is for root to do. A member waits until sideband_share has room for the snapshot, and
 * for ROTATE_AGAIN_NS. Each member's time is its own, so that none keeps the others from
 * keeping.
 */
static int
rotate_for(struct method_call *call, struct session_error *error)
{
	struct methods_rotations *r = call->rotations;
	size_t i = rotation_of(r, call->uid);
	uint64_t state_ns;
	int n;

	if (call->access >= METHODS_ROOT)
		return streams_rotate(call->context->streams, &state_ns, error);
	if (call->now_ns < r->last[i].again_ns)
		return too_soon(call, r, i, "a segment was closed on request of", error);
	n = streams_rotate(call->context->streams, &state_ns, error);
	r->last[i].uid = call->uid;
	r->last[i].again_ns =
		call->now_ns + (state_ns > ROTATE_AGAIN_NS ? state_ns : ROTATE_AGAIN_NS);
	return n;
}

/* A part of it: there may be many recordings. */
static void
keep_copies(struct method_call *call)
{
	if (call->pins && archive_pins_step(call->pins)) {
		call->wait = METHODS_DISK;
		call->run = keep_copies;
		return;
	}
	archive_pins_free(call->pins);
	call->pins = NULL;
}

static void
methods_keep(struct method_call *call)
{
	const char *label = json_string_value(method_call_parameter(call, "label"));
	int64_t from_s, until_s;
	time_t now_s = time(NULL);
	struct session_error error = { 0 };
	char made[LABEL_BYTES_MAX + 1];
	struct tm tm;
	int n;

	/* Without an end it is for ever: where the clock was set back, what is recorded is ahead. */
	if (!method_call_int(call, "from_s", 0, INT64_MAX, 0, &from_s) ||
	    !method_call_int(call, "until_s", from_s, INT64_MAX, INT64_MAX, &until_s))
		return;
	if (label && !config_label_good(label)) {
		method_call_invalid(call, "label");
		return;
	}
	if (!label) {
		gmtime_r(&now_s, &tm);
		strftime(made, sizeof(made), "%Y%m%dT%H%M%SZ", &tm);
		label = made;
	}
	if (reaches_active(call->context->archive, (uint64_t)until_s)) {
		n = rotate_for(call, &error);
		if (n < 0) {
			method_call_fail(call, n, error.text);
			return;
		}
	}
	n = archive_keep(call->context->archive, label, (uint64_t)from_s, (uint64_t)until_s,
			 call->access < METHODS_ROOT, &call->pins, &error);
	if (n < 0) {
		method_call_fail(call, n, error.text);
		return;
	}
	if (n > 0)
		log_user_notice(call->uid, LOG_USER_A_MINUTE, "kept %d file%s as %s for uid %u", n,
				n == 1 ? "" : "s", label, (unsigned int)call->uid);
	call->parameters = json_pack("{sssi}", "label", label, "files", n);
	keep_copies(call);
}

static json_t *
file_json(const struct archive_entry *e)
{
	return json_pack("{sosssIsIsI}", "name", varlink_text(e->name), "kind", e->kind, "bytes",
			 (json_int_t)e->bytes, "start_s", (json_int_t)e->start_s, "end_s",
			 (json_int_t)e->end_s);
}

static void
list(struct method_call *call)
{
	struct archive_entry *entries = NULL;
	json_t *files = json_array();
	int64_t skip;
	ssize_t n;

	if (!method_call_int(call, "skip", 0, INT64_MAX, 0, &skip))
		goto out;
	n = archive_list(call->context->archive, &entries);
	if (n < 0) {
		method_call_fail(call, (int)n, "");
		goto out;
	}
	for (ssize_t i = skip < n ? (ssize_t)skip : n; i < n && i - skip < LIST_FILES_MAX; i++)
		if (json_array_append_new(files, file_json(&entries[i])) < 0)
			goto out;
	call->parameters = json_pack("{sIsO}", "total", (json_int_t)n, "files", files);
out:
	json_decref(files);
	free(entries);
}

static void
answer_session(struct method_call *call, int r, const struct session_error *error)
{
	if (r < 0)
		method_call_fail(call, r, error->text);
	else
		call->parameters = json_object();
}

static void
sync_now(struct method_call *call)
{
	struct session_error error = { 0 };
	const uint64_t due_ns = streams_sync_due(call->context->streams, call->asked_ns);

	/* Each is a block of its own and a wait for the disk: one answers all members who asked within a second. */
	if (call->access < METHODS_ROOT && due_ns > host_now_ns()) {
		call->wait = METHODS_DISK;
		call->run = sync_now;
		call->again_ns = due_ns;
		return;
	}
	answer_session(call, streams_sync(call->context->streams, call->asked_ns, &error), &error);
}

static void
rotate(struct method_call *call)
{
	struct session_error error = { 0 };
	int r = rotate_for(call, &error);

	if (r >= 0)
		log_user_info(call->uid, LOG_USER_A_MINUTE, "rotated for uid %u",
			      (unsigned int)call->uid);
	answer_session(call, r, &error);
}

/* Each is a file, and the work of packing it, also where that fails: a member's have a time between them. */
static int
dump_for(struct method_call *call, struct flight_dump *ret, struct session_error *error)
{
	struct methods_rotations *d = call->dumps;
	size_t i = rotation_of(d, call->uid);
	int r;

	if (call->access >= METHODS_ROOT)
		return streams_dump(call->context->streams, ret, error);
	if (call->now_ns < d->last[i].again_ns)
		return too_soon(call, d, i, "a dump was asked for by", error);
	r = streams_dump(call->context->streams, ret, error);
	d->last[i].uid = call->uid;
	d->last[i].again_ns = call->now_ns + DUMP_AGAIN_NS;
	return r;
}

static void
methods_dump(struct method_call *call)
{
	struct session_error error = { 0 };
	struct flight_dump dump;
	int r = dump_for(call, &dump, &error);

	if (r < 0) {
		method_call_fail(call, r, error.text);
		return;
	}
	log_user_notice(call->uid, LOG_USER_A_MINUTE,
			"the flight recorder's last %llu samples for uid %u: %s",
			(unsigned long long)dump.samples, (unsigned int)call->uid, dump.file);
	call->parameters = json_pack("{sosI}", "file", varlink_text(dump.file), "samples",
				     (json_int_t)dump.samples);
}

static void
vacuum(struct method_call *call)
{
	struct session_error error = { 0 };
	int64_t use, age_s, segments;
	uint64_t bytes = 0;
	uint32_t copies = 0;
	int n;

	if (!method_call_int(call, "max_use_bytes", 1, INT64_MAX, 0, &use) ||
	    !method_call_int(call, "max_age_s", 1, INT64_MAX, 0, &age_s) ||
	    !method_call_int(call, "max_segments", 1, INT64_MAX, 0, &segments))
		return;
	if (!use && !age_s && !segments) {
		method_call_invalid(call, "max_use_bytes");
		return;
	}
	n = archive_vacuum(call->context->archive, (uint64_t)use, (uint64_t)age_s,
			   (uint64_t)segments, &bytes, &copies, &error);
	if (n < 0) {
		method_call_fail(call, n, error.text);
		return;
	}
	log_notice("vacuum for uid %u: deleted %d recording%s and %u cop%s of programs, %llu bytes",
		   (unsigned int)call->uid, n, n == 1 ? "" : "s", copies, copies == 1 ? "y" : "ies",
		   (unsigned long long)bytes);
	call->parameters = json_pack("{sisisI}", "deleted_files", n, "deleted_copies", (int)copies,
				     "deleted_bytes", (json_int_t)bytes);
}

static void
methods_reload(struct method_call *call)
{
	call->wait = METHODS_RELOAD;
	call->wait_id = call->context->reload(call->context->arg);
}

/* --- the table --------------------------------------------------------------------------- */

#define FIELDS(...) ((const struct varlink_field[]){ __VA_ARGS__{ NULL, NULL } })
#define NO_FIELDS FIELDS()

static const struct varlink_field capture_in[] = {
	{ "duration_s", "?float" },	{ "events", "?[]string" },
	{ "frequency_hz", "?int" },	{ "period", "?int" },
	{ "call_graph", "?string" },	{ "max_stack", "?int" },
	{ "user_callchains", "?bool" }, { "kernel_callchains", "?bool" },
	{ "all_user", "?bool" },	{ "all_kernel", "?bool" },
	{ "no_inherit", "?bool" },	{ "switch_events", "?bool" },
	{ "skip_missing", "?bool" },	{ "pids", "?[]int" },
	{ "tids", "?[]int" },		{ "cgroup", "?string" },
	{ "cgroups", "?[]string" },	{ "cpus", "?string" },
	{ "file_descriptor", "?int" },	{ NULL, NULL },
};

const struct method methods_table[] = {
	{ "GetStatus", METHODS_MEMBER, get_status, NO_FIELDS, false },
	{ "Monitor", METHODS_MEMBER, monitor, FIELDS({ "interval_s", "?int" }, ), false },
	{ "Capture", METHODS_MEMBER, capture_calls_start, capture_in, false },
	{ "StopCapture", METHODS_MEMBER, capture_calls_stop, FIELDS({ "id", "int" }, ), false },
	{ "ListCaptures", METHODS_MEMBER, capture_calls_list, NO_FIELDS, false },
	{ "Keep", METHODS_MEMBER, methods_keep,
	  FIELDS({ "from_s", "int" }, { "until_s", "?int" }, { "label", "?string" }, ), true },
	{ "List", METHODS_MEMBER, list, FIELDS({ "skip", "?int" }, ), true },
	{ "Sync", METHODS_MEMBER, sync_now, NO_FIELDS, true },
	{ "Rotate", METHODS_MEMBER, rotate, NO_FIELDS, true },
	{ "Dump", METHODS_MEMBER, methods_dump, NO_FIELDS, true },
	{ "Vacuum", METHODS_ROOT, vacuum,
	  FIELDS({ "max_use_bytes", "?int" }, { "max_age_s", "?int" },
		 { "max_segments", "?int" }, ),
	  true },
	{ "Reload", METHODS_ROOT, methods_reload, NO_FIELDS, false },
	{ NULL, 0, NULL, NULL, false },
};

static const struct method service_table[] = {
	{ "GetInfo", METHODS_ANYONE, get_info, NO_FIELDS, false },
	{ "GetInterfaceDescription", METHODS_ANYONE, get_interface_description,
	  FIELDS({ "interface", "string" }, ), false },
	{ NULL, 0, NULL, NULL, false },
};

/* --- the call ---------------------------------------------------------------------------- */

/* The method, or NULL and the call is answered. */
static const struct method *
methods_find(struct method_call *call)
{
	const char *full = call->message->method, *dot = strrchr(full, '.');
	const struct method *m = NULL;
	char interface[VARLINK_METHOD_BYTES];

	(void)strlcpy(interface, full, sizeof(interface));
	if (dot)
		interface[dot - full] = '\0';
	if (dot && strcmp(interface, METHODS_INTERFACE) == 0)
		m = methods_table;
	else if (dot && strcmp(interface, "org.varlink.service") == 0)
		m = service_table;
	if (!m) {
		method_call_error(call, VARLINK_INTERFACE_NOT_FOUND,
				  json_pack("{ss}", "interface", interface));
		return NULL;
	}
	while (m->name && strcmp(m->name, dot + 1) != 0)
		m++;
	if (m->name)
		return m;
	method_call_error(call, VARLINK_METHOD_NOT_FOUND, json_pack("{ss}", "method", full));
	return NULL;
}

void
methods_run(struct method_call *call)
{
	call->wait = METHODS_ANSWERED;
	call->run(call);
	/* Out of memory is the one way to come back with neither. */
	if (!call->parameters && !call->error && call->wait == METHODS_ANSWERED)
		method_call_fail(call, -ENOMEM, "");
}

void
methods_call(struct method_call *call)
{
	const struct method *m = methods_find(call);
	const char *bad;

	if (!m)
		return;
	if (m->access > call->access) {
		method_call_error(call, VARLINK_PERMISSION_DENIED, NULL);
		return;
	}
	if (call->message->upgrade) {
		method_call_error(call, VARLINK_METHOD_NOT_IMPLEMENTED,
				  json_pack("{ss}", "method", call->message->method));
		return;
	}
	if (!varlink_idl_check(m->in, call->message->parameters, &bad)) {
		method_call_invalid(call, bad);
		return;
	}
	call->run = m->call;
	if (m->disk)
		call->wait = METHODS_DISK;
	else
		methods_run(call);
}
