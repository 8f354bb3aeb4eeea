/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/time_choice.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/time_text.h"

#define BLANKS " \t"

void
time_choice_init(struct time_choice *t, int64_t now_ns)
{
	*t = (struct time_choice){ .now_ns = now_ns, .until_ns = UINT64_MAX };
}

void
time_choice_done(struct time_choice *t)
{
	free(t->slices);
	free(t->within);
}

int
time_choice_copy(struct time_choice *to, const struct time_choice *from)
{
	struct time_slice *slices = reallocarray(NULL, from->n + 1, sizeof(*slices));
	struct stream_slice *within = reallocarray(NULL, from->n + 1, sizeof(*within));

	if (!slices || !within) {
		free(slices);
		free(within);
		return -FMT_E_NOMEM;
	}
	if (from->n > 0)
		memcpy(slices, from->slices, from->n * sizeof(*slices));
	*to = *from;
	to->slices = slices;
	to->within = within;
	return 0;
}

/* --- options ----------------------------------------------------------------------------- */

/* "12.000000345" exactly: a double has no room for nanoseconds of a long uptime. */
static int
seconds_parse(const char *word, uint64_t *ret)
{
	uint64_t s = 0, ns = 0, unit = SECOND_NS / 10;
	const char *p = word;

	for (; *p >= '0' && *p <= '9'; p++) {
		if (s > UINT64_MAX / SECOND_NS / 10 - 1)
			return -1;
		s = s * 10 + (uint64_t)(*p - '0');
	}
	if (*p == '.' && p > word)
		for (p++; *p >= '0' && *p <= '9'; p++, unit /= 10)
			ns += unit * (uint64_t)(*p - '0');
	if (p == word || *p)
		return -1;
	*ret = s * SECOND_NS + ns;
	return 0;
}

static int
percent_parse(const char *word, double *ret)
{
	const size_t len = strlen(word);
	char *end;

	/* strtod() takes signs, hexadecimal, infinities and nothing at all. */
	if (len < 2 || word[len - 1] != '%' || strspn(word, "0123456789.") != len - 1)
		return -1;
	*ret = strtod(word, &end) / 100;
	return end == word + len - 1 && *ret <= 1 ? 0 : -1;
}

static int
edge_parse(struct time_edge *e, const char *word)
{
	const size_t len = strlen(word);

	*e = (struct time_edge){ TIME_EDGE_NONE, 0, 0 };
	if (len == 0)
		return 0;
	e->kind = word[len - 1] == '%' ? TIME_EDGE_PART : TIME_EDGE_NS;
	return e->kind == TIME_EDGE_PART ? percent_parse(word, &e->part)
					 : seconds_parse(word, &e->ns);
}

/* "10%/2": the second tenth. */
static int
nth_parse(struct time_slice *s, char *word, char *slash)
{
	const char *digits = slash + 1;
	double part;
	uint64_t n = 0;

	*slash = '\0';
	if (percent_parse(word, &part) < 0 || !*digits || strlen(digits) > 9 ||
	    strspn(digits, "0123456789") != strlen(digits))
		return -1;
	n = strtoul(digits, NULL, 10);
	/* As perf: what is no whole part at the end is none. */
	if (n == 0 || part <= 0 || part * (double)n > 1)
		return -1;
	s->from = (struct time_edge){ TIME_EDGE_PART, 0, part * (double)(n - 1) };
	s->until = (struct time_edge){ TIME_EDGE_PART, 0, part * (double)n };
	return 0;
}

/* split: where its second edge begins, behind one character; NULL: it has none. */
static int
edges_parse(struct time_slice *s, char *word, char *split)
{
	if (split)
		*split = '\0';
	if (edge_parse(&s->from, word) < 0 || edge_parse(&s->until, split ? split + 1 : "") < 0)
		return -1;
	return s->from.kind == TIME_EDGE_NONE && s->until.kind == TIME_EDGE_NONE ? -1 : 0;
}

static int
slice_parse(struct time_slice *s, char *word, bool percents)
{
	char *slash = strchr(word, '/');

	if (!percents)
		return edges_parse(s, word, strchr(word, ','));
	if (slash)
		return nth_parse(s, word, slash);
	if (strpbrk(word, "-,"))
		return edges_parse(s, word, strpbrk(word, "-,"));
	s->from = (struct time_edge){ TIME_EDGE_NONE, 0, 0 };
	s->until.kind = TIME_EDGE_PART;
	return percent_parse(word, &s->until.part);
}

static int
slice_add(struct time_choice *t, char *word, bool percents, const char **reterr)
{
	struct time_slice s = { 0 }, *v;
	struct stream_slice *within;

	*reterr = "not A,B in seconds, nor A%-B%, nor P%/N";
	if (slice_parse(&s, word, percents) < 0)
		return -1;
	*reterr = "ends before it begins";
	if (s.from.kind == s.until.kind && (s.from.ns > s.until.ns || s.from.part > s.until.part))
		return -1;
	*reterr = "too many";
	if (t->n == TIME_CHOICE_SLICES_MAX)
		return -1;
	*reterr = "out of memory";
	v = reallocarray(t->slices, t->n + 1, sizeof(*v));
	if (!v)
		return -1;
	t->slices = v;
	/* Room to answer without a failure. */
	within = reallocarray(t->within, t->n + 1, sizeof(*within));
	if (!within)
		return -1;
	t->within = within;
	v[t->n++] = s;
	return 0;
}

/* "10%,20%" and "10%," have one comma and are one: it parts edges there, and else slices. */
static bool
is_one(const char *arg)
{
	return !strpbrk(arg, "/-") && strchr(arg, ',') == strrchr(arg, ',');
}

int
time_choice_slices(struct time_choice *t, const char *arg, const char **reterr)
{
	const bool percents = strchr(arg, '%');
	const char *between = percents ? "," : BLANKS;
	char *copy = strdup(arg), *rest = copy, *word;
	const size_t had = t->n;
	int status = 0;

	if (!copy) {
		*reterr = "out of memory";
		return -1;
	}
	if (percents && is_one(arg))
		status = slice_add(t, copy, true, reterr);
	else
		while (status == 0 && (word = strsep(&rest, between)))
			if (percents || *word)
				status = slice_add(t, word, percents, reterr);
	if (status == 0 && t->n == had) {
		*reterr = "is empty";
		status = -1;
	}
	free(copy);
	return status;
}

static int
wall_parse(const struct time_choice *t, const char *arg, uint64_t *ret, const char **reterr)
{
	int64_t ns;

	if (time_text_instant(arg, t->now_ns, getenv("TZ"), &ns) == 0) {
		*ret = (uint64_t)ns;
		return 0;
	}
	*reterr = "no time, such as 03:10, \"2026-11-21 03:10\", yesterday or 10m (ago)";
	return -1;
}

int
time_choice_since(struct time_choice *t, const char *arg, const char **reterr)
{
	return wall_parse(t, arg, &t->since_ns, reterr);
}

int
time_choice_until(struct time_choice *t, const char *arg, const char **reterr)
{
	return wall_parse(t, arg, &t->until_ns, reterr);
}

int
time_choice_last(struct time_choice *t, const char *arg, const char **reterr)
{
	uint64_t ns;

	if (time_text_duration(arg, &ns) != 0 || ns == 0) {
		*reterr = "no span of time, such as 10m or 1h30m";
		return -1;
	}
	t->last_ns = ns;
	return 0;
}

/* --- what they come to ------------------------------------------------------------------- */

bool
time_choice_possible(const struct time_choice *t)
{
	return t->since_ns < t->until_ns;
}

bool
time_choice_needs_range(const struct time_choice *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->slices[i].from.kind == TIME_EDGE_PART ||
		    t->slices[i].until.kind == TIME_EDGE_PART)
			return true;
	return t->last_ns > 0;
}

/* 100 % includes the last sample, whose time is the end of no window that has it. */
static void
edge_resolve(struct time_edge *e, bool wall, uint64_t first_ns, uint64_t last_ns)
{
	if (e->kind != TIME_EDGE_PART)
		return;
	e->kind = wall ? TIME_EDGE_WALL : TIME_EDGE_NS;
	e->ns = e->part >= 1 ? last_ns
			     : first_ns + (uint64_t)((double)(last_ns - first_ns) * e->part);
}

/*
 * Not longer than until now: of an archive that is written beside us, where the last sample may be
 * of some time ago since nothing runs.
 */
static void
tail_resolve(struct time_choice *t, bool wall, uint64_t last_ns)
{
	uint64_t end = last_ns < UINT64_MAX ? last_ns + 1 : last_ns, from;

	if (t->live && wall && (uint64_t)t->now_ns > end && (uint64_t)t->now_ns - end < t->last_ns)
		end = (uint64_t)t->now_ns;
	from = end > t->last_ns ? end - t->last_ns : 0;
	if (!wall)
		t->tail_from_ns = from;
	else if (from > t->since_ns)
		t->since_ns = from;
	t->last_ns = 0;
}

void
time_choice_range(struct time_choice *t, bool wall, uint64_t first_ns, uint64_t last_ns)
{
	if (last_ns < first_ns)
		last_ns = first_ns;
	for (size_t i = 0; i < t->n; i++) {
		edge_resolve(&t->slices[i].from, wall, first_ns, last_ns);
		edge_resolve(&t->slices[i].until, wall, first_ns, last_ns);
	}
	if (t->last_ns > 0)
		tail_resolve(t, wall, last_ns);
}

static uint64_t
later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t
earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void
time_choice_clip(struct time_choice *t, uint64_t since_ns, uint64_t until_ns)
{
	t->since_ns = later(t->since_ns, since_ns);
	t->until_ns = earlier(t->until_ns, until_ns);
}

/* The end of a slice is still in it. */
static uint64_t
end_of(const struct time_slice *s)
{
	return s->until.ns + (s->until.ns < UINT64_MAX);
}

void
time_choice_wall(const struct time_choice *t, uint64_t *ret_from, uint64_t *ret_until)
{
	uint64_t from = t->n > 0 ? UINT64_MAX : 0, until = t->n > 0 ? 0 : UINT64_MAX;

	for (size_t i = 0; i < t->n; i++) {
		const struct time_slice *s = &t->slices[i];

		from = earlier(from, s->from.kind == TIME_EDGE_WALL ? s->from.ns : 0);
		until = later(until, s->until.kind == TIME_EDGE_WALL ? end_of(s) : UINT64_MAX);
	}
	*ret_from = later(from, t->since_ns);
	*ret_until = earlier(until, t->until_ns);
}

/* Wall clock to the recording's; what is before its clock began is 0. */
static uint64_t
to_recording(uint64_t wall_ns, const struct clock_triple *start)
{
	if (wall_ns >= start->realtime)
		return start->monotonic + (wall_ns - start->realtime);
	return start->realtime - wall_ns < start->monotonic
		? start->monotonic - (start->realtime - wall_ns)
		: 0;
}

static struct stream_slice
slice_in(const struct time_choice *t, size_t i, const struct clock_triple *start)
{
	const struct time_slice *s = &t->slices[i];
	struct stream_slice ret = { 0, UINT64_MAX };

	if (s->from.kind != TIME_EDGE_NONE)
		ret.from_ns = s->from.kind == TIME_EDGE_WALL ? to_recording(s->from.ns, start)
							     : s->from.ns;
	if (s->until.kind != TIME_EDGE_NONE)
		ret.until_ns = s->until.kind == TIME_EDGE_WALL ? to_recording(end_of(s), start)
							       : end_of(s);
	return ret;
}

static bool
needs_wall(const struct time_choice *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->slices[i].from.kind == TIME_EDGE_WALL ||
		    t->slices[i].until.kind == TIME_EDGE_WALL)
			return true;
	return t->since_ns > 0 || t->until_ns < UINT64_MAX;
}

int
time_choice_window(const struct time_choice *t, const struct clock_triple *start,
		   uint64_t *ret_from, uint64_t *ret_until)
{
	uint64_t from = t->n > 0 ? UINT64_MAX : 0, until = t->n > 0 ? 0 : UINT64_MAX;

	if (needs_wall(t) && start->realtime == 0)
		return -1;
	for (size_t i = 0; i < t->n; i++) {
		const struct stream_slice s = slice_in(t, i, start);

		from = earlier(from, s.from_ns);
		until = later(until, s.until_ns);
	}
	from = later(from, t->tail_from_ns);
	if (t->since_ns > 0)
		from = later(from, to_recording(t->since_ns, start));
	if (t->until_ns < UINT64_MAX)
		until = earlier(until, to_recording(t->until_ns, start));
	*ret_from = from;
	*ret_until = until;
	return 0;
}

size_t
time_choice_within(struct time_choice *t, const struct clock_triple *start,
		   const struct stream_slice **ret)
{
	if (t->n < 2)
		return 0;
	for (size_t i = 0; i < t->n; i++)
		t->within[i] = slice_in(t, i, start);
	*ret = t->within;
	return t->n;
}
