/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/stream/governor.h"

#define OVER_WINDOWS 2	 /* one burst, such as a rotation's snapshot, is not a habit */
#define ROOMY 0.8	 /* of the budget: what a raise may be expected to use */
#define PROBE 0.7	 /* below this, try a raise although the doubled cost might not fit */
#define PROBE_TIMES 5	 /* but wait so much longer for it */
#define MEMORY_ROOMY 0.9 /* memory hardly depends on the frequency */
#define PATIENCE_MAX 16
#define UNHELD_WINDOWS 6   /* until it is said that a budget cannot be kept to */
#define FORGET_WINDOWS 120 /* at the configured frequency, until past swings are forgotten */

void
governor_init(struct governor *g)
{
	*g = (struct governor){ .patience = 1 };
}

void
governor_forget(struct governor *g)
{
	g->begun = g->trimmed = g->raised = false;
	g->sideband_over = g->sideband_calm = 0;
	g->over = g->calm = g->since_change = 0;
	g->unheld_over = g->unheld_calm = 0;
	g->unheld = GOVERNOR_NONE;
	g->patience = 1;
}

uint64_t
governor_frequency(const struct governor *g, uint64_t configured_hz)
{
	uint64_t hz = g->level < 64 ? configured_hz >> g->level : 0;

	return hz < GOVERNOR_FLOOR_HZ ? GOVERNOR_FLOOR_HZ : hz;
}

static const char *
cause_name(enum governor_cause cause)
{
	static const char *const names[] = { "", "cpu_budget", "memory_budget", "disk_budget" };

	return names[cause];
}

const char *
governor_reason(const struct governor *g)
{
	return g->level ? cause_name(g->cause) : "";
}

const char *
governor_sideband_reason(const struct governor *g)
{
	return cause_name(g->sideband_cause);
}

const char *
governor_unheld(const struct governor *g, double *ret_times)
{
	*ret_times = g->unheld_times;
	return cause_name(g->unheld);
}

struct load {
	double rate;   /* largest share of a budget that follows the frequency */
	double memory; /* share of the memory budget */
	enum governor_cause cause;
	enum governor_cause sideband; /* of which budget it takes too much */
	double doubled;		      /* the largest share, if side-band were twice as much */
	double used;		      /* the largest share, side-band included */
	enum governor_cause of;	      /* which budget's */
};

/*
 * A budget: how many of it are used, how many of these by side-band that can be lowered, and how many besides by what
 * cannot.
 */
static void
add_load(struct load *l, double used, double sideband, double fixed, enum governor_cause cause)
{
	if (used + sideband > l->doubled)
		l->doubled = used + sideband;
	if (used + fixed > l->used) {
		l->used = used + fixed;
		l->of = cause;
	}
	if (used > 1 && sideband > used / 2) {
		l->sideband = cause;
		used -= sideband;
	}
	if (used > l->rate) {
		l->rate = used;
		l->cause = cause;
	}
}

/* A session that ends badly takes its counts along. */
static uint64_t
more(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static struct load
load_of(const struct governor *g, const struct governor_budget *b,
	const struct governor_reading *now)
{
	double seconds = (double)(now->now_ns - g->at.now_ns) / 1e9;
	struct load l = { .cause = GOVERNOR_NONE };
	uint64_t cpu_ns = more(now->sideband_cpu_ns, g->at.sideband_cpu_ns);
	uint64_t disk_bytes = more(now->sideband_bytes, g->at.sideband_bytes);

	if (!b->sideband)
		cpu_ns = disk_bytes = 0;
	if (b->cpu_milli_percent) {
		double ns = (double)b->cpu_milli_percent / 100000 * 1e9 * seconds;

		add_load(&l, (double)(now->cpu_ns - g->at.cpu_ns) / ns, (double)cpu_ns / ns,
			 (double)more(now->fixed_cpu_ns, g->at.fixed_cpu_ns) / ns, GOVERNOR_CPU);
	}
	if (b->disk_bytes_per_s) {
		double bytes = (double)b->disk_bytes_per_s * seconds;

		add_load(&l, (double)(now->written_bytes - g->at.written_bytes) / bytes,
			 (double)disk_bytes / bytes, 0, GOVERNOR_DISK);
	}
	if (b->memory_bytes)
		l.memory = (double)now->rss_bytes / (double)b->memory_bytes;
	return l;
}

static void
changed(struct governor *g, bool raised)
{
	g->over = g->calm = 0;
	g->since_change = 0;
	g->raised = raised;
}

static enum governor_step
governor_lower(struct governor *g, enum governor_cause cause, double load, uint64_t configured_hz)
{
	unsigned int before = g->level;

	do {
		if (governor_frequency(g, configured_hz) <= GOVERNOR_FLOOR_HZ)
			break;
		g->level++;
		load /= 2;
	} while (load > 1);
	if (g->level == before) {
		g->over = 0;
		return GOVERNOR_STAY;
	}
	if (g->raised && g->since_change <= GOVERNOR_CALM_WINDOWS && g->patience < PATIENCE_MAX)
		g->patience *= 2;
	g->cause = cause;
	changed(g, false);
	return GOVERNOR_LOWER;
}

/* Memory first gets a chance to be given back, then a while to show what a step did. */
static enum governor_step
over_memory(struct governor *g, uint64_t configured_hz)
{
	if (!g->trimmed) {
		g->trimmed = true;
		g->since_change = 0;
		g->over = 0;
		return GOVERNOR_TRIM;
	}
	if (g->since_change < GOVERNOR_CALM_WINDOWS)
		return GOVERNOR_STAY;
	g->trimmed = false;
	return governor_lower(g, GOVERNOR_MEMORY, 1, configured_hz);
}

/* The largest load of the last minute or two; what was before is no longer so. */
static void
note_calm(struct governor *g, double rate)
{
	if (g->calm % GOVERNOR_CALM_WINDOWS == 0) {
		g->calm_before = g->calm ? g->calm_now : 0;
		g->calm_now = 0;
	}
	if (rate > g->calm_now)
		g->calm_now = rate;
	g->calm++;
}

static enum governor_step
maybe_raise(struct governor *g)
{
	unsigned int needed = GOVERNOR_CALM_WINDOWS * g->patience, steps = 0;
	double most = g->calm_now > g->calm_before ? g->calm_now : g->calm_before;
	double load = most;

	if (g->level == 0 || g->calm < needed)
		return GOVERNOR_STAY;
	while (steps < g->level && load * 2 <= ROOMY) {
		load *= 2;
		steps++;
	}
	if (steps == 0 && (most > PROBE || g->calm < needed * PROBE_TIMES))
		return GOVERNOR_STAY;
	g->level -= steps ? steps : 1;
	if (g->level == 0)
		g->cause = GOVERNOR_NONE;
	changed(g, true);
	return GOVERNOR_RAISE;
}

static void
judge_sideband(struct governor *g, const struct load *l)
{
	if (l->sideband) {
		g->sideband_calm = 0;
		if (++g->sideband_over < OVER_WINDOWS || g->sideband == GOVERNOR_SIDEBAND_MAX)
			return;
		g->sideband_cause = l->sideband;
		g->sideband++;
	} else {
		g->sideband_over = 0;
		g->sideband_calm = l->doubled <= ROOMY ? g->sideband_calm + 1 : 0;
		if (!g->sideband || g->sideband_calm < GOVERNOR_CALM_WINDOWS)
			return;
		g->sideband--;
	}
	g->sideband_over = g->sideband_calm = 0;
}

static enum governor_step
judge(struct governor *g, const struct load *l, uint64_t configured_hz)
{
	g->since_change++;
	if (g->level == 0 && g->since_change >= FORGET_WINDOWS)
		g->patience = 1;
	if (l->rate <= 1 && l->memory <= 1) {
		g->over = 0;
		g->trimmed = g->trimmed && l->memory > MEMORY_ROOMY;
		if (l->memory > MEMORY_ROOMY) {
			g->calm = 0;
			return GOVERNOR_STAY;
		}
		note_calm(g, l->rate);
		return maybe_raise(g);
	}
	g->calm = 0;
	if (g->over == 0 || l->rate < g->least_over)
		g->least_over = l->rate;
	if (++g->over < OVER_WINDOWS)
		return GOVERNOR_STAY;
	if (l->rate <= 1 || g->least_over <= 1)
		return over_memory(g, configured_hz);
	return governor_lower(g, l->cause, g->least_over, configured_hz);
}

static void
note_unheld(struct governor *g, const struct load *l, bool lowered)
{
	g->unheld_calm = l->used <= 1 ? g->unheld_calm + 1 : 0;
	g->unheld_over = l->used > 1 && !lowered ? g->unheld_over + 1 : 0;
	if (g->unheld_over >= UNHELD_WINDOWS)
		g->unheld = l->of;
	if (g->unheld_over > 0)
		g->unheld_times = l->used;
	if (g->unheld_calm >= GOVERNOR_CALM_WINDOWS)
		g->unheld = GOVERNOR_NONE;
}

enum governor_step
governor_decide(struct governor *g, const struct governor_budget *b,
		const struct governor_reading *now, uint64_t configured_hz)
{
	enum governor_step step = GOVERNOR_STAY;
	struct load l;

	if (!b->sideband)
		g->sideband = 0;
	if (now->hold || !g->begun) {
		g->at = *now;
		g->begun = true;
		g->over = g->calm = g->unheld_over = g->unheld_calm = 0;
		return GOVERNOR_STAY;
	}
	if (now->now_ns - g->at.now_ns < GOVERNOR_WINDOW_NS)
		return GOVERNOR_STAY;
	l = load_of(g, b, now);
	g->at = *now;
	if (g->settled) {
		const unsigned int sideband = g->sideband;

		judge_sideband(g, &l);
		step = judge(g, &l, configured_hz);
		note_unheld(g, &l, step == GOVERNOR_LOWER || g->sideband > sideband);
	}
	g->settled = true;
	return step;
}
