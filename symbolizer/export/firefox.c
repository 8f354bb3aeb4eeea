/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/export/firefox.h"

#include <inttypes.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/export/firefox_tables.h"
#include "symbolizer/export/sample_log.h"
#include "symbolizer/text/json_value.h"

#define MSEC_NS 1000000
#define GECKO_VERSION 30 /* of what a processed profile says that it was made of */
#define RESOURCE_LIBRARY 1

/* Numbers of categories: the first grey one is what has no other. */
enum category { USER, KERNEL, JIT, UNKNOWN };
#define CATEGORIES                                                                                 \
	"[{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"                 \
	"{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"                \
	"{\"name\":\"JIT\",\"color\":\"green\",\"subcategories\":[\"Other\"]},"                    \
	"{\"name\":\"Unknown\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}]"
#define MARKER_SCHEMA                                                                              \
	"[{\"name\":\"spoor\",\"tooltipLabel\":\"{marker.name}\","                                 \
	"\"tableLabel\":\"{marker.data.what}\",\"chartLabel\":\"{marker.data.what}\","             \
	"\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"                   \
	"\"fields\":[{\"key\":\"what\",\"label\":\"What\",\"format\":\"string\"},"                 \
	"{\"key\":\"cpu\",\"label\":\"CPU\",\"format\":\"string\"},"                               \
	"{\"key\":\"count\",\"label\":\"Count\",\"format\":\"string\"}]}]"

struct firefox {
	const struct stack_export *x;
	struct firefox_tables t;
	FILE *out;
	struct buf text;
	bool nomem;
	enum loss_cause causes[LOSS_CAUSES]; /* of which something is lost */
	size_t nr_causes;
};

/* --- values ------------------------------------------------------------------------------- */

static void
put_text(struct firefox *f, const char *s)
{
	buf_clear(&f->text);
	json_value_append(&f->text, s);
	if (buf_failed(&f->text))
		f->nomem = true;
	else
		fwrite(f->text.p, 1, f->text.len, f->out);
}

static void
put_member(struct firefox *f, const char *key, const char *s)
{
	fprintf(f->out, ",\"%s\":", key);
	put_text(f, s);
}

static void
put_ms(struct firefox *f, uint64_t ns)
{
	fprintf(f->out, "%" PRIu64 ".%06" PRIu64, ns / MSEC_NS, ns % MSEC_NS);
}

/* A time of the recording's clock, from its start on. */
static void
put_time(struct firefox *f, uint64_t ns)
{
	put_ms(f, ns > f->x->start->monotonic ? ns - f->x->start->monotonic : 0);
}

typedef void put_fn(struct firefox *f, size_t i);

/* "key":[one for each of nr from first on], as one() writes it. */
static void
put_column(struct firefox *f, const char *key, size_t first, size_t nr, put_fn *one)
{
	fprintf(f->out, ",\n\"%s\":[", key);
	for (size_t i = 0; i < nr; i++) {
		if (i > 0)
			putc(',', f->out);
		one(f, first + i);
	}
	putc(']', f->out);
}

struct column {
	const char *key;
	put_fn *one;
};

static void
put_table(struct firefox *f, const char *key, size_t nr, const struct column *columns)
{
	fprintf(f->out, "\n\"%s\":{\"length\":%zu", key, nr);
	for (; columns->key; columns++)
		put_column(f, columns->key, 0, nr, columns->one);
	putc('}', f->out);
}

static void
put_index(struct firefox *f, uint32_t i, const char *none)
{
	if (i == FIREFOX_NONE)
		fputs(none, f->out);
	else
		fprintf(f->out, "%" PRIu32, i);
}

#define CONSTANT(name, value)                                                                      \
	static void put_##name(struct firefox *f, size_t i)                                        \
	{                                                                                          \
		(void)i;                                                                           \
		fputs(value, f->out);                                                              \
	}
CONSTANT(null, "null")
CONSTANT(zero, "0")
CONSTANT(one, "1")
CONSTANT(minus_one, "-1")
CONSTANT(false, "false")

static void
put_number(struct firefox *f, size_t i)
{
	fprintf(f->out, "%zu", i);
}

/* --- strings: names of functions, then of objects, then of files ------------------------------ */

static void
put_func_name(struct firefox *f, uint32_t frame)
{
	struct buf name;

	buf_init(&name);
	stack_export_frame_name(f->x, profile_frame(f->x->profile, frame), buf_text, &name);
	buf_u8(&name, 0);
	if (buf_failed(&name))
		f->nomem = true;
	else
		put_text(f, (const char *)name.p);
	buf_done(&name);
}

static void
put_string(struct firefox *f, size_t i)
{
	const struct firefox_tables *t = &f->t;

	if (i < t->nr_funcs)
		put_func_name(f, t->funcs[i].frame);
	else if (i - t->nr_funcs < t->nr_libs)
		put_text(f, t->libs[i - t->nr_funcs].name);
	else if (i - t->nr_funcs - t->nr_libs < t->nr_sources)
		put_text(f, t->sources[i - t->nr_funcs - t->nr_libs]);
	else
		put_text(f, i - t->nr_funcs - t->nr_libs == t->nr_sources ? "Gap" : "Lost");
}

static size_t
gap_string(const struct firefox *f)
{
	return f->t.nr_funcs + f->t.nr_libs + f->t.nr_sources;
}

/* --- shared tables ------------------------------------------------------------------------ */

static enum category
category_of(const struct frame *frame)
{
	if (frame->kernel)
		return KERNEL;
	if (frame->dso && strncmp(frame->dso, "[JIT]", 5) == 0)
		return JIT;
	return frame->symbol ? USER : UNKNOWN;
}

static const struct frame *
frame_at(const struct firefox *f, size_t i)
{
	return profile_frame(f->x->profile, f->t.frames[i].id);
}

static void
put_category(struct firefox *f, size_t i)
{
	fprintf(f->out, "%d", (int)category_of(frame_at(f, i)));
}

static void
put_frame_func(struct firefox *f, size_t i)
{
	fprintf(f->out, "%" PRIu32, f->t.frames[i].func);
}

static void
put_frame_line(struct firefox *f, size_t i)
{
	const uint32_t line = frame_at(f, i)->line;

	put_index(f, line ? line : FIREFOX_NONE, "null");
}

static const struct column frame_columns[] = {
	{ "address", put_minus_one },  { "inlineDepth", put_zero },
	{ "category", put_category },  { "subcategory", put_zero },
	{ "func", put_frame_func },    { "nativeSymbol", put_null },
	{ "innerWindowID", put_zero }, { "line", put_frame_line },
	{ "column", put_null },	       { NULL, NULL },
};

static void
put_func_lib(struct firefox *f, size_t i)
{
	put_index(f, f->t.funcs[i].lib, "-1");
}

static void
put_func_source(struct firefox *f, size_t i)
{
	put_index(f, f->t.funcs[i].source, "null");
}

static const struct column func_columns[] = {
	{ "name", put_number },		{ "isJS", put_false },
	{ "relevantForJS", put_false }, { "resource", put_func_lib },
	{ "source", put_func_source },	{ "lineNumber", put_null },
	{ "columnNumber", put_null },	{ NULL, NULL },
};

static void
put_lib_name(struct firefox *f, size_t i)
{
	fprintf(f->out, "%zu", f->t.nr_funcs + i);
}

static void
put_library(struct firefox *f, size_t i)
{
	(void)i;
	fprintf(f->out, "%d", RESOURCE_LIBRARY);
}

static void
put_source_name(struct firefox *f, size_t i)
{
	fprintf(f->out, "%zu", f->t.nr_funcs + f->t.nr_libs + i);
}

static const struct column lib_columns[] = {
	{ "lib", put_number },	 { "name", put_lib_name }, { "host", put_null },
	{ "type", put_library }, { NULL, NULL },
};

static const struct column source_columns[] = {
	{ "uuid", put_null },
	{ "filename", put_source_name },
	{ NULL, NULL },
};

static void
put_node_frame(struct firefox *f, size_t i)
{
	fprintf(f->out, "%" PRIu32, f->t.nodes[i].frame);
}

static void
put_node_prefix(struct firefox *f, size_t i)
{
	put_index(f, f->t.nodes[i].prefix, "null");
}

static const struct column node_columns[] = {
	{ "frame", put_node_frame },
	{ "prefix", put_node_prefix },
	{ NULL, NULL },
};

static void
put_shared(struct firefox *f)
{
	const struct firefox_tables *t = &f->t;

	fputs(",\n\"shared\":{", f->out);
	put_table(f, "stackTable", t->nr_nodes, node_columns);
	putc(',', f->out);
	put_table(f, "frameTable", t->nr_frames, frame_columns);
	putc(',', f->out);
	put_table(f, "funcTable", t->nr_funcs, func_columns);
	putc(',', f->out);
	put_table(f, "resourceTable", t->nr_libs, lib_columns);
	putc(',', f->out);
	put_table(f, "sources", t->nr_sources, source_columns);
	fputs(",\n\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],"
	      "\"functionSize\":[]}",
	      f->out);
	put_column(f, "stringArray", 0, gap_string(f) + 2, put_string);
	putc('}', f->out);
}

/* --- objects, and what is known of the whole ---------------------------------------------------- */

/* A GUID of the first 16 bytes of a build-id, as Breakpad has it, and an age of 0. */
static void
put_breakpad(struct firefox *f, const char *build_id)
{
	static const uint8_t order[] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	const size_t n = build_id ? strlen(build_id) / 2 : 0;

	fputs(",\"breakpadId\":\"", f->out);
	for (size_t i = 0; i < sizeof(order); i++)
		for (size_t k = 0; k < 2; k++) {
			const char c = order[i] < n ? build_id[2 * order[i] + k] : '0';

			putc(c >= 'a' ? c - 'a' + 'A' : c, f->out);
		}
	fputs("0\"", f->out);
}

static void
put_lib(struct firefox *f, size_t i)
{
	const struct firefox_lib *l = &f->t.libs[i];

	fputs("{\"arch\":\"\"", f->out);
	put_member(f, "name", l->name);
	put_member(f, "path", l->path);
	put_member(f, "debugName", l->name);
	put_member(f, "debugPath", l->path);
	put_breakpad(f, l->build_id);
	if (l->build_id)
		put_member(f, "codeId", l->build_id);
	else
		fputs(",\"codeId\":null", f->out);
	putc('}', f->out);
}

static void
put_comments(struct firefox *f)
{
	const char *const *lines = f->x->comments;

	fputs(",\"extra\":[{\"label\":\"spoor\",\"entries\":[", f->out);
	for (size_t i = 0; lines && lines[i]; i++) {
		fprintf(f->out, "%s{\"label\":\"%zu\",\"format\":\"string\"", i ? "," : "", i + 1);
		put_member(f, "value", lines[i]);
		putc('}', f->out);
	}
	fputs("]}]", f->out);
}

static bool
of_clock(const struct firefox *f)
{
	const struct stack_export *x = f->x;

	return stack_export_is_clock(profile_event_name(x->profile, x->event));
}

/* How far apart samples are, as far as anything tells. */
static uint64_t
interval_ns(const struct firefox *f)
{
	const struct profile_weight all = profile_event_whole(f->x->profile, f->x->event);

	return all.samples > 0 && of_clock(f) ? all.period / all.samples : MSEC_NS;
}

static bool
weighs(const struct firefox *f)
{
	const char *event = profile_event_name(f->x->profile, f->x->event);

	return f->x->by_period && stack_export_is_time(event);
}

static void
put_meta(struct firefox *f)
{
	const struct clock_triple *start = f->x->start;

	fputs("{\"meta\":{\"interval\":", f->out);
	put_ms(f, interval_ns(f));
	fputs(",\"startTime\":", f->out);
	put_ms(f, start->realtime);
	fprintf(f->out,
		",\"startTimeAsClockMonotonicNanosecondsSinceBoot\":%" PRIu64
		",\"processType\":0,\"stackwalk\":1,\"debug\":false,\"version\":%d,"
		"\"preprocessedProfileVersion\":%d,\"symbolicated\":true,"
		"\"symbolicationNotSupported\":true,\"usesOnlyOneStackType\":true,"
		"\"sourceCodeIsNotOnSearchfox\":true,\"importedFrom\":\"spoor\","
		"\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},"
		"\"categories\":" CATEGORIES ",\n\"markerSchema\":" MARKER_SCHEMA,
		start->monotonic, GECKO_VERSION, FIREFOX_VERSION);
	put_member(f, "product", f->x->name);
	put_member(f, "oscpu", "Linux");
	put_member(f, "platform", "Linux");
	if (f->x->hostname && *f->x->hostname)
		put_member(f, "device", f->x->hostname);
	put_comments(f);
	putc('}', f->out);
	fputs(",\n\"libs\":[", f->out);
	for (size_t i = 0; i < f->t.nr_libs; i++) {
		if (i > 0)
			fputs(",\n", f->out);
		put_lib(f, i);
	}
	putc(']', f->out);
}

/* --- threads ------------------------------------------------------------------------------ */

#define NO_MARKERS                                                                                 \
	"\"markers\":{\"length\":0,\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],"       \
	"\"phase\":[],\"category\":[]}"

static void
put_sample_stack(struct firefox *f, size_t i)
{
	fprintf(f->out, "%" PRIu32, f->t.node_of[f->x->log->stacks[f->t.order[i]]]);
}

static void
put_sample_time(struct firefox *f, size_t i)
{
	put_time(f, f->x->log->times[f->t.order[i]]);
}

static void
put_sample_weight(struct firefox *f, size_t i)
{
	put_ms(f, f->x->log->periods[f->t.order[i]]);
}

/* What a sample stands for; the Profiler's processes and threads are in the order of this. */
static void
put_sample_cpu(struct firefox *f, size_t i)
{
	(void)i;
	fprintf(f->out, "%" PRIu64, interval_ns(f));
}

static void
put_thread(struct firefox *f, const struct firefox_thread *thread)
{
	const uint64_t begin = thread->nr > 0 ? f->x->log->times[f->t.order[thread->first]]
					      : f->x->start->monotonic;

	fprintf(f->out,
		"\n{\"processType\":\"default\",\"processStartupTime\":0,"
		"\"processShutdownTime\":null,\"unregisterTime\":null,\"pausedRanges\":[],"
		"\"isMainThread\":%s,\"pid\":\"%" PRId32 "\",\"tid\":%" PRId32 ",\"registerTime\":",
		thread->pid == thread->tid ? "true" : "false", (int32_t)thread->pid,
		(int32_t)thread->tid);
	put_time(f, begin);
	put_member(f, "name", thread->name);
	put_member(f, "processName", thread->process);
	fprintf(f->out, "," NO_MARKERS ",\n\"samples\":{\"length\":%zu,\"weightType\":\"%s\"",
		thread->nr, weighs(f) ? "tracing-ms" : "samples");
	put_column(f, "stack", thread->first, thread->nr, put_sample_stack);
	put_column(f, "time", thread->first, thread->nr, put_sample_time);
	if (of_clock(f))
		put_column(f, "threadCPUDelta", thread->first, thread->nr, put_sample_cpu);
	if (weighs(f))
		put_column(f, "weight", thread->first, thread->nr, put_sample_weight);
	else
		fputs(",\"weight\":null", f->out);
	fputs("}}", f->out);
}

/* --- what is missing ------------------------------------------------------------------------ */

static void
find_causes(struct firefox *f)
{
	for (int c = 0; f->x->loss && c < LOSS_CAUSES; c++)
		if (loss_total(f->x->loss, (enum loss_cause)c) > 0)
			f->causes[f->nr_causes++] = (enum loss_cause)c;
}

/* Gaps come first, then causes of losses, which have no time: NULL. */
static const struct gap *
gap_at(const struct firefox *f, size_t i)
{
	return i < f->x->gaps->nr ? &f->x->gaps->gaps[i] : NULL;
}

static void
put_marker_data(struct firefox *f, size_t i)
{
	const struct gap *gap = gap_at(f, i);
	const uint32_t cause = gap ? gap->cause : f->causes[i - f->x->gaps->nr];

	fputs("{\"type\":\"spoor\"", f->out);
	put_member(f, "what", cause < LOSS_CAUSES ? loss_text((enum loss_cause)cause) : "unknown");
	if (gap && gap->cpu != GAP_CPU_ALL)
		fprintf(f->out, ",\"cpu\":\"%" PRIu32 "\"", gap->cpu);
	else
		fputs(",\"cpu\":\"all\"", f->out);
	fprintf(f->out, ",\"count\":\"%" PRIu64 "\"}",
		gap ? gap->samples : loss_total(f->x->loss, (enum loss_cause)cause));
}

static void
put_marker_name(struct firefox *f, size_t i)
{
	fprintf(f->out, "%zu", gap_string(f) + (gap_at(f, i) == NULL));
}

static void
put_marker_start(struct firefox *f, size_t i)
{
	const struct gap *gap = gap_at(f, i);

	put_time(f, gap ? gap->from_ns : profile_totals(f->x->profile)->start_ns);
}

static void
put_marker_end(struct firefox *f, size_t i)
{
	const struct profile_totals *t = profile_totals(f->x->profile);
	const struct gap *gap = gap_at(f, i);
	const uint64_t from = gap ? gap->from_ns : t->start_ns;
	const uint64_t until = gap && gap->until_ns ? gap->until_ns : t->end_ns;

	put_time(f, until > from ? until : from);
}

static void
put_marker_category(struct firefox *f, size_t i)
{
	(void)i;
	fprintf(f->out, "%d", (int)UNKNOWN);
}

static const struct column marker_columns[] = {
	{ "data", put_marker_data },
	{ "name", put_marker_name },
	{ "startTime", put_marker_start },
	{ "endTime", put_marker_end },
	{ "phase", put_one }, /* an interval */
	{ "category", put_marker_category },
	{ NULL, NULL },
};

/* A thread of its own: of no process that was sampled. */
static void
put_missing(struct firefox *f)
{
	fprintf(f->out,
		"%s\n{\"processType\":\"default\",\"processStartupTime\":0,"
		"\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
		"\"pausedRanges\":[],\"isMainThread\":true,\"showMarkersInTimeline\":true,"
		"\"pid\":\"spoor\",\"tid\":\"spoor\",\"name\":\"Losses and gaps\","
		"\"processName\":\"spoor\","
		"\"samples\":{\"length\":0,\"weightType\":\"samples\",\"weight\":null,"
		"\"stack\":[],\"time\":[]},",
		f->t.nr_threads ? "," : "");
	put_table(f, "markers", f->x->gaps->nr + f->nr_causes, marker_columns);
	putc('}', f->out);
}

/* --- the whole ---------------------------------------------------------------------------- */

static void
put_threads(struct firefox *f)
{
	fputs(",\n\"threads\":[", f->out);
	for (size_t i = 0; i < f->t.nr_threads; i++) {
		if (i > 0)
			putc(',', f->out);
		put_thread(f, &f->t.threads[i]);
	}
	if (f->x->gaps->nr + f->nr_causes > 0)
		put_missing(f);
	fputs("]}\n", f->out);
}

int
firefox_write(const struct stack_export *x, FILE *out)
{
	struct firefox f = { .x = x, .out = out };
	int err;

	buf_init(&f.text);
	err = firefox_tables_make(&f.t, x);
	if (err == 0) {
		find_causes(&f);
		put_meta(&f);
		put_shared(&f);
		put_threads(&f);
		err = f.nomem ? -FMT_E_NOMEM : 0;
	}
	firefox_tables_done(&f.t);
	buf_done(&f.text);
	return err;
}
