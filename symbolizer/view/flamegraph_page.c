/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/time_text.h"
#include "symbolizer/cli/output.h"
#include "symbolizer/page/flame_data.h"
#include "symbolizer/page/page.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/load/event_units.h"
#include "symbolizer/view/flamegraph.h"
#include "symbolizer/view/heading.h"
#include "symbolizer/view/unnamed.h"
#include "symbolizer/load/time_buckets.h"
#include "symbolizer/load/time_grid.h"

#define MS_NS UINT64_C(1000000) /* buckets are of whole ones */
#define COLUMNS 200
#define COLUMNS_MAX 2000
#define COLUMNS_MIN 30
#define ROWS_MAX 1000000

/* What is told of a recording; each line ends with a NUL. */
struct facts {
	struct buf lines;
	uint64_t lost;
};

static int
find_facts(struct facts *facts, struct load *l)
{
	int err = heading_keep(l, &facts->lines);

	if (err == 0)
		err = unnamed_keep(l->profile, &facts->lines);
	if (l->status != 0)
		buf_append(&facts->lines, FLAMEGRAPH_IN_PART, sizeof(FLAMEGRAPH_IN_PART));
	facts->lost = l->set.loss ? loss_samples(l->set.loss) : 0;
	return buf_failed(&facts->lines) ? -FMT_E_NOMEM : err;
}

static void
put_facts(struct page_json *j, const struct facts *facts)
{
	page_json_texts(j, "facts", &facts->lines);
	page_json_number(j, "lost", facts->lost);
}

/* Of what is recorded when, and what of it is missing. */
static void
put_times(const struct load *l, const struct time_grid *g, struct page_json *j)
{
	const uint64_t shift = time_buckets_shift(&l->set, &l->profile_options);
	/* Local time, as if it were UTC; or what dump prints. */
	const uint64_t first_ns = g->from * l->profile_options.bucket_ns;

	page_json_open(j, "time", '{');
	page_json_number(j, "first_ms", first_ns / MS_NS);
	page_json_number(j, "bucket_ms", g->width_ns / MS_NS);
	page_json_number(j, "buckets", g->nr);
	page_json_number(j, "wall", shift != 0);
	page_json_open(j, "missing", '[');
	for (size_t i = 0; i < g->nr; i++)
		page_json_number(j, NULL, g->marks[i]);
	page_json_close(j, ']');
	page_json_close(j, '}');
}

/* Events of which a sample is a span of time: how many make a second. */
static void
put_rates(const struct load *l, const struct event_units *units, struct page_json *j)
{
	page_json_open(j, "rates", '[');
	for (int event = 0; event < profile_events(l->profile); event++) {
		const char *name = profile_event_name(l->profile, event);
		double hz;

		if (event_units_of(units, name, &hz) != EVENT_ABOUT_SECONDS || !(hz > 0))
			continue;
		page_json_open(j, NULL, '{');
		page_json_text(j, "event", name);
		page_json_real(j, "hz", hz);
		page_json_close(j, '}');
	}
	page_json_close(j, ']');
}

struct graph {
	struct flamegraph *f;
	struct event_units *units;
	struct load load;
	struct flame_data *data;
	struct facts facts[FLAME_SIDES];
};

/* Columns of time, fewer where there would be more rows than a browser reads at once. */
static int
make_columns(const struct graph *g, const struct load *l, struct time_grid *grid)
{
	size_t columns = COLUMNS_MAX;
	int err;

	if (!l->profile_options.by_time)
		return 0;
	for (;; columns = grid->nr / 4) {
		err = time_grid_make(grid, l, columns);
		if (err < 0 || grid->nr == 0 || flame_data_rows(g->data) <= ROWS_MAX)
			return err;
		err = flame_data_merge(g->data, &(struct flame_times){ grid->from, grid->per });
		if (err < 0 || flame_data_rows(g->data) <= ROWS_MAX || grid->nr <= COLUMNS_MIN)
			return err;
		time_grid_done(grid);
	}
}

static int
put_data(const struct graph *g, struct load *l, struct page_json *j)
{
	struct time_grid grid = { .nr = 0 };
	int err;

	put_facts(j, &g->facts[0]);
	page_json_texts(j, "filters", &g->f->load.filters);
	put_rates(l, g->units, j);
	err = make_columns(g, l, &grid);
	if (err == 0 && grid.nr > 0)
		put_times(l, &grid, j);
	if (err == 0)
		err = flame_data_write(
			g->data, grid.nr > 0 ? &(struct flame_times){ grid.from, grid.per } : NULL,
			j);
	time_grid_done(&grid);
	return err;
}

static int
put_page(struct graph *g, FILE *out)
{
	const struct flamegraph *f = g->f;
	struct load *l = &g->load;
	const char *title = f->title ? f->title : l->set.path;
	struct page_json j;
	int err = page_begin(out, &page_flame, title), rest;

	if (err < 0)
		return err;
	page_json_init(&j, out);
	page_json_open(&j, NULL, '{');
	page_json_text(&j, "title", title);
	page_json_text(&j, "view", f->inverted ? "callers" : "flame");
	if (f->baseline) {
		page_json_open(&j, "baseline", '{');
		page_json_text(&j, "name", f->baseline);
		put_facts(&j, &g->facts[1]);
		page_json_close(&j, '}');
	}
	err = put_data(g, l, &j);
	page_json_close(&j, '}');
	rest = page_json_done(&j);
	page_end(out, &page_flame);
	return err ? err : rest;
}

static int
write_page(struct graph *g)
{
	struct output out;
	int err, status = output_open(&out, g->f->output, &g->load.set.access);

	if (status != 0)
		return status;
	err = put_page(g, out.file);
	if (err < 0) {
		screen_text_warn("%s", fmt_error_text(err));
		status = EXIT_FAILED;
	}
	return output_close(&out, status);
}

/* Into the data: an exit status, after a message if not 0. */
static int
add_side(struct graph *g, unsigned int side, struct load *l)
{
	int err = flame_data_add(g->data, side, l->profile, &l->profile_options);

	if (err == 0)
		err = find_facts(&g->facts[side], l);
	if (err < 0)
		screen_text_warn("%s", fmt_error_text(err));
	return err < 0 ? EXIT_FAILED : 0;
}

/* What it is compared with, split by the same: nothing but its data and what is told of it is kept. */
static int
add_baseline(struct graph *g, int *ret_partly)
{
	const struct profile_options *own = &g->load.profile_options;
	const struct profile_options po = { .inlines = true,
					    .processes = true,
					    .by_unit = own->by_unit,
					    .by_cgroup = own->by_cgroup,
					    .by_cpu = own->by_cpu };
	struct load_options o = g->f->load;
	struct load l;
	int status;

	o.path = g->f->baseline;
	status = load_open(&l, &o, &po);
	if (status == 0)
		status = add_side(g, 1, &l);
	if (status == 0) {
		input_access_add(&g->load.set.access, &l.set.access);
		*ret_partly = l.status;
	}
	load_close(&l);
	return status;
}

/* As many columns as a screen shows; of a pipe, whose length nobody knows, one each second. */
static int
choose_bucket(void *arg, struct input_set *set, struct profile_options *po)
{
	const struct flamegraph *f = arg;
	const uint64_t extent = input_set_extent(set);

	/* In an archive there may be millions of them; processes of another recording have other numbers. */
	if (!f->labels) {
		po->by_cgroup = !set->archive;
		po->by_pid = po->by_tid = !set->archive && !f->baseline;
	}
	po->bucket_ns = extent > 0 ? time_grid_width(extent, COLUMNS) : SECOND_NS;
	po->bucket_ns = po->bucket_ns > MS_NS ? po->bucket_ns / MS_NS * MS_NS : MS_NS;
	set->wants_spans = true;
	return 0;
}

static int
read_page(struct graph *g)
{
	struct profile_options po = {
		.inlines = true,
		.processes = true,
		.by_unit = !g->f->labels,
		.by_time = !g->f->labels,
		.spread = true,
		.bucket_wall = true,
	};
	struct load_options o = g->f->load;
	int status = 0;

	/* What the page can split by. */
	if (g->f->labels && !load_labels(g->f->labels, "comm,pid,tid,cpu,unit,cgroup,time", &po))
		status = cli_usage_error("flamegraph",
					 "--labels %s: they are comm, pid, tid, cpu, unit, "
					 "cgroup and time, with commas",
					 g->f->labels);
	if (status == 0 && g->f->baseline && (po.by_pid || po.by_tid))
		status = cli_usage_error(
			"flamegraph", "--labels %s: processes of two recordings are not the same",
			g->f->labels);
	if (status != 0)
		return status;
	o.opening = choose_bucket;
	o.opening_arg = g->f;
	o.opened = event_units_look;
	o.opened_arg = g->units;
	status = load_open(&g->load, &o, &po);
	return status ? status : add_side(g, 0, &g->load);
}

int
flamegraph_page(struct flamegraph *f)
{
	struct graph g = { .f = f, .units = event_units_new(), .data = flame_data_new() };
	int status, partly = 0;

	for (int side = 0; side < FLAME_SIDES; side++)
		buf_init(&g.facts[side].lines);
	if (g.units && g.data) {
		status = read_page(&g);
	} else {
		screen_text_warn("%s", fmt_error_text(-FMT_E_NOMEM));
		status = EXIT_FAILED;
	}
	if (status == 0 && f->baseline)
		status = add_baseline(&g, &partly);
	if (status == 0)
		status = write_page(&g);
	if (status == 0)
		status = g.load.status ? g.load.status : partly;
	load_close(&g.load);
	flame_data_free(g.data);
	event_units_free(g.units);
	for (int side = 0; side < FLAME_SIDES; side++)
		buf_done(&g.facts[side].lines);
	return status;
}
