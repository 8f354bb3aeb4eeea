/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is taken for a proof that asking for build-ids harms nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "format/record/record_build.h"
#include "recorder/ring/buildid_probe.h"

#define MARKED (1u << 14) /* PERF_RECORD_MISC_MMAP_BUILD_ID */

static const struct event_attr attr = { .size = 64 };

/* A record of a mapping with an inode, or with a build-id; the kernel of the fault marks the first. */
static void
add(struct buf *b, bool id, bool mark)
{
	const struct perf_sample_id sid = { 0 };
	struct perf_mmap m = { .pid = 1, .tid = 1, .len = 4096, .ino = 5, .filename = "/x" };
	size_t at = b->len;

	if (id)
		m.build_id = buildid_of(BUILDID_GNU, "0123456789abcdefghij", 20);
	assert_int_equal(record_build_mmap2(b, &attr, &sid, &m, 2), 0);
	if (mark)
		b->p[at + 5] |= MARKED >> 8;
}

static void
test_judge(void **state)
{
	/* of the event that asks, of those opened before and after it: i inode, I marked, b build-id */
	static const struct {
		const char *asks, *before, *after;
		bool harmless;
	} cases[] = {
		{ "b", "i", "i", true },
		{ "bb", "ii", "ii", true },
		{ "b", "I", "i", false }, /* Linux, in the order of today */
		{ "b", "i", "I", false }, /* in the other */
		{ "bb", "iI", "ii", false },
		{ "i", "i", "i", false }, /* the file has no build-id: nothing was shown */
		{ "bi", "ii", "ii", false },
		{ "", "", "", false }, /* nothing came */
		{ "b", "i", "", false },
		{ "b", "", "i", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const texts[] = { cases[i].asks, cases[i].before, cases[i].after };
		struct buf b[3];

		for (int k = 0; k < 3; k++) {
			buf_init(&b[k]);
			for (const char *c = texts[k]; *c; c++)
				add(&b[k], *c == 'b', *c == 'I');
		}
		assert_int_equal(buildid_probe_judge(buf_span(&b[0]), buf_span(&b[1]),
						     buf_span(&b[2])),
				 cases[i].harmless);
		for (int k = 0; k < 3; k++)
			buf_done(&b[k]);
	}
}

/* Always the same here, and nothing is left behind. */
static void
test_probe(void **state)
{
	bool first = buildid_probe_harmless();
	int fd = dup(0);

	for (int i = 0; i < 100; i++)
		assert_int_equal(buildid_probe_harmless(), first);
	close(fd);
	assert_int_equal(dup(0), fd);
	close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_judge),
		cmocka_unit_test(test_probe),
	};

	return cmocka_run_group_tests_name("buildid_probe", tests, NULL, NULL);
}
