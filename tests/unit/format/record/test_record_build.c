/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/record_build.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "format/bytes/fmt_error.h"
#include "tests/lab/record_sample.h"
#include "tests/lab/wire.h"

#define ID_BITS                                                                                    \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |             \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static struct wire wire;

static const struct perf_sample_id sid = {
	.pid = 1,
	.tid = 2,
	.time = 3,
	.id = 4,
	.stream_id = 5,
	.cpu = 6,
};

static const struct perf_mmap map = {
	.pid = 11,
	.tid = 12,
	.addr = 0x7f0000000000,
	.len = 0x1000,
	.pgoff = 0x2000,
	.maj = 8,
	.min = 1,
	.ino = 1234,
	.ino_generation = 5678,
	.prot = 5,
	.flags = 2,
	.filename = "/bin/true",
};

/* The wire is what the header file draws; the builder has to make the same. */
static void
same(struct buf *b, int error, const struct event_attr *attr)
{
	if (attr && event_attr_has(attr, EVENT_ATTR_sample_id_all))
		wire_trailer(&wire, attr->sample_type, &sid);
	wire_end(&wire);
	assert_int_equal(error, 0);
	assert_int_equal(b->len, wire.len);
	assert_memory_equal(b->p, wire.bytes, wire.len);
	buf_clear(b);
}

static void
put_map_head(void)
{
	wire_u32(&wire, map.pid);
	wire_u32(&wire, map.tid);
	wire_u64(&wire, map.addr);
	wire_u64(&wire, map.len);
	wire_u64(&wire, map.pgoff);
}

static void
check_maps(struct buf *b, const struct event_attr *attr)
{
	struct perf_mmap m = map;

	wire_begin(&wire, PERF_RECORD_MMAP, 2);
	put_map_head();
	wire_string(&wire, map.filename);
	same(b, record_build_mmap(b, attr, &sid, &map, 2), attr);

	wire_begin(&wire, PERF_RECORD_MMAP2, 2);
	put_map_head();
	wire_u32(&wire, map.maj);
	wire_u32(&wire, map.min);
	wire_u64(&wire, map.ino);
	wire_u64(&wire, map.ino_generation);
	wire_u32(&wire, map.prot);
	wire_u32(&wire, map.flags);
	wire_string(&wire, map.filename);
	/* A stale bit would make readers take the inode for a build-id. */
	same(b, record_build_mmap2(b, attr, &sid, &map, 2 | PERF_RECORD_MISC_MMAP_BUILD_ID), attr);

	m.build_id.size = 16;
	memcpy(m.build_id.bytes, "0123456789abcdef", 16);
	wire_begin(&wire, PERF_RECORD_MMAP2, 2 | PERF_RECORD_MISC_MMAP_BUILD_ID);
	put_map_head();
	wire_u32(&wire, 16);
	wire_bytes(&wire, m.build_id.bytes, 20);
	wire_u32(&wire, map.prot);
	wire_u32(&wire, map.flags);
	wire_string(&wire, map.filename);
	same(b, record_build_mmap2(b, attr, &sid, &m, 2), attr);
}

static void
check_tasks(struct buf *b, const struct event_attr *attr)
{
	wire_begin(&wire, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	wire_u32(&wire, 11);
	wire_u32(&wire, 12);
	wire_string(&wire, "a name");
	same(b, record_build_comm(b, attr, &sid, 11, 12, "a name", PERF_RECORD_MISC_COMM_EXEC),
	     attr);

	wire_begin(&wire, PERF_RECORD_FORK, 0);
	for (uint32_t i = 21; i < 25; i++)
		wire_u32(&wire, i);
	wire_u64(&wire, 25);
	same(b, record_build_fork(b, attr, &sid, 21, 22, 23, 24, 25, 0), attr);

	wire_begin(&wire, PERF_RECORD_EXIT, 0);
	for (uint32_t i = 31; i < 35; i++)
		wire_u32(&wire, i);
	wire_u64(&wire, 35);
	same(b, record_build_exit(b, attr, &sid, 31, 32, 33, 34, 35), attr);
}

static void
check_others(struct buf *b, const struct event_attr *attr)
{
	const uint64_t links[] = { 1, 2, 3, 4 };

	wire_begin(&wire, PERF_RECORD_NAMESPACES, 0);
	wire_u32(&wire, 41);
	wire_u32(&wire, 42);
	wire_u64(&wire, 2);
	for (unsigned i = 0; i < 4; i++)
		wire_u64(&wire, links[i]);
	same(b, record_build_namespaces(b, attr, &sid, 41, 42, links, 2), attr);

	wire_begin(&wire, PERF_RECORD_CGROUP, 0);
	wire_u64(&wire, 51);
	wire_string(&wire, "/");
	same(b, record_build_cgroup(b, attr, &sid, 51, "/"), attr);

	wire_begin(&wire, PERF_RECORD_KSYMBOL, 0);
	wire_u64(&wire, 61);
	wire_u32(&wire, 62);
	wire_u16(&wire, 63);
	wire_u16(&wire, 64);
	wire_string(&wire, "bpf_prog");
	same(b, record_build_ksymbol(b, attr, &sid, 61, 62, 63, 64, "bpf_prog"), attr);

	wire_begin(&wire, PERF_RECORD_LOST_SAMPLES, 0);
	wire_u64(&wire, 72);
	same(b, record_build_lost_samples(b, attr, &sid, 72), attr);
}

static void
check_all(const struct event_attr *attr)
{
	struct buf b;

	buf_init(&b);
	check_maps(&b, attr);
	check_tasks(&b, attr);
	check_others(&b, attr);
	buf_done(&b);
}

static void
test_each_type(void **state)
{
	struct event_attr attr = { .flags = UINT64_C(1) << EVENT_ATTR_sample_id_all };

	check_all(NULL);
	for (uint64_t bits = ID_BITS; bits; bits = (bits - 1) & ID_BITS) {
		attr.sample_type = bits | PERF_SAMPLE_IP;
		check_all(&attr);
	}
	attr.flags = 0;
	attr.sample_type = ID_BITS;
	check_all(&attr);
}

/* No identity: a trailer of zeros, which readers know as "made by a tool". */
static void
test_without_sid(void **state)
{
	struct event_attr attr = { .flags = UINT64_C(1) << EVENT_ATTR_sample_id_all,
				   .sample_type = ID_BITS };
	struct perf_record r;
	struct buf b;

	buf_init(&b);
	assert_int_equal(record_build_lost_samples(&b, &attr, NULL, 2), 0);
	assert_int_equal(wire_parse(b.p, b.len, &attr, &r), 0);
	assert_int_equal(r.sid.have, ID_BITS);
	assert_int_equal(r.sid.id | r.sid.time | r.sid.pid, 0);
	assert_int_equal(r.lost.lost, 2);
	buf_done(&b);
}

/* Records follow each other in one buf. */
static void
test_appends(void **state)
{
	struct span s, record;
	struct buf b;
	size_t n = 0;

	buf_init(&b);
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(record_build_comm(&b, NULL, NULL, i, i, "x", 0), 0);
		assert_int_equal(record_build_mmap2(&b, NULL, NULL, &map, 0), 0);
	}
	s = buf_span(&b);
	while (perf_record_next(&s, &record) == 1)
		n++;
	assert_int_equal(n, 200);
	assert_int_equal(s.len, 0);
	buf_done(&b);
}

static void
test_long_strings_are_cut(void **state)
{
	struct event_attr attr = { .flags = UINT64_C(1) << EVENT_ATTR_sample_id_all,
				   .sample_type = ID_BITS };
	char *name = malloc(70001);
	struct perf_record r;
	struct buf b;

	assert_non_null(name);
	memset(name, 'n', 70000);
	buf_init(&b);
	for (size_t n = 4000; n <= 70000; n += n < 4200 ? 1 : 400) {
		const char saved = name[n];

		name[n] = 0;
		assert_int_equal(record_build_cgroup(&b, &attr, &sid, 7, name), 0);
		assert_int_equal(wire_parse(b.p, b.len, &attr, &r), 0);
		assert_int_equal(r.sid.id, sid.id);
		assert_int_equal(strlen(r.cgroup.path), n < 4096 ? n : 4095);
		buf_clear(&b);
		name[n] = saved;
	}
	free(name);
	buf_done(&b);
}

static void
test_too_big(void **state)
{
	static uint64_t words[9000];
	struct perf_sample sample = { .have = PERF_SAMPLE_CALLCHAIN };
	struct buf b;

	buf_init(&b);
	buf_u64(&b, 1);
	assert_int_equal(record_build_namespaces(&b, NULL, NULL, 1, 1, words, 4500),
			 -FMT_E_TOO_BIG);
	assert_int_equal(record_build_namespaces(&b, NULL, NULL, 1, 1, words, UINT64_MAX),
			 -FMT_E_TOO_BIG);
	sample.callchain = span_of(words, sizeof(words));
	assert_int_equal(record_sample_build(&b, &sid, &sample, 0), -FMT_E_TOO_BIG);
	assert_int_equal(b.len, 8);
	buf_done(&b);
}

static void
test_out_of_memory(void **state)
{
	struct buf b;

	buf_init(&b);
	buf_u64(&b, 1);
	assert_null(buf_reserve(&b, SIZE_MAX));
	assert_int_equal(record_build_lost_samples(&b, NULL, NULL, 2), -FMT_E_NOMEM);
	assert_int_equal(b.len, 8);
	buf_done(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_type), cmocka_unit_test(test_without_sid),
		cmocka_unit_test(test_appends),	  cmocka_unit_test(test_long_strings_are_cut),
		cmocka_unit_test(test_too_big),	  cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
