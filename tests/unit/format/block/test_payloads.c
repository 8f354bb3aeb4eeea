/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block/loss.h"
/* The payloads of the small blocks: LOSS, KSYMS, BUILDIDS, GAP, RATE; and of AUX. */

#include <stdio.h>
#include <string.h>

#include "format/block/aux_trace.h"
#include "format/block/buildids.h"
#include "format/block/gap.h"
#include "format/block/jitsyms.h"
#include "format/block/ksyms.h"
#include "format/block/rate.h"
#include "format/block/unwind_text.h"
#include "format/block/recording_parts.h"
#include "format/bytes/fmt_error.h"
#include "format/record/perf_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void
test_accounts(void **state)
{
	struct loss *l = loss_new();
	uint32_t cpu;

	assert_int_equal(loss_samples(l), 0);
	assert_int_equal(loss_cpu_at(l, 0, &cpu), -1);
	assert_int_equal(loss_add(l, 3, LOSS_KERNEL_SAMPLES, 10), 0);
	assert_int_equal(loss_add(l, 3, LOSS_KERNEL_SAMPLES, 5), 0);
	assert_int_equal(loss_add(l, UINT32_MAX, LOSS_STALL, 1000), 0);
	assert_int_equal(loss_set(l, 0, LOSS_LOST_SAMPLES, 7), 0);
	assert_int_equal(loss_set(l, 0, LOSS_LOST_SAMPLES, 2), 0);
	assert_int_equal(loss_get(l, 3, LOSS_KERNEL_SAMPLES), 15);
	assert_int_equal(loss_get(l, 0, LOSS_LOST_SAMPLES), 7);
	assert_int_equal(loss_get(l, 99, LOSS_STALL), 0);
	assert_int_equal(loss_total(l, LOSS_STALL), 1000);
	assert_int_equal(loss_samples(l), 22);
	assert_int_equal(loss_cpu_at(l, 0, &cpu), 0);
	assert_int_equal(cpu, 0);
	assert_int_equal(loss_cpu_at(l, 1, &cpu), 0);
	assert_int_equal(cpu, 3);
	assert_int_equal(loss_cpu_at(l, 2, &cpu), 0);
	assert_int_equal(cpu, UINT32_MAX);
	assert_int_equal(loss_cpu_at(l, 3, &cpu), -1);
	assert_int_equal(loss_add(l, UINT32_MAX - 1, LOSS_STALL, 1), -FMT_E_TOO_BIG);
	assert_int_equal(loss_add(l, 0, LOSS_CAUSES, 1), -FMT_E_UNSUPPORTED);
	for (int cause = 0; cause < LOSS_CAUSES; cause++) {
		assert_non_null(loss_key(cause));
		assert_non_null(loss_unit(cause));
		assert_non_null(loss_text(cause));
	}
	assert_null(loss_key(LOSS_CAUSES));
	loss_free(l);
	loss_free(NULL);
}

static void
test_payload(void **state)
{
	struct loss *l = loss_new(), *back = loss_new();
	struct buf b;

	buf_init(&b);
	loss_add(l, 2, LOSS_THROTTLED, 4);
	loss_add(l, UINT32_MAX, LOSS_DISK_FULL, UINT64_MAX);
	loss_encode(l, &b);
	assert_int_equal(b.len, 4 + 2 * 16);
	assert_int_equal(loss_decode(back, buf_span(&b)), 0);
	assert_int_equal(loss_decode(back, buf_span(&b)), 0); /* cumulative: not added twice */
	assert_int_equal(loss_get(back, 2, LOSS_THROTTLED), 4);
	assert_int_equal(loss_total(back, LOSS_DISK_FULL), UINT64_MAX);
	for (size_t n = 0; n < b.len; n++)
		assert_int_equal(loss_decode(back, span_of(b.p, n)), -FMT_E_CORRUPT);
	le32enc(b.p + 8, 1000); /* a cause of the future */
	assert_int_equal(loss_decode(back, buf_span(&b)), 0);
	le32enc(b.p + 8, LOSS_STALL);
	le32enc(b.p + 4, 1u << 30); /* CPUs that nobody has must not cost memory */
	assert_int_equal(loss_decode(back, buf_span(&b)), -FMT_E_TOO_BIG);
	loss_free(l);
	loss_free(back);
	buf_done(&b);
}

static void
test_ksyms(void **state)
{
	struct ksym k;
	size_t cursor = 0;
	struct buf b;

	buf_init(&b);
	ksyms_begin(&b);
	assert_int_equal(ksyms_next(buf_span(&b), &cursor, &k), 0);
	ksyms_add(&b, 0xffffffff81000000, 0xffffffff81000040, "", "startup_64");
	ksyms_add(&b, 0xffffffffc0000000, UINT64_MAX, "ext4", "ext4_read");
	assert_int_equal(le32dec(b.p), 2);
	assert_int_equal(ksyms_next(buf_span(&b), &cursor, &k), 1);
	assert_int_equal(k.end - k.start, 0x40);
	assert_int_equal(k.module_len, 0);
	assert_int_equal(k.name_len, 10);
	assert_memory_equal(k.name, "startup_64", 10);
	assert_int_equal(ksyms_next(buf_span(&b), &cursor, &k), 1);
	assert_memory_equal(k.module, "ext4", k.module_len);
	assert_int_equal(ksyms_next(buf_span(&b), &cursor, &k), 0);
	for (size_t n = 0; n < b.len; n++) {
		int result, found = 0;

		cursor = 0;
		while ((result = ksyms_next(span_of(b.p, n), &cursor, &k)) > 0)
			found++;
		assert_true(found < 2);
		assert_true(result == -FMT_E_CORRUPT || n == 8 || n == 8 + 16 + 4 + 4 + 10);
	}
	buf_done(&b);
}

static void
test_jitsyms(void **state)
{
	const struct jitsym in[] = {
		{ 7, 0, 0, 40, 0x7f0000001000, 0x40, "LazyCompile:*fib /x.js:1", 24 },
		{ 7, 5, 900, 41, 0x7f0000001000, UINT64_MAX - 0x7f0000001000, "", 0 },
	};
	struct jitsym k;
	size_t cursor = 0;
	struct buf b;

	buf_init(&b);
	jitsyms_begin(&b);
	assert_int_equal(jitsyms_next(buf_span(&b), &cursor, &k), 0);
	for (int i = 0; i < 2; i++)
		jitsyms_add(&b, &in[i]);
	assert_int_equal(le32dec(b.p), 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(jitsyms_next(buf_span(&b), &cursor, &k), 1);
		assert_int_equal(k.pid, in[i].pid);
		assert_int_equal(k.began_ns, in[i].began_ns);
		assert_int_equal(k.time_ns, in[i].time_ns);
		assert_int_equal(k.order, in[i].order);
		assert_int_equal(k.start, in[i].start);
		assert_int_equal(k.size, in[i].size);
		assert_int_equal(k.name_len, in[i].name_len);
		assert_memory_equal(k.name, in[i].name, k.name_len);
	}
	assert_int_equal(jitsyms_next(buf_span(&b), &cursor, &k), 0);
	for (size_t n = 0; n < b.len; n++) {
		int result, found = 0;

		cursor = 0;
		while ((result = jitsyms_next(span_of(b.p, n), &cursor, &k)) > 0)
			found++;
		assert_true(found < 2);
		assert_int_equal(result, n == 8 || n == 8 + 52 + 24 ? 0 : -FMT_E_CORRUPT);
	}
	/* Ranges that are empty or wrap are nobody's, nor is a name longer than any is kept. */
	for (int i = 0; i < 3; i++) {
		const char name[PERF_RECORD_STRING_MAX] = { 0 };
		struct jitsym bad = in[0];

		if (i == 0)
			bad.size = 0;
		if (i == 1)
			bad.size = UINT64_MAX;
		bad.name = name;
		bad.name_len = i == 2 ? sizeof(name) : 1;
		cursor = 0;
		jitsyms_begin(&b);
		jitsyms_add(&b, &bad);
		assert_int_equal(jitsyms_next(buf_span(&b), &cursor, &k), -FMT_E_CORRUPT);
	}
	buf_done(&b);
}

static void
test_buildids(void **state)
{
	struct buildid_entry e = { .maj = 8,
				   .min = 1,
				   .ino = 77,
				   .ino_generation = 3,
				   .id = { .size = 20 },
				   .path = "/bin/true",
				   .path_len = 9 },
			     back;
	size_t cursor = 0;
	struct buf b;

	buf_init(&b);
	memset(e.id.bytes, 0xab, sizeof(e.id.bytes));
	buildids_begin(&b);
	buildids_add(&b, &e);
	e.id = buildid_of(BUILDID_SURROGATE, e.id.bytes, 8);
	e.path_len = 0;
	buildids_add(&b, &e);
	assert_int_equal(le32dec(b.p), 2);
	assert_int_equal(buildids_next(buf_span(&b), &cursor, &back), 1);
	assert_int_equal(back.ino, 77);
	assert_int_equal(back.id.size, 20);
	assert_int_equal(back.id.kind, BUILDID_GNU);
	assert_int_equal(back.id.bytes[19], 0xab);
	assert_memory_equal(back.path, "/bin/true", back.path_len);
	assert_int_equal(buildids_next(buf_span(&b), &cursor, &back), 1);
	assert_int_equal(buildid_cmp(&back.id, &e.id), 0);
	assert_int_equal(back.id.bytes[8], 0);
	assert_int_equal(buildids_next(buf_span(&b), &cursor, &back), 0);
	b.p[8 + 24] = 21; /* longer than its place */
	cursor = 0;
	assert_int_equal(buildids_next(buf_span(&b), &cursor, &back), -FMT_E_CORRUPT);
	buf_done(&b);
}

static void
test_gaps(void **state)
{
	const struct gap cpu = { LOSS_CPU_OFFLINE, 1, 100, 0, 0 },
			 all = { LOSS_DISK_FULL, GAP_CPU_ALL, 150, 170, 12 },
			 ended = { LOSS_CPU_OFFLINE, 1, 100, 200, 3 };
	struct gap_list list = { 0 };
	size_t cursor = 0;
	struct gap back;
	struct buf b;

	buf_init(&b);
	gap_begin(&b);
	gap_add(&b, &cpu);
	gap_add(&b, &all);
	gap_add(&b, &ended);
	assert_int_equal(b.len, 8 + 3 * GAP_ENTRY_BYTES);
	assert_int_equal(gap_next(buf_span(&b), &cursor, &back), 1);
	assert_memory_equal(&back, &cpu, sizeof(cpu));
	assert_int_equal(gap_list_add(&list, buf_span(&b)), 0);
	/* What ended is the gap that began, now better known. */
	assert_int_equal(list.nr, 2);
	assert_memory_equal(&list.gaps[0], &ended, sizeof(ended));
	assert_memory_equal(&list.gaps[1], &all, sizeof(all));
	for (int i = 0; i < GAP_LIST_MAX; i++) {
		back.from_ns = 1000 + (uint64_t)i;
		gap_begin(&b);
		gap_add(&b, &back);
		assert_int_equal(gap_list_add(&list, buf_span(&b)), 0);
	}
	assert_int_equal(list.nr, GAP_LIST_MAX);
	assert_int_equal(list.more, 2);
	gap_list_done(&list);
	le32enc(b.p, 2); /* more than there are */
	cursor = 1;
	assert_int_equal(gap_next(buf_span(&b), &cursor, &back), -FMT_E_CORRUPT);
	le32enc(b.p, UINT32_MAX);
	cursor = UINT32_MAX - 1;
	assert_int_equal(gap_next(buf_span(&b), &cursor, &back), -FMT_E_CORRUPT);
	le32enc(b.p + 4, 8);
	cursor = 0;
	assert_int_equal(gap_next(buf_span(&b), &cursor, &back), -FMT_E_CORRUPT);
	buf_done(&b);
}

static void
test_rates(void **state)
{
	const struct rate slower = { 100, 999, 50, RATE_LIMIT }, later = { 200, 20, 20, 77 };
	struct rate_list list = { 0 };
	struct buf b, longer;

	buf_init(&b);
	buf_init(&longer);
	rate_begin(&b);
	rate_add(&b, &slower);
	rate_add(&b, &later);
	assert_int_equal(rate_list_add(&list, buf_span(&b)), 0);
	assert_int_equal(list.nr, 2);
	assert_memory_equal(&list.rates[0], &slower, 28);
	assert_string_equal(rate_reason_key(slower.reason), "limit");
	assert_string_equal(rate_reason_key(later.reason), "unknown");
	/* Entries of a later version are longer. */
	buf_u32(&longer, 1);
	buf_u32(&longer, RATE_ENTRY_BYTES + 8);
	buf_append(&longer, b.p + 8, RATE_ENTRY_BYTES);
	buf_u64(&longer, 1);
	assert_int_equal(rate_list_add(&list, buf_span(&longer)), 0);
	assert_int_equal(list.nr, 3);
	assert_memory_equal(&list.rates[2], &slower, 28);
	rate_list_done(&list);
	buf_done(&longer);
	buf_done(&b);
}

static void
test_stops(void **state)
{
	struct unwind_stops s = { .stacks = { [UNWIND_END] = 900, [UNWIND_BUSY] = 3 },
				  .frames = 12345 };
	struct unwind_stops sum = { .stacks = { [UNWIND_END] = 100, [UNWIND_CUT] = 7 } }, since;
	struct buf b;

	buf_init(&b);
	unwind_stops_encode(&s, &b);
	assert_int_equal(unwind_stops_decode(&sum, buf_span(&b)), 0);
	assert_int_equal(sum.stacks[UNWIND_END], 1000);
	assert_int_equal(sum.stacks[UNWIND_CUT], 7);
	assert_int_equal(sum.stacks[UNWIND_BUSY], 3);
	assert_int_equal(sum.frames, 12345);
	assert_int_equal(unwind_stops_all(&sum), 1010);
	since = unwind_stops_since(&sum, &s);
	assert_int_equal(unwind_stops_all(&since), 107);
	/* A stop of a later version is left out, and what does not fit. */
	le32enc(b.p + 16, 99);
	le64enc(b.p + 40, UINT64_MAX);
	assert_int_equal(unwind_stops_decode(&sum, buf_span(&b)), 0);
	assert_int_equal(unwind_stops_all(&sum), 1010);
	for (size_t cut = 0; cut < b.len; cut++)
		assert_int_equal(unwind_stops_decode(&sum, span_of(b.p, cut)), -FMT_E_CORRUPT);
	buf_done(&b);
}

static uint64_t
stacks_in(const struct unwind_stops *s, enum unwind_stop stop, const char *object)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < UNWIND_PLACES_MAX; i++)
		if (s->places[i].stacks && s->places[i].stop == stop &&
		    strcmp(s->places[i].object, object) == 0)
			sum += s->places[i].stacks;
	return sum;
}

static void
test_stop_places(void **state)
{
	struct unwind_stops s = { .stacks = { [UNWIND_NO_CFI] = 9, [UNWIND_SHORT] = 9 } };
	struct unwind_stops sum = { 0 }, before, since;
	struct buf b;

	buf_init(&b);
	for (int i = 0; i < 3; i++)
		unwind_stops_place(&s, UNWIND_NO_CFI, "/usr/lib/libfoo.so");
	unwind_stops_place(&s, UNWIND_NO_CFI, "/opt/libfoo.so");
	unwind_stops_place(&s, UNWIND_SHORT, "/usr/lib/libfoo.so");
	unwind_stops_place(&s, UNWIND_SHORT, "//anon");
	unwind_stops_place(&s, UNWIND_SHORT, "/tmp/a\033[31m b\377");
	unwind_stops_encode(&s, &b);
	for (int i = 1; i <= 2; i++) {
		assert_int_equal(unwind_stops_decode(&sum, buf_span(&b)), 0);
		assert_int_equal(stacks_in(&sum, UNWIND_NO_CFI, "libfoo.so"), 4 * i);
		assert_int_equal(stacks_in(&sum, UNWIND_SHORT, "libfoo.so"), i);
		assert_int_equal(stacks_in(&sum, UNWIND_SHORT, "//anon"), i);
		assert_int_equal(stacks_in(&sum, UNWIND_SHORT, "a?[31m?b?"), i);
	}
	before = s;
	unwind_stops_place(&s, UNWIND_NO_CFI, "libfoo.so");
	unwind_stops_place(&s, UNWIND_BAD_CFI, "new");
	since = unwind_stops_since(&s, &before);
	assert_int_equal(stacks_in(&since, UNWIND_NO_CFI, "libfoo.so"), 1);
	assert_int_equal(stacks_in(&since, UNWIND_SHORT, "libfoo.so"), 0);
	assert_int_equal(stacks_in(&since, UNWIND_BAD_CFI, "new"), 1);
	for (size_t cut = 1; cut < 8 + 4 * UNWIND_PLACE_BYTES; cut++)
		assert_int_equal(unwind_stops_decode(&sum, span_of(b.p, b.len - cut)),
				 -FMT_E_CORRUPT);
	/* Written by hand: more than there are of the stop, a stop of a later version, a name that could do harm. */
	sum = (struct unwind_stops){ 0 };
	le64enc(b.p + b.len - 4 * UNWIND_PLACE_BYTES + 8, 10);
	le32enc(b.p + b.len - 3 * UNWIND_PLACE_BYTES, 99);
	memcpy(b.p + b.len - UNWIND_OBJECT_BYTES, "\033]0;x\a", 7);
	assert_int_equal(unwind_stops_decode(&sum, buf_span(&b)), 0);
	assert_int_equal(stacks_in(&sum, UNWIND_NO_CFI, "libfoo.so"), 0);
	assert_int_equal(stacks_in(&sum, UNWIND_SHORT, "libfoo.so"), 0);
	assert_int_equal(stacks_in(&sum, UNWIND_SHORT, "?]0;x?"), 1);
	buf_done(&b);
}

/* Those with most of them stay, whatever comes beside. */
static void
test_many_places(void **state)
{
	struct unwind_stops s = { .stacks = { [UNWIND_SHORT] = 1000000 } }, sum = { 0 };
	char path[32];
	struct buf b;

	for (int i = 0; i < 3000; i++) {
		snprintf(path, sizeof(path), "/rare/%d", i);
		unwind_stops_place(&s, UNWIND_SHORT, path);
		unwind_stops_place(&s, UNWIND_SHORT, "/lib/often");
	}
	assert_int_equal(stacks_in(&s, UNWIND_SHORT, "often"), 3000);
	sum.stacks[UNWIND_SHORT] = 5000;
	for (int i = 0; i < UNWIND_PLACES_MAX; i++)
		snprintf(sum.places[i].object, UNWIND_OBJECT_BYTES, "old%d", i);
	for (int i = 0; i < UNWIND_PLACES_MAX; i++) {
		sum.places[i].stop = UNWIND_SHORT;
		sum.places[i].stacks = 100 + (uint64_t)i;
	}
	buf_init(&b);
	unwind_stops_encode(&s, &b);
	assert_int_equal(unwind_stops_decode(&sum, buf_span(&b)), 0);
	assert_int_equal(stacks_in(&sum, UNWIND_SHORT, "often"), 3000);
	assert_int_equal(stacks_in(&sum, UNWIND_SHORT, "old0"), 0);
	assert_int_equal(stacks_in(&sum, UNWIND_SHORT, "old1"), 101);
	buf_done(&b);
}

static void
assert_words(const struct unwind_stops *s, const char *want)
{
	char text[UNWIND_TEXT_MAX];

	assert_true(unwind_text(s, text));
	assert_string_equal(text, want);
}

/* Shares are rounded, but what is not all is not 100 %, and what is some is not 0. */
static void
test_stops_words(void **state)
{
	struct unwind_stops s = { .stacks = { 0 } };
	char text[UNWIND_TEXT_MAX];

	assert_false(unwind_text(&s, text));
	assert_false(unwind_text_matters(&s));
	s.stacks[UNWIND_END] = 1;
	assert_words(&s, "100 % of 1 copied stack is whole");
	s.stacks[UNWIND_END] = 99999;
	s.stacks[UNWIND_LIMIT] = 1;
	assert_words(&s,
		     "99.9 % of 100000 copied stacks are whole; <0.1 % end at the limit of frames");
	s.stacks[UNWIND_END] = 0;
	s.stacks[UNWIND_CUT] = 1;
	s.cut_bytes = 100;
	assert_words(
		&s,
		"0 % of 2 copied stacks are whole; 50.0 % end at the copied 100 bytes (dwarf,BYTES and "
		"auto,BYTES of --call-graph copy more), 50.0 % end at the limit of frames");
	assert_true(unwind_text_matters(&s));
	/* Where there was no stack, none is counted. */
	s = (struct unwind_stops){ .stacks = { [UNWIND_END] = 3, [UNWIND_FREED] = 5 } };
	assert_words(
		&s,
		"100 % of 3 copied stacks are whole; 5 more were in execve(2) or exit(2), which had freed the stack");
	assert_false(unwind_text_matters(&s));
	/* The two objects with most of a stop. */
	s = (struct unwind_stops){ .stacks = { [UNWIND_END] = 990, [UNWIND_LIMIT] = 10 } };
	for (int i = 0; i < 9; i++)
		unwind_stops_place(&s, UNWIND_LIMIT,
				   i < 2	   ? "/lib/a.so"
					   : i < 3 ? "/lib/b.so"
						   : "/lib/c.so");
	assert_words(&s,
		     "99.0 % of 1000 copied stacks are whole; 1.0 % end at the limit of frames "
		     "(0.6 % in c.so, 0.2 % in a.so)");
	s.stacks[UNWIND_FREED] = 5;
	/* All that may be said of stacks has room. */
	for (size_t i = 0; i < UNWIND_STOPS_NR; i++)
		s.stacks[i] = UINT64_MAX / UNWIND_STOPS_NR;
	s.cut_bytes = UINT32_MAX;
	for (size_t i = 0; i < UNWIND_PLACES_MAX; i++) {
		s.places[i] =
			(struct unwind_place){ .stop = (enum unwind_stop)(i / 2), .stacks = 1 };
		memset(s.places[i].object, 'a' + (int)i, UNWIND_OBJECT_BYTES - 1);
	}
	assert_true(unwind_text(&s, text));
	assert_true(strlen(text) < UNWIND_TEXT_MAX - 1);
	assert_non_null(strstr(text, "nothing is known)"));
	assert_non_null(strstr(text, "had freed the stack"));
}

static void
check_piece(struct span *s, uint32_t ring, uint64_t offset, const char *text, size_t n)
{
	struct aux_piece p;

	assert_int_equal(aux_trace_next(s, &p), 1);
	assert_int_equal(p.ring, ring);
	assert_int_equal(p.cpu, ring + 1);
	assert_int_equal(p.tid, AUX_TRACE_ANY);
	assert_int_equal(p.flags, AUX_PIECE_SNAPSHOT);
	assert_int_equal(p.offset, offset);
	assert_int_equal(p.bytes.len, n);
	assert_memory_equal(p.bytes.p, text, n);
}

static void
put_piece(struct buf *b, uint32_t ring, uint64_t offset, const char *text, size_t n)
{
	aux_trace_add(b,
		      &(struct aux_piece){ .ring = ring,
					   .cpu = ring + 1,
					   .tid = AUX_TRACE_ANY,
					   .flags = AUX_PIECE_SNAPSHOT,
					   .offset = offset,
					   .bytes = span_of(text, n) });
}

/* Whole and cut at each byte; with lengths and counts that are not so. */
static void
test_aux(void **state)
{
	const struct aux_trace about = { AUX_TRACER_INTEL_PT, 10, 341, UINT64_MAX - 5,
					 span_of("word 1..word 2..", 16) };
	size_t pieces[3], at = 0;
	struct aux_piece piece;
	struct aux_trace back;
	struct span s;
	struct buf b;

	buf_init(&b);
	aux_trace_begin(&b, &about);
	pieces[0] = b.len;
	put_piece(&b, 7, 1000, "twelve bytes", 12);
	pieces[1] = b.len;
	put_piece(&b, 0, 0, "", 0);
	pieces[2] = b.len;
	assert_int_equal(b.len, 24 + 16 + 32 + 16 + 32);
	s = buf_span(&b);
	assert_int_equal(aux_trace_read(&s, &back), 0);
	assert_int_equal(back.tracer, AUX_TRACER_INTEL_PT);
	assert_int_equal(back.time_shift, 10);
	assert_int_equal(back.time_mult, 341);
	assert_int_equal(back.time_zero, UINT64_MAX - 5);
	assert_int_equal(back.words.len, 16);
	assert_memory_equal(back.words.p, "word 1..word 2..", 16);
	check_piece(&s, 7, 1000, "twelve bytes", 12);
	check_piece(&s, 0, 0, "", 0);
	assert_int_equal(aux_trace_next(&s, &piece), 0);
	for (size_t n = 0; n < b.len; n++) {
		s = span_of(b.p, n);
		assert_int_equal(aux_trace_read(&s, &back), n < pieces[0] ? -FMT_E_TRUNCATED : 0);
		if (n < pieces[0])
			continue;
		at = n >= pieces[1];
		assert_int_equal(at ? aux_trace_next(&s, &piece) : 1, 1);
		assert_int_equal(aux_trace_next(&s, &piece),
				 n == pieces[at] ? 0 : -FMT_E_TRUNCATED);
	}
	le64enc(b.p + pieces[0] + 24, UINT64_MAX - 3);
	s = buf_span(&b);
	assert_int_equal(aux_trace_read(&s, &back), 0);
	assert_int_equal(aux_trace_next(&s, &piece), -FMT_E_TRUNCATED);
	le32enc(b.p + 12, AUX_TRACE_WORDS_MAX + 1);
	s = buf_span(&b);
	assert_int_equal(aux_trace_read(&s, &back), -FMT_E_TOO_BIG);
	assert_string_equal(aux_tracer_name(AUX_TRACER_ARM_SPE), "Arm SPE");
	assert_null(aux_tracer_name(77));
	buf_done(&b);
}

/* --- parts ------------------------------------------------------------------------------- */

static void
put_part(struct buf *b, uint64_t bytes, const char *name, size_t len)
{
	recording_parts_add(b, &(struct recording_part){ bytes, span_of(name, len) });
}

static void
test_parts(void **state)
{
	uint64_t since, until;
	struct recording_part part;
	struct span s;
	struct buf b;

	buf_init(&b);
	recording_parts_begin(&b, 5, UINT64_MAX);
	assert_int_equal(recording_parts_check(buf_span(&b)), -FMT_E_CORRUPT);
	put_part(&b, 1000, "one.spoor", 9);
	put_part(&b, 0, "two.spoor", 9);
	assert_int_equal(recording_parts_check(buf_span(&b)), 0);
	s = buf_span(&b);
	assert_int_equal(recording_parts_window(&s, &since, &until), 0);
	assert_int_equal(since, 5);
	assert_int_equal(until, UINT64_MAX);
	assert_int_equal(recording_parts_next(&s, &part), 1);
	assert_int_equal(part.bytes, 1000);
	assert_int_equal(part.name.len, 9);
	assert_memory_equal(part.name.p, "one.spoor", 9);
	assert_int_equal(recording_parts_next(&s, &part), 1);
	assert_int_equal(part.bytes, 0);
	assert_int_equal(recording_parts_next(&s, &part), 0);
	/* Cut behind the first one it has one. */
	for (size_t n = 0; n < b.len; n++)
		assert_int_equal(recording_parts_check(span_of(b.p, n)),
				 n == 16 + 12 + 9 ? 0 : -FMT_E_CORRUPT);
	buf_done(&b);
}

/* Lengths that do not add up to a file, names that are none, windows without time. */
static void
test_bad_parts(void **state)
{
	static const char name[RECORDING_PART_NAME_MAX + 1] = { 'a', 0 };
	const struct {
		uint64_t bytes;
		size_t len;
		int error;
	} cases[] = {
		{ INT64_MAX - 1, 1, 0 },
		{ INT64_MAX, 1, -FMT_E_CORRUPT },
		{ UINT64_MAX, 1, -FMT_E_CORRUPT },
		{ 1, 0, -FMT_E_CORRUPT },
		{ 1, sizeof(name), -FMT_E_CORRUPT },
		{ 1, 2, -FMT_E_CORRUPT },
	};
	struct buf b;

	buf_init(&b);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buf_clear(&b);
		recording_parts_begin(&b, 0, UINT64_MAX);
		put_part(&b, 1, "a", 1);
		put_part(&b, cases[i].bytes, name, cases[i].len);
		assert_int_equal(recording_parts_check(buf_span(&b)), cases[i].error);
	}
	buf_clear(&b);
	recording_parts_begin(&b, 0, UINT64_MAX);
	for (size_t i = 0; i < RECORDING_PARTS_MAX; i++)
		put_part(&b, 1, "a", 1);
	assert_int_equal(recording_parts_check(buf_span(&b)), 0);
	put_part(&b, 1, "a", 1);
	assert_int_equal(recording_parts_check(buf_span(&b)), -FMT_E_CORRUPT);
	for (uint64_t until = 4; until <= 6; until++) {
		buf_clear(&b);
		recording_parts_begin(&b, 5, until);
		put_part(&b, 1, "a", 1);
		assert_int_equal(recording_parts_check(buf_span(&b)),
				 until > 5 ? 0 : -FMT_E_CORRUPT);
	}
	buf_done(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accounts),    cmocka_unit_test(test_payload),
		cmocka_unit_test(test_ksyms),	    cmocka_unit_test(test_jitsyms),
		cmocka_unit_test(test_buildids),    cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_rates),	    cmocka_unit_test(test_stops),
		cmocka_unit_test(test_stops_words), cmocka_unit_test(test_stop_places),
		cmocka_unit_test(test_many_places), cmocka_unit_test(test_aux),
		cmocka_unit_test(test_parts),	    cmocka_unit_test(test_bad_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
