/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor annotate: which lines and instructions of a function the time went to. */
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/input/input.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/annotate_print.h"

#define FUNCTIONS_MAX 1000000
#define SUGGESTED 3

enum {
	OPT_ASM = 0x100,
	OPT_LINES,
	OPT_CHAIN,
	OPT_MIN_PERCENT,
	OPT_SOURCE_PATH,
	OPT_NO_SOURCE,
	OPT_JSON,
	OPT_STDIO,
};

static const struct cli_option options[] = {
	{ 'n', 'n', "functions", "N",
	  "the N hottest functions of each event (default: 1, or all "
	  "that are called SYMBOL)" },
	{ OPT_ASM, 0, "asm", NULL, "instructions alone, without lines of the source" },
	{ OPT_LINES, 'l', "lines", NULL, "lines of the source alone, without instructions" },
	{ OPT_CHAIN, 0, "chain", NULL, "of code that was inlined, the calls that led there" },
	{ OPT_MIN_PERCENT, 0, "min-percent", "PERCENT",
	  "leave out lines and instructions with less of the function's samples" },
	{ OPT_SOURCE_PATH, 0, "source-path", "DIR|FROM=TO",
	  "look for sources below DIR, or below TO for those that were below FROM; may recur" },
	{ OPT_NO_SOURCE, 0, "no-source", NULL, "open no source: numbers of lines alone" },
	{ 'M', 'M', "disassembler-style", "STYLE", "operands of x86 as att (default) or intel" },
	{ 'P', 'P', "full-paths", NULL, "sources with their directories" },
	{ OPT_STDIO, 0, "stdio", NULL, "text, which is what there is (for perf's sake)" },
	{ OPT_JSON, 0, "json", NULL, "one JSON object instead of text" },
	CLI_COLOR_ROW CLI_NO_PAGER_ROW LOAD_OPTIONS{ 0 },
};

static const struct cli_syntax syntax = {
	.command = "annotate",
	.synopsis = "[options] [SYMBOL [FILE]]",
	.about =
		"Says which lines and instructions of a function the samples of a recording (-i; "
		"default: recording.spoor) were taken at: of the hottest function, or of SYMBOL, which may "
		"be an address in it (0x11d0).",
	.options = options,
};

struct request {
	struct load_options load;
	struct annotate_print print;
	struct source_places source;
	struct kernel_code_facts kernel;
	struct skid_events events;
	const char *symbol; /* NULL: the hottest */
	size_t functions;   /* 0: not said */
	bool json, nomem;
};

static int
set_functions(struct request *rq, const char *text)
{
	const char *why;

	rq->functions = (size_t)strtonum(text, 1, FUNCTIONS_MAX, &why);
	if (!why)
		return CLI_GO_ON;
	return cli_usage_error("annotate", "--functions %s: not a number of functions", text);
}

static int
set_source_path(struct request *rq, const char *text)
{
	if (!*text || *text == '=')
		return cli_usage_error("annotate", "--source-path: no directory");
	if (rq->source.nr_given == SOURCE_TEXT_PLACES_MAX)
		return cli_usage_error("annotate", "--source-path: %d at most",
				       SOURCE_TEXT_PLACES_MAX);
	rq->source.given[rq->source.nr_given++] = text;
	return CLI_GO_ON;
}

static int
set_style(struct request *rq, const char *text)
{
	rq->print.listing.intel = strcmp(text, "intel") == 0;
	if (rq->print.listing.intel || strcmp(text, "att") == 0)
		return CLI_GO_ON;
	return cli_usage_error("annotate", "--disassembler-style %s: att or intel", text);
}

static int
cmd_annotate_set(void *arg, int value, const char *text)
{
	struct request *rq = arg;

	switch (value) {
	case 'n':
		return set_functions(rq, text);
	case 'M':
		return set_style(rq, text);
	case 'P':
		rq->print.full_paths = true;
		return CLI_GO_ON;
	case OPT_ASM:
		rq->print.no_lines = true;
		return CLI_GO_ON;
	case OPT_LINES:
		rq->print.listing.no_instructions = true;
		return CLI_GO_ON;
	case OPT_CHAIN:
		rq->print.listing.by_chain = true;
		return CLI_GO_ON;
	case OPT_MIN_PERCENT:
		return cli_set_percent("annotate", "min-percent", text, &rq->print.min_percent);
	case OPT_SOURCE_PATH:
		return set_source_path(rq, text);
	case OPT_NO_SOURCE:
		rq->source.none = true;
		return CLI_GO_ON;
	case OPT_STDIO:
		return CLI_GO_ON;
	case OPT_JSON:
		rq->json = true;
		return CLI_GO_ON;
	}
	return load_set(&rq->load, value, text);
}

static void
note_recording(void *arg, const struct input *in)
{
	const struct recording_meta *meta = recording_reader_meta(in->reader);
	struct request *rq = arg;

	kernel_code_note(&rq->kernel, meta);
	rq->nomem |= skid_events_add(&rq->events, meta->events) < 0;
}

/* --- which functions ----------------------------------------------------------------------- */

/* By its name, or by an address in it. */
static bool
is_asked_for(const struct request *rq, const struct annotation_function *f)
{
	char *end;
	uint64_t address;

	if (strcmp(rq->symbol, f->frame.symbol) == 0)
		return true;
	if (strncmp(rq->symbol, "0x", 2) != 0)
		return false;
	address = strtoull(rq->symbol, &end, 16);
	return *end == '\0' && annotation_function_has(f, address);
}

/* Of that name all, unless a number was said; else the hottest of each event. */
static void
choose(const struct request *rq, const struct annotation *a,
       const struct annotation_function **chosen, size_t *ret_nr)
{
	size_t most = rq->functions ? rq->functions : rq->symbol ? FUNCTIONS_MAX : 1;
	size_t of_event = 0, nr = 0;

	for (size_t i = 0; i < annotation_functions(a); i++) {
		const struct annotation_function *f = annotation_function_at(a, i);

		if (i > 0 && f->event != annotation_function_at(a, i - 1)->event)
			of_event = 0;
		if (rq->symbol && !is_asked_for(rq, f))
			continue;
		if (of_event++ < most)
			chosen[nr++] = f;
	}
	*ret_nr = nr;
}

/* No function has that name: those that have it in theirs may be meant. */
static void
say_not_found(const struct request *rq, const struct annotation *a)
{
	const char *said[SUGGESTED];
	size_t nr = 0;

	screen_text_warn("%s: no sample is in a function that is called '%s'",
			 rq->print.load->set.path, rq->symbol);
	for (size_t i = 0; i < annotation_functions(a) && nr < SUGGESTED; i++) {
		const char *symbol = annotation_function_at(a, i)->frame.symbol;
		char *name = strstr(symbol, rq->symbol) ? escape_dup(symbol) : NULL;

		/* It may be in several objects. */
		for (size_t k = 0; k < nr && name; k++)
			if (said[k] == symbol) {
				free(name);
				name = NULL;
			}
		if (name) {
			screen_text_warn("there is '%s'", name);
			said[nr++] = symbol;
		}
		free(name);
	}
}

/* --- what the kernel wrote over its code ----------------------------------------------------- */

/* All of a recording: what came behind the samples that are asked for tells what was there before. */
static int
read_pokes_of(struct code_pokes *pokes, const struct input *in, uint64_t shift_ns)
{
	struct record_stream *stream;
	int error = record_stream_open(in->reader, &stream);

	if (error)
		return error;
	error = code_pokes_read(pokes, stream, shift_ns);
	record_stream_close(stream);
	return error;
}

/* Those of an archive were closed behind us. */
static int
read_pokes_of_archive(struct code_pokes *pokes, const struct input_set *of)
{
	struct filter *window = filter_of_times(of->filter);
	struct input_set again;
	int error = window ? 0 : -FMT_E_NOMEM;

	if (!error && input_set_open(&again, of->path, window) == 0) {
		again.silent = true;
		while (!error && input_set_next(&again) > 0) {
			error = read_pokes_of(pokes, &again.in, again.shift_ns);
			input_set_leave(&again);
		}
		input_set_close(&again);
	}
	filter_free(window);
	return error;
}

/* Where no code of the kernel is shown, nothing is read again. */
static int
read_pokes(const struct request *rq, struct code_pokes **ret)
{
	const struct input_set *set = &rq->print.load->set;
	bool wanted = false;
	int error;

	for (size_t i = 0; i < rq->print.nr_functions; i++)
		wanted |= rq->print.functions[i]->frame.kernel;
	if (!wanted || rq->kernel.several || rq->print.listing.no_instructions)
		return 0;
	*ret = code_pokes_new();
	if (!*ret)
		return -FMT_E_NOMEM;
	error = set->archive ? read_pokes_of_archive(*ret, set)
			     : read_pokes_of(*ret, &set->in, set->shift_ns);
	if (code_pokes_left_out(*ret) > 0)
		screen_text_warn(
			"%s: the kernel patched its code more often than there is room for: %" PRIu64
			" patches are left out, and instructions may be others",
			set->path, code_pokes_left_out(*ret));
	return error;
}

/* --- all of it ----------------------------------------------------------------------------- */

static int
print(struct request *rq)
{
	struct annotate_print *p = &rq->print;
	struct code_pokes *pokes = NULL;
	int error = load_inlines(p->load, &rq->load);

	if (!error)
		error = read_pokes(rq, &pokes);
	rq->kernel.pokes = pokes;
	rq->kernel.first_ns = profile_totals(p->load->profile)->start_ns;
	rq->kernel.last_ns = profile_totals(p->load->profile)->end_ns;
	rq->source.symfs = rq->load.symfs;
	rq->kernel.kcore = "/proc/kcore";
	rq->kernel.kallsyms = "/proc/kallsyms";
	rq->source.recorded_ns = p->load->set.start.realtime;
	p->kernel = kernel_code_new(p->load->resolver, &rq->kernel);
	p->source = source_text_new(&rq->source);
	p->events = &rq->events;
	p->listing.no_inline = rq->load.no_inline;
	p->table.terminal = cli_columns();
	p->table.color = cli_color();
	if (!p->kernel || !p->source || rq->nomem)
		error = -FMT_E_NOMEM;
	if (!error && (rq->json || p->nr_functions > 0 || !rq->symbol))
		error = rq->json ? annotate_print_json(p) : annotate_print_text(p);
	kernel_code_free(p->kernel);
	source_text_free(p->source);
	code_pokes_free(pokes);
	load_warn_inlines(p->load);
	return error;
}

static int
annotate_functions(struct request *rq, const struct annotation *a)
{
	const struct annotation_function **chosen =
		calloc(annotation_functions(a) + 1, sizeof(*chosen));
	int error = -FMT_E_NOMEM;

	if (chosen) {
		choose(rq, a, chosen, &rq->print.nr_functions);
		rq->print.functions = chosen;
		rq->print.annotation = a;
		error = print(rq);
	}
	/* Where filters leave nothing, that was told, and is no fault of the name. */
	if (!error && rq->symbol && rq->print.nr_functions == 0 &&
	    !(filter_given(rq->load.filter) && annotation_functions(a) == 0)) {
		say_not_found(rq, a);
		rq->print.load->status = EXIT_FAILED;
	}
	free(chosen);
	return error;
}

static int
annotate(struct request *rq)
{
	const struct profile_options po = { .by_address = true, .leaf_only = true };
	struct annotation *a = NULL;
	struct load l;
	int error, status;

	rq->load.keep_code = true;
	rq->load.opened = note_recording;
	rq->load.opened_arg = rq;
	rq->print.load = &l;
	status = load_open(&l, &rq->load, &po);
	if (status == 0) {
		error = annotation_build(l.profile, &a);
		if (error == 0)
			error = annotate_functions(rq, a);
		if (error < 0)
			screen_text_warn("%s", fmt_error_text(error));
		status = error < 0 ? EXIT_FAILED : l.status;
	}
	annotation_free(a);
	load_close(&l);
	return status;
}

/* Of two arguments one is the file, in either order; the symbol stays at *first. */
static int
take_file(struct request *rq, int argc, char **argv, int *first)
{
	const int nr = argc - *first;
	bool is_first;

	if (nr < 2)
		return CLI_GO_ON;
	is_first = nr == 2 && input_is_first(argv[*first], argv[*first + 1]);
	if (nr > 2 || rq->load.path || (!is_first && !input_is_recording(argv[*first + 1])))
		return cli_usage_error("annotate", "'%s' is one function too many",
				       argv[*first + 1]);
	rq->load.path = argv[is_first ? *first : *first + 1];
	*first += is_first;
	return CLI_GO_ON;
}

int
cmd_annotate(int argc, char **argv)
{
	struct request rq = { 0 };
	int first, status = load_init(&rq.load, "annotate");

	if (status != 0)
		return status;
	status = cli_parse(&syntax, argc, argv, cmd_annotate_set, &rq, &first);
	if (status == CLI_GO_ON)
		status = take_file(&rq, argc, argv, &first);
	if (status == CLI_GO_ON && first < argc && !rq.load.path && input_is_recording(argv[first]))
		status = cli_usage_error("annotate",
					 "'%s' is a recording, and no function: use -i FILE",
					 argv[first]);
	if (status == CLI_GO_ON && rq.print.no_lines && rq.print.listing.no_instructions)
		status = cli_usage_error("annotate", "--asm and --lines: one of them");
	if (status == CLI_GO_ON) {
		rq.symbol = first < argc ? argv[first] : NULL;
		status = annotate(&rq);
	}
	skid_events_done(&rq.events);
	load_done(&rq.load);
	return status;
}
