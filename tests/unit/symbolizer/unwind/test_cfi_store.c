/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whoever unwinds reads files for their checksums within the bound of all who do. */
#include "symbolizer/unwind/cfi_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/object/elf_bytes.h"
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

/* What is too large is found to be so before it is made, or while the index is. */
static void
no_more_than(void **state)
{
	struct elf_object *o = elf_lab_open("/bin/bash");
	struct cfi_function f;
	struct cfi *cfi;
	uint64_t before, whole;
	size_t nr = 0;

	(void)state;
	assert_int_equal(cfi_new_max(o, NULL, 1000, &cfi), -FMT_E_TOO_BIG);
	assert_int_equal(elf_bytes_made(o), 0);
	assert_int_equal(cfi_new_max(o, NULL, SIZE_MAX, &cfi), 0);
	while (cfi_function(cfi, nr, &f))
		nr++;
	whole = cfi_bytes(cfi);
	assert_true(nr > 1000 && whole > 24 * nr);
	cfi_free(cfi);
	before = elf_bytes_made(o);
	assert_int_equal(cfi_new_max(o, NULL, 20 * nr, &cfi), -FMT_E_TOO_BIG);
	assert_true(elf_bytes_made(o) - before <= 20 * nr);
	elf_object_close(o);
}

/* Of files of another user that have nothing for it a store reads so much, and no more. */
static void
bounded_waste(void **state)
{
	const struct object_places places = { .debug_dirs = no_dirs,
					      .start_realtime_ns = INT64_MAX };
	const struct buildid none = { .size = 0 };
	struct cfi_store *s = cfi_store_new(&places);
	struct unwind_code code;
	struct map_object o;
	struct task_map map;

	(void)state;
	if (geteuid() != 0)
		skip();
	/* 25 MiB each, of which the index would be twice as much. */
	lab_run("python3 -c \"import struct; c = struct.pack('<I', 0xffffffff) + b'\\1zR\\0\\1\\x78\\x10\\1\\2\\x0c\\7\\x08'"
		" + bytes(3); f = struct.pack('<I', len(c)) + c; f += struct.pack('<IIHHB', 9, 0, 0x1000, 1, 0) *"
		" 2000000; open('frames', 'wb').write(f)\"");
	lab_build("base", lab_program, 0, "-O1 -Wl,--build-id=none");
	lab_run("objcopy --add-section .debug_frame=frames base waste && chown 65534 waste base");
	for (uint64_t i = 0; i < 16; i++) {
		lab_map(lab_path("waste"), START, &o, &map);
		o.serial = i + 1;
		assert_int_equal(cfi_store_code(s, &map, &none, map.start + 0x100, &code), 0);
		assert_null(code.cfi);
	}
	print_message("# %zu MiB\n", (size_t)cfi_store_waste(s) >> 20);
	assert_true(cfi_store_waste(s) > 0);
	assert_true(cfi_store_waste(s) < CFI_STORE_WASTE_MAX / 4);
	cfi_store_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_bound_for_all),
		cmocka_unit_test(no_more_than),
		cmocka_unit_test(bounded_waste),
	};

	return cmocka_run_group_tests_name("cfi_store", tests, NULL, NULL);
}
