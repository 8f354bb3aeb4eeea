/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/cmd/load.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
load_init(struct load_options *o, const char *command)
{
	*o = (struct load_options){ .command = command, .filter = filter_new() };
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
}

static const char *
filter_name(int option)
{
	static const char *const names[] = {
#define X(name, arg, help) #name,
		FILTER_OPTIONS(X)
#undef X
	};

	return names[option - FILTER_OPTION_FIRST - 1];
}

int
load_set(struct load_options *o, int value, const char *text)
{
	const char *why;

	switch (value) {
	case LOAD_OPTION_input:
		o->path = text;
		return CLI_GO_ON;
	case LOAD_OPTION_symfs:
		o->symfs = text;
		return CLI_GO_ON;
	case LOAD_OPTION_no_demangle:
		o->no_demangle = true;
		return CLI_GO_ON;
	}
	if (value <= FILTER_OPTION_FIRST || value >= FILTER_OPTION_END)
		return cli_usage_error(o->command, "option %d is nobody's", value);
	if (filter_set(o->filter, value, text, &why) < 0)
		return cli_usage_error(o->command, "--%s %s: %s", filter_name(value), text, why);
	return CLI_GO_ON;
}

static int
resolve_window(struct load *l, struct filter *f, struct fmt_where *where)
{
	uint64_t first_ns, last_ns;
	int err;

	if (!filter_needs_range(f))
		return 0;
	err = input_range(&l->input, &first_ns, &last_ns, where);
	if (err == 0)
		filter_range(f, first_ns, last_ns);
	return err;
}

/* Where perf, and debuginfo clients after it, keep files by build-id. */
static char *
debug_cache(void)
{
	const char *home = getenv("HOME");
	char *path = NULL;

	if (home && asprintf(&path, "%s/.debug", home) < 0)
		path = NULL;
	return path;
}

static int
make_resolver(struct load *l, const struct load_options *o)
{
	l->debug_cache = debug_cache();
	l->resolver_options = (struct resolver_options){
		.symfs = o->symfs,
		.debug_cache = l->debug_cache,
		.no_demangle = o->no_demangle,
		.start_realtime_ns = l->meta->start.realtime,
		.boot_id = l->meta->boot_id,
	};
	l->resolver = resolver_new(&l->resolver_options);
	return l->resolver ? 0 : -1;
}

int
load_open(struct load *l, const struct load_options *o, struct profile_options *po)
{
	struct fmt_where where = { 0 };
	int err = 0, status;

	memset(l, 0, sizeof(*l));
	status = input_open(&l->input, o->path);
	if (status != 0)
		return status;
	l->meta = recording_reader_meta(l->input.reader);
	po->filter = o->filter;
	if (make_resolver(l, o) < 0)
		err = -FMT_E_NOMEM;
	if (err == 0)
		err = resolve_window(l, o->filter, &where);
	if (err == 0)
		err = profile_build(l->input.stream, l->resolver, po, &l->profile, &where);
	if (err < 0)
		l->status = input_failed(&l->input, err, &where);
	if (!l->profile)
		return EXIT_FAILED;
	input_warn(&l->input);
	return 0;
}

void
load_close(struct load *l)
{
	profile_free(l->profile);
	resolver_free(l->resolver);
	if (l->meta)
		input_close(&l->input);
	free(l->debug_cache);
	memset(l, 0, sizeof(*l));
}

const char *
load_event_name(const struct load *l, int event)
{
	if (event < 0)
		return "[unknown]";
	return event_set_at(record_stream_events(l->input.stream), (size_t)event)->name;
}
