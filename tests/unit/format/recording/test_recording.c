/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What comes back from a recording that is whole, cut, flipped, spliced or not one at all.
 * The oracle is a map of the undamaged file: where each block stands and which samples it
 * has. Whatever is done to the file, exactly the samples of untouched blocks come back.
 */
#include "tests/lab/recording_maker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/block/recording_header.h"
#include "format/block/recording_parts.h"
#include "format/bytes/crc32c.h"
#include "format/columns/columns.h"
#include "format/recording/record_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define SAMPLES 40
#define MAX_BLOCKS 64

struct block_map {
	uint64_t from, to;
	uint8_t type;
	uint64_t ips[SAMPLES];
	size_t nr_ips;
};

static struct fixture {
	struct memory_file file;
	struct block_map blocks[MAX_BLOCKS];
	size_t nr_blocks;
	uint64_t header_end;
} whole;

static int
make_fixture(void **state)
{
	struct recording_reader *r;
	struct block b;
	struct recording_header h;

	maker_recording(&whole.file, 1, SAMPLES, 700, 5);
	assert_int_equal(recording_header_decode(span_of(whole.file.p, whole.file.n), &h), 0);
	whole.header_end = recording_header_end(&h);
	assert_int_equal(
		recording_reader_open(io_source_memory(whole.file.p, whole.file.n), &r, NULL), 0);
	while (recording_reader_next(r, NULL, NULL, &b, NULL) > 0) {
		struct block_map *m = &whole.blocks[whole.nr_blocks++];

		assert_true(whole.nr_blocks < MAX_BLOCKS);
		m->from = b.offset;
		m->to = b.offset + b.header.header_size + b.header.stored_length;
		m->type = b.header.type;
		if (b.header.type == BLOCK_RECORDS)
			m->nr_ips = maker_ips(recording_reader_meta(r)->events, b.payload, m->ips,
					      SAMPLES);
	}
	assert_true(recording_health_clean(recording_reader_health(r)));
	recording_reader_close(r);
	return 0;
}

static int
free_fixture(void **state)
{
	memory_file_done(&whole.file);
	return 0;
}

/* What reading a file gave. */
struct outcome {
	int open_error;
	int verdict;   /* of verify: 0, 1, negative */
	uint64_t seen; /* bit ip: the sample came */
	bool twice, strange;
	struct recording_health health;
	struct fmt_where where;
};

static struct outcome
read_file(const void *p, size_t n)
{
	struct outcome o = { 0 };
	struct recording_reader *r;
	struct block b;
	int result;

	o.open_error = recording_reader_open(io_source_memory(p, n), &r, &o.where);
	if (o.open_error)
		return o;
	while ((result = recording_reader_next(r, NULL, NULL, &b, &o.where)) > 0) {
		uint64_t ips[SAMPLES];
		size_t nr;

		if (b.header.type != BLOCK_RECORDS)
			continue;
		nr = maker_ips(recording_reader_meta(r)->events, b.payload, ips, SAMPLES);
		for (size_t i = 0; i < nr; i++) {
			if (ips[i] == 0 || ips[i] > SAMPLES)
				o.strange = true;
			else if (o.seen & (UINT64_C(1) << ips[i]))
				o.twice = true;
			else
				o.seen |= UINT64_C(1) << ips[i];
		}
	}
	assert_int_equal(result, 0);
	o.verdict = recording_reader_verify(r, &o.where);
	o.health = *recording_reader_health(r);
	recording_reader_close(r);
	return o;
}

/* The samples of blocks that [from, to) does not touch. */
static uint64_t
samples_outside(uint64_t from, uint64_t to)
{
	uint64_t set = 0;

	for (size_t i = 0; i < whole.nr_blocks; i++) {
		const struct block_map *m = &whole.blocks[i];

		if (m->from < to && from < m->to)
			continue;
		for (size_t k = 0; k < m->nr_ips; k++)
			set |= UINT64_C(1) << m->ips[k];
	}
	return set;
}

#define ALL samples_outside(0, 0)

static void
expect(const struct outcome *o, int verdict, uint64_t seen, const char *what, uint64_t at)
{
	if (o->open_error || o->verdict != verdict || o->seen != seen || o->twice || o->strange)
		fail_msg(
			"%s at %ju: open %d, verify %d (want %d), samples %#jx (want %#jx)%s%s: %s",
			what, (uintmax_t)at, o->open_error, o->verdict, verdict, (uintmax_t)o->seen,
			(uintmax_t)seen, o->twice ? ", twice" : "", o->strange ? ", strange" : "",
			o->health.first.detail);
}

static uint8_t *
copy_of(const struct memory_file *f, size_t extra)
{
	uint8_t *p = malloc(f->n + extra);

	assert_non_null(p);
	memcpy(p, f->p, f->n);
	return p;
}

/* --- whole ------------------------------------------------------------------------------- */

static void
test_round_trip(void **state)
{
	struct outcome o = read_file(whole.file.p, whole.file.n);
	bool types[BLOCK_STACKS + 1] = { false };

	expect(&o, 0, ALL, "whole file", 0);
	assert_int_equal(ALL, (UINT64_C(1) << (SAMPLES + 1)) - 2);
	assert_int_equal(o.health.blocks, whole.nr_blocks);
	assert_true(o.health.closed);
	for (size_t i = 0; i < whole.nr_blocks; i++)
		types[whole.blocks[i].type] = true;
#define X(number, name, text) assert_true(types[number]);
	BLOCK_TYPES(X)
#undef X
	/* The first block is META, each INDEX has one before it, END is the last. */
	assert_int_equal(whole.blocks[0].type, BLOCK_META);
	assert_int_equal(whole.blocks[whole.nr_blocks - 1].type, BLOCK_END);
	for (size_t i = 1; i < whole.nr_blocks; i++) {
		assert_int_equal(whole.blocks[i].from, whole.blocks[i - 1].to);
		if (whole.blocks[i].type == BLOCK_INDEX)
			assert_int_equal(whole.blocks[i - 1].type, BLOCK_META);
	}
}

static void
test_meta(void **state)
{
	struct recording_meta *want = maker_meta(1), *got;
	const struct count_unit unit = {
		.scale = 0x1p-32, .name = "Joules", .snapshot = true, .per_pkg = true
	};
	struct buf b, parts;

	buf_init(&b);
	want->machine_id[3] = 9;
	want->kernel_build_id.size = 20;
	want->kernel_build_id.bytes[19] = 0xee;
	want->kernel_text = 0xffffffff81000000;
	want->pid_namespace = 4026532178;
	buf_init(&parts);
	recording_parts_begin(&parts, 1, 2);
	recording_parts_add(&parts, &(struct recording_part){ 77, span_of("x.spoor", 7) });
	want->parts = parts.p;
	want->parts_len = parts.len;
	assert_int_equal(recording_meta_note(want, "one"), 0);
	assert_int_equal(recording_meta_note(want, "two"), 0);
	assert_int_equal(event_set_format(want->events, 1, "sched\nname: x\n"), 0);
	event_set_unit(want->events, 1, &unit);
	assert_int_equal(recording_meta_encode(want, &b), 0);
	assert_int_equal(b.len % 8, 0);
	assert_int_equal(recording_meta_decode(buf_span(&b), &got), 0);
	assert_memory_equal(got->file_id, want->file_id, FILE_ID_BYTES);
	assert_memory_equal(got->machine_id, want->machine_id, 16);
	assert_int_equal(got->start.realtime, want->start.realtime);
	assert_int_equal(got->start.boottime, 2000);
	assert_int_equal(got->clockid, 1);
	assert_int_equal(got->page_size, 4096);
	assert_int_equal(got->frequency_hz_effective, 999);
	assert_string_equal(got->hostname, "lion");
	assert_string_equal(got->cmdline, "");
	assert_string_equal(got->notes, "one\ntwo\n");
	assert_int_equal(got->kernel_build_id.bytes[19], 0xee);
	assert_int_equal(got->kernel_text, want->kernel_text);
	assert_int_equal(got->pid_namespace, 4026532178);
	assert_int_equal(got->parts_len, parts.len);
	assert_memory_equal(got->parts, parts.p, parts.len);
	assert_int_equal(event_set_count(got->events), 2);
	assert_string_equal(event_set_at(got->events, 1)->name, "dummy");
	assert_string_equal(event_set_at(got->events, 1)->format, "sched\nname: x\n");
	assert_null(event_set_at(got->events, 0)->format);
	assert_false(count_unit_told(&event_set_at(got->events, 0)->unit));
	assert_true(event_set_at(got->events, 1)->unit.scale == unit.scale);
	assert_string_equal(event_set_at(got->events, 1)->unit.name, unit.name);
	assert_true(event_set_at(got->events, 1)->unit.snapshot);
	assert_true(event_set_at(got->events, 1)->unit.per_pkg);
	assert_int_equal(event_set_find(got->events, MAKER_SIDEBAND_ID + 3), 1);
	recording_meta_free(got);
	/* Cut between two tags it is a meta of fewer tags; anywhere else it is refused. */
	for (size_t n = 0; n < b.len; n++) {
		int error = recording_meta_decode(span_of(b.p, n), &got);

		if (error == 0)
			recording_meta_free(got);
		assert_true(error == 0 || error == -FMT_E_CORRUPT);
		assert_true(error != 0 || n % 8 == 0);
	}
	recording_meta_free(want);
	buf_done(&b);
}

/* META_EVENT_UNIT, of the event 1 unless it says otherwise. */
static int
decode_unit(uint32_t index, double scale, const char *name, uint32_t name_len, size_t cut)
{
	struct recording_meta *m = maker_meta(1), *got;
	struct buf b;
	uint64_t bits;
	int told, error;

	memcpy(&bits, &scale, sizeof(bits));
	buf_init(&b);
	assert_int_equal(recording_meta_encode(m, &b), 0);
	recording_meta_free(m);
	buf_u16(&b, META_EVENT_UNIT);
	buf_u16(&b, 0);
	buf_u32(&b, (uint32_t)(20 + strlen(name) - cut));
	buf_u32(&b, index);
	buf_u32(&b, UINT32_MAX); /* flags of the future */
	buf_u64(&b, bits);
	buf_u32(&b, name_len);
	buf_append(&b, name, strlen(name));
	buf_zero(&b, -b.len & 7);
	error = recording_meta_decode(buf_span(&b), &got);
	buf_done(&b);
	if (error)
		return error;
	told = count_unit_told(&event_set_at(got->events, 1)->unit);
	recording_meta_free(got);
	return told;
}

static void
test_units(void **state)
{
	static const double scales[] = { -1, INFINITY, -INFINITY, NAN, 1e-310 };
	char name[COUNT_UNIT_NAME_BYTES + 1] = "";

	(void)state;
	assert_int_equal(decode_unit(1, 0.5, "MiB", 3, 0), 1);
	assert_int_equal(decode_unit(1, 0, "", 0, 0), 1);
	/* Bytes that a later version has behind it. */
	assert_int_equal(decode_unit(1, 0.5, "MiB.....", 3, 0), 1);
	for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
		assert_int_equal(decode_unit(1, scales[i], "MiB", 3, 0), 0);
	assert_int_equal(decode_unit(2, 0.5, "MiB", 3, 0), 0);
	assert_int_equal(decode_unit(UINT32_MAX, 0.5, "MiB", 3, 0), 0);
	memset(name, 'x', COUNT_UNIT_NAME_BYTES - 1);
	assert_int_equal(decode_unit(1, 0.5, name, COUNT_UNIT_NAME_BYTES - 1, 0), 1);
	name[COUNT_UNIT_NAME_BYTES - 1] = 'x';
	assert_int_equal(decode_unit(1, 0.5, name, COUNT_UNIT_NAME_BYTES, 0), 0);
	assert_int_equal(decode_unit(1, 0.5, "MiB", 4, 0), -FMT_E_CORRUPT);
	assert_int_equal(decode_unit(1, 0.5, "MiB", UINT32_MAX, 0), -FMT_E_CORRUPT);
	assert_int_equal(decode_unit(1, 0.5, "MiB", 3, 4), -FMT_E_CORRUPT);
}

static void
test_meta_of_the_future(void **state)
{
	struct recording_meta *m = maker_meta(1), *got;
	struct buf b;

	buf_init(&b);
	assert_int_equal(recording_meta_encode(m, &b), 0);
	buf_u16(&b, 999);
	buf_u16(&b, 0);
	buf_u32(&b, 3);
	buf_u64(&b, 0x616263);
	assert_int_equal(recording_meta_decode(buf_span(&b), &got), 0);
	recording_meta_free(got);
	le16enc(b.p + b.len - 14, META_F_CRITICAL);
	assert_int_equal(recording_meta_decode(buf_span(&b), &got), -FMT_E_VERSION);
	recording_meta_free(m);
	buf_done(&b);
}

/* --- cut and flipped --------------------------------------------------------------------- */

static void
test_cut_everywhere(void **state)
{
	for (size_t n = 0; n < whole.file.n; n++) {
		uint8_t *p = malloc(n ? n : 1);
		struct outcome o;

		memcpy(p, whole.file.p, n);
		o = read_file(p, n);
		free(p);
		if (n == 0)
			assert_int_equal(o.open_error, -FMT_E_EMPTY);
		else if (n < whole.header_end)
			assert_int_equal(o.open_error, -FMT_E_CORRUPT);
		else {
			expect(&o, 1, samples_outside(n, UINT64_MAX), "cut", n);
			assert_int_equal(o.health.damaged_blocks, 0);
			assert_int_equal(o.health.damaged_bytes, 0);
			assert_false(o.health.closed);
		}
	}
}

static void
flip(uint8_t *p, size_t at, uint8_t bits)
{
	struct outcome o;

	p[at] ^= bits;
	o = read_file(p, whole.file.n);
	p[at] ^= bits;
	expect(&o, 1, at < whole.header_end ? ALL : samples_outside(at, at + 1), "flip", at);
	assert_int_equal(o.health.header_damaged, at < whole.header_end);
	assert_true(o.health.first.detail[0] || o.health.torn_tail_bytes > 0);
}

static void
test_flip_everywhere(void **state)
{
	uint8_t *p = copy_of(&whole.file, 0);

	for (size_t at = 0; at < whole.file.n; at++) {
		flip(p, at, 0xff);
		for (int bit = 0; bit < 8; bit++)
			flip(p, at, (uint8_t)(1u << bit));
	}
	free(p);
}

static void
test_zeroed_ranges(void **state)
{
	static const size_t lengths[] = { 3, 64, 512, 1500 };

	for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
		for (size_t at = 0; at + lengths[k] < whole.file.n; at += 7) {
			uint8_t *p = copy_of(&whole.file, 0);
			bool changed;
			struct outcome o;

			memset(p + at, 0, lengths[k]);
			changed = memcmp(p, whole.file.p, whole.file.n) != 0;
			o = read_file(p, whole.file.n);
			free(p);
			if (!changed) {
				expect(&o, 0, ALL, "zeroes", at);
				continue;
			}
			/* A range may begin or end in zeroes that were there: fewer are damaged. */
			if (o.open_error || o.verdict != 1 || o.twice || o.strange ||
			    (samples_outside(at, at + lengths[k]) & ~o.seen))
				fail_msg("zeroes at %zu: %d %d", at, o.open_error, o.verdict);
		}
	}
}

static void
test_bytes_inserted(void **state)
{
	static const size_t lengths[] = { 1, 8, 100, 5000 };

	for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
		for (size_t at = 0; at <= whole.file.n; at += at < 300 ? 1 : 5) {
			size_t n = lengths[k];
			uint8_t *p = copy_of(&whole.file, n);
			uint64_t inside = 0;
			struct outcome o;

			memmove(p + at + n, p + at, whole.file.n - at);
			for (size_t i = 0; i < n; i++)
				p[at + i] = (uint8_t)(i * 37 + at + 1);
			o = read_file(p, whole.file.n + n);
			free(p);
			/* Between two blocks nothing is lost. */
			for (size_t i = 0; i < whole.nr_blocks; i++) {
				if (whole.blocks[i].from < at && at < whole.blocks[i].to)
					inside = whole.blocks[i].from;
			}
			expect(&o, 1, inside ? samples_outside(inside, inside + 1) : ALL,
			       "insertion", at);
		}
	}
}

static void
test_bytes_cut_out(void **state)
{
	static const size_t lengths[] = { 1, 9, 300, 1200 };

	for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
		size_t n = lengths[k];

		for (size_t at = 0; at + n < whole.file.n; at += at < 300 ? 1 : 5) {
			uint8_t *p = copy_of(&whole.file, 0);
			struct outcome o;

			memmove(p + at, p + at + n, whole.file.n - at - n);
			o = read_file(p, whole.file.n - n);
			free(p);
			/* What is left of two blocks may make up one: of both, the later. */
			expect(&o, 1, o.seen | samples_outside(at, at + n), "cut out", at);
		}
	}
}

/* --- blocks in other places -------------------------------------------------------------- */

/* Files made of the pieces of the whole one. */
static struct outcome
reassemble(const size_t *order, size_t nr)
{
	uint8_t *p = malloc(whole.file.n * 2);
	size_t n = whole.header_end;
	struct outcome o;

	memcpy(p, whole.file.p, n);
	for (size_t i = 0; i < nr; i++) {
		const struct block_map *m = &whole.blocks[order[i]];

		memcpy(p + n, whole.file.p + m->from, m->to - m->from);
		n += m->to - m->from;
	}
	o = read_file(p, n);
	free(p);
	return o;
}

static void
test_blocks_missing(void **state)
{
	for (size_t gone = 0; gone < whole.nr_blocks; gone++) {
		size_t order[MAX_BLOCKS], nr = 0;
		struct outcome o;

		for (size_t i = 0; i < whole.nr_blocks; i++) {
			if (i != gone)
				order[nr++] = i;
		}
		o = reassemble(order, nr);
		expect(&o, 1, samples_outside(whole.blocks[gone].from, whole.blocks[gone].from + 1),
		       "missing block", gone);
		assert_int_equal(o.health.damaged_blocks, gone + 1 < whole.nr_blocks);
	}
}

static void
test_blocks_twice(void **state)
{
	for (size_t twice = 0; twice < whole.nr_blocks; twice++) {
		size_t order[MAX_BLOCKS + 1], nr = 0;
		struct outcome o;

		for (size_t i = 0; i < whole.nr_blocks; i++) {
			order[nr++] = i;
			if (i == twice)
				order[nr++] = i;
		}
		o = reassemble(order, nr);
		expect(&o, 1, ALL, "block twice", twice);
	}
}

static void
test_blocks_swapped(void **state)
{
	for (size_t at = 0; at + 1 < whole.nr_blocks; at++) {
		size_t order[MAX_BLOCKS];
		struct outcome o;

		for (size_t i = 0; i < whole.nr_blocks; i++)
			order[i] = i;
		order[at] = at + 1;
		order[at + 1] = at;
		o = reassemble(order, whole.nr_blocks);
		/* The one that comes late comes. */
		expect(&o, 1, ALL, "swapped block", at);
		assert_int_equal(o.health.damaged_blocks, 0);
	}
}

static void
put_block(struct buf *out, struct block_header h, const uint8_t *file_id, struct span payload)
{
	uint8_t header[BLOCK_HEADER_BYTES];

	h.offset = out->len;
	h.raw_length = h.stored_length = (uint32_t)payload.len;
	h.flags |= BLOCK_F_STORED;
	h.payload_crc = crc32c(0, payload.p, payload.len);
	block_header_encode(&h, file_id, header);
	buf_append(out, header, sizeof(header));
	buf_append(out, payload.p, payload.len);
}

/*
 * A recording of this file's own beginning and one of another inside a payload that is not
 * compressed: even when the block around them is damaged, nothing of them is believed.
 */
static void
test_recording_inside(void **state)
{
	struct memory_file other = { 0 };
	struct recording_meta *meta = maker_meta(1);
	size_t holder, from = 2;
	struct outcome o;
	struct buf b, payload;

	buf_init(&b);
	buf_init(&payload);
	maker_recording(&other, 2, SAMPLES, 500, 5);
	buf_append(&payload, other.p, other.n);
	buf_append(&payload, whole.file.p, whole.blocks[from].from);
	buf_append(&b, whole.file.p, whole.blocks[from].from);
	holder = b.len;
	put_block(&b, (struct block_header){ .type = BLOCK_KSYMS, .seq = from }, meta->file_id,
		  buf_span(&payload));
	for (size_t i = from; i < whole.nr_blocks; i++) {
		struct block_header h;
		struct span s = span_of(whole.file.p + whole.blocks[i].from,
					whole.blocks[i].to - whole.blocks[i].from);

		assert_int_equal(block_header_decode(s, meta->file_id, &h), 0);
		h.seq++;
		h.offset = b.len;
		buf_append(&b, s.p, s.len);
		block_header_encode(&h, meta->file_id, b.p + b.len - s.len);
	}
	for (int header_too = 0; header_too < 2; header_too++) {
		for (size_t at = holder; at < holder + 2000; at += 97) {
			b.p[at] ^= 0x10;
			o = read_file(b.p, b.len);
			expect(&o, 1, ALL, "damage around a recording", at);
			assert_int_equal(o.health.damaged_blocks, 1);
			b.p[at] ^= 0x10;
		}
		b.p[20] ^= 1; /* the file id has to be found without the header */
	}
	recording_meta_free(meta);
	memory_file_done(&other);
	buf_done(&payload);
	buf_done(&b);
}

/* --- made by another version ------------------------------------------------------------- */

static struct outcome
with_block(struct block_header h)
{
	struct recording_meta *meta = maker_meta(1);
	const uint64_t at = whole.blocks[whole.nr_blocks - 1].to;
	struct outcome o;
	struct recording_reader *r;
	struct block b;
	struct buf out;

	buf_init(&out);
	buf_append(&out, whole.file.p, at);
	h.seq = whole.nr_blocks;
	put_block(&out, h, meta->file_id, span_of("sixteen bytes...", 16));
	memset(&o, 0, sizeof(o));
	assert_int_equal(recording_reader_open(io_source_memory(out.p, out.len), &r, NULL), 0);
	while ((o.verdict = recording_reader_next(r, NULL, NULL, &b, &o.where)) > 0)
		continue;
	o.health = *recording_reader_health(r);
	recording_reader_close(r);
	recording_meta_free(meta);
	buf_done(&out);
	return o;
}

static void
test_blocks_of_the_future(void **state)
{
	struct outcome o;

	o = with_block((struct block_header){ .type = 200 });
	assert_int_equal(o.verdict, 0);
	assert_int_equal(o.health.unknown_blocks, 1);
	assert_int_equal(o.health.damaged_bytes, 0);
	o = with_block((struct block_header){ .type = 200, .flags = BLOCK_F_CRITICAL });
	assert_int_equal(o.verdict, -FMT_E_VERSION);
	assert_int_equal(o.where.offset, whole.file.n);
	o = with_block((struct block_header){
		.type = BLOCK_RECORDS, .encoding = BLOCK_COLUMNAR + 1, .flags = BLOCK_F_CRITICAL });
	assert_int_equal(o.verdict, -FMT_E_VERSION);
	o = with_block((struct block_header){
		.type = BLOCK_STATE, .encoding = BLOCK_COLUMNAR, .flags = BLOCK_F_CRITICAL });
	assert_int_equal(o.verdict, -FMT_E_VERSION);
	o = with_block((struct block_header){ .type = BLOCK_LOSS, .flags = 1u << 9 });
	assert_int_equal(o.verdict, 0);
	assert_int_equal(o.health.unknown_blocks, 1);
	o = with_block((struct block_header){ .type = BLOCK_LOSS, .flags = 1u << 20 });
	assert_int_equal(o.health.unknown_blocks, 0);
	assert_int_equal(o.verdict, 0);
}

static void
test_header_of_the_future(void **state)
{
	struct recording_header h;
	uint8_t *p = copy_of(&whole.file, 0);
	struct outcome o;

	assert_int_equal(recording_header_decode(span_of(p, whole.file.n), &h), 0);
	h.version = 77;
	h.compatible = UINT64_MAX;
	recording_header_encode(&h, p);
	o = read_file(p, whole.file.n);
	expect(&o, 0, ALL, "newer compatible header", 0);
	h.incompatible = 1;
	recording_header_encode(&h, p);
	o = read_file(p, whole.file.n);
	assert_int_equal(o.open_error, -FMT_E_VERSION);
	free(p);
}

/* Fields appended to a block header are passed over. */
static void
test_longer_block_header(void **state)
{
	struct recording_meta *meta = maker_meta(1);
	uint8_t header[BLOCK_HEADER_BYTES + 16] = { 0 };
	struct block_header h = { .type = BLOCK_END, .flags = BLOCK_F_STORED, .seq = 3 }, back;
	uint32_t crc;

	block_header_encode(&h, meta->file_id, header);
	le16enc(header + 12, sizeof(header));
	header[BLOCK_HEADER_BYTES + 3] = 7;
	crc = crc32c(0, header + 12, sizeof(header) - 12);
	le32enc(header + 8, crc32c(crc, meta->file_id, FILE_ID_BYTES));
	assert_int_equal(block_header_decode(span_of(header, sizeof(header)), meta->file_id, &back),
			 0);
	assert_int_equal(back.header_size, sizeof(header));
	for (size_t n = 0; n < sizeof(header); n++)
		assert_int_equal(block_header_decode(span_of(header, n), meta->file_id, &back),
				 -FMT_E_TRUNCATED);
	recording_meta_free(meta);
}

/* --- not a recording, or made to hurt ---------------------------------------------------- */

static void
test_not_a_recording(void **state)
{
	static const char text[] = "#!/bin/sh\necho this is not a recording, whatever its name\n";
	struct outcome o;

	for (size_t n = 1; n < sizeof(text); n++) {
		o = read_file(text, n);
		assert_int_equal(o.open_error, -FMT_E_NOT_RECORDING);
	}
}

/*
 * Headers that are right but lie: each claims the same long payload. Reading it for each of
 * them would take minutes.
 */
static void
test_headers_that_lie(void **state)
{
	struct recording_meta *meta = maker_meta(1);
	struct block_header h = { .type = BLOCK_KSYMS, .flags = BLOCK_F_STORED };
	struct outcome o;
	struct buf b;

	buf_init(&b);
	buf_append(&b, whole.file.p, whole.header_end);
	for (uint32_t i = 0; i < 200000; i++) {
		uint8_t header[BLOCK_HEADER_BYTES];

		h.seq = i;
		h.offset = b.len;
		h.stored_length = h.raw_length = (200000 - i - 1) * BLOCK_HEADER_BYTES;
		block_header_encode(&h, meta->file_id, header);
		buf_append(&b, header, sizeof(header));
	}
	o = read_file(b.p, b.len);
	assert_int_equal(o.verdict, 1);
	assert_int_equal(o.seen, 0);
	recording_meta_free(meta);
	buf_done(&b);
}

/* Records that a reader finds in a file of one block with n samples that are all the same. */
static uint32_t
records_of_one_block(uint32_t n, bool columnar, bool by_columns)
{
	struct recording_meta *meta = maker_meta(1);
	struct columns_encoder *encoder = columns_encoder_new();
	struct block_header h = { .type = BLOCK_RECORDS,
				  .flags = BLOCK_F_STORED | BLOCK_F_CRITICAL,
				  .encoding = columnar ? BLOCK_COLUMNAR : BLOCK_VERBATIM,
				  .records = n,
				  .samples = n,
				  .t_min = 10,
				  .t_max = 10,
				  .complete = 10 };
	uint8_t header[BLOCK_HEADER_BYTES];
	struct recording_reader *r;
	struct stream_record rec;
	struct record_stream *s;
	struct buf b, records;
	uint32_t found;
	size_t start;

	buf_init(&b);
	buf_init(&records);
	for (uint32_t i = 0; i < n; i++)
		maker_sample(&records, 0, 10, 1);
	buf_append(&b, whole.file.p, whole.header_end);
	h.offset = start = b.len;
	buf_zero(&b, sizeof(header));
	if (columnar)
		assert_int_equal(columns_encode(encoder, meta->events, buf_span(&records), &b), 0);
	else
		buf_append(&b, records.p, records.len);
	h.raw_length = h.stored_length = (uint32_t)(b.len - start - sizeof(header));
	h.payload_crc = crc32c(0, b.p + start + sizeof(header), h.raw_length);
	block_header_encode(&h, meta->file_id, header);
	memcpy(b.p + start, header, sizeof(header));
	assert_int_equal(recording_reader_open(io_source_memory(b.p, b.len), &r, NULL), 0);
	assert_int_equal(record_stream_open(r, &s), 0);
	if (by_columns)
		record_stream_columns(s, NULL, NULL);
	while (record_stream_next(s, &rec, NULL) > 0)
		;
	found = (uint32_t)record_stream_stats(s)->by_type[REC_SAMPLE];
	record_stream_close(s);
	recording_reader_close(r);
	columns_encoder_free(encoder);
	recording_meta_free(meta);
	buf_done(&records);
	buf_done(&b);
	return found;
}

/* A few bytes can be columns of any number of records: a block has two MiB at most. */
static void
test_many_records(void **state)
{
	uint32_t bytes, most;
	struct buf one;

	buf_init(&one);
	maker_sample(&one, 0, 10, 1);
	bytes = (uint32_t)one.len;
	buf_done(&one);
	most = (2u << 20) / bytes;
	for (int columnar = 0; columnar < 2; columnar++)
		for (int by_columns = 0; by_columns < 2; by_columns++) {
			assert_int_equal(records_of_one_block(most, columnar, by_columns), most);
			assert_int_equal(records_of_one_block(most + 1, columnar, by_columns), 0);
		}
}

static void
test_garbage_is_linear(void **state)
{
	const size_t n = 32u << 20;
	uint8_t *p = malloc(n);
	struct outcome o;

	assert_non_null(p);
	for (size_t i = 0; i + 8 <= n; i += 8)
		memcpy(p + i, BLOCK_SYNC, 8);
	o = read_file(p, n);
	assert_int_equal(o.open_error, -FMT_E_NOT_RECORDING);
	/* And behind a good header, with META blocks that lie about their length. */
	memcpy(p, whole.file.p, whole.file.n);
	for (size_t i = whole.file.n; i + BLOCK_HEADER_BYTES <= n; i += BLOCK_HEADER_BYTES) {
		memcpy(p + i, whole.file.p + whole.header_end, BLOCK_HEADER_BYTES);
		le32enc(p + i + 80, RECORDING_META_MAX);
		le32enc(p + i + 84, RECORDING_META_MAX);
	}
	o = read_file(p, n);
	expect(&o, 1, ALL, "garbage behind", 0);
	for (size_t i = 0; i < whole.nr_blocks; i++)
		p[whole.blocks[i].from] ^= 1;
	p[0] ^= 1;
	o = read_file(p, n);
	assert_int_equal(o.open_error, -FMT_E_NOT_RECORDING);
	free(p);
}

/* --- live -------------------------------------------------------------------------------- */

struct growing {
	struct io_source io;
	size_t n;
};

static ssize_t
growing_read(struct io_source *io, uint64_t offset, void *p, size_t n)
{
	size_t size = ((struct growing *)io)->n;

	if (offset >= size)
		return 0;
	if (n > size - offset)
		n = size - offset;
	memcpy(p, whole.file.p + offset, n);
	return (ssize_t)n;
}

static int64_t
growing_size(struct io_source *io)
{
	return (int64_t)((struct growing *)io)->n;
}

static void
growing_close(struct io_source *io)
{
}

static void
test_live_file(void **state)
{
	for (size_t step = 1; step < 2000; step = step * 3 + 1) {
		struct growing g = { { growing_read, growing_size, growing_close, NULL }, 0 };
		struct recording_reader *r;
		struct block b;
		size_t blocks = 0;
		int result;

		g.n = whole.header_end;
		assert_int_equal(recording_reader_open(&g.io, &r, NULL), 0);
		for (;;) {
			while ((result = recording_reader_next(r, NULL, NULL, &b, NULL)) > 0)
				assert_int_equal(b.offset, whole.blocks[blocks++].from);
			assert_int_equal(result, 0);
			assert_int_equal(recording_reader_health(r)->damaged_blocks, 0);
			assert_int_equal(recording_reader_health(r)->damaged_bytes, 0);
			if (g.n == whole.file.n)
				break;
			g.n = g.n + step < whole.file.n ? g.n + step : whole.file.n;
		}
		assert_int_equal(blocks, whole.nr_blocks);
		assert_true(recording_health_clean(recording_reader_health(r)));
		recording_reader_close(r);
	}
}

static bool
want_meta(const struct block_header *h, void *arg)
{
	return h->type == BLOCK_META;
}

/* Blocks that nobody wants are passed over by their header, and hide nothing behind them. */
static void
test_want(void **state)
{
	for (size_t gone = 0; gone < 40; gone++) {
		const uint64_t at = whole.blocks[2].from + BLOCK_HEADER_BYTES + 5;
		uint8_t *p = copy_of(&whole.file, 0);
		struct recording_reader *r;
		size_t metas = 0, want = 0;
		struct block b;

		memmove(p + at, p + at + gone, whole.file.n - at - gone);
		assert_int_equal(recording_reader_open(io_source_memory(p, whole.file.n - gone), &r,
						       NULL),
				 0);
		while (recording_reader_next(r, want_meta, NULL, &b, NULL) > 0) {
			assert_int_equal(b.header.type, BLOCK_META);
			metas++;
		}
		for (size_t i = 0; i < whole.nr_blocks; i++)
			want += whole.blocks[i].type == BLOCK_META;
		assert_int_equal(metas, want);
		assert_int_equal(recording_health_clean(recording_reader_health(r)), gone == 0);
		recording_reader_close(r);
		free(p);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_meta),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_meta_of_the_future),
		cmocka_unit_test(test_cut_everywhere),
		cmocka_unit_test(test_flip_everywhere),
		cmocka_unit_test(test_zeroed_ranges),
		cmocka_unit_test(test_bytes_inserted),
		cmocka_unit_test(test_bytes_cut_out),
		cmocka_unit_test(test_blocks_missing),
		cmocka_unit_test(test_blocks_twice),
		cmocka_unit_test(test_blocks_swapped),
		cmocka_unit_test(test_recording_inside),
		cmocka_unit_test(test_blocks_of_the_future),
		cmocka_unit_test(test_header_of_the_future),
		cmocka_unit_test(test_longer_block_header),
		cmocka_unit_test(test_not_a_recording),
		cmocka_unit_test(test_headers_that_lie),
		cmocka_unit_test(test_many_records),
		cmocka_unit_test(test_garbage_is_linear),
		cmocka_unit_test(test_live_file),
		cmocka_unit_test(test_want),
	};

	return cmocka_run_group_tests(tests, make_fixture, free_fixture);
}
