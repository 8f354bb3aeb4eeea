/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor symbolize: addresses of an ELF file to functions and lines. */
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/dwarf/dwarf_cache.h"
#include "symbolizer/object/object_places.h"
#include "symbolizer/resolve/inlines.h"
#include "symbolizer/resolve/resolve.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/load/fetching.h"

enum { OPT_OBJ = 0x100, OPT_NO_INLINE, OPT_NO_DEMANGLE, OPT_NO_CACHE, OPT_DEBUGINFOD };

static const struct cli_option options[] = {
	{ OPT_OBJ, 0, "obj", "FILE", "the ELF file" },
	{ OPT_DEBUGINFOD, 0, "debuginfod", NULL, FETCHING_HELP },
	{ OPT_NO_INLINE, 0, "no-inline", NULL, "no functions that were inlined" },
	{ OPT_NO_DEMANGLE, 0, "no-demangle", NULL, "leave C++ and Rust names as they are" },
	{ OPT_NO_CACHE, 0, "no-cache", NULL,
	  "neither read nor keep what debug information says in ~/.cache/spoor" },
	{ 0 },
};

static const struct cli_syntax syntax = {
	.command = "symbolize",
	.synopsis = "--obj FILE [options] [ADDRESS...]",
	.about = "Says which functions, and which lines of the source, are at addresses of an ELF "
		 "file: hexadecimal numbers, as arguments or one a line on standard input. For "
		 "each prints FUNCTION, a tab and FILE:LINE, the innermost inlined function "
		 "first, and an empty line at the end.",
	.options = options,
};

struct request {
	const char *path;
	bool no_inline, no_demangle, no_cache, debuginfod;
};

static int
cmd_symbolize_set(void *arg, int value, const char *text)
{
	struct request *rq = arg;

	if (value == OPT_OBJ)
		rq->path = text;
	else if (value == OPT_NO_INLINE)
		rq->no_inline = true;
	else if (value == OPT_NO_CACHE)
		rq->no_cache = true;
	else if (value == OPT_DEBUGINFOD)
		rq->debuginfod = true;
	else
		rq->no_demangle = true;
	return CLI_GO_ON;
}

/* What is known of the addresses, in their order. */
struct answers {
	struct frame *physical;
	struct range {
		size_t first, nr; /* of frames; nr 0: only the physical one is known */
	} * ranges;
	size_t nr, cap_physical, cap_ranges;
	struct frame *frames;
	size_t nr_frames, cap_frames;
};

static int
read_address(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 16);
	while (isspace((unsigned char)*end))
		end++;
	return errno || end == text || *end || strchr(text, '-') ? -1 : 0;
}

static int
add_address(struct answers *a, uint64_t address)
{
	if (array_reserve(a->physical, a->nr, a->cap_physical, 1) < 0 ||
	    array_reserve(a->ranges, a->nr, a->cap_ranges, 1) < 0)
		return -FMT_E_NOMEM;
	a->physical[a->nr] = (struct frame){ .vaddr = address };
	a->ranges[a->nr++] = (struct range){ 0 };
	return 0;
}

/* 0, or an exit status, said. */
static int
read_addresses(struct answers *a, int argc, char **argv, int first)
{
	char line[256];
	uint64_t address;
	uint64_t number = 0;

	for (int i = first; i < argc; i++) {
		if (read_address(argv[i], &address) != 0)
			return cli_usage_error("symbolize", "not a hexadecimal address: %s",
					       argv[i]);
		if (add_address(a, address) != 0)
			goto nomem;
	}
	while (first == argc && fgets(line, sizeof(line), stdin)) {
		number++;
		if (read_address(line, &address) != 0) {
			warnx("standard input: line %" PRIu64 ": not a hexadecimal address",
			      number);
			return EXIT_FAILED;
		}
		if (add_address(a, address) != 0)
			goto nomem;
	}
	return 0;
nomem:
	return cli_no_memory();
}

static int
take_frames(void *arg, uint32_t number, const struct frame *frames, size_t nr)
{
	struct answers *a = arg;

	if (array_reserve(a->frames, a->nr_frames, a->cap_frames, nr) < 0)
		return -FMT_E_NOMEM;
	memcpy(&a->frames[a->nr_frames], frames, nr * sizeof(*frames));
	a->ranges[number] = (struct range){ a->nr_frames, nr };
	a->nr_frames += nr;
	return 0;
}

static int
look_up(struct answers *a, struct resolver *r, struct inlines *l, const char *path)
{
	struct object *object;
	/* What belongs to a file is looked for beside it, and below directories that have its path. */
	char *whole = realpath(path, NULL);
	int error = whole ? resolver_file(r, whole, &object) : -FMT_E_IO;

	free(whole);
	if (error) {
		if (error == -FMT_E_IO)
			warn("%s", path);
		else
			warnx("%s: %s", path, fmt_error_text(error));
		return error;
	}
	for (size_t i = 0; !error && i < a->nr; i++) {
		error = resolver_address(r, object, a->physical[i].vaddr, &a->physical[i]);
		if (!error)
			error = inlines_add(l, &a->physical[i], (uint32_t)i);
	}
	if (!error)
		error = inlines_run(l, take_frames, a);
	if (error)
		warnx("out of memory");
	return error;
}

static void
print_frame(struct buf *out, const struct frame *f, const struct frame *where)
{
	char line[16];

	escape(out, f->symbol ? f->symbol : "??");
	buf_u8(out, '\t');
	escape(out, where->file ? where->file : "??");
	snprintf(line, sizeof(line), ":%" PRIu32 "\n", where->line);
	buf_append(out, line, strlen(line));
}

static int
print_answers(const struct answers *a, bool no_inline)
{
	bool failed = false;
	struct buf out;

	buf_init(&out);
	for (size_t i = 0; i < a->nr && !failed; i++) {
		const struct range *range = &a->ranges[i];
		const struct frame *frames = range->nr ? &a->frames[range->first] : &a->physical[i];
		const size_t nr = range->nr ? range->nr : 1;

		buf_clear(&out);
		/* The function that the linker knows is where its innermost line is. */
		if (no_inline)
			print_frame(&out, &frames[nr - 1], &frames[0]);
		for (size_t k = 0; !no_inline && k < nr; k++)
			print_frame(&out, &frames[k], &frames[k]);
		buf_u8(&out, '\n');
		failed = buf_failed(&out);
		if (!failed)
			fwrite(out.p, 1, out.len, stdout);
	}
	buf_done(&out);
	return failed ? -FMT_E_NOMEM : 0;
}

static void
warn_misfit(struct resolver *r)
{
	char first[PATH_MAX], *path;

	if (resolver_debug_misfits(r, first) == 0)
		return;
	path = escape_dup(first);
	warnx("%s: " RESOLVER_MISFIT, path ? path : "a debug file");
	free(path);
}

static int
answer(const struct request *rq, struct answers *a, const struct resolver_options *o)
{
	struct resolver *r = resolver_new(o);
	char *cache_dir = rq->no_cache ? NULL : dwarf_cache_dir();
	struct inlines *l = r ? inlines_new(r, cache_dir) : NULL;
	enum dwarf_outcome outcome;
	bool remembered;
	uint32_t units;
	int error = -FMT_E_NOMEM;
	const char *path;

	if (l)
		error = look_up(a, r, l, rq->path);
	else
		warnx("out of memory");
	for (size_t i = 0; !error && inlines_trouble(l, i, &path, &outcome, &remembered); i++)
		warnx("%s: %s%s", rq->path, dwarf_outcome_text(outcome),
		      remembered ? INLINES_REMEMBERED : "");
	fetching_warn(o->fetch, rq->path);
	for (size_t i = 0; !error && inlines_lacking(l, i, &path, &units); i++)
		warnx("%s: " INLINES_LACKING, rq->path, units);
	if (l)
		warn_misfit(r);
	if (!error) {
		error = print_answers(a, rq->no_inline);
		if (error)
			warnx("out of memory");
	}
	inlines_free(l);
	resolver_free(r);
	free(cache_dir);
	return error ? EXIT_FAILED : EXIT_DONE;
}

static int
run(const struct request *rq, struct answers *a)
{
	char *debug_cache = object_places_debug_cache();
	char *debuginfod_cache = object_places_debuginfod_cache();
	struct resolver_options o = {
		.debug_cache = debug_cache,
		.debuginfod_cache = debuginfod_cache,
		.no_demangle = rq->no_demangle,
		.full_names = true,
	};
	int status = 0;

	if (rq->debuginfod)
		status = fetching_start(debuginfod_cache, true, &o.fetch);
	if (status == 0)
		status = answer(rq, a, &o);
	object_fetch_end(o.fetch);
	free(debug_cache);
	free(debuginfod_cache);
	return status;
}

int
cmd_symbolize(int argc, char **argv)
{
	struct request rq = { 0 };
	struct answers a = { 0 };
	int first, status = cli_parse(&syntax, argc, argv, cmd_symbolize_set, &rq, &first);

	if (status != CLI_GO_ON)
		return status;
	if (!rq.path)
		return cli_usage_error("symbolize", "no file: --obj FILE");
	status = read_addresses(&a, argc, argv, first);
	if (status == 0)
		status = run(&rq, &a);
	free(a.physical);
	free(a.ranges);
	free(a.frames);
	return status;
}
