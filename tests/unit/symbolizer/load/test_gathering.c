/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings of a directory, several gathered at a time: their order, and takers that give up. */
#include "symbolizer/load/gathering.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lab/story.h"

#define SEGMENTS 9
#define BAD 4 /* is no recording */

static char directory[] = "/tmp/test_gathering.XXXXXX";

static void
segment_path(unsigned int i, char *out, size_t size)
{
	snprintf(out, size, "%s/20261121T0%u0000.000000Z-abababab-%06u.spoor", directory, i, i + 1);
}

/* The i-th is the i-th story. */
static int
make_segments(void **state)
{
	char path[128];
	FILE *f;

	if (!mkdtemp(directory))
		return -1;
	for (unsigned int i = 0; i < SEGMENTS; i++) {
		struct synthetic s;

		story_make(&s, i + 1);
		segment_path(i, path, sizeof(path));
		f = fopen(path, "we");
		assert_non_null(f);
		if (i == BAD)
			fputs("garbage", f);
		else
			assert_int_equal(fwrite(s.file.p, 1, s.file.len, f), s.file.len);
		fclose(f);
		synthetic_end(&s);
	}
	return 0;
}

static int
remove_segments(void **state)
{
	char path[128];

	for (unsigned int i = 0; i < SEGMENTS; i++) {
		segment_path(i, path, sizeof(path));
		unlink(path);
	}
	return rmdir(directory);
}

/* What was taken: samples, and how often; fails when it has been called so often. */
struct taken {
	uint64_t samples;
	unsigned int calls, fail_at;
};

static int
take(void *arg, struct gather *g, const struct raw_profile *raw)
{
	struct taken *t = arg;

	for (size_t i = 0; i < raw->nr_rows; i++)
		t->samples += raw->rows[i].weight.samples;
	return ++t->calls == t->fail_at ? -FMT_E_NOMEM : 0;
}

static unsigned int nr_opened;

static void
count_opened(void *arg, const struct input *in)
{
	nr_opened++;
}

static void
open_set(struct input_set *set, struct gathering **ret, size_t raw_bytes_max)
{
	const struct profile_options o = { .raw_bytes_max = raw_bytes_max };

	assert_int_equal(input_set_open(set, directory, NULL), 0);
	nr_opened = 0;
	*ret = gathering_new(set, &o, NULL, count_opened, NULL);
	assert_non_null(*ret);
}

/* Samples of the i-th story, alone. */
static uint64_t
samples_of(unsigned int i)
{
	const struct profile_options o = { .leaf_only = true };
	struct fmt_where where = { 0 };
	struct taken t = { 0 };
	struct synthetic s;
	struct gather *g;

	story_make(&s, i + 1);
	g = gather_new(s.stream, &o);
	assert_non_null(g);
	assert_int_equal(gather_run(g, take, &t, &where), 0);
	gather_free(g);
	synthetic_end(&s);
	return t.samples;
}

/* One after another, however many are handed over of each. */
static void
in_their_order(void **state)
{
	for (size_t max = 20000; max <= 2000000; max *= 100) {
		struct resolver_recording recording;
		struct fmt_where where = { 0 };
		unsigned int nr = 0, calls = 0;
		struct gathering *g;
		struct gather *gather;
		struct input_set set;
		uint64_t shift_ns;

		open_set(&set, &g, max);
		while (gathering_next(g, &recording, &shift_ns) > 0) {
			struct taken t = { 0 };

			nr += nr == BAD;
			assert_int_equal(gathering_take(g, take, &t, &gather, &where), 0);
			assert_int_equal(t.samples, samples_of(nr));
			assert_non_null(gather);
			gathering_finish(g);
			assert_non_null(set.in.reader);
			assert_int_equal(record_stream_stats(set.in.stream)->samples, t.samples);
			assert_int_equal(input_set_finish(&set), 0);
			calls += t.calls;
			nr++;
		}
		assert_int_equal(nr, SEGMENTS);
		assert_int_equal(nr_opened, SEGMENTS - 1);
		assert_int_equal(set.skipped, 1);
		assert_int_equal(set.read, SEGMENTS - 1);
		if (max == 20000)
			assert_true(calls > 2 * SEGMENTS);
		else
			assert_int_equal(calls, SEGMENTS - 1);
		gathering_free(g);
		input_set_close(&set);
	}
}

/* At any moment, with threads that wait for their turn and threads that gather on. */
static void
takers_give_up(void **state)
{
	for (unsigned int fail_at = 1; fail_at < 40; fail_at++) {
		struct taken t = { .fail_at = fail_at };
		struct resolver_recording recording;
		struct fmt_where where = { 0 };
		struct gathering *g;
		struct gather *gather;
		struct input_set set;
		uint64_t shift_ns;
		int err = 0;

		open_set(&set, &g, 20000);
		while (err == 0 && gathering_next(g, &recording, &shift_ns) > 0) {
			err = gathering_take(g, take, &t, &gather, &where);
			gathering_finish(g);
			input_set_leave(&set);
		}
		assert_int_equal(err, t.calls >= fail_at ? -FMT_E_NOMEM : 0);
		/* Nothing is asked after it. */
		assert_true(t.calls <= fail_at);
		gathering_free(g);
		input_set_close(&set);
	}
}

/* Opened, and never taken. */
static void
nobody_takes(void **state)
{
	struct resolver_recording recording;
	struct gathering *g;
	struct input_set set;
	uint64_t shift_ns;

	open_set(&set, &g, 20000);
	assert_int_equal(gathering_next(g, &recording, &shift_ns), 1);
	gathering_free(g);
	input_set_close(&set);
	open_set(&set, &g, 20000);
	gathering_free(g);
	input_set_close(&set);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_their_order),
		cmocka_unit_test(takers_give_up),
		cmocka_unit_test(nobody_takes),
	};

	return cmocka_run_group_tests(tests, make_segments, remove_segments);
}
