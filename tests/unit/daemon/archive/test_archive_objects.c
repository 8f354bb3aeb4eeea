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
#include <unistd.h>

#include <cmocka.h>

#include "daemon/config/config.h"
#include "daemon/process/log.h"
#include "daemon/process/log_kept.h"
#include "format/block/buildids.h"
#include "format/stored/stored_object.h"
#include "tests/lab/archive_lab.h"
#include "tests/lab/recording_maker.h"

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

/* objects_inodes: however small copies are, they are bounded in number, as each takes an inode. */
static void
test_small_ones_count(void **state)
{
	const unsigned int most = SHARE / STORED_COUNT_MIN, nr = most + 100;
	struct archive_usage usage;
	struct archive_objects o;
	char name[NAME_SIZE];
	unsigned int there = 0;
	struct lab l;

	(void)state;
	open_with_share(&l);
	for (unsigned int i = 0; i < nr; i++) {
		name_of(i, name);
		lab_plant(&l, name, "x", 1);
	}
	archive_objects(l.archive, &o);
	for (unsigned int i = 0; i < nr; i++) {
		name_of(i, name);
		there += lab_exists(&l, name);
	}
	assert_true(there > 0);
	assert_true(there * (uint64_t)STORED_COUNT_MIN + o.allowed_bytes <= SHARE);
	archive_usage(l.archive, &usage);
	assert_true(usage.objects_bytes >= there * (uint64_t)STORED_COUNT_MIN);
	lab_done(&l);
}

/* The first nr are linked where what is kept is. */
static void
pin_copies(const struct lab *l, unsigned int nr)
{
	char name[NAME_SIZE], from[256], to[256];

	snprintf(to, sizeof(to), "%s/kept/old", l->dir);
	assert_int_equal(mkdir(to, 0700), 0);
	for (unsigned int i = 0; i < nr; i++) {
		name_of(i, name);
		snprintf(from, sizeof(from), "%s/%s", l->dir, name);
		snprintf(to, sizeof(to), "%s/kept/old/ab%038u.debug", l->dir, i);
		assert_int_equal(link(from, to), 0);
	}
}

/* However many are pinned, those that are not have half of the share, and the next one finds room. */
static void
test_pinned_ones_take_no_room(void **state)
{
	const unsigned int others = SHARE / COPY / 4;

	for (unsigned int pinned = 0; pinned <= SHARE / COPY; pinned += 4) {
		struct archive_objects o;
		struct archive_usage usage;
		unsigned int first;
		struct lab l;

		open_with_share(&l);
		plant_copies(&l, pinned + others);
		pin_copies(&l, pinned);
		archive_objects(l.archive, &o);
		assert_int_equal(copies_bytes(&l, pinned + others, &first),
				 (pinned + others) * COPY);
		assert_true(o.allowed_bytes >= SHARE / 16);
		assert_true(pinned > SHARE / COPY / 2 ||
			    (pinned + others) * (uint64_t)COPY + o.allowed_bytes <= SHARE);
		archive_usage(l.archive, &usage);
		assert_true(usage.objects_bytes >= (pinned + others) * (uint64_t)COPY);
		assert_true(usage.bytes >= usage.objects_bytes);
		lab_done(&l);
	}
}

/* A segment that has mapped what the first nr are copies of. */
static void
record_builds(struct lab *l, unsigned int nr)
{
	struct recording_meta *meta = maker_meta(1);
	struct recording_writer *w;
	struct buf b = { 0 };

	assert_int_equal(recording_writer_open(
				 lab_segment(l), meta,
				 &(struct recording_writer_options){ .block_bytes = 0 }, &w, NULL),
			 0);
	buildids_begin(&b);
	for (unsigned int i = 0; i < nr; i++) {
		struct buildid_entry e = { .ino = i, .path = "/a", .path_len = 2 };
		char hex[2 * BUILDID_MAX + 1];
		unsigned int byte;

		snprintf(hex, sizeof(hex), "ab%038u", i);
		e.id.size = BUILDID_MAX;
		for (size_t k = 0; k < BUILDID_MAX; k++) {
			assert_int_equal(sscanf(hex + 2 * k, "%2x", &byte), 1);
			e.id.bytes[k] = (uint8_t)byte;
		}
		buildids_add(&b, &e);
	}
	assert_int_equal(recording_writer_block(w, BLOCK_BUILDIDS, buf_span(&b), NULL), 0);
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);
	buf_done(&b);
	recording_meta_free(meta);
}

/* In how many steps its copies were pinned. */
static unsigned int
keep(struct lab *l, const char *label, int files)
{
	struct session_error error = { 0 };
	struct archive_pins *pins;
	unsigned int steps = 0;

	assert_int_equal(archive_keep(l->archive, label, 0, UINT64_MAX, false, &pins, &error),
			 files);
	while (pins && archive_pins_step(pins))
		steps++;
	archive_pins_free(pins);
	return pins ? steps + 1 : 0;
}

static void
unlink_pin(const struct lab *l, const char *label, unsigned int i)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/kept/%s/ab%038u.debug", l->dir, label, i);
	assert_int_equal(unlink(path), 0);
}

/* A recording a step at most, and what was kept before is not read again. */
static void
test_pins_are_made_in_steps(void **state)
{
	struct lab l;

	open_with_share(&l);
	plant_copies(&l, 8);
	for (unsigned int i = 1; i <= 4; i++)
		record_builds(&l, i);
	assert_true(keep(&l, "x", 4) >= 4);
	assert_int_equal(lab_count(&l, "kept/x", ".debug"), 4);
	for (unsigned int i = 0; i < 4; i++)
		unlink_pin(&l, "x", i);
	assert_true(keep(&l, "x", 4) <= 1);
	assert_int_equal(lab_count(&l, "kept/x", ".debug"), 0);
	record_builds(&l, 8);
	assert_true(keep(&l, "x", 5) >= 1);
	assert_int_equal(lab_count(&l, "kept/x", ".debug"), 8);
	/* One that is given up. */
	{
		struct session_error error = { 0 };
		struct archive_pins *pins;

		assert_int_equal(archive_keep(l.archive, "y", 0, UINT64_MAX, false, &pins, &error),
				 5);
		assert_true(archive_pins_step(pins));
		archive_pins_free(pins);
	}
	lab_done(&l);
}

/* What is kept pins half of the share and no more, which is told. */
static void
test_pins_have_half(void **state)
{
	const unsigned int fit = SHARE / COPY / 2 - 2, all = fit + 8;
	char line[LOG_KEPT_BYTES], told[128];
	unsigned int pinned;
	struct lab l;

	open_with_share(&l);
	plant_copies(&l, all);
	record_builds(&l, fit);
	assert_true(keep(&l, "x", 1) > 0);
	assert_int_equal(lab_count(&l, "kept/x", ".debug"), fit);
	assert_false(log_kept(0, line));
	record_builds(&l, all);
	/* Those that are pinned cost nothing in another label. */
	assert_true(keep(&l, "y", 2) > 0);
	pinned = lab_count(&l, "kept/y", ".debug");
	assert_true(pinned >= fit && pinned * COPY <= SHARE / 2);
	assert_true(log_kept(0, line));
	snprintf(told, sizeof(told), "/kept: %u of the copies of programs that name what is kept",
		 all - pinned);
	assert_non_null(strstr(line, told));
	lab_done(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_is_room),
		cmocka_unit_test(test_small_ones_count),
		cmocka_unit_test(test_pinned_ones_take_no_room),
		cmocka_unit_test(test_pins_are_made_in_steps),
		cmocka_unit_test(test_pins_have_half),
	};

	return cmocka_run_group_tests_name("archive objects", tests, NULL, NULL);
}
