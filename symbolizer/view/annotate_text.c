/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of annotate: comment lines that begin with "#", and of each function two tables: lines of
 * the source, hottest first, and instructions in their order, between the lines that they were made of.
 */
#include "symbolizer/view/annotate_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/cli/pager.h"
#include "symbolizer/profile/report.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/report_header.h"

#define TAB 8
#define WHOLE SIZE_MAX
#define UNKNOWNS_SHOWN 5
#define UNKNOWN_PERCENT 1.0

/* A sentence; where a terminal has no room for it, further lines begin with indent. */
#define say(indent, ...) screen_text_print(stdout, cli_columns(), indent, __VA_ARGS__)

/* A function that is printed. */
struct print {
	const struct annotate_print *p;
	const struct annotation_function *f;
	const struct listing *l;
	struct table *table;
	struct buf cell, line;
};

double
annotate_percent(const struct annotation_function *f, const struct profile_weight *w)
{
	return report_share(w, &f->weight);
}

const char *
annotate_no_lines(const struct listing *l)
{
	if (!l->code.object || l->code.object->debug_fd < 0)
		return "there is no debug information of it here";
	for (size_t i = 0; i < l->nr_lines; i++)
		if (l->lines[i].origin.nr > 0)
			return NULL;
	return "its debug information has none of the sampled addresses";
}

/* --- cells --------------------------------------------------------------------------------- */

static void
end_cell(struct print *t)
{
	buf_u8(&t->cell, 0);
	table_cell(t->table, buf_failed(&t->cell) ? NULL : (const char *)t->cell.p, TABLE_PLAIN);
	buf_clear(&t->cell);
}

static void
put_text(struct print *t, const char *text)
{
	buf_append(&t->cell, text, strlen(text));
}

static void
put_number(struct print *t, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, n);
	put_text(t, text);
}

static void
put_file(struct print *t, const char *file)
{
	const char *slash = file && !t->p->full_paths ? strrchr(file, '/') : NULL;

	escape(&t->cell, slash ? slash + 1 : file ? file : "??");
}

/* Columns that the indentation takes, and where the text begins. */
static size_t
indentation(const char *text, size_t len, size_t *ret_column)
{
	size_t i = 0;

	for (*ret_column = 0; i < len && (text[i] == ' ' || text[i] == '\t'); i++)
		*ret_column += text[i] == '\t' ? TAB - *ret_column % TAB : 1;
	return i;
}

/*
 * A line of the source as it stands there, a tab being what it is. What has no room in so many columns has
 * less indentation.
 */
static int
put_line(struct print *t, const char *file, uint32_t line, size_t room)
{
	const char *text;
	size_t len, at, column, width, blanks;
	int got = file ? source_text_line(t->p->source, file, t->l->named_by, line, &text, &len)
		       : 0;

	if (got <= 0)
		return got;
	buf_clear(&t->line);
	at = indentation(text, len, &column);
	width = column;
	for (size_t i = at; i < len; i++) {
		const size_t n = text[i] == '\t' ? TAB - width % TAB : 1;

		for (size_t k = 0; k < n; k++)
			buf_u8(&t->line, text[i] == '\t' ? ' ' : (uint8_t)text[i]);
		width += n;
	}
	blanks = width <= room ? column : width - column < room ? room - (width - column) : 0;
	for (size_t k = 0; k < blanks; k++)
		buf_u8(&t->cell, ' ');
	buf_u8(&t->line, 0);
	if (buf_failed(&t->line))
		return -FMT_E_NOMEM;
	escape(&t->cell, (const char *)t->line.p);
	return 0;
}

static void
percent_cell(struct print *t, const struct profile_weight *w)
{
	double percent = annotate_percent(t->f, w);

	if (w->samples == 0)
		table_cell(t->table, "", TABLE_PLAIN);
	else
		table_cellf(t->table,
			    percent >= 5	     ? TABLE_HOT
				    : percent >= 0.5 ? TABLE_WARM
						     : TABLE_PLAIN,
			    "%.2f%%", percent);
}

/* "turn", and that it was inlined: where, when that was asked for. */
static void
put_function(struct print *t, const struct listing_origin *o)
{
	const struct listing_frame *frames = &t->l->frames[o->first];

	escape(&t->cell, frames[0].function ? frames[0].function : "??");
	if (o->nr > 1 && !t->p->listing.by_chain)
		put_text(t, " (inlined)");
	for (uint32_t i = 1; t->p->listing.by_chain && i < o->nr; i++) {
		put_text(t, " < ");
		escape(&t->cell, frames[i].function ? frames[i].function : "??");
		put_text(t, " ");
		put_file(t, frames[i].file);
		put_text(t, ":");
		put_number(t, frames[i].line);
	}
}

/* --- lines --------------------------------------------------------------------------------- */

static int
line_row(struct print *t, const struct listing_line *line)
{
	const struct listing_frame *f = &t->l->frames[line->origin.first];
	int error = 0;

	percent_cell(t, &line->weight);
	table_cellf(t->table, TABLE_PLAIN, "%" PRIu64, line->weight.samples);
	if (line->origin.nr > 0) {
		put_file(t, f->file);
		put_text(t, ":");
		put_number(t, f->line);
	} else {
		put_text(t, "??");
	}
	end_cell(t);
	if (line->origin.nr > 0)
		put_function(t, &line->origin);
	end_cell(t);
	/* Neighbours are not those of the source: indentation says nothing. */
	if (line->origin.nr > 0)
		error = put_line(t, f->file, f->line, 0);
	end_cell(t);
	return error;
}

static int
print_table(struct print *t, const struct table_column *columns, size_t nr,
	    int (*rows)(struct print *t))
{
	int error;

	t->table = table_new(columns, nr);
	if (!t->table)
		return -FMT_E_NOMEM;
	error = rows(t);
	if (!error)
		error = table_print(t->table, stdout, &t->p->table);
	table_free(t->table);
	return error;
}

static int
line_rows(struct print *t)
{
	int error = 0;

	for (size_t i = 0; i < t->l->nr_lines && !error; i++)
		if (annotate_percent(t->f, &t->l->lines[i].weight) >= t->p->min_percent)
			error = line_row(t, &t->l->lines[i]);
	return error;
}

static int
print_lines(struct print *t)
{
	static const struct table_column columns[] = {
		{ .title = "Percent", .right = true },
		{ .title = "Samples", .right = true },
		{ .title = "Source:Line", .cut = true },
		{ .title = "Function", .cut = true },
		{ .title = "Source", .cut = true, .tail = true },
	};
	const char *why = annotate_no_lines(t->l);

	if (why) {
		say("#   ", "# No source lines: %s.", why);
		puts("#");
		return 0;
	}
	return print_table(t, columns, sizeof(columns) / sizeof(columns[0]), line_rows);
}

/* --- instructions -------------------------------------------------------------------------- */

static bool
same_place(const struct print *t, const struct listing_origin *a, const struct listing_origin *b,
	   bool line)
{
	const struct listing_frame *x = &t->l->frames[a->first], *y = &t->l->frames[b->first];

	if (a->nr == 0 || b->nr == 0)
		return a->nr == b->nr;
	return x->file == y->file && x->function == y->function && (a->nr > 1) == (b->nr > 1) &&
		(!line || x->line == y->line);
}

/* Two empty cells in front of what is no instruction. */
static void
place_cells(struct print *t, const char *address)
{
	table_cell(t->table, "", TABLE_PLAIN);
	table_cell(t->table, address, TABLE_PLAIN);
}

/* For a line of the source behind those two. */
static size_t
source_room(const struct print *t)
{
	const struct listing *l = t->l;
	const int terminal = t->p->table.terminal;
	const uint64_t last =
		l->nr_instructions > 0 ? l->instructions[l->nr_instructions - 1].address : 0;
	const int taken =
		(int)sizeof("  Percent") - 1 + snprintf(NULL, 0, "  %7" PRIx64 "  ", last);

	return terminal <= 0 ? WHOLE : terminal > taken ? (size_t)(terminal - taken) : 0;
}

/* Where the instructions that follow come from, as far as that is another place than before. */
static int
source_rows(struct print *t, const struct listing_origin *last, const struct listing_origin *o)
{
	const struct listing_frame *f = &t->l->frames[o->first];
	char number[16];
	int error;

	if (o->nr == 0 || same_place(t, last, o, true))
		return 0;
	if (!same_place(t, last, o, false)) {
		place_cells(t, "");
		put_function(t, o);
		put_text(t, "  ");
		put_file(t, f->file);
		end_cell(t);
	}
	if (f->line == 0)
		return 0;
	snprintf(number, sizeof(number), ":%" PRIu32, f->line);
	place_cells(t, number);
	error = put_line(t, f->file, f->line, source_room(t));
	end_cell(t);
	return error;
}

/* "# patched 2 times, before: nopl (%rax)" */
static void
put_patches(struct print *t, const struct listing_instruction *i)
{
	if (i->patches == 0)
		return;
	put_text(t, "  # patched ");
	put_number(t, i->patches);
	put_text(t, i->patches == 1 ? " time" : " times");
	if (i->first) {
		put_text(t, ", before: ");
		escape(&t->cell, i->first);
	}
}

static void
instruction_row(struct print *t, const struct listing_instruction *i)
{
	char offset[24];

	percent_cell(t, &i->weight);
	table_cellf(t->table, TABLE_PLAIN, "%" PRIx64, i->address);
	escape(&t->cell, i->text);
	if (i->symbol) {
		put_text(t, " <");
		escape(&t->cell, i->symbol);
		snprintf(offset, sizeof(offset), "+%#" PRIx64, i->symbol_offset);
		put_text(t, i->symbol_offset ? offset : "");
		put_text(t, ">");
	}
	put_patches(t, i);
	end_cell(t);
}

static int
instruction_rows(struct print *t)
{
	static const struct listing_origin none = { 0, 0 };
	const struct listing_origin *last = &none;
	bool gap = false;
	int error = 0;

	for (size_t n = 0; n < t->l->nr_instructions && !error; n++) {
		const struct listing_instruction *i = &t->l->instructions[n];

		if (annotate_percent(t->f, &i->weight) < t->p->min_percent) {
			gap = true;
			continue;
		}
		if (gap) {
			place_cells(t, "..");
			table_cell(t->table, "", TABLE_PLAIN);
		}
		gap = false;
		if (!t->p->no_lines)
			error = source_rows(t, last, &i->origin);
		last = &i->origin;
		instruction_row(t, i);
	}
	return error;
}

static int
print_instructions(struct print *t)
{
	static const struct table_column columns[] = {
		{ .title = "Percent", .right = true },
		{ .title = "Address", .right = true },
		{ .title = "Instructions", .cut = true, .tail = true },
	};
	const struct function_code *c = &t->l->code;
	int error;

	if (t->l->why) {
		say("#   ", "# No instructions: %s.", t->l->why);
		return 0;
	}
	if (c->patches > 0)
		say("#   ",
		    "# The kernel patched this code %zu time%s between the first sample and the last: instructions "
		    "are as at the last one.",
		    c->patches, c->patches == 1 ? "" : "s");
	error = print_table(t, columns, sizeof(columns) / sizeof(columns[0]), instruction_rows);
	if (c->end && c->len < c->end - c->start)
		say("#   ", "# Its symbol says that it ends at %#" PRIx64 ": %s.", c->end,
		    c->len < FUNCTION_CODE_MAX ? "the file has less"
					       : "only the first MiB of it is shown");
	if (t->l->outside.samples > 0)
		say("#   ",
		    "# %" PRIu64 " samples (%.2f%%) are behind the last of these instructions.",
		    t->l->outside.samples, annotate_percent(t->f, &t->l->outside));
	return error;
}

/* --- a function ---------------------------------------------------------------------------- */

static int
print_event(const struct annotate_print *p, int event)
{
	const char *name = load_event_name(p->load, event);
	char *shown = escape_dup(name);
	const struct skid_event *e;

	for (size_t i = 0; shown && (e = skid_events_find(p->events, name, i)); i++)
		say("#   ", "# '%s' is %s.", shown, skid_text(e));
	free(shown);
	puts("#");
	return shown ? 0 : -FMT_E_NOMEM;
}

static int
print_heading(struct print *t)
{
	const struct annotation_function *f = t->f;
	const struct profile_weight whole = profile_event_whole(t->p->load->profile, f->event);
	char end[32] = "";
	size_t event;

	escape(&t->cell, f->frame.symbol);
	put_text(t, f->unnamed || !frame_is_named(&f->frame) ? " (no symbol) in " : " in ");
	escape(&t->cell, f->frame.dso_path);
	buf_u8(&t->cell, 0);
	event = t->cell.len;
	escape(&t->cell, load_event_name(t->p->load, f->event));
	buf_u8(&t->cell, 0);
	if (buf_failed(&t->cell))
		return -FMT_E_NOMEM;
	if (t->l->code.end)
		snprintf(end, sizeof(end), " to %#" PRIx64, t->l->code.end);
	say("#   ", "# Function: %s, from %#" PRIx64 "%s%s%s%s", (const char *)t->cell.p, f->start,
	    end, f->frame.build_id ? " (build-id " : "", f->frame.build_id ? f->frame.build_id : "",
	    f->frame.build_id ? ")" : "");
	say("#   ",
	    "# Samples: %" PRIu64 " of event '%s', %.2f%% of the whole; percents are of these",
	    f->weight.samples, (const char *)t->cell.p + event, report_share(&f->weight, &whole));
	puts("#");
	buf_clear(&t->cell);
	return 0;
}

static int
print_function(const struct annotate_print *p, const struct annotation_function *f)
{
	struct listing l;
	struct print t = { .p = p, .f = f, .l = &l };
	int error =
		listing_make(p->load->resolver, p->load->inlines, p->kernel, f, &p->listing, &l);

	buf_init(&t.cell);
	buf_init(&t.line);
	if (!error)
		error = print_heading(&t);
	if (!error && !p->no_lines)
		error = print_lines(&t);
	if (!error && !p->listing.no_instructions) {
		if (!p->no_lines && !annotate_no_lines(&l))
			puts("#");
		error = print_instructions(&t);
	}
	buf_done(&t.cell);
	buf_done(&t.line);
	listing_done(&l);
	return error;
}

/* --- the whole ----------------------------------------------------------------------------- */

/* Samples that are in no function, and so in none that could be asked for. */
static int
print_unknowns(const struct annotate_print *p)
{
	size_t shown = 0;

	for (size_t i = 0; i < annotation_unknowns(p->annotation); i++) {
		const struct annotation_unknown *u = annotation_unknown_at(p->annotation, i);
		const struct profile_weight whole = profile_event_whole(p->load->profile, u->event);
		const char *label = frame_label(&u->frame);
		char *path;

		if (report_share(&u->weight, &whole) < UNKNOWN_PERCENT || shown++ == UNKNOWNS_SHOWN)
			continue;
		path = escape_dup(u->frame.dso_path);
		if (!path)
			return -FMT_E_NOMEM;
		say("#   ", "# Without a symbol: %.2f%% (%" PRIu64 " samples) in %s: %s%s%s",
		    report_share(&u->weight, &whole), u->weight.samples, path, label ? label : "",
		    label ? ": " : "", resolve_miss_text(u->frame.miss));
		free(path);
	}
	return 0;
}

static int
print_sources(const struct annotate_print *p)
{
	struct source_file f;

	for (size_t i = 0; source_text_file(p->source, i, &f); i++) {
		const char *why = f.why ? f.why
			: f.newer ? "was changed after the recording began: its lines may be others"
			: f.asked_lines
			? "has fewer lines than the program was made of: it is another"
			: NULL;
		char *name = why ? escape_dup(f.name) : NULL;

		if (why && !name)
			return -FMT_E_NOMEM;
		if (why)
			say("#   ", "# Source: %s %s.", name, why);
		free(name);
	}
	return 0;
}

int
annotate_print_text(const struct annotate_print *p)
{
	int event = -2; /* none */
	int error;

	pager_start();
	error = report_header_recording(&p->load->set);
	for (size_t i = 0; i < p->nr_functions && !error; i++) {
		const struct annotation_function *f = p->functions[i];

		if (f->event != event)
			error = print_event(p, f->event);
		event = f->event;
		if (!error)
			error = print_function(p, f);
		puts("#");
	}
	if (!error)
		error = print_unknowns(p);
	return error ? error : print_sources(p);
}
