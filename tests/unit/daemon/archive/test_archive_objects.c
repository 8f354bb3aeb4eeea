/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/archive/archive.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "daemon/config/config.h"
#include "tests/lab/archive_lab.h"

#define SHARE (100000u << 6) /* CONFIG_PERCENT_ALL divides its double */
#define COPY (SHARE / 32)
#define BY_ID "spoor-objects/.build-id/"
#define NAME_SIZE 80

static void
name_of(unsigned int i, char *ret)
{
	snprintf(ret, NAME_SIZE, BY_ID "ab/%038u.debug", i);
}

static void
open_with_share(struct lab *l)
{
	static const char *const dirs[] = { "spoor-objects", BY_ID, BY_ID "ab" };
	char path[128];

	assert_true(lab_init(l, 0));
	l->config->max_use.bytes = 2 * SHARE;
	l->config->keep_free = (struct config_space){ .given = true, .bytes = 0 };
	l->config->objects_share = CONFIG_PERCENT_ALL / 2;
	lab_open(l);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", l->dir, dirs[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
}

/* The first was in use longest ago. */
static void
plant_copies(const struct lab *l, unsigned int nr)
{
	char *bytes = calloc(1, COPY), name[NAME_SIZE], path[256];

	assert_non_null(bytes);
	for (unsigned int i = 0; i < nr; i++) {
		struct timespec times[2] = { { .tv_sec = 1000 + i }, { .tv_sec = 1000 + i } };

		name_of(i, name);
		lab_plant(l, name, bytes, COPY);
		snprintf(path, sizeof(path), "%s/%s", l->dir, name);
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	}
	free(bytes);
}

static uint64_t
copies_bytes(const struct lab *l, unsigned int nr, unsigned int *ret_first)
{
	char name[NAME_SIZE];
	uint64_t bytes = 0;

	*ret_first = nr;
	for (unsigned int i = nr; i-- > 0;) {
		name_of(i, name);
		if (!lab_exists(l, name))
			continue;
		/* What was in use later than one that is there, is there. */
		assert_true(*ret_first == i + 1);
		*ret_first = i;
		bytes += COPY;
	}
	return bytes;
}

/* However many there are, the next program's copy has room: the oldest go. */
static void
test_there_is_room(void **state)
{
	for (unsigned int nr = 0; nr <= SHARE / COPY; nr++) {
		struct archive_objects o;
		unsigned int first;
		uint64_t bytes;
		struct lab l;

		open_with_share(&l);
		plant_copies(&l, nr);
		archive_objects(l.archive, &o);
		assert_true(o.allowed_bytes >= SHARE / 8);
		assert_int_equal(o.user_bytes, SHARE / 4);
		bytes = copies_bytes(&l, nr, &first);
		assert_true(bytes + o.allowed_bytes <= SHARE);
		/* None goes without need. */
		assert_true(first == 0 || bytes >= SHARE / 2);
		/* Then there is nothing to do until there are more. */
		archive_objects(l.archive, &o);
		assert_int_equal(copies_bytes(&l, nr, &first), bytes);
		lab_done(&l);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_is_room),
	};

	return cmocka_run_group_tests_name("archive objects", tests, NULL, NULL);
}
