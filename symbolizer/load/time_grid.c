/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/load/time_grid.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/time_text.h"
#include "symbolizer/load/time_buckets.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)
#define MINUTE (60 * S)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

/* Each is a multiple of those before it, or nearly; below them powers of ten, above them of two. */
static const uint64_t widths[] = {
	1 * MS,	  2 * MS,     5 * MS,	  10 * MS,    20 * MS,	   50 * MS,	100 * MS,
	200 * MS, 500 * MS,   1 * S,	  2 * S,      5 * S,	   10 * S,	15 * S,
	30 * S,	  1 * MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
	1 * HOUR, 2 * HOUR,   3 * HOUR,	  6 * HOUR,   12 * HOUR,   1 * DAY,	2 * DAY,
	7 * DAY,  14 * DAY,   28 * DAY,
};
#define WIDTHS (sizeof(widths) / sizeof(widths[0]))

/* The next wider one; 0: there is none. */
static uint64_t
wider(uint64_t ns)
{
	if (ns < widths[0])
		return ns * 10 < widths[0] ? ns * 10 : widths[0];
	for (size_t i = 0; i < WIDTHS; i++)
		if (widths[i] > ns)
			return widths[i];
	return ns <= UINT64_MAX / 2 ? ns * 2 : 0;
}

uint64_t
time_grid_width(uint64_t ns, size_t columns)
{
	uint64_t width = 1, next;

	/* One more than it takes: it begins within the first one. */
	while (ns / width >= columns - 1 && (next = wider(width)) > 0)
		width = next;
	return width;
}

/* --- columns ----------------------------------------------------------------------------- */

/* [from, until) ns of the first recording's clock; until 0: to the end. whole: all of it is missing. */
static void
mark(struct time_grid *g, uint64_t from_ns, uint64_t until_ns, bool whole)
{
	const uint64_t start = g->from * (g->width_ns / g->per), end = start + g->nr * g->width_ns;
	const uint64_t shift = time_buckets_shift(&g->load->set, &g->load->profile_options);
	uint64_t next;

	from_ns += shift;
	until_ns = until_ns ? until_ns + shift : end;
	from_ns = from_ns > start ? from_ns : start;
	until_ns = until_ns < end ? until_ns : end;
	for (uint64_t ns = from_ns; ns < until_ns; ns = next) {
		const size_t column = (size_t)((ns - start) / g->width_ns);
		const uint64_t begin = start + column * g->width_ns;

		next = begin + g->width_ns;
		if (g->marks[column] != TIME_NOT_RECORDED)
			g->marks[column] = whole && ns == begin && until_ns >= next
				? TIME_NOT_RECORDED
				: TIME_PART;
	}
}

/* Nothing is known of what is between one recording and the next. */
static void
mark_between(struct time_grid *g)
{
	const struct input_set *set = &g->load->set;
	uint64_t end = 0;

	for (size_t i = 0; i < set->nr_spans; i++) {
		const struct covered_span *s = &set->spans[i];

		if (i > 0 && s->from_ns > end && s->from_ns - end > g->width_ns)
			mark(g, end, s->from_ns, true);
		end = s->until_ns > end ? s->until_ns : end;
	}
}

static void
mark_gaps(struct time_grid *g)
{
	const struct gap_list *gaps = &g->load->set.gaps;

	for (size_t i = 0; i < gaps->nr; i++) {
		const struct gap *gap = &gaps->gaps[i];

		/* On a CPU that is off nothing runs. */
		if (gap->cause == LOSS_CPU_OFFLINE)
			continue;
		mark(g, gap->from_ns, gap->until_ns,
		     gap->cpu == GAP_CPU_ALL &&
			     (gap->cause == LOSS_STALL || gap->cause == LOSS_DISK_FULL ||
			      gap->cause == LOSS_PAUSED));
	}
}

/* The buckets of all samples that there are, and of those that filters left. */
static bool
find_buckets(const struct load *l, uint64_t *ret_first, uint64_t *ret_last)
{
	const struct input_set *set = &l->set;
	const struct profile_options *o = &l->profile_options;
	const uint64_t shift = time_buckets_shift(set, o);
	uint64_t first, last;

	if (set->samples == 0)
		return false;
	*ret_first = (set->first_ns + shift) / o->bucket_ns;
	*ret_last = (set->last_ns + shift) / o->bucket_ns;
	if (profile_buckets(l->profile, &first, &last)) {
		*ret_first = first < *ret_first ? first : *ret_first;
		*ret_last = last > *ret_last ? last : *ret_last;
	}
	return true;
}

int
time_grid_make(struct time_grid *g, const struct load *l, size_t columns_max)
{
	uint64_t first, last;

	*g = (struct time_grid){ .load = l, .per = 1, .width_ns = l->profile_options.bucket_ns };
	if (!find_buckets(l, &first, &last))
		return 0;
	while (last / g->per - first / g->per >= columns_max)
		g->per *= 2;
	g->from = first / g->per * g->per;
	g->nr = (size_t)(last / g->per - first / g->per) + 1;
	g->width_ns *= g->per;
	g->marks = calloc(g->nr, 1);
	if (!g->marks)
		return -FMT_E_NOMEM;
	mark_between(g);
	mark_gaps(g);
	return 0;
}

void
time_grid_done(struct time_grid *g)
{
	free(g->marks);
	g->marks = NULL;
}

uint64_t
time_grid_start(const struct time_grid *g, size_t column)
{
	return time_buckets_start(&g->load->set, &g->load->profile_options,
				  g->from + column * g->per);
}

bool
time_grid_has(const struct time_grid *g, enum time_mark wanted)
{
	return g->nr > 0 && memchr(g->marks, wanted, g->nr) != NULL;
}

/* --- words ------------------------------------------------------------------------------- */

void
time_grid_text(const struct time_grid *g, size_t column, char *out, size_t size)
{
	char text[TIME_BUCKETS_TEXT];

	time_buckets_text(&g->load->set, &g->load->profile_options, g->from + column * g->per,
			  text);
	snprintf(out, size, "%s", text);
}

void
time_grid_span_text(uint64_t ns, char *out, size_t size)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = { { DAY, "d" }, { HOUR, "h" },  { MINUTE, "min" }, { S, "s" },
		      { MS, "ms" }, { 1000, "us" }, { 1, "ns" } };
	size_t i = 0;

	while (ns % units[i].ns != 0 || (ns == 0 && units[i].ns > S))
		i++;
	snprintf(out, size, "%" PRIu64 " %s", ns / units[i].ns, units[i].name);
}

/* What stands above a column in which a multiple of step begins; its columns. */
static size_t
tick_text(const struct time_grid *g, uint64_t ns, uint64_t step, char *out, size_t size)
{
	const bool wall = time_buckets_shift(&g->load->set, &g->load->profile_options) != 0;
	const int digits = step % S == 0 ? 0 : step % (100 * MS) == 0 ? 1 : step % MS == 0 ? 3 : 6;
	time_t seconds = (time_t)(ns / S);
	char fraction[16];
	struct tm tm;
	size_t n;

	snprintf(fraction, sizeof(fraction), ".%09" PRIu64, ns % S);
	/* The ns are those of local clocks already. */
	if (!wall || !gmtime_r(&seconds, &tm)) {
		n = (size_t)snprintf(out, size, "|%" PRIu64 "%.*s", ns / S, digits ? digits + 1 : 0,
				     fraction);
		return n < size ? n : size - 1;
	}
	n = strftime(out, size,
		     step % DAY == 0		  ? "|%m-%d"
			     : step % MINUTE == 0 ? "|%H:%M"
						  : "|%H:%M:%S",
		     &tm);
	n += (size_t)snprintf(out + n, size - n, "%.*s", digits ? digits + 1 : 0, fraction);
	return n;
}

/* The least step whose times have room. */
static uint64_t
find_step(const struct time_grid *g, uint64_t ns)
{
	uint64_t step = g->width_ns;
	char text[64];

	while ((tick_text(g, ns, step, text, sizeof(text)) + 1) * g->width_ns > step) {
		const uint64_t next = wider(step);

		if (next == 0)
			break;
		step = next;
	}
	return step;
}

void
time_grid_axis(const struct time_grid *g, size_t first, size_t nr, struct buf *out)
{
	const uint64_t begin = (g->from + first * g->per) * (g->width_ns / g->per);
	const uint64_t step = find_step(g, begin + nr * g->width_ns);
	size_t at = 0;
	char text[64];

	for (size_t column = 0; column < nr; column++) {
		const uint64_t ns = begin + column * g->width_ns;
		const uint64_t tick = (ns + step - 1) / step * step;
		size_t n;

		if (tick >= ns + g->width_ns || column < at)
			continue;
		n = tick_text(g, tick, step, text, sizeof(text));
		if (column + n > nr)
			break;
		for (; at < column; at++)
			buf_u8(out, ' ');
		buf_append(out, text, n);
		at += n;
	}
	for (; at < nr; at++)
		buf_u8(out, ' ');
}
