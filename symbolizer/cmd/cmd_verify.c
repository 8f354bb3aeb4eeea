/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor verify: is every block of a recording whole? */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "symbolizer/cli/cli.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/input/input_set.h"
#include "symbolizer/text/json_value.h"

enum { OPT_JSON = 0x100 };

static const struct cli_option options[] = {
	{ 'i', 'i', "input", "FILE",
	  "recording or archive directory to check; - is standard input" },
	{ 'q', 'q', "quiet", NULL, "print nothing: the exit status tells" },
	{ OPT_JSON, 0, "json", NULL, "one JSON object instead of text" },
	{ 0 },
};

static const struct cli_syntax syntax = {
	.command = "verify",
	.synopsis = "[options] [FILE]",
	.about = "Reads every block of a recording (default: recording.spoor), or of those in an "
		 "archive directory, and checks it. "
		 "Exit status: 0 clean, 3 damaged but readable, 1 not readable.",
	.options = options,
};

struct request {
	const char *path;
	bool quiet, json;
};

static int
cmd_verify_set(void *arg, int value, const char *text)
{
	struct request *rq = arg;

	if (value == 'i')
		rq->path = text;
	else if (value == 'q')
		rq->quiet = true;
	else
		rq->json = true;
	return CLI_GO_ON;
}

/* Of an archive with the file's name, since there is an object a line. 0, or -FMT_E_NOMEM. */
static int
print_json(const struct recording_health *h, const char *verdict, const char *file)
{
	json_t *j = json_object();
	int error = 0;

	if (file)
		error |= json_object_set_new(j, "file", json_value_text(file));
	error |= json_object_set_new(j, "verdict", json_string(verdict));
	error |= json_object_set_new(j, "blocks", json_value_number(h->blocks));
	error |= json_object_set_new(j, "damaged_blocks", json_value_number(h->damaged_blocks));
	error |= json_object_set_new(j, "damaged_bytes", json_value_number(h->damaged_bytes));
	error |= json_object_set_new(j, "moved_blocks", json_value_number(h->moved_blocks));
	error |= json_object_set_new(j, "bad_indexes", json_value_number(h->bad_indexes));
	error |= json_object_set_new(j, "unknown_blocks", json_value_number(h->unknown_blocks));
	error |= json_object_set_new(j, "torn_tail_bytes", json_value_number(h->torn_tail_bytes));
	error |= json_object_set_new(j, "header_damaged", json_boolean(h->header_damaged));
	error |= json_object_set_new(j, "closed", json_boolean(h->closed));
	if (h->first.detail[0]) {
		error |= json_object_set_new(j, "first_offset", json_value_number(h->first.offset));
		error |= json_object_set_new(j, "first_damage", json_value_text(h->first.detail));
	}
	if (!error &&
	    json_value_dump(j, stdout,
			    file ? JSON_COMPACT | JSON_PRESERVE_ORDER : JSON_INDENT(2)) == 0)
		putchar('\n');
	json_decref(j);
	return error ? -FMT_E_NOMEM : 0;
}

/* A file that is being written is clean without an end. */
static bool
is_clean(const struct input *in)
{
	struct recording_health h = *recording_reader_health(in->reader);

	h.closed = h.closed || in->live;
	h.torn_tail_bytes = in->live ? 0 : h.torn_tail_bytes;
	return recording_health_clean(&h) && !in->incomplete;
}

static int
verify(const struct request *rq, const struct input *in, bool archive)
{
	struct fmt_where where = { 0 };
	const struct recording_health *h;
	int result = recording_reader_verify(in->reader, &where);
	bool clean;

	if (result < 0)
		return input_failed(in, result, &where);
	h = recording_reader_health(in->reader);
	clean = is_clean(in);
	if (rq->quiet)
		return clean ? EXIT_DONE : EXIT_DAMAGED;
	if (rq->json && print_json(h, clean ? "clean" : "damaged", archive ? in->path : NULL) < 0)
		return cli_no_memory();
	input_warn_damage(in);
	if (!rq->json)
		printf("%s: %s, %" PRIu64 " blocks are whole\n", in->path,
		       clean ? "clean" : "damaged but readable", h->blocks);
	return clean ? EXIT_DONE : EXIT_DAMAGED;
}

/* Of a file with parts: what stands before them. */
static int
verify_cover(const struct request *rq, const struct input_set *inputs)
{
	struct io_source *source = input_parts_cover(&inputs->parts);
	struct input in;
	int status;

	if (!source)
		return cli_no_memory();
	status = input_open_source(&in, source, inputs->path, &inputs->parts.access);
	if (status != EXIT_DONE)
		return status;
	in.incomplete = !inputs->parts.whole;
	status = verify(rq, &in, true);
	input_close(&in);
	return status;
}

/* The worst of all. */
static int
verify_all(const struct request *rq, struct input_set *inputs)
{
	int status = inputs->parts.file ? verify_cover(rq, inputs) : EXIT_DONE, one, more;

	while ((more = input_set_next(inputs)) > 0) {
		one = verify(rq, &inputs->in, inputs->archive);
		input_set_leave(inputs);
		if (status != EXIT_FAILED && one != EXIT_DONE)
			status = one;
	}
	return more < 0 || inputs->skipped > 0 ? EXIT_FAILED : status;
}

int
cmd_verify(int argc, char **argv)
{
	struct request rq = { 0 };
	struct input_set inputs;
	int status;

	status = cli_parse_file(&syntax, argc, argv, cmd_verify_set, &rq, &rq.path);
	if (status != CLI_GO_ON)
		return status;
	status = input_set_open(&inputs, rq.path, NULL);
	if (status == 0)
		status = verify_all(&rq, &inputs);
	input_set_close(&inputs);
	return status;
}
