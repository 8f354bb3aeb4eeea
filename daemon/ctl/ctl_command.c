/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/ctl/ctl_command.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bsd/stdlib.h>

#include "daemon/config/config_value.h"
#include "daemon/ctl/ctl_cpu_use.h"
#include "daemon/ctl/ctl_option.h"
#include "daemon/ctl/ctl_print.h"
#include "format/block/unwind_text.h"
#include "format/bytes/time_text.h"

#define MONITOR_HEAD_LINES 20

enum { OPT_SINCE = 0x100, OPT_UNTIL, OPT_MAX_USE, OPT_MAX_AGE, OPT_MAX_SEGMENTS };

static long long
ctl_command_number(const json_t *reply, const char *key)
{
	return json_integer_value(json_object_get(reply, key));
}

static const char *
text(const json_t *reply, const char *key)
{
	const char *s = json_string_value(json_object_get(reply, key));

	return s ? s : "";
}

/* A method without parameters, and its reply for people; print NULL: nothing to say. */
static int
simple(struct ctl_client *c, int argc, char **argv, const char *method,
       void (*print)(const json_t *reply))
{
	struct varlink_reply reply;
	int r = ctl_option_arguments(c, argc, argv, 0);

	if (r >= 0)
		return r;
	r = ctl_client_call(c, method, NULL, &reply);
	if (r != CTL_DONE)
		return r;
	if (print && !c->json)
		print(reply.parameters);
	json_decref(reply.message);
	return CTL_DONE;
}

/* --- status ------------------------------------------------------------------------------ */

/* Behind a word of which there are so many. */
static const char *
plural(const json_t *j, const char *key)
{
	return ctl_command_number(j, key) == 1 ? "" : "s";
}

static void
print_lost(const json_t *status)
{
	json_t *lost = json_object_get(status, "lost"), *n;
	bool any = false;
	const char *key;

	printf("lost        %lld sample%s", ctl_command_number(status, "lost_samples"),
	       plural(status, "lost_samples"));
	json_object_foreach(lost, key, n)
	{
		if (json_integer_value(n) == 0)
			continue;
		printf("%s", any ? ", " : " (");
		ctl_print_loss(stdout, key, json_integer_value(n));
		any = true;
	}
	puts(any ? ")" : "");
	if (ctl_command_number(status, "lost_files") == 0)
		return;
	printf("            ");
	ctl_print_text(stdout, text(status, "lost_file"));
	if (ctl_command_number(status, "lost_files") > 1)
		printf(" (and %lld before)", ctl_command_number(status, "lost_files") - 1);
	puts("");
}

/* Whose side-band was left out, if anybody's. */
static void
print_over(const json_t *status)
{
	json_t *over = json_object_get(status, "sideband_over"), *n;
	bool any = false;
	const char *uid;

	json_object_foreach(over, uid, n)
	{
		printf("%s", any ? ", " : "side-band   left out for sideband_share: ");
		printf("%lld record%s of ", (long long)json_integer_value(n),
		       json_integer_value(n) == 1 ? "" : "s");
		if (*uid)
			printf("user ");
		ctl_print_text(stdout, *uid ? uid : "users not known");
		any = true;
	}
	if (any)
		puts("");
}

/* What became of copied stacks, if any were. */
static void
print_stacks(const json_t *status)
{
	json_t *stacks = json_object_get(status, "stacks");
	struct unwind_stops stops = {
		.cut_bytes = (uint32_t)ctl_command_number(status, "stack_cut_bytes"),
	};
	char line[UNWIND_TEXT_MAX], bytes[CTL_PRINT_BYTES];

	for (enum unwind_stop i = 0; i < UNWIND_STOPS_NR; i++)
		stops.stacks[i] = (uint64_t)ctl_command_number(stacks, unwind_stop_key(i));
	if (unwind_text(&stops, line))
		printf("stacks      %s\n", line);
	if (ctl_command_number(status, "stack_bytes") > 0)
		printf("%s %s of each stack are copied now\n",
		       unwind_stops_all(&stops) ? "           " : "stacks     ",
		       ctl_print_size(bytes, ctl_command_number(status, "stack_bytes")));
}

static void
print_archive(const json_t *status)
{
	char use[CTL_PRINT_BYTES], most[CTL_PRINT_BYTES], space[CTL_PRINT_BYTES];

	printf("archive     ");
	ctl_print_text(stdout, text(status, "archive_directory"));
	printf(": %s of %s, %s free on the file system\n",
	       ctl_print_size(use, ctl_command_number(status, "archive_bytes")),
	       ctl_print_size(most, ctl_command_number(status, "archive_max_use_bytes")),
	       ctl_print_size(space, ctl_command_number(status, "archive_free_bytes")));
	if (ctl_command_number(status, "objects_bytes") > 0)
		printf("            %s of it copies of mapped files\n",
		       ctl_print_size(use, ctl_command_number(status, "objects_bytes")));
	printf("            %lld segment%s, %lld kept, %lld capture%s, %lld damaged (*.spoor~); "
	       "%lld segment%s deleted (%s) since it started\n",
	       ctl_command_number(status, "segments"), plural(status, "segments"),
	       ctl_command_number(status, "kept_files"),
	       ctl_command_number(status, "capture_files"), plural(status, "capture_files"),
	       ctl_command_number(status, "quarantined_files"),
	       ctl_command_number(status, "deleted_segments"), plural(status, "deleted_segments"),
	       ctl_print_size(use, ctl_command_number(status, "deleted_bytes")));
}

static void
print_warnings(const json_t *status)
{
	const json_t *warnings = json_object_get(status, "warnings"), *one;
	size_t i;

	json_array_foreach(warnings, i, one)
	{
		fputs(i ? "            " : "warnings    ", stdout);
		ctl_print_text(stdout, json_string_value(one));
		puts("");
	}
}

static void
print_status(const json_t *status)
{
	char a[CTL_PRINT_BYTES], b[CTL_PRINT_BYTES];
	long long hz = ctl_command_number(status, "frequency_hz"),
		  wanted = ctl_command_number(status, "wanted_frequency_hz");

	printf("spoord      ");
	ctl_print_text(stdout, text(status, "version"));
	printf(", for %s\n", ctl_print_duration(a, ctl_command_number(status, "uptime_s")));
	printf("sampling    %lld Hz on %lld CPU%s", hz, ctl_command_number(status, "cpus_online"),
	       plural(status, "cpus_online"));
	if (hz && hz != wanted) {
		printf(", not %lld Hz: ", wanted);
		ctl_print_text(stdout,
			       *text(status, "governor") ? text(status, "governor")
							 : "kernel.perf_event_max_sample_rate");
	}
	puts("");
	if (json_is_true(json_object_get(status, "suspended")))
		puts("SUSPENDED   nothing can be written: is the disk full?");
	printf("samples     %lld in %lld records, throttled %lld times\n",
	       ctl_command_number(status, "samples"), ctl_command_number(status, "records"),
	       ctl_command_number(status, "throttled"));
	print_lost(status);
	print_over(status);
	print_stacks(status);
	printf("cost        %.3f %% of a CPU, %s of memory, %s/s to disk\n",
	       json_number_value(json_object_get(status, "cpu_percent")),
	       ctl_print_size(a, ctl_command_number(status, "rss_bytes")),
	       ctl_print_size(b, ctl_command_number(status, "written_bytes_per_s")));
	ctl_cpu_use_print(json_object_get(status, "cpu_use"));
	print_archive(status);
	printf("captures    %lld running\n", ctl_command_number(status, "captures"));
	if (*text(status, "flight_recorder") &&
	    strcmp(text(status, "flight_recorder"), "none") != 0) {
		printf("flight rec. ");
		ctl_print_text(stdout, text(status, "flight_recorder"));
		if (ctl_command_number(status, "flight_recorder_bytes") > 0)
			printf(" Hz, in %s of memory\n",
			       ctl_print_size(a,
					      ctl_command_number(status, "flight_recorder_bytes")));
		else
			puts(" Hz: NOT RECORDING");
	}
	print_warnings(status);
}

int
ctl_command_status(struct ctl_client *c, int argc, char **argv)
{
	return simple(c, argc, argv, "GetStatus", print_status);
}

/* --- monitor ----------------------------------------------------------------------------- */

struct monitor {
	long long interval_s, before; /* samples; -1: not known yet */
	unsigned int line;
};

static void
print_row(struct monitor *m, const json_t *status)
{
	char rss[CTL_PRINT_BYTES], bytes[CTL_PRINT_BYTES];
	long long samples = ctl_command_number(status, "samples");

	if (m->line++ % MONITOR_HEAD_LINES == 0)
		printf("%10s %10s %10s %6s %6s %8s %10s %10s\n", "SAMPLES/S", "SAMPLES", "LOST",
		       "HZ", "CPUS", "CPU %", "MEMORY", "ARCHIVE");
	if (m->before < 0)
		printf("%10s", "-");
	else
		printf("%10lld", (samples - m->before) / m->interval_s);
	printf(" %10lld %10lld %6lld %6lld %8.3f %10s %10s\n", samples,
	       ctl_command_number(status, "lost_samples"),
	       ctl_command_number(status, "frequency_hz"),
	       ctl_command_number(status, "cpus_online"),
	       json_number_value(json_object_get(status, "cpu_percent")),
	       ctl_print_size(rss, ctl_command_number(status, "rss_bytes")),
	       ctl_print_size(bytes, ctl_command_number(status, "archive_bytes")));
	(void)fflush(stdout);
	m->before = samples;
}

int
ctl_command_monitor(struct ctl_client *c, int argc, char **argv)
{
	static const struct option options[] = { { "interval", required_argument, NULL, 'n' },
						 CTL_OPTIONS };
	struct varlink_reply reply;
	struct monitor m = { .interval_s = 1, .before = -1 };
	const char *problem;
	int o, r;

	while ((o = ctl_option_next(argc, argv, ":hn:", options)) != -1) {
		r = -1;
		if (o != 'n') {
			r = ctl_option_take(c, argv[0], o);
		} else {
			m.interval_s = strtonum(optarg, 1, 3600, &problem);
			if (problem)
				r = ctl_option_wrong(argv[0], "-n %s: seconds, 1 to 3600", optarg);
		}
		if (r >= 0)
			return r;
	}
	if (optind != argc)
		return ctl_option_wrong(argv[0], "takes no arguments");
	r = ctl_client_send(c, "Monitor", json_pack("{sI}", "interval_s", (json_int_t)m.interval_s),
			    true, -1);
	while (r == CTL_DONE && (r = ctl_client_receive(c, &reply)) == CTL_DONE) {
		if (c->json)
			ctl_client_print_json(reply.parameters);
		else
			print_row(&m, reply.parameters);
		json_decref(reply.message);
		if (ferror(stdout))
			return CTL_FAILED;
	}
	return r < 0 ? CTL_FAILED : r;
}

/* --- list -------------------------------------------------------------------------------- */

static void
print_file(const json_t *file)
{
	char size[CTL_PRINT_BYTES], from[CTL_PRINT_BYTES], until[CTL_PRINT_BYTES];

	printf("%-20s %-20s %10s %-12s ", ctl_print_time(from, ctl_command_number(file, "start_s")),
	       ctl_print_time(until, ctl_command_number(file, "end_s")),
	       ctl_print_size(size, ctl_command_number(file, "bytes")), text(file, "kind"));
	ctl_print_text(stdout, text(file, "name"));
	putchar('\n');
}

int
ctl_command_list(struct ctl_client *c, int argc, char **argv)
{
	json_int_t seen = 0, total;
	struct varlink_reply reply;
	size_t i, n;
	json_t *file, *files;
	int r = ctl_option_arguments(c, argc, argv, 0);

	if (r >= 0)
		return r;
	do {
		r = ctl_client_call(c, "List", json_pack("{sI}", "skip", seen), &reply);
		if (r != CTL_DONE)
			return r;
		files = json_object_get(reply.parameters, "files");
		total = ctl_command_number(reply.parameters, "total");
		n = json_array_size(files);
		if (!c->json && seen == 0)
			printf("%-20s %-20s %10s %-12s %s\n", "FROM", "UNTIL", "SIZE", "KIND",
			       "NAME");
		if (!c->json)
			json_array_foreach(files, i, file) print_file(file);
		seen += (json_int_t)n;
		json_decref(reply.message);
	} while (n > 0 && seen < total);
	return CTL_DONE;
}

/* --- keep -------------------------------------------------------------------------------- */

struct keep {
	int64_t now_s, from_s, until_s; /* -1: not given */
	const char *label;
};

static int
keep_option(struct ctl_client *c, struct keep *k, const char *command, int option)
{
	int64_t ns;

	switch (option) {
	case OPT_SINCE:
	case OPT_UNTIL:
		if (time_text_instant(optarg, k->now_s * SECOND_NS, getenv("TZ"), &ns) < 0)
			return ctl_option_wrong(command,
						"%s: a time such as 03:12, 10m, today or "
						"\"2026-11-21 03:12:00\"",
						optarg);
		*(option == OPT_SINCE ? &k->from_s : &k->until_s) = ns / SECOND_NS;
		return -1;
	case 'l':
		if (!config_label_good(optarg))
			return ctl_option_wrong(command, "%s: " LABEL_RULE, optarg);
		k->label = optarg;
		return -1;
	}
	return ctl_option_take(c, command, option);
}

static int
keep_settle(struct keep *k, int argc, char **argv)
{
	uint64_t ns;

	if (optind + 1 == argc && k->from_s < 0 && k->until_s < 0) {
		if (config_time_parse(argv[optind], &ns) < 0 || ns < SECOND_NS)
			return ctl_option_wrong(argv[0], "%s: a time such as 90s, 10m or 2h",
						argv[optind]);
		/* More than there is: all of it. */
		k->from_s = k->now_s - (int64_t)(ns / SECOND_NS);
		if (k->from_s < 0)
			k->from_s = 0;
	} else if (optind != argc) {
		return ctl_option_wrong(argv[0], "either a duration, or --since and --until");
	}
	if (k->from_s < 0)
		return ctl_option_wrong(argv[0], "how much? such as: spoorctl keep 10m");
	if (k->until_s >= 0 && k->until_s < k->from_s)
		return ctl_option_wrong(argv[0], "--until is before --since");
	return -1;
}

int
ctl_command_keep(struct ctl_client *c, int argc, char **argv)
{
	static const struct option options[] = { { "since", required_argument, NULL, OPT_SINCE },
						 { "until", required_argument, NULL, OPT_UNTIL },
						 { "label", required_argument, NULL, 'l' },
						 CTL_OPTIONS };
	struct keep k = { .now_s = time(NULL), .from_s = -1, .until_s = -1 };
	struct varlink_reply reply;
	json_t *parameters;
	long long files;
	int o, r;

	while ((o = ctl_option_next(argc, argv, ":hl:", options)) != -1)
		if ((r = keep_option(c, &k, argv[0], o)) >= 0)
			return r;
	r = keep_settle(&k, argc, argv);
	if (r >= 0)
		return r;
	parameters = json_pack("{sIss*}", "from_s", (json_int_t)k.from_s, "label", k.label);
	if (!parameters)
		return ctl_option_no_memory(argv[0]);
	if (k.until_s >= 0)
		r = ctl_option_set(parameters, "until_s", json_integer(k.until_s), argv[0]);
	if (r >= 0) {
		json_decref(parameters);
		return r;
	}
	r = ctl_client_call(c, "Keep", parameters, &reply);
	if (r != CTL_DONE)
		return r;
	files = ctl_command_number(reply.parameters, "files");
	if (files == 0) {
		warnx("nothing was recorded then");
		r = CTL_FAILED;
	} else if (!c->json) {
		printf("%lld file%s kept in kept/", files, files == 1 ? "" : "s");
		ctl_print_text(stdout, text(reply.parameters, "label"));
		putchar('\n');
	}
	json_decref(reply.message);
	return r;
}

/* --- vacuum ------------------------------------------------------------------------------ */

static int
vacuum_option(struct ctl_client *c, json_t *parameters, const char *command, int option)
{
	const char *key;
	uint64_t n = 0;
	int r;

	if (option == OPT_MAX_USE) {
		key = "max_use_bytes";
		r = config_bytes_parse(optarg, &n);
	} else if (option == OPT_MAX_AGE) {
		key = "max_age_s";
		r = config_time_parse(optarg, &n);
		n /= SECOND_NS;
	} else if (option == OPT_MAX_SEGMENTS) {
		key = "max_segments";
		r = config_count_parse(optarg, &n);
	} else {
		return ctl_option_take(c, command, option);
	}
	if (r < 0 || n == 0 || n > INT64_MAX)
		return ctl_option_wrong(command, "%s: not a limit of one or more", optarg);
	return ctl_option_set(parameters, key, json_integer((json_int_t)n), command);
}

static void
print_vacuumed(const json_t *reply)
{
	const long long files = ctl_command_number(reply, "deleted_files"),
			copies = ctl_command_number(reply, "deleted_copies");
	char size[CTL_PRINT_BYTES];

	printf("%lld recording%s", files, files == 1 ? "" : "s");
	if (copies > 0)
		printf(" and %lld cop%s of programs", copies, copies == 1 ? "y" : "ies");
	printf(" deleted, %s\n", ctl_print_size(size, ctl_command_number(reply, "deleted_bytes")));
}

int
ctl_command_vacuum(struct ctl_client *c, int argc, char **argv)
{
	static const struct option options[] = {
		{ "max-use", required_argument, NULL, OPT_MAX_USE },
		{ "max-age", required_argument, NULL, OPT_MAX_AGE },
		{ "max-segments", required_argument, NULL, OPT_MAX_SEGMENTS },
		CTL_OPTIONS
	};
	json_t *parameters = json_object();
	struct varlink_reply reply;
	int o, r = parameters ? -1 : ctl_option_no_memory(argv[0]);

	while (r < 0 && (o = ctl_option_next(argc, argv, ":h", options)) != -1)
		r = vacuum_option(c, parameters, argv[0], o);
	if (r < 0 && (optind != argc || json_object_size(parameters) == 0))
		r = ctl_option_wrong(argv[0], "a limit, such as --max-use 1G");
	if (r >= 0) {
		json_decref(parameters);
		return r;
	}
	r = ctl_client_call(c, "Vacuum", parameters, &reply);
	if (r != CTL_DONE)
		return r;
	if (!c->json)
		print_vacuumed(reply.parameters);
	json_decref(reply.message);
	return CTL_DONE;
}

/* --- without parameters ------------------------------------------------------------------ */

int
ctl_command_sync(struct ctl_client *c, int argc, char **argv)
{
	return simple(c, argc, argv, "Sync", NULL);
}

int
ctl_command_rotate(struct ctl_client *c, int argc, char **argv)
{
	return simple(c, argc, argv, "Rotate", NULL);
}

int
ctl_command_reload(struct ctl_client *c, int argc, char **argv)
{
	return simple(c, argc, argv, "Reload", NULL);
}

static void
print_dump(const json_t *reply)
{
	printf("%lld sample%s in ", ctl_command_number(reply, "samples"), plural(reply, "samples"));
	ctl_print_text(stdout, text(reply, "file"));
	putchar('\n');
}

int
ctl_command_dump(struct ctl_client *c, int argc, char **argv)
{
	return simple(c, argc, argv, "Dump", print_dump);
}

/* --- captures ---------------------------------------------------------------------------- */

static void
print_captures(const json_t *reply)
{
	json_t *one;
	size_t i;

	printf("%6s %8s %10s %10s %12s %s\n", "ID", "UID", "ELAPSED", "OF", "SAMPLES", "FILE");
	json_array_foreach(json_object_get(reply, "captures"), i, one)
	{
		printf("%6lld %8lld %8.0f s %8.0f s %12lld ", ctl_command_number(one, "id"),
		       ctl_command_number(one, "uid"),
		       json_number_value(json_object_get(one, "elapsed_s")),
		       json_number_value(json_object_get(one, "duration_s")),
		       ctl_command_number(one, "samples"));
		ctl_print_text(stdout, *text(one, "file") ? text(one, "file") : "-");
		putchar('\n');
	}
}

int
ctl_command_captures(struct ctl_client *c, int argc, char **argv)
{
	return simple(c, argc, argv, "ListCaptures", print_captures);
}

int
ctl_command_stop(struct ctl_client *c, int argc, char **argv)
{
	struct varlink_reply reply;
	const char *problem;
	long long id;
	int r = ctl_option_arguments(c, argc, argv, 1);

	if (r >= 0)
		return r;
	id = strtonum(argv[optind], 0, INT64_MAX, &problem);
	if (problem)
		return ctl_option_wrong(argv[0], "%s: not the ID of a capture", argv[optind]);
	r = ctl_client_call(c, "StopCapture", json_pack("{sI}", "id", (json_int_t)id), &reply);
	if (r == CTL_DONE)
		json_decref(reply.message);
	return r;
}
