/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of spoor top. */
#include "symbolizer/view/top_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/time_text.h"
#include "symbolizer/export/stack_export.h"
#include "symbolizer/input/coverage.h"
#include "symbolizer/input/covered.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/table.h"

#define HEADING_LINES 3

/* How much the rows of a section are of: of a clock, CPU time. */
struct scale {
	bool clock;
	double per_cent; /* of one CPU, that one unit of the period is; of no clock, of the event */
	double cpus;
};

/* ns of CPUs that were looked at, in *ret; of no time -1. 0, -FMT_E_NOMEM. */
static int
find_covered(const struct input_set *set, double *ret)
{
	uint64_t from, until;
	struct covered *c;

	*ret = -1;
	if (!covered_range(set, &from, &until))
		return 0;
	c = covered_new(set);
	if (!c)
		return -FMT_E_NOMEM;
	*ret = covered_ns(c, from, until) * covered_kept(set);
	covered_free(c);
	return 0;
}

static struct scale
find_scale(const struct top_print *p, double covered, const struct report_section *s)
{
	const struct input_set *set = &p->load->set;
	struct scale scale = { .cpus = 1 };

	if (set->nr_spans > 0)
		scale.cpus = set->spans[set->nr_spans - 1].cpus;
	scale.clock = covered >= 0 && stack_export_is_clock(load_event_name(p->load, s->event));
	if (scale.clock)
		scale.per_cent = covered > 0 ? 100 * scale.cpus / covered : 0;
	else
		scale.per_cent = s->whole.period ? 100 / (double)s->whole.period : 0;
	return scale;
}

/* Values of filters that no sample of this look met: "; none of --comm x, --pid 5". */
static int
print_unmet(struct filter *filter, FILE *out)
{
	struct filter_unmet u;
	size_t cursor = 0;

	while (filter && filter_next_unmet(filter, &cursor, &u)) {
		char *value = escape_dup(u.value);

		if (!value)
			return -FMT_E_NOMEM;
		fprintf(out, "%s --%s %s", cursor == 1 ? "; none of" : ",",
			filter_option_name(u.option), value);
		free(value);
	}
	return 0;
}

/* When, how much, and what is lost. */
static int
print_heading(const struct top_print *p, double covered, FILE *out)
{
	const struct input_set *set = &p->load->set;
	const struct profile_totals *t = profile_totals(p->load->profile);
	char *host = escape_dup(set->hostname ? set->hostname : "");
	char covers[COVERAGE_BYTES] = "no time", age[48] = "";
	uint64_t from, until;
	int err;

	if (!host)
		return -FMT_E_NOMEM;
	if (covered_range(set, &from, &until)) {
		coverage_text(&set->start, from, until, covers);
		if (set->start.realtime) {
			const uint64_t end = until - set->start.monotonic + set->start.realtime;

			snprintf(age, sizeof(age), " (%.0f s ago)",
				 p->now_ns > end ? (double)(p->now_ns - end) / 1e9 : 0);
		}
	}
	fprintf(out, "spoor top %s%s%s%s\n", host, *host ? ", " : "", covers, age);
	fprintf(out, "%" PRIu64 " samples, %" PRIu64 " lost", t->samples,
		set->loss ? loss_samples(set->loss) : 0);
	if (set->gaps.nr + set->gaps.more > 0)
		fprintf(out, ", %" PRIu64 " gaps", set->gaps.nr + set->gaps.more);
	if (t->filtered > 0)
		fprintf(out, ", %" PRIu64 " left out by filters", t->filtered);
	if (t->left_out.names > 0)
		fprintf(out, ", %" PRIu64 " names left out", t->left_out.names);
	for (size_t i = 0; i < report_sections(p->report); i++) {
		const struct report_section *s = report_section_at(p->report, i);
		const struct scale scale = find_scale(p, covered, s);

		if (scale.clock)
			fprintf(out, "; %.0f%% of %.0f CPU%s",
				scale.per_cent * (double)s->weight.period, scale.cpus,
				scale.cpus == 1 ? "" : "s");
	}
	free(host);
	err = print_unmet(set->filter, out);
	fputc('\n', out);
	return err;
}

static void
add_value(struct table *t, struct buf *scratch, enum report_column key,
	  const struct report_value *v, bool number)
{
	if (number) {
		table_cellf(t, TABLE_PLAIN, "%" PRId32, (int32_t)v->number);
		return;
	}
	buf_clear(scratch);
	if (key == REPORT_sym)
		buf_append(scratch, v->number ? "[k] " : "[.] ", 4);
	escape(scratch, v->text ? v->text : "[unknown]");
	buf_u8(scratch, 0);
	table_cell(t, buf_failed(scratch) ? NULL : (const char *)scratch->p, TABLE_PLAIN);
}

static const struct table_column key_columns[] = {
#define X(name, title, number, ...) { title, number, !(number), false },
	REPORT_KEYS(X)
#undef X
};

static void
add_rows(const struct top_print *p, const struct report_section *s, const struct scale *scale,
	 size_t most, struct table *t)
{
	const struct report_list *keys = &p->options->keys;
	struct buf scratch;

	buf_init(&scratch);
	for (size_t i = s->first; i < s->first + s->nr && i < s->first + most; i++) {
		const struct report_row *row = report_row_at(p->report, i);
		const uint64_t n = s->whole.period ? row->self.period : row->self.samples;
		const double percent = scale->per_cent * (double)n;

		table_cellf(t,
			    percent >= 50	   ? TABLE_HOT
				    : percent >= 5 ? TABLE_WARM
						   : TABLE_PLAIN,
			    "%.1f", percent);
		table_cellf(t, TABLE_PLAIN, "%" PRIu64, row->self.samples);
		for (size_t k = 0; k < keys->n; k++) {
			const struct report_value v = report_value(p->report, row, keys->v[k]);

			add_value(t, &scratch, keys->v[k], &v, key_columns[keys->v[k]].right);
		}
	}
	buf_done(&scratch);
}

static int
print_section(const struct top_print *p, double covered, const struct report_section *s,
	      size_t most, FILE *out)
{
	const struct report_list *keys = &p->options->keys;
	const struct table_options o = { .terminal = p->columns, .color = p->color };
	const struct scale scale = find_scale(p, covered, s);
	struct table_column columns[REPORT_KEYS_MAX + 2];
	struct table *t;
	char *text = NULL, *line;
	size_t len = 0, n = 0;
	FILE *lines;
	int err;

	columns[n++] = (struct table_column){ scale.clock ? "CPU%" : "Share%", true, false, false };
	columns[n++] = (struct table_column){ "Samples", true, false, false };
	for (size_t i = 0; i < keys->n; i++)
		columns[n++] = key_columns[keys->v[i]];
	t = table_new(columns, n);
	lines = open_memstream(&text, &len);
	err = t && lines ? 0 : -FMT_E_NOMEM;
	if (err == 0) {
		add_rows(p, s, &scale, most, t);
		err = table_print(t, lines, &o);
	}
	if (lines && fclose(lines) != 0)
		err = -FMT_E_NOMEM;
	/* A screen has no room for rulers: of the lines with '#' the first is the title. */
	line = text;
	for (size_t i = 0; err == 0 && line && *line; i++) {
		const size_t width = strcspn(line, "\n");

		if (i == 0 || *line != '#')
			fprintf(out, "%s%.*s\n", i == 0 ? " " : "", (int)(width - (i == 0)),
				line + (i == 0));
		line += width + (line[width] == '\n');
	}
	free(text);
	table_free(t);
	return err;
}

int
top_print(const struct top_print *p, FILE *out)
{
	const size_t sections = report_sections(p->report);
	double covered;
	int err = find_covered(&p->load->set, &covered);

	if (err == 0)
		err = print_heading(p, covered, out);
	if (p->about)
		fprintf(out, "by %s; %s\n", p->by, p->about);
	for (size_t i = 0; i < sections && err == 0; i++) {
		/* Several events share the screen; each has a title. */
		const int room = (p->lines - HEADING_LINES) / (int)sections - 1;

		err = print_section(p, covered, report_section_at(p->report, i),
				    p->lines == 0      ? SIZE_MAX
					    : room > 0 ? (size_t)room
						       : 0,
				    out);
	}
	if (sections == 0 && err == 0) {
		char text[512];

		coverage_nothing(&p->load->set, text, sizeof(text));
		fprintf(out, "\n%s\n", text);
	}
	return err;
}
