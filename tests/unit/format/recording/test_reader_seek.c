/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows, by the indexes: whatever the indexes are, the records are those that reading the
 * whole file gives, and when they are right, little else is read.
 */
#include "tests/lab/recording_maker.h"

#include <stdlib.h>
#include <string.h>

#include "format/block/gap.h"
#include "format/block/loss.h"
#include "format/block/recording_index.h"
#include "format/bytes/crc32c.h"
#include "format/recording/record_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define SAMPLES 900
#define RECORDS_MAX 3000
#define FIRST 10000 /* time of the first sample of a made recording */

/* --- a source that counts, and may grow -------------------------------------------------- */

struct counting {
	struct io_source io;
	const struct memory_file *f;
	size_t visible; /* of the file, so far */
	size_t step;	/* more at each question for the size */
	uint64_t bytes;
};

static ssize_t
counting_read(struct io_source *io, uint64_t offset, void *p, size_t n)
{
	struct counting *c = (struct counting *)io;

	if (offset >= c->visible)
		return 0;
	if (n > c->visible - offset)
		n = c->visible - (size_t)offset;
	memcpy(p, c->f->p + offset, n);
	c->bytes += n;
	return (ssize_t)n;
}

static int64_t
counting_size(struct io_source *io)
{
	struct counting *c = (struct counting *)io;

	c->visible = c->visible + c->step < c->f->n ? c->visible + c->step : c->f->n;
	return (int64_t)c->visible;
}

static void
counting_close(struct io_source *io)
{
	(void)io;
}

/* --- what a stream gives ----------------------------------------------------------------- */

struct given {
	uint64_t time, ip; /* ip 0: no sample */
	bool state;
};

struct read {
	struct given records[RECORDS_MAX];
	size_t nr;
	uint64_t bytes, lost;
	size_t gaps;
	bool closed;
};

static void
read_window(const struct memory_file *f, size_t begin, size_t step, uint64_t from, uint64_t until,
	    struct read *ret)
{
	struct counting source = {
		{ counting_read, counting_size, counting_close, NULL }, f, begin, step, 0
	};
	struct recording_reader *r;
	struct record_stream *s;
	struct stream_record rec;
	int more;

	memset(ret, 0, sizeof(*ret));
	assert_int_equal(recording_reader_open(&source.io, &r, NULL), 0);
	assert_int_equal(record_stream_open(r, &s), 0);
	record_stream_window(s, from, until);
	while ((more = record_stream_next(s, &rec, NULL)) > 0) {
		assert_non_null(rec.record);
		assert_true(ret->nr < RECORDS_MAX);
		ret->records[ret->nr++] = (struct given){
			rec.record->sid.time,
			rec.record->type == REC_SAMPLE ? rec.record->sample.ip : 0,
			rec.state,
		};
	}
	assert_int_equal(more, 0);
	ret->bytes = source.bytes;
	ret->lost = loss_samples(record_stream_loss(s));
	ret->gaps = record_stream_gaps(s)->nr;
	ret->closed = recording_reader_health(r)->closed;
	record_stream_close(s);
	recording_reader_close(r);
}

/* What the window has to give, from all that the file has. */
static void
expect(const struct read *all, uint64_t from, uint64_t until, const struct read *got,
       const char *what, unsigned int which)
{
	size_t n = 0;

	for (size_t i = 0; i < all->nr; i++) {
		const struct given *g = &all->records[i];

		if (!g->state && (g->time >= until || (g->ip && g->time < from)))
			continue;
		if (n >= got->nr || memcmp(g, &got->records[n], sizeof(*g)) != 0)
			fail_msg("%s %u, [%ju, %ju): record %zu of %zu is not ip %ju at %ju", what,
				 which, (uintmax_t)from, (uintmax_t)until, n, got->nr,
				 (uintmax_t)g->ip, (uintmax_t)g->time);
		n++;
	}
	if (n != got->nr)
		fail_msg("%s %u: %zu records, want %zu", what, which, got->nr, n);
}

static const uint64_t windows[][2] = {
	{ FIRST, FIRST + 1 },
	{ FIRST + 3000, FIRST + 3100 },
	{ FIRST + 12000, FIRST + 14000 },
	{ FIRST + 14500, UINT64_MAX },
	{ 1, 2 },
	{ 900000, UINT64_MAX },
};
#define NR_WINDOWS (sizeof(windows) / sizeof(windows[0]))

static struct read all, got;

static void
check_windows(const struct memory_file *f, const char *what, unsigned int which)
{
	read_window(f, f->n, 0, 0, UINT64_MAX, &all);
	for (size_t i = 0; i < NR_WINDOWS; i++) {
		read_window(f, f->n, 0, windows[i][0], windows[i][1], &got);
		expect(&all, windows[i][0], windows[i][1], &got, what, which);
		assert_int_equal(got.closed, all.closed);
	}
}

/* --- the tests --------------------------------------------------------------------------- */

static void
test_whole(void **state)
{
	for (uint32_t every = 1; every < 40; every += 3) {
		struct memory_file f = { 0 };

		maker_recording(&f, 1, SAMPLES, 500, every);
		check_windows(&f, "an index every", every);
		assert_int_equal(all.nr, SAMPLES + 2 + SAMPLES / 6);
		memory_file_done(&f);
	}
}

/* So that blocks have some size although their samples are all alike. */
static uint64_t
noise(unsigned int i)
{
	uint64_t x = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return x >> 32;
}

/* Samples only, so that what is before the window is not needed. */
static void
samples_only(struct memory_file *f, unsigned int samples, uint32_t block_bytes)
{
	const struct recording_writer_options options = { .block_bytes = block_bytes,
							  .index_every = 64 };
	struct recording_meta *meta = maker_meta(1);
	struct recording_writer *w;
	struct buf b;

	buf_init(&b);
	assert_int_equal(recording_writer_open(memory_sink(f), meta, &options, &w, NULL), 0);
	for (unsigned int i = 1; i <= samples; i++) {
		buf_clear(&b);
		maker_sample(&b, i % 4, FIRST + 10 * i, i | noise(i) << 32);
		assert_int_equal(recording_writer_records(w, buf_span(&b), NULL, NULL), 0);
		recording_writer_pass(w, FIRST + 10 * i);
	}
	assert_int_equal(recording_writer_close(w, 1, NULL), 0);
	recording_meta_free(meta);
	buf_done(&b);
}

static void
test_little_is_read(void **state)
{
	struct memory_file f = { 0 };

	/* Some 580 blocks of some 6 KB. */
	samples_only(&f, 400000, 65536);
	read_window(&f, f.n, 0, FIRST + 500000, FIRST + 500100, &got);
	assert_int_equal(got.nr, 10);
	if (got.bytes > f.n / 10)
		fail_msg("%ju of %zu bytes read for a window", (uintmax_t)got.bytes, f.n);
	/* A live file: its last INDEX is somewhere before its end. */
	f.n -= f.n / 50;
	read_window(&f, f.n, 0, FIRST + 500000, FIRST + 500100, &got);
	assert_int_equal(got.nr, 10);
	if (got.bytes > f.n / 5)
		fail_msg("%ju of %zu bytes read for a window of a live file", (uintmax_t)got.bytes,
			 f.n);
	memory_file_done(&f);
}

static void
test_cut_short(void **state)
{
	struct memory_file f = { 0 };

	maker_recording(&f, 2, 300, 300, 5);
	for (size_t whole = f.n; f.n > whole - 3000; f.n--)
		check_windows(&f, "cut to", (unsigned int)f.n);
	memory_file_done(&f);
}

/* What the reader finds damaged it leaves out, in either way of reading. */
static void
test_damaged(void **state)
{
	struct memory_file f = { 0 };

	maker_recording(&f, 3, 250, 300, 5);
	for (size_t i = 0; i < f.n; i += 3) {
		f.p[i] ^= 0x10;
		read_window(&f, f.n, 0, 0, UINT64_MAX, &all);
		read_window(&f, f.n, 0, FIRST + 3000, FIRST + 3600, &got);
		expect(&all, FIRST + 3000, FIRST + 3600, &got, "flipped at", (unsigned int)i);
		f.p[i] ^= 0x10;
	}
	memory_file_done(&f);
}

/* Of each kind, what was got is the front of what there is to have. */
static void
expect_front(const struct read *whole, uint64_t from, bool samples)
{
	size_t n = 0;

	for (size_t i = 0; i < whole->nr; i++) {
		const struct given *g = &whole->records[i];

		if ((g->ip != 0) != samples || (samples && g->time < from))
			continue;
		while (n < got.nr && (got.records[n].ip != 0) != samples)
			n++;
		if (n == got.nr)
			return;
		assert_memory_equal(g, &got.records[n++], sizeof(*g));
	}
	while (n < got.nr && (got.records[n].ip != 0) != samples)
		n++;
	assert_int_equal(n, got.nr);
}

/* At the end of what there is, side-band may be there whose samples are not yet. */
static void
test_growing(void **state)
{
	struct memory_file f = { 0 };
	static struct read whole;

	maker_recording(&f, 4, SAMPLES, 500, 7);
	read_window(&f, f.n, 0, 0, UINT64_MAX, &whole);
	for (size_t begin = 2000; begin < f.n; begin += 777) {
		for (size_t step = 1; step < 3000; step *= 3) {
			read_window(&f, begin, step, FIRST + 2000, UINT64_MAX, &got);
			assert_true(got.nr > 2);
			expect_front(&whole, FIRST + 2000, true);
			expect_front(&whole, FIRST + 2000, false);
		}
	}
	memory_file_done(&f);
}

/* --- indexes that lie, with right checksums ---------------------------------------------- */

struct forgery {
	struct memory_file f;
	const uint8_t *file_id;
	uint64_t seq;
};

/* A block of h's type, encoding and flags; returns the header that it got. */
static struct block_header
append_block_as(struct forgery *g, struct block_header h, struct span payload)
{
	uint8_t bytes[BLOCK_HEADER_BYTES];
	struct io_sink *sink = memory_sink(&g->f);

	h.header_size = BLOCK_HEADER_BYTES;
	h.flags |= BLOCK_F_STORED;
	h.seq = g->seq++;
	h.offset = g->f.n;
	h.raw_length = h.stored_length = (uint32_t)payload.len;
	h.payload_crc = crc32c(0, payload.p, payload.len);
	block_header_encode(&h, g->file_id, bytes);
	assert_int_equal(sink->write(sink, bytes, sizeof(bytes)), 0);
	assert_int_equal(sink->write(sink, payload.p, payload.len), 0);
	sink->close(sink);
	return h;
}

static void
append_block(struct forgery *g, uint8_t type, struct span payload)
{
	append_block_as(g, (struct block_header){ .type = type }, payload);
}

struct lie {
	int entry;		 /* which, from the last; -1: the INDEX itself */
	unsigned int at;	 /* byte of the entry, or of the INDEX */
	unsigned int change;	 /* added to it */
	unsigned int bytes_more; /* that entries have */
	unsigned int omitted;	 /* last entries left out */
	enum { BELIEVED, NOTICED, REFUSED } what;
};

static const struct lie lies[] = {
	{ 0, 0, 0, 0, 0, BELIEVED }, /* the truth */
	{ 0, 0, 0, 8, 0, BELIEVED }, /* of a later version */
	{ 0, 0, 1, 0, 0, REFUSED },  /* offset */
	{ 3, 1, 1, 0, 0, REFUSED },  /* offset */
	{ 2, 8, 1, 0, 0, REFUSED },  /* seq */
	{ 1, 52, 1, 0, 0, REFUSED }, /* stored_length */
	{ 1, 62, 1, 0, 0, REFUSED }, /* header_size */
	{ 0, 0, 0, 0, 1, REFUSED },  /* not all of them */
	{ -1, 4, 8, 0, 0, REFUSED }, /* entry_size */
	{ -1, 0, 1, 0, 0, REFUSED }, /* count */
	{ -1, 8, 3, 0, 0, REFUSED }, /* previous */
	{ 1, 24, 1, 0, 0, NOTICED }, /* t_max, of a block that the window needs */
	{ 0, 40, 1, 0, 0, NOTICED }, /* records */
};

/* The file again, with an INDEX of our making at its end. */
static void
forge(struct forgery *g, const struct memory_file *f, const struct lie *lie)
{
	struct recording_reader *r;
	struct buf index, payload;
	struct recording_end end = { 0 };
	struct io_sink *sink;
	struct block b;
	uint64_t cut = 0, seq = 0, previous = 0;
	size_t size = INDEX_ENTRY_BYTES + lie->bytes_more, n;

	buf_init(&index);
	buf_init(&payload);
	assert_int_equal(recording_reader_open(io_source_memory(f->p, f->n), &r, NULL), 0);
	recording_index_begin(&index, 0);
	/* All but the last META, INDEX and END. */
	while (recording_reader_next(r, NULL, NULL, &b, NULL) > 0) {
		if (b.header.type == BLOCK_RECORDS) {
			cut = b.offset + BLOCK_HEADER_BYTES + b.header.stored_length;
			seq = b.header.seq;
		}
	}
	recording_reader_rewind(r);
	while (recording_reader_next(r, NULL, NULL, &b, NULL) > 0 && b.header.seq <= seq) {
		if (b.header.type == BLOCK_INDEX)
			recording_index_begin(&index, previous = b.offset);
		else
			recording_index_add(&index, &b.header);
	}
	n = le32dec(index.p) - lie->omitted;
	buf_u32(&payload, (uint32_t)n);
	buf_u32(&payload, (uint32_t)size);
	buf_u64(&payload, previous);
	for (size_t i = 0; i < n; i++) {
		buf_append(&payload, index.p + INDEX_HEADER_BYTES + i * INDEX_ENTRY_BYTES,
			   INDEX_ENTRY_BYTES);
		for (size_t k = 0; k < lie->bytes_more; k++)
			buf_u8(&payload, 0xee);
	}
	if (lie->entry < 0)
		payload.p[lie->at] = (uint8_t)(payload.p[lie->at] + lie->change);
	else
		payload.p[INDEX_HEADER_BYTES + (n - 1 - (size_t)lie->entry) * size + lie->at] +=
			(uint8_t)lie->change;
	memset(g, 0, sizeof(*g));
	g->file_id = recording_reader_meta(r)->file_id;
	g->seq = seq + 1;
	sink = memory_sink(&g->f);
	assert_int_equal(sink->write(sink, f->p, cut), 0);
	sink->close(sink);
	end.index = g->f.n;
	append_block(g, BLOCK_INDEX, buf_span(&payload));
	buf_clear(&payload);
	end.blocks = g->seq;
	recording_end_encode(&end, &payload);
	append_block(g, BLOCK_END, buf_span(&payload));
	recording_reader_close(r);
	buf_done(&index);
	buf_done(&payload);
}

static void
test_lies(void **state)
{
	struct memory_file f = { 0 };
	uint64_t honest = 0;

	samples_only(&f, 20000, 8192);
	for (unsigned int i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		uint64_t from = FIRST + 10 * 19900;
		struct forgery g;

		forge(&g, &f, &lies[i]);
		read_window(&g.f, g.f.n, 0, from, UINT64_MAX, &got);
		assert_int_equal(got.nr, 101);
		for (size_t k = 0; k < got.nr; k++)
			assert_int_equal((uint32_t)got.records[k].ip, 19900 + k);
		assert_true(got.closed);
		if (i == 0)
			honest = got.bytes;
		if ((lies[i].what == BELIEVED && got.bytes > honest + 4096) ||
		    (lies[i].what == REFUSED && got.bytes < honest * 4))
			fail_msg("lie %u: %ju bytes read, %ju when all is right", i,
				 (uintmax_t)got.bytes, (uintmax_t)honest);
		memory_file_done(&g.f);
	}
	memory_file_done(&f);
}

/* An INDEX that hides a block in its place is believed; that is what verify is for. */
static void
test_verify_knows(void **state)
{
	const struct lie hidden = { .entry = 0, .at = 24, .change = 0x80 };
	struct memory_file f = { 0 };
	struct recording_reader *r;
	struct forgery g;

	samples_only(&f, 2000, 8192);
	forge(&g, &f, &hidden);
	assert_int_equal(recording_reader_open(io_source_memory(g.f.p, g.f.n), &r, NULL), 0);
	assert_int_equal(recording_reader_verify(r, NULL), 1);
	assert_true(recording_reader_health(r)->bad_indexes > 0);
	recording_reader_close(r);
	memory_file_done(&g.f);
	memory_file_done(&f);
}

static bool
want_nothing(const struct block_header *h, void *arg)
{
	(void)h;
	(void)arg;
	return false;
}

/* What a file with one more block, of h, and a right INDEX behind it says to who seeks nothing. */
static int
seek_past(struct block_header h)
{
	struct memory_file f = { 0 };
	struct forgery g = { .seq = 0 };
	struct recording_reader *r;
	struct io_sink *sink = memory_sink(&g.f);
	struct buf index;
	struct block b;
	int result;

	maker_recording(&f, 1, 10, 4096, 64);
	buf_init(&index);
	recording_index_begin(&index, 0);
	assert_int_equal(recording_reader_open(io_source_memory(f.p, f.n), &r, NULL), 0);
	while ((result = recording_reader_next(r, NULL, NULL, &b, NULL)) > 0 &&
	       b.header.type != BLOCK_INDEX) {
		recording_index_add(&index, &b.header);
		g.seq = b.header.seq + 1;
	}
	assert_int_equal(result, 1);
	assert_int_equal(sink->write(sink, f.p, b.offset), 0);
	sink->close(sink);
	g.file_id = recording_reader_meta(r)->file_id;
	h = append_block_as(&g, h, span_of("sixteen bytes...", 16));
	recording_index_add(&index, &h);
	append_block(&g, BLOCK_INDEX, buf_span(&index));
	recording_reader_close(r);
	assert_int_equal(recording_reader_open(io_source_memory(g.f.p, g.f.n), &r, NULL), 0);
	assert_int_equal(recording_reader_seek(r, want_nothing, NULL, NULL), 0);
	result = recording_reader_next(r, want_nothing, NULL, &b, NULL);
	recording_reader_close(r);
	memory_file_done(&g.f);
	memory_file_done(&f);
	buf_done(&index);
	return result;
}

/* A file that a reader has to refuse it refuses, also where it would not have looked. */
static void
test_critical_is_not_passed_over(void **state)
{
	assert_int_equal(seek_past((struct block_header){ .type = BLOCK_LOSS }), 0);
	assert_int_equal(seek_past((struct block_header){ .type = 200 }), 0);
	assert_int_equal(
		seek_past((struct block_header){ .type = BLOCK_LOSS, .flags = BLOCK_F_CRITICAL }),
		0);
	assert_int_equal(seek_past((struct block_header){ .type = 200, .flags = BLOCK_F_CRITICAL }),
			 -FMT_E_VERSION);
	assert_int_equal(seek_past((struct block_header){ .type = BLOCK_RECORDS,
							  .encoding = BLOCK_COLUMNAR + 1,
							  .flags = BLOCK_F_CRITICAL }),
			 -FMT_E_VERSION);
	assert_int_equal(seek_past((struct block_header){ .type = BLOCK_STATE,
							  .encoding = BLOCK_COLUMNAR,
							  .flags = BLOCK_F_CRITICAL }),
			 -FMT_E_VERSION);
}

/* --- what belongs to a window besides records -------------------------------------------- */

static void
put_loss(struct recording_writer *w, struct loss *l, uint64_t more)
{
	struct buf b;

	buf_init(&b);
	assert_int_equal(loss_add(l, 2, LOSS_KERNEL_SAMPLES, more), 0);
	loss_encode(l, &b);
	assert_int_equal(recording_writer_block(w, BLOCK_LOSS, buf_span(&b), NULL), 0);
	buf_done(&b);
}

static void
put_gap(struct recording_writer *w, uint64_t from, uint64_t until)
{
	struct buf b;

	buf_init(&b);
	gap_begin(&b);
	gap_add(&b, &(struct gap){ LOSS_CPU_OFFLINE, 1, from, until, 0 });
	assert_int_equal(recording_writer_block(w, BLOCK_GAP, buf_span(&b), NULL), 0);
	buf_done(&b);
}

static void
test_loss_of_a_window(void **state)
{
	struct recording_meta *meta = maker_meta(1);
	struct loss *l = loss_new();
	struct memory_file f = { 0 };
	struct recording_writer *w;
	struct buf b;

	assert_non_null(l);
	buf_init(&b);
	assert_int_equal(recording_writer_open(memory_sink(&f), meta, NULL, &w, NULL), 0);
	for (unsigned int i = 0; i < 10; i++) {
		buf_clear(&b);
		maker_comm(&b, 0, 1000 * i + 10, 7, "x");
		maker_sample(&b, 0, 1000 * i + 500, i + 1);
		assert_int_equal(recording_writer_records(w, buf_span(&b), NULL, NULL), 0);
		recording_writer_pass(w, 1000 * (i + 1));
		put_loss(w, l, 1 + i); /* 1 + 2 + ... + 10 */
		put_gap(w, 1000 * i + 100, i == 9 ? 0 : 1000 * i + 200);
		assert_int_equal(recording_writer_flush(w, NULL), 0);
	}
	assert_int_equal(recording_writer_close(w, 1, NULL), 0);
	read_window(&f, f.n, 0, 0, UINT64_MAX, &got);
	assert_int_equal(got.lost, 55);
	assert_int_equal(got.gaps, 10);
	read_window(&f, f.n, 0, 4000, 6000, &got);
	assert_int_equal(got.lost, 5 + 6);
	assert_int_equal(got.gaps, 2);
	/* In the middle of a block, all of the block. */
	read_window(&f, f.n, 0, 4150, 4160, &got);
	assert_int_equal(got.lost, 5);
	assert_int_equal(got.gaps, 1);
	read_window(&f, f.n, 0, 9300, UINT64_MAX, &got);
	assert_int_equal(got.lost, 10);
	assert_int_equal(got.gaps, 1);
	memory_file_done(&f);
	recording_meta_free(meta);
	loss_free(l);
	buf_done(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_little_is_read),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_growing),
		cmocka_unit_test(test_lies),
		cmocka_unit_test(test_verify_knows),
		cmocka_unit_test(test_loss_of_a_window),
		cmocka_unit_test(test_critical_is_not_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
