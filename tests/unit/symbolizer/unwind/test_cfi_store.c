/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whoever unwinds reads files for their checksums within the bound of all who do. */
#include "symbolizer/unwind/cfi_store.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "symbolizer/object/object_debug.h"
#include "tests/lab/elf_lab.h"

#define START UINT64_C(0x7f1234560000)

static const char *no_dirs[] = { NULL };
static struct object_debug_sums sums;

/* As a segment of an archive does, with a store of its own. */
static void
unwind_in_store(const struct task_map *map, bool want_cfi)
{
	const struct object_places places = { .debug_dirs = no_dirs,
					      .sums = &sums,
					      .start_realtime_ns = INT64_MAX };
	const struct buildid none = { .size = 0 };
	struct cfi_store *s = cfi_store_new(&places);
	struct unwind_code code;

	assert_non_null(s);
	assert_int_equal(cfi_store_code(s, map, &none, map->start + 0x100, &code), 0);
	assert_int_equal(code.cfi != NULL, want_cfi);
	cfi_store_free(s);
}

static void
one_bound_for_all(void **state)
{
	struct map_object o;
	struct task_map map;

	(void)state;
	lab_build("link", lab_program, 0, "-g -Wl,--build-id=none");
	lab_run("objcopy --only-keep-debug link link.debug && strip link &&"
		"objcopy --add-gnu-debuglink=link.debug link");
	lab_map(lab_path("link"), START, &o, &map);
	object_debug_sums_init(&sums);
	for (int i = 0; i < 3; i++)
		unwind_in_store(&map, true);
	/* The first one's serves the others. */
	assert_int_equal(sums.read, 1);
	assert_int_equal(object_debug_sums_left_out(&sums), 0);
	lab_run("truncate -s +1 link.debug");
	sums.bytes = OBJECT_DEBUG_SUM_BYTES_MAX - 1;
	for (uint64_t i = 1; i <= 3; i++) {
		unwind_in_store(&map, true);
		assert_int_equal(object_debug_sums_left_out(&sums), i);
	}
	assert_int_equal(sums.read, 1);
	object_debug_sums_done(&sums);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_bound_for_all),
	};

	return cmocka_run_group_tests_name("cfi_store", tests, NULL, NULL);
}
