/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoorctl capture: asks for a recording, shows how it goes, and ends it when told to. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bsd/stdlib.h>
#include <bsd/string.h>

#include "daemon/config/config_value.h"
#include "daemon/control/capture_limits.h"
#include "daemon/ctl/ctl_command.h"
#include "daemon/ctl/ctl_option.h"
#include "daemon/ctl/ctl_output.h"
#include "daemon/ctl/ctl_print.h"
#include "format/bytes/option_wrong.h"
#include "recorder/host/cgroup.h"
#include "recorder/host/cgroup_unit.h"

enum {
	OPT_DURATION = 0x100,
	OPT_CALL_GRAPH,
	OPT_MAX_STACK,
	OPT_UNIT,
	OPT_SLICE,
	OPT_PACK,
	OPT_KNOB
};

/* Options that are on or not: parameter of the call, option. */
#define CAPTURE_KNOBS(X)                                                                           \
	X(user_callchains, "user-callchains")                                                      \
	X(kernel_callchains, "kernel-callchains")                                                  \
	X(all_user, "all-user")                                                                    \
	X(all_kernel, "all-kernel")                                                                \
	X(no_inherit, "no-inherit")                                                                \
	X(switch_events, "switch-events")                                                          \
	X(skip_missing, "skip-missing")

enum {
#define X(key, option) KNOB_##key,
	CAPTURE_KNOBS(X)
#undef X
		KNOBS
};

static const char *const knobs[] = {
#define X(key, option) #key,
	CAPTURE_KNOBS(X)
#undef X
};

static volatile sig_atomic_t interrupted;

static void
on_signal(int sig)
{
	(void)sig;
	interrupted++;
}

/* --- what is asked for ------------------------------------------------------------------- */

/* -1, or what to exit with. */
static int
ctl_capture_append(json_t *parameters, const char *key, json_t *value, const char *command)
{
	json_t *array = json_object_get(parameters, key);

	if (!array) {
		array = json_array();
		if (json_object_set_new(parameters, key, array) < 0) {
			json_decref(value);
			return ctl_option_no_memory(command);
		}
	}
	return json_array_append_new(array, value) < 0 ? ctl_option_no_memory(command) : -1;
}

static int
add_tasks(json_t *parameters, const char *key, const char *command)
{
	char *copy = strdup(optarg), *rest = copy, *one, words[OPTION_WRONG_BYTES];
	const char *problem = NULL;
	int r = copy ? -1 : ctl_option_no_memory(command);

	while (r < 0 && (one = strsep(&rest, ","))) {
		long long n = strtonum(one, 1, INT32_MAX, &problem);

		if (problem) {
			option_wrong_task_text(one, *key, words, sizeof(words));
			r = ctl_option_wrong(command, "%s", words);
		} else {
			r = ctl_capture_append(parameters, key, json_integer(n), command);
		}
	}
	free(copy);
	return r;
}

static int
set_number(json_t *parameters, const char *key, const char *command)
{
	const char *problem;
	long long n = strtonum(optarg, 1, INT64_MAX, &problem);

	if (problem)
		return ctl_option_wrong(command, "%s: a number of one or more", optarg);
	return ctl_option_set(parameters, key, json_integer(n), command);
}

static int
set_duration(json_t *parameters, const char *command)
{
	uint64_t ns;

	if (config_time_parse(optarg, &ns) < 0 || ns == 0)
		return ctl_option_wrong(command, "--duration %s: a time such as 500ms, 30s or 5m",
					optarg);
	return ctl_option_set(parameters, "duration_s", json_real((double)ns / 1e9), command);
}

/* -1, or what to exit with. */
static int
set_text(json_t *parameters, const char *key, const char *s, const char *command)
{
	json_t *value;

	errno = 0;
	value = json_string(s);
	if (!value && errno == ENOMEM)
		return ctl_option_no_memory(command);
	if (!value)
		return ctl_option_wrong(command, "%s: not UTF-8", optarg);
	if (strcmp(key, "events") == 0 || strcmp(key, "cgroups") == 0)
		return ctl_capture_append(parameters, key, value, command);
	return ctl_option_set(parameters, key, value, command);
}

static int
add_events(json_t *parameters, const char *command)
{
	if (!*optarg)
		return ctl_option_wrong(command, "-e: an event is missing");
	if (strlen(optarg) >= CAPTURE_EVENT_BYTES)
		return ctl_option_wrong(command,
					"-e %.40s...: %zu bytes, and spoord takes %d at most: give "
					"the events by several -e",
					optarg, strlen(optarg), CAPTURE_EVENT_BYTES - 1);
	if (json_array_size(json_object_get(parameters, "events")) == CAPTURE_EVENTS_MAX)
		return ctl_option_wrong(command,
					"-e %.40s: spoord takes %d -e at most: one may have "
					"several events, with commas between them",
					optarg, CAPTURE_EVENTS_MAX);
	return set_text(parameters, "events", optarg, command);
}

/* The daemon takes what is below the root of the hierarchy; spoor record, directories as well. */
static const char *
below_root(const char *s)
{
	char root[4096];
	size_t len;

	if (cgroup_root(NULL, root, sizeof(root)) == 0) {
		len = strlen(root);
		if (strncmp(s, root, len) == 0 && (s[len] == '/' || !s[len]))
			s += len;
	}
	while (*s == '/')
		s++;
	return s;
}

/* A list has one for each event, as spoor record has it; an empty name, or the root, is everything. */
static int
add_cgroups(json_t *parameters, const char *command)
{
	char *copy = strdup(optarg), *rest = copy, *one;
	int r = copy ? -1 : ctl_option_no_memory(command);

	while (r < 0 && (one = strsep(&rest, ",")))
		r = set_text(parameters, "cgroups", below_root(one), command);
	free(copy);
	if (r < 0 && json_array_size(json_object_get(parameters, "cgroups")) > CAPTURE_CGROUPS_MAX)
		r = ctl_option_wrong(command, "-G %.40s...: spoord takes %d control groups at most",
				     optarg, CAPTURE_CGROUPS_MAX);
	return r;
}

/* unit: the path of that of --unit or --slice, or NULL. */
static int
set_cgroup(json_t *parameters, const char *unit, const char *command)
{
	const char *s = below_root(unit ? unit : optarg);

	if (json_object_get(parameters, "cgroup") || json_object_get(parameters, "cgroups"))
		return ctl_option_wrong(
			command, "a second control group: a list (-G A,B) has one for each event");
	if (!unit && strchr(optarg, ','))
		return add_cgroups(parameters, command);
	if (!*s)
		return ctl_option_wrong(command, "%s: the root group is everything: leave it out",
					optarg);
	return set_text(parameters, "cgroup", s, command);
}

/* spoord takes paths of control groups: the name of a unit is looked up here. */
static int
set_unit(json_t *parameters, const char *type, const char *command)
{
	const char *option = strcmp(type, ".slice") == 0 ? "--slice" : "--unit";
	char words[CGROUP_UNIT_WORDS], path[4096];
	int r = cgroup_unit_find(NULL, optarg, type, path, sizeof(path), words);

	if (r == -EINVAL)
		return ctl_option_wrong(command, "%s: %s", option, words);
	if (*words)
		fprintf(stderr, "spoorctl %s: %s: %s\n", command, option, words);
	return r < 0 ? CTL_FAILED : set_cgroup(parameters, path, command);
}

static int
set_knob(json_t *parameters, int knob, const char *command)
{
	return ctl_option_set(parameters, knobs[knob], json_true(), command);
}

struct capture {
	json_t *parameters;
	const char *output; /* NULL: into the archive */
	bool pack;	    /* what names it shall be inside of it */
	const char *group;  /* one control group, given with -G behind an event; or NULL */
};

static int
wrong_order(const struct capture *w, const char *command)
{
	char words[OPTION_WRONG_BYTES];

	option_wrong_order_text(optarg, w->group, words, sizeof(words));
	return ctl_option_wrong(command, "%s", words);
}

static int
set_option(struct ctl_client *c, struct capture *w, const char *command, int option)
{
	if (option >= OPT_KNOB && option < OPT_KNOB + KNOBS)
		return set_knob(w->parameters, option - OPT_KNOB, command);
	switch (option) {
	case 'i':
		return set_knob(w->parameters, KNOB_no_inherit, command);
	case OPT_MAX_STACK:
		return set_number(w->parameters, "max_stack", command);
	case 'F':
		return set_number(w->parameters, "frequency_hz", command);
	case 'c':
		return set_number(w->parameters, "period", command);
	case 'e':
		return w->group ? wrong_order(w, command) : add_events(w->parameters, command);
	case 'p':
		return add_tasks(w->parameters, "pids", command);
	case 't':
		return add_tasks(w->parameters, "tids", command);
	case 'G':
		if (json_object_get(w->parameters, "events") && !strchr(optarg, ','))
			w->group = optarg;
		return set_cgroup(w->parameters, NULL, command);
	case OPT_UNIT:
		return set_unit(w->parameters, ".service", command);
	case OPT_SLICE:
		return set_unit(w->parameters, ".slice", command);
	case 'C':
		return set_text(w->parameters, "cpus", optarg, command);
	case OPT_CALL_GRAPH:
		return set_text(w->parameters, "call_graph", optarg, command);
	case OPT_DURATION:
		return set_duration(w->parameters, command);
	case OPT_PACK:
		w->pack = true;
		return -1;
	case 'o':
		w->output = optarg;
		return -1;
	}
	return ctl_option_take(c, command, option);
}

static int
read_options(struct ctl_client *c, struct capture *w, int argc, char **argv)
{
	static const struct option options[] = {
		{ "frequency", required_argument, NULL, 'F' },
		{ "period", required_argument, NULL, 'c' },
		{ "event", required_argument, NULL, 'e' },
		{ "pid", required_argument, NULL, 'p' },
		{ "tid", required_argument, NULL, 't' },
		{ "cgroup", required_argument, NULL, 'G' },
		{ "unit", required_argument, NULL, OPT_UNIT },
		{ "slice", required_argument, NULL, OPT_SLICE },
		{ "cpu", required_argument, NULL, 'C' },
		{ "call-graph", required_argument, NULL, OPT_CALL_GRAPH },
		{ "max-stack", required_argument, NULL, OPT_MAX_STACK },
#define X(key, option) { option, no_argument, NULL, OPT_KNOB + KNOB_##key },
		CAPTURE_KNOBS(X)
#undef X
			{ "duration", required_argument, NULL, OPT_DURATION },
		{ "output", required_argument, NULL, 'o' },
		{ "pack", no_argument, NULL, OPT_PACK },
		CTL_OPTIONS
	};
	int o, r, targets;

	while ((o = ctl_option_next(argc, argv, ":hF:c:e:p:t:G:C:o:i", options)) != -1)
		if ((r = set_option(c, w, argv[0], o)) >= 0)
			return r;
	if (optind != argc)
		return ctl_option_wrong(argv[0], "%s: not an option", argv[optind]);
	targets = !!json_object_get(w->parameters, "pids") +
		!!json_object_get(w->parameters, "tids") +
		!!json_object_get(w->parameters, "cgroup") +
		!!json_object_get(w->parameters, "cgroups");
	if (targets > 1)
		return ctl_option_wrong(
			argv[0], "--pid, --tid and --cgroup (--unit, --slice) exclude each other");
	if (json_object_get(w->parameters, "frequency_hz") &&
	    json_object_get(w->parameters, "period"))
		return ctl_option_wrong(argv[0], "--frequency and --period exclude each other");
	if (w->pack && (!w->output || strcmp(w->output, "-") == 0))
		return ctl_option_wrong(argv[0],
					"--pack is for a file with a name: give one by -o");
	return -1;
}

/* --- while it runs ----------------------------------------------------------------------- */

static void
print_progress(const json_t *capture, bool last)
{
	bool terminal = isatty(STDERR_FILENO);
	double elapsed_s = json_number_value(json_object_get(capture, "elapsed_s"));
	double duration_s = json_number_value(json_object_get(capture, "duration_s"));
	char size[CTL_PRINT_BYTES];
	json_t *lost, *n;
	const char *key;

	fprintf(stderr, "%s%.*f s", terminal ? "\r" : "", last ? 1 : 0, elapsed_s);
	if (!last)
		fprintf(stderr, " of %.0f s", duration_s);
	fprintf(stderr, ", %lld samples, %s",
		(long long)json_integer_value(json_object_get(capture, "samples")),
		ctl_print_size(size, json_integer_value(json_object_get(capture, "bytes"))));
	lost = json_object_get(capture, "lost");
	json_object_foreach(lost, key, n)
	{
		if (json_integer_value(n) == 0)
			continue;
		fprintf(stderr, ", lost: ");
		ctl_print_loss(stderr, key, json_integer_value(n));
	}
	/* What was there was longer, or the terminal's echo of ^C. */
	fprintf(stderr, "%s%s", terminal ? "\033[K" : "", last ? "\n" : "");
}

static void
clear_progress(bool shown)
{
	if (shown)
		fputs("\r\033[K", stderr);
}

/* The connection of the capture is busy with it, so this takes another one. */
static void
stop(const struct ctl_client *c, int64_t id)
{
	struct varlink_reply reply;
	struct ctl_client other;

	ctl_client_init(&other, c->path);
	if (ctl_client_call(&other, "StopCapture", json_pack("{sI}", "id", (json_int_t)id),
			    &reply) == CTL_DONE)
		json_decref(reply.message);
	ctl_client_done(&other);
}

/* What was asked for and is not had. */
static void
print_notes(const json_t *capture)
{
	const json_t *notes = json_object_get(capture, "notes"), *one;
	size_t i;

	json_array_foreach(notes, i, one)
	{
		fputs("spoorctl: ", stderr);
		ctl_print_text(stderr, json_string_value(one) ? json_string_value(one) : "");
		fputc('\n', stderr);
	}
}

/* Until the last reply, which is returned. The first ^C ends the capture, the second one us. */
static int
ctl_capture_follow(struct ctl_client *c, struct varlink_reply *ret, bool *ret_started)
{
	bool terminal = isatty(STDERR_FILENO) && !c->json, stopped = false, shown = false;
	const json_t *capture;
	int64_t id = -1;
	int r;

	for (;;) {
		if (interrupted > 1) {
			clear_progress(shown);
			return CTL_FAILED;
		}
		if (interrupted && !stopped && id >= 0) {
			stop(c, id);
			stopped = true;
		}
		r = ctl_client_receive(c, ret);
		if (r == -EINTR)
			continue;
		if (r != CTL_DONE) {
			clear_progress(shown);
			return r;
		}
		capture = json_object_get(ret->parameters, "capture");
		if (c->json)
			ctl_client_print_json(ret->parameters);
		else if (!*ret_started)
			print_notes(capture);
		*ret_started = true;
		if (!ret->continues)
			return CTL_DONE;
		id = json_integer_value(json_object_get(capture, "id"));
		if (terminal)
			print_progress(capture, false);
		shown = terminal;
		json_decref(ret->message);
	}
}

static void
catch_signals(void)
{
	static const int stopping[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction act = { .sa_handler = on_signal };

	for (size_t i = 0; i < sizeof(stopping) / sizeof(stopping[0]); i++)
		sigaction(stopping[i], &act, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void
print_end(const struct ctl_client *c, const struct capture *w, const json_t *parameters)
{
	const json_t *capture = json_object_get(parameters, "capture");
	const char *file = json_string_value(json_object_get(capture, "file"));

	if (c->json)
		return;
	print_progress(capture, true);
	if (!w->output && file) {
		ctl_print_text(stdout, file);
		putchar('\n');
	}
}

/* spoor beside this program, or else where PATH has it: it reads ELF files, and no program here does. */
static void
exec_pack(const char *output, bool quiet)
{
	const char *last = quiet ? "-q" : NULL;
	char path[PATH_MAX + sizeof("/spoor")];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);
	char *slash;

	if (n > 0) {
		path[n] = '\0';
		slash = strrchr(path, '/');
		if (slash) {
			memcpy(slash, "/spoor", sizeof("/spoor"));
			(void)execl(path, "spoor", "pack", "-i", output, last, (char *)NULL);
		}
	}
	(void)execlp("spoor", "spoor", "pack", "-i", output, last, (char *)NULL);
	fprintf(stderr, "spoorctl: spoor, which packs, cannot be run: %s\n", strerror(errno));
	_exit(CTL_FAILED);
}

/* What names the capture goes into it, by this user, who may read what he may read. */
static int
capture_pack(const struct ctl_client *c, const char *output)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		exec_pack(output, c->json);
	}
	if (pid < 0) {
		fprintf(stderr, "spoorctl: fork: %s\n", strerror(errno));
		return CTL_FAILED;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return CTL_FAILED;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? CTL_DONE : CTL_FAILED;
}

static int
capture(struct ctl_client *c, struct capture *w, const char *command)
{
	struct ctl_output output = { .fd = -1 };
	struct varlink_reply reply;
	bool started = false;
	int r;

	if (w->output) {
		r = ctl_option_set(w->parameters, "file_descriptor", json_integer(0), command);
		if (r < 0)
			r = ctl_output_open(&output, w->output);
		if (r != CTL_DONE)
			return r;
	}
	catch_signals();
	r = ctl_client_send(c, "Capture", json_incref(w->parameters), true, output.fd);
	if (r == CTL_DONE)
		r = ctl_capture_follow(c, &reply, &started);
	if (r == CTL_DONE) {
		print_end(c, w, reply.parameters);
		json_decref(reply.message);
	}
	if (w->output && ctl_output_close(&output, started) != CTL_DONE)
		r = CTL_FAILED;
	if (w->pack && started && r == CTL_DONE)
		r = capture_pack(c, w->output);
	return r;
}

int
ctl_command_capture(struct ctl_client *c, int argc, char **argv)
{
	struct capture w = { .parameters = json_object() };
	int r = w.parameters ? read_options(c, &w, argc, argv) : ctl_option_no_memory(argv[0]);

	if (r < 0)
		r = capture(c, &w, argv[0]);
	json_decref(w.parameters);
	return r;
}
