/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_settle.h"

#include <errno.h>
#include <string.h>

#include <bsd/string.h>

#include "recorder/event/event_open.h"
#include "recorder/event/event_refusal.h"
#include "recorder/ground/session_error.h"

#define PRECISE_MAX 3
#define PMU_OF_CONFIG UINT64_C(0xffffffff00000000)

struct settling {
	struct event_def *def;
	const struct event_settle_options *options;
	struct buf *notes;
	/* Where it is tried. */
	pid_t pid;
	int cpu;
	/* What was left out of it, since this user may not have it. */
	bool no_kernel, no_kernel_chains;
	unsigned long long lowered_from; /* Hz; 0: its frequency was not lowered */
};

/* u of NAME is NAME:u, of NAME:p NAME:pu, of pmu/term/ pmu/term/u; who gave a name is told of the event by that. */
static void
add_modifiers(struct event_def *def, const char *letters)
{
	size_t n = strlen(def->name);
	bool colon = !def->modified && (def->named || n == 0 || def->name[n - 1] != '/');

	(void)strlcat(def->name, colon ? ":" : "", sizeof(def->name));
	(void)strlcat(def->name, letters, sizeof(def->name));
	def->modified = true;
}

/* As event_spec reads them; a precision is the hardware's. */
static void
modifiers_of(const struct perf_event_attr *attr, char ret[16])
{
	bool some = attr->exclude_user || attr->exclude_kernel || attr->exclude_hv;
	const struct {
		bool is;
		char letter;
	} letters[] = {
		{ some && !attr->exclude_user, 'u' },
		{ some && !attr->exclude_kernel, 'k' },
		{ some && attr->exclude_user && !attr->exclude_hv, 'h' },
		{ attr->exclude_idle, 'I' },
		{ !attr->exclude_guest, 'G' },
		{ !attr->exclude_guest && !attr->exclude_host, 'H' },
		{ attr->pinned, 'D' },
		{ attr->exclusive, 'e' },
	};

	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (letters[i].is)
			*ret++ = letters[i].letter;
	*ret = '\0';
}

/* An event without hardware behind it, as the clock that every machine has. */
static void
fall_back_to_clock(struct event_def *def)
{
	char letters[16];

	event_def_done(def);
	def->only_kinds = false;
	def->attr.type = PERF_TYPE_SOFTWARE;
	def->attr.config = PERF_COUNT_SW_CPU_CLOCK;
	def->attr.precise_ip = 0;
	def->attr.exclude_idle = 1; /* cycles do not count when idle either */
	if (def->named)
		return;
	modifiers_of(&def->attr, letters);
	(void)strlcpy(def->name, "cpu-clock", sizeof(def->name));
	def->modified = false;
	add_modifiers(def, letters);
}

static bool
no_hardware(int err)
{
	return err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV || err == -ENXIO;
}

static bool
event_settle_denied(int err)
{
	return err == -EACCES || err == -EPERM;
}

static int
try(const struct settling *s, const struct event_kind *k)
{
	struct perf_event_attr attr = s->def->attr;

	event_kind_apply(k, &attr);
	event_def_point(s->def, &attr);
	attr.inherit = attr.enable_on_exec = 0;
	return event_open_try(&attr, s->pid, s->cpu);
}

/*
 * From the highest precision down. Guests are left out where that is possible: AMD's IBS, which
 * precise cycles are there, counts them always and refuses to be told otherwise.
 */
static int
try_precisions(const struct settling *s, struct event_kind *k)
{
	const bool guests_out = s->def->attr.exclude_guest;
	int r;

	for (int p = s->options->precise_max ? PRECISE_MAX : (int)k->precise;; p--) {
		k->precise = (unsigned)p;
		k->exclude_guest = guests_out;
		r = try(s, k);
		if (r == -EINVAL || r == -EOPNOTSUPP || r == -ENOENT) {
			k->exclude_guest = false;
			if (guests_out && !s->def->attr.exclude_host && try(s, k) == 0)
				return 0;
		}
		/* What is told is the error of the lowest precision, with guests left out. */
		if (r == 0 || event_settle_denied(r) || p == 0 || !s->options->precise_max)
			return r;
	}
}

/*
 * Without the kernel, which not every user may sample. Current kernels (7.2; Debian's 6.12.117, Ubuntu's
 * 6.8.0-151) want the same right for the kernel's part of call chains, even of an event that excludes
 * the kernel. False: nothing is left to leave out.
 */
static bool
leave_kernel_out(struct settling *s)
{
	struct perf_event_attr *attr = &s->def->attr;

	/* The right for whole CPUs includes the kernel; each switch is taken in the kernel. */
	if (s->pid != 0 || attr->context_switch || event_attr_breaks_in_kernel(attr))
		return false;
	if (!attr->exclude_kernel && !attr->exclude_user) {
		attr->exclude_kernel = 1;
		add_modifiers(s->def, "u");
		s->no_kernel = true;
		return true;
	}
	if (attr->exclude_kernel && attr->sample_type & PERF_SAMPLE_CALLCHAIN &&
	    !attr->exclude_callchain_kernel) {
		attr->exclude_callchain_kernel = 1;
		s->no_kernel_chains = true;
		return true;
	}
	return false;
}

static void
tell_settled(const struct settling *s, const char *asked)
{
	char letters[16];

	if (asked) {
		modifiers_of(&s->def->attr, letters);
		session_note(s->notes, "%s: no such counter here: cpu-clock:%s instead", asked,
			     letters);
	}
	if (s->lowered_from)
		session_note(s->notes,
			     "%s: frequency lowered from %llu to %llu Hz: "
			     "kernel.perf_event_max_sample_rate",
			     s->def->name, s->lowered_from,
			     (unsigned long long)s->def->attr.sample_freq);
}

static void
tell_left_out(const struct settling *s)
{
	const struct event_rights rights = event_rights_now();
	char need[EVENT_NEED_BYTES];
	const char *what = s->options->counts ? "no counts of the kernel"
		: !s->no_kernel		      ? "no call chains of the kernel"
		: s->no_kernel_chains	      ? "no samples of the kernel, and no call chains of it"
					      : "no samples of the kernel";
	bool needs;

	if (!s->no_kernel && !s->no_kernel_chains)
		return;
	needs = event_rights_need(&rights, EVENT_PARANOID_KERNEL, need);
	session_note(s->notes, "%s: %s: %s%s", s->def->name, what, needs ? "that needs " : "",
		     need);
}

/* One try at what may be wrong with the event as a whole; false: nothing left to try. */
static bool
adapt(struct settling *s, int err)
{
	struct perf_event_attr *attr = &s->def->attr;
	long long max;

	if (event_settle_denied(err))
		return leave_kernel_out(s);
	/* The kernel may have lowered its maximum since it was asked. */
	if (err == -EINVAL && attr->freq && event_max_frequency(&max) == 0 && max > 0 &&
	    attr->sample_freq > (uint64_t)max) {
		if (!s->lowered_from)
			s->lowered_from = attr->sample_freq;
		attr->sample_freq = (uint64_t)max;
		return true;
	}
	return false;
}

static int
settle_kind(struct settling *s, struct event_kind *k)
{
	uint64_t config = k->config;
	int r;

	do {
		r = try_precisions(s, k);
		/* A kernel that knows no PMU in the config has the event belong to the CPU's own. */
		if ((no_hardware(r) || r == -EINVAL) && k->type < PERF_TYPE_RAW &&
		    config & PMU_OF_CONFIG) {
			k->config = config & ~PMU_OF_CONFIG;
			if (try_precisions(s, k) == 0)
				return 0;
			k->config = config;
		}
	} while (r < 0 && adapt(s, r));
	return r;
}

/* A CPU of these on which the event will be opened; -1: none. */
static int
some_cpu(const struct target *t, const struct cpu_list *of)
{
	for (size_t i = 0; i < t->online.nr; i++) {
		uint32_t cpu = t->online.cpus[i];

		if (target_samples(t, cpu) && (!of || cpu_list_has(of, cpu)))
			return (int)cpu;
	}
	return -1;
}

static int
settle_plain(struct settling *s)
{
	struct perf_event_attr *attr = &s->def->attr;
	struct event_kind k = { .type = attr->type,
				.config = attr->config,
				.exclude_guest = attr->exclude_guest,
				.precise = attr->precise_ip };
	int r;

	s->cpu = s->pid == -1 ? some_cpu(s->options->target, NULL) : -1;
	r = settle_kind(s, &k);
	if (r == 0)
		event_kind_apply(&k, attr);
	return r;
}

/* Of the whole, the recording has the general event, as precise as the best of its kinds is. */
static int
settle_kinds(struct settling *s)
{
	struct event_def *def = s->def;
	unsigned precise = 0;
	size_t tried = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < def->nr_kinds; i++) {
		struct event_kind *k = &def->kinds[i];

		s->cpu = some_cpu(s->options->target, &k->cpus);
		if (s->cpu < 0)
			continue;
		r = settle_kind(s, k);
		tried++;
		if (r == 0 && k->precise > precise)
			precise = k->precise;
	}
	if (r == 0 && !tried && def->only_kinds)
		return -ENODEV;
	if (r == 0 && def->only_kinds)
		def->attr.exclude_guest = def->kinds[0].exclude_guest;
	def->attr.precise_ip = precise & 3;
	return r;
}

static int
check_target(const struct event_def *def, const struct target *t, struct session_error *error)
{
	if (t->per_thread && def->nr_kinds)
		return session_usage(
			error, "%s is counted by PMUs of some CPUs each: leave out --per-thread",
			def->name);
	if (def->for_all && !target_of_cpus(t))
		return session_usage(error, "%s counts for whole CPUs, not for processes: give -a",
				     def->name);
	return 0;
}

/* Refused as an event that is sampled: is the same one taken where it is but counted? */
static bool
is_but_counted(const struct settling *s)
{
	struct event_def counted = *s->def;
	struct settling of_it = *s;
	struct event_kind k = { .type = counted.attr.type,
				.config = counted.attr.config,
				.exclude_guest = counted.attr.exclude_guest,
				.precise = counted.attr.precise_ip };
	struct event_settle_options plain = *s->options;

	for (size_t i = 0; i < counted.nr_kinds; i++)
		if (s->cpu >= 0 && cpu_list_has(&counted.kinds[i].cpus, (uint32_t)s->cpu))
			k = counted.kinds[i];
	counted.attr.freq = 0;
	counted.attr.sample_period = 0;
	plain.precise_max = false;
	of_it.def = &counted;
	of_it.options = &plain;
	return try_precisions(&of_it, &k) == 0;
}

static int
settle_error(const struct settling *s, int err, struct session_error *error)
{
	const struct event_def *def = s->def;

	if (err == -ENODEV && def->only_kinds)
		return session_fail(error, err,
				    "%s: %s counts on other CPUs than those to be sampled",
				    def->name, def->kinds[0].pmu);
	if ((err == -EINVAL || err == -EOPNOTSUPP) && !s->options->counts && is_but_counted(s))
		return session_fail(error, err,
				    "%s can only be counted, not sampled: --counters%s%s",
				    def->name, def->named ? "" : "=", def->named ? "" : def->name);
	return event_open_error(def, s->pid, s->cpu, err, error);
}

int
event_settle(struct event_def *def, const struct event_settle_options *options, struct buf *notes,
	     struct session_error *error)
{
	struct settling s = { .def = def,
			      .options = options,
			      .notes = notes,
			      .pid = target_of_cpus(options->target) || def->everybody ? -1 : 0 };
	struct event_settle_options plain;
	char asked[sizeof(def->name)];
	bool clock = false;
	bool cycles = def->attr.type == PERF_TYPE_HARDWARE &&
		def->attr.config == PERF_COUNT_HW_CPU_CYCLES;
	int r = check_target(def, options->target, error);

	if (r < 0)
		return r;
	(void)strlcpy(asked, def->name, sizeof(asked));
	r = def->nr_kinds ? settle_kinds(&s) : settle_plain(&s);
	if (no_hardware(r) && cycles && !options->counts) {
		clock = true;
		fall_back_to_clock(def);
		/* It takes any precision, and has none. */
		plain = *options;
		plain.precise_max = false;
		s.options = &plain;
		r = settle_plain(&s);
	}
	if (r < 0)
		return settle_error(&s, r, error);
	/* All of it is known now: a note names the event as files do. */
	tell_settled(&s, clock && !options->by_default ? asked : NULL);
	tell_left_out(&s);
	return 0;
}
