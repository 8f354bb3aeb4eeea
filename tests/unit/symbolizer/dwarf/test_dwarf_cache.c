/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * @full
 *
 * What is kept of debug information: found again, by the same file alone, and never believed when damaged.
 */
#include "symbolizer/dwarf/dwarf_cache.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define FILE_NAME "0102030405060708090a0b0c0d0e0f1011121314.sym"

static char dir[64];
static int debug_fd, alt_fd;

static struct buildid
id_of(void)
{
	struct buildid id = { .size = 20, .kind = BUILDID_GNU };

	for (size_t i = 0; i < id.size; i++)
		id.bytes[i] = (uint8_t)(i + 1);
	return id;
}

static struct dwarf_cache *
open_cache(void)
{
	const struct buildid id = id_of();
	struct dwarf_cache *c = dwarf_cache_open(dir, &id, debug_fd, alt_fd);

	assert_non_null(c);
	return c;
}

static int
set_up(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_dwarf_cache.XXXXXX");
	assert_non_null(mkdtemp(dir));
	alt_fd = -1;
	debug_fd = memfd_create("debug", MFD_CLOEXEC);
	assert_true(debug_fd >= 0 && ftruncate(debug_fd, 100) == 0 && fchmod(debug_fd, 0600) == 0);
	return 0;
}

static int
tear_down(void **state)
{
	char command[128];

	(void)state;
	close(debug_fd);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static const struct dwarf_frame some[] = {
	{ "_Z5innerv", "/src/inner.h", 7 },
	{ "outer", "/src/outer.c", 70 },
	{ NULL, NULL, 0 },
};

static void
keep(uint64_t address, size_t nr)
{
	struct dwarf_cache *c = open_cache();

	assert_int_equal(dwarf_cache_add(c, address, some, nr), 0);
	dwarf_cache_save(c);
	dwarf_cache_free(c);
}

/* How many frames are known of an address, as they were kept; -1: it is not there. */
static int
known(const struct dwarf_cache *c, uint64_t address)
{
	struct dwarf_frame frames[DWARF_FRAMES_MAX];
	size_t nr;

	if (!dwarf_cache_find(c, address, frames, &nr))
		return -1;
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(frames[i].line, some[i].line);
		assert_int_equal(!frames[i].function, !some[i].function);
		assert_int_equal(!frames[i].file, !some[i].file);
		if (some[i].function)
			assert_string_equal(frames[i].function, some[i].function);
		if (some[i].file)
			assert_string_equal(frames[i].file, some[i].file);
	}
	return (int)nr;
}

static int
found(uint64_t address)
{
	struct dwarf_cache *c = open_cache();
	int nr = known(c, address);

	dwarf_cache_free(c);
	return nr;
}

/* One after another, in any order, each adds to what is there. */
static void
what_was_kept_is_found(void **state)
{
	static const uint64_t addresses[] = { 500, 3, UINT64_MAX, 0, 77, 76, 78 };

	(void)state;
	for (size_t i = 0; i < 7; i++)
		keep(addresses[i], i % 4);
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(found(addresses[i]), i % 4);
	assert_int_equal(found(1), -1);
	assert_int_equal(found(501), -1);
	/* A second time by somebody who did not see it: it stands once. */
	keep(77, 1);
	assert_int_equal(found(77), 1);
	assert_int_equal(found(78), 2);
}

/* What debug information says now may be something else. */
static void
another_file_with_debug_information_has_its_own(void **state)
{
	const struct timespec times[2] = { { 5, 0 }, { 5, 0 } };

	(void)state;
	keep(5, 2);
	assert_int_equal(found(5), 2);
	assert_int_equal(ftruncate(debug_fd, 101), 0);
	assert_int_equal(found(5), -1);
	keep(6, 1);
	assert_int_equal(found(5), -1);
	assert_int_equal(found(6), 1);
	assert_int_equal(futimens(debug_fd, times), 0);
	assert_int_equal(found(6), -1);
}

/* Names and lines of it are missing where dwz's file is not there. */
static void
what_dwz_moved_is_asked_for_when_it_is_there(void **state)
{
	const int here = memfd_create("alt", MFD_CLOEXEC);

	(void)state;
	assert_true(here >= 0 && ftruncate(here, 100) == 0 && fchmod(here, 0600) == 0);
	keep(5, 1);
	assert_int_equal(found(5), 1);
	alt_fd = here;
	assert_int_equal(found(5), -1);
	keep(5, 2);
	assert_int_equal(found(5), 2);
	assert_int_equal(ftruncate(here, 99), 0);
	assert_int_equal(found(5), -1);
	keep(5, 3);
	alt_fd = -1;
	assert_int_equal(found(5), -1);
	close(here);
}

static void
builds_without_an_id_are_not_kept(void **state)
{
	struct buildid id = id_of();

	(void)state;
	id.size = 0;
	assert_null(dwarf_cache_open(dir, &id, debug_fd, alt_fd));
}

/* Neither of root's nor of the reader's own, or everybody's to write. */
static void
files_of_others_are_not_kept(void **state)
{
	const struct buildid id = id_of();

	(void)state;
	keep(5, 2);
	assert_int_equal(fchmod(debug_fd, 0602), 0);
	assert_null(dwarf_cache_open(dir, &id, debug_fd, alt_fd));
	assert_int_equal(fchmod(debug_fd, 0600), 0);
	if (geteuid() != 0)
		return;
	assert_int_equal(fchown(debug_fd, 1, 1), 0);
	assert_null(dwarf_cache_open(dir, &id, debug_fd, alt_fd));
}

/* Size and time are its owner's to choose; another file has another inode. */
static void
another_file_of_equal_size_and_time_has_its_own(void **state)
{
	const struct timespec times[2] = { { 5, 0 }, { 5, 0 } };
	int other = memfd_create("other", MFD_CLOEXEC), first = debug_fd;

	(void)state;
	assert_true(other >= 0 && ftruncate(other, 100) == 0 && fchmod(other, 0600) == 0);
	assert_int_equal(futimens(debug_fd, times), 0);
	assert_int_equal(futimens(other, times), 0);
	keep(5, 2);
	debug_fd = other;
	assert_int_equal(found(5), -1);
	debug_fd = first;
	assert_int_equal(found(5), 2);
	close(other);
}

/* Where others can write nothing is read, and nothing is kept. */
static void
a_directory_of_others_is_not_used(void **state)
{
	(void)state;
	keep(5, 2);
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(found(5), -1);
	keep(6, 1);
	assert_int_equal(chmod(dir, 0700), 0);
	assert_int_equal(found(5), 2);
	assert_int_equal(found(6), -1);
	if (geteuid() == 0) {
		assert_int_equal(chown(dir, 1, 1), 0);
		assert_int_equal(found(5), -1);
	}
}

static void
path_of(char path[128])
{
	snprintf(path, 128, "%s/%s", dir, FILE_NAME);
}

static size_t
read_bytes(uint8_t *bytes, size_t size)
{
	char path[128];
	FILE *f;
	size_t n;

	path_of(path);
	f = fopen(path, "re");
	assert_non_null(f);
	n = fread(bytes, 1, size, f);
	fclose(f);
	assert_true(n > 0 && n < size);
	return n;
}

static void
write_bytes(const uint8_t *bytes, size_t n)
{
	char path[128];
	FILE *f;

	path_of(path);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

/* Cut anywhere, and with any bit flipped, it has nothing; and is whole again after the next one. */
static void
damage_is_not_believed(void **state)
{
	uint8_t good[4096], bad[4096];
	size_t n;

	(void)state;
	keep(5, 3);
	keep(9, 2);
	n = read_bytes(good, sizeof(good));
	for (size_t cut = 0; cut < n; cut++) {
		write_bytes(good, cut);
		assert_int_equal(found(5), -1);
	}
	for (size_t bit = 0; bit < 8 * n; bit++) {
		memcpy(bad, good, n);
		bad[bit / 8] ^= (uint8_t)(1 << bit % 8);
		write_bytes(bad, n);
		assert_int_equal(found(5), -1);
	}
	keep(5, 3);
	assert_int_equal(found(5), 3);
	write_bytes(good, n);
	assert_int_equal(found(9), 2);
}

static void
what_is_no_file_is_left_alone(void **state)
{
	char path[128];

	(void)state;
	path_of(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(found(5), -1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(found(5), -1);
	/* The link is replaced, and not what it leads to. */
	keep(5, 2);
	assert_int_equal(found(5), 2);
}

#define LONG_FRAMES 250 /* 3 KB an address: of 64 MiB 22,200 */

static void
add_long(struct dwarf_cache *c, uint64_t from, size_t nr)
{
	struct dwarf_frame frames[LONG_FRAMES];

	for (size_t i = 0; i < LONG_FRAMES; i++)
		frames[i] = (struct dwarf_frame){ "function", "/src/file.c", (uint32_t)i };
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(dwarf_cache_add(c, from + i, frames, LONG_FRAMES), 0);
}

/* How many of those are there. */
static size_t
count_long(const struct dwarf_cache *c, uint64_t from, size_t nr)
{
	struct dwarf_frame frames[DWARF_FRAMES_MAX];
	size_t there = 0, n;

	for (size_t i = 0; i < nr; i++)
		if (dwarf_cache_find(c, from + i, frames, &n)) {
			assert_int_equal(n, LONG_FRAMES);
			assert_string_equal(frames[7].function, "function");
			assert_int_equal(frames[7].line, 7);
			there++;
		}
	return there;
}

static size_t
file_bytes(void)
{
	char path[128];
	struct stat st;

	path_of(path);
	assert_int_equal(stat(path, &st), 0);
	return (size_t)st.st_size;
}

/* A file has a bound: what is new stays, then what was asked for, then what has room. */
static void
what_was_asked_for_last_is_kept(void **state)
{
	struct dwarf_cache *c = open_cache();
	size_t rest;

	(void)state;
	add_long(c, 10000, 15000);
	dwarf_cache_save(c);
	dwarf_cache_free(c);
	c = open_cache();
	assert_int_equal(count_long(c, 20000, 5000), 5000);
	add_long(c, 0, 6000);
	add_long(c, 100000, 6000);
	dwarf_cache_save(c);
	dwarf_cache_free(c);
	assert_in_range(file_bytes(), DWARF_CACHE_FILE_MAX - 16384, DWARF_CACHE_FILE_MAX);
	c = open_cache();
	assert_int_equal(count_long(c, 0, 6000), 6000);
	assert_int_equal(count_long(c, 100000, 6000), 6000);
	assert_int_equal(count_long(c, 20000, 5000), 5000);
	rest = count_long(c, 10000, 10000);
	assert_in_range(rest, 5000, 5300);
	/* More new ones than have room. */
	add_long(c, 200000, 30000);
	dwarf_cache_save(c);
	dwarf_cache_free(c);
	assert_in_range(file_bytes(), DWARF_CACHE_FILE_MAX - 16384, DWARF_CACHE_FILE_MAX);
	c = open_cache();
	assert_int_equal(count_long(c, 0, 200000), 0);
	assert_in_range(count_long(c, 200000, 30000), 22000, 22400);
	dwarf_cache_free(c);
}

/* The same of strings. */
static void
strings_have_a_bound(void **state)
{
	static char name[4001]; /* as long as a string may be, about */
	const struct dwarf_frame frame = { name, NULL, 1 };
	struct dwarf_cache *c = open_cache();
	struct dwarf_frame frames[DWARF_FRAMES_MAX];
	size_t there = 0, n;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	for (uint64_t i = 0; i < 20000; i++) {
		snprintf(name, 8, "%07u", (unsigned int)i);
		name[7] = '_';
		assert_int_equal(dwarf_cache_add(c, i, &frame, 1), 0);
	}
	dwarf_cache_save(c);
	dwarf_cache_free(c);
	assert_in_range(file_bytes(), DWARF_CACHE_FILE_MAX - 20000, DWARF_CACHE_FILE_MAX);
	c = open_cache();
	for (uint64_t i = 0; i < 20000; i++)
		if (dwarf_cache_find(c, i, frames, &n)) {
			assert_int_equal(n, 1);
			assert_int_equal(strtoul(frames[0].function, NULL, 10), i);
			there++;
		}
	assert_in_range(there, 16500, 16680);
	dwarf_cache_free(c);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(what_was_asked_for_last_is_kept),
		T(files_of_others_are_not_kept),
		T(another_file_of_equal_size_and_time_has_its_own),
		T(strings_have_a_bound),
		T(what_was_kept_is_found),
		T(another_file_with_debug_information_has_its_own),
		T(what_dwz_moved_is_asked_for_when_it_is_there),
		T(builds_without_an_id_are_not_kept),
		T(a_directory_of_others_is_not_used),
		T(damage_is_not_believed),
		T(what_is_no_file_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
