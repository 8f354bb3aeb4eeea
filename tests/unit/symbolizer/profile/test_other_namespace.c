/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of pid 0 in recordings that were taken inside of a PID namespace: of the idle task where that is shown, and
 * else of tasks outside of the namespace; and all of them of the idle task in recordings that were not.
 */
#include "symbolizer/profile/replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <bsd/string.h>
#include <cmocka.h>
#include <linux/perf_event.h>

#include "format/columns/columns_view.h"
#include "symbolizer/profile/record_filter.h"
#include "symbolizer/profile/task_comm.h"
#include "tests/lab/synthetic.h"

#define HAVE (PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_CGROUP)

/* Functions of the made-up kernel, 0x100 bytes each. */
#define HALT UINT64_C(0xffffffff81000000)
#define DO_IDLE (HALT + 0x100)
#define IRQ (HALT + 0x200)
#define KTHREAD (HALT + 0x300)
#define USER UINT64_C(0x401000)
#define SEEN_MAX 16

struct seen {
	struct replay *replay;
	size_t nr;
	char comm[SEEN_MAX][32];
	uint32_t pid[SEEN_MAX];
	bool mapped[SEEN_MAX];
};

static int
on_sample(void *arg, const struct replay_sample *s)
{
	const struct task_model *model;
	struct seen *seen = arg;
	char spare[TASK_COMM_BYTES];

	assert_true(seen->nr < SEEN_MAX);
	model = replay_model(seen->replay);
	seen->pid[seen->nr] = s->pid;
	seen->mapped[seen->nr] = task_model_map(model, s->pid, USER) != NULL;
	(void)strlcpy(seen->comm[seen->nr++], task_comm(model, s->pid, s->tid, spare),
		      sizeof(seen->comm[0]));
	return 0;
}

static int
on_block(void *arg, const struct stream_columns *block)
{
	const struct columns_view_sample *samples;
	const size_t nr = columns_view_samples(block->view, &samples);
	struct replay_sample s;

	for (size_t i = 0; i < nr; i++) {
		replay_block_who(block, i, &s);
		(void)on_sample(arg, &s);
	}
	return 0;
}

static void
see(struct synthetic *s, struct seen *seen)
{
	struct intern *strings = intern_new(INTERN_BYTES_MAX);
	struct replay_options o = { .on_sample = on_sample, .on_block = on_block, .arg = seen };
	struct fmt_where where = { 0 };

	*seen = (struct seen){ NULL };
	synthetic_read(s);
	seen->replay = replay_new(s->stream, strings, &o);
	assert_non_null(seen->replay);
	assert_int_equal(replay_run(seen->replay, &where), 0);
	replay_free(seen->replay);
	intern_free(strings);
	synthetic_end(s);
}

static void
name_kernel(struct synthetic *s)
{
	synthetic_ksym(s, HALT, HALT + 0x100, "", "pv_native_safe_halt");
	synthetic_ksym(s, DO_IDLE, DO_IDLE + 0x100, "", "do_idle");
	synthetic_ksym(s, IRQ, IRQ + 0x100, "", "handle_softirqs");
	synthetic_ksym(s, KTHREAD, KTHREAD + 0x100, "", "kthread");
}

static const uint64_t idle[] = { PERF_CONTEXT_KERNEL, HALT + 1, DO_IDLE + 9 };
static const uint64_t interrupted[] = { PERF_CONTEXT_KERNEL, IRQ + 1, HALT + 1, DO_IDLE + 9 };
static const uint64_t thread[] = { PERF_CONTEXT_KERNEL, HALT + 1, KTHREAD + 9 };
static const uint64_t syscall[] = { PERF_CONTEXT_KERNEL, IRQ + 1, PERF_CONTEXT_USER, USER + 1 };
static const uint64_t user[] = { PERF_CONTEXT_USER, USER + 1 };

/* All that there is of pid 0, and one of the namespace's own. */
static void
samples(struct synthetic *s)
{
	s->cgroup = 1;
	synthetic_sample(s, 0, 0, HALT + 1, idle, 3);
	synthetic_sample(s, 0, 0, IRQ + 1, interrupted, 4);
	synthetic_sample(s, 0, 0, HALT + 1, NULL, 0);
	synthetic_sample(s, 0, 0, HALT + 1, thread, 3);
	synthetic_sample(s, 0, 0, IRQ + 1, syscall, 4);
	synthetic_sample(s, 0, 0, IRQ + 1, NULL, 0);
	s->cgroup = 77;
	synthetic_sample(s, 0, 0, HALT + 1, idle, 3);
	s->cgroup = 1;
	s->cpumode = PERF_RECORD_MISC_USER;
	synthetic_sample(s, 0, 0, USER + 1, user, 2);
	synthetic_sample(s, 0, 0, USER + 1, NULL, 0);
	synthetic_sample(s, 7, 7, USER + 1, user, 2);
}

static void
test_inside(void **state)
{
	struct synthetic s;
	struct seen seen;

	(void)state;
	synthetic_begin_inside(&s, HAVE);
	name_kernel(&s);
	synthetic_comm(&s, 0, 0, "outside");
	synthetic_map(&s, 0, USER, 0x1000, "/outside");
	synthetic_map(&s, TASK_PID_ELSEWHERE, USER + 0x1000, 0x1000, "/hostile");
	synthetic_comm(&s, 7, 7, "inside");
	synthetic_map(&s, 7, USER, 0x1000, "/inside");
	samples(&s);
	see(&s, &seen);
	assert_int_equal(seen.nr, 10);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(seen.comm[i], "swapper");
		assert_int_equal(seen.pid[i], 0);
	}
	for (size_t i = 3; i < 9; i++) {
		assert_string_equal(seen.comm[i], "[other PID namespace]");
		assert_int_equal(seen.pid[i], TASK_PID_ELSEWHERE);
		assert_false(seen.mapped[i]);
	}
	assert_string_equal(seen.comm[9], "inside");
	assert_true(seen.mapped[9]);
}

/* How many samples of pid 0 pass the filter of who reads records. */
static int
records_of(int option, const char *value)
{
	struct filter *filter = filter_new(0);
	struct record_filter f;
	struct stream_record r;
	struct synthetic s;
	const char *why;
	int nr = 0;

	synthetic_begin_inside(&s, HAVE);
	name_kernel(&s);
	samples(&s);
	synthetic_read(&s);
	assert_int_equal(filter_set(filter, option, value, &why), 0);
	assert_int_equal(record_filter_init(&f, filter, recording_reader_meta(s.reader)), 0);
	record_stream_on_block(s.stream, record_filter_block, &f);
	while (record_stream_next(s.stream, &r, NULL) == 1)
		if (r.record && r.record->type == REC_SAMPLE && r.record->sid.pid == 0)
			nr += record_filter_see(&f, &r, record_stream_events(s.stream)) == 1;
		else
			assert_int_equal(
				record_filter_see(&f, &r, record_stream_events(s.stream)) < 0, 0);
	record_filter_done(&f);
	filter_free(filter);
	synthetic_end(&s);
	return nr;
}

/* The same ones as in a profile. */
static void
test_records(void **state)
{
	(void)state;
	assert_int_equal(records_of(FILTER_OPTION_comm, "swapper"), 3);
	assert_int_equal(records_of(FILTER_OPTION_pid, "0"), 3);
	assert_int_equal(records_of(FILTER_OPTION_comm, "[other PID namespace]"), 6);
}

/* Without the kernel's names, or by an event that never has the idle task, none of them is idle. */
static void
test_none_idle(void **state)
{
	for (int named = 0; named < 2; named++) {
		struct synthetic s;
		struct seen seen;

		(void)state;
		synthetic_begin_inside(&s, HAVE);
		if (named)
			name_kernel(&s);
		s.event = named ? synthetic_clock_without_idle(&s) : 0;
		samples(&s);
		see(&s, &seen);
		assert_int_equal(seen.nr, 10);
		for (size_t i = 0; i < 9; i++)
			assert_string_equal(seen.comm[i], "[other PID namespace]");
		assert_string_equal(seen.comm[9], ":7");
	}
}

/* On a host pid 0 is the idle task's. */
static void
test_outside(void **state)
{
	struct synthetic s;
	struct seen seen;

	(void)state;
	synthetic_begin(&s, HAVE);
	name_kernel(&s);
	samples(&s);
	see(&s, &seen);
	assert_int_equal(seen.nr, 10);
	for (size_t i = 0; i < 9; i++)
		assert_string_equal(seen.comm[i], "swapper");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inside),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_none_idle),
		cmocka_unit_test(test_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
