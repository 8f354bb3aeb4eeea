/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where modules are, from lists with known answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/host/host_modules.h"

static void
read_text(const char *text, struct host_modules *ret)
{
	char path[] = "/tmp/spoor-modules.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(host_modules_read(path, ret), 0);
	unlink(path);
}

static void
is(const struct host_modules *m, size_t i, const char *name, uint64_t start, uint64_t end)
{
	assert_true(i < m->nr);
	assert_string_equal(m->ranges[i].name, name);
	assert_int_equal(m->ranges[i].start, start);
	assert_int_equal(m->ranges[i].end, end);
}

static void
ranges(void **state)
{
	struct host_modules m;

	read_text("nf_tables 417792 2 nft_ct,nft_chain_nat, Live 0xffffffffc0a00000\n"
		  "af_alg 32768 1 algif_hash, Live 0xffffffffc0700000 (OE)\n"
		  "hidden 16384 0 - Live 0x0000000000000000\n"
		  "wraps 16384 0 - Live 0xffffffffffffffff\n"
		  "empty 0 0 - Live 0xffffffffc0500000\n"
		  "garbage\n"
		  "\n",
		  &m);
	assert_int_equal(m.nr, 2);
	assert_false(m.unsettled);
	is(&m, 0, "af_alg", 0xffffffffc0700000, 0xffffffffc0708000);
	is(&m, 1, "nf_tables", 0xffffffffc0a00000, 0xffffffffc0a66000);
	assert_ptr_equal(host_modules_find(&m, &m.ranges[1]), &m.ranges[1]);
	assert_null(host_modules_find(
		&m, &(struct kallsyms_module){ .start = 0xffffffffc0700000, .name = "other" }));
	host_modules_done(&m);
}

/* Since 6.4 the length is that of several pieces, of which the others lie elsewhere. */
static void
overlaps(void **state)
{
	struct host_modules m;

	read_text("one 65536 0 - Live 0xffffffffc0100000\n"
		  "two 65536 0 - Loading 0xffffffffc0104000\n"
		  "three 16384 0 - Unloading 0xffffffffc0200000\n",
		  &m);
	assert_int_equal(m.nr, 3);
	assert_true(m.unsettled);
	is(&m, 0, "one", 0xffffffffc0100000, 0xffffffffc0104000);
	is(&m, 1, "two", 0xffffffffc0104000, 0xffffffffc0114000);
	assert_false(m.ranges[0].starting);
	assert_true(m.ranges[1].starting);
	assert_false(m.ranges[2].starting);
	host_modules_done(&m);
}

static void
none(void **state)
{
	struct host_modules m;

	assert_int_equal(host_modules_read("/nonexistent", &m), 0);
	assert_int_equal(m.nr, 0);
	read_text("", &m);
	assert_int_equal(m.nr, 0);
	host_modules_done(&m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges),
		cmocka_unit_test(overlaps),
		cmocka_unit_test(none),
	};

	return cmocka_run_group_tests_name("host_modules", tests, NULL, NULL);
}
