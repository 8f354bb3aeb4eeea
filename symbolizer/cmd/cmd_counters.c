/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor counters: what the events without samples counted, over time. */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/time_text.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/cli/pager.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/input/input_set.h"
#include "symbolizer/load/load.h"
#include "symbolizer/counts/count_rows.h"
#include "symbolizer/counts/count_totals.h"
#include "symbolizer/profile/filter.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/counters_print.h"

enum { OPT_JSON = 0x100, OPT_INTERVAL };

static const struct cli_option options[] = {
	{ 'i', 'i', "input", "FILE",
	  "recording or archive directory to read; - is standard input" },
	{ OPT_INTERVAL, 0, "interval", "TIME", "add up the readings of so long: 10s, 5m..." },
	{ 'A', 'A', "per-cpu", NULL, "of each CPU for itself" },
	{ 'x', 'x', "field-separator", "SEP", "fields with that between them, as perf stat -x" },
	{ OPT_JSON, 0, "json", NULL, "one JSON object a line" },
#define ROW(id, letter, name, arg, help) { FILTER_OPTION_##id, 0, name, arg, help },
	CLI_NO_PAGER_ROW FILTER_TIME_OPTIONS(ROW){ 0 },
};

static const struct cli_syntax syntax = {
	.command = "counters",
	.synopsis = "[options] [FILE]",
	.about =
		"Prints what events counted from one reading to the next, of a recording (default: "
		"recording.spoor) in which spoor record had counters.",
	.options = options,
};

struct request {
	const char *path;
	struct filter *filter;
	uint64_t span_ns;
	const char *separator; /* NULL: none */
	bool per_cpu, json;
	const struct input_set *inputs;
	const struct event_set *events; /* of the open recording */
	struct counted_list counted;	/* of the row that is printed */
	struct count_totals *totals;
	uint64_t counted_ns, rows, backwards;
};

static int
cmd_counters_set(void *arg, int value, const char *text)
{
	struct request *rq = arg;
	const char *why;

	switch (value) {
	case 'i':
		rq->path = text;
		return CLI_GO_ON;
	case 'A':
		rq->per_cpu = true;
		return CLI_GO_ON;
	case 'x':
		if (!*text)
			return cli_usage_error("counters", "-x: a separator, such as a comma");
		rq->separator = text;
		return CLI_GO_ON;
	case OPT_JSON:
		rq->json = true;
		return CLI_GO_ON;
	case OPT_INTERVAL:
		if (time_text_duration(text, &rq->span_ns) == 0 && rq->span_ns > 0)
			return CLI_GO_ON;
		return cli_usage_error("counters", "--interval %s: a time such as 10s or 5m", text);
	}
	if (filter_set(rq->filter, value, text, &why) < 0)
		return cli_usage_error("counters", "--%s %s: %s", load_option_name(value), text,
				       why);
	return CLI_GO_ON;
}

/* --- rows -------------------------------------------------------------------------------- */

static int
print_row(const struct request *rq, const struct counters_row *row)
{
	if (rq->json)
		return counters_json(stdout, row);
	if (rq->separator)
		counters_fields(stdout, row, rq->per_cpu, rq->separator);
	else
		counters_text(stdout, row, rq->per_cpu);
	return 0;
}

/*
 * Those events that have counts, in the order of the recording. The work is that of the counts, for who makes a
 * recording may give it as many events as it has room for.
 */
static int
list_counted(struct request *rq, const struct read_counts *counts, bool all)
{
	int r = 0;

	counted_list_clear(&rq->counted);
	for (size_t i = 0; r == 0 && i < counts->nr;) {
		const uint32_t event = counts->of[i].event;
		const struct event *e = event_set_at(rq->events, event);
		const struct counted c = { e->name, &e->attr, read_counts_total(counts, event),
					   e->unit };

		r = counted_list_add(&rq->counted, &c);
		if (r == 0 && all)
			r = count_totals_add(rq->totals, rq->events, event, &c.total);
		while (i < counts->nr && counts->of[i].event == event)
			i++;
	}
	return r;
}

static int
by_cpu(const void *va, const void *vb)
{
	const struct read_count *a = va, *b = vb;

	return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

/* How long each CPU was asked to count is known of whole CPUs alone, and so is the scale of its counts. */
static int
print_cpus(struct request *rq, const struct count_row *row, struct counters_row *line)
{
	const size_t nr = row->counts.nr;
	struct read_count *of = reallocarray(NULL, nr, sizeof(*of));
	int r = of ? 0 : -FMT_E_NOMEM;

	if (of) {
		memcpy(of, row->counts.of, nr * sizeof(*of));
		qsort(of, nr, sizeof(*of), by_cpu);
	}
	for (size_t i = 0, end; r == 0 && i < nr; i = end) {
		struct read_counts one = { .of = &of[i] };

		line->cpu = of[i].cpu;
		for (end = i; end < nr && of[end].cpu == line->cpu; end++)
			one.nr++;
		read_counts_settle(&one);
		r = list_counted(rq, &one, false);
		if (r == 0)
			r = print_row(rq, line);
	}
	free(of);
	return r;
}

static bool
of_tasks(const struct count_row *row)
{
	for (size_t i = 0; i < row->counts.nr; i++)
		if (row->counts.of[i].task != UINT32_MAX)
			return true;
	return false;
}

/* What stands above the first row. */
static void
begin_rows(struct request *rq, const struct count_row *row)
{
	pager_start();
	if (rq->per_cpu && of_tasks(row)) {
		screen_text_warn("-A: these are counts of processes, not of CPUs");
		rq->per_cpu = false;
	}
	if (!rq->json && !rq->separator)
		counters_text_header(stdout, rq->per_cpu);
}

static int
show_row(void *arg, const struct count_row *row)
{
	struct request *rq = arg;
	const struct input_set *s = rq->inputs;
	struct counters_row line = { .counted = &rq->counted,
				     .cpu = COUNTERS_ALL,
				     .from_ns = row->from_ns + s->shift_ns,
				     .until_ns = row->until_ns + s->shift_ns,
				     .start_ns = s->start.monotonic,
				     .counted_ns = row->until_ns - row->from_ns };
	int r = list_counted(rq, &row->counts, true);

	if (r < 0)
		return r;
	line.realtime_ns = input_set_wall(s, line.until_ns);
	if (rq->rows++ == 0)
		begin_rows(rq, row);
	rq->counted_ns += line.counted_ns;
	return rq->per_cpu ? print_cpus(rq, row, &line) : print_row(rq, &line);
}

/* Lines for people end in the sum of all. */
static int
show_total(const struct request *rq)
{
	const struct counters_row line = { .counted = count_totals_all(rq->totals),
					   .cpu = COUNTERS_ALL,
					   .counted_ns = rq->counted_ns,
					   .total = true };

	if (!line.counted)
		return -FMT_E_NOMEM;
	puts("#");
	counters_text_header(stdout, false);
	counters_text(stdout, &line, false);
	if (count_totals_left_out(rq->totals))
		screen_text_warn(
			"more than %d events were counted: the total is of those that came first",
			COUNT_TOTALS_MAX);
	return 0;
}

/* --- recordings -------------------------------------------------------------------------- */

static int
counters_one(struct request *rq, const struct input *in)
{
	const struct recording_meta *meta = recording_reader_meta(in->reader);
	const struct count_rows_options o = { .interval_ns = meta->counter_interval_ns,
					      .span_ns = rq->span_ns,
					      .see = show_row,
					      .arg = rq };
	struct fmt_where where = { 0 };
	struct stream_record rec;
	struct count_rows rows;
	int r = 0;

	count_totals_begin(rq->totals);
	count_rows_init(&rows, &o);
	/* A full disk or a reader that left: main says which. */
	while (!ferror(stdout) && (r = record_stream_next(in->stream, &rec, &where)) > 0) {
		rq->events = recording_reader_meta(in->reader)->events;
		/* An interval is of the time in which it ends. */
		if (rec.record && rec.record->type == REC_READ)
			r = count_rows_add(&rows, rq->events, rec.record,
					   !record_stream_has(in->stream, rec.record->sid.time));
		if (r < 0)
			break;
	}
	r = ferror(stdout) ? 0 : r;
	if (r == 0)
		r = count_rows_end(&rows);
	rq->backwards += rows.backwards;
	count_rows_done(&rows);
	return r < 0 ? input_failed(in, r, &where) : EXIT_DONE;
}

static int
counters_all(struct request *rq, struct input_set *inputs)
{
	int more, status = EXIT_DONE;

	while ((more = input_set_next(inputs)) > 0) {
		if (counters_one(rq, &inputs->in) != EXIT_DONE)
			status = EXIT_FAILED;
		if (ferror(stdout))
			return EXIT_FAILED;
		if (input_set_finish(inputs) < 0)
			return cli_no_memory();
	}
	if (rq->rows > 0 && !rq->json && !rq->separator && show_total(rq) < 0)
		return cli_no_memory();
	input_set_warn(inputs, true);
	if (rq->backwards)
		screen_text_warn(
			"%llu counts were less than at the reading before, and are left out",
			(unsigned long long)rq->backwards);
	if (more == 0 && rq->rows == 0) {
		screen_text_warn("nothing was read twice there: spoor record --counters reads "
				 "counts at intervals");
		/* A window may have none. */
		if (!filter_given(rq->filter))
			status = EXIT_FAILED;
	}
	return more < 0 ? EXIT_FAILED : status;
}

int
cmd_counters(int argc, char **argv)
{
	struct request rq = { .filter = filter_new(load_now()), .totals = count_totals_new() };
	struct input_set inputs;
	int status = EXIT_FAILED;

	if (rq.filter && rq.totals)
		status = cli_parse_file(&syntax, argc, argv, cmd_counters_set, &rq, &rq.path);
	if (status == CLI_GO_ON && rq.json && rq.separator)
		status = cli_usage_error("counters", "--json and -x exclude each other");
	if (status == CLI_GO_ON) {
		rq.inputs = &inputs;
		status = input_set_open(&inputs, rq.path, rq.filter);
		if (status == 0)
			status = counters_all(&rq, &inputs);
		input_set_close(&inputs);
	}
	filter_free(rq.filter);
	counted_list_done(&rq.counted);
	count_totals_free(rq.totals);
	return status;
}
