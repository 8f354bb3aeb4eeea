/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "daemon/control/capture_calls.h"
#include "daemon/control/methods.h"
#include "tests/lab/fake_streams.h"

static struct control_context context;
static struct capture_calls *captures;
static json_t *ended; /* last reply of a capture that was waited for */
static char ended_error[128];
static int client; /* anything with an address */
static int passed; /* descriptor for the next call */

/* While a method runs, JSON gets no memory for allocation number at; 0: it gets all. */
static struct {
	bool runs;
	unsigned int at, nr;
} starved;

static void *
starved_malloc(size_t n)
{
	return starved.runs && ++starved.nr == starved.at ? NULL : malloc(n);
}

static void
on_ended(void *arg, void *who, const char *error, json_t *parameters)
{
	if (!who) {
		json_decref(parameters);
		return;
	}
	assert_ptr_equal(who, &client);
	json_decref(ended);
	ended = parameters;
	(void)strlcpy(ended_error, error ? error : "", sizeof(ended_error));
}

static void
on_begun(void *arg, void *who)
{
	(void)arg;
	assert_true(!who || who == &client);
}

static int
setup(void **state)
{
	fake_reset();
	context = (struct control_context){ .config = fake_config("/nowhere"),
					    .reload = fake_reload };
	captures = capture_calls_new(NULL, on_begun, on_ended, NULL);
	passed = -1;
	return captures ? 0 : -1;
}

static int
teardown(void **state)
{
	capture_calls_free(captures);
	json_decref(ended);
	ended = NULL;
	if (passed >= 0)
		close(passed);
	fake_reset();
	return 0;
}

static struct method_call
call_as(enum methods_access access, uid_t uid, const char *text)
{
	static struct varlink_call message;
	struct method_call call = { .context = &context,
				    .captures = captures,
				    .message = &message,
				    .access = access,
				    .uid = uid,
				    .process = uid,
				    .fd = passed,
				    .now_ns = fake.now_ns,
				    .client = &client,
				    .rotations = &fake.rotated,
				    .dumps = &fake.dumped };

	assert_int_equal(varlink_call_parse(text, strlen(text), &message), 0);
	starved.runs = true;
	methods_call(&call);
	while (call.wait == METHODS_DISK)
		methods_run(&call);
	starved.runs = false;
	(void)fake_begin();
	passed = call.fd;
	json_decref(message.message);
	/* One answer, of one kind. */
	if (call.wait == METHODS_ANSWERED && !call.error)
		assert_non_null(call.parameters);
	return call;
}

/* method: without the interface. parameters: without braces. */
static struct method_call
call_user(uid_t uid, const char *method, const char *parameters)
{
	char text[8192];

	snprintf(text, sizeof(text), "{\"method\":\"io.spoor.Recorder.%s\",\"parameters\":{%s}}",
		 method, parameters);
	return call_as(METHODS_MEMBER, uid, text);
}

static struct method_call
call_member(const char *method, const char *parameters)
{
	return call_user(1000, method, parameters);
}

static struct method_call
call_root(const char *method, const char *parameters)
{
	char text[8192];

	snprintf(text, sizeof(text), "{\"method\":\"io.spoor.Recorder.%s\",\"parameters\":{%s}}",
		 method, parameters);
	return call_as(METHODS_ROOT, 0, text);
}

/* --- the description --------------------------------------------------------------------- */

#define FIELDS_MAX 64

struct field {
	char name[64], type[64];
};

/* The description without blanks and comments. */
static const char *
description(void)
{
	static char text[16384];
	size_t n = 0;

	if (text[0])
		return text;
	for (const char *p = varlink_idl_recorder; *p; p++) {
		if (*p == '#')
			p = strchr(p, '\n');
		assert_true(n + 1 < sizeof(text));
		if (*p != ' ' && *p != '\n')
			text[n++] = *p;
	}
	return text;
}

/* What is behind these words in it, NULL: they are not there. */
static const char *
behind(const char *kind, const char *name)
{
	char words[128];
	const char *at;

	snprintf(words, sizeof(words), "%s%s(", kind, name);
	at = strstr(description(), words);
	return at ? at + strlen(words) - 1 : NULL;
}

/* Those of "(name:type,...)"; the last one has no name. Returns what is behind. */
static const char *
read_fields(const char *p, struct field fields[FIELDS_MAX])
{
	size_t n = 0, len;

	assert_int_equal(*p++, '(');
	for (; *p != ')'; n++) {
		assert_true(n + 1 < FIELDS_MAX);
		len = strcspn(p, ":");
		snprintf(fields[n].name, sizeof(fields[n].name), "%.*s", (int)len, p);
		p += len + 1;
		len = *p == '(' ? strcspn(p, ")") + 1 : strcspn(p, ",)");
		snprintf(fields[n].type, sizeof(fields[n].type), "%.*s", (int)len, p);
		p += len;
		p += *p == ',';
	}
	fields[n].name[0] = '\0';
	return p + 1;
}

/* Does a result have what is described at p: every member, and none beside? */
static void
check_result(const char *p, json_t *result)
{
	struct field fields[FIELDS_MAX], *f;
	const char *key, *named, *bad;
	json_t *value, *member;
	size_t i;

	assert_non_null(p);
	(void)read_fields(p, fields);
	json_object_foreach(result, key, value)
	{
		struct varlink_field one[2] = { { key, NULL }, { NULL, NULL } };
		json_t *object;

		for (f = fields; f->name[0] && strcmp(f->name, key) != 0; f++)
			;
		if (!f->name[0])
			fail_msg("%s is not described", key);
		named = behind("type", f->type + (*f->type == '[' ? 2 : 0));
		if (named && *f->type == '[') {
			json_array_foreach(value, i, member) check_result(named, member);
			continue;
		}
		if (named) {
			check_result(named, value);
			continue;
		}
		if (*f->type == '(') {
			assert_non_null(strstr(f->type, json_string_value(value)));
			continue;
		}
		one[0].type = f->type;
		object = json_pack("{sO}", key, value);
		if (!varlink_idl_check(one, object, &bad))
			fail_msg("%s is not of type %s", key, f->type);
		json_decref(object);
	}
	for (f = fields; f->name[0]; f++)
		if (*f->type != '?' && !json_object_get(result, f->name))
			fail_msg("%s is missing", f->name);
}

/* Releases the call; true if it was answered with this error and, if given, this parameter. */
static bool
is_error(struct method_call call, const char *error, const char *parameter)
{
	const char *value = json_string_value(json_object_get(call.parameters, "parameter"));
	bool is = call.error && strcmp(call.error, error) == 0 &&
		(!parameter || (value && strcmp(value, parameter) == 0));

	if (is && strncmp(error, METHODS_INTERFACE, strlen(METHODS_INTERFACE)) == 0)
		check_result(behind("error", strrchr(error, '.') + 1), call.parameters);
	json_decref(call.parameters);
	return is;
}

static bool
is_invalid(const char *method, const char *parameters, const char *parameter)
{
	return is_error(call_root(method, parameters), VARLINK_INVALID_PARAMETER, parameter);
}

static bool
is_good(struct method_call call)
{
	json_decref(call.parameters);
	return !call.error;
}

/* --- the table and what is answered ------------------------------------------------------ */

static void
table_is_as_described(void **state)
{
	const char *at = description();

	assert_memory_equal(at, "interfaceio.spoor.Recorder", 26);
	for (const struct method *m = methods_table; m->name; m++) {
		struct field fields[FIELDS_MAX], *f = fields;
		size_t len = strlen(m->name);

		at = strstr(at, "method");
		assert_non_null(at);
		at += 6;
		assert_memory_equal(at, m->name, len);
		at = read_fields(at + len, fields);
		assert_memory_equal(at, "->(", 3);
		for (const struct varlink_field *in = m->in; in->name; in++, f++) {
			assert_string_equal(in->name, f->name);
			assert_string_equal(in->type, f->type);
		}
		assert_string_equal(f->name, "");
	}
	assert_null(strstr(at, "method"));
}

/* With "more", which all take and one needs. */
static struct method_call
call_for_all(const char *method, const char *parameters)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "{\"method\":\"io.spoor.Recorder.%s\",\"more\":true,\"parameters\":{%s}}", method,
		 parameters);
	return call_as(METHODS_ROOT, 0, text);
}

static void
results_are_as_described(void **state)
{
	/* All of the table, in its order. */
	static const struct {
		const char *method, *parameters;
	} calls[] = {
		{ "GetStatus", "" },
		{ "Monitor", "" },
		{ "Capture", "\"duration_s\":1" },
		{ "StopCapture", "\"id\":1" },
		{ "ListCaptures", "" },
		{ "Keep", "\"from_s\":1" },
		{ "List", "" },
		{ "Sync", "" },
		{ "Rotate", "" },
		{ "Dump", "" },
		{ "Vacuum", "\"max_use_bytes\":1" },
		{ "Reload", "" },
	};
	const size_t nr = sizeof(calls) / sizeof(calls[0]);

	fake.files = 3;
	for (size_t i = 0; i < nr; i++) {
		struct method_call call = call_for_all(calls[i].method, calls[i].parameters);
		struct field in[FIELDS_MAX];

		assert_string_equal(calls[i].method, methods_table[i].name);
		assert_null(call.error);
		if (call.wait == METHODS_CAPTURE)
			call.parameters = capture_calls_reply(captures, call.wait_id);
		check_result(read_fields(behind("method", calls[i].method), in) + 2,
			     call.parameters);
		json_decref(call.parameters);
	}
	assert_null(methods_table[nr].name);
	fake_end(1, NULL);
	check_result(behind("type", "CaptureState"), json_object_get(ended, "capture"));
	assert_true(is_error(call_root("StopCapture", "\"id\":1"),
			     METHODS_INTERFACE ".NoSuchCapture", NULL));
}

/* --- who may do what --------------------------------------------------------------------- */

static void
rights_are_graded(void **state)
{
	char text[128];

	for (const struct method *m = methods_table; m->name; m++) {
		snprintf(text, sizeof(text), "{\"method\":\"io.spoor.Recorder.%s\"}", m->name);
		assert_true(is_error(call_as(METHODS_ANYONE, 1000, text), VARLINK_PERMISSION_DENIED,
				     NULL));
	}
	assert_true(is_error(call_member("Vacuum", "\"max_use_bytes\":1"),
			     VARLINK_PERMISSION_DENIED, NULL));
	assert_true(is_error(call_member("Reload", ""), VARLINK_PERMISSION_DENIED, NULL));
	assert_int_equal(fake.vacuums + fake.reloads, 0);
	assert_true(is_good(call_member("GetStatus", "")));
	assert_true(is_good(call_member("Keep", "\"from_s\":1")));
	assert_true(is_good(call_member("Capture", "")));
	assert_true(is_good(call_member("Rotate", "")));
	assert_true(is_good(call_member("Sync", "")));
	assert_true(is_good(call_member("Dump", "")));
	assert_true(is_good(call_root("Vacuum", "\"max_use_bytes\":1")));
	assert_true(is_good(call_root("Reload", "")));
}

static void
members_wait_between_dumps(void **state)
{
	struct method_call again;

	assert_true(is_good(call_member("Dump", "")));
	again = call_member("Dump", "");
	/* Which may have failed. */
	assert_string_equal(
		json_string_value(json_object_get(again.parameters, "message")),
		"a dump was asked for by uid 1000 not long ago; members may ask again in 10 s");
	assert_true(is_error(again, METHODS_INTERFACE ".Failed", NULL));
	/* Each for itself, and root not at all; a segment can be closed meanwhile. */
	assert_true(is_good(call_user(1001, "Dump", "")));
	assert_true(is_good(call_root("Dump", "")));
	assert_true(is_good(call_root("Dump", "")));
	assert_true(is_good(call_member("Rotate", "")));
	fake.now_ns += UINT64_C(10000000000);
	assert_true(is_good(call_member("Dump", "")));
	/* One that failed has paused sampling as well. */
	fake.now_ns += UINT64_C(10000000000);
	fake.error = -EIO;
	assert_true(is_error(call_member("Dump", ""), METHODS_INTERFACE ".Failed", NULL));
	fake.error = 0;
	assert_true(is_error(call_member("Dump", ""), METHODS_INTERFACE ".Failed", NULL));
	fake.now_ns += UINT64_C(10000000000);
	assert_true(is_good(call_member("Dump", "")));
}

static void
a_stranger_learns_what_there_is(void **state)
{
	struct method_call call =
		call_as(METHODS_ANYONE, 1, "{\"method\":\"org.varlink.service.GetInfo\"}");

	assert_int_equal(json_array_size(json_object_get(call.parameters, "interfaces")), 2);
	json_decref(call.parameters);
	call = call_as(METHODS_ANYONE, 1,
		       "{\"method\":\"org.varlink.service.GetInterfaceDescription\","
		       "\"parameters\":{\"interface\":\"io.spoor.Recorder\"}}");
	assert_string_equal(json_string_value(json_object_get(call.parameters, "description")),
			    varlink_idl_recorder);
	json_decref(call.parameters);
}

static void
unknown_methods_are_told_so(void **state)
{
	static const struct {
		const char *method, *error;
	} calls[] = {
		{ "", VARLINK_INTERFACE_NOT_FOUND },
		{ "GetStatus", VARLINK_INTERFACE_NOT_FOUND },
		{ "io.spoor.Other.GetStatus", VARLINK_INTERFACE_NOT_FOUND },
		{ ".GetStatus", VARLINK_INTERFACE_NOT_FOUND },
		{ "io.spoor.Recorder.", VARLINK_METHOD_NOT_FOUND },
		{ "io.spoor.Recorder.getStatus", VARLINK_METHOD_NOT_FOUND },
		{ "org.varlink.service.GetStatus", VARLINK_METHOD_NOT_FOUND },
	};
	char text[256];

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		snprintf(text, sizeof(text), "{\"method\":\"%s\"}", calls[i].method);
		assert_true(is_error(call_as(METHODS_ROOT, 0, text), calls[i].error, NULL));
	}
	assert_true(is_error(call_as(METHODS_ANYONE, 1,
				     "{\"method\":\"org.varlink.service.GetInterfaceDescription\","
				     "\"parameters\":{\"interface\":\"io.spoor.Other\"}}"),
			     VARLINK_INTERFACE_NOT_FOUND, NULL));
	assert_true(is_error(call_as(METHODS_ROOT, 0,
				     "{\"method\":\"io.spoor.Recorder.Sync\",\"upgrade\":true}"),
			     VARLINK_METHOD_NOT_IMPLEMENTED, NULL));
	assert_true(is_error(call_member("Monitor", ""), VARLINK_EXPECTED_MORE, NULL));
}

/* --- parameters -------------------------------------------------------------------------- */

static void
captures_check_what_they_are_asked(void **state)
{
	static const char *const bad[][2] = {
		{ "\"duration_s\":0", "duration_s" },
		{ "\"duration_s\":-1", "duration_s" },
		{ "\"duration_s\":\"1\"", "duration_s" },
		{ "\"frequency_hz\":0", "frequency_hz" },
		{ "\"frequency_hz\":1.5", "frequency_hz" },
		{ "\"frequency_hz\":1000001", "frequency_hz" },
		{ "\"period\":-1", "period" },
		{ "\"period\":1,\"frequency_hz\":1", "period" },
		{ "\"events\":[\"\"]", "events" },
		{ "\"events\":[1]", "events" },
		{ "\"events\":[\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\","
		  "\"a\",\"a\",\"a\",\"a\",\"a\",\"a\"]",
		  "events" },
		{ "\"pids\":[]", "pids" },
		{ "\"pids\":[0]", "pids" },
		{ "\"pids\":[4294967297]", "pids" },
		{ "\"pids\":[1],\"tids\":[1]", "tids" },
		{ "\"pids\":[1],\"cgroup\":\"x\"", "cgroup" },
		{ "\"cgroup\":\"\"", "cgroup" },
		{ "\"cgroup\":\"/sys/fs/cgroup/x\"", "cgroup" },
		{ "\"cgroup\":\"..\"", "cgroup" },
		{ "\"cgroup\":\"../etc\"", "cgroup" },
		{ "\"cgroup\":\"a/../../etc\"", "cgroup" },
		{ "\"cgroup\":\"a/..\"", "cgroup" },
		{ "\"cgroups\":[]", "cgroups" },
		{ "\"cgroups\":\"a,b\"", "cgroups" },
		{ "\"cgroups\":[\"a\",7]", "cgroups" },
		{ "\"cgroups\":[\"a,b\"]", "cgroups" },
		{ "\"cgroups\":[\"a\",\"../etc\"]", "cgroups" },
		{ "\"cgroups\":[\"/sys/fs/cgroup/x\"]", "cgroups" },
		{ "\"cgroups\":[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"]",
		  "cgroups" },
		{ "\"cgroup\":\"x\",\"cgroups\":[\"a\"]", "cgroups" },
		{ "\"pids\":[1],\"cgroups\":[\"a\"]", "cgroups" },
		{ "\"cpus\":\"\"", "cpus" },
		{ "\"cpus\":\"0;1\"", "cpus" },
		{ "\"call_graph\":\"lbr\"", "call_graph" },
		{ "\"call_graph\":\"dwarf,0\"", "call_graph" },
		{ "\"max_stack\":0", "max_stack" },
		{ "\"max_stack\":65536", "max_stack" },
		{ "\"switch_events\":1", "switch_events" },
		{ "\"all_user\":true,\"all_kernel\":true", "all_kernel" },
		{ "\"user_callchains\":true,\"kernel_callchains\":true", "kernel_callchains" },
		{ "\"call_graph\":\"dwarf8\"", "call_graph" },
		{ "\"file_descriptor\":0", "file_descriptor" },
		{ "\"file_descriptor\":3", "file_descriptor" },
		{ "\"file\":\"/etc/passwd\"", "file" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!is_invalid("Capture", bad[i][0], bad[i][1]))
			fail_msg("not refused: %s", bad[i][0]);
	assert_int_equal(fake.starts, 0);
	assert_true(is_error(call_member("Capture", "\"duration_s\":601"),
			     "io.spoor.Recorder.LimitExceeded", NULL));
	assert_true(is_error(call_member("Capture", "\"duration_s\":1e300"),
			     "io.spoor.Recorder.LimitExceeded", NULL));
}

/* What one -e may have: a list of tracepoints is long. */
static void
captures_take_long_events(void **state)
{
	char event[4097], parameters[sizeof(event) + 16];

	(void)state;
	memset(event, 'a', sizeof(event));
	event[4096] = '\0';
	(void)snprintf(parameters, sizeof(parameters), "\"events\":[\"%s\"]", event);
	assert_true(is_invalid("Capture", parameters, "events"));
	event[4095] = '\0';
	(void)snprintf(parameters, sizeof(parameters), "\"events\":[\"%s\"]", event);
	assert_true(is_good(call_member("Capture", parameters)));
	assert_int_equal(fake.captures[0].options.nr_events, 1);
}

static void
captures_are_passed_on(void **state)
{
	const struct session_options *o = &fake.captures[0].options;

	assert_true(is_good(call_member("Capture",
					"\"duration_s\":0.5,\"events\":[\"cycles:u\","
					"\"page-faults\"],\"frequency_hz\":997,"
					"\"pids\":[7,8],\"cpus\":\"0-1\","
					"\"call_graph\":\"dwarf,4096\",\"max_stack\":7,"
					"\"kernel_callchains\":true,\"all_user\":false,"
					"\"switch_events\":true,\"skip_missing\":true")));
	assert_int_equal(o->duration_ns, 500000000);
	assert_int_equal(o->nr_events, 2);
	assert_string_equal(o->events[1], "page-faults");
	assert_int_equal(o->frequency_hz, 997);
	assert_int_equal(o->target, SESSION_PID);
	assert_int_equal(o->nr_pids, 2);
	assert_int_equal(o->pids[1], 8);
	assert_string_equal(o->cpus, "0-1");
	assert_int_equal(o->call_graph, SESSION_CALL_GRAPH_DWARF);
	assert_int_equal(o->extra.max_stack, 7);
	assert_true(o->extra.kernel_callchains && o->extra.switch_events && o->extra.skip_missing);
	assert_true(!o->extra.user_callchains && !o->extra.all_user && !o->extra.no_inherit);
	assert_int_equal(o->stack_bytes, 4096);
	assert_int_equal(fake.captures[0].uid, 1000);
	assert_int_equal(fake.captures[0].out_fd, -1);

	o = &fake.captures[1].options;
	assert_true(is_good(call_member("Capture", "\"cgroup\":\"system.slice/a..b.service\"")));
	assert_int_equal(o->target, SESSION_CGROUP);
	assert_string_equal(o->cgroup, "system.slice/a..b.service");
	assert_int_equal(o->call_graph, SESSION_CALL_GRAPH_DEFAULT);
	assert_int_equal(o->duration_ns, 0); /* as long as it may */
	assert_null(o->events);

	o = &fake.captures[2].options;
	assert_true(is_good(call_member("Capture", "\"cgroups\":[\"a/b\",\"\",\"c.service\"]")));
	assert_int_equal(o->target, SESSION_CGROUP);
	assert_string_equal(o->cgroups, "a/b,,c.service");
	assert_null(o->cgroup);

	assert_true(is_good(call_member("Capture", "\"tids\":[9]")));
	assert_true(is_error(call_member("Capture", ""), "io.spoor.Recorder.LimitExceeded", NULL));
	assert_int_equal(fake.starts, 4);
}

static void
descriptors_are_taken_or_left(void **state)
{
	int file = open("/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	static const struct {
		const char *path;
		int flags;
	} bad[] = {
		{ "/dev/null", O_WRONLY },
		{ "/proc/self/exe", O_RDONLY },
		{ "/tmp", O_PATH },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		passed = open(bad[i].path, bad[i].flags | O_CLOEXEC);
		assert_true(passed >= 0);
		assert_true(is_invalid("Capture", "\"file_descriptor\":0", "file_descriptor"));
		assert_true(passed >= 0);
		close(passed);
	}
	assert_true(file >= 0);
	passed = file;
	/* One that is not named is not used. */
	assert_true(is_good(call_member("Capture", "\"duration_s\":1")));
	assert_int_equal(passed, file);
	assert_int_equal(fake.captures[0].out_fd, -1);
	assert_true(is_good(call_member("Capture", "\"file_descriptor\":0")));
	assert_int_equal(passed, -1);
	assert_int_equal(fake.captures[1].out_fd, file);
	/* The path is told only where there is one. */
	fake_end(2, NULL);
	assert_null(json_object_get(json_object_get(ended, "capture"), "file"));
	fake_end(1, NULL);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(ended, "capture"), "file")),
		"captures/fake.spoor");
}

static void
captures_end_as_they_should(void **state)
{
	/* Without a duration: with the client. */
	assert_true(is_good(call_member("Capture", "")));
	assert_true(is_good(call_member("Capture", "\"duration_s\":5")));
	capture_calls_leave(captures, &client);
	assert_true(fake.captures[0].stopped);
	assert_false(fake.captures[1].stopped);
	fake_end(1, NULL);
	assert_null(ended);

	/* By who asked, or root. */
	assert_true(is_error(call_as(METHODS_MEMBER, 1001,
				     "{\"method\":\"io.spoor.Recorder.StopCapture\","
				     "\"parameters\":{\"id\":2}}"),
			     VARLINK_PERMISSION_DENIED, NULL));
	assert_false(fake.captures[1].stopped);
	assert_true(is_good(call_root("StopCapture", "\"id\":2")));
	assert_true(fake.captures[1].stopped);
	fake_end(2, NULL);
	assert_true(is_error(call_root("StopCapture", "\"id\":2"),
			     "io.spoor.Recorder.NoSuchCapture", NULL));
	assert_true(is_invalid("StopCapture", "\"id\":-1", "id"));
	assert_true(is_invalid("StopCapture", "", "id"));

	/* One that failed says so; one that is still there at the end is forgotten. */
	assert_true(is_good(call_member("Capture", "")));
	fake_end(3, "no space");
	assert_string_equal(ended_error, "io.spoor.Recorder.Failed");
	assert_string_equal(json_string_value(json_object_get(ended, "message")), "no space");
	assert_true(is_good(call_member("Capture", "")));
	capture_calls_free(captures);
	assert_true(fake.captures[0].forgotten);
	captures = capture_calls_new(NULL, on_begun, on_ended, NULL);
}

static void
keeping_closes_the_segment_concerned(void **state)
{
	struct method_call call;

	assert_true(is_good(call_member("Keep", "\"from_s\":10,\"until_s\":20,\"label\":\"x-1\"")));
	assert_string_equal(fake.label, "x-1");
	assert_int_equal(fake.from_s, 10);
	assert_int_equal(fake.until_s, 20);
	assert_int_equal(fake.rotations, 0);
	fake.files = 2;
	fake.active_s = 100;
	assert_true(is_good(call_member("Keep", "\"from_s\":10,\"until_s\":99")));
	assert_int_equal(fake.rotations, 0);
	assert_true(is_good(call_member("Keep", "\"from_s\":10,\"until_s\":100")));
	assert_int_equal(fake.rotations, 1);
	fake.now_ns += UINT64_C(20000000000);
	call = call_member("Keep", "\"from_s\":10");
	assert_int_equal(fake.rotations, 2);
	assert_string_equal(json_string_value(json_object_get(call.parameters, "label")),
			    fake.label);
	assert_int_equal(strlen(fake.label), strlen("20260101T000000Z"));
	json_decref(call.parameters);

	/* The clock was set back an hour since: what is recorded now is not to come. */
	fake.now_ns += UINT64_C(20000000000);
	fake.active_s = (uint64_t)time(NULL) + 3600;
	assert_true(is_good(call_member("Keep", "\"from_s\":10")));
	assert_int_equal(fake.rotations, 3);
	assert_true(fake.until_s >= fake.active_s);

	assert_true(is_invalid("Keep", "", "from_s"));
	assert_true(is_invalid("Keep", "\"from_s\":2,\"until_s\":1", "until_s"));
	assert_true(is_invalid("Keep", "\"from_s\":1,\"label\":\"\"", "label"));
	assert_true(is_invalid("Keep", "\"from_s\":1,\"label\":\"..\"", "label"));
	assert_true(is_invalid("Keep", "\"from_s\":1,\"label\":\"a/b\"", "label"));
	assert_true(is_invalid("Keep", "\"from_s\":1,\"label\":\"\\u00e4\"", "label"));
	assert_int_equal(fake.keeps, 5);

	/* Copies are pinned in parts, and then it is answered. */
	fake.pin_steps = 3;
	assert_true(is_good(call_member("Keep", "\"from_s\":10,\"until_s\":20")));
	assert_int_equal(fake.keeps, 6);
	assert_int_equal(fake.pin_steps, 0);
	assert_int_equal(fake.pins_freed, 1);
}

static void
members_do_not_rotate_the_history_away(void **state)
{
	fake.now_ns = UINT64_C(100000000000);
	fake.files = 1;
	fake.active_s = 1;
	assert_true(is_good(call_member("Rotate", "")));
	assert_true(is_error(call_member("Rotate", ""), METHODS_INTERFACE ".Failed", NULL));
	assert_true(
		is_error(call_member("Keep", "\"from_s\":1"), METHODS_INTERFACE ".Failed", NULL));
	assert_int_equal(fake.rotations, 1);
	assert_int_equal(fake.keeps, 0);
	assert_true(is_good(call_root("Rotate", "")));
	fake.now_ns += UINT64_C(9999999999);
	assert_true(is_error(call_member("Rotate", ""), METHODS_INTERFACE ".Failed", NULL));
	fake.now_ns++;
	assert_true(is_good(call_member("Keep", "\"from_s\":1")));
	assert_true(is_error(call_member("Rotate", ""), METHODS_INTERFACE ".Failed", NULL));
	assert_int_equal(fake.rotations, 3);
	/* Another member's time is another. */
	assert_true(is_good(call_user(1001, "Keep", "\"from_s\":1")));
	assert_int_equal(fake.rotations, 4);
	/* But all of them together do not rotate without end. */
	for (uid_t uid = 2000; uid < 2000 + 2 * METHODS_ROTATIONS; uid++) {
		struct method_call call = call_user(uid, "Rotate", "");

		json_decref(call.parameters);
	}
	assert_int_equal(fake.rotations, 2 + METHODS_ROTATIONS);
}

/* A segment begins with the state of the host, which has the maps of everybody. */
static void
members_wait_for_the_state_of_their_segments(void **state)
{
	struct method_call call;
	json_t *message;

	fake.now_ns = UINT64_C(100000000000);
	fake.files = 1;
	fake.active_s = 1;
	fake.state_ns = UINT64_C(53000000000);
	assert_true(is_good(call_member("Rotate", "")));
	fake.now_ns += UINT64_C(52000000001);
	call = call_member("Keep", "\"from_s\":1");
	message = json_object_get(call.parameters, "message");
	assert_non_null(message);
	assert_non_null(strstr(json_string_value(message), "uid 1000"));
	assert_non_null(strstr(json_string_value(message), "again in 1 s"));
	assert_true(is_error(call, METHODS_INTERFACE ".Failed", NULL));
	/* Others, and root as often as it likes. */
	assert_true(is_good(call_user(1001, "Rotate", "")));
	assert_true(is_good(call_root("Rotate", "")));
	assert_true(is_good(call_root("Rotate", "")));
	/* What is to be paid for is what this one's last segment began with. */
	fake.now_ns += UINT64_C(999999999);
	fake.state_ns = UINT64_C(500000000);
	assert_true(is_good(call_member("Keep", "\"from_s\":1")));
	fake.now_ns += UINT64_C(9999999999);
	assert_true(is_error(call_member("Rotate", ""), METHODS_INTERFACE ".Failed", NULL));
	fake.now_ns++;
	assert_true(is_good(call_member("Rotate", "")));
	assert_int_equal(fake.rotations, 6);
}

static void
long_lists_come_in_parts(void **state)
{
	struct method_call call;
	size_t seen = 0;

	fake.files = 4500;
	for (int i = 0; i < 3; i++) {
		char skip[32];

		snprintf(skip, sizeof(skip), "\"skip\":%zu", seen);
		call = call_member("List", skip);
		assert_int_equal(json_integer_value(json_object_get(call.parameters, "total")),
				 4500);
		seen += json_array_size(json_object_get(call.parameters, "files"));
		json_decref(call.parameters);
	}
	assert_int_equal(seen, 4500);
	call = call_member("List", "\"skip\":9223372036854775807");
	assert_int_equal(json_array_size(json_object_get(call.parameters, "files")), 0);
	json_decref(call.parameters);
}

static void
vacuum_needs_a_limit(void **state)
{
	assert_true(is_invalid("Vacuum", "", NULL));
	assert_true(is_invalid("Vacuum", "\"max_use_bytes\":0", "max_use_bytes"));
	assert_true(is_invalid("Vacuum", "\"max_age_s\":-1", "max_age_s"));
	assert_true(is_good(call_root("Vacuum", "\"max_age_s\":60,\"max_segments\":5")));
	assert_int_equal(fake.max_use, 0);
	assert_int_equal(fake.max_age_s, 60);
	assert_int_equal(fake.max_segments, 5);
}

static void
failures_are_told(void **state)
{
	static const char *const calls[][2] = {
		{ "Sync", "" },
		{ "Rotate", "" },
		{ "Keep", "\"from_s\":1" },
		{ "Vacuum", "\"max_use_bytes\":1" },
		{ "List", "" },
		{ "Capture", "" },
	};

	fake.error = -ENOSPC;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct method_call call = call_root(calls[i][0], calls[i][1]);
		const json_t *number = json_object_get(call.parameters, "errno");

		assert_int_equal(json_integer_value(number), ENOSPC);
		assert_true(*json_string_value(json_object_get(call.parameters, "message")));
		assert_true(is_error(call, "io.spoor.Recorder.Failed", NULL));
	}
}

/* Each allocation in turn: the whole answer, or the error. */
static void
answers_are_whole_or_none(void **state)
{
	static const char *const methods[] = { "ListCaptures", "List", "GetStatus" };

	fake.files = 3;
	assert_true(is_good(call_root("Capture", "\"duration_s\":5")));
	assert_true(is_good(call_root("Capture", "\"duration_s\":6")));
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		json_t *whole = call_root(methods[i], "").parameters;

		for (starved.at = 1, starved.nr = UINT_MAX; starved.at <= starved.nr;
		     starved.at++) {
			struct method_call call;

			starved.nr = 0;
			call = call_root(methods[i], "");
			if (!call.error && !json_equal(call.parameters, whole))
				fail_msg("%s: allocation %u of %u: something is left out",
					 methods[i], starved.at, starved.nr);
			if (call.error)
				assert_true(is_error(call, METHODS_INTERFACE ".Failed", NULL));
			else
				json_decref(call.parameters);
		}
		starved.at = 0;
		json_decref(whole);
	}
}

static void
the_end_of_a_capture_is_told_without_memory(void **state)
{
	bool failed = true;

	for (unsigned int at = 1; failed; at++) {
		assert_true(is_good(call_root("Capture", "\"duration_s\":5")));
		starved.at = at;
		starved.nr = 0;
		starved.runs = true;
		fake_end(at, NULL);
		starved.runs = false;
		starved.at = 0;
		failed = at <= starved.nr;
		/* No reply says that it ended well and lacks what it recorded. */
		if (ended_error[0])
			assert_string_equal(ended_error, METHODS_INTERFACE ".Failed");
		else
			check_result(behind("type", "CaptureState"),
				     json_object_get(ended, "capture"));
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(table_is_as_described),
		TEST(results_are_as_described),
		TEST(rights_are_graded),
		TEST(a_stranger_learns_what_there_is),
		TEST(unknown_methods_are_told_so),
		TEST(captures_check_what_they_are_asked),
		TEST(captures_take_long_events),
		TEST(captures_are_passed_on),
		TEST(descriptors_are_taken_or_left),
		TEST(captures_end_as_they_should),
		TEST(keeping_closes_the_segment_concerned),
		TEST(members_do_not_rotate_the_history_away),
		TEST(members_wait_between_dumps),
		TEST(members_wait_for_the_state_of_their_segments),
		TEST(long_lists_come_in_parts),
		TEST(vacuum_needs_a_limit),
		TEST(failures_are_told),
		TEST(answers_are_whole_or_none),
		TEST(the_end_of_a_capture_is_told_without_memory),
	};

	json_set_alloc_funcs(starved_malloc, free);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
