/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include <bsd/string.h>
#include <linux/perf_event.h>

#include "symbolizer/profile/profile.h"
#include "tests/lab/profile_add.h"
#include "tests/lab/story.h"

#define HAVE (PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)
#define CTX_KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define CTX_USER ((uint64_t)PERF_CONTEXT_USER)
#define CTX_GUEST ((uint64_t)PERF_CONTEXT_GUEST_KERNEL)
#define CTX_HV ((uint64_t)PERF_CONTEXT_HV)
#define CTX_NOBODY_KNOWS ((uint64_t)-3000)
#define CTX_USER_DEFERRED ((uint64_t)-640)

#define K UINT64_C(0xffffffff81000000)
#define SCHEDULE (K + 0x1000)
#define SYSCALL (K + 0x2000)
#define ENTRY (K + 0x3000)
#define USER UINT64_C(0x400000)

static struct resolver *resolver;
static struct profile *profile;

static void
begin(struct synthetic *s, uint64_t have)
{
	synthetic_begin(s, have);
	synthetic_ksym(s, SCHEDULE, SCHEDULE + 0x1000, "", "schedule");
	synthetic_ksym(s, SYSCALL, SYSCALL + 0x1000, "", "do_syscall_64");
	synthetic_ksym(s, ENTRY, ENTRY + 0x1000, "", "entry");
}

static void
build(struct synthetic *s, const struct profile_options *options)
{
	struct fmt_where where = { 0 };

	synthetic_read(s);
	resolver = resolver_new(NULL);
	assert_non_null(resolver);
	profile = profile_new(resolver, NULL, options);
	assert_non_null(profile);
	assert_int_equal(profile_add(profile, options, s->stream, &where), 0);
}

static void
end(struct synthetic *s)
{
	profile_free(profile);
	resolver_free(resolver);
	synthetic_end(s);
}

#define SAMPLE(s, pid, tid, ip, ...)                                                               \
	do {                                                                                       \
		const uint64_t chain_[] = { __VA_ARGS__ };                                         \
		synthetic_sample(s, pid, tid, ip, chain_, sizeof(chain_) / 8);                     \
	} while (0)

/* Stack i as text: "comm: leaf < caller < ...", unknown frames by their object. */
static const char *
text(size_t i)
{
	static char out[512];
	struct profile_stack st;

	assert_true(i < profile_stacks(profile));
	profile_stack_at(profile, i, &st);
	strlcpy(out, st.comm, sizeof(out));
	for (uint32_t k = 0; k < st.nr_frames; k++) {
		const struct frame *f = profile_frame(profile, st.frames[k]);

		strlcat(out, k ? " < " : ": ", sizeof(out));
		strlcat(out, f->symbol ? f->symbol : f->dso, sizeof(out));
	}
	return out;
}

/* Each stack is once among those of its event, in order. */
static void
stacks_of_events(void)
{
	size_t seen = 0;

	for (int event = -1; event < profile_events(profile); event++) {
		uint32_t before = PROFILE_NO_STACK;

		for (uint32_t i = profile_first_stack(profile, event); i != PROFILE_NO_STACK;
		     i = profile_next_stack(profile, i)) {
			struct profile_stack s;

			profile_stack_at(profile, i, &s);
			assert_int_equal(s.event, event);
			assert_true(before == PROFILE_NO_STACK || i > before);
			before = i;
			seen++;
		}
	}
	assert_int_equal(seen, profile_stacks(profile));
}

static void
stacks_and_weights(void **state)
{
	struct synthetic s;
	struct profile_stack st;

	begin(&s, HAVE);
	synthetic_comm(&s, 10, 10, "one");
	for (int i = 0; i < 3; i++)
		SAMPLE(&s, 10, 10, SCHEDULE + 5, CTX_KERNEL, SCHEDULE + 5, SYSCALL + 9);
	s.period = 7;
	SAMPLE(&s, 10, 10, SCHEDULE + 8, CTX_KERNEL, SCHEDULE + 8, SYSCALL + 99);
	SAMPLE(&s, 10, 10, SYSCALL, CTX_KERNEL, SYSCALL);
	build(&s, &(struct profile_options){ 0 });
	assert_int_equal(profile_stacks(profile), 2);
	assert_string_equal(text(0), "one: schedule < do_syscall_64");
	profile_stack_at(profile, 0, &st);
	assert_int_equal(st.weight.samples, 4);
	assert_int_equal(st.weight.period, 3007);
	assert_int_equal(st.event, 0);
	assert_string_equal(text(1), "one: do_syscall_64");
	assert_int_equal(profile_totals(profile)->samples, 5);
	assert_int_equal(profile_totals(profile)->period, 3014);
	assert_int_equal(profile_totals(profile)->unresolved[RESOLVE_OK], 5);
	assert_int_equal(profile_totals(profile)->end_ns - profile_totals(profile)->start_ns, 4000);
	end(&s);
}

static void
return_addresses(void **state)
{
	struct synthetic s;

	begin(&s, HAVE);
	synthetic_comm(&s, 10, 10, "one");
	/* the first byte of a function: sampled there, returning there, left there */
	SAMPLE(&s, 10, 10, SYSCALL, CTX_KERNEL, SYSCALL, ENTRY);
	SAMPLE(&s, 10, 10, SYSCALL, CTX_KERNEL, SYSCALL, CTX_KERNEL, ENTRY);
	build(&s, &(struct profile_options){ 0 });
	assert_string_equal(text(0), "one: do_syscall_64 < do_syscall_64");
	assert_string_equal(text(1), "one: do_syscall_64 < entry");
	end(&s);
}

static void
contexts(void **state)
{
	struct synthetic s;

	begin(&s, HAVE);
	synthetic_comm(&s, 10, 10, "one");
	synthetic_map(&s, 10, USER, 0x1000, "/nowhere/prog");
	SAMPLE(&s, 10, 10, SCHEDULE, CTX_KERNEL, SCHEDULE, CTX_USER, USER + 4, USER + 8);
	SAMPLE(&s, 10, 10, SCHEDULE, CTX_KERNEL, SCHEDULE, CTX_NOBODY_KNOWS, SYSCALL + 1);
	SAMPLE(&s, 10, 10, SCHEDULE, CTX_KERNEL, SCHEDULE, CTX_USER_DEFERRED, 42);
	SAMPLE(&s, 10, 10, SCHEDULE, CTX_KERNEL, SCHEDULE, CTX_GUEST, 42, CTX_HV, 43);
	/* a marker in the memory of the process */
	SAMPLE(&s, 10, 10, SCHEDULE, CTX_KERNEL, SCHEDULE, CTX_USER, USER + 4, CTX_KERNEL, SYSCALL);
	/* the kernel's part left out */
	SAMPLE(&s, 10, 10, SCHEDULE, CTX_USER, USER + 4);
	s.cpumode = PERF_RECORD_MISC_USER;
	SAMPLE(&s, 10, 10, USER, CTX_USER, USER, USER + 8);
	SAMPLE(&s, 10, 10, USER + 0x5000, CTX_USER, USER + 0x5000);
	s.cpumode = PERF_RECORD_MISC_GUEST_KERNEL;
	SAMPLE(&s, 10, 10, USER, CTX_GUEST, USER);
	s.cpumode = PERF_RECORD_MISC_GUEST_USER;
	synthetic_sample(&s, 10, 10, USER, NULL, 0);
	s.cpumode = PERF_RECORD_MISC_HYPERVISOR;
	synthetic_sample(&s, 10, 10, USER, NULL, 0);
	/* mode unknown: by the address */
	s.cpumode = 0;
	synthetic_sample(&s, 10, 10, SYSCALL + 1, NULL, 0);
	build(&s, &(struct profile_options){ 0 });
	assert_string_equal(text(0), "one: schedule < prog < prog");
	assert_string_equal(text(1), "one: schedule < do_syscall_64");
	assert_string_equal(text(2), "one: schedule");
	assert_string_equal(text(3), "one: schedule < [guest.kernel] < [hypervisor]");
	assert_string_equal(text(4), "one: schedule < prog < [unknown]");
	assert_string_equal(text(5), "one: schedule < prog");
	assert_string_equal(text(6), "one: prog < prog");
	assert_string_equal(text(7), "one: [unknown]");
	assert_string_equal(text(8), "one: [guest.kernel]");
	assert_string_equal(text(9), "one: [guest.user]");
	assert_string_equal(text(10), "one: [hypervisor]");
	assert_string_equal(text(11), "one: do_syscall_64");
	assert_int_equal(profile_totals(profile)->unresolved[RESOLVE_NO_FILE], 1);
	assert_int_equal(profile_totals(profile)->unresolved[RESOLVE_NO_MAP], 4);
	end(&s);
}

static void
who(void **state)
{
	struct synthetic s;
	struct profile_stack st;

	begin(&s, HAVE);
	s.cpu = 1;
	synthetic_comm(&s, 10, 10, "one");
	SAMPLE(&s, 0, 0, SCHEDULE, CTX_KERNEL, SCHEDULE);
	SAMPLE(&s, 77, 78, SCHEDULE, CTX_KERNEL, SCHEDULE);
	SAMPLE(&s, UINT32_MAX, UINT32_MAX, SCHEDULE, CTX_KERNEL, SCHEDULE);
	SAMPLE(&s, 10, 10, SCHEDULE, CTX_KERNEL, SCHEDULE);
	synthetic_comm(&s, 10, 10, "two");
	synthetic_exit(&s, 10, 10);
	SAMPLE(&s, 10, 10, SCHEDULE, CTX_KERNEL, SCHEDULE);
	SAMPLE(&s, 10, 11, SCHEDULE, CTX_KERNEL, SCHEDULE);
	build(&s, &(struct profile_options){ .by_pid = true, .by_tid = true, .by_cpu = true });
	assert_string_equal(text(0), "swapper: schedule");
	assert_string_equal(text(1), ":78: schedule");
	assert_string_equal(text(2), ":-1: schedule");
	assert_string_equal(text(3), "one: schedule");
	assert_string_equal(text(4), "two: schedule");
	profile_stack_at(profile, 5, &st);
	assert_true(st.pid == 10 && st.tid == 11 && st.cpu == 1);
	end(&s);
}

/* Another has the number of one that has ended, and nothing was told of it. */
static void
used_again(void **state)
{
	struct synthetic s;

	begin(&s, HAVE);
	synthetic_comm(&s, 10, 10, "one");
	synthetic_map(&s, 10, USER, 0x1000, "/bin/one");
	synthetic_exit(&s, 10, 10);
	s.cpumode = PERF_RECORD_MISC_USER;
	s.now += 1000000;
	SAMPLE(&s, 10, 10, USER + 1, CTX_USER, USER + 1);
	s.now += UINT64_C(3000000000);
	SAMPLE(&s, 10, 10, USER + 2, CTX_USER, USER + 2);
	build(&s, &(struct profile_options){ .by_address = true });
	assert_string_equal(text(0), "one: one");
	assert_string_equal(text(1), ":10: [unknown]");
	end(&s);
}

static void
less_in_a_sample(void **state)
{
	struct synthetic s;
	struct profile_stack st;

	/* no callchain, no period: the event's fixed one */
	begin(&s, PERF_SAMPLE_IP);
	synthetic_comm(&s, 10, 10, "one");
	synthetic_sample(&s, 10, 10, SCHEDULE, NULL, 0);
	build(&s, &(struct profile_options){ 0 });
	assert_string_equal(text(0), "one: schedule");
	profile_stack_at(profile, 0, &st);
	assert_int_equal(st.weight.period, 4000);
	end(&s);
	/* no ip: the callchain says */
	begin(&s, PERF_SAMPLE_CALLCHAIN);
	synthetic_comm(&s, 10, 10, "one");
	SAMPLE(&s, 10, 10, 0, CTX_KERNEL, SCHEDULE, SYSCALL + 4);
	synthetic_sample(&s, 10, 10, 0, NULL, 0);
	build(&s, &(struct profile_options){ 0 });
	assert_string_equal(text(0), "one: schedule < do_syscall_64");
	assert_string_equal(text(1), "one: [kernel.kallsyms]");
	end(&s);
}

static void
filtered(void **state)
{
	const struct {
		int option;
		const char *arg;
		uint64_t samples;
	} cases[] = {
		{ FILTER_OPTION_comm, "one", 1 },
		{ FILTER_OPTION_pid, "20", 2 },
		{ FILTER_OPTION_tid, "21", 1 },
		{ FILTER_OPTION_cpu, "0", 1 },
		{ FILTER_OPTION_cpu, "1-3", 2 },
		{ FILTER_OPTION_symbol, "schedule", 2 },
		{ FILTER_OPTION_symbol, "do_syscall_64", 1 }, /* leaf only */
		{ FILTER_OPTION_dso, "[kernel.kallsyms]", 3 },
		{ FILTER_OPTION_event, "page-faults", 1 },
		{ FILTER_OPTION_event, "cycles", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct filter *f = filter_new(0);
		struct synthetic s;
		const char *why;

		assert_int_equal(filter_set(f, cases[i].option, cases[i].arg, &why), 0);
		begin(&s, HAVE);
		synthetic_comm(&s, 10, 10, "one");
		synthetic_comm(&s, 20, 20, "two");
		SAMPLE(&s, 10, 10, SCHEDULE, CTX_KERNEL, SCHEDULE, SYSCALL + 4);
		s.cpu = 2;
		SAMPLE(&s, 20, 20, SCHEDULE, CTX_KERNEL, SCHEDULE, SYSCALL + 4);
		s.event = 1;
		SAMPLE(&s, 20, 21, SYSCALL, CTX_KERNEL, SYSCALL);
		build(&s, &(struct profile_options){ .filter = f });
		assert_int_equal(profile_totals(profile)->samples, cases[i].samples);
		assert_int_equal(profile_totals(profile)->filtered, 3 - cases[i].samples);
		end(&s);
		filter_free(f);
	}
}

/* An event that a META block in the middle of the file brings has a name like the others. */
static void
event_that_came_later(void **state)
{
	struct filter *f = filter_new(0);
	struct synthetic s;
	const char *why;

	assert_int_equal(filter_set(f, FILTER_OPTION_event, "later", &why), 0);
	begin(&s, HAVE);
	SAMPLE(&s, 10, 10, SCHEDULE, CTX_KERNEL, SCHEDULE);
	s.event = synthetic_event(&s, "later");
	SAMPLE(&s, 10, 10, SYSCALL, CTX_KERNEL, SYSCALL);
	build(&s, &(struct profile_options){ .filter = f });
	assert_int_equal(profile_totals(profile)->samples, 1);
	assert_string_equal(text(0), ":10: do_syscall_64");
	end(&s);
	filter_free(f);
}

static void
leaf_only(void **state)
{
	struct synthetic s;

	begin(&s, HAVE);
	synthetic_comm(&s, 10, 10, "one");
	SAMPLE(&s, 10, 10, SCHEDULE, CTX_KERNEL, SCHEDULE, SYSCALL + 4);
	SAMPLE(&s, 10, 10, SCHEDULE, CTX_KERNEL, SCHEDULE, ENTRY + 4);
	build(&s, &(struct profile_options){ .leaf_only = true });
	assert_int_equal(profile_stacks(profile), 1);
	assert_string_equal(text(0), "one: schedule");
	end(&s);
}

static void
many(void **state)
{
	struct synthetic s;
	uint64_t samples = 0;

	/* tables grow, and every stack is still found */
	begin(&s, HAVE);
	synthetic_comm(&s, 10, 10, "one");
	for (unsigned round = 0; round < 2; round++)
		for (unsigned n = 0; n < 3000; n++) {
			uint64_t chain[16] = { CTX_KERNEL, SCHEDULE };

			for (unsigned bit = 0; bit < 12; bit++)
				chain[2 + bit] = (n >> bit & 1 ? SYSCALL : ENTRY) + 8;
			synthetic_sample(&s, 10, 10, SCHEDULE, chain, 14);
		}
	build(&s, &(struct profile_options){ 0 });
	assert_int_equal(profile_stacks(profile), 3000);
	assert_int_equal(profile_frames(profile), 3);
	for (size_t i = 0; i < profile_stacks(profile); i++) {
		struct profile_stack st;

		profile_stack_at(profile, i, &st);
		assert_int_equal(st.weight.samples, 2);
		samples += st.weight.samples;
	}
	assert_int_equal(samples, profile_totals(profile)->samples);
	end(&s);
}

/* However small the raw profiles are that it is made of: the same stacks, weights and totals. */
static void
many_raw_profiles(void **state)
{
	struct profile_options o = { .by_pid = true };
	struct profile_stack was, is;
	struct profile_totals totals;
	struct profile *whole;
	struct resolver *its;
	struct synthetic s;

	for (uint64_t seed = 1; seed < 20; seed++) {
		story_make(&s, seed);
		assert_non_null(resolver = resolver_new(NULL));
		assert_non_null(profile = profile_new(resolver, NULL, &o));
		assert_int_equal(profile_add(profile, &o, s.stream, NULL), 0);
		whole = profile;
		its = resolver;
		totals = *profile_totals(whole);
		record_stream_close(s.stream);
		assert_int_equal(record_stream_open(s.reader, &s.stream), 0);
		o.raw_bytes_max = 40000;
		assert_non_null(resolver = resolver_new(NULL));
		assert_non_null(profile = profile_new(resolver, NULL, &o));
		assert_int_equal(profile_add(profile, &o, s.stream, NULL), 0);
		assert_memory_equal(profile_totals(profile), &totals, sizeof(totals));
		assert_int_equal(profile_stacks(profile), profile_stacks(whole));
		for (size_t i = 0; i < profile_stacks(whole); i++) {
			profile_stack_at(whole, i, &was);
			profile_stack_at(profile, i, &is);
			assert_string_equal(is.comm, was.comm);
			assert_int_equal(is.pid, was.pid);
			assert_int_equal(is.event, was.event);
			assert_int_equal(is.nr_frames, was.nr_frames);
			for (uint32_t k = 0; k < was.nr_frames; k++)
				assert_string_equal(profile_frame(profile, is.frames[k])->dso_path,
						    profile_frame(whole, was.frames[k])->dso_path);
			assert_int_equal(is.weight.samples, was.weight.samples);
			assert_int_equal(is.weight.period, was.weight.period);
		}
		profile_free(whole);
		resolver_free(its);
		end(&s);
		o.raw_bytes_max = 0;
	}
}

/* What was given of single samples. */
struct given {
	uint64_t samples, period, last_ns;
	uint64_t sum; /* of all that they tell */
	uint64_t enough;
};

static int
take_sample(void *arg, const struct profile *p, const struct profile_sample *s)
{
	struct given *g = arg;
	struct profile_stack st;

	assert_true(s->time_ns >= g->last_ns);
	profile_stack_at(p, s->stack, &st);
	g->samples++;
	g->period += s->period;
	g->last_ns = s->time_ns;
	g->sum = slots_mix(g->sum, s->time_ns);
	g->sum = slots_mix(g->sum, (uint64_t)st.pid << 32 | (uint32_t)st.event);
	g->sum = slots_mix_bytes(g->sum, st.comm, strlen(st.comm));
	for (uint32_t k = 0; k < st.nr_frames; k++) {
		const struct frame *f = profile_frame(p, st.frames[k]);

		g->sum = slots_mix(g->sum, f->vaddr);
		g->sum = slots_mix_bytes(g->sum, f->dso_path, strlen(f->dso_path));
	}
	return g->samples == g->enough ? 7 : 0;
}

static void
build_each(struct synthetic *s, uint64_t seed, const struct profile_options *o, struct given *g,
	   int end_is)
{
	story_make(s, seed);
	assert_non_null(resolver = resolver_new(NULL));
	assert_non_null(profile = profile_new(resolver, NULL, o));
	profile_on_sample(profile, take_sample, g);
	assert_int_equal(profile_add(profile, o, s->stream, NULL), end_is);
}

/* Single samples come in their order, all of those that stacks count, whatever is forgotten. */
static void
each_sample(void **state)
{
	struct profile_options o = { .by_pid = true, .by_address = true, .each_sample = true };
	struct synthetic s;

	for (uint64_t seed = 1; seed < 10; seed++) {
		struct given kept = { .samples = 0 }, forgot = { .samples = 0 },
			     some = { .enough = 3 };
		uint64_t samples = 0;

		o.forget = false;
		o.raw_bytes_max = 0;
		build_each(&s, seed, &o, &kept, 0);
		assert_true(kept.samples > 100);
		assert_int_equal(kept.samples, profile_totals(profile)->samples);
		assert_int_equal(kept.period, profile_totals(profile)->period);
		for (size_t i = 0; i < profile_stacks(profile); i++) {
			struct profile_stack st;

			profile_stack_at(profile, i, &st);
			samples += st.weight.samples;
		}
		assert_int_equal(samples, kept.samples);
		stacks_of_events();
		end(&s);
		o.forget = true;
		o.raw_bytes_max = 40000;
		build_each(&s, seed, &o, &forgot, 0);
		assert_memory_equal(&forgot, &kept, sizeof(kept));
		assert_int_equal(profile_stacks(profile), 0);
		stacks_of_events();
		assert_int_equal(profile_totals(profile)->samples, kept.samples);
		end(&s);
		build_each(&s, seed, &o, &some, 7);
		assert_int_equal(some.samples, 3);
		end(&s);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_and_weights),
		cmocka_unit_test(return_addresses),
		cmocka_unit_test(contexts),
		cmocka_unit_test(who),
		cmocka_unit_test(used_again),
		cmocka_unit_test(less_in_a_sample),
		cmocka_unit_test(filtered),
		cmocka_unit_test(leaf_only),
		cmocka_unit_test(many_raw_profiles),
		cmocka_unit_test(each_sample),
		cmocka_unit_test(many),
		cmocka_unit_test(event_that_came_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
