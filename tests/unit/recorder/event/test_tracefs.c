/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats of a made tracefs: by the event's name, and by its number where the name is another. */
#include "recorder/event/tracefs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static char root[] = "/tmp/spoor-tracefs.XXXXXX";

static void
make_dir(const char *path)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	assert_int_equal(mkdir(whole, 0700), 0);
}

static void
make_file(const char *path, const char *text)
{
	char whole[256];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	f = fopen(whole, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int
setup(void **state)
{
	assert_non_null(mkdtemp(root));
	make_dir("events");
	make_file("events/enable", "0\n");
	make_dir("events/sched");
	make_file("events/sched/enable", "0\n");
	make_dir("events/sched/sched_switch");
	make_file("events/sched/sched_switch/id", "372\n");
	make_file("events/sched/sched_switch/format", "name: sched_switch\nID: 372\n");
	make_dir("events/irq");
	make_dir("events/irq/irq_entry");
	make_file("events/irq/irq_entry/id", "37\n");
	make_file("events/irq/irq_entry/format", "name: irq_entry\nID: 37\n");
	make_dir("events/irq/no_format");
	make_file("events/irq/no_format/id", "38\n");
	return 0;
}

static int
teardown(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void
expect(const char *name, uint64_t id, const char *format)
{
	char *got = tracefs_format(root, name, id);

	if (format)
		assert_string_equal(got, format);
	else
		assert_null(got);
	free(got);
}

static void
test_formats(void **state)
{
	static const char sched[] = "sched\nname: sched_switch\nID: 372\n";
	static const char irq[] = "irq\nname: irq_entry\nID: 37\n";

	expect("sched:sched_switch", 372, sched);
	expect("sched:sched_switch:u", 372, sched);
	expect("mine", 37, irq);
	expect("sched:sched_switch", 37, irq); /* another's name */
	expect("../events/irq:irq_entry", 37, irq);
	expect("irq:..", 37, irq);
	expect("", 372, sched);
	expect("irq:no_format", 38, NULL);
	expect("irq:irq_entry", 3, NULL);
	expect("irq:irq_entry", 0, NULL);
}

/* Without instances it cannot be asked, and nothing is left behind. */
static void
test_no_instances(void **state)
{
	struct tracefs_fault fault;

	assert_int_equal(tracefs_filter_fault(root, "sched", "sched_switch", "a == 1", &fault),
			 -ENOENT);
	make_dir("instances");
	assert_int_equal(tracefs_filter_fault(root, "sched", "sched_switch", "a == 1", &fault),
			 -EACCES);
	make_dir("instances/again");
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_formats),
					    cmocka_unit_test(test_no_instances) };

	return cmocka_run_group_tests(tests, setup, teardown);
}
