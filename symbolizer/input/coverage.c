/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/input/coverage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "format/bytes/time_text.h"
#include "symbolizer/text/screen_text.h"

#define TIME_BYTES 32

/* "2026-11-22 07:15:01", here; zone gets the zone's name. */
static void
wall_text(uint64_t ns, char out[TIME_BYTES], char zone[TIME_BYTES])
{
	time_t seconds = (time_t)(ns / SECOND_NS);
	struct tm tm;

	zone[0] = '\0';
	if (!localtime_r(&seconds, &tm) || strftime(out, TIME_BYTES, "%F %T", &tm) == 0 ||
	    strftime(zone, TIME_BYTES, " %Z", &tm) == 0)
		snprintf(out, TIME_BYTES, "@%" PRIu64, ns / SECOND_NS);
}

static void
clock_text(uint64_t ns, char out[TIME_BYTES])
{
	snprintf(out, TIME_BYTES, "%" PRIu64 ".%06" PRIu64 " s", ns / SECOND_NS,
		 ns % SECOND_NS / 1000);
}

static void
range_text(bool wall, uint64_t first_ns, uint64_t last_ns, char out[COVERAGE_BYTES])
{
	char first[TIME_BYTES], last[TIME_BYTES], first_zone[TIME_BYTES] = "",
						  zone[TIME_BYTES] = "";
	size_t same = 0;

	if (wall) {
		wall_text(first_ns, first, first_zone);
		wall_text(last_ns, last, zone);
		/* A day is told once. */
		same = strcspn(first, " ") + 1;
		if (same > strlen(first) || strncmp(first, last, same) != 0)
			same = 0;
		/* So is a zone, unless summer ends in between. */
		if (strcmp(first_zone, zone) == 0)
			first_zone[0] = '\0';
	} else {
		clock_text(first_ns, first);
		clock_text(last_ns, last);
	}
	if (strcmp(first, last) == 0 && !*first_zone)
		snprintf(out, COVERAGE_BYTES, "%s%s", first, zone);
	else
		snprintf(out, COVERAGE_BYTES, "%s%s to %s%s", first, first_zone, last + same, zone);
}

void
coverage_text(const struct clock_triple *start, uint64_t first_ns, uint64_t last_ns,
	      char out[COVERAGE_BYTES])
{
	const bool wall = start->realtime != 0;
	const uint64_t shift = wall ? start->realtime - start->monotonic : 0;

	range_text(wall, first_ns + shift, last_ns + shift, out);
}

/* The window that was asked for, and in which clock; false: none was. */
static bool
find_window(const struct filter *f, bool *ret_wall, uint64_t *ret_from, uint64_t *ret_until)
{
	const struct clock_triple none = { 0 };

	const struct time_choice *times = filter_times_const(f);

	time_choice_wall(times, ret_from, ret_until);
	*ret_wall = *ret_from > 0 || *ret_until < UINT64_MAX;
	/* Without a time of day in it, it is the same in every recording. */
	return *ret_wall ||
		(time_choice_window(times, &none, ret_from, ret_until) == 0 &&
		 (*ret_from > 0 || *ret_until < UINT64_MAX));
}

/* "from A to B", "since A", "before B" */
static void
window_text(bool wall, uint64_t from, uint64_t until, char out[COVERAGE_BYTES])
{
	const uint64_t one = from > 0 ? from : until;
	char text[COVERAGE_BYTES], zone[TIME_BYTES] = "";

	if (from > 0 && until < UINT64_MAX) {
		range_text(wall, from, until, text);
		snprintf(out, COVERAGE_BYTES, "from %.100s", text);
		return;
	}
	if (wall)
		wall_text(one, text, zone);
	else
		clock_text(one, text);
	snprintf(out, COVERAGE_BYTES, "%s %.32s%.32s", from > 0 ? "since" : "before", text, zone);
}

void
coverage_nothing(struct input_set *s, char *out, size_t size)
{
	char covers[COVERAGE_BYTES], window[COVERAGE_BYTES];
	struct input_range all;
	uint64_t from, until;
	bool wall;
	size_t n;

	if (s->samples > 0) {
		coverage_text(&s->start, s->first_ns, s->last_ns, covers);
		snprintf(out, size,
			 "no sample is left: the filters leave out all of %" PRIu64 ", of %s",
			 s->samples, covers);
		return;
	}
	if (!s->filter || !find_window(s->filter, &wall, &from, &until) ||
	    input_set_range(s, &all) < 0 || all.samples == 0) {
		snprintf(out, size, "%s no samples",
			 s->archive ? "the recordings have" : "the recording has");
		return;
	}
	window_text(wall, from, until, window);
	if (!s->archive && wall)
		coverage_text(&s->start, all.first_ns, all.last_ns, covers);
	else
		range_text(s->archive, all.first_ns, all.last_ns, covers);
	snprintf(out, size, "no sample is %s: ", window);
	n = strlen(out);
	if (s->archive)
		snprintf(out + n, size - n, "those of the archive are of %s", covers);
	else
		snprintf(out + n, size - n, "the recording has %" PRIu64 ", of %s", all.samples,
			 covers);
}

void
coverage_warn_nothing(struct input_set *s)
{
	char text[512];

	coverage_nothing(s, text, sizeof(text));
	screen_text_warn("%s: %s", s->path, text);
}
