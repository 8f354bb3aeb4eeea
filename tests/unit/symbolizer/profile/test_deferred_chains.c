/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples that wait for their callers: whose, for which record, and for how long. */
#include "symbolizer/profile/deferred_chains.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <linux/perf_event.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/profile/callchain.h"
#include "tests/lab/record_sample.h"

#define DEFERRED ((uint64_t)-640)
#define TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN)

static const struct event_attr attr = { .sample_type = TYPE };

/* What was given: times of samples, and words of the last one's chain. */
static struct {
	uint64_t times[64], words[8];
	size_t nr, nr_words;
	int event, answer;
} given;

static int
give(void *arg, const struct perf_record *record, int event)
{
	assert_ptr_equal(arg, &given);
	assert_int_equal(record->type, REC_SAMPLE);
	if (given.nr < 64)
		given.times[given.nr] = record->sid.time;
	given.nr++;
	given.event = event;
	given.nr_words = span_words(record->sample.callchain);
	for (size_t i = 0; i < given.nr_words && i < 8; i++)
		given.words[i] = span_word(record->sample.callchain, i);
	return given.answer;
}

/* A sample in the kernel whose chain has more words than its own two; true: it waits. */
static bool
hold(struct deferred_chains *d, uint32_t tid, uint64_t time, const uint64_t *more, size_t n)
{
	const struct perf_sample_id sid = { .pid = 1, .tid = tid, .time = time };
	uint64_t words[4096] = { PERF_CONTEXT_KERNEL, 0x100 };
	struct perf_sample sample = { .have = TYPE, .ip = 0x100 };
	struct buf b = { 0 };
	struct perf_record r;
	bool held = true;

	memcpy(&words[2], more, n * 8);
	sample.callchain = span_of(words, (n + 2) * 8);
	assert_int_equal(record_sample_build(&b, &sid, &sample, 1), 0);
	assert_int_equal(perf_record_parse(buf_span(&b), &attr, &r), 0);
	assert_int_equal(deferred_chains_hold(d, &r, (int)time, &held), 0);
	memset(b.p, 0xff, b.len); /* its bytes are another record's now */
	buf_done(&b);
	return held;
}

static int
merge(struct deferred_chains *d, uint32_t tid, uint64_t cookie, const uint64_t *ips, size_t n)
{
	struct perf_record r = { .type = REC_CALLCHAIN_DEFERRED };

	r.sid.tid = tid;
	r.deferred.cookie = cookie;
	r.deferred.ips = span_of(ips, n * 8);
	return deferred_chains_merge(d, &r);
}

static struct deferred_chains *
begin(void)
{
	struct deferred_chains *d = deferred_chains_new(give, &given);

	assert_non_null(d);
	memset(&given, 0, sizeof(given));
	return d;
}

static void
merged(void **state)
{
	const uint64_t one[] = { DEFERRED, 5 }, other[] = { DEFERRED, 6 };
	const uint64_t user[] = { PERF_CONTEXT_USER, 0x10, 0x20 };
	const uint64_t whole[] = { PERF_CONTEXT_KERNEL, 0x100, PERF_CONTEXT_USER, 0x10, 0x20 };
	struct deferred_chains *d = begin();

	assert_true(hold(d, 7, 1, one, 2));
	assert_true(hold(d, 7, 2, other, 2));
	assert_true(hold(d, 8, 3, one, 2)); /* another thread's cookie */
	assert_true(hold(d, 7, 4, one, 2));
	assert_int_equal(given.nr, 0);
	assert_int_equal(merge(d, 7, 5, user, 3), 0);
	assert_int_equal(given.nr, 2);
	assert_true(given.times[0] == 1 && given.times[1] == 4 && given.event == 4);
	assert_int_equal(given.nr_words, 5);
	assert_memory_equal(given.words, whole, sizeof(whole));
	/* Once: the same cookie again has nobody, nor has one that was never seen. */
	assert_int_equal(merge(d, 7, 5, user, 3), 0);
	assert_int_equal(merge(d, 9, 9, user, 3), 0);
	assert_int_equal(given.nr, 2);
	assert_int_equal(merge(d, 8, 5, user, 1), 0);
	assert_true(given.nr == 3 && given.nr_words == 3);
	deferred_chains_free(d); /* one waits still */
}

/* Without the record there is what the sample has. */
static void
ended(void **state)
{
	const uint64_t cookie[] = { DEFERRED, 5 };
	struct deferred_chains *d = begin();

	hold(d, 7, 1, cookie, 2);
	hold(d, 8, 2, cookie, 2);
	hold(d, 9, 3, cookie, 2);
	assert_int_equal(deferred_chains_end(d, 8, false), 0);
	assert_true(given.nr == 1 && given.times[0] == 2);
	assert_int_equal(given.nr_words, 2);
	given.answer = 3; /* ends it all, and no other is given */
	assert_int_equal(deferred_chains_end(d, 0, true), 3);
	assert_int_equal(given.nr, 2);
	deferred_chains_free(d);
}

/* Who has no cookie does not wait; one in a user's own words is his. */
static void
not_deferred(void **state)
{
	const uint64_t none[] = { 0x200 }, cut[] = { DEFERRED };
	const uint64_t his[] = { PERF_CONTEXT_USER, 0x10, DEFERRED, 5 };
	struct deferred_chains *d = begin();

	assert_false(hold(d, 7, 1, none, 1));
	assert_false(hold(d, 7, 1, cut, 1));
	assert_false(hold(d, 7, 1, his, 4));
	assert_int_equal(deferred_chains_end(d, 0, true), 0);
	assert_int_equal(given.nr, 0);
	deferred_chains_free(d);
}

/* Of threads that sleep for ever only so many samples wait. */
static void
bounded(void **state)
{
	const size_t record = 4000 * 8, max = DEFERRED_CHAINS_BYTES_MAX / record + 8;
	uint64_t words[4000] = { DEFERRED, 5 };
	struct deferred_chains *d = begin();
	size_t n = 0;

	while (given.nr == 0 && n < 2 * max)
		hold(d, 7, ++n, words, 4000);
	assert_true(n > 100 && n <= max && given.nr == n - 1);
	assert_int_equal(given.times[1], 2);
	assert_int_equal(deferred_chains_end(d, 0, true), 0);
	assert_int_equal(given.nr, n);
	deferred_chains_free(d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merged),
		cmocka_unit_test(ended),
		cmocka_unit_test(not_deferred),
		cmocka_unit_test(bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
