/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor dump: every record of a recording in time order, one a line. */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "symbolizer/cli/cli.h"
#include "symbolizer/cli/pager.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/dump/record_text.h"
#include "symbolizer/input/coverage.h"
#include "symbolizer/input/input_set.h"
#include "symbolizer/profile/filter.h"
#include "symbolizer/profile/record_filter.h"
#include "symbolizer/load/load.h"
#include "symbolizer/load/unmet.h"

enum { OPT_JSON = 0x100 };

static const struct cli_option options[] = {
	{ 'i', 'i', "input", "FILE",
	  "recording or archive directory to read; - is standard input" },
	{ OPT_JSON, 0, "json", NULL, "one JSON object a line" },
#define ROW(id, letter, name, arg, help) { FILTER_OPTION_##id, 0, name, arg, help },
	FILTER_RECORD_OPTIONS(ROW){ 0 },
};

static const struct cli_syntax syntax = {
	.command = "dump",
	.synopsis = "[options] [FILE]",
	.about =
		"Prints every record of a recording (default: recording.spoor) in time order, with "
		"every field it has. Filters choose samples; other records are always printed.",
	.options = options,
};

struct request {
	const char *path;
	bool json;
	struct filter *filter;
	uint64_t samples; /* that were printed */
};

static int
cmd_dump_set(void *arg, int value, const char *text)
{
	struct request *rq = arg;
	const char *why;

	if (value == 'i')
		rq->path = text;
	else if (value == OPT_JSON)
		rq->json = true;
	else if (filter_set(rq->filter, value, text, &why) < 0)
		return cli_usage_error("dump", "--%s %s: %s", load_option_name(value), text, why);
	return CLI_GO_ON;
}

/* One line; 0, or -FMT_E_NOMEM. */
static int
print_record(const struct request *rq, const struct stream_record *rec,
	     const struct record_text_about *about)
{
	json_t *j;

	if (!rq->json) {
		if (rec->record)
			record_text(stdout, rec->record, about);
		else
			record_text_bad(stdout, rec->bad, "no event could parse it");
		return 0;
	}
	j = rec->record ? record_text_json(rec->record, about)
			: record_text_bad_json(rec->bad, "no event could parse it");
	if (!j)
		return -FMT_E_NOMEM;
	/* A failed write shows at exit. */
	if (json_dumpf(j, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_ENSURE_ASCII) == 0)
		putchar('\n');
	json_decref(j);
	return 0;
}

/* The records of one recording: EXIT_DONE, or EXIT_FAILED with a message. */
static int
dump_one(struct request *rq, const struct input *in)
{
	struct tracepoints tracepoints = { 0 };
	struct fmt_where where = { 0 };
	struct record_filter filter;
	struct stream_record rec;
	int result = record_filter_init(&filter, rq->filter, recording_reader_meta(in->reader));

	record_stream_on_block(in->stream, record_filter_block, &filter);
	/* A full disk or a reader that left: main says which. */
	while (result >= 0 && !ferror(stdout) &&
	       (result = record_stream_next(in->stream, &rec, &where)) > 0) {
		const struct recording_meta *meta = recording_reader_meta(in->reader);
		struct record_text_about about = { .arch = meta->arch,
						   .events = meta->events,
						   .state = rec.state };

		if (rec.event >= 0)
			about.event = event_set_at(meta->events, (size_t)rec.event)->name;
		about.tracepoint = tracepoints_of(&tracepoints, meta->events, rec.event);
		result = record_filter_see(&filter, &rec, meta->events);
		rq->samples += result > 0 && rec.record && rec.record->type == REC_SAMPLE;
		if (result > 0)
			result = print_record(rq, &rec, &about);
	}
	record_stream_on_block(in->stream, NULL, NULL);
	record_filter_done(&filter);
	tracepoints_done(&tracepoints);
	if (result < 0)
		return input_failed(in, result, &where);
	return ferror(stdout) ? EXIT_FAILED : EXIT_DONE;
}

static int
dump(struct request *rq, struct input_set *inputs)
{
	int more, status = EXIT_DONE;

	while ((more = input_set_next(inputs)) > 0) {
		pager_start();
		if (dump_one(rq, &inputs->in) != EXIT_DONE)
			status = EXIT_FAILED;
		if (ferror(stdout))
			return EXIT_FAILED;
		if (input_set_finish(inputs) < 0)
			return cli_no_memory();
	}
	input_set_warn(inputs, true);
	if (filter_given(rq->filter) && rq->samples == 0 && more == 0)
		coverage_warn_nothing(inputs);
	if (more == 0)
		unmet_warn(inputs, NULL);
	return more < 0 ? EXIT_FAILED : status;
}

int
cmd_dump(int argc, char **argv)
{
	struct request rq = { .filter = filter_new(load_now()) };
	struct input_set inputs;
	int status = EXIT_FAILED;

	if (rq.filter)
		status = cli_parse_file(&syntax, argc, argv, cmd_dump_set, &rq, &rq.path);
	if (status == CLI_GO_ON) {
		status = input_set_open(&inputs, rq.path, rq.filter);
		if (status == 0)
			status = dump(&rq, &inputs);
		input_set_close(&inputs);
	}
	filter_free(rq.filter);
	return status;
}
