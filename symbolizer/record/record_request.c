/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/record/record_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#include "format/bytes/option_wrong.h"
#include "format/bytes/time_text.h"
#include "format/record/off_cpu.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/record/record_extra.h"
#include "symbolizer/record/record_perf.h"
#include "symbolizer/record/record_probe.h"
#include "symbolizer/record/record_unit.h"
#include "symbolizer/record/record_usdt.h"
#include "symbolizer/record/record_user.h"
#include "symbolizer/text/screen_text.h"

#define PAGES_MAX (1u << 20)
#define COUNTER_INTERVAL_NS UINT64_C(1000000000)
#define COUNTER_INTERVAL_MIN_NS UINT64_C(10000000)

enum {
	OPT_CALL_GRAPH = 0x100,
	OPT_FP,
	OPT_CGROUP,
	OPT_UNIT,
	OPT_SLICE,
	OPT_DURATION,
	OPT_BUILD_IDS,
	OPT_OBJECTS,
	OPT_PACK,
	OPT_OFF_CPU,
	OPT_OFF_CPU_THRESH,
	OPT_COUNTERS,
	OPT_COUNTER_INTERVAL,
	OPT_BLOCK_AGE,
	OPT_DRY_RUN,
	OPT_JSON
};

static const struct cli_option options[] = {
	{ 'e', 'e', "event", "EVENT", "what to sample by (default: cycles, or cpu-clock:I)" },
	{ 'F', 'F', "freq", "HZ", "samples per second and CPU, or max (default: 999)" },
	{ 'c', 'c', "count", "N", "a sample every N events instead" },
	{ 'a', 'a', "all-cpus", NULL, "every process (default without a command)" },
	{ 'p', 'p', "pid", "PID[,PID...]", "these processes and what they fork" },
	{ 't', 't', "tid", "TID[,TID...]", "these threads" },
	{ 'u', 'u', "uid", "USER", "the processes that this user has now, and what they fork" },
	{ 'C', 'C', "cpu", "CPUS", "these CPUs only, such as 0-3,7" },
	{ OPT_CGROUP, 'G', "cgroup", "PATH[,PATH...]",
	  "what runs in this control group; one an event" },
	{ OPT_UNIT, 0, "unit", "UNIT", "what runs in that of this unit of systemd: nginx" },
	{ OPT_SLICE, 0, "slice", "SLICE", "in that of this slice: system, user-1000" },
	{ 'g', 'g', "callchains", NULL, "call chains by the default of --call-graph" },
	{ OPT_FP, 0, "fp", NULL, "call chains by frame pointers alone: --call-graph fp" },
	{ OPT_CALL_GRAPH, 0, "call-graph", "HOW",
	  "auto[,BYTES] (default for commands, -p and -t), fp[,FRAMES] (else), dwarf[,BYTES], lbr or none" },
	{ 'm', 'm', "mmap-pages", "PAGES|SIZE[,AUX]",
	  "a CPU's sample ring (default: 128, for stacks more), 1M...; and its AUX area (4M)" },
	{ 'S', 'S', "snapshot", "[e][SIZE]",
	  "of AUX areas what is there, or the last SIZE of it, at SIGUSR2 and at the end alone" },
	{ 'o', 'o', "output", "FILE", "default: recording.spoor; - is standard output" },
	{ OPT_OFF_CPU, 0, "off-cpu", "[MIN]",
	  "also where threads waited, how long and why; those of MIN (1ms) at least" },
	{ OPT_OFF_CPU_THRESH, 0, "off-cpu-thresh", "MS", "with --off-cpu: MIN, in milliseconds" },
	{ OPT_COUNTERS, 0, "counters", "[EVENT,...]",
	  "also what these count, over time (default: those of perf stat)" },
	{ OPT_COUNTER_INTERVAL, 0, "counter-interval", "TIME",
	  "the time between two counts (default: 1s)" },
	{ OPT_DURATION, 0, "duration", "TIME", "stop after 30s, 5m, 1h30m..." },
	{ OPT_BLOCK_AGE, 0, "block-age", "TIME",
	  "samples are in the file after this time at most (5s)" },
	{ OPT_BUILD_IDS, 0, "build-ids", "WHO",
	  "is asked for build-ids: auto (default), kernel or file" },
	{ OPT_OBJECTS, 0, "store-objects", "[WHICH]",
	  "copies what is mapped, beside FILE: all (default) or ephemeral" },
	{ OPT_PACK, 0, "pack", NULL, "at the end: what names it is put into it (spoor pack)" },
	RECORD_FILTER_OPTIONS,
	{ OPT_DRY_RUN, 0, "dry-run", NULL, "print what would be opened, and record nothing" },
	{ OPT_JSON, 0, "json", NULL, "that as JSON" },
	RECORD_EXTRA_OPTIONS,
	RECORD_WATCH_OPTIONS,
	RECORD_PERF_OPTIONS{ 'q', 'q', "quiet", NULL, "no notes and no summary, only errors" },
	{ 'v', 'v', "verbose", NULL, "prints the attrs as they were opened" },
	{ 0 },
};

_Static_assert((int)RECORD_WATCH_STAMP < (int)RECORD_FILTER &&
		       (int)RECORD_EXCLUDE_PERF < (int)RECORD_PERF,
	       "each option has a number of its own");

static const struct cli_syntax syntax = {
	.command = "record",
	.synopsis = "[options] [-- COMMAND [ARGUMENT...]]",
	.about = "Samples what runs, with call chains, into a recording, until the command ends, "
		 "the time is over, or ^C.",
	.options = options,
	.command_follows = true,
};

/* What runs in a control group is looked for on all CPUs: -a with -G, as perf wants it, says that once more. */
static bool
is_said_again(enum session_target one, enum session_target other)
{
	return (one == SESSION_ALL && other == SESSION_CGROUP) ||
		(one == SESSION_CGROUP && other == SESSION_ALL);
}

static int
set_target(struct record_request *rq, enum session_target target)
{
	if (rq->target_given && is_said_again(rq->session.target, target))
		target = SESSION_CGROUP;
	else if (rq->session.pids_may_end || (rq->target_given && rq->session.target != target))
		return cli_usage_error("record",
				       "-a, -p, -t, -u, -G, --unit and --slice exclude each other");
	rq->target_given = true;
	rq->session.target = target;
	return CLI_GO_ON;
}

static int
set_pids(struct record_request *rq, enum session_target target, const char *text)
{
	char *copy = strdup(text), *rest = copy, *one, words[OPTION_WRONG_BYTES];
	int status = copy ? set_target(rq, target) : cli_no_memory();

	while (status == CLI_GO_ON && (one = strsep(&rest, ","))) {
		const char *problem;
		pid_t pid = (pid_t)strtonum(one, 1, INT32_MAX, &problem);

		if (problem) {
			option_wrong_task_text(one, target == SESSION_PID ? 'p' : 't', words,
					       sizeof(words));
			status = cli_usage_error("record", "%s", words);
		} else if (rq->session.nr_pids == RECORD_PIDS_MAX) {
			status = cli_usage_error("record", "more than %d processes",
						 RECORD_PIDS_MAX);
		} else {
			rq->pids[rq->session.nr_pids++] = pid;
		}
	}
	free(copy);
	return status;
}

/* Those that begin later under somebody else are missed: an event is of a task, not of a user. */
static int
set_user(struct record_request *rq, const char *text)
{
	struct session_options *o = &rq->session;
	int status = set_target(rq, o->nr_pids ? SESSION_ALL : SESSION_PID);

	if (status != CLI_GO_ON)
		return status;
	o->pids_may_end = true;
	return record_user_pids(text, rq->pids, RECORD_PIDS_MAX, &o->nr_pids);
}

/* perf pairs the names of a list with the events of the command line. */
static int
set_cgroup(struct record_request *rq, const char *text, bool list)
{
	if (rq->session.cgroup || rq->session.cgroups)
		return cli_usage_error(
			"record", "a second control group: a list (-G A,B) has one for each event");
	if (list)
		rq->session.cgroups = text;
	else
		rq->session.cgroup = text;
	return set_target(rq, SESSION_CGROUP);
}

/* -G */
static int
set_group(struct record_request *rq, const char *text)
{
	const bool list = strchr(text, ',') != NULL;

	rq->nr_group_events = list ? 0 : rq->session.nr_events;
	return set_cgroup(rq, text, list);
}

static int
set_unit(struct record_request *rq, const char *option, const char *name)
{
	int status = rq->unit_group ? CLI_GO_ON : record_unit_group(option, name, &rq->unit_group);

	return status == CLI_GO_ON ? set_cgroup(rq, rq->unit_group, false) : status;
}

/* unit: what it is a number of, and what may be given instead. */
static int
set_number(const char *option, const char *text, const char *unit, long long max, uint64_t *ret)
{
	const char *problem;
	long long n = strtonum(text, 1, max, &problem);

	if (problem)
		return cli_usage_error("record", "%s %s: %s: from 1 to %lld %s", option, text,
				       problem, max, unit);
	*ret = (uint64_t)n;
	return CLI_GO_ON;
}

static int
set_frequency(struct record_request *rq, const char *text)
{
	long long hz;

	if (strcmp(text, "max") != 0)
		return set_number("-F", text, "samples a second, or max", INT32_MAX,
				  &rq->session.frequency_hz);
	/* The session lowers it to what the kernel allows. */
	if (session_sysctl("/proc/sys/kernel/perf_event_max_sample_rate", &hz) < 0 || hz < 1)
		hz = 100000;
	rq->session.frequency_hz = (uint64_t)hz;
	return CLI_GO_ON;
}

/* As perf has it: 16 is pages; 16B, 16K, 16M, 16G are bytes. */
static int
pages_of(const char *text, uint64_t *ret)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), n;

	if (!strpbrk(text, "BKMG") || !record_watch_size(text, &n))
		return set_number("-m", text, "pages, or a size such as 512K", PAGES_MAX, ret);
	n = (n + page - 1) / page;
	if (n > PAGES_MAX)
		return cli_usage_error("record", "-m %s: too large: at most %lluM", text,
				       (unsigned long long)(PAGES_MAX * page >> 20));
	*ret = n;
	return CLI_GO_ON;
}

static int
set_pages_of(const char *text, uint32_t *ret)
{
	uint64_t asked = 0, pages = 1;
	int status = pages_of(text, &asked);

	while (status == CLI_GO_ON && pages < asked)
		pages *= 2;
	if (status == CLI_GO_ON && pages != asked)
		screen_text_warn("-m %s: rings of %u pages, the next power of two", text,
				 (unsigned)pages);
	*ret = (uint32_t)pages;
	return status;
}

/* "PAGES", "PAGES,AUX" or ",AUX". */
static int
set_pages(struct record_request *rq, const char *text)
{
	char *first = strdup(text), *aux = first;
	int status = first ? CLI_GO_ON : cli_no_memory();

	if (first)
		(void)strsep(&aux, ",");
	if (status == CLI_GO_ON && (*first || !aux))
		status = set_pages_of(first, &rq->session.ring_pages);
	if (status == CLI_GO_ON && aux)
		status = set_pages_of(aux, &rq->session.aux_pages);
	free(first);
	return status;
}

/* As perf has it; e, at the end, is said by each: a trace that ends without one has nothing. */
static int
set_snapshot(struct record_request *rq, const char *text)
{
	const char *size = text ? text + (*text == 'e') : "";

	rq->session.aux_snapshot_bytes = 0;
	if (*size && !record_watch_size(size, &rq->session.aux_snapshot_bytes))
		return cli_usage_error(
			"record",
			"--snapshot=%s: e, and a size such as 64K of what is recorded "
			"of each AUX area",
			text);
	rq->session.aux_snapshot = rq->watch.snapshots = true;
	return CLI_GO_ON;
}

/* An area for what is to be kept of it, unless -m says its size. */
static int
settle_snapshot(struct record_request *rq)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE),
		       bytes = rq->session.aux_snapshot_bytes;
	uint32_t *pages = &rq->session.aux_pages;

	if (bytes > (uint64_t)UINT32_MAX * page / 2)
		return cli_usage_error("record", "--snapshot: no AUX area has %llu bytes",
				       (unsigned long long)bytes);
	if (bytes && !*pages)
		for (*pages = 1; *pages * page < bytes;)
			*pages *= 2;
	if (bytes <= *pages * page)
		return CLI_GO_ON;
	return cli_usage_error("record",
			       "--snapshot: %llu bytes are more than the AUX area of -m has, %llu",
			       (unsigned long long)bytes, (unsigned long long)(*pages * page));
}

static int
set_time(const char *option, const char *text, uint64_t *ret)
{
	uint64_t ns;

	/* So long after now is still a time. */
	if (time_text_duration(text, &ns) != 0 || ns == 0 || ns > INT64_MAX)
		return cli_usage_error("record", "--%s %s: a time such as 500ms, 30s, 5m or 1h30m",
				       option, text);
	*ret = ns;
	return CLI_GO_ON;
}

static int
add_event(struct record_request *rq, const char *text)
{
	char *copy, words[OPTION_WRONG_BYTES];

	if (rq->session.nr_events == RECORD_EVENTS_MAX)
		return cli_usage_error("record", "more than %d -e", RECORD_EVENTS_MAX);
	if (rq->nr_group_events) {
		option_wrong_order_text(text, rq->session.cgroup, words, sizeof(words));
		return cli_usage_error("record", "%s", words);
	}
	copy = strdup(text);
	if (!copy)
		return cli_no_memory();
	rq->events[rq->session.nr_events++] = copy;
	return CLI_GO_ON;
}

/* Places and addresses of the symbols in events, once it is known of which processes. */
static int
settle_events(struct record_request *rq)
{
	const struct session_options *o = &rq->session;
	bool some = (o->target == SESSION_PID || o->target == SESSION_TID) && !o->pids_may_end;
	const struct record_probed probed = { .pids = rq->pids,
					      .nr_pids = some ? o->nr_pids : 0,
					      .command = o->command ? o->command[0] : NULL };
	int status = CLI_GO_ON;

	for (size_t i = 0; status == CLI_GO_ON && i < o->nr_events; i++) {
		char *found;

		status = record_probe_resolve(rq->events[i], &probed, &found);
		if (status != CLI_GO_ON)
			break;
		free(rq->events[i]);
		rq->events[i] = found;
	}
	if (status == CLI_GO_ON && rq->watch.trigger)
		status = record_probe_resolve(rq->watch.trigger, &probed, &rq->trigger);
	if (status == CLI_GO_ON && o->counters)
		status = record_probe_resolve(o->counters, &probed, &rq->counted);
	return status;
}

/* Terms of the event; a time is that of the first of them: "1ms" is "min=1ms". */
static int
set_off_cpu(struct record_request *rq, const char *terms)
{
	int n;

	if (!terms)
		n = snprintf(rq->off_cpu, sizeof(rq->off_cpu), "%s", OFF_CPU_EVENT);
	else
		n = snprintf(rq->off_cpu, sizeof(rq->off_cpu), "%s/%s%s/", OFF_CPU_EVENT,
			     strchr(terms, '=') || strncmp(terms, "no-", 3) == 0 ||
					     strncmp(terms, "waker", 5) == 0
				     ? ""
				     : "min=",
			     terms);
	if (n < 0 || (size_t)n >= sizeof(rq->off_cpu))
		return cli_usage_error("record", "--off-cpu=%s: a time such as 1ms", terms);
	rq->session.off_cpu = rq->off_cpu;
	return CLI_GO_ON;
}

static int
set_call_graph(struct record_request *rq, const char *text)
{
	if (session_call_graph_parse(text, &rq->session) == 0)
		return CLI_GO_ON;
	return cli_usage_error("record",
			       "--call-graph %s: fp[,FRAMES], fp,defer, lbr, none, or "
			       "auto[,BYTES] or dwarf[,BYTES], a multiple of 8 to %d",
			       text, SESSION_STACK_BYTES_MAX);
}

static int
set_build_ids(struct record_request *rq, const char *text)
{
	if (session_build_ids_parse(text, &rq->session.build_ids) == 0)
		return CLI_GO_ON;
	return cli_usage_error("record", "--build-ids %s: auto, kernel or file", text);
}

static int
set_objects(struct record_request *rq, const char *text)
{
	if (session_objects_parse(text ? text : "all", &rq->session.objects.mode) == 0)
		return CLI_GO_ON;
	return cli_usage_error("record", "--store-objects=%s: all, ephemeral or none", text);
}

/* What an option turns on that says no more; NULL: it is another one. */
static bool *
flag_of(struct record_request *rq, int value)
{
	switch (value) {
	case 'q':
		return &rq->watch.quiet;
	case 'v':
		return &rq->verbose;
	case OPT_DRY_RUN:
		return &rq->dry_run;
	case OPT_JSON:
		return &rq->json;
	}
	return NULL;
}

/* Options that keep what is typed, or a time. False: it is another one. */
static bool
set_kept(struct record_request *rq, int value, const char *text, int *ret)
{
	*ret = CLI_GO_ON;
	switch (value) {
	case 'C':
		rq->session.cpus = text;
		return true;
	case 'o':
		rq->output = text;
		return true;
	case OPT_OFF_CPU_THRESH:
		rq->off_cpu_thresh = text;
		return true;
	case OPT_DURATION:
		*ret = set_time("duration", text, &rq->session.duration_ns);
		return true;
	case OPT_BLOCK_AGE:
		*ret = set_time("block-age", text, &rq->session.block_age_ns);
		return true;
	case OPT_COUNTER_INTERVAL:
		*ret = set_time("counter-interval", text, &rq->session.counter_interval_ns);
		return true;
	}
	return false;
}

static int
record_request_set(void *arg, int value, const char *text)
{
	struct record_request *rq = arg;
	bool *flag = flag_of(rq, value);
	int status;

	if (flag) {
		*flag = true;
		return CLI_GO_ON;
	}
	if (set_kept(rq, value, text, &status))
		return status;
	switch (value) {
	case 'e':
		return add_event(rq, text);
	case 'F':
		return set_frequency(rq, text);
	case 'c':
		return set_number("-c", text, "events", INT64_MAX, &rq->session.period);
	case 'a':
		return set_target(rq, SESSION_ALL);
	case 'p':
		return set_pids(rq, SESSION_PID, text);
	case 't':
		return set_pids(rq, SESSION_TID, text);
	case 'u':
		return set_user(rq, text);
	case OPT_CGROUP:
		return set_group(rq, text);
	case OPT_UNIT:
	case OPT_SLICE:
		return set_unit(rq, value == OPT_UNIT ? "--unit" : "--slice", text);
	case 'g':
		rq->session.call_graph = SESSION_CALL_GRAPH_DEFAULT;
		rq->session.stack_bytes = 0;
		return CLI_GO_ON;
	case OPT_FP:
		return set_call_graph(rq, "fp");
	case OPT_CALL_GRAPH:
		return set_call_graph(rq, text);
	case 'S':
		return set_snapshot(rq, text);
	case 'm':
		return set_pages(rq, text);
	case OPT_OFF_CPU:
		return set_off_cpu(rq, text);
	case OPT_COUNTERS:
		rq->counters = true;
		rq->session.counters = text;
		return CLI_GO_ON;
	case OPT_BUILD_IDS:
		return set_build_ids(rq, text);
	case OPT_PACK:
		rq->pack = true;
		return CLI_GO_ON;
	case OPT_OBJECTS:
		return set_objects(rq, text);
	case RECORD_FILTER:
	case RECORD_EXCLUDE_PERF:
		return record_filters_set(&rq->filters, rq->session.nr_events, value, text);
	}
	if (record_perf_set(value, text, &status))
		return status;
	if (value > RECORD_WATCH || value == 'D')
		return record_watch_set(&rq->watch, value, text);
	return record_extra_set(&rq->session, value, text);
}

/* perf has the least time in an option of its own, wherever that stands; 0: none is too short. */
static int
settle_off_cpu(struct record_request *rq)
{
	const char *problem;
	long long ms;
	char min[32];

	if (!rq->off_cpu_thresh)
		return CLI_GO_ON;
	if (!rq->session.off_cpu || strchr(rq->off_cpu, '/'))
		return cli_usage_error("record",
				       "--off-cpu-thresh goes with an --off-cpu that "
				       "says no least time itself");
	ms = strtonum(rq->off_cpu_thresh, 0, INT32_MAX, &problem);
	if (problem)
		return cli_usage_error("record", "--off-cpu-thresh %s: milliseconds",
				       rq->off_cpu_thresh);
	(void)snprintf(min, sizeof(min), "%lldms", ms);
	return ms ? set_off_cpu(rq, min) : CLI_GO_ON;
}

/* Each option alone asks for them. Below 10 ms they cost more than they tell, as perf has it. */
static int
settle_counters(struct record_request *rq)
{
	uint64_t *interval_ns = &rq->session.counter_interval_ns;

	if (rq->counters && !*interval_ns)
		*interval_ns = COUNTER_INTERVAL_NS;
	if (*interval_ns && *interval_ns < COUNTER_INTERVAL_MIN_NS)
		return cli_usage_error("record", "--counter-interval: 10ms or more");
	return CLI_GO_ON;
}

/* What is sampled when nobody says: the command, or else everything, as perf does. */
static int
settle_target(struct record_request *rq, char **command)
{
	if (*command)
		rq->session.command = command;
	if (rq->session.frequency_hz && rq->session.period)
		return cli_usage_error("record", "-F and -c exclude each other");
	if (rq->session.objects.mode != SESSION_OBJECTS_NONE && strcmp(rq->output, "-") == 0)
		return cli_usage_error("record",
				       "--store-objects puts them beside the recording: "
				       "give that a name by -o FILE");
	if (rq->pack && (strcmp(rq->output, "-") == 0 || rq->watch.stamp))
		return cli_usage_error(
			"record", "--pack is for one file with a name: pack others by spoor pack");
	if (rq->json && !rq->dry_run)
		return cli_usage_error("record", "--json goes with --dry-run");
	if (!rq->target_given)
		rq->session.target = *command && !rq->session.cpus ? SESSION_COMMAND : SESSION_ALL;
	rq->session.starts_disabled = rq->watch.disabled;
	rq->session.overwrite = rq->watch.overwrite;
	if (settle_snapshot(rq) != CLI_GO_ON || settle_off_cpu(rq) != CLI_GO_ON ||
	    settle_counters(rq) != CLI_GO_ON)
		return EXIT_USAGE;
	return record_extra_check(&rq->session);
}

/* The arguments as typed, for the file. */
static void
join_arguments(int argc, char **argv, struct buf *ret)
{
	buf_init(ret);
	buf_append(ret, "spoor", 5);
	for (int i = 0; i < argc; i++) {
		buf_u8(ret, ' ');
		buf_append(ret, argv[i], strlen(argv[i]));
	}
	buf_u8(ret, 0);
}

int
record_request_parse(struct record_request *rq, int argc, char **argv)
{
	int first, status;

	*rq = (struct record_request){ .output = "recording.spoor",
				       .session = { .call_graph = SESSION_CALL_GRAPH_DEFAULT,
						    .writer = "spoor " SPOOR_VERSION } };
	/* Before getopt, which moves arguments about. */
	join_arguments(argc, argv, &rq->cmdline);
	status = cli_parse(&syntax, argc, argv, record_request_set, rq, &first);
	if (status == CLI_GO_ON)
		status = settle_target(rq, argv + first);
	if (status == CLI_GO_ON)
		status = settle_events(rq);
	rq->session.trigger = rq->trigger;
	rq->session.counters = rq->counted;
	rq->session.events = (const char *const *)rq->events;
	rq->session.filters = rq->filters.of;
	rq->session.pids = rq->pids;
	rq->session.cmdline = buf_failed(&rq->cmdline) ? "" : (const char *)rq->cmdline.p;
	return status;
}

void
record_request_done(struct record_request *rq)
{
	record_filters_done(&rq->filters);
	buf_done(&rq->cmdline);
	free(rq->unit_group);
	free(rq->trigger);
	free(rq->counted);
	for (size_t i = 0; i < rq->session.nr_events; i++)
		free(rq->events[i]);
}
