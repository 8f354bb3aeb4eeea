/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of a report: comment lines that begin with "#", and rows, as perf report --stdio
 * prints them, so that what reads one reads the other.
 */
#include "symbolizer/view/report_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/unit_name.h"
#include "symbolizer/cli/pager.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/text/table.h"
#include "symbolizer/view/call_graph_print.h"
#include "symbolizer/view/detail_text.h"
#include "symbolizer/view/heading.h"
#include "symbolizer/view/unknown_text.h"
#include "symbolizer/load/time_buckets.h"

/* A sentence; where a terminal has no room for it, further lines begin with indent. */
#define say(indent, ...) screen_text_print(stdout, cli_columns(), indent, __VA_ARGS__)

bool
report_rows_next(const struct report_print *p, const struct report_section *s,
		 struct report_rows *rows, const struct report_row **ret)
{
	while (rows->at < s->nr) {
		const struct report_row *row = report_row_at(p->report, s->first + rows->at++);
		const struct profile_weight *w = p->options->children ? &row->total : &row->self;

		if (report_percent(p->report, s, w) < p->percent_limit)
			continue;
		if (p->rows_max == 0 || rows->shown < p->rows_max) {
			rows->shown++;
			*ret = row;
			return true;
		}
		rows->left_out++;
	}
	return false;
}

/* Who asks for services or CPUs need not read which files lack names. */
static bool
shows_names(const struct report_print *p)
{
	static const enum report_column of_frames[] = { REPORT_sym,	REPORT_address,
							REPORT_srcline, REPORT_srcfile,
							REPORT_parent,	REPORT_symbol_to };

	for (size_t i = 0; i < sizeof(of_frames) / sizeof(of_frames[0]); i++)
		if (report_has(&p->options->keys, of_frames[i]))
			return true;
	return p->graphs != NULL;
}

/* Numbers stand to the right and are whole. */
static const struct table_column table_columns[] = {
#define X(name, title, number, ...) { title, number, !(number), false },
	REPORT_KEYS(X)
#undef X
#define X(name, title) { title, true, false, false },
		REPORT_NUMBERS(X)
#undef X
};

static void
add_percent(const struct report_print *p, struct table *t, const struct report_section *s,
	    const struct profile_weight *w)
{
	double percent = report_percent(p->report, s, w);

	table_cellf(t,
		    percent >= 5	     ? TABLE_HOT
			    : percent >= 0.5 ? TABLE_WARM
					     : TABLE_PLAIN,
		    "%.2f%%", percent);
}

static void
add_name(struct table *t, struct buf *scratch, const char *level, const char *name)
{
	buf_clear(scratch);
	buf_append(scratch, level, strlen(level));
	escape(scratch, name ? name : "[unknown]");
	buf_u8(scratch, 0);
	table_cell(t, buf_failed(scratch) ? NULL : (const char *)scratch->p, TABLE_PLAIN);
}

/* The directory is in the way of a column, and in --json and srcfile. */
static void
add_line(struct table *t, struct buf *scratch, const struct report_value *v)
{
	const char *slash = v->text ? strrchr(v->text, '/') : NULL;
	char line[16];

	buf_clear(scratch);
	escape(scratch, slash ? slash + 1 : v->text ? v->text : "??");
	snprintf(line, sizeof(line), ":%" PRIu64, v->number);
	buf_append(scratch, line, strlen(line) + 1);
	table_cell(t, buf_failed(scratch) ? NULL : (const char *)scratch->p, TABLE_PLAIN);
}

static void
add_time(const struct report_print *p, struct table *t, uint64_t bucket)
{
	char text[TIME_BUCKETS_TEXT];

	time_buckets_text(&p->load->set, &p->load->profile_options, bucket, text);
	table_cell(t, text, TABLE_PLAIN);
}

/* Ids of containers are 64 digits: a terminal has no room for them. */
static void
add_group(const struct report_print *p, struct table *t, struct buf *scratch, const char *name)
{
	const bool narrow = p->table.terminal > 0 && !p->table.widths;
	char *shorter = narrow && name ? strdup(name) : NULL;

	if (shorter)
		unit_name_shorten(name, shorter, strlen(name) + 1);
	add_name(t, scratch, "", shorter ? shorter : name);
	free(shorter);
}

/* A variable and how far behind its beginning, or else where in the file or in memory. */
static void
add_data(struct table *t, struct buf *scratch, const struct report_value *v)
{
	char number[24];

	buf_clear(scratch);
	buf_text(scratch, !v->text && v->number >> 63 ? "[k] " : "[.] ");
	if (v->text)
		escape(scratch, v->text);
	snprintf(number, sizeof(number), v->text ? "+0x%" PRIx64 : "0x%016" PRIx64, v->number);
	if (!v->text || v->number)
		buf_text(scratch, number);
	buf_u8(scratch, 0);
	table_cell(t, buf_failed(scratch) ? NULL : (const char *)scratch->p, TABLE_PLAIN);
}

static void
add_detail(struct table *t, enum report_column key, uint64_t number)
{
	char text[DATA_SOURCE_TEXT];

	if (detail_text(key, number, text))
		table_cell(t, text, TABLE_PLAIN);
	else
		table_cellf(t, TABLE_PLAIN, "%" PRIu64, number);
}

static void
add_value(const struct report_print *p, struct table *t, struct buf *scratch,
	  enum report_column key, const struct report_value *v)
{
	if (key == REPORT_sym || key == REPORT_symbol_from || key == REPORT_symbol_to)
		add_name(t, scratch, v->number ? "[k] " : "[.] ", v->text);
	else if (key == REPORT_symbol_daddr)
		add_data(t, scratch, v);
	else if (report_is_detail(key))
		add_detail(t, key, v->number);
	else if (key == REPORT_srcline)
		add_line(t, scratch, v);
	else if (key == REPORT_address)
		table_cellf(t, TABLE_PLAIN, "0x%016" PRIx64, v->number);
	else if (key == REPORT_time)
		add_time(p, t, v->number);
	else if (key == REPORT_cgroup || key == REPORT_unit)
		add_group(p, t, scratch, v->text);
	else if (table_columns[key].right)
		table_cellf(t, TABLE_PLAIN, "%" PRId32, (int32_t)v->number);
	else
		add_name(t, scratch, "", v->text);
}

static void
add_column(const struct report_print *p, struct table *t, struct buf *scratch,
	   const struct report_section *s, const struct report_row *row, enum report_column column)
{
	struct report_value value;

	switch (column) {
	case REPORT_overhead:
		add_percent(p, t, s, &row->self);
		break;
	case REPORT_overhead_children:
		add_percent(p, t, s, &row->total);
		break;
	case REPORT_sample:
		table_cellf(t, TABLE_PLAIN, "%" PRIu64, row->self.samples);
		break;
	case REPORT_period:
		table_cellf(t, TABLE_PLAIN, "%" PRIu64, row->self.period);
		break;
	case REPORT_event:
		add_name(t, scratch, "", load_event_name(p->load, row->event));
		break;
	default:
		value = report_value(p->report, row, column);
		if (column == REPORT_weight)
			value.number = report_weight(p->options, row, value.number);
		add_value(p, t, scratch, column, &value);
		break;
	}
}

/* What passed the filters is a part: which, and what the shares are of. */
static void
print_part(const struct report_print *p, const struct report_section *s)
{
	if (s->whole.samples == s->weight.samples)
		return;
	say("#   ", "# Of the whole: %.2f%% (%" PRIu64 " of %" PRIu64 " samples); shares are of %s",
	    report_share(&s->weight, &s->whole), s->weight.samples, s->whole.samples,
	    p->options->absolute ? "the whole" : "these samples");
}

/* What call graphs are of, and what they leave out. */
static void
print_graphs_part(const struct report_print *p)
{
	const struct call_graph_options *o = p->graph;

	if (!call_graphs_any(p->graphs))
		say("#   ", "# No sample has callers: there is nothing to draw call graphs of");
	else
		say("#   ",
		    "# Call graphs: from %s; shares are of %s, those below %.3g%% are left out",
		    call_graphs_caller(p->graphs) ? "callers to what they called"
						  : "functions to their callers",
		    o->mode != CALL_GRAPH_FRACTAL ? "what those of rows are of"
						  : "the function one branch before",
		    o->percent_limit);
}

static int
print_heading(const struct report_print *p, const struct report_section *s)
{
	char *name = escape_dup(load_event_name(p->load, s->event));

	if (!name)
		return -FMT_E_NOMEM;
	say("#   ", "# Samples: %" PRIu64 " of event '%s'", s->weight.samples, name);
	printf("# Event count (approx.): %" PRIu64 "\n", s->weight.period);
	print_part(p, s);
	if (p->graphs)
		print_graphs_part(p);
	puts("#");
	free(name);
	return 0;
}

/* How many more there are. */
static size_t
add_rows(const struct report_print *p, const struct report_section *s, struct table *t)
{
	const struct report_list *columns = &p->options->columns;
	struct report_rows rows = { .at = 0 };
	const struct report_row *row;
	struct buf scratch;

	buf_init(&scratch);
	while (report_rows_next(p, s, &rows, &row))
		for (size_t k = 0; k < columns->n; k++)
			add_column(p, t, &scratch, s, row, columns->v[k]);
	buf_done(&scratch);
	return rows.left_out;
}

struct call_graph_print
report_graph(const struct report_print *p, const struct report_section *s,
	     const struct report_row *row)
{
	return (struct call_graph_print){
		.profile = p->load->profile,
		.options = p->graph,
		.whole = p->options->absolute ? s->whole : s->weight,
		.row = p->options->children ? row->total : row->self,
		.terminal = p->table.widths ? 0 : p->table.terminal,
	};
}

/* Rows are asked for as they were added. */
struct below {
	const struct report_print *p;
	const struct report_section *s;
	struct report_rows rows;
};

static int
print_graph(void *arg, size_t unused)
{
	struct below *b = arg;
	const struct report_row *row;
	struct call_graph_print g;
	struct call_tree *t;
	int err;

	(void)unused;
	report_rows_next(b->p, b->s, &b->rows, &row);
	g = report_graph(b->p, b->s, row);
	if (!call_graph_any(&g))
		return 0;
	err = call_graphs_tree(b->p->graphs, b->s->first + b->rows.at - 1, &t);
	if (err < 0)
		return err;
	err = call_graph_print_text(&g, t);
	call_tree_free(t);
	return err;
}

static int
print_section(const struct report_print *p, const struct report_section *s)
{
	const struct report_list *list = &p->options->columns;
	struct table_column columns[REPORT_COLUMNS_MAX];
	struct below below = { .p = p, .s = s };
	struct table_options o = p->table;
	size_t left_out;
	struct table *t;
	int err;

	for (size_t i = 0; i < list->n; i++) {
		columns[i] = table_columns[list->v[i]];
		if (list->v[i] == REPORT_overhead && p->options->children)
			columns[i].title = "Self";
	}
	t = table_new(columns, list->n);
	if (!t)
		return -FMT_E_NOMEM;
	left_out = add_rows(p, s, t);
	if (p->graphs) {
		o.below = print_graph;
		o.below_arg = &below;
	}
	err = o.rows_only ? 0 : print_heading(p, s);
	if (err == 0)
		err = table_print(t, stdout, &o);
	if (err == 0 && left_out > 0 && !p->table.rows_only)
		printf("#\n# %zu more row%s left out\n", left_out, left_out == 1 ? " is" : "s are");
	table_free(t);
	return err;
}

int
report_print_text(const struct report_print *p)
{
	const bool quiet = p->table.rows_only;
	int err = 0;

	pager_start();
	if (!quiet) {
		err = heading_print(p->load);
	}
	for (size_t i = 0; i < report_sections(p->report) && err == 0; i++) {
		if (i > 0)
			puts(quiet ? "" : "\n#");
		err = print_section(p, report_section_at(p->report, i));
	}
	if (err == 0 && !quiet && shows_names(p))
		err = unknown_text_print(p->load, p->report);
	return err;
}
