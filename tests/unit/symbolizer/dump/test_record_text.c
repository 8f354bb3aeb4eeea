/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dump/record_text.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "format/bytes/fmt_error.h"
#include "format/record/record_build.h"
#include "tests/lab/record_sample.h"

#define ALL (UINT64_C(1) << EVENT_ATTR_sample_id_all)
#define ID_BITS                                                                                    \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |             \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static const struct record_text_about nothing;

static const struct perf_sample_id sid = {
	.pid = 1234,
	.tid = 1235,
	.time = UINT64_C(5123000000123),
	.id = 77,
	.stream_id = 78,
	.cpu = 3,
};

/* Two lines, a terminal's escape sequence, its C1 form, bad UTF-8, DEL, a forged field. */
static const char hostile[] = "a\nb\033[2J\xc2\x9b\xff\x7f\" pid=1 \\x";
static const char escaped[] = "\"a\\012b\\033[2J\\302\\233\\377\\177\\042 pid=1 \\134x\"";

static char *
text_of(const struct perf_record *r, const struct record_text_about *about)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	record_text(f, r, about);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void
check_line(const char *text)
{
	const char *end = strchr(text, '\n');

	assert_non_null(end);
	assert_int_equal(end[1], 0);
	for (; text < end; text++)
		assert_uint_in_range((unsigned char)*text, 0x20, 0x7e);
}

/* JSON with the same fields, and that another parser reads back. */
static json_t *
json_of(const struct perf_record *r, const struct record_text_about *about)
{
	json_t *o = record_text_json(r, about), *again;
	json_error_t error;
	char *dumped;

	assert_non_null(o);
	dumped = json_dumps(o, JSON_ENSURE_ASCII | JSON_COMPACT);
	assert_non_null(dumped);
	/* A DEL passes jansson; terminals print nothing for it. */
	for (const char *p = dumped; *p; p++)
		assert_uint_in_range((unsigned char)*p, 0x20, 0x7f);
	again = json_loads(dumped, JSON_REJECT_DUPLICATES, &error);
	assert_non_null(again);
	assert_true(json_equal(o, again));
	json_decref(again);
	free(dumped);
	return o;
}

static void
check_fields_in_text(json_t *o, const char *text)
{
	const char *key;
	char with_equals[64];
	json_t *value;

	json_object_foreach(json_object_get(o, "fields"), key, value)
	{
		snprintf(with_equals, sizeof(with_equals), " %s=", key);
		if (!strstr(text, with_equals))
			fail_msg("no %s in: %s", key, text);
	}
}

/* A record of LOST, which nobody but the kernel makes. */
static void
build_lost(struct buf *b, const struct event_attr *attr, const struct perf_sample_id *of,
	   uint32_t id, uint64_t lost)
{
	const size_t start = b->len;

	/* The same but for its type. */
	assert_int_equal(record_build_read(b, attr, of, id, 0, span_of(&lost, sizeof(lost))), 0);
	le32enc(b->p + start, REC_LOST);
}

/* A record of nothing but these words. */
static void
build_words(struct buf *b, uint32_t type, const void *words, size_t bytes)
{
	buf_u32(b, type);
	buf_u16(b, 0);
	buf_u16(b, (uint16_t)(8 + bytes));
	buf_append(b, words, bytes);
}

/* Parses what is in b, and compares the line. */
static void
expect(struct buf *b, const struct event_attr *attr, const struct record_text_about *about,
       const char *line)
{
	struct perf_record r;
	char *text;
	json_t *o;

	assert_int_equal(perf_record_parse(buf_span(b), attr, &r), 0);
	text = text_of(&r, about);
	check_line(text);
	assert_string_equal(text, line);
	o = json_of(&r, about);
	check_fields_in_text(o, text);
	json_decref(o);
	free(text);
	buf_done(b);
}

static void
test_side_band(void **state)
{
	const struct event_attr attr = { .sample_type = ID_BITS, .flags = ALL };
	const struct record_text_about about = { .event = "dummy", .state = true };
	const uint64_t links[] = { 4, 4026531840, 4, 4026531838 };
	struct buf b = { 0 };

	record_build_comm(&b, &attr, &sid, 1, 2, "bash", PERF_RECORD_MISC_COMM_EXEC);
	expect(&b, &attr, &nothing,
	       "5123.000000123 3 1234/1235 COMM misc=exec size=72 id=77 stream_id=78 pid=1 tid=2 "
	       "comm=\"bash\"\n");
	record_build_fork(&b, NULL, NULL, 1, 2, 3, UINT32_MAX, 5, 0);
	expect(&b, NULL, &about,
	       "- - - FORK misc=0 size=32 event=\"dummy\" state=1 pid=1 ppid=2 tid=3 ptid=-1 "
	       "time=5\n");
	record_build_namespaces(&b, NULL, NULL, 1, 2, links, 2);
	expect(&b, NULL, &nothing,
	       "- - - NAMESPACES misc=0 size=56 pid=1 tid=2 "
	       "namespaces=[{ns=net dev=0x4 inode=4026531840} {ns=uts dev=0x4 inode=4026531838}]\n");
	build_lost(&b, NULL, NULL, 5, UINT64_MAX);
	expect(&b, NULL, &nothing,
	       "- - - LOST misc=0 size=24 lost_id=5 lost=18446744073709551615\n");
	record_build_ksymbol(&b, NULL, NULL, 0xffffffffc0000000, 16, 1, 1, "bpf_prog_x");
	expect(&b, NULL, &nothing,
	       "- - - KSYMBOL misc=0 size=40 addr=0xffffffffc0000000 len=0x10 ksym_type=BPF "
	       "flags=UNREGISTER name=\"bpf_prog_x\"\n");
	record_build_cgroup(&b, NULL, NULL, 5, "/a b");
	expect(&b, NULL, &nothing, "- - - CGROUP misc=0 size=24 cgroup_id=5 path=\"/a b\"\n");
}

static void
test_mmap2(void **state)
{
	struct perf_mmap m = { .pid = 1,
			       .tid = 2,
			       .addr = 0x1000,
			       .len = 0x2000,
			       .maj = 8,
			       .min = 1,
			       .ino = 99,
			       .prot = 5,
			       .flags = 2,
			       .pgoff = 4096,
			       .ino_generation = 11,
			       .filename = "/x" };
	const struct event_attr plain = { 0 };
	struct buf b = { 0 };

	record_build_mmap2(&b, NULL, NULL, &m, 2 | PERF_RECORD_MISC_MMAP_DATA);
	expect(&b, NULL, &nothing,
	       "- - - MMAP2 misc=user|mmap_data size=80 pid=1 tid=2 addr=0x1000 len=0x2000 "
	       "pgoff=0x1000 maj=8 min=1 ino=99 ino_generation=11 prot=0x5 flags=0x2 "
	       "filename=\"/x\"\n");
	/* Another recorder's bit, over what nobody asked to be a build-id. */
	record_build_mmap2(&b, &plain, NULL, &m, 2);
	b.p[5] |= PERF_RECORD_MISC_MMAP_BUILD_ID >> 8;
	expect(&b, &plain, &nothing,
	       "- - - MMAP2 misc=user|build_id size=80 pid=1 tid=2 addr=0x1000 len=0x2000 "
	       "pgoff=0x1000 maj=8 min=1 ino=99 ino_generation=11 prot=0x5 flags=0x2 "
	       "filename=\"/x\"\n");
	m.build_id = buildid_of(BUILDID_GNU, "\x01\xab\xff", 3);
	record_build_mmap2(&b, NULL, NULL, &m, 1);
	expect(&b, NULL, &nothing,
	       "- - - MMAP2 misc=kernel|build_id size=80 pid=1 tid=2 addr=0x1000 len=0x2000 "
	       "pgoff=0x1000 build_id=3:01abff prot=0x5 flags=0x2 filename=\"/x\"\n");
	record_build_mmap(&b, NULL, NULL, &m, 0x8000);
	expect(&b, NULL, &nothing,
	       "- - - MMAP misc=0x8000 size=48 pid=1 tid=2 addr=0x1000 len=0x2000 pgoff=0x1000 "
	       "filename=\"/x\"\n");
}

static void
test_sample(void **state)
{
	const uint64_t chain[] = { PERF_CONTEXT_KERNEL, 0xffffffff81000000,
				   PERF_CONTEXT_USER,	0x401000,
				   (uint64_t)-640,	9,
				   (uint64_t)-77 };
	const struct event_attr attr = { .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
						 PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
						 PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW };
	const struct record_text_about about = { .event = "cpu-clock" };
	struct perf_sample sample = { .have = attr.sample_type,
				      .ip = 0xffffffff81000000,
				      .period = 1001001,
				      .callchain = span_of(chain, sizeof(chain)),
				      .raw = span_of("\0\1\2\3", 4) };
	struct buf b = { 0 };

	record_sample_build(&b, &sid, &sample, 1 | PERF_RECORD_MISC_EXACT_IP);
	expect(&b, &attr, &about,
	       "5123.000000123 3 1234/1235 SAMPLE misc=kernel|exact_ip size=128 "
	       "event=\"cpu-clock\" id=77 ip=0xffffffff81000000 period=1001001 "
	       "callchain=[KERNEL 0xffffffff81000000 USER 0x401000 USER_DEFERRED 0x9 CONTEXT-77] "
	       "raw=4:00010203\n");
}

static void
test_registers(void **state)
{
	const uint64_t words[] = { 10, 11, 12 };
	const uint64_t stack[] = { 1, 2 };
	const struct event_attr attr = { .sample_type = PERF_SAMPLE_REGS_USER |
						 PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_STACK_USER,
					 .sample_regs_user = 1 | UINT64_C(1) << 33 |
						 UINT64_C(1) << 46,
					 .sample_regs_intr = 7 };
	const struct record_text_about x86 = { .arch = "x86_64" }, arm = { .arch = "aarch64" };
	struct perf_sample sample = {
		.have = attr.sample_type,
		.regs_user = { .abi = 2, .words = span_of(words, sizeof(words)) },
		.stack_user = span_of(stack, sizeof(stack)),
		.stack_user_dyn_size = 9,
	};
	struct buf b = { 0 };

	record_sample_build(&b, &sid, &sample, 2);
	expect(&b, &attr, &x86,
	       "- - - SAMPLE misc=user size=80 regs_user={abi=2 ax=0xa xmm0h=0xb xmm7=0xc} "
	       "stack_user=16:01000000000000000200000000000000 stack_user_dyn_size=9 "
	       "regs_intr={abi=0}\n");
	sample.stack_user.len = 0;
	record_sample_build(&b, &sid, &sample, 2);
	expect(&b, &attr, &arm,
	       "- - - SAMPLE misc=user size=56 regs_user={abi=2 x0=0xa r33=0xb vg=0xc} "
	       "stack_user=0: regs_intr={abi=0}\n");
	record_sample_build(&b, &sid, &sample, 2);
	expect(&b, &attr, &nothing,
	       "- - - SAMPLE misc=user size=56 regs_user={abi=2 r0=0xa r33=0xb r46=0xc} "
	       "stack_user=0: regs_intr={abi=0}\n");
}

static void
test_hardware(void **state)
{
	const uint64_t entries[] = { 0x10, 0x20, 2 | 5 << 4 | 3 << 20, 0x30, 0x40, 0 };
	const uint64_t counters[] = { 0x1f, 0 };
	const struct event_attr attr = {
		.sample_type = PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT_STRUCT |
			PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_AUX,
		.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | UINT64_C(1) << 19,
	};
	struct perf_sample sample = {
		.have = attr.sample_type,
		.weight = 7 | UINT64_C(8) << 32 | UINT64_C(9) << 48,
		.data_src = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, L1) |
			UINT64_C(9) << 46, /* mem_region */
		.transaction = PERF_TXN_RETRY | UINT64_C(6) << 32,
		.aux = span_of("ABCDEFGH", 8),
	};
	struct buf b = { 0 };

	sample.branch.nr = 2;
	sample.branch.has_hw_idx = true;
	sample.branch.hw_idx = UINT64_MAX;
	sample.branch.entries = span_of(entries, sizeof(entries));
	sample.branch.counters = span_of(counters, sizeof(counters));
	record_sample_build(&b, &sid, &sample, 2);
	expect(&b, &attr, &nothing,
	       "- - - SAMPLE misc=user size=128 branch_stack={nr=2 hw_idx=0xffffffffffffffff "
	       "entries=[{from=0x10 to=0x20 flags=0x300052 predicted=1 cycles=5 type=IND "
	       "counters=0x1f} {from=0x30 to=0x40 flags=0x0 counters=0x0}]} "
	       "weight={var1=7 var2=8 var3=9} data_src={value=0x2400000000102 op=\"LOAD\" "
	       "lvl=\"L1\" snoop=\"N/A\" tlb=\"N/A\" lock=\"No\" blk=\"N/A\" "
	       "region=\"Memory region 1\"} "
	       "transaction={value=0x600000010 retry=1 abort=6} aux=8:4142434445464748\n");
}

/* Numbers of the kernel have its names, also where two numbers make one name, and new ones are told. */
static void
test_words(void **state)
{
	const uint64_t entries[] = {
		0x10, 0x20, UINT64_C(15) << 20 | 1 << 24 | UINT64_C(2) << 30, /* a new type, 0 */
		0x30, 0x40, UINT64_C(15) << 20 | 3 << 24 | UINT64_C(9) << 26 | UINT64_C(7) << 30,
	};
	const struct event_attr attr = { .sample_type = PERF_SAMPLE_BRANCH_STACK };
	const uint64_t aux[] = { 0x1000, 0x20, 0x5 | 0x100 }, bpf[] = { 2 | UINT64_C(7) << 32, 0 };
	struct perf_sample sample = { .have = attr.sample_type, .branch.nr = 2 };
	struct buf b = { 0 };

	sample.branch.entries = span_of(entries, sizeof(entries));
	record_sample_build(&b, &sid, &sample, 2);
	expect(&b, &attr, &nothing,
	       "- - - SAMPLE misc=user size=64 branch_stack={nr=2 entries=["
	       "{from=0x10 to=0x20 flags=0x81f00000 type=EXTEND_ABI spec=SPEC_WRONG_PATH "
	       "priv=KERNEL new_type=FAULT_ALGN} "
	       "{from=0x30 to=0x40 flags=0x1e7f00000 type=EXTEND_ABI spec=SPEC_CORRECT_PATH "
	       "new_type=9 priv=7}]}\n");
	build_words(&b, REC_AUX, aux, sizeof(aux));
	expect(&b, NULL, &nothing,
	       "- - - AUX misc=0 size=32 aux_offset=0x1000 aux_size=0x20 "
	       "flags=TRUNCATED|PARTIAL|0x100\n");
	build_words(&b, REC_BPF_EVENT, bpf, sizeof(bpf));
	expect(&b, NULL, &nothing,
	       "- - - BPF_EVENT misc=0 size=24 bpf_type=PROG_UNLOAD flags=0x0 prog_id=7 "
	       "tag=8:0000000000000000\n");
	record_build_ksymbol(&b, NULL, NULL, 0xffffffffc0000000, 16, 9, 6, "x");
	expect(&b, NULL, &nothing,
	       "- - - KSYMBOL misc=0 size=32 addr=0xffffffffc0000000 len=0x10 ksym_type=9 "
	       "flags=0x6 name=\"x\"\n");
}

static void
test_read_formats(void **state)
{
	struct event_attr attr = { .sample_type = PERF_SAMPLE_READ };
	const struct record_text_about about = { 0 };

	for (uint64_t f = 0; f < 32; f++) {
		uint64_t words[16] = { 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
		struct span s = span_of(words, sizeof(words));
		struct perf_sample sample = { .have = PERF_SAMPLE_READ };
		struct buf b = { 0 };
		struct perf_record r;
		char *text;

		assert_int_equal(perf_read_parse(&s, f, &sample.read), 0);
		attr.read_format = f;
		assert_int_equal(record_sample_build(&b, &sid, &sample, 0), 0);
		assert_int_equal(perf_record_parse(buf_span(&b), &attr, &r), 0);
		text = text_of(&r, &about);
		check_line(text);
		assert_int_equal(strstr(text, "time_enabled=") != NULL,
				 (f & PERF_FORMAT_TOTAL_TIME_ENABLED) != 0);
		assert_int_equal(strstr(text, "time_running=") != NULL,
				 (f & PERF_FORMAT_TOTAL_TIME_RUNNING) != 0);
		assert_int_equal(strstr(text, " id=") != NULL, (f & PERF_FORMAT_ID) != 0);
		assert_int_equal(strstr(text, "lost=") != NULL, (f & PERF_FORMAT_LOST) != 0);
		json_decref(json_of(&r, &about));
		free(text);
		buf_done(&b);
	}
}

/* No name, and no event's name, gets out as it is. */
static void
test_hostile_strings(void **state)
{
	const struct record_text_about about = { .event = hostile };
	const struct perf_mmap m = { .filename = hostile };
	struct buf b[5] = { { 0 } };

	record_build_comm(&b[0], NULL, NULL, 1, 2, hostile, 0);
	record_build_mmap(&b[1], NULL, NULL, &m, 0);
	record_build_mmap2(&b[2], NULL, NULL, &m, 0);
	record_build_cgroup(&b[3], NULL, NULL, 1, hostile);
	record_build_ksymbol(&b[4], NULL, NULL, 1, 2, 3, 4, hostile);
	for (unsigned i = 0; i < 5; i++) {
		struct perf_record r;
		const char *first, *last;
		char *text;

		assert_int_equal(perf_record_parse(buf_span(&b[i]), NULL, &r), 0);
		text = text_of(&r, &about);
		check_line(text);
		first = strstr(text, escaped);
		assert_non_null(first);
		last = strstr(first + 1, escaped);
		assert_non_null(last);
		json_decref(json_of(&r, &about));
		free(text);
		buf_done(&b[i]);
	}
}

/* Each type with bytes of every kind in all its fields. */
static void
test_every_type_of_noise(void **state)
{
	const struct event_attr attr = { .sample_type = (1u << 25) - 1,
					 .flags = ALL,
					 .read_format = 7,
					 .branch_sample_type = 1 << 17 };
	struct record_text_about about = { .arch = "x86_64" };
	uint32_t seed = 7;
	unsigned parsed = 0;

	for (unsigned i = 0; i < 200000; i++) {
		uint8_t bytes[512];
		const size_t n = 8 + seed / 7 % 63 * 8;
		struct perf_record r;
		char *text;

		for (size_t k = 0; k < n; k++) {
			seed = seed * 1664525u + 1013904223u;
			bytes[k] = seed >> 28 ? (uint8_t)(seed >> 20) : 0;
			if (i & 1 && k % 8 != 0)
				bytes[k] = 0;
		}
		le32enc(bytes, i % 26);
		le16enc(bytes + 4, (uint16_t)(seed >> 8));
		le16enc(bytes + 6, (uint16_t)n);
		if (perf_record_parse(span_of(bytes, n), i & 2 ? &attr : NULL, &r) < 0)
			continue;
		parsed++;
		if (parsed % 8)
			continue;
		text = text_of(&r, &about);
		check_line(text);
		json_decref(json_of(&r, &about));
		free(text);
	}
	assert_true(parsed > 1000);
}

static void
test_unknown_type(void **state)
{
	const uint8_t record[16] = { 40, 0, 0, 0, 0xff, 0xff, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8 };
	struct buf b = { 0 };

	buf_append(&b, record, sizeof(record));
	expect(&b, NULL, &nothing,
	       "- - - TYPE_40 misc=cpumode_7|0xfff8 size=16 trailing=8:0102030405060708\n");
}

static void
test_bad(void **state)
{
	const uint8_t record[12] = { 3, 0, 0, 0, 0, 0x20, 16, 0, 1, 2, 3, 27 };

	for (size_t n = 0; n <= sizeof(record); n++) {
		char *text = NULL;
		size_t size = 0;
		FILE *f = open_memstream(&text, &size);
		json_t *o = record_text_bad_json(span_of(record, n), "\033");

		record_text_bad(f, span_of(record, n), "ends in the middle");
		fclose(f);
		check_line(text);
		if (n == sizeof(record))
			assert_string_equal(
				text,
				"- - - BAD error=\"ends in the middle\" bad_type=COMM "
				"misc=exec size=16 bytes=12:03000000002010000102031b\n");
		assert_non_null(o);
		assert_string_equal(json_string_value(json_object_get(o, "type")), "BAD");
		json_decref(o);
		free(text);
	}
}

static void
test_json(void **state)
{
	const struct event_attr attr = { .sample_type = ID_BITS, .flags = ALL };
	const struct record_text_about about = { .event = "dummy" };
	struct buf b = { 0 };
	struct perf_record r;
	json_t *o, *want;

	build_lost(&b, &attr, &sid, 5, UINT64_MAX);
	assert_int_equal(perf_record_parse(buf_span(&b), &attr, &r), 0);
	o = json_of(&r, &about);
	want = json_pack("{s:s, s:I, s:i, s:i, s:i, s:s, s:i, s:s, s:i, s:i, s:{s:i, s:s}}", "type",
			 "LOST", "time", (json_int_t)5123000000123, "cpu", 3, "pid", 1234, "tid",
			 1235, "misc", "0", "size", 72, "event", "dummy", "id", 77, "stream_id", 78,
			 "fields", "lost_id", 5, "lost", "18446744073709551615");
	assert_non_null(want);
	assert_true(json_equal(o, want));
	json_decref(want);
	json_decref(o);
	buf_done(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_side_band),
		cmocka_unit_test(test_mmap2),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_hardware),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_read_formats),
		cmocka_unit_test(test_hostile_strings),
		cmocka_unit_test(test_every_type_of_noise),
		cmocka_unit_test(test_unknown_type),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
