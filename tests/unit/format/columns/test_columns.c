/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Columns: whatever records go in, the same bytes come out; and whatever bytes go into the
 * decoder, it stays inside them and inside its limit.
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "format/block/block.h"
#include "format/columns/columns.h"
#include "tests/lab/attr_encode.h"
#include "tests/lab/numbered.h"
#include "tests/lab/recording_maker.h"
#include "tests/lab/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define READ_FORMATS 32
#define LOOPS 200
#define GUARDED_MAX (64u << 10) /* wire_guard() has room for so much */

static uint64_t seed;
static struct columns_encoder *encoder;

static uint64_t
chance(uint64_t n)
{
	return numbered_roll(&seed, n ? n : UINT64_MAX);
}

/* Numbers as they come in samples: the same again, near to another, or anything. */
static uint64_t
number(void)
{
	static const uint64_t edges[] = { 0,
					  1,
					  0xff,
					  0x100,
					  0xffff,
					  0x10000,
					  0xffffffff,
					  UINT64_C(1) << 32,
					  INT64_MAX,
					  INT64_MIN,
					  UINT64_MAX,
					  UINT64_MAX - 1,
					  0xffffff80,
					  (uint64_t)-128,
					  (uint64_t)-512,
					  (uint64_t)-4095 };

	switch (chance(6)) {
	case 0:
		return edges[chance(sizeof(edges) / sizeof(edges[0]))];
	case 1:
		return chance(0);
	case 2:
		return 0xffffffff81000000 + chance(4096);
	case 3:
		return 0x7f0000000000 + chance(256) * 16;
	default:
		return chance(4);
	}
}

/* --- records ----------------------------------------------------------------------------- */

static struct event_set *
events_of(const struct event_attr *attrs, size_t n)
{
	struct event_set *set = event_set_new();
	uint8_t bytes[ATTR_ENCODE_MAX];
	size_t index;

	assert_non_null(set);
	for (size_t i = 0; i < n; i++) {
		int size = attr_encode(&attrs[i], bytes);

		assert_true(size > 0);
		assert_int_equal(event_set_add(set, span_of(bytes, (size_t)size), "e", &index), 0);
		for (uint64_t cpu = 0; cpu < 4; cpu++)
			assert_int_equal(event_set_add_id(set, index, 100 * (i + 1) + cpu), 0);
	}
	return set;
}

static struct event_attr
attr_of(uint64_t sample_type, uint64_t read_format)
{
	return (struct event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = 136,
		.sample_type = sample_type,
		.read_format = read_format,
		.branch_sample_type = UINT64_C(1) << 17,
		.sample_regs_user = 0x0f,
		.sample_regs_intr = 0x31,
		.flags = UINT64_C(1) << EVENT_ATTR_sample_id_all,
	};
}

static void
add_read(struct wire *w, const struct event_attr *a)
{
	const uint64_t format = a->read_format;
	uint64_t nr = format & PERF_FORMAT_GROUP ? 1 + chance(3) : 1;

	if (format & PERF_FORMAT_GROUP)
		wire_u64(w, nr);
	else
		wire_u64(w, number());
	for (uint64_t bit = PERF_FORMAT_TOTAL_TIME_ENABLED; bit <= PERF_FORMAT_TOTAL_TIME_RUNNING;
	     bit <<= 1) {
		if (format & bit)
			wire_u64(w, number());
	}
	for (uint64_t i = 0; i < nr; i++) {
		if (format & PERF_FORMAT_GROUP)
			wire_u64(w, number());
		if (format & PERF_FORMAT_ID)
			wire_u64(w, number());
		if (format & PERF_FORMAT_LOST)
			wire_u64(w, number());
	}
}

static void
add_words(struct wire *w, uint64_t n)
{
	while (n-- > 0)
		wire_u64(w, number());
}

static void
add_counted(struct wire *w, uint64_t n)
{
	wire_u64(w, n);
	add_words(w, n);
}

/* With the ip of the sample in front, or something else; now and then a long one. */
static void
add_chain(struct wire *w, uint64_t ip)
{
	uint64_t n = chance(40) ? chance(12) : chance(7000);

	wire_u64(w, n);
	if (n < 3 || chance(4) == 0) {
		add_words(w, n);
		return;
	}
	wire_u64(w, chance(2) ? (uint64_t)-128 : (uint64_t)-512);
	wire_u64(w, ip);
	add_words(w, n - 2);
}

static void
add_rest(struct wire *w, const struct event_attr *a)
{
	const uint64_t type = a->sample_type;

	if (type & PERF_SAMPLE_RAW) {
		wire_u32(w, 12);
		wire_bytes(w, "tracepoint..", 12);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK) {
		wire_u64(w, 2);
		add_words(w, 1 + 6);
	}
	if (type & PERF_SAMPLE_REGS_USER) {
		wire_u64(w, 2);
		add_words(w, 4);
	}
	if (type & PERF_SAMPLE_STACK_USER) {
		wire_u64(w, 16);
		add_words(w, 2);
		wire_u64(w, 9);
	}
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		add_words(w, 1);
	if (type & PERF_SAMPLE_DATA_SRC)
		add_words(w, 1);
	if (type & PERF_SAMPLE_TRANSACTION)
		add_words(w, 1);
	if (type & PERF_SAMPLE_REGS_INTR)
		wire_u64(w, 0);
	for (uint64_t bit = PERF_SAMPLE_PHYS_ADDR; bit <= PERF_SAMPLE_CODE_PAGE_SIZE; bit <<= 1) {
		if ((type & bit) && bit != PERF_SAMPLE_AUX && bit != PERF_SAMPLE_WEIGHT_STRUCT)
			add_words(w, 1);
	}
	if (type & PERF_SAMPLE_AUX)
		add_counted(w, 0);
}

/* A sample of an event as the kernel would write it, and so one that columns can hold. */
static void
make_sample(struct wire *w, const struct event_attr *a, uint64_t id)
{
	const uint64_t type = a->sample_type;
	static uint64_t time = 1000000000;
	uint64_t ip = number();

	wire_begin(w, PERF_RECORD_SAMPLE, (uint16_t)(chance(8) ? 2 : chance(0)));
	if (type & PERF_SAMPLE_IDENTIFIER)
		wire_u64(w, id);
	if (type & PERF_SAMPLE_IP)
		wire_u64(w, ip);
	if (type & PERF_SAMPLE_TID)
		add_words(w, 1);
	/* Backwards now and then. */
	time += chance(16) ? 1000000 + chance(300) : number();
	if (type & PERF_SAMPLE_TIME)
		wire_u64(w, time);
	if (type & PERF_SAMPLE_ADDR)
		add_words(w, 1);
	if (type & PERF_SAMPLE_ID)
		wire_u64(w, id);
	if (type & PERF_SAMPLE_STREAM_ID)
		add_words(w, 1);
	if (type & PERF_SAMPLE_CPU)
		wire_u64(w, chance(10) ? chance(4) : number());
	if (type & PERF_SAMPLE_PERIOD)
		add_words(w, 1);
	if (type & PERF_SAMPLE_READ)
		add_read(w, a);
	if (type & PERF_SAMPLE_CALLCHAIN)
		add_chain(w, ip);
	add_rest(w, a);
	wire_end(w);
}

/* A record of another type, or one that means nothing. */
static void
make_other(struct wire *w)
{
	static const uint32_t types[] = { PERF_RECORD_COMM, PERF_RECORD_MMAP2,	PERF_RECORD_FORK,
					  PERF_RECORD_EXIT, PERF_RECORD_SAMPLE, 77,
					  UINT32_MAX };

	wire_begin(w, types[chance(sizeof(types) / sizeof(types[0]))], (uint16_t)chance(0));
	add_words(w, chance(16));
	wire_end(w);
}

/* A sample made wrong: cut, lengthened, or with a word changed. */
static void
spoil(struct wire *w)
{
	switch (chance(3)) {
	case 0:
		if (w->len > 16)
			w->len -= 8 + 8 * chance(w->len / 8 - 1);
		break;
	case 1:
		add_words(w, 1 + chance(3));
		break;
	default:
		w->bytes[8 + chance(w->len - 8)] ^= (uint8_t)(1u << chance(8));
		break;
	}
	wire_end(w);
}

/* --- round trips ------------------------------------------------------------------------- */

static uint32_t
count_records(struct span records)
{
	struct span record;
	uint32_t n = 0;

	while (perf_record_next(&records, &record) > 0)
		n++;
	assert_int_equal(records.len, 0);
	return n;
}

/* Encodes records, decodes them, and compares; returns the bytes of the columns. */
static size_t
round_trip(const struct event_set *events, const struct buf *records, struct buf *ret_payload)
{
	static const char before[] = "before";
	uint32_t n = count_records(buf_span(records));
	const size_t *cuts;
	struct buf payload, back;
	size_t nr_cuts, bytes;
	struct span guarded;

	assert_false(buf_failed(records));
	buf_init(&payload);
	buf_init(&back);
	buf_append(&payload, before, sizeof(before));
	assert_int_equal(columns_encode(encoder, events, buf_span(records), &payload), 0);
	assert_memory_equal(payload.p, before, sizeof(before));
	bytes = payload.len - sizeof(before);
	nr_cuts = columns_encoder_cuts(encoder, &cuts);
	for (size_t i = 0; i < nr_cuts; i++)
		assert_uint_in_range(cuts[i], i > 0 ? cuts[i - 1] + 1 : 1, bytes);

	guarded = span_of(payload.p + sizeof(before), bytes);
	if (bytes <= GUARDED_MAX)
		guarded = wire_guard(guarded.p, guarded.len);
	buf_append(&back, before, sizeof(before));
	assert_int_equal(columns_decode(guarded, n, records->len, &back, NULL), 0);
	assert_int_equal(back.len, sizeof(before) + records->len);
	assert_memory_equal(back.p, before, sizeof(before));
	if (records->len > 0)
		assert_memory_equal(back.p + sizeof(before), records->p, records->len);

	/* Not within one byte less, and not as another number of records. */
	if (records->len > 0)
		assert_int_equal(columns_decode(guarded, n, records->len - 1, &back, NULL),
				 -FMT_E_TOO_BIG);
	assert_int_equal(columns_decode(guarded, n + 1, BLOCK_RAW_MAX, &back, NULL),
			 -FMT_E_CORRUPT);
	assert_int_equal(back.len, sizeof(before) + records->len);
	if (ret_payload)
		buf_append(ret_payload, payload.p + sizeof(before), bytes);
	buf_done(&payload);
	buf_done(&back);
	return bytes;
}

/* Samples of an event in runs, with other records and spoilt ones between. */
static void
add_records(struct buf *out, const struct event_attr *attrs, size_t nr_attrs, unsigned int n,
	    unsigned int odd)
{
	static struct wire w;
	size_t event = 0;
	uint64_t cpu = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (chance(5) == 0) {
			event = chance(nr_attrs);
			cpu = chance(5); /* 4: an id that no event has */
		}
		if (odd && chance(odd) == 0) {
			make_other(&w);
		} else {
			make_sample(&w, &attrs[event], 100 * (event + 1) + cpu);
			if (odd && chance(odd) == 0)
				spoil(&w);
		}
		buf_append(out, w.bytes, w.len);
	}
}

static void
try_attrs(const struct event_attr *attrs, size_t nr_attrs, unsigned int n, unsigned int odd)
{
	struct event_set *events = events_of(attrs, nr_attrs);
	struct buf records;

	buf_init(&records);
	add_records(&records, attrs, nr_attrs, n, odd);
	round_trip(events, &records, NULL);
	buf_done(&records);
	event_set_free(events);
}

/* Every bit alone, with and without an id in front; every pair; every read_format. */
static void
test_every_sample_type(void **state)
{
	for (unsigned int a = 0; a < 25; a++) {
		for (unsigned int b = 0; b <= a; b++) {
			uint64_t bits = UINT64_C(1) << a | UINT64_C(1) << b;
			struct event_attr attr = attr_of(bits, chance(READ_FORMATS));

			try_attrs(&attr, 1, 8, 0);
			attr.sample_type |= PERF_SAMPLE_IDENTIFIER;
			try_attrs(&attr, 1, 8, 6);
		}
	}
	for (uint64_t format = 0; format < READ_FORMATS; format++) {
		struct event_attr attr = attr_of(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_READ |
							 PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
						 format);

		try_attrs(&attr, 1, 50, 10);
	}
}

static void
test_random_events(void **state)
{
	struct event_attr attrs[3];

	for (int i = 0; i < LOOPS; i++) {
		size_t n = 1 + chance(3);

		for (size_t k = 0; k < n; k++)
			attrs[k] = attr_of((chance(4) ? PERF_SAMPLE_IDENTIFIER : 0) |
						   chance(PERF_SAMPLE_WEIGHT_STRUCT * 2),
					   chance(READ_FORMATS + 1));
		try_attrs(attrs, n, (unsigned int)chance(300), 8);
	}
}

static void
test_nothing_and_one(void **state)
{
	struct event_attr attr = attr_of(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME, 0);
	struct event_set *events = events_of(&attr, 1);
	struct buf records;
	static struct wire w;

	buf_init(&records);
	round_trip(events, &records, NULL);
	make_sample(&w, &attr, 100);
	buf_append(&records, w.bytes, w.len);
	round_trip(events, &records, NULL);
	buf_clear(&records);
	make_other(&w);
	buf_append(&records, w.bytes, w.len);
	round_trip(events, &records, NULL);
	for (int i = 0; i < 100; i++)
		buf_append(&records, w.bytes, w.len);
	round_trip(events, &records, NULL);
	assert_false(columns_encoder_numbers(encoder));
	/* A header and nothing else, of a sample and of something unknown. */
	buf_clear(&records);
	for (uint32_t type = 0; type < 32; type++) {
		buf_u32(&records, type);
		buf_u16(&records, 0xffff);
		buf_u16(&records, 8);
	}
	round_trip(events, &records, NULL);
	/* Half a record is none. */
	buf_u32(&records, 9);
	assert_int_equal(columns_encode(encoder, events, buf_span(&records), &records),
			 -FMT_E_CORRUPT);
	buf_done(&records);
	event_set_free(events);
}

/* The longest stacks there can be, the same but for their last word, and unlike at once. */
static void
test_huge_stacks(void **state)
{
	struct event_attr attr =
		attr_of(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN, 0);
	struct event_set *events = events_of(&attr, 1);
	const uint64_t words = (65528 - 8) / 8 - 3;
	struct buf records;
	size_t bytes;

	buf_init(&records);
	for (uint64_t i = 0; i < 40; i++) {
		buf_u32(&records, PERF_RECORD_SAMPLE);
		buf_u16(&records, 1);
		buf_u16(&records, 65528);
		buf_u64(&records, 101);
		buf_u64(&records, 0);
		buf_u64(&records, words);
		for (uint64_t k = 0; k < words; k++)
			buf_u64(&records, k == (i < 20 ? words - 1 : 0) ? 1000 + i : k % 7);
	}
	bytes = round_trip(events, &records, NULL);
	assert_true(columns_encoder_numbers(encoder));
	assert_true(bytes < records.len / 8);
	buf_done(&records);
	event_set_free(events);
}

/* More sources, tasks, frames and stacks than 16 bits can number. */
static void
test_many_of_everything(void **state)
{
	struct event_attr attr =
		attr_of(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN,
			0);
	struct event_set *events = events_of(&attr, 1);
	struct buf records;

	buf_init(&records);
	for (uint64_t i = 0; i < 70000; i++) {
		buf_u32(&records, PERF_RECORD_SAMPLE);
		buf_u16(&records, 2);
		buf_u16(&records, 8 * 9);
		buf_u64(&records, 100);
		buf_u64(&records, i * 0x9e3779b97f4a7c15);
		buf_u64(&records, i << 32 | i);
		buf_u64(&records, i * 1000);
		buf_u64(&records, i);
		buf_u64(&records, 2);
		buf_u64(&records, (uint64_t)-512);
		buf_u64(&records, i * 0x9e3779b97f4a7c15);
	}
	round_trip(events, &records, NULL);
	buf_done(&records);
	event_set_free(events);
}

/* An encoder after another block, and a new one: the same bytes. */
static void
test_nothing_is_left_over(void **state)
{
	struct event_attr attr =
		attr_of(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
			0);
	struct event_set *events = events_of(&attr, 1);
	struct columns_encoder *fresh = columns_encoder_new();
	struct buf records, a, b;

	assert_non_null(fresh);
	buf_init(&records);
	buf_init(&a);
	buf_init(&b);
	add_records(&records, &attr, 1, 3000, 20);
	assert_int_equal(columns_encode(fresh, events, buf_span(&records), &a), 0);
	for (int i = 0; i < 2; i++) {
		buf_clear(&b);
		round_trip(events, &records, &b);
		assert_int_equal(a.len, b.len);
		assert_memory_equal(a.p, b.p, a.len);
	}
	columns_encoder_free(fresh);
	columns_encoder_free(NULL);
	buf_done(&records);
	buf_done(&a);
	buf_done(&b);
	event_set_free(events);
}

/* What columns are for: samples of two CPUs at a steady rate, a few stacks over and over. */
static void
test_repetition_costs_little(void **state)
{
	struct event_attr attr = attr_of(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
						 PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
						 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
					 0);
	struct event_set *events = events_of(&attr, 1);
	struct buf records;
	size_t bytes;

	buf_init(&records);
	for (uint64_t i = 0; i < 5000; i++) {
		uint64_t cpu = i / 50 % 2, ip = 0xffffffff81000000 + chance(200) * 4;

		buf_u32(&records, PERF_RECORD_SAMPLE);
		buf_u16(&records, 1);
		buf_u16(&records, 8 * 14);
		buf_u64(&records, 100 + cpu);
		buf_u64(&records, ip);
		buf_u64(&records, (1000 + cpu) * UINT64_C(0x100000001));
		buf_u64(&records, (i / 100 * 50 + i % 50) * 1000000 + chance(10000));
		buf_u64(&records, cpu);
		buf_u64(&records, 1000000);
		buf_u64(&records, 6);
		buf_u64(&records, (uint64_t)-128);
		buf_u64(&records, ip);
		for (uint64_t k = 0; k < 4; k++)
			buf_u64(&records, 0xffffffff82000000 + k);
	}
	bytes = round_trip(events, &records, NULL);
	/* Two bytes of time, one of stack, one of task, and little besides. */
	assert_uint_in_range(bytes, 5000 * 4, 5000 * 5);
	buf_done(&records);
	event_set_free(events);
}

/* --- a whole file ------------------------------------------------------------------------ */

/* Samples, and all else: each in the order in which they came. */
struct kept {
	struct buf samples, others;
};

static void
keep(struct kept *k, struct span records)
{
	struct span record;

	while (perf_record_next(&records, &record) > 0)
		buf_append(le32dec(record.p) == PERF_RECORD_SAMPLE ? &k->samples : &k->others,
			   record.p, record.len);
	assert_int_equal(records.len, 0);
}

static void
kept_equal(const struct kept *a, const struct kept *b)
{
	assert_int_equal(a->samples.len, b->samples.len);
	assert_memory_equal(a->samples.p, b->samples.p, a->samples.len);
	assert_int_equal(a->others.len, b->others.len);
	assert_memory_equal(a->others.p, b->others.p, a->others.len);
}

static void
kept_done(struct kept *k)
{
	buf_done(&k->samples);
	buf_done(&k->others);
}

/* Everything the RECORDS blocks of a file have; returns how many of them are by columns. */
static unsigned int
read_back(const struct memory_file *f, struct kept *ret)
{
	struct recording_reader *r;
	unsigned int columnar = 0;
	struct block b;

	assert_int_equal(recording_reader_open(io_source_memory(f->p, f->n), &r, NULL), 0);
	while (recording_reader_next(r, NULL, NULL, &b, NULL) > 0) {
		if (b.header.type != BLOCK_RECORDS)
			continue;
		assert_int_equal(count_records(b.payload), b.header.records);
		keep(ret, b.payload);
		columnar += b.header.encoding == BLOCK_COLUMNAR;
	}
	assert_int_equal(recording_reader_verify(r, NULL), 0);
	recording_reader_close(r);
	return columnar;
}

/* What was given to the writer, pass after pass, against what the reader has of the file. */
static void
test_file_against_what_was_given(void **state)
{
	const struct event_attr attrs[] = {
		attr_of(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
				PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_CGROUP,
			0),
		attr_of(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW |
				PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
			0),
	};
	const struct recording_writer_options ways[] = { { .block_bytes = 20000 },
							 { .block_bytes = 20000, .verbatim = true },
							 { .block_bytes = 100 } };
	struct kept given, got;
	struct buf pass;

	buf_init(&pass);
	for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); way++) {
		struct recording_meta *meta = maker_meta(7);
		struct memory_file f = { 0 };
		struct recording_writer *w;
		unsigned int columnar;

		memset(&given, 0, sizeof(given));
		memset(&got, 0, sizeof(got));
		event_set_free(meta->events);
		meta->events = events_of(attrs, 2);
		assert_int_equal(recording_writer_open(memory_sink(&f), meta, &ways[way], &w, NULL),
				 0);
		for (uint64_t i = 0; i < 300; i++) {
			buf_clear(&pass);
			add_records(&pass, attrs, 2, (unsigned int)chance(40), 10);
			keep(&given, buf_span(&pass));
			assert_int_equal(recording_writer_records(w, buf_span(&pass), NULL, NULL),
					 0);
			recording_writer_pass(w, i);
		}
		assert_int_equal(recording_writer_close(w, 1, NULL), 0);
		columnar = read_back(&f, &got);
		kept_equal(&given, &got);
		assert_true(ways[way].verbatim ? columnar == 0 : columnar > 20);
		kept_done(&given);
		kept_done(&got);
		recording_meta_free(meta);
		memory_file_done(&f);
	}
	buf_done(&pass);
}

/* --- what does not come from the encoder -------------------------------------------------- */

/* Decodes; what comes out is whole records, as many as said, or nothing. */
static void
try_decode(struct span payload, uint32_t n, size_t limit)
{
	struct buf out;

	buf_init(&out);
	buf_u8(&out, 1);
	if (columns_decode(payload, n, limit, &out, NULL) == 0) {
		assert_true(out.len - 1 <= limit);
		assert_int_equal(count_records(span_of(out.p + 1, out.len - 1)), n);
	} else {
		assert_int_equal(out.len, 1);
	}
	buf_done(&out);
}

/* A payload with something in every column. */
static uint32_t
make_payload(struct buf *payload, size_t *ret_bytes)
{
	struct event_attr attrs[] = {
		attr_of(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
				PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_CGROUP,
			0),
		attr_of(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR |
				PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW,
			PERF_FORMAT_GROUP | PERF_FORMAT_ID),
	};
	struct event_set *events = events_of(attrs, 2);
	struct buf records;
	uint32_t n;

	seed = 12345;
	buf_init(&records);
	add_records(&records, attrs, 2, 60, 12);
	round_trip(events, &records, payload);
	n = count_records(buf_span(&records));
	*ret_bytes = records.len;
	buf_done(&records);
	event_set_free(events);
	return n;
}

static void
test_cut_everywhere(void **state)
{
	struct buf payload;
	size_t bytes;
	uint32_t n;

	buf_init(&payload);
	n = make_payload(&payload, &bytes);
	for (size_t len = 0; len < payload.len; len++) {
		struct span cut = wire_guard(payload.p, len);
		struct buf out;

		buf_init(&out);
		assert_int_not_equal(columns_decode(cut, n, BLOCK_RAW_MAX, &out, NULL), 0);
		assert_int_equal(out.len, 0);
		buf_done(&out);
	}
	buf_u8(&payload, 0);
	try_decode(wire_guard(payload.p, payload.len), n, bytes);
	buf_done(&payload);
}

static void
test_every_bit_flipped(void **state)
{
	struct buf payload;
	size_t bytes;
	uint32_t n;

	buf_init(&payload);
	n = make_payload(&payload, &bytes);
	for (size_t bit = 0; bit < payload.len * 8; bit++) {
		payload.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
		try_decode(wire_guard(payload.p, payload.len), n, bytes);
		payload.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	buf_done(&payload);
}

/* Several bytes at once, mostly where the counts and the headers of columns are. */
static void
test_garbage(void **state)
{
	struct buf payload;
	size_t bytes;
	uint32_t n;

	buf_init(&payload);
	n = make_payload(&payload, &bytes);
	for (int i = 0; i < 20000; i++) {
		uint8_t *copy = malloc(payload.len);

		assert_non_null(copy);
		memcpy(copy, payload.p, payload.len);
		for (uint64_t k = 1 + chance(4); k > 0; k--)
			copy[chance(chance(2) ? payload.len : 200)] = (uint8_t)number();
		try_decode(wire_guard(copy, payload.len), n, i % 2 ? bytes : 1u << 20);
		for (size_t k = 0; k < payload.len; k++)
			copy[k] = (uint8_t)chance(0);
		try_decode(wire_guard(copy, chance(payload.len)), n, bytes);
		free(copy);
	}
	buf_done(&payload);
}

static int
begin(void **state)
{
	seed = 88172645463325252;
	encoder = columns_encoder_new();
	return encoder ? 0 : -1;
}

static int
end(void **state)
{
	columns_encoder_free(encoder);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_sample_type),
		cmocka_unit_test(test_random_events),
		cmocka_unit_test(test_nothing_and_one),
		cmocka_unit_test(test_huge_stacks),
		cmocka_unit_test(test_many_of_everything),
		cmocka_unit_test(test_nothing_is_left_over),
		cmocka_unit_test(test_repetition_costs_little),
		cmocka_unit_test(test_file_against_what_was_given),
		cmocka_unit_test(test_cut_everywhere),
		cmocka_unit_test(test_every_bit_flipped),
		cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
