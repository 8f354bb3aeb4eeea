/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/filter.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>
#include <bsd/string.h>

#include "format/bytes/time_text.h"
#include "symbolizer/text/glob.h"

#define RANGES_MAX 4096
#define NAMES_MAX 4096

/* Comma-separated names; the strings are one allocation per option given. */
struct names {
	char **v;
	size_t n;
};

/* Inclusive ranges of numbers. */
struct ranges {
	struct range {
		uint32_t first, last;
	} * v;
	size_t n;
};

/* One end of --time. */
struct edge {
	enum { EDGE_NONE, EDGE_NS, EDGE_PERCENT } kind;
	uint64_t ns;
	double percent;
};

struct filter {
	struct names comm, dso, symbol, event, cgroup;
	struct names parts; /* of symbols: --symbol-filter's */
	struct ranges pid, tid, cpu;
	struct edge from, until;
	uint64_t from_ns, until_ns; /* of --time, in the recording's time */
	uint64_t since_ns, till_ns; /* wall clock: of --since and --until, or --time's percents */
	int64_t now_ns;
	bool given;
};

struct filter *
filter_new(int64_t now_ns)
{
	struct filter *f = calloc(1, sizeof(*f));

	if (f) {
		f->until_ns = f->till_ns = UINT64_MAX;
		f->now_ns = now_ns;
	}
	return f;
}

static void
names_done(struct names *n)
{
	for (size_t i = 0; i < n->n; i++)
		free(n->v[i]);
	free(n->v);
}

void
filter_free(struct filter *f)
{
	if (!f)
		return;
	names_done(&f->comm);
	names_done(&f->dso);
	names_done(&f->symbol);
	names_done(&f->parts);
	names_done(&f->event);
	names_done(&f->cgroup);
	free(f->pid.v);
	free(f->tid.v);
	free(f->cpu.v);
	free(f);
}

/* Gives *ret room for one more of size bytes each; NULL with *reterr. */
static void *
one_more(void *v, size_t n, size_t size, size_t max, const char **reterr)
{
	void *grown = NULL;

	if (n < max)
		grown = reallocarray(v, n + 1, size);
	if (!grown)
		*reterr = n < max ? "out of memory" : "too many";
	return grown;
}

static int
names_add(struct names *names, const char *word, size_t len, const char **reterr)
{
	char **v = one_more(names->v, names->n, sizeof(*v), NAMES_MAX, reterr);

	if (!v)
		return -1;
	names->v = v;
	v[names->n] = strndup(word, len);
	if (!v[names->n]) {
		*reterr = "out of memory";
		return -1;
	}
	names->n++;
	return 0;
}

/* Passes over the punctuation of "operator<<" and its like, which are no brackets. */
static const char *
after_operator(const char *from, const char *p)
{
	if (p - from >= 8 && strncmp(p - 8, "operator", 8) == 0)
		p += strspn(p, "<>=-");
	return p;
}

/*
 * brackets: a comma inside them does not separate. "std::map<int, int>::find" and
 * "f(int, char)" are one symbol each.
 */
static int
names_parse(struct names *names, const char *arg, bool brackets, const char **reterr)
{
	const char *from = arg;
	int depth = 0;

	for (const char *p = arg;; p++) {
		if (brackets)
			p = after_operator(from, p);
		if (brackets && (*p == '<' || *p == '('))
			depth++;
		else if ((*p == '>' || *p == ')') && depth > 0)
			depth--;
		if (*p && (*p != ',' || depth > 0))
			continue;
		if (p == from) {
			*reterr = "an empty name";
			return -1;
		}
		if (names_add(names, from, (size_t)(p - from), reterr) < 0)
			return -1;
		if (!*p)
			return 0;
		from = p + 1;
	}
}

/*
 * Where control groups are usually mounted, with which their directories begin: the group is
 * what stands behind it.
 */
static void
cgroup_strip(char *pattern)
{
	static const char *const mounts[] = { "/sys/fs/cgroup/unified", "/sys/fs/cgroup/perf_event",
					      "/sys/fs/cgroup" };
	size_t len = strlen(pattern);

	while (len > 1 && pattern[len - 1] == '/')
		pattern[--len] = '\0';
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		size_t n = strlen(mounts[i]);

		if (strncmp(pattern, mounts[i], n) != 0 || (pattern[n] && pattern[n] != '/'))
			continue;
		if (n == len)
			(void)strlcpy(pattern, "/", len);
		else
			memmove(pattern, pattern + n, len - n + 1);
		return;
	}
}

static int
cgroups_parse(struct names *names, const char *arg, const char **reterr)
{
	size_t had = names->n;
	int status = names_parse(names, arg, false, reterr);

	for (size_t i = had; i < names->n; i++)
		cgroup_strip(names->v[i]);
	return status;
}

static int
number_parse(const char *word, uint32_t *ret, const char **reterr)
{
	const char *bad;
	long long n = strtonum(word, 0, UINT32_MAX, &bad);

	/* strtonum() skips blanks and takes a sign */
	if (bad || *word < '0' || *word > '9') {
		*reterr = "not a number";
		return -1;
	}
	*ret = (uint32_t)n;
	return 0;
}

static int
range_parse(struct ranges *ranges, char *word, bool may_span, const char **reterr)
{
	struct range *v = one_more(ranges->v, ranges->n, sizeof(*v), RANGES_MAX, reterr);
	char *dash = may_span ? strchr(word, '-') : NULL;
	struct range r;

	if (!v)
		return -1;
	ranges->v = v;
	if (dash)
		*dash = '\0';
	if (number_parse(word, &r.first, reterr) < 0)
		return -1;
	r.last = r.first;
	if (dash && number_parse(dash + 1, &r.last, reterr) < 0)
		return -1;
	if (r.last < r.first) {
		*reterr = "a range that ends before it begins";
		return -1;
	}
	v[ranges->n++] = r;
	return 0;
}

static int
ranges_parse(struct ranges *ranges, const char *arg, bool may_span, const char **reterr)
{
	char *copy = strdup(arg), *rest = copy, *word;
	int status = 0;

	if (!copy) {
		*reterr = "out of memory";
		return -1;
	}
	while (status == 0 && (word = strsep(&rest, ",")) != NULL)
		status = range_parse(ranges, word, may_span, reterr);
	free(copy);
	return status;
}

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
edge_parse(struct edge *e, const char *word)
{
	size_t len = strlen(word);
	char *end;

	if (len == 0)
		return 0;
	if (word[len - 1] != '%') {
		e->kind = EDGE_NS;
		return seconds_parse(word, &e->ns);
	}
	/* strtod() takes signs, hexadecimal, infinities and nothing at all. */
	if (len == 1 || strspn(word, "0123456789.") != len - 1)
		return -1;
	e->kind = EDGE_PERCENT;
	e->percent = strtod(word, &end);
	if (end != word + len - 1 || e->percent > 100)
		return -1;
	return 0;
}

static int
time_parse(struct filter *f, const char *arg, const char **reterr)
{
	struct edge from = { 0 }, until = { 0 };
	char *copy = strdup(arg), *split;
	int status = -1;

	*reterr = copy ? "not A,B in seconds, nor A%-B%" : "out of memory";
	split = copy ? strpbrk(copy, ",-") : NULL;
	if (!split || (*split == '-' && !strchr(copy, '%')))
		goto out;
	*split = '\0';
	if (edge_parse(&from, copy) < 0 || edge_parse(&until, split + 1) < 0)
		goto out;
	*reterr = "ends before it begins";
	if (from.kind == until.kind && (from.ns > until.ns || from.percent > until.percent))
		goto out;
	f->from = from;
	f->until = until;
	f->from_ns = from.kind == EDGE_NS ? from.ns : 0;
	f->until_ns = until.kind == EDGE_NS ? until.ns : UINT64_MAX;
	status = 0;
out:
	free(copy);
	return status;
}

static int
wall_parse(const struct filter *f, const char *arg, uint64_t *ret, const char **reterr)
{
	int64_t ns;

	if (time_text_instant(arg, f->now_ns, getenv("TZ"), &ns) == 0) {
		*ret = (uint64_t)ns;
		return 0;
	}
	*reterr = "no time, such as 03:10, \"2026-11-21 03:10\", yesterday or 10m (ago)";
	return -1;
}

int
filter_set(struct filter *f, int option, const char *arg, const char **reterr)
{
	f->given = true;
	switch (option) {
	case FILTER_OPTION_comm:
		return names_parse(&f->comm, arg, false, reterr);
	case FILTER_OPTION_dso:
		return names_parse(&f->dso, arg, false, reterr);
	case FILTER_OPTION_symbol:
		return names_parse(&f->symbol, arg, true, reterr);
	case FILTER_OPTION_symbol_filter:
		return names_add(&f->parts, arg, strlen(arg), reterr);
	case FILTER_OPTION_event:
		return names_parse(&f->event, arg, false, reterr);
	case FILTER_OPTION_cgroup:
		return cgroups_parse(&f->cgroup, arg, reterr);
	case FILTER_OPTION_pid:
		return ranges_parse(&f->pid, arg, false, reterr);
	case FILTER_OPTION_tid:
		return ranges_parse(&f->tid, arg, false, reterr);
	case FILTER_OPTION_cpu:
		return ranges_parse(&f->cpu, arg, true, reterr);
	case FILTER_OPTION_time:
		return time_parse(f, arg, reterr);
	case FILTER_OPTION_since:
		return wall_parse(f, arg, &f->since_ns, reterr);
	case FILTER_OPTION_until:
		return wall_parse(f, arg, &f->till_ns, reterr);
	}
	*reterr = "not a filter";
	return -1;
}

static uint64_t
edge_ns(const struct edge *e, uint64_t first_ns, uint64_t last_ns, uint64_t otherwise)
{
	switch (e->kind) {
	case EDGE_NS:
		return e->ns;
	case EDGE_PERCENT:
		/* 100 % includes the last sample, and the end of a window is not in it. */
		if (e->percent >= 100)
			return last_ns == UINT64_MAX ? last_ns : last_ns + 1;
		return first_ns + (uint64_t)((double)(last_ns - first_ns) * e->percent / 100);
	case EDGE_NONE:
		break;
	}
	return otherwise;
}

bool
filter_given(const struct filter *f)
{
	return f->given;
}

bool
filter_possible(const struct filter *f)
{
	return f->since_ns < f->till_ns;
}

void
filter_range(struct filter *f, bool wall, uint64_t first_ns, uint64_t last_ns)
{
	uint64_t from, until;

	if (last_ns < first_ns)
		last_ns = first_ns;
	if (!wall) {
		f->from_ns = edge_ns(&f->from, first_ns, last_ns, 0);
		f->until_ns = edge_ns(&f->until, first_ns, last_ns, UINT64_MAX);
		return;
	}
	if (f->from.kind == EDGE_PERCENT) {
		from = edge_ns(&f->from, first_ns, last_ns, 0);
		f->since_ns = from > f->since_ns ? from : f->since_ns;
	}
	if (f->until.kind == EDGE_PERCENT) {
		until = edge_ns(&f->until, first_ns, last_ns, UINT64_MAX);
		f->till_ns = until < f->till_ns ? until : f->till_ns;
	}
	/* Not again by each recording's range. */
	if (filter_needs_range(f))
		f->from.kind = f->until.kind = EDGE_NONE;
}

bool
filter_needs_range(const struct filter *f)
{
	return f->from.kind == EDGE_PERCENT || f->until.kind == EDGE_PERCENT;
}

void
filter_wall(const struct filter *f, uint64_t *ret_from, uint64_t *ret_until)
{
	*ret_from = f->since_ns;
	*ret_until = f->till_ns;
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

int
filter_window(const struct filter *f, const struct clock_triple *start, uint64_t *ret_from,
	      uint64_t *ret_until)
{
	uint64_t from = f->from_ns, until = f->until_ns, ns;

	if ((f->since_ns > 0 || f->till_ns < UINT64_MAX) && start->realtime == 0)
		return -1;
	if (f->since_ns > 0) {
		ns = to_recording(f->since_ns, start);
		from = ns > from ? ns : from;
	}
	if (f->till_ns < UINT64_MAX) {
		ns = to_recording(f->till_ns, start);
		until = ns < until ? ns : until;
	}
	*ret_from = from;
	*ret_until = until;
	return 0;
}

/* A name with a backslash in it is also what is written like it. */
static bool
name_matches(const char *wanted, const char *s)
{
	return strcmp(wanted, s) == 0 || glob_match(wanted, s);
}

static bool
names_have(const struct names *names, const char *s)
{
	if (names->n == 0)
		return true;
	for (size_t i = 0; i < names->n; i++)
		if (name_matches(names->v[i], s))
			return true;
	return false;
}

static bool
parts_have(const struct names *parts, const char *s)
{
	if (parts->n == 0)
		return true;
	for (size_t i = 0; i < parts->n; i++)
		if (strstr(s, parts->v[i]))
			return true;
	return false;
}

static bool
ranges_have(const struct ranges *ranges, uint32_t n)
{
	if (ranges->n == 0)
		return true;
	for (size_t i = 0; i < ranges->n; i++)
		if (n >= ranges->v[i].first && n <= ranges->v[i].last)
			return true;
	return false;
}

bool
filter_scope(const struct filter *f, const struct filter_subject *s)
{
	return ranges_have(&f->cpu, s->cpu) && names_have(&f->event, s->event);
}

bool
filter_sample(const struct filter *f, const struct filter_subject *s)
{
	return filter_scope(f, s) && ranges_have(&f->pid, s->pid) && ranges_have(&f->tid, s->tid) &&
		names_have(&f->comm, s->comm) &&
		cgroup_verdict(s->verdicts, f->cgroup.v, f->cgroup.n, s->cgroup);
}

bool
filter_by_cgroup(const struct filter *f)
{
	return f->cgroup.n > 0;
}

bool
filter_by_cpu(const struct filter *f)
{
	return f->cpu.n > 0;
}

bool
filter_by_leaf(const struct filter *f)
{
	return f->dso.n > 0 || f->symbol.n > 0 || f->parts.n > 0;
}

bool
filter_leaf(const struct filter *f, const char *dso, const char *dso_path, const char *symbol)
{
	bool dso_wanted = f->dso.n == 0;

	if (!symbol)
		symbol = "[unknown]";
	for (size_t i = 0; i < f->dso.n && !dso_wanted; i++)
		dso_wanted = name_matches(f->dso.v[i], strchr(f->dso.v[i], '/') ? dso_path : dso);
	return dso_wanted && names_have(&f->symbol, symbol) && parts_have(&f->parts, symbol);
}
