/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/sample_chain.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "format/bytes/fmt_error.h"

#define BEFORE                                                                                     \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN |       \
	 PERF_SAMPLE_RAW)
#define COPY (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
#define SECRET UINT64_C(0x5ec2e75ec2e75ec2)

static struct buf in, out;

static int
setup(void **state)
{
	buf_init(&in);
	buf_init(&out);
	return 0;
}

static int
teardown(void **state)
{
	buf_done(&in);
	buf_done(&out);
	return 0;
}

/* A sample of this call chain, with raw data before the copy and a cgroup behind it. */
static struct event_attr
make(const uint64_t *chain, size_t nr, uint64_t copied)
{
	const struct event_attr attr = { .sample_type = BEFORE | COPY | PERF_SAMPLE_CGROUP,
					 .sample_regs_user = 3 };

	buf_clear(&in);
	buf_u32(&in, REC_SAMPLE);
	buf_u16(&in, PERF_RECORD_MISC_USER);
	buf_u16(&in, 0);
	buf_u64(&in, 77);     /* IDENTIFIER */
	buf_u64(&in, 0x1000); /* IP */
	buf_u32(&in, 5);
	buf_u32(&in, 6);
	buf_u64(&in, nr);
	for (size_t i = 0; i < nr; i++)
		buf_u64(&in, chain[i]);
	buf_u32(&in, 4); /* RAW */
	buf_u32(&in, 0xabcd);
	buf_u64(&in, copied ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE);
	for (int i = 0; copied && i < 2; i++)
		buf_u64(&in, SECRET);
	buf_u64(&in, copied);
	for (uint64_t i = 0; i < copied; i += 8)
		buf_u64(&in, SECRET);
	if (copied)
		buf_u64(&in, copied);
	buf_u64(&in, 4242); /* CGROUP */
	le16enc(in.p + 6, (uint16_t)in.len);
	return attr;
}

/* What comes out, parsed by the attr of the recording: it has all but the copy. */
static struct perf_record
take(const struct event_attr *opened, const uint64_t *user, size_t nr)
{
	static struct event_attr recorded;
	struct perf_record r;

	recorded = *opened;
	recorded.sample_type &= ~(uint64_t)COPY;
	buf_clear(&out);
	assert_int_equal(perf_record_parse(buf_span(&in), opened, &r), 0);
	assert_int_equal(sample_chain_put(&r, user, nr, &out), 0);
	assert_int_equal(perf_record_parse(buf_span(&out), &recorded, &r), 0);
	assert_int_equal(r.trailing.len, 0);
	assert_int_equal(r.sid.id, 77);
	assert_int_equal(r.sid.tid, 6);
	assert_int_equal(r.sample.raw.len, 4);
	assert_int_equal(le32dec(r.sample.raw.p), 0xabcd);
	assert_int_equal(r.sample.cgroup, 4242);
	for (size_t i = 0; i + 8 <= out.len; i += 8)
		assert_false(le64dec(out.p + i) == SECRET);
	return r;
}

static void
assert_chain(const struct perf_record *r, const uint64_t *words, size_t nr)
{
	assert_int_equal(span_words(r->sample.callchain), nr);
	for (size_t i = 0; i < nr; i++)
		assert_true(span_word(r->sample.callchain, i) == words[i]);
}

#define KERNEL (uint64_t) PERF_CONTEXT_KERNEL
#define USER (uint64_t) PERF_CONTEXT_USER

static void
test_copy_is_left_out(void **state)
{
	static const uint64_t chain[] = { KERNEL, 1, 2, USER, 3, 4 };

	for (uint64_t copied = 0; copied <= 4096; copied += 512) {
		struct event_attr attr = make(chain, 6, copied);
		struct perf_record r = take(&attr, NULL, 0);

		assert_chain(&r, chain, 6);
	}
}

static void
test_user_part_is_replaced(void **state)
{
	static const uint64_t user[] = { 100, 101, 102 };
	static const struct {
		uint64_t chain[8];
		size_t nr;
		uint64_t after[8];
		size_t nr_after;
	} cases[] = {
		{ { KERNEL, 1, USER, 3 }, 4, { KERNEL, 1, USER, 100, 101, 102 }, 6 },
		{ { USER, 3, 4, 5, 6 }, 5, { USER, 100, 101, 102 }, 4 },
		{ { KERNEL, 1 }, 2, { KERNEL, 1, USER, 100, 101, 102 }, 6 },
		{ { 0 }, 0, { USER, 100, 101, 102 }, 4 },
		/* Linux 6.19's deferred one: its cookie goes, too. */
		{ { KERNEL, 1, (uint64_t)-640, 9 }, 4, { KERNEL, 1, USER, 100, 101, 102 }, 6 },
		/* What follows the user's part stays. */
		{ { USER, 3, (uint64_t)PERF_CONTEXT_GUEST, 8 },
		  4,
		  { USER, 100, 101, 102, (uint64_t)PERF_CONTEXT_GUEST, 8 },
		  6 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_attr attr = make(cases[i].chain, cases[i].nr, 64);
		struct perf_record r = take(&attr, user, 3);

		assert_chain(&r, cases[i].after, cases[i].nr_after);
	}
}

/* Outermost frames are left out, and the record stays one. */
static void
test_bound(void **state)
{
	static uint64_t many[2 * SAMPLE_CHAIN_MAX];
	static const uint64_t chain[] = { KERNEL, 1, USER, 3 };
	struct event_attr attr = make(chain, 4, 64);
	struct perf_record r;

	for (size_t i = 0; i < 2 * SAMPLE_CHAIN_MAX; i++)
		many[i] = 1000 + i;
	r = take(&attr, many, 2 * SAMPLE_CHAIN_MAX);
	assert_int_equal(span_words(r.sample.callchain), SAMPLE_CHAIN_MAX);
	assert_true(span_word(r.sample.callchain, 3) == 1000);
}

static struct span
chain_of(const uint64_t *words, size_t nr)
{
	buf_clear(&in);
	for (size_t i = 0; i < nr; i++)
		buf_u64(&in, words[i]);
	return buf_span(&in);
}

/* A limit counts the kernel's addresses, and no markers. */
static void
test_room(void **state)
{
	static const uint64_t chain[] = { KERNEL, 1, 2, USER, 3, 4, 5 };

	assert_int_equal(sample_chain_room(chain_of(chain, 7), 10), 8);
	assert_int_equal(sample_chain_room(chain_of(chain, 3), 10), 8);
	assert_int_equal(sample_chain_room(chain_of(chain + 3, 4), 10), 10);
	assert_int_equal(sample_chain_room(chain_of(chain, 7), 1), 0);
	assert_int_equal(sample_chain_room(chain_of(chain, 7), 0), SAMPLE_CHAIN_MAX - 2);
	assert_int_equal(sample_chain_room(chain_of(chain, 0), 0), SAMPLE_CHAIN_MAX);
}

static void
test_goes_on(void **state)
{
	static const struct {
		uint64_t chain[8];
		size_t nr;
		uint64_t user[3], after[6];
		size_t nr_user, nr_after;
	} cases[] = {
		{ { KERNEL, 1, USER, 10, 20, 30, 40 }, 7, { 10, 20 }, { 10, 20, 30, 40 }, 2, 4 },
		/* A caller that the kernel passed over; where a probe's trampoline is, what it stands for. */
		{ { USER, 10, 30, 40 }, 4, { 10, 20, 30 }, { 10, 20, 30, 40 }, 3, 4 },
		{ { USER, 10, 20, 30, 40 }, 5, { 10, 20, 99 }, { 10, 20, 30, 40 }, 3, 4 },
		/* The first address is no caller, what is of a guest is not the user's, and two wrong ones are too many. */
		{ { USER, 10, 20 }, 3, { 10 }, { 10 }, 1, 1 },
		{ { USER, 20, 30 }, 3, { 10, 20 }, { 10, 20 }, 2, 2 },
		{ { USER, 10, 20, (uint64_t)PERF_CONTEXT_GUEST, 8 },
		  5,
		  { 10, 20 },
		  { 10, 20 },
		  2,
		  2 },
		{ { USER, 10, 20, 30 }, 4, { 20, 98, 99 }, { 20, 98, 99 }, 3, 3 },
		{ { KERNEL, 20, 30 }, 3, { 10, 20 }, { 10, 20 }, 2, 2 },
		{ { (uint64_t)-640, 10, 20, 30 }, 4, { 10, 20 }, { 10, 20, 30 }, 2, 3 },
	};
	static uint64_t user[SAMPLE_CHAIN_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memcpy(user, cases[i].user, sizeof(cases[i].user));
		assert_int_equal(sample_chain_go_on(chain_of(cases[i].chain, cases[i].nr), user,
						    cases[i].nr_user),
				 cases[i].nr_after);
		for (size_t k = 0; k < cases[i].nr_after; k++)
			assert_int_equal(user[k], cases[i].after[k]);
	}
}

static void
test_no_sample(void **state)
{
	struct perf_record r = { .type = REC_COMM };

	buf_clear(&out);
	assert_int_equal(sample_chain_put(&r, NULL, 0, &out), -FMT_E_CORRUPT);
	r.type = REC_SAMPLE; /* without a call chain */
	assert_int_equal(sample_chain_put(&r, NULL, 0, &out), -FMT_E_CORRUPT);
	assert_int_equal(out.len, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copy_is_left_out),
		cmocka_unit_test(test_user_part_is_replaced),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_no_sample),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
