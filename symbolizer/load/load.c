/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block/unwind_text.h"
#include "symbolizer/load/load.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "format/bytes/time_text.h"
#include "format/model/address_space.h"
#include "symbolizer/dwarf/dwarf_cache.h"
#include "symbolizer/input/coverage.h"
#include "symbolizer/object/object_debug.h"
#include "symbolizer/object/object_places.h"
#include "symbolizer/resolve/inlines.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/load/gathering.h"
#include "symbolizer/load/progress.h"
#include "symbolizer/load/unmet.h"

int64_t
load_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return time_text_ns(&ts);
}

int
load_init(struct load_options *o, const char *command)
{
	*o = (struct load_options){ .command = command, .filter = filter_new(load_now()) };
	buf_init(&o->filters);
	buf_init(&o->places);
	if (o->filter)
		return 0;
	warnx("out of memory");
	return EXIT_FAILED;
}

void
load_done(struct load_options *o)
{
	filter_free(o->filter);
	o->filter = NULL;
	buf_done(&o->filters);
	buf_done(&o->places);
}

const char *
load_option_name(int value)
{
	static const struct cli_option options[] = { LOAD_OPTIONS{ 0 } };

	for (const struct cli_option *o = options; o->name; o++)
		if (o->value == value)
			return o->name;
	return "";
}

bool
load_option_of_names(int value)
{
	switch (value) {
#define X(id, ...) case FILTER_OPTION_##id:
#define Y(id, ...) case LOAD_OPTION_##id:
		FILTER_NAME_OPTIONS(X)
		LOAD_NAME_OPTIONS(Y)
#undef X
#undef Y
		return true;
	}
	return false;
}

static bool
list_has(const char *list, const char *word, size_t len)
{
	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == len && strncmp(list, word, len) == 0)
			return true;
	return false;
}

bool
load_labels_have(const char *list, const char *word)
{
	return list_has(list, word, strlen(word));
}

bool
load_labels(const char *list, const char *allowed, struct profile_options *po)
{
	for (const char *word = list; *word; word += strcspn(word, ","), word += *word == ',')
		if (!list_has(allowed, word, strcspn(word, ",")))
			return false;
#define X(type, name) po->by_##name |= load_labels_have(list, #name);
	PROFILE_KEYS(X)
#undef X
	return true;
}

/* A file that is not there is said at once, and not by frames without names. */
static int
given_file(const struct load_options *o, const char *name, const char *path)
{
	int fd;

	if (o->kallsyms && o->vmlinux)
		return cli_usage_error(o->command, "--kallsyms and --vmlinux exclude each other");
	fd = io_open(AT_FDCWD, path, 0);
	if (fd >= 0) {
		close(fd);
		return CLI_GO_ON;
	}
	if (errno == ESPIPE || errno == ENOTSUP || errno == EISDIR)
		screen_text_warn("--%s %s: is not a regular file", name, path);
	else
		warn("--%s %s", name, path);
	return EXIT_FAILED;
}

static bool
keep_option(struct load_options *o, int value, const char *text)
{
	struct buf *b = value > FILTER_OPTION_FIRST && value < FILTER_OPTION_END ? &o->filters
		: load_option_of_names(value)					 ? &o->places
										 : NULL;

	if (!b)
		return true;
	buf_text(b, "--");
	buf_text(b, load_option_name(value));
	buf_u8(b, ' ');
	buf_text(b, text ? text : "");
	buf_u8(b, 0);
	return !buf_failed(b);
}

int
load_set(struct load_options *o, int value, const char *text)
{
	const char *why;

	if (!keep_option(o, value, text)) {
		warnx("out of memory");
		return EXIT_FAILED;
	}
	switch (value) {
	case LOAD_OPTION_input:
		o->path = text;
		return CLI_GO_ON;
	case LOAD_OPTION_symfs:
		o->symfs = text;
		return CLI_GO_ON;
	case LOAD_OPTION_debuginfod:
		o->debuginfod = true;
		return CLI_GO_ON;
	case LOAD_OPTION_kallsyms:
		o->kallsyms = text;
		return given_file(o, "kallsyms", text);
	case LOAD_OPTION_vmlinux:
		o->vmlinux = text;
		return given_file(o, "vmlinux", text);
	case LOAD_OPTION_force:
		o->force = true;
		return CLI_GO_ON;
	case LOAD_OPTION_no_demangle:
		o->no_demangle = true;
		return CLI_GO_ON;
	case LOAD_OPTION_no_inline:
		o->no_inline = true;
		return CLI_GO_ON;
	case LOAD_OPTION_no_cache:
		o->no_cache = true;
		return CLI_GO_ON;
	}
	if (value <= FILTER_OPTION_FIRST || value >= FILTER_OPTION_END)
		return cli_usage_error(o->command, "option %d is in no table", value);
	if (filter_set(o->filter, value, text, &why) < 0)
		return cli_usage_error(o->command, "--%s %s: %s", load_option_name(value), text,
				       why);
	return CLI_GO_ON;
}

int
load_inlines(struct load *l, const struct load_options *o)
{
	if (l->inlines)
		return 0;
	if (!o->no_cache && !l->cache_dir)
		l->cache_dir = dwarf_cache_dir();
	l->inlines = inlines_new(l->resolver, l->cache_dir);
	return l->inlines ? 0 : -FMT_E_NOMEM;
}

static int
make_profile(struct load *l, const struct load_options *o)
{
	l->resolver_options = (struct resolver_options){
		.symfs = o->symfs,
		.debug_cache = l->debug_cache,
		.debuginfod_cache = l->debuginfod_cache,
		.fetch = l->fetch,
		.no_demangle = o->no_demangle,
		.kallsyms = o->kallsyms,
		.vmlinux = o->vmlinux,
		.force = o->force,
		.keep_code = o->keep_code,
		.data = sample_details_have(l->profile_options.details, SAMPLE_DETAIL_symbol_daddr),
	};
	if (!l->resolver)
		l->resolver = resolver_new(&l->resolver_options);
	if (l->resolver && profile_options_lines(&l->profile_options) && load_inlines(l, o) < 0)
		return -FMT_E_NOMEM;
	if (l->resolver)
		l->profile = profile_new(l->resolver, l->inlines, &l->profile_options);
	if (l->profile)
		profile_on_sample(l->profile, o->on_sample, o->on_sample_arg);
	return l->profile ? 0 : -FMT_E_NOMEM;
}

/*
 * Reads the next recording's samples: 0, -FMT_E_NOMEM, or above 0: whoever gets them has enough. What
 * else goes wrong is said.
 */
static int
read_one(struct load *l, struct gathering *g, const struct resolver_recording *recording,
	 uint64_t shift_ns)
{
	struct fmt_where where = { 0 };
	struct gather *gather = NULL;
	int err = resolver_begin(l->resolver, recording);

	profile_begin(l->profile, shift_ns);
	if (err == 0)
		err = gathering_take(g, profile_take, l->profile, &gather, &where);
	profile_end(l->profile, gather);
	gathering_finish(g);
	progress_add(l->progress);
	progress_wipe(l->progress);
	if (err < 0)
		l->status = input_failed(&l->set.in, err, &where);
	if (err == -FMT_E_NOMEM)
		return err;
	if (err > 0) {
		l->enough = true;
		input_set_leave(&l->set);
		return err;
	}
	unmet_fields_see(&l->unmet_fields, l->profile_options.trace_fields,
			 record_stream_events(l->set.in.stream));
	return input_set_finish(&l->set);
}

/* All of them: 0, -1 after a message. */
static int
read_all(struct load *l, const struct load_options *o)
{
	struct resolver_recording recording;
	struct gathering *g = NULL;
	uint64_t shift_ns;
	int more = -1;

	/* Not into what is written to a terminal meanwhile, or told of what is fetched. */
	if (!o->debuginfod && !(o->on_sample && isatty(STDOUT_FILENO)))
		l->progress = progress_start(&l->set);
	l->profile_options.reached_ns = progress_reached(l->progress);
	if (make_profile(l, o) == 0)
		g = gathering_new(&l->set, &l->profile_options, l->resolver, o->opened,
				  o->opened_arg);
	if (!g)
		warnx("out of memory");
	else
		while ((more = gathering_next(g, &recording, &shift_ns)) > 0) {
			const int end = read_one(l, g, &recording, shift_ns);

			if (end == 0)
				continue;
			more = end < 0 ? -1 : 0;
			break;
		}
	gathering_free(g);
	progress_stop(l->progress);
	l->progress = NULL;
	return more;
}

/* Names that stand on a file which may be another than the recorded one. */
static void
warn_doubts(const struct load *l)
{
	for (size_t i = 0; i < doubts_count(l->doubts); i++) {
		const struct doubt *d = doubts_at(l->doubts, i);
		char *path = escape_dup(d->dso_path);

		screen_text_warn("%s: names of %s are %s", l->set.path, path ? path : "a file",
				 resolve_doubt_text(d->doubt));
		free(path);
	}
}

static void
warn_jit(const struct load *l)
{
	const uint64_t processes = profile_totals(l->profile)->jit_doubtful;

	if (processes > 0)
		screen_text_warn(
			"%s: names of JIT code of %" PRIu64
			" processes are those that files of this host have (perf-PID.map, "
			"jit-PID.dump): the recording does not tell whether it was made since "
			"this host was booted",
			l->set.path, processes);
}

/* Objects whose inlined functions and lines are missing. */
void
load_warn_inlines(const struct load *l)
{
	enum dwarf_outcome outcome;
	const char *object;
	bool remembered;
	uint32_t units;

	for (size_t i = 0;
	     l->inlines && inlines_trouble(l->inlines, i, &object, &outcome, &remembered); i++) {
		char *path = escape_dup(object);

		screen_text_warn("%s: %s: no lines and no inlined functions: %s%s", l->set.path,
				 path ? path : "a file", dwarf_outcome_text(outcome),
				 remembered ? INLINES_REMEMBERED : "");
		free(path);
	}
	for (size_t i = 0; l->inlines && inlines_lacking(l->inlines, i, &object, &units); i++) {
		char *path = escape_dup(object);

		screen_text_warn("%s: %s: " INLINES_LACKING, l->set.path, path ? path : "a file",
				 units);
		free(path);
	}
}

/* Stacks that have not all their callers. */
static void
warn_unwound(const struct load *l)
{
	const struct unwind_stops *c = &profile_totals(l->profile)->unwound;
	char text[UNWIND_TEXT_MAX];

	if (unwind_text_matters(c) && unwind_text(c, text))
		screen_text_warn("%s: %s", l->set.path, text);
}

/* Waits whose time is not known are in no answer. */
static void
warn_waits(const struct load *l)
{
	const struct waits_counts *c = &profile_totals(l->profile)->waits;

	if (c->open > 0)
		screen_text_warn("%s: off-cpu: %" PRIu64
				 " wait%s not over when the recording was, and "
				 "not counted",
				 l->set.path, c->open, c->open == 1 ? " was" : "s were");
	if (c->cut > 0)
		screen_text_warn("%s: off-cpu: %" PRIu64 " wait%s not counted: records that tell "
				 "how long were lost, or not taken",
				 l->set.path, c->cut, c->cut == 1 ? " is" : "s are");
	if (c->left_out > 0)
		screen_text_warn("%s: off-cpu: %" PRIu64 " waits left out: more than %u MiB of "
				 "stacks at a time",
				 l->set.path, c->left_out, WAITS_BYTES_MAX >> 20);
}

static void
warn_misfits(const struct load *l)
{
	char first[PATH_MAX], *path;

	if (resolver_debug_misfits(l->resolver, first) == 0)
		return;
	path = escape_dup(first);
	screen_text_warn("%s: %s: " RESOLVER_MISFIT, l->set.path, path ? path : "a debug file");
	free(path);
}

/* What was too much to be kept. */
static void
warn_left_out(const struct load *l)
{
	const struct task_model_left_out *n = &profile_totals(l->profile)->left_out;
	uint64_t debug_files = resolver_debug_left_out(l->resolver);
	uint64_t bad_blocks = profile_totals(l->profile)->bad_blocks;
	const char *first = resolver_left_out_of(l->resolver);
	char *of = first ? escape_dup(first) : NULL;

	if (n->tasks > 0)
		screen_text_warn("%s: more than %d tasks at a time: %" PRIu64
				 " were forgotten, and what they ran may have no name",
				 l->set.path, TASK_MODEL_LIVING_MAX, n->tasks);
	if (n->maps > 0)
		screen_text_warn("%s: more than %u maps at a time: %" PRIu64
				 " were left out, and addresses in them have no name",
				 l->set.path, ADDRESS_SPACES_MAPS_MAX, n->maps);
	if (n->names > 0)
		screen_text_warn(
			"%s: names of functions, tasks, control groups and run-time code that are over "
			"the limit of memory were left out %" PRIu64 " times%s%s",
			l->set.path, n->names, of ? ", the first of them of " : "", of ? of : "");
	if (debug_files > 0)
		screen_text_warn("%s: files that .gnu_debuglink names hold more than %" PRIu64
				 " MiB: %" PRIu64 " were not compared with their checksum, and "
				 "their symbols are missing",
				 l->set.path, OBJECT_DEBUG_SUM_BYTES_MAX >> 20, debug_files);
	if (bad_blocks > 0)
		screen_text_warn("%s: %" PRIu64 " blocks of symbols or build-ids could not "
				 "be read to the end: names are missing",
				 l->set.path, bad_blocks);
	free(of);
}

/* Where names come from, once. */
static int
find_places(struct load *l, const struct load_options *o)
{
	if (l->resolver)
		return 0;
	free(l->debug_cache);
	free(l->debuginfod_cache);
	l->debug_cache = object_places_debug_cache();
	l->debuginfod_cache = object_places_debuginfod_cache();
	if (!o->debuginfod || l->fetch)
		return 0;
	return fetching_start(l->debuginfod_cache,
			      profile_options_lines(&l->profile_options) || o->keep_code,
			      &l->fetch);
}

/* What is said after all is read. */
static int
tell(struct load *l, const struct load_options *o)
{
	if (l->set.opened == 0) {
		coverage_warn_nothing(&l->set);
		return EXIT_FAILED;
	}
	input_set_warn(&l->set, !o->told);
	warn_left_out(l);
	warn_misfits(l);
	warn_waits(l);
	if (doubts_find(l->profile, &l->doubts) < 0) {
		warnx("out of memory");
		return EXIT_FAILED;
	}
	warn_doubts(l);
	warn_jit(l);
	load_warn_inlines(l);
	fetching_warn(l->fetch, l->set.path);
	if (!o->told)
		warn_unwound(l);
	if (!o->told && profile_totals(l->profile)->samples == 0)
		coverage_warn_nothing(&l->set);
	if (!o->told)
		unmet_fields_warn(&l->unmet_fields, l->profile_options.trace_fields, l->set.path);
	if (!l->enough && !o->quiet_unmet)
		unmet_warn(&l->set, &l->resolver_options);
	return 0;
}

/* Each object that was sampled keeps descriptors of its files: as many as may be. */
static void
allow_files(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur == r.rlim_max)
		return;
	r.rlim_cur = r.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &r);
}

static int
load_read(struct load *l, const struct load_options *o, const struct profile_options *po)
{
	int status = input_set_open(&l->set, o->path, o->filter);

	if (o->keep_code)
		allow_files();
	if (status != 0)
		return status;
	l->profile_options = *po;
	l->profile_options.filter = o->filter;
	if (o->opening)
		status = o->opening(o->opening_arg, &l->set, &l->profile_options);
	/* Stacks are chosen by all of their frames, and those that nobody will see. */
	if (filter_frames(o->filter)) {
		l->profile_options.innermost = l->profile_options.leaf_only;
		l->profile_options.leaf_only = false;
		l->profile_options.inlines = true;
	}
	l->profile_options.inlines &= !o->no_inline;
	if (status == 0)
		status = find_places(l, o);
	if (status != 0)
		return status;
	return read_all(l, o) < 0 ? EXIT_FAILED : tell(l, o);
}

int
load_open(struct load *l, const struct load_options *o, const struct profile_options *po)
{
	memset(l, 0, sizeof(*l));
	return load_read(l, o, po);
}

int
load_open_again(struct load *l, const struct load_options *o, const struct profile_options *po)
{
	doubts_free(l->doubts);
	profile_free(l->profile);
	input_set_close(&l->set);
	l->doubts = NULL;
	l->profile = NULL;
	l->status = 0;
	/* Names of processes that have ended long ago would leave no room for new ones. */
	if (l->resolver && resolver_crowded(l->resolver)) {
		inlines_free(l->inlines);
		resolver_free(l->resolver);
		l->inlines = NULL;
		l->resolver = NULL;
	}
	return load_read(l, o, po);
}

void
load_close(struct load *l)
{
	doubts_free(l->doubts);
	profile_free(l->profile);
	inlines_free(l->inlines);
	resolver_free(l->resolver);
	object_fetch_end(l->fetch);
	input_set_close(&l->set);
	free(l->debug_cache);
	free(l->debuginfod_cache);
	free(l->cache_dir);
	memset(l, 0, sizeof(*l));
}

const char *
load_event_name(const struct load *l, int event)
{
	return profile_event_name(l->profile, event);
}
