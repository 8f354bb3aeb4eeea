/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_aux.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <bsd/string.h>

#include "recorder/event/coresight.h"
#include "recorder/event/event_open.h"
#include "recorder/event/pmu.h"
#include "recorder/host/host.h"

#define ALL_BITS UINT64_MAX
#define PERIOD_BIT 3	    /* of MTC and PSB packets, as perf chooses */
#define SPE_PERIOD 4096	    /* where the PMU tells no least one */
#define PAGE_READS_MAX 1000 /* of a page that is being changed */
#define CPUID_TSC 0x15

#define TRACED                                                                                     \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CGROUP)

/* --- which ------------------------------------------------------------------------------ */

/* A name that ends in '_' begins those of several PMUs. */
static const struct tracing_pmu {
	const char *name;
	enum aux_tracer tracer;
} tracing_pmus[] = {
	{ "intel_pt", AUX_TRACER_INTEL_PT }, { "intel_bts", AUX_TRACER_INTEL_BTS },
	{ "arm_spe_", AUX_TRACER_ARM_SPE },  { CORESIGHT_PMU, AUX_TRACER_CS_ETM },
	{ "hisi_ptt", AUX_TRACER_HISI_PTT },
};

uint32_t
event_aux_tracer(const char *pmu)
{
	for (size_t i = 0; i < sizeof(tracing_pmus) / sizeof(tracing_pmus[0]); i++) {
		const char *name = tracing_pmus[i].name;
		size_t n = strlen(name);

		if (strncmp(pmu, name, n) == 0 && (name[n - 1] == '_' || !pmu[n] || pmu[n] == '_'))
			return tracing_pmus[i].tracer;
	}
	return 0;
}

int
event_aux_plan(const struct session_options *o, const struct event_spec *spec,
	       struct event_aux **aux, struct session_error *error)
{
	uint32_t tracer = event_aux_tracer(spec->pmu);

	if (!tracer)
		return 0;
	if (*aux)
		return session_usage(
			error,
			"%s: one event of a session traces, for the ring of a CPU has one "
			"AUX area",
			spec->name);
	if (spec->group)
		return session_usage(error, "%s: an event that traces is in no group", spec->name);
	if (spec->counts)
		return session_usage(error, "%s: a tracer counts nothing", spec->name);
	if (o->overwrite)
		return session_usage(error,
				     "%s: --overwrite is of samples; of a trace --snapshot keeps "
				     "the end alone",
				     spec->name);
	if (o->for_user || o->cpu_share)
		return session_fail(
			error, -EPERM,
			"%s: traces have no bound of time or size: they are for root, by "
			"spoor record",
			spec->name);
	*aux = calloc(1, sizeof(**aux));
	if (!*aux)
		return session_fail(error, -ENOMEM, "out of memory");
	(*aux)->tracer = tracer;
	(void)strlcpy((*aux)->pmu, spec->pmu, sizeof((*aux)->pmu));
	return 0;
}

int
event_aux_settle(struct event_aux *a, const struct event_def *defs, const struct session_options *o,
		 const struct target *target, struct session_error *error)
{
	struct utsname u = { 0 };
	struct event_aux_scope scope = { .cpus = &target->sampled,
					 .release = u.release,
					 .cpu_wide = target_of_cpus(target),
					 .per_cpu = !target->per_thread,
					 .snapshot = o->aux_snapshot };

	if (!a && (o->aux_pages || o->aux_snapshot))
		return session_usage(error,
				     "-m N,AUX and --snapshot are of an event with an AUX "
				     "area, such as intel_pt//, and none is asked for");
	if (!a)
		return 0;
	while (!defs->aux)
		defs++;
	(void)uname(&u);
	return event_aux_describe(a, PMU_SYSFS, &defs->attr, &scope, error);
}

/* --- the attr --------------------------------------------------------------------------- */

/* That of a list of bits which is the wanted one, or the next lower, or the lowest. */
static unsigned
pick_bit(uint64_t bits, unsigned wanted)
{
	unsigned pick = 0;

	while (pick < 63 && !(bits >> pick & 1))
		pick++;
	for (unsigned i = pick; i <= wanted; i++)
		if (bits >> i & 1)
			pick = i;
	return pick;
}

static void
set(const char *sysfs, const char *pmu, const char *term, uint64_t value,
    struct perf_event_attr *attr)
{
	struct perf_event_attr with = *attr;

	if (pmu_term(sysfs, pmu, term, value, &with) == 0)
		*attr = with;
}

/* Timing packets as often as the CPU can tell by, and that it traces branches at all. */
static void
intel_pt_defaults(const char *sysfs, const char *pmu, struct perf_event_attr *attr)
{
	uint64_t has = 1, mtc = 0, psb = 0;
	char text[8];

	set(sysfs, pmu, "tsc", 1, attr);
	(void)pmu_number(sysfs, pmu, "caps/", "mtc", 10, &has);
	if (has)
		(void)pmu_number(sysfs, pmu, "caps/", "mtc_periods", 16, &mtc);
	if (mtc) {
		set(sysfs, pmu, "mtc", 1, attr);
		set(sysfs, pmu, "mtc_period", pick_bit(mtc, PERIOD_BIT), attr);
	}
	has = 1;
	(void)pmu_number(sysfs, pmu, "caps/", "psb_cyc", 10, &has);
	if (has && mtc)
		(void)pmu_number(sysfs, pmu, "caps/", "psb_periods", 16, &psb);
	if (psb)
		set(sysfs, pmu, "psb_period", pick_bit(psb, PERIOD_BIT), attr);
	if (pmu_format(sysfs, pmu, "pt", text, sizeof(text)) != -ENOENT &&
	    pmu_format(sysfs, pmu, "branch", text, sizeof(text)) != -ENOENT) {
		set(sysfs, pmu, "pt", 1, attr);
		set(sysfs, pmu, "branch", 1, attr);
	}
}

void
event_aux_defaults(const char *sysfs, const char *pmu, struct perf_event_attr *attr)
{
	switch (event_aux_tracer(pmu)) {
	case AUX_TRACER_INTEL_PT:
		intel_pt_defaults(sysfs, pmu, attr);
		break;
	case AUX_TRACER_ARM_SPE:
		set(sysfs, pmu, "ts_enable", 1, attr);
		break;
	case AUX_TRACER_CS_ETM:
		set(sysfs, pmu, "timestamp", 1, attr);
		set(sysfs, pmu, "contextid", 1, attr);
		break;
	}
}

void
event_aux_attr(const char *sysfs, const char *pmu, bool has_rate, struct perf_event_attr *attr)
{
	uint64_t period = 1;

	if (event_aux_tracer(pmu) == AUX_TRACER_ARM_SPE) {
		period = SPE_PERIOD;
		(void)pmu_number(sysfs, pmu, "caps/", "min_interval", 10, &period);
	}
	if (!has_rate || attr->freq)
		attr->sample_period = period ? period : 1;
	attr->freq = 0;
	attr->sample_type = (attr->sample_type | PERF_SAMPLE_PERIOD) & TRACED;
	attr->exclude_callchain_user = attr->exclude_callchain_kernel = 0;
	attr->sample_max_stack = 0;
	attr->sample_regs_user = attr->sample_regs_intr = 0;
	attr->sample_stack_user = 0;
	attr->branch_sample_type = 0;
}

/* --- for decoders ----------------------------------------------------------------------- */

/* Of the format's term the bits that it has at this value; 0: there is no such term. */
static uint64_t
bits_of(const char *sysfs, const char *pmu, const char *term, uint64_t value)
{
	struct perf_event_attr attr = { 0 };

	/* More bits than the term has are refused, after those that it has were set. */
	(void)pmu_term(sysfs, pmu, term, value, &attr);
	return attr.config;
}

static void
tsc_ratio(unsigned *ret_n, unsigned *ret_d)
{
	*ret_n = *ret_d = 0;
#if defined(__x86_64__)
	unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;

	if (__get_cpuid(CPUID_TSC, &eax, &ebx, &ecx, &edx)) {
		*ret_n = ebx;
		*ret_d = eax;
	}
#endif
}

/* That by which tracers stamp. 0: not known here. */
static uint64_t
cycles_now(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t cycles;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(cycles));
	return cycles;
#else
	return 0;
#endif
}

uint64_t
event_aux_time_zero(uint32_t shift, uint32_t mult, uint64_t cycles, uint64_t ns)
{
	uint64_t whole = cycles >> shift, rest = cycles & ((UINT64_C(1) << shift) - 1);

	return ns - (whole * mult + (rest * mult >> shift));
}

/* As perf_event_open(2) has it, "lock" (a seqlock) around what is read. */
static bool
read_clock(const struct perf_event_mmap_page *page, struct aux_trace *about)
{
	for (int i = 0; i < PAGE_READS_MAX; i++) {
		uint32_t seq = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		bool has = page->cap_user_time_zero;

		about->time_shift = page->time_shift;
		about->time_mult = page->time_mult;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&page->lock, __ATOMIC_RELAXED) == seq && !(seq & 1))
			return has && about->time_mult && about->time_shift < 32;
	}
	return false;
}

/*
 * The page of an event whose times are of CLOCK_MONOTONIC tells no conversion; that of another one does, to the
 * clock of the scheduler. This one goes as fast, but for what NTP slews by, and is some time apart.
 */
static void
find_clock(struct aux_trace *about)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_DUMMY,
					.size = PERF_ATTR_SIZE_VER5,
					.exclude_kernel = 1 };
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	int fd = event_open(&attr, 0, -1, 0);
	void *page = MAP_FAILED;

	if (fd >= 0)
		page = mmap(NULL, page_size, PROT_READ, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED && read_clock(page, about))
		about->time_zero = event_aux_time_zero(about->time_shift, about->time_mult,
						       cycles_now(), host_now_ns());
	else
		about->time_shift = about->time_mult = 0;
	if (page != MAP_FAILED)
		munmap(page, page_size);
	if (fd >= 0)
		close(fd);
}

/* As enum INTEL_PT_* of perf, one after another. */
static void
intel_pt_words(const struct event_aux *a, const char *sysfs, const struct event_aux_scope *scope,
	       struct buf *b)
{
	const struct aux_trace *t = &a->about;
	uint64_t ratio = 0, event_trace = 0;
	unsigned n, d;

	(void)pmu_number(sysfs, a->pmu, "", "max_nonturbo_ratio", 10, &ratio);
	(void)pmu_number(sysfs, a->pmu, "caps/", "event_trace", 10, &event_trace);
	tsc_ratio(&n, &d);
	buf_u64(b, t->time_shift);
	buf_u64(b, t->time_mult);
	buf_u64(b, t->time_zero);
	buf_u64(b, t->time_mult != 0);
	buf_u64(b, bits_of(sysfs, a->pmu, "tsc", 1));
	buf_u64(b, bits_of(sysfs, a->pmu, "noretcomp", 1));
	buf_u64(b,
		scope->cpu_wide ? 3
				: 2); /* SWITCH records of all tasks; of those that are traced */
	buf_u64(b, scope->snapshot);
	buf_u64(b, scope->per_cpu);
	buf_u64(b, bits_of(sysfs, a->pmu, "mtc", 1));
	buf_u64(b, bits_of(sysfs, a->pmu, "mtc_period", ALL_BITS));
	buf_u64(b, n);
	buf_u64(b, d);
	buf_u64(b, bits_of(sysfs, a->pmu, "cyc", 1));
	buf_u64(b, ratio);
	buf_u64(b, 0); /* length of a filter by addresses: none */
	buf_u64(b, event_trace);
}

int
event_aux_describe(struct event_aux *a, const char *sysfs, const struct perf_event_attr *attr,
		   const struct event_aux_scope *scope, struct session_error *error)
{
	struct buf *b = &a->bytes;
	int r = 0;

	a->about = (struct aux_trace){ .tracer = a->tracer };
	find_clock(&a->about);
	buf_clear(b);
	if (a->tracer != AUX_TRACER_CS_ETM)
		buf_u64(b, attr->type);
	switch (a->tracer) {
	case AUX_TRACER_INTEL_PT:
		intel_pt_words(a, sysfs, scope, b);
		break;
	case AUX_TRACER_INTEL_BTS:
		buf_u64(b, a->about.time_shift);
		buf_u64(b, a->about.time_mult);
		buf_u64(b, a->about.time_zero);
		buf_u64(b, a->about.time_mult != 0);
		buf_u64(b, scope->snapshot);
		break;
	case AUX_TRACER_CS_ETM:
		r = coresight_words(sysfs, scope->cpus, attr,
				    coresight_ids_are_fixed(scope->release), scope->snapshot, b,
				    error);
		break;
	case AUX_TRACER_ARM_SPE:
		buf_u64(b, scope->per_cpu);
		break;
	}
	a->about.words = buf_span(b);
	return r == 0 && buf_failed(b) ? session_fail(error, -ENOMEM, "out of memory") : r;
}

void
event_aux_free(struct event_aux *a)
{
	if (a)
		buf_done(&a->bytes);
	free(a);
}
