/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording that is being written while it is read. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "symbolizer/input/input.h"
#include "tests/lab/numbered.h"

/* All of it is of one moment, that when it was opened: what one walk sees, the next one does, too, and no more. */
static void
test_as_it_was_opened(void **state)
{
	const struct numbered_script script = { .passes = 40,
						.per_pass = 100,
						.block_bytes = 4096 };
	struct recording_meta *meta = numbered_meta(1);
	struct numbered_progress progress = { 0 };
	char path[] = "/tmp/spoor-input.XXXXXX";
	struct input_range before, range;
	struct fmt_where where = { 0 };
	struct fault_file written;
	struct input in;
	int fd = mkstemp(path), more;

	(void)state;
	assert_true(fd >= 0);
	unlink(path);
	fault_file_init(&written, 1 << 20);
	assert_int_equal(numbered_write(fault_sink(&written), meta, &script, &progress), 0);
	assert_int_equal(write(fd, written.p, written.n / 2), written.n / 2);
	more = dup(fd);
	assert_int_equal(input_open_fd(&in, fd, "growing"), 0);
	assert_int_equal(input_range(&in, &before, &where), 0);
	assert_int_equal(write(more, written.p + written.n / 2, written.n - written.n / 2),
			 written.n - written.n / 2);
	assert_int_equal(input_range(&in, &range, &where), 0);
	assert_uint_in_range(before.samples, 1000, 3000);
	assert_int_equal(range.samples, before.samples);
	assert_int_equal(range.last_ns, before.last_ns);
	input_close(&in);
	assert_int_equal(lseek(more, 0, SEEK_SET), 0);
	assert_int_equal(input_open_fd(&in, more, "whole"), 0);
	assert_int_equal(input_range(&in, &range, &where), 0);
	assert_int_equal(range.samples, progress.given);
	input_close(&in);
	fault_file_done(&written);
	recording_meta_free(meta);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_it_was_opened),
	};

	return cmocka_run_group_tests_name("input", tests, NULL, NULL);
}
