/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every place where an object or its symbols may be, one at a time; and what lies there that is
 * another build, empty, a FIFO, or no ELF file.
 */
#include "symbolizer/object/object_store.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbolizer/object/live_files.h"
#include "symbolizer/object/object_debug.h"
#include "symbolizer/object/stored_objects.h"
#include "tests/lab/elf_lab.h"
#include "tests/lab/stored_lab.h"

#define START UINT64_C(0x7f1234560000)

static struct object_debug_sums sums = { .lock = PTHREAD_MUTEX_INITIALIZER };
static const char *debug_dirs[] = { "/usr/lib/debug", NULL };
static struct object_places places = { .debug_dirs = debug_dirs, .sums = &sums };
static struct map_object wanted;
static struct task_map map;
static uint64_t hidden_one; /* its address */

/*
 * lab_dir()/whole, which is at /gone/dir/prog by the recording; stripped, other: another build.
 * In commands $ID is its build-id, $S the same as a path below .build-id.
 */
static int
make_files(void **state)
{
	struct lab_symbol *list;
	char hex[64] = "";
	size_t n;

	(void)state;
	lab_build("whole", lab_program, 0, "-g");
	lab_build("other", lab_program, 0, "-g -O2");
	lab_run("objcopy --only-keep-debug whole prog.debug && strip -o stripped whole &&"
		"objcopy --add-gnu-debuglink=prog.debug stripped &&"
		"objcopy --only-keep-debug other other.debug");
	lab_map(lab_path("whole"), START, &wanted, &map);
	wanted.path = "/gone/dir/prog";
	n = lab_nm(lab_path("whole"), "", &list);
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].name, "hidden_one") == 0)
			hidden_one = list[i].address;
	free(list);
	for (size_t i = 0; i < wanted.build_id.size; i++)
		snprintf(hex + 2 * i, 3, "%02x", wanted.build_id.bytes[i]);
	setenv("ID", hex, 1);
	lab_run("echo $ID | sed 's,..,&/,' >split");
	places.symfs = lab_keep(lab_path("symfs"));
	places.debug_cache = lab_keep(lab_path("perf"));
	places.debuginfod_cache = lab_keep(lab_path("debuginfod"));
	return 0;
}

static int
buildid_read_path(const char *path, struct buildid *ret)
{
	struct io_source *file = io_source_fd(open(path, O_RDONLY | O_CLOEXEC));
	int error = buildid_read(file, ret);

	file->close(file);
	return error;
}

/* How far the search gets where a command put things: a name, an object without it, or why none. */
enum outcome { NAMED, NAMELESS, NONE };

static bool has_code; /* of what was found last */

static enum outcome
search_after(const char *command, enum resolve_miss *ret_miss)
{
	enum outcome outcome = NONE;
	struct object *o = NULL;
	struct symbol s;

	lab_run("rm -rf symfs perf debuginfod && S=$(cat split) && %s", command);
	*ret_miss = RESOLVE_OK;
	assert_int_equal(object_store_load(&places, &wanted, &map, NULL, &o, ret_miss), 0);
	if (o != NULL) {
		outcome = NAMELESS;
		if (symtab_find(o->symbols, hidden_one + 1, &s)) {
			assert_string_equal(s.name, "hidden_one");
			outcome = NAMED;
		}
	}
	has_code = o && o->code_fd >= 0;
	object_free(o);
	return outcome;
}

static void
test_objects(void **state)
{
	static const char *const found[] = {
		"mkdir -p symfs/gone/dir && cp whole symfs/gone/dir/prog",
		"mkdir -p symfs/usr/lib/.build-id/${S%/*} symfs/bin && cp whole symfs/bin/prog &&"
		"ln -s ../../../../bin/prog symfs/usr/lib/.build-id/$S",
		"mkdir -p perf/.build-id/$S && cp whole perf/.build-id/$S/elf",
		"mkdir -p perf/.build-id/${S%/*} && cp whole perf/.build-id/$S",
		"mkdir -p debuginfod/$ID && cp whole debuginfod/$ID/executable",
		/* Others before it are passed over. */
		"mkdir -p symfs/gone/dir debuginfod/$ID && cp other symfs/gone/dir/prog &&"
		"cp whole debuginfod/$ID/executable",
		"mkdir -p perf/.build-id/$S debuginfod/$ID && echo >perf/.build-id/$S/elf &&"
		"cp whole debuginfod/$ID/executable",
	};
	enum resolve_miss miss;

	(void)state;
	for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)
		if (search_after(found[i], &miss) != NAMED)
			fail_msg("not found: %s: %s", found[i], resolve_miss_text(miss));
}

static void
test_refused(void **state)
{
	static const struct {
		const char *command;
		enum resolve_miss miss;
	} refused[] = {
		{ "true", RESOLVE_NO_FILE },
		{ "mkdir -p symfs/gone/dir && cp other symfs/gone/dir/prog", RESOLVE_MISMATCH },
		{ "mkdir -p symfs/gone/dir && echo x >symfs/gone/dir/prog", RESOLVE_BAD_FILE },
		{ "mkdir -p symfs/gone/dir && mkfifo symfs/gone/dir/prog", RESOLVE_NO_FILE },
		{ "mkdir -p symfs/gone/dir && ln -s /dev/zero symfs/gone/dir/prog",
		  RESOLVE_NO_FILE },
		/* What lies in a cache says nothing about the recorded file. */
		{ "mkdir -p debuginfod/$ID && cp other debuginfod/$ID/executable",
		  RESOLVE_NO_FILE },
		{ "mkdir -p debuginfod/$ID && : >debuginfod/$ID/executable", RESOLVE_NO_FILE },
		{ "mkdir -p debuginfod/$ID && mkfifo debuginfod/$ID/executable "
		  "debuginfod/$ID/debuginfo",
		  RESOLVE_NO_FILE },
		{ "mkdir -p perf/.build-id/$S && cp other perf/.build-id/$S/elf", RESOLVE_NO_FILE },
	};
	enum resolve_miss miss;

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		assert_int_equal(search_after(refused[i].command, &miss), NONE);
		if (miss != refused[i].miss)
			fail_msg("%s: %s", refused[i].command, resolve_miss_text(miss));
	}
}

#define STRIPPED "mkdir -p symfs/gone/dir && cp stripped symfs/gone/dir/prog && "

static void
test_debug_files(void **state)
{
	static const char *const found[] = {
		STRIPPED "mkdir -p symfs/usr/lib/debug/.build-id/${S%/*} &&"
			 "cp prog.debug symfs/usr/lib/debug/.build-id/$S.debug",
		STRIPPED "mkdir -p perf/.build-id/$S && cp prog.debug perf/.build-id/$S/debug",
		STRIPPED "mkdir -p debuginfod/$ID && cp prog.debug debuginfod/$ID/debuginfo",
		STRIPPED "cp prog.debug symfs/gone/dir/",
		STRIPPED "mkdir symfs/gone/dir/.debug && cp prog.debug symfs/gone/dir/.debug/",
		STRIPPED "mkdir -p symfs/usr/lib/debug/gone/dir &&"
			 "cp prog.debug symfs/usr/lib/debug/gone/dir/",
		/* The directory is a link, as /lib is. */
		"mkdir -p symfs/usr/dir symfs/usr/lib/debug/usr/dir &&"
		"cp stripped symfs/usr/dir/prog && ln -s usr symfs/gone &&"
		"cp prog.debug symfs/usr/lib/debug/usr/dir/",
		/* Negative answers and other builds before it are passed over. */
		STRIPPED "mkdir -p debuginfod/$ID && : >debuginfod/$ID/debuginfo &&"
			 "cp prog.debug symfs/gone/dir/",
		STRIPPED "cp other.debug symfs/gone/dir/prog.debug &&"
			 "mkdir symfs/gone/dir/.debug && cp prog.debug symfs/gone/dir/.debug/",
		/* The object is gone, its symbols are here. */
		"mkdir -p symfs/usr/lib/debug/.build-id/${S%/*} &&"
		"cp prog.debug symfs/usr/lib/debug/.build-id/$S.debug",
		"mkdir -p debuginfod/$ID && cp prog.debug debuginfod/$ID/debuginfo",
	};
	static const char *const refused[] = {
		STRIPPED "true",
		STRIPPED "cp other.debug symfs/gone/dir/prog.debug",
		STRIPPED "mkfifo symfs/gone/dir/prog.debug",
		STRIPPED "mkdir -p debuginfod/$ID && cp other.debug debuginfod/$ID/debuginfo",
	};
	enum resolve_miss miss;

	(void)state;
	for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)
		if (search_after(found[i], &miss) != NAMED)
			fail_msg("not found: %s", found[i]);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (search_after(refused[i], &miss) != NAMELESS)
			fail_msg("not refused: %s", refused[i]);
}

/* This process has it mapped, and nobody has it any more by a name. */
static void
test_living(void **state)
{
	const struct map_object saved = wanted;
	struct live_files *live = live_files_new();
	char path[PATH_MAX];
	enum resolve_miss miss;
	struct stat st;
	void *at;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s", lab_path("mapped"));
	lab_run("cp whole mapped");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	wanted.path = path;
	places.live = live;
	places.this_boot = true;
	lab_run("cp other mapped.new && mv mapped.new mapped"); /* as an upgrade does */
	if (access("/proc/self/map_files", X_OK) != 0 || geteuid() != 0) {
		print_message("# not root: maps of deleted files cannot be opened\n");
		goto out;
	}
	assert_int_equal(search_after("true", &miss), NAMED);
	wanted.ino = st.st_ino;
	wanted.maj = major(st.st_dev);
	wanted.min = minor(st.st_dev);
	assert_int_equal(search_after("true", &miss), NAMED);
	/* Another file of that path, a recording of another boot, another build: not that one. */
	wanted.ino++;
	assert_int_equal(search_after("true", &miss), NONE);
	assert_int_equal(miss, RESOLVE_MISMATCH);
	wanted.ino = 0;
	places.this_boot = false;
	assert_int_equal(search_after("true", &miss), NONE);
	places.this_boot = true;
	wanted.build_id.bytes[0] ^= 1;
	assert_int_equal(search_after("true", &miss), NONE);
out:
	munmap(at, 4096);
	live_files_free(live);
	places.live = NULL;
	places.this_boot = false;
	wanted = saved;
}

/* The copy beside the recording, when the file itself is not here, or was stripped since. */
static void
test_stored(void **state)
{
	const struct map_object saved = wanted;
	const char *dir = lab_keep(lab_path("spoor-objects")), *copy;
	const char *whole = lab_keep(lab_path("whole"));
	enum resolve_miss miss;

	(void)state;
	lab_run("touch x.spoor");
	assert_null(stored_objects_dir(lab_path("x.spoor")));
	for (int i = 0; i < 2; i++) {
		copy = stored_lab_keep(whole, dir, i == 1);
		places.stored = stored_objects_dir(lab_path("x.spoor"));
		assert_string_equal(places.stored, dir);
		places.keep_code = true;
		assert_int_equal(search_after("true", &miss), NAMED);
		assert_int_equal(has_code, i == 1);
		assert_int_equal(search_after(STRIPPED "true", &miss), NAMED);
		assert_true(has_code);
		places.keep_code = false;
		/* Another build at the recorded path is no reason. */
		assert_int_equal(search_after("mkdir -p symfs/gone/dir && "
					      "cp other symfs/gone/dir/prog",
					      &miss),
				 NAMED);
		/* One whose end is missing, or which is another build's, is none. */
		lab_run("truncate -s -1 %s", copy);
		assert_int_equal(search_after("true", &miss), NONE);
		lab_run("cp %s saved && : >%s", stored_lab_keep(lab_path("other"), dir, i == 1),
			copy);
		assert_int_equal(search_after("true", &miss), NONE);
		copy = stored_lab_keep(whole, dir, i == 1);
		lab_run("cp saved %s", copy);
		assert_int_equal(search_after("true", &miss), NONE);
		lab_run("rm -r spoor-objects");
		free((char *)(uintptr_t)places.stored);
	}
	/* A surrogate is that of the file as it was. */
	lab_build("no-id", lab_program, 0, "-g -Wl,--build-id=none");
	lab_map(lab_path("no-id"), START, &wanted, &map);
	wanted.path = "/gone/dir/no-id";
	(void)stored_lab_keep(lab_path("no-id"), dir, false);
	places.stored = dir;
	assert_int_equal(buildid_read_path(lab_path("no-id"), &wanted.build_id), 0);
	assert_int_equal(wanted.build_id.kind, BUILDID_SURROGATE);
	assert_int_equal(search_after("true", &miss), NAMED);
	wanted.build_id.bytes[5] ^= 1;
	assert_int_equal(search_after("true", &miss), NONE);
	places.stored = NULL;
	wanted = saved;
	lab_run("rm -r spoor-objects");
}

/* Where the directory is, of recordings and archives; and whose it has to be. */
static void
test_stored_dir(void **state)
{
	static const char *const with[] = { "a/x.spoor", "a/captures/x.spoor", "a/kept/l/x.spoor",
					    "a", "a/kept/l" };
	static const char *const without[] = { "a/other/x.spoor", "a/kept/x.spoor", "nowhere",
					       "x.spoor" };
	char *dir;

	(void)state;
	lab_run("mkdir -p a/captures a/kept/l a/other a/spoor-objects && touch x.spoor a/x.spoor "
		"a/captures/x.spoor a/kept/l/x.spoor a/other/x.spoor a/kept/x.spoor");
	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
		dir = stored_objects_dir(lab_path(with[i]));
		assert_non_null(dir);
		assert_string_equal(dir, lab_path("a/spoor-objects"));
		free(dir);
	}
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
		assert_null(stored_objects_dir(lab_path(without[i])));
	if (geteuid() == 0) {
		lab_run("chown 12345 a/spoor-objects");
		assert_null(stored_objects_dir(lab_path("a/x.spoor")));
		lab_run("chown 12345 a/x.spoor");
		dir = stored_objects_dir(lab_path("a/x.spoor"));
		assert_non_null(dir);
		free(dir);
	}
	lab_run("rm -r a/spoor-objects && mkdir objects && ln -s ../objects a/spoor-objects");
	assert_null(stored_objects_dir(lab_path("a/x.spoor")));
	lab_run("rm -r a objects");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects),	    cmocka_unit_test(test_refused),
		cmocka_unit_test(test_debug_files), cmocka_unit_test(test_living),
		cmocka_unit_test(test_stored),	    cmocka_unit_test(test_stored_dir),
	};

	return cmocka_run_group_tests(tests, make_files, NULL);
}
