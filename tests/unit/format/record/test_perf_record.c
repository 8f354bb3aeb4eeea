/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/perf_record.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "format/bytes/fmt_error.h"
#include "tests/lab/wire.h"

static struct wire wire;

static const struct perf_sample_id sid = {
	.pid = 0xa1a2a3a4,
	.tid = 0xb1b2b3b4,
	.time = 0xc1c2c3c4c5c6c7c8,
	.id = 0xd1d2d3d4d5d6d7d8,
	.stream_id = 0xe1e2e3e4e5e6e7e8,
	.cpu = 0xf1f2f3f4,
};

static const uint64_t id_bits[] = {
	PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,	 PERF_SAMPLE_IDENTIFIER
};

#define NR_ID_BITS (sizeof(id_bits) / sizeof(id_bits[0]))
#define READ_FORMAT                                                                                \
	(PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST | PERF_FORMAT_TOTAL_TIME_RUNNING)

static const char path[] = "/usr/lib/x86_64-linux-gnu/libc.so.6";
static const uint8_t build_id[20] = {
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18
};

/* ---- each type: its fields as the uapi header draws them, and what comes of them ---- */

static void
put_mmap_head(void)
{
	wire_u32(&wire, 101);
	wire_u32(&wire, 102);
	wire_u64(&wire, 0x7f0000001000);
	wire_u64(&wire, 0x2000);
	wire_u64(&wire, 0x3000);
}

static void
check_mmap_head(const struct perf_record *r)
{
	assert_int_equal(r->mmap.pid, 101);
	assert_int_equal(r->mmap.tid, 102);
	assert_int_equal(r->mmap.addr, 0x7f0000001000);
	assert_int_equal(r->mmap.len, 0x2000);
	assert_int_equal(r->mmap.pgoff, 0x3000);
	assert_string_equal(r->mmap.filename, path);
}

static void
put_mmap(void)
{
	put_mmap_head();
	wire_string(&wire, path);
}

static void
check_mmap(const struct perf_record *r)
{
	check_mmap_head(r);
	assert_int_equal(r->mmap.maj | r->mmap.min | r->mmap.ino | r->mmap.build_id.size, 0);
}

static void
put_mmap2(void)
{
	put_mmap_head();
	wire_u32(&wire, 103);
	wire_u32(&wire, 104);
	wire_u64(&wire, 0x1051051051);
	wire_u64(&wire, 0x1061061061);
	wire_u32(&wire, 5);
	wire_u32(&wire, 0x10002);
	wire_string(&wire, path);
}

static void
check_mmap2(const struct perf_record *r)
{
	check_mmap_head(r);
	assert_int_equal(r->mmap.maj, 103);
	assert_int_equal(r->mmap.min, 104);
	assert_int_equal(r->mmap.ino, 0x1051051051);
	assert_int_equal(r->mmap.ino_generation, 0x1061061061);
	assert_int_equal(r->mmap.build_id.size, 0);
	assert_int_equal(r->mmap.prot, 5);
	assert_int_equal(r->mmap.flags, 0x10002);
}

static void
put_mmap2_build_id_of(uint8_t size)
{
	put_mmap_head();
	wire_u8(&wire, size);
	wire_u8(&wire, 0xee);
	wire_u16(&wire, 0xeeee);
	wire_bytes(&wire, build_id, sizeof(build_id));
	wire_u32(&wire, 5);
	wire_u32(&wire, 0x10002);
	wire_string(&wire, path);
}

static void
put_mmap2_build_id(void)
{
	put_mmap2_build_id_of(18);
}

static void
check_mmap2_build_id(const struct perf_record *r)
{
	check_mmap_head(r);
	assert_int_equal(r->mmap.maj | r->mmap.min | r->mmap.ino | r->mmap.ino_generation, 0);
	assert_int_equal(r->mmap.build_id.size, 18);
	assert_memory_equal(r->mmap.build_id.bytes, build_id, 20);
	assert_int_equal(r->mmap.prot, 5);
	assert_int_equal(r->mmap.flags, 0x10002);
}

static void
put_lost(void)
{
	wire_u64(&wire, 201);
	wire_u64(&wire, 0x202020202020);
}

static void
check_lost(const struct perf_record *r)
{
	assert_int_equal(r->lost.id, 201);
	assert_int_equal(r->lost.lost, 0x202020202020);
}

static void
put_comm(void)
{
	wire_u32(&wire, 301);
	wire_u32(&wire, 302);
	wire_string(&wire, "kworker/0:1-ev");
}

static void
check_comm(const struct perf_record *r)
{
	assert_int_equal(r->comm.pid, 301);
	assert_int_equal(r->comm.tid, 302);
	assert_string_equal(r->comm.comm, "kworker/0:1-ev");
}

static void
put_task(void)
{
	wire_u32(&wire, 401);
	wire_u32(&wire, 402);
	wire_u32(&wire, 403);
	wire_u32(&wire, 404);
	wire_u64(&wire, 0x4054054054);
}

static void
check_task(const struct perf_record *r)
{
	assert_int_equal(r->task.pid, 401);
	assert_int_equal(r->task.ppid, 402);
	assert_int_equal(r->task.tid, 403);
	assert_int_equal(r->task.ptid, 404);
	assert_int_equal(r->task.time, 0x4054054054);
}

static void
put_throttle(void)
{
	wire_u64(&wire, 501);
	wire_u64(&wire, 502);
	wire_u64(&wire, 503);
}

static void
check_throttle(const struct perf_record *r)
{
	assert_int_equal(r->throttle.time, 501);
	assert_int_equal(r->throttle.id, 502);
	assert_int_equal(r->throttle.stream_id, 503);
}

static void
put_read(void)
{
	wire_u32(&wire, 801);
	wire_u32(&wire, 802);
	wire_u64(&wire, 2);
	wire_u64(&wire, 803);
	for (unsigned i = 0; i < 6; i++)
		wire_u64(&wire, 810 + i);
}

static void
check_read(const struct perf_record *r)
{
	struct perf_read_value v = perf_read_at(&r->read.read, 1);

	assert_int_equal(r->read.pid, 801);
	assert_int_equal(r->read.tid, 802);
	assert_int_equal(r->read.read.nr, 2);
	assert_int_equal(r->read.read.time_enabled, 0);
	assert_int_equal(r->read.read.time_running, 803);
	assert_int_equal(v.value, 813);
	assert_int_equal(v.id, 814);
	assert_int_equal(v.lost, 815);
}

static void
put_aux(void)
{
	wire_u64(&wire, 1101);
	wire_u64(&wire, 1102);
	wire_u64(&wire, PERF_AUX_FLAG_PARTIAL);
}

static void
check_aux(const struct perf_record *r)
{
	assert_int_equal(r->aux.offset, 1101);
	assert_int_equal(r->aux.size, 1102);
	assert_int_equal(r->aux.flags, PERF_AUX_FLAG_PARTIAL);
}

static void
put_two_u32(void)
{
	wire_u32(&wire, 1201);
	wire_u32(&wire, 1202);
}

static void
check_itrace_start(const struct perf_record *r)
{
	assert_int_equal(r->itrace_start.pid, 1201);
	assert_int_equal(r->itrace_start.tid, 1202);
}

static void
check_switch_cpu_wide(const struct perf_record *r)
{
	assert_int_equal(r->context_switch.next_prev_pid, 1201);
	assert_int_equal(r->context_switch.next_prev_tid, 1202);
}

static void
put_lost_samples(void)
{
	wire_u64(&wire, 1301);
}

static void
check_lost_samples(const struct perf_record *r)
{
	assert_int_equal(r->lost.id, 0);
	assert_int_equal(r->lost.lost, 1301);
}

static void
put_switch(void)
{
}

static void
check_switch(const struct perf_record *r)
{
	assert_int_equal(r->context_switch.next_prev_pid, 0);
	assert_int_equal(r->context_switch.next_prev_tid, 0);
}

static void
put_namespaces(void)
{
	wire_u32(&wire, 1601);
	wire_u32(&wire, 1602);
	wire_u64(&wire, 7);
	for (unsigned i = 0; i < 14; i++)
		wire_u64(&wire, 1610 + i);
}

static void
check_namespaces(const struct perf_record *r)
{
	assert_int_equal(r->namespaces.pid, 1601);
	assert_int_equal(r->namespaces.tid, 1602);
	assert_int_equal(r->namespaces.nr, 7);
	assert_int_equal(span_words(r->namespaces.links), 14);
	for (unsigned i = 0; i < 14; i++)
		assert_int_equal(span_word(r->namespaces.links, i), 1610 + i);
}

static void
put_ksymbol(void)
{
	wire_u64(&wire, 0xffffffffc0001000);
	wire_u32(&wire, 1702);
	wire_u16(&wire, PERF_RECORD_KSYMBOL_TYPE_BPF);
	wire_u16(&wire, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
	wire_string(&wire, "bpf_prog_6deef7357e7b4530");
}

static void
check_ksymbol(const struct perf_record *r)
{
	assert_int_equal(r->ksymbol.addr, 0xffffffffc0001000);
	assert_int_equal(r->ksymbol.len, 1702);
	assert_int_equal(r->ksymbol.ksym_type, PERF_RECORD_KSYMBOL_TYPE_BPF);
	assert_int_equal(r->ksymbol.flags, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
	assert_string_equal(r->ksymbol.name, "bpf_prog_6deef7357e7b4530");
}

static void
put_bpf_event(void)
{
	wire_u16(&wire, PERF_BPF_EVENT_PROG_LOAD);
	wire_u16(&wire, 1802);
	wire_u32(&wire, 1803);
	wire_bytes(&wire, build_id, 8);
}

static void
check_bpf_event(const struct perf_record *r)
{
	assert_int_equal(r->bpf.type, PERF_BPF_EVENT_PROG_LOAD);
	assert_int_equal(r->bpf.flags, 1802);
	assert_int_equal(r->bpf.id, 1803);
	assert_memory_equal(r->bpf.tag, build_id, 8);
}

static void
put_cgroup(void)
{
	wire_u64(&wire, 1901);
	wire_string(&wire, "/system.slice/nginx.service");
}

static void
check_cgroup(const struct perf_record *r)
{
	assert_int_equal(r->cgroup.id, 1901);
	assert_string_equal(r->cgroup.path, "/system.slice/nginx.service");
}

static void
put_text_poke(void)
{
	wire_u64(&wire, 0xffffffff81000000);
	wire_u16(&wire, 5);
	wire_u16(&wire, 9);
	wire_bytes(&wire, build_id, 14);
	wire_pad(&wire);
}

static void
check_text_poke(const struct perf_record *r)
{
	assert_int_equal(r->text_poke.addr, 0xffffffff81000000);
	assert_int_equal(r->text_poke.old_bytes.len, 5);
	assert_int_equal(r->text_poke.new_bytes.len, 9);
	assert_memory_equal(r->text_poke.old_bytes.p, build_id, 5);
	assert_memory_equal(r->text_poke.new_bytes.p, build_id + 5, 9);
}

static void
put_hw_id(void)
{
	wire_u64(&wire, 2101);
}

static void
check_hw_id(const struct perf_record *r)
{
	assert_int_equal(r->hw_id.hw_id, 2101);
}

static void
put_deferred(void)
{
	wire_u64(&wire, 2201);
	wire_u64(&wire, 3);
	wire_u64(&wire, PERF_CONTEXT_USER);
	wire_u64(&wire, 2203);
	wire_u64(&wire, 2204);
}

static void
check_deferred(const struct perf_record *r)
{
	assert_int_equal(r->deferred.cookie, 2201);
	assert_int_equal(span_words(r->deferred.ips), 3);
	assert_int_equal(span_word(r->deferred.ips, 0), PERF_CONTEXT_USER);
	assert_int_equal(span_word(r->deferred.ips, 2), 2204);
}

struct row {
	uint32_t type;
	uint16_t misc;
	void (*put)(void);
	void (*check)(const struct perf_record *r);
};

static const struct row rows[] = {
	{ PERF_RECORD_MMAP, PERF_RECORD_MISC_MMAP_DATA, put_mmap, check_mmap },
	{ PERF_RECORD_LOST, 0, put_lost, check_lost },
	{ PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, put_comm, check_comm },
	{ PERF_RECORD_EXIT, 0, put_task, check_task },
	{ PERF_RECORD_THROTTLE, 0, put_throttle, check_throttle },
	{ PERF_RECORD_UNTHROTTLE, 0, put_throttle, check_throttle },
	{ PERF_RECORD_FORK, 0, put_task, check_task },
	{ PERF_RECORD_READ, 0, put_read, check_read },
	{ PERF_RECORD_MMAP2, 0, put_mmap2, check_mmap2 },
	{ PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, put_mmap2_build_id,
	  check_mmap2_build_id },
	{ PERF_RECORD_AUX, 0, put_aux, check_aux },
	{ PERF_RECORD_ITRACE_START, 0, put_two_u32, check_itrace_start },
	{ PERF_RECORD_LOST_SAMPLES, 0, put_lost_samples, check_lost_samples },
	{ PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, put_switch, check_switch },
	{ PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT, put_two_u32,
	  check_switch_cpu_wide },
	{ PERF_RECORD_NAMESPACES, 0, put_namespaces, check_namespaces },
	{ PERF_RECORD_KSYMBOL, 0, put_ksymbol, check_ksymbol },
	{ PERF_RECORD_BPF_EVENT, 0, put_bpf_event, check_bpf_event },
	{ PERF_RECORD_CGROUP, 0, put_cgroup, check_cgroup },
	{ PERF_RECORD_TEXT_POKE, 0, put_text_poke, check_text_poke },
	{ PERF_RECORD_AUX_OUTPUT_HW_ID, 0, put_hw_id, check_hw_id },
	{ 22 /* CALLCHAIN_DEFERRED, Linux 6.19 */, 0, put_deferred, check_deferred },
};

#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

static struct event_attr
attr_of(uint64_t sample_type, bool sample_id_all)
{
	return (struct event_attr){
		.sample_type = sample_type,
		.read_format = READ_FORMAT,
		.flags = sample_id_all ? UINT64_C(1) << EVENT_ATTR_sample_id_all : 0,
	};
}

static void
put_row(const struct row *row, const struct event_attr *attr)
{
	wire_begin(&wire, row->type, row->misc);
	row->put();
	if (attr && event_attr_has(attr, EVENT_ATTR_sample_id_all))
		wire_trailer(&wire, attr->sample_type, &sid);
	wire_end(&wire);
}

static void
check_sid(const struct perf_sample_id *got, uint64_t have)
{
	assert_int_equal(got->have, have);
	assert_int_equal(got->pid, have & PERF_SAMPLE_TID ? sid.pid : 0);
	assert_int_equal(got->tid, have & PERF_SAMPLE_TID ? sid.tid : 0);
	assert_int_equal(got->time, have & PERF_SAMPLE_TIME ? sid.time : 0);
	assert_int_equal(got->id, have & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) ? sid.id : 0);
	assert_int_equal(got->stream_id, have & PERF_SAMPLE_STREAM_ID ? sid.stream_id : 0);
	assert_int_equal(got->cpu, have & PERF_SAMPLE_CPU ? sid.cpu : UINT32_MAX);
}

static void
check_row(const struct row *row, const struct event_attr *attr, uint64_t have)
{
	struct perf_record r;

	assert_int_equal(wire_parse(wire.bytes, wire.len, attr, &r), 0);
	assert_int_equal(r.type, row->type);
	assert_int_equal(r.misc, row->misc);
	assert_int_equal(r.size, wire.len);
	assert_int_equal(r.raw.len, wire.len);
	assert_int_equal(r.trailing.len, 0);
	check_sid(&r.sid, have);
	row->check(&r);
}

/* ---- tests ---- */

/* The trailer in all its shapes, among sample bits that it does not have. */
static void
test_each_type_with_each_trailer(void **state)
{
	const uint64_t others = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_PERIOD |
		PERF_SAMPLE_ADDR | PERF_SAMPLE_CGROUP;

	for (size_t i = 0; i < NR_ROWS; i++) {
		for (unsigned mask = 0; mask < 1u << NR_ID_BITS; mask++) {
			struct event_attr attr;
			uint64_t have = 0;

			for (unsigned bit = 0; bit < NR_ID_BITS; bit++)
				if (mask & 1u << bit)
					have |= id_bits[bit];
			attr = attr_of(have | others, true);
			put_row(&rows[i], &attr);
			check_row(&rows[i], &attr, have);

			attr = attr_of(have | others, false);
			put_row(&rows[i], &attr);
			check_row(&rows[i], &attr, 0);
		}
	}
}

static void
test_each_type_cut_everywhere(void **state)
{
	for (size_t i = 0; i < NR_ROWS; i++) {
		for (unsigned n = 0; n <= NR_ID_BITS; n++) {
			struct event_attr attr = attr_of(0, true);

			for (unsigned bit = 0; bit < n; bit++)
				attr.sample_type |= id_bits[bit];
			put_row(&rows[i], &attr);
			wire_cut_everywhere(&wire, &attr);
		}
	}
}

static void
test_without_attr(void **state)
{
	struct perf_record r;

	for (size_t i = 0; i < NR_ROWS; i++) {
		if (rows[i].type == PERF_RECORD_READ)
			continue; /* its shape is in the attr */
		put_row(&rows[i], NULL);
		check_row(&rows[i], NULL, 0);
	}
	wire_begin(&wire, PERF_RECORD_READ, 0);
	wire_u32(&wire, 1);
	wire_u32(&wire, 2);
	wire_u64(&wire, 3);
	wire_end(&wire);
	assert_int_equal(wire_parse(wire.bytes, wire.len, NULL, &r), 0);
	assert_int_equal(perf_read_at(&r.read.read, 0).value, 3);
}

/* Fields that a newer kernel appends stand between ours and the trailer. */
static void
test_trailing_is_carried(void **state)
{
	struct event_attr attr = attr_of(PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER, true);

	for (size_t i = 0; i < NR_ROWS; i++) {
		struct perf_record r;

		wire_begin(&wire, rows[i].type, rows[i].misc);
		rows[i].put();
		wire_u64(&wire, 0x5555555555555555);
		wire_u64(&wire, 0);
		wire_trailer(&wire, attr.sample_type, &sid);
		wire_end(&wire);
		assert_int_equal(wire_parse(wire.bytes, wire.len, &attr, &r), 0);
		rows[i].check(&r);
		check_sid(&r.sid, attr.sample_type);
		assert_int_equal(span_words(r.trailing), 2);
		assert_int_equal(span_word(r.trailing, 0), 0x5555555555555555);
	}
}

/* Padding that is not zeros is somebody's data. */
static void
test_odd_padding_is_carried(void **state)
{
	struct perf_record r;

	wire_begin(&wire, PERF_RECORD_COMM, 0);
	put_two_u32();
	wire_bytes(&wire, "ab\0cdefg", 8);
	wire_end(&wire);
	assert_int_equal(wire_parse(wire.bytes, wire.len, NULL, &r), 0);
	assert_string_equal(r.comm.comm, "ab");
	assert_int_equal(r.trailing.len, 5);
	assert_memory_equal(r.trailing.p, "cdefg", 5);
}

static void
test_unknown_types(void **state)
{
	static const uint32_t types[] = { 0, REC_KERNEL_MAX, 63, 64, 81, 100, UINT32_MAX };
	struct event_attr attr = attr_of(PERF_SAMPLE_TIME | PERF_SAMPLE_CPU, true);

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		const bool kernels = types[i] < REC_USER_FIRST;
		struct perf_record r;

		wire_begin(&wire, types[i], 0xffff);
		wire_u64(&wire, 1);
		wire_u64(&wire, 2);
		if (kernels)
			wire_trailer(&wire, attr.sample_type, &sid);
		wire_end(&wire);
		assert_int_equal(wire_parse(wire.bytes, wire.len, &attr, &r), 0);
		assert_int_equal(span_words(r.trailing), 2);
		assert_int_equal(span_word(r.trailing, 1), 2);
		assert_int_equal(r.misc, 0xffff);
		check_sid(&r.sid, kernels ? attr.sample_type : 0);
		assert_null(perf_record_type_name(types[i]));

		/* Too short for the trailer: whatever it is, it is carried. */
		wire_begin(&wire, types[i], 0);
		wire_u64(&wire, 1);
		wire_end(&wire);
		assert_int_equal(wire_parse(wire.bytes, wire.len, &attr, &r), 0);
		assert_int_equal(span_words(r.trailing), 1);
		check_sid(&r.sid, 0);
	}
}

static bool
may_be_too_long(uint32_t type)
{
	return type == PERF_RECORD_KSYMBOL || type == PERF_RECORD_BPF_EVENT ||
		type == PERF_RECORD_TEXT_POKE;
}

/* Behind the trailer, of records that several events got: what was in the ring before. */
static void
test_header_too_long(void **state)
{
	struct event_attr attr = attr_of(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
						 PERF_SAMPLE_IDENTIFIER,
					 true);

	for (size_t i = 0; i < NR_ROWS; i++) {
		if (!may_be_too_long(rows[i].type)) {
			put_row(&rows[i], &attr);
			assert_int_equal(perf_record_filled(span_of(wire.bytes, wire.len), 0),
					 wire.len);
			continue;
		}
		for (unsigned nr_others = 0; nr_others < 4; nr_others++) {
			struct perf_record r;
			size_t len;

			wire_begin(&wire, rows[i].type, rows[i].misc);
			rows[i].put();
			wire_trailer(&wire, attr.sample_type, &sid);
			len = wire.len;
			for (unsigned n = 0; n < nr_others * 4; n++)
				wire_u64(&wire, 0xabababababababab);
			wire_end(&wire);
			assert_int_equal(perf_record_filled(span_of(wire.bytes, wire.len), 32),
					 len);
			assert_int_equal(perf_record_parse_filled(span_of(wire.bytes, wire.len),
								  len, &attr, &r),
					 0);
			assert_int_equal(r.filled, len);
			assert_int_equal(r.raw.len, wire.len);
			assert_int_equal(r.trailing.len, 0);
			check_sid(&r.sid, attr.sample_type);
			rows[i].check(&r);
		}
	}
}

static void
test_string_without_nul(void **state)
{
	static const uint32_t types[] = { PERF_RECORD_MMAP, PERF_RECORD_COMM, PERF_RECORD_MMAP2,
					  PERF_RECORD_KSYMBOL, PERF_RECORD_CGROUP };
	struct event_attr attr = attr_of(PERF_SAMPLE_TIME, true);
	struct perf_record r;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		wire_begin(&wire, types[i], 0);
		for (unsigned n = 0; n < 96; n++)
			wire_u8(&wire, 'x');
		wire_u64(&wire, 0); /* the trailer's NULs are not the string's */
		wire_end(&wire);
		assert_int_equal(wire_parse(wire.bytes, wire.len, &attr, &r), -FMT_E_TRUNCATED);
	}
}

/* A name or path that the kernel cannot have made. */
static void
test_long_strings(void **state)
{
	static char name[PERF_RECORD_STRING_MAX + 1];
	struct perf_record r;

	for (unsigned over = 0; over < 2; over++) {
		memset(name, 'n', PERF_RECORD_STRING_MAX - 1 + over);
		wire_begin(&wire, PERF_RECORD_CGROUP, 0);
		wire_u64(&wire, 7);
		wire_string(&wire, name);
		wire_end(&wire);
		assert_int_equal(wire_parse(wire.bytes, wire.len, NULL, &r),
				 over ? -FMT_E_TOO_BIG : 0);
	}
}

static void
test_empty_strings(void **state)
{
	struct perf_record r;

	wire_begin(&wire, PERF_RECORD_COMM, 0);
	put_two_u32();
	wire_string(&wire, "");
	wire_end(&wire);
	assert_int_equal(wire_parse(wire.bytes, wire.len, NULL, &r), 0);
	assert_string_equal(r.comm.comm, "");
}

static void
test_build_id_sizes(void **state)
{
	struct perf_record r;

	for (unsigned size = 0; size < 256; size++) {
		int error;

		wire_begin(&wire, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
		put_mmap2_build_id_of((uint8_t)size);
		wire_end(&wire);
		error = wire_parse(wire.bytes, wire.len, NULL, &r);
		assert_int_equal(error, size > 20 ? -FMT_E_CORRUPT : 0);
		if (error == 0) {
			assert_int_equal(r.mmap.build_id.size, size);
			assert_memory_equal(r.mmap.build_id.bytes, build_id, size);
			assert_string_equal(r.mmap.filename, path);
		}
	}
}

/*
 * Linux leaves the bit set for the events after one that asked for build-ids (seen on 6.18,
 * with two recorders at a time): their records have the inode all the same.
 */
static void
test_build_id_bit_of_another(void **state)
{
	static const struct {
		uint32_t maj, min;
	} devices[] = { { 0, 33 }, { 8, 1 }, { 253, 0 }, { 254, 0 }, { 259, 2 }, { 9, 1048575 } };
	static const uint8_t sizes[] = { 8, 16, 18, 20 };
	struct event_attr attr = attr_of(0, false);
	struct perf_record r;

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		wire_begin(&wire, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID | 2);
		put_mmap_head();
		wire_u32(&wire, devices[i].maj);
		wire_u32(&wire, devices[i].min);
		wire_u64(&wire, 247241);
		wire_u64(&wire, 0);
		wire_u32(&wire, 5);
		wire_u32(&wire, 2);
		wire_string(&wire, path);
		wire_end(&wire);
		assert_int_equal(wire_parse(wire.bytes, wire.len, &attr, &r), 0);
		assert_int_equal(r.mmap.build_id.size, 0);
		assert_int_equal(r.mmap.maj, devices[i].maj);
		assert_int_equal(r.mmap.min, devices[i].min);
		assert_int_equal(r.mmap.ino, 247241);
	}
	/* perf inject puts build-ids where no event asked for them. */
	for (size_t i = 0; i < sizeof(sizes); i++) {
		wire_begin(&wire, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
		put_mmap2_build_id_of(sizes[i]);
		wire_end(&wire);
		assert_int_equal(wire_parse(wire.bytes, wire.len, &attr, &r), 0);
		assert_int_equal(r.mmap.build_id.size, sizes[i]);
	}
}

/* The bit means something else on a MMAP. */
static void
test_build_id_bit_on_mmap(void **state)
{
	struct row row = { PERF_RECORD_MMAP, PERF_RECORD_MISC_MMAP_BUILD_ID, put_mmap, check_mmap };

	put_row(&row, NULL);
	check_row(&row, NULL, 0);
}

static void
test_hostile_counts(void **state)
{
	static const uint64_t counts[] = { 8,
					   UINT32_MAX,
					   UINT64_MAX / 16 + 1,
					   UINT64_MAX / 8,
					   UINT64_MAX / 8 + 1,
					   UINT64_C(1) << 60,
					   UINT64_C(1) << 61,
					   UINT64_MAX };
	struct event_attr attr = attr_of(0, false);
	struct perf_record r;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		wire_begin(&wire, PERF_RECORD_NAMESPACES, 0);
		put_two_u32();
		wire_u64(&wire, counts[i]);
		for (unsigned n = 0; n < 14; n++)
			wire_u64(&wire, n);
		wire_end(&wire);
		assert_int_equal(wire_parse(wire.bytes, wire.len, &attr, &r), -FMT_E_TRUNCATED);

		wire_begin(&wire, 22, 0);
		wire_u64(&wire, 0);
		wire_u64(&wire, counts[i]);
		wire_u64(&wire, 0);
		wire_end(&wire);
		assert_int_equal(wire_parse(wire.bytes, wire.len, &attr, &r), -FMT_E_TRUNCATED);

		wire_begin(&wire, PERF_RECORD_READ, 0);
		put_two_u32();
		wire_u64(&wire, counts[i]);
		for (unsigned n = 0; n < 20; n++)
			wire_u64(&wire, n);
		wire_end(&wire);
		assert_int_equal(wire_parse(wire.bytes, wire.len, &attr, &r), -FMT_E_TRUNCATED);
	}
}

static void
test_text_poke_lengths(void **state)
{
	struct perf_record r;

	for (unsigned old_len = 0; old_len < 12; old_len++) {
		for (unsigned new_len = 0; new_len < 12; new_len++) {
			wire_begin(&wire, PERF_RECORD_TEXT_POKE, 0);
			wire_u64(&wire, 1);
			wire_u16(&wire, (uint16_t)old_len);
			wire_u16(&wire, (uint16_t)new_len);
			wire_bytes(&wire, path, old_len + new_len);
			wire_pad(&wire);
			wire_end(&wire);
			assert_int_equal(wire_parse(wire.bytes, wire.len, NULL, &r), 0);
			assert_int_equal(r.text_poke.old_bytes.len, old_len);
			assert_int_equal(r.text_poke.new_bytes.len, new_len);
			assert_int_equal(r.trailing.len, 0);
		}
	}
}

static void
test_header_sizes(void **state)
{
	struct perf_record r;

	put_row(&rows[1], NULL);
	for (unsigned size = 0; size < 64; size++) {
		wire_size(wire.bytes, (uint16_t)size);
		if (size == wire.len)
			assert_int_equal(wire_parse(wire.bytes, wire.len, NULL, &r), 0);
		else
			assert_int_equal(wire_parse(wire.bytes, wire.len, NULL, &r),
					 size > wire.len ? -FMT_E_TRUNCATED : -FMT_E_CORRUPT);
	}
}

static void
test_next(void **state)
{
	struct span s, record = { 0 };
	size_t len;

	put_row(&rows[1], NULL);
	len = wire.len;
	wire_bytes(&wire, wire.bytes, len);
	s = wire_guard(wire.bytes, wire.len);
	assert_int_equal(perf_record_next(&s, &record), 1);
	assert_int_equal(record.len, len);
	assert_int_equal(perf_record_next(&s, &record), 1);
	assert_int_equal(record.len, len);
	assert_int_equal(perf_record_next(&s, &record), 0);

	for (size_t n = 1; n < len; n++) {
		s = wire_guard(wire.bytes, n);
		assert_int_equal(perf_record_next(&s, &record), -FMT_E_CORRUPT);
		assert_int_equal(s.len, n);
	}
	for (unsigned size = 0; size < 64; size++) {
		wire_size(wire.bytes, (uint16_t)size);
		s = wire_guard(wire.bytes, len * 2);
		if (size >= 8 && size <= len * 2 && size % 8 == 0)
			assert_int_equal(perf_record_next(&s, &record), 1);
		else
			assert_int_equal(perf_record_next(&s, &record), -FMT_E_CORRUPT);
	}
}

static void
test_names(void **state)
{
	assert_string_equal(perf_record_type_name(PERF_RECORD_MMAP), "MMAP");
	assert_string_equal(perf_record_type_name(PERF_RECORD_SAMPLE), "SAMPLE");
	assert_string_equal(perf_record_type_name(PERF_RECORD_AUX_OUTPUT_HW_ID),
			    "AUX_OUTPUT_HW_ID");
	assert_string_equal(perf_record_type_name(22), "CALLCHAIN_DEFERRED");
	for (uint32_t type = 1; type < REC_KERNEL_MAX; type++)
		assert_non_null(perf_record_type_name(type));
	/* Every type is in the table above, but SAMPLE, which has its own test. */
	for (uint32_t type = 1, i = 0; type < REC_KERNEL_MAX; type++) {
		for (i = 0; i < NR_ROWS && rows[i].type != type; i++)
			continue;
		assert_true(i < NR_ROWS || type == REC_SAMPLE);
	}
}

static void
test_context_markers(void **state)
{
	assert_true(perf_context_marker(PERF_CONTEXT_HV));
	assert_true(perf_context_marker(PERF_CONTEXT_KERNEL));
	assert_true(perf_context_marker(PERF_CONTEXT_USER));
	assert_true(perf_context_marker((uint64_t)-640));
	assert_true(perf_context_marker(PERF_CONTEXT_GUEST));
	assert_true(perf_context_marker(PERF_CONTEXT_GUEST_KERNEL));
	assert_true(perf_context_marker(PERF_CONTEXT_GUEST_USER));
	assert_true(perf_context_marker(PERF_CONTEXT_MAX));
	assert_false(perf_context_marker((uint64_t)PERF_CONTEXT_MAX - 1));
	assert_false(perf_context_marker(0));
	assert_false(perf_context_marker(0xffffffff81000000));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_type_with_each_trailer),
		cmocka_unit_test(test_each_type_cut_everywhere),
		cmocka_unit_test(test_without_attr),
		cmocka_unit_test(test_trailing_is_carried),
		cmocka_unit_test(test_odd_padding_is_carried),
		cmocka_unit_test(test_unknown_types),
		cmocka_unit_test(test_header_too_long),
		cmocka_unit_test(test_string_without_nul),
		cmocka_unit_test(test_long_strings),
		cmocka_unit_test(test_empty_strings),
		cmocka_unit_test(test_build_id_sizes),
		cmocka_unit_test(test_build_id_bit_of_another),
		cmocka_unit_test(test_build_id_bit_on_mmap),
		cmocka_unit_test(test_hostile_counts),
		cmocka_unit_test(test_text_poke_lengths),
		cmocka_unit_test(test_header_sizes),
		cmocka_unit_test(test_next),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_context_markers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
