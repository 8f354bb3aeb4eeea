/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What recordings say of host and clocks, and whether that is this host since it was booted. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include <time.h>

#include "format/perfdata/perfdata_reader.h"
#include "symbolizer/input/made_here.h"

#define S UINT64_C(1000000000)
#define BOOTED (1000000 * S) /* by the wall's clock */
#define UP (5000 * S)	     /* since then, 1000 of them suspended */

static const struct made_here_host host = {
	.boot_id = { 1, 2, 3 },
	.hostname = "here",
	.release = "6.1.0",
	.realtime = BOOTED + UP,
	.monotonic = UP - 1000 * S,
	.monotonic_raw = UP - 1000 * S + S / 2,
	.boottime = UP,
};

static char here[] = "here", there[] = "there", release[] = "6.1.0", other[] = "6.1.1";

static enum made_here
judge(const struct recording_meta *m, uint64_t written_ns, uint64_t last_ns)
{
	const struct made_here_times times = { written_ns, last_ns };

	return made_here_judge(m, &times, &host);
}

static void
test_boot_id(void **state)
{
	struct recording_meta m = { .boot_id = { 1, 2, 3 }, .hostname = there };

	assert_int_equal(judge(&m, 0, 0), MADE_HERE);
	m.boot_id[0] = 2;
	m.hostname = here;
	assert_int_equal(judge(&m, 0, 0), MADE_ELSEWHERE);
}

static void
test_host(void **state)
{
	struct recording_meta m = { .clockid = CLOCK_MONOTONIC,
				    .release = release,
				    .start = { BOOTED + 4500 * S, 3500 * S, 0 } };

	assert_int_equal(judge(&m, 0, 0), MADE_ELSEWHERE);
	m.hostname = there;
	assert_int_equal(judge(&m, 0, 0), MADE_ELSEWHERE);
	m.hostname = here;
	assert_int_equal(judge(&m, 0, 0), MADE_HERE);
	m.release = other;
	assert_int_equal(judge(&m, 0, 0), MADE_ELSEWHERE);
}

/* An instant on two clocks: the host may have been suspended before it, or after. */
static void
test_instant(void **state)
{
	struct recording_meta m = { .clockid = CLOCK_MONOTONIC,
				    .hostname = here,
				    .start = { BOOTED + 500 * S, 500 * S, 0 } };

	assert_int_equal(judge(&m, 0, 0), MADE_HERE);
	m.start.realtime = BOOTED + 1500 * S;
	assert_int_equal(judge(&m, 0, 0), MADE_HERE);
	m.start.realtime = BOOTED + 1510 * S;
	assert_int_equal(judge(&m, 0, 0), MADE_ELSEWHERE);
	m.start.realtime = BOOTED + 490 * S;
	assert_int_equal(judge(&m, 0, 0), MADE_ELSEWHERE);
	m.start.realtime = BOOTED - 490 * S;
	assert_int_equal(judge(&m, 0, 0), MADE_ELSEWHERE);
	/* That goes on while it is suspended. */
	m.clockid = CLOCK_BOOTTIME;
	m.start.realtime = BOOTED + 500 * S;
	assert_int_equal(judge(&m, 0, 0), MADE_HERE);
	m.start.realtime = BOOTED + 510 * S;
	assert_int_equal(judge(&m, 0, 0), MADE_ELSEWHERE);
	/* Nobody corrects that: 3500 seconds ago it may have been 3.5 more. */
	m.clockid = CLOCK_MONOTONIC_RAW;
	m.start.realtime = BOOTED + 495 * S;
	assert_int_equal(judge(&m, 0, 0), MADE_HERE);
	/* That knows no boot. */
	m.clockid = CLOCK_REALTIME;
	m.start.monotonic = m.start.realtime;
	assert_int_equal(judge(&m, 0, 0), MADE_HERE_MAYBE);
	m.start.realtime = BOOTED - 10 * S;
	assert_int_equal(judge(&m, 0, 0), MADE_ELSEWHERE);
	m.start.realtime = BOOTED + UP + 10 * S;
	assert_int_equal(judge(&m, 0, 0), MADE_ELSEWHERE);
}

/* Without one, the file is no older than its last sample, and younger when it was copied. */
static void
test_written(void **state)
{
	const struct recording_meta m = { .clockid = PERFDATA_CLOCK_OWN, .hostname = here };

	assert_int_equal(judge(&m, BOOTED + 4500 * S, 3500 * S), MADE_HERE);
	assert_int_equal(judge(&m, BOOTED + 4530 * S, 3500 * S), MADE_HERE);
	assert_int_equal(judge(&m, BOOTED + 4700 * S, 3500 * S), MADE_HERE_MAYBE);
	assert_int_equal(judge(&m, BOOTED + 3600 * S, 3500 * S), MADE_HERE);
	assert_int_equal(judge(&m, BOOTED + 3400 * S, 3500 * S), MADE_ELSEWHERE);
	assert_int_equal(judge(&m, BOOTED - 10 * S, 10 * S), MADE_ELSEWHERE);
	/* Of a pipe that is not known; a clock that is ahead of this one is another's. */
	assert_int_equal(judge(&m, 0, 3500 * S), MADE_HERE_MAYBE);
	assert_int_equal(judge(&m, 0, 9000 * S), MADE_ELSEWHERE);
	assert_int_equal(judge(&m, BOOTED + 4500 * S, 0), MADE_HERE_MAYBE);
	assert_int_equal(judge(&m, 0, UINT64_MAX), MADE_ELSEWHERE);
}

static void
test_shift(void **state)
{
	struct recording_meta m = { .clockid = CLOCK_MONOTONIC };

	assert_int_equal(made_here_shift(&m, &host), 0);
	m.clockid = PERFDATA_CLOCK_OWN;
	assert_int_equal(made_here_shift(&m, &host), -(int64_t)S / 2);
	m.clockid = CLOCK_BOOTTIME;
	assert_int_equal(made_here_shift(&m, &host), -1000 * (int64_t)S);
	m.clockid = CLOCK_REALTIME;
	assert_int_equal(made_here_shift(&m, &host), -(int64_t)BOOTED - 1000 * (int64_t)S);
	m.clockid = 77;
	assert_int_equal(made_here_shift(&m, &host), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_boot_id), cmocka_unit_test(test_host),
		cmocka_unit_test(test_instant), cmocka_unit_test(test_written),
		cmocka_unit_test(test_shift),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
