/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor info: what a recording is and has. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bsd/stdlib.h>
#include <jansson.h>

#include "format/block/aux_trace.h"
#include "format/block/unwind_text.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/cli/pager.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/dump/attr_text.h"
#include "symbolizer/input/input_set.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/json_value.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/info_json.h"
#include "symbolizer/view/info_names.h"

enum { OPT_JSON = 0x100, OPT_NAMES };

static const struct cli_option options[] = {
	{ 'i', 'i', "input", "FILE",
	  "recording or archive directory to read; - is standard input" },
	{ 'v', 'v', "verbose", NULL, "the attr of each event, as perf evlist -v has it" },
	{ OPT_NAMES, 0, "names", NULL,
	  "which processes have samples without a name, why, and what would name them" },
	{ OPT_JSON, 0, "json", NULL, "one JSON object instead of text" },
	{ 0 },
};

static const struct cli_syntax syntax = {
	.command = "info",
	.synopsis = "[options] [FILE]",
	.about =
		"Says what a recording (default: recording.spoor) is, what it has and what it lost; of "
		"an archive directory, in short, the same of each recording in it.",
	.options = options,
};

struct request {
	const char *path;
	bool json, verbose, names;
};

static int
cmd_info_set(void *arg, int value, const char *text)
{
	struct request *rq = arg;

	if (value == 'i')
		rq->path = text;
	else if (value == 'v')
		rq->verbose = true;
	else if (value == OPT_NAMES)
		rq->names = true;
	else
		rq->json = true;
	return CLI_GO_ON;
}

/* --- text -------------------------------------------------------------------------------- */

#define KEY "%-14s"
#define INDENT "                 " /* of what a terminal has no room for in a line */
#define LISTED_MAX 20		   /* of each kind of event in the recorder's life */

/* Names are the recording's: nothing in them may move the cursor. */
static void
print_word(const char *text)
{
	char *shown = escape_dup(text);

	fputs(shown ? shown : "(out of memory)", stdout);
	free(shown);
}

static void
print_text(const char *key, const char *text)
{
	char *shown = escape_dup(text);

	if (*text)
		screen_text_print(stdout, cli_columns(), INDENT, KEY " %s", key,
				  shown ? shown : "(out of memory)");
	free(shown);
}

static void
print_lines(const char *key, const char *text)
{
	char *copy = strdup(text), *rest = copy, *line;

	if (!copy)
		print_text(key, "(out of memory)");
	while ((line = strsep(&rest, "\n"))) {
		print_text(key, line);
		key = "";
	}
	free(copy);
}

static void
print_size(const char *key, uint64_t bytes)
{
	char text[16];

	if (bytes < 1024 || bytes > INT64_MAX ||
	    humanize_number(text, 9, (int64_t)bytes, "B", HN_AUTOSCALE,
			    HN_DECIMAL | HN_IEC_PREFIXES) < 0)
		printf(KEY " %" PRIu64 " bytes\n", key, bytes);
	else
		printf(KEY " %s (%" PRIu64 " bytes)\n", key, text, bytes);
}

static void
print_date(const char *key, uint64_t realtime_ns, uint64_t ns)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000);
	char text[64];
	struct tm tm;

	if (realtime_ns == 0 || !localtime_r(&seconds, &tm) ||
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &tm) == 0)
		return;
	printf(KEY " %s for %" PRIu64 ".%03" PRIu64 " s\n", key, text, ns / 1000000000,
	       ns / 1000000 % 1000);
}

static void
print_loss(const struct info *info)
{
	const struct loss *loss = info->summary.loss;
	uint64_t lost = loss_samples(loss), all = lost + info->summary.samples;
	char text[64];
	uint32_t cpu;

	printf(KEY " %" PRIu64 " samples", "lost", lost);
	if (lost > 0)
		printf(" (%.2f %% of %" PRIu64 ")", 100.0 * (double)lost / (double)all, all);
	putchar('\n');
	if (info->summary.throttled_ns > 0)
		printf(KEY "   events were throttled for %.6f s in all\n", "",
		       (double)info->summary.throttled_ns / 1e9);
	for (int i = 0; i < LOSS_CAUSES; i++) {
		enum loss_cause cause = (enum loss_cause)i;

		if (loss_total(loss, cause) == 0)
			continue;
		input_loss_text(cause, loss_total(loss, cause), text, sizeof(text));
		screen_text_print(stdout, cli_columns(), INDENT "  ", KEY "   %s %s", "", text,
				  loss_text(cause));
		for (size_t k = 0; loss_cpu_at(loss, k, &cpu) == 0; k++) {
			if (loss_get(loss, cpu, cause) == 0 || cpu == UINT32_MAX)
				continue;
			input_loss_text(cause, loss_get(loss, cpu, cause), text, sizeof(text));
			printf(KEY "     CPU %u: %s\n", "", cpu, text);
		}
	}
}

static void
print_gaps(const struct info *info)
{
	const struct gap_list *l = &info->summary.gaps;
	const char *key = "gaps";
	char text[160];

	for (size_t i = 0; i < l->nr && i < LISTED_MAX; i++) {
		input_gap_text(&l->gaps[i], info->meta->start.monotonic, text, sizeof(text));
		print_text(key, text);
		key = "";
	}
	if (l->nr > LISTED_MAX || l->more)
		printf(KEY " and %" PRIu64 " more\n", key, l->nr - LISTED_MAX + l->more);
}

static void
print_rates(const struct info *info)
{
	const struct rate_list *l = &info->summary.rates;

	for (size_t i = 0; i < l->nr && i < LISTED_MAX; i++) {
		const struct rate *r = &l->rates[i];

		printf(KEY "   %" PRIu64 " Hz from %+.3f s on: %s\n", "", r->effective_hz,
		       ((double)r->time_ns - (double)info->meta->start.monotonic) / 1e9,
		       rate_reason_text(r->reason));
	}
	if (l->nr > LISTED_MAX || l->more)
		printf(KEY "   and %" PRIu64 " more changes\n", "", l->nr - LISTED_MAX + l->more);
}

/* What an event counted, where that is told. */
static void
print_count(const struct info *info, size_t event)
{
	const struct read_total t = read_counts_total(&info->summary.counts, event);
	const struct count_unit *u = &event_set_at(info->meta->events, event)->unit;
	char value[COUNT_UNIT_TEXT_BYTES], *unit;

	if (!t.known)
		return;
	printf(KEY "   %s %" PRIu64, "", t.level ? "was at the end" : "counted", t.value);
	if (read_total_shared(&t))
		printf(" in %.1f %% of the time, which makes %" PRIu64 " of all of it",
		       read_total_percent(&t), read_total_scaled(&t));
	if (*u->name || u->scale != 0) {
		unit = escape_dup(u->name);
		count_unit_text(u, read_total_scaled(&t), value);
		printf(": %s%s%s", value, *u->name ? " " : "", unit ? unit : "");
		free(unit);
	}
	putchar('\n');
}

static void
print_attr(const struct event *e)
{
	struct perf_event_attr attr;
	struct buf text;

	attr_text_of(e->attr_raw, &attr);
	buf_init(&text);
	buf_text(&text, "  attr ");
	attr_text(&attr, &text);
	buf_u8(&text, 0);
	print_text("", buf_failed(&text) ? "  attr (out of memory)" : (const char *)text.p);
	buf_done(&text);
}

static void
print_events(const struct info *info)
{
	const struct event_set *events = info->meta->events;

	for (size_t i = 0; i < event_set_count(events); i++) {
		const struct event *e = event_set_at(events, i);
		const struct event_attr *a = &e->attr;

		print_text(i == 0 ? "events" : "", e->name);
		printf(KEY "   %" PRIu64 " samples, %s %" PRIu64 "%s, type %u config %#" PRIx64
			   ", %zu ids\n",
		       "", i < info->summary.nr_events ? info->summary.event_samples[i] : 0,
		       event_attr_has(a, EVENT_ATTR_freq) ? "frequency" : "period",
		       a->sample_period, event_attr_has(a, EVENT_ATTR_freq) ? " Hz" : "", a->type,
		       a->config, e->nr_ids);
		if (info->attrs)
			print_attr(e);
		print_count(info, i);
	}
}

static void
print_tool_counts(const struct summary *s)
{
	for (uint32_t i = 0; i < SUMMARY_TOOL_TYPES; i++) {
		const char *name = perfdata_record_name(REC_USER_FIRST + i);

		if (s->tool_records[i] > 0 && name)
			printf(KEY "   %-18s %10" PRIu64 " (of perf)\n", "", name,
			       s->tool_records[i]);
	}
	if (s->other_tool_records > 0)
		printf(KEY "   %-18s %10" PRIu64 " (of perf)\n", "", "of other types",
		       s->other_tool_records);
}

static void
print_counts(const struct info *info)
{
	char unwound[UNWIND_TEXT_MAX];
	const struct summary *s = &info->summary;

	printf(KEY " %" PRIu64, "samples", s->samples);
	if (s->exact_samples > 0)
		printf(", %" PRIu64 " with the exact address of the event", s->exact_samples);
	putchar('\n');
	printf(KEY " %" PRIu64 ", and %" PRIu64 " of the state at the beginning\n", "records",
	       s->records, s->state_records);
	for (uint32_t type = 1; type < REC_KERNEL_MAX; type++) {
		if (s->by_type[type] > 0)
			printf(KEY "   %-18s %10" PRIu64 "\n", "", perf_record_type_name(type),
			       s->by_type[type]);
	}
	if (s->other_types > 0)
		printf(KEY "   %-18s %10" PRIu64 "\n", "", "of other types", s->other_types);
	if (s->bad_records > 0)
		printf(KEY "   %-18s %10" PRIu64 "\n", "", "not parseable", s->bad_records);
	print_tool_counts(s);
	printf(KEY " %" PRIu64 " kernel symbols, %" PRIu64 " build-ids read by the recorder\n",
	       "names", s->kernel_symbols, s->build_ids);
	if (unwind_text(&s->stops, unwound))
		printf(KEY " %s\n", "stacks", unwound);
	if (s->jit_symbols > 0)
		printf(KEY " %" PRIu64 " of code made at run time\n", "", s->jit_symbols);
	if (s->packed_objects > 0)
		printf(KEY " %" PRIu64 " files of objects, %" PRIu64 " bytes\n", "packed",
		       s->packed_objects,
		       s->by_block[BLOCK_OBJECT].stored_bytes +
			       s->by_block[BLOCK_PIECE].stored_bytes);
}

static void
print_aux(const struct summary *s)
{
	const char *tracer = aux_tracer_name(s->aux_tracer);

	if (s->aux_pieces == 0)
		return;
	printf(KEY " %" PRIu64 " bytes of %s in %" PRIu64 " pieces: export them for perf script\n",
	       "AUX area", s->aux_bytes, tracer ? tracer : "an unknown tracer", s->aux_pieces);
}

static void
print_blocks(const struct info *info)
{
	const char *key = "blocks";

	for (uint8_t type = 1; type < SUMMARY_BLOCK_TYPES; type++) {
		const struct summary_blocks *b = &info->summary.by_block[type];

		if (b->blocks == 0)
			continue;
		printf(KEY " %-9s %6" PRIu64 ", %12" PRIu64 " bytes, %12" PRIu64 " unpacked\n", key,
		       block_type_name(type), b->blocks, b->stored_bytes, b->raw_bytes);
		key = "";
	}
}

/* Of a flight recorder's file the samples are older than the file. 0: not known. */
static uint64_t
began_realtime(const struct info *info)
{
	const struct clock_triple *start = &info->meta->start;
	const uint64_t first_ns = info->summary.first_ns;

	if (!start->realtime || !first_ns || first_ns > start->monotonic)
		return start->realtime;
	return start->realtime - (start->monotonic - first_ns);
}

static void
print_info(const struct info *info)
{
	const struct recording_meta *m = info->meta;

	print_loss(info);
	print_gaps(info);
	print_counts(info);
	print_date("recorded", began_realtime(info),
		   info->summary.last_ns - info->summary.first_ns);
	if (m->frequency_hz > 0)
		printf(KEY " %" PRIu64 " Hz, got %" PRIu64 " Hz\n", "frequency", m->frequency_hz,
		       m->frequency_hz_effective);
	print_rates(info);
	print_events(info);
	print_aux(&info->summary);
	print_text("command", m->cmdline);
	print_lines("notes", m->notes);
	print_text("host", m->hostname);
	if (m->pid_namespace)
		printf(KEY " %" PRIu64
			   ", not the host's first: of pid 0 is what was outside of it\n",
		       "PID namespace", m->pid_namespace);
	print_text("kernel", m->release);
	print_text("architecture", m->arch);
	printf(KEY " %u online of %u, pages of %u bytes\n", "CPUs", m->cpus_online,
	       m->cpus_possible, m->page_size);
	print_text("written by", m->writer);
	print_text("file", info->path);
	print_size("size", info->file_bytes);
	if (info->summary.samples > 0)
		printf(KEY " %.2f bytes\n", "per sample",
		       (double)info->file_bytes / (double)info->summary.samples);
	printf(KEY " %s\n", "closed",
	       info->health.closed ? "in order" : "no: killed, cut, or still being written");
	printf(KEY " %" PRIu64 "\n", "damaged blocks", info->health.damaged_blocks);
	print_blocks(info);
}

/* ----------------------------------------------------------------------------------------- */

/* What a person is told of all recordings of an archive together. */
struct totals {
	uint64_t recordings, samples, lost, file_bytes, damaged_blocks;
	json_t *each; /* --json */
};

static void
print_row(const struct info *info, bool live)
{
	const struct summary *s = &info->summary;
	const struct recording_meta *m = info->meta;
	time_t seconds =
		(time_t)((m->start.realtime + (s->first_ns - m->start.monotonic)) / 1000000000);
	char text[64] = "-";
	struct tm tm;

	if (m->start.realtime != 0 && s->first_ns != 0 && localtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	printf("%-19s %9.1f %11" PRIu64 " %9" PRIu64 " %12" PRIu64 "  ", text,
	       (double)(s->last_ns - s->first_ns) / 1e9, s->samples, loss_samples(s->loss),
	       info->file_bytes);
	print_word(info->path);
	puts(live ? " (being written)" : info->health.damaged_blocks > 0 ? " (damaged)" : "");
}

static int
show_row(const struct request *rq, const struct info *info, bool live, struct totals *t)
{
	json_t *j;

	if (!rq->json && t->recordings == 0) {
		pager_start();
		printf("%-19s %9s %11s %9s %12s  %s\n", "FROM", "SECONDS", "SAMPLES", "LOST",
		       "BYTES", "FILE");
	}
	t->recordings++;
	t->samples += info->summary.samples;
	t->lost += loss_samples(info->summary.loss);
	t->file_bytes += info->file_bytes;
	t->damaged_blocks += info->health.damaged_blocks;
	if (!rq->json) {
		print_row(info, live);
		return 0;
	}
	if (!t->each)
		t->each = json_array();
	j = info_json(info);
	if (j && json_object_set_new(j, "file", json_value_text(info->path)) == 0 &&
	    json_array_append_new(t->each, j) == 0)
		return 0;
	return -FMT_E_NOMEM;
}

static int
print_json(json_t *j)
{
	if (!j)
		return -FMT_E_NOMEM;
	/* A failed write shows at exit. */
	if (json_dumpf(j, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_ENSURE_ASCII) == 0)
		putchar('\n');
	json_decref(j);
	return 0;
}

static int
show_totals(const struct request *rq, struct totals *t)
{
	if (rq->json)
		return print_json(json_pack("{sIsIsIsIsIsO}", "samples", (json_int_t)t->samples,
					    "lost", (json_int_t)t->lost, "file_bytes",
					    (json_int_t)t->file_bytes, "damaged_blocks",
					    (json_int_t)t->damaged_blocks, "nr_recordings",
					    (json_int_t)t->recordings, "recordings", t->each));
	printf("%-19s %9s %11" PRIu64 " %9" PRIu64 " %12" PRIu64 "  %" PRIu64 " recordings\n",
	       "all", "", t->samples, t->lost, t->file_bytes, t->recordings);
	return 0;
}

static int
show(const struct request *rq, const struct input_set *inputs, struct totals *totals)
{
	const struct input *in = &inputs->in;
	struct fmt_where where = { 0 };
	struct info info = { .path = in->path, .attrs = rq->verbose };
	int error = summary_read(in->reader, &info.summary, &where);

	if (error)
		return input_failed(in, error, &where);
	info.meta = recording_reader_meta(in->reader);
	info.health = *recording_reader_health(in->reader);
	info.file_bytes = recording_reader_size(in->reader);
	input_warn_damage(in);
	if (inputs->archive) {
		error = show_row(rq, &info, in->live, totals);
	} else if (rq->json) {
		error = print_json(info_json(&info));
	} else {
		pager_start();
		print_info(&info);
	}
	summary_done(&info.summary);
	return error ? input_failed(in, error, &where) : EXIT_DONE;
}

static int
show_all(const struct request *rq, struct input_set *inputs)
{
	struct totals totals = { 0 };
	int status = EXIT_DONE, more;

	while ((more = input_set_next(inputs)) > 0) {
		if (show(rq, inputs, &totals) != EXIT_DONE)
			status = EXIT_FAILED;
		input_set_leave(inputs);
	}
	if (totals.recordings > 0 && show_totals(rq, &totals) < 0)
		status = cli_no_memory();
	json_decref(totals.each);
	return more < 0 ? EXIT_FAILED : status;
}

int
cmd_info(int argc, char **argv)
{
	struct request rq = { 0 };
	struct input_set inputs;
	int status;

	status = cli_parse_file(&syntax, argc, argv, cmd_info_set, &rq, &rq.path);
	if (status != CLI_GO_ON)
		return status;
	if (rq.names && rq.verbose)
		return cli_usage_error("info", "--names and --verbose exclude each other");
	if (rq.names)
		return info_names(rq.path, rq.json);
	status = input_set_open(&inputs, rq.path, NULL);
	if (status == 0)
		status = show_all(&rq, &inputs);
	input_set_close(&inputs);
	return status;
}
