/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions that go on: other files, other frequencies, disks that refuse, CPUs that go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session_rig.h"

#define FILES 20

/* Unlike others, each of these that is counted is also a sample, or lost. */
static const char *const faults[] = { "page-faults" };

static struct session_options
every_fault(struct rig_file *f)
{
	return (struct session_options){ .events = faults,
					 .nr_events = 1,
					 .period = 1,
					 .target = SESSION_ALL,
					 .call_graph = SESSION_CALL_GRAPH_NONE,
					 .out_fd = -1,
					 .sink = rig_sink(f),
					 .writer = "test" };
}

/* But for what was counted on each CPU when it was stopped, and had no time to be written. */
static void
assert_exact(uint64_t accounted, uint64_t counted)
{
	assert_in_range(accounted, counted - 2, counted);
}

static void
rotate(struct rig *r, struct rig_file *f)
{
	struct session_error e;

	if (session_rotate(r->session, rig_sink(f), &e) != 0)
		fail_msg("session_rotate: %s", e.text);
}

/* Every page fault is in one of the files, once, or in the ledger. */
static void
test_rotate(void **state)
{
	struct rig_file files[FILES] = { 0 };
	struct session_options o = every_fault(&files[0]);
	uint64_t samples = 0, lost = 0, reads = 0;
	struct session_stats stats;
	struct rig_counts c;
	struct rig_load load;
	struct rig r;

	rig_start(&r, &o);
	rig_load_start(&load);
	for (int i = 1; i < FILES; i++) {
		rig_sleep_ms(50);
		rotate(&r, &files[i]);
		assert_true(files[i - 1].closed);
		assert_int_equal(files[i - 1].syncs, 1);
		rig_count(&files[i - 1], true, &c);
		assert_true(c.state > 50);
	}
	rig_load_stop(&load);
	rig_stop(&r);
	for (int i = 0; i < FILES; i++) {
		rig_count(&files[i], true, &c);
		samples += c.samples;
		lost += c.loss[LOSS_KERNEL_SAMPLES];
		reads += c.reads;
		rig_file_done(&files[i]);
	}
	session_stats(r.session, &stats);
	assert_true(samples > 2000);
	assert_exact(samples + lost, reads);
	assert_int_equal(stats.samples, samples);
	assert_int_equal(stats.lost, lost);
	session_close(r.session, &r.error);
}

/* A sink that cannot even begin: the old file goes on. */
static void
test_rotate_refused(void **state)
{
	struct rig_file files[3] = { [1] = { .write_errno = ENOSPC } };
	struct session_options o = every_fault(&files[0]);
	struct rig_counts a, b;
	struct session_error e;
	struct rig r;

	rig_start(&r, &o);
	assert_int_equal(session_rotate(r.session, rig_sink(&files[1]), &e), -ENOSPC);
	assert_non_null(strstr(e.text, "No space"));
	assert_true(files[1].closed);
	rotate(&r, &files[2]);
	rig_end(&r);
	rig_count(&files[0], true, &a);
	rig_count(&files[2], true, &b);
	assert_exact(a.samples + b.samples + b.loss[LOSS_KERNEL_SAMPLES], b.reads);
	for (int i = 0; i < 3; i++)
		rig_file_done(&files[i]);
}

/* What was sampled before the call is on the disk after it. */
static void
test_sync(void **state)
{
	struct rig_file f = { 0 };
	struct session_options o = every_fault(&f);
	struct session_error e;
	struct rig_counts c;
	struct rig_load load;
	struct rig r;

	rig_start(&r, &o);
	rig_load_start(&load);
	for (int i = 0; i < 5; i++) {
		uint64_t now_ns;

		rig_sleep_ms(60);
		now_ns = rig_now_ns();
		rig_sleep_ms(1);
		assert_int_equal(session_sync(r.session, &e), 0);
		assert_int_equal(f.syncs, i + 1);
		/* The writer has nothing to write for a second at least: the file stands still. */
		rig_count(&f, false, &c);
		assert_true(c.last_ns >= now_ns - 1000000);
		assert_true(c.samples > 0);
	}
	rig_load_stop(&load);
	rig_end(&r);
	rig_file_done(&f);
}

static void
test_after_the_end(void **state)
{
	struct rig_file f = { 0 }, g = { 0 };
	struct session_options o = every_fault(&f);
	struct session_error e;
	struct rig r;

	rig_start(&r, &o);
	rig_stop(&r);
	assert_int_equal(session_sync(r.session, &e), -ESHUTDOWN);
	assert_int_equal(session_rotate(r.session, rig_sink(&g), &e), -ESHUTDOWN);
	assert_true(g.closed);
	assert_int_equal(session_set_frequency(r.session, 10, &e), -ESHUTDOWN);
	session_close(r.session, &r.error);
	rig_file_done(&f);
}

static void
test_progress(void **state)
{
	struct rig_file f = { 0 };
	struct session_options o = every_fault(&f);
	struct session_progress a, b;
	struct rig r;

	rig_start(&r, &o);
	rig_sleep_ms(100);
	session_progress(r.session, &a);
	rig_sleep_ms(2100);
	session_progress(r.session, &b);
	assert_true(b.drain >= a.drain + 2);
	assert_true(b.writer >= a.writer + 2);
	rig_end(&r);
	rig_file_done(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rotate),
		cmocka_unit_test(test_rotate_refused),
		cmocka_unit_test(test_sync),
		cmocka_unit_test(test_after_the_end),
		cmocka_unit_test(test_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
