/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whoever looks at one recording again and again: the same each time, and room for new names. */
#include "symbolizer/load/load.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lab/story.h"

static char path[] = "/tmp/test_load.XXXXXX";

static int
make_recording(void **state)
{
	struct synthetic s;
	int fd = mkstemp(path);

	if (fd < 0)
		return -1;
	story_make(&s, 1);
	assert_int_equal(write(fd, s.file.p, s.file.len), s.file.len);
	close(fd);
	synthetic_end(&s);
	return 0;
}

static int
remove_recording(void **state)
{
	return unlink(path);
}

/* More than half of what there is room for. */
static void
crowd(struct resolver *r)
{
	char name[INTERN_SHORT_MAX + 1];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (unsigned int i = 0; i < 150000; i++) {
		/* It has a few names of its own. */
		if ((i + 8) * (sizeof(name) + 16) < INTERN_BYTES_MAX / 2)
			assert_false(resolver_crowded(r));
		if (i * (sizeof(name) + 16) > INTERN_BYTES_MAX / 2)
			assert_true(resolver_crowded(r));
		snprintf(name, sizeof(name), "%08u", i);
		name[8] = 'x';
		assert_non_null(resolver_intern(r, name));
	}
}

static void
looks(bool lines)
{
	const struct profile_options po = { .by_line = lines, .inlines = lines };
	struct load_options o;
	uint64_t samples = 0;
	struct load l;

	assert_int_equal(load_init(&o, "test"), 0);
	o.path = path;
	o.told = o.no_cache = true;
	for (int i = 0; i < 4; i++) {
		const struct resolver *before = i ? l.resolver : NULL;

		assert_int_equal(i ? load_open_again(&l, &o, &po) : load_open(&l, &o, &po), 0);
		if (i == 0)
			samples = profile_totals(l.profile)->samples;
		assert_true(samples > 0);
		assert_int_equal(profile_totals(l.profile)->samples, samples);
		assert_false(resolver_crowded(l.resolver));
		/* What was found of objects is kept as long as there is room. */
		if (i == 1)
			assert_ptr_equal(l.resolver, before);
		if (i >= 1 && i < 3)
			crowd(l.resolver);
	}
	load_close(&l);
	load_done(&o);
}

static void
names_do_not_end(void **state)
{
	looks(false);
	looks(true);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(names_do_not_end) };

	return cmocka_run_group_tests(tests, make_recording, remove_recording);
}
