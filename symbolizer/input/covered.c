/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/input/covered.h"

#include <stdlib.h>

#define CPUS_MAX 65536 /* as many are looked at, whatever the file says */

struct range {
	uint64_t from, until;
};

/* A range in which depth ranges of a set overlap, up to the next point; sum is their ns before it. */
struct point {
	uint64_t at, sum;
	uint32_t depth;
};

/*
 * Ranges that may overlap, as the sum of their ns up to a time: a file may have thousands of gaps, and is asked
 * of thousands of windows. Sums are modulo 2^64, so that the difference of two is right below 584 years of CPUs.
 */
struct sums {
	struct point *points;
	size_t n;
};

struct covered {
	const struct input_set *set;
	struct sums common; /* gaps of all CPUs */
	/*
	 * What gaps of single CPUs add to that: they are on a clock that stands still in gaps of all CPUs
	 * (own_time()), where no ns is counted twice.
	 */
	struct sums own;
};

bool
covered_range(const struct input_set *s, uint64_t *ret_from, uint64_t *ret_until)
{
	uint64_t from = UINT64_MAX, until = 0;

	for (size_t i = 0; i < s->nr_spans; i++) {
		from = s->spans[i].from_ns < from ? s->spans[i].from_ns : from;
		until = s->spans[i].until_ns > until ? s->spans[i].until_ns : until;
	}
	*ret_from = from;
	*ret_until = until;
	return s->nr_spans > 0;
}

/* --- sums of ranges ----------------------------------------------------------------------- */

static int
by_time(const void *va, const void *vb)
{
	const struct point *a = va, *b = vb;

	return (a->at > b->at) - (a->at < b->at);
}

/* A range becomes two points, until sums_end(); there is room. */
static void
sums_add(struct sums *s, struct range r)
{
	s->points[s->n++] = (struct point){ .at = r.from, .depth = 1 };
	s->points[s->n++] = (struct point){ .at = r.until, .depth = UINT32_MAX /* one less */ };
}

static void
sums_end(struct sums *s)
{
	const struct point *before = NULL;

	qsort(s->points, s->n, sizeof(*s->points), by_time);
	for (size_t i = 0; i < s->n; i++) {
		struct point *p = &s->points[i];

		if (before) {
			p->sum = before->sum + (p->at - before->at) * before->depth;
			p->depth += before->depth;
		}
		before = p;
	}
}

/* Of all ranges together, the ns before a time. */
static uint64_t
sums_until(const struct sums *s, uint64_t at)
{
	size_t low = 0, high = s->n; /* the first point behind it */

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (s->points[middle].at <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return 0;
	return s->points[low - 1].sum + (at - s->points[low - 1].at) * s->points[low - 1].depth;
}

/* --- gaps --------------------------------------------------------------------------------- */

static int
by_cpu(const void *va, const void *vb)
{
	const struct gap *a = va, *b = vb;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

static uint64_t
end_of(const struct gap *g)
{
	return g->until_ns ? g->until_ns : UINT64_MAX;
}

static uint64_t
own_time(const struct covered *c, uint64_t at)
{
	return at - sums_until(&c->common, at);
}

static void
add_range(struct covered *c, uint32_t cpu, struct range r)
{
	if (cpu == GAP_CPU_ALL)
		sums_add(&c->common, r);
	else
		sums_add(&c->own, (struct range){ own_time(c, r.from), own_time(c, r.until) });
}

/* Gaps of several causes may be at the same time: one range. They are in the order of by_cpu(). */
static void
add_gaps(struct covered *c, const struct gap *gaps, size_t n)
{
	for (size_t i = 0; i < n;) {
		const uint32_t cpu = gaps[i].cpu;
		struct range r = { gaps[i].from_ns, end_of(&gaps[i]) };

		for (i++; i < n && gaps[i].cpu == cpu && gaps[i].from_ns <= r.until; i++)
			if (end_of(&gaps[i]) > r.until)
				r.until = end_of(&gaps[i]);
		add_range(c, cpu, r);
	}
}

static bool
is_wanted(const struct input_set *s, uint32_t cpu)
{
	return cpu < CPUS_MAX && (!s->filter || filter_wants_cpu(s->filter, cpu));
}

static int
take_gaps(struct covered *c)
{
	const struct gap_list *all = &c->set->gaps;
	struct gap *gaps = calloc(all->nr + 1, sizeof(*gaps));
	size_t own = 0, common = all->nr;

	c->common.points = calloc(all->nr + 1, 2 * sizeof(*c->common.points));
	c->own.points = calloc(all->nr + 1, 2 * sizeof(*c->own.points));
	if (!gaps || !c->common.points || !c->own.points) {
		free(gaps);
		return -1;
	}
	for (size_t i = 0; i < all->nr; i++) {
		const struct gap *g = &all->gaps[i];

		/* A forged one may end before it begins, on the clock of the first recording. */
		if (g->from_ns >= end_of(g))
			continue;
		if (g->cpu == GAP_CPU_ALL)
			gaps[--common] = *g;
		else if (is_wanted(c->set, g->cpu))
			gaps[own++] = *g;
	}
	qsort(gaps, own, sizeof(*gaps), by_cpu);
	qsort(gaps + common, all->nr - common, sizeof(*gaps), by_cpu);
	add_gaps(c, gaps + common, all->nr - common);
	sums_end(&c->common);
	add_gaps(c, gaps, own);
	sums_end(&c->own);
	free(gaps);
	return 0;
}

struct covered *
covered_new(const struct input_set *s)
{
	struct covered *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->set = s;
	if (take_gaps(c) == 0)
		return c;
	covered_free(c);
	return NULL;
}

void
covered_free(struct covered *c)
{
	if (!c)
		return;
	free(c->common.points);
	free(c->own.points);
	free(c);
}

static double
covered_one(const struct covered *c, const struct covered_span *span, struct range r)
{
	/* Without the gaps of all CPUs. */
	const uint64_t from = own_time(c, r.from), until = own_time(c, r.until);
	double ns = (double)(until - from) * span->cpus;

	if (!span->tasks)
		ns -= (double)(sums_until(&c->own, until) - sums_until(&c->own, from));
	return ns > 0 ? ns : 0;
}

double
covered_ns(const struct covered *c, uint64_t from_ns, uint64_t until_ns)
{
	double sum = 0;

	for (size_t i = 0; i < c->set->nr_spans; i++) {
		const struct covered_span *span = &c->set->spans[i];
		const struct range r = { span->from_ns > from_ns ? span->from_ns : from_ns,
					 span->until_ns < until_ns ? span->until_ns : until_ns };

		if (r.from < r.until)
			sum += covered_one(c, span, r);
	}
	return sum;
}

double
covered_kept(const struct input_set *s)
{
	const double lost = s->loss ? (double)loss_samples(s->loss) : 0;
	const double there = (double)s->samples;

	return there > 0 ? there / (there + lost) : 1;
}
