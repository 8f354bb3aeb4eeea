/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording of all shapes of samples, damaged: cut at every byte, every bit flipped, sectors
 * zeroed, swapped and taken from elsewhere, garbage that looks like blocks, splices, a
 * recording inside a record. The samples of blocks that were not touched come back to the
 * byte, each once; nothing comes that was not written; and damage is told.
 * DAMAGE is how many times as much as `make check` does.
 */
#include "tests/lab/numbered.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/block/recording_header.h"
#include "format/record/perf_sample.h"
#include "tests/lab/record_sample.h"

#define BLOCKS_MAX 128
#define NUMBERS_MAX 512

struct block_map {
	uint64_t from, to;
	uint64_t first, last; /* numbers; 0: none */
};

static struct whole {
	struct fault_file file;
	struct recording_meta *meta;
	struct block_map blocks[BLOCKS_MAX];
	size_t nr_blocks;
	uint64_t first, last; /* numbers */
	uint64_t header_end;
} a, b; /* of a small one and a large one, with other numbers, and another id */

static void
map_block(struct whole *w, const struct block *block)
{
	struct block_map *m = &w->blocks[w->nr_blocks++];
	struct span payload = block->payload, bytes;
	struct perf_record record;

	assert_true(w->nr_blocks < BLOCKS_MAX);
	*m = (struct block_map){ .from = block->offset };
	m->to = m->from + block->header.header_size + block->header.stored_length;
	if (block->header.type != BLOCK_RECORDS)
		return;
	while (perf_record_next(&payload, &bytes) > 0) {
		assert_int_equal(event_set_parse(w->meta->events, bytes, &record, NULL), 0);
		if (record.type != REC_SAMPLE)
			continue;
		if (!m->first)
			m->first = record.sample.ip;
		m->last = record.sample.ip;
	}
}

static void
make(struct whole *w, uint8_t seed, const struct numbered_script *s)
{
	struct recording_header h;
	struct recording_reader *r;
	struct numbered_progress p;
	struct block block;

	fault_file_init(&w->file, 1u << 20);
	w->meta = numbered_meta(seed);
	assert_int_equal(numbered_write(fault_sink(&w->file), w->meta, s, &p), 0);
	w->first = s->first;
	w->last = p.given;
	assert_true(w->last - w->first < NUMBERS_MAX);
	assert_int_equal(recording_header_decode(span_of(w->file.p, w->file.n), &h), 0);
	w->header_end = recording_header_end(&h);
	assert_int_equal(recording_reader_open(io_source_memory(w->file.p, w->file.n), &r, NULL),
			 0);
	while (recording_reader_next(r, NULL, NULL, &block, NULL) > 0)
		map_block(w, &block);
	assert_true(recording_health_clean(recording_reader_health(r)));
	recording_reader_close(r);
}

static int
setup(bool verbatim)
{
	struct numbered_result r;

	make(&a, 1,
	     &(struct numbered_script){ .first = 1,
					.passes = 6,
					.per_pass = 6,
					.block_bytes = 900,
					.index_every = 5,
					.small_every = 4,
					.verbatim = verbatim });
	make(&b, 2,
	     &(struct numbered_script){ .first = 1000,
					.passes = 40,
					.per_pass = 12,
					.block_bytes = 6000,
					.index_every = 6,
					.small_every = 5,
					.verbatim = verbatim });
	numbered_read(io_source_memory(b.file.p, b.file.n), b.first, b.last, NULL, &r);
	if (verbatim)
		assert_int_equal(r.columnar, 0);
	assert_true((verbatim ? r.verbatim : r.columnar) >= 4);
	return 0;
}

static int
setup_columns(void **state)
{
	return setup(false);
}

static int
setup_verbatim(void **state)
{
	return setup(true);
}

static int
teardown(void **state)
{
	fault_file_done(&a.file);
	fault_file_done(&b.file);
	recording_meta_free(a.meta);
	recording_meta_free(b.meta);
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	return 0;
}

/* --- what a damaged file gives ----------------------------------------------------------- */

static int
verify(const void *p, size_t n)
{
	struct recording_reader *r;
	int verdict = recording_reader_open(io_source_memory(p, n), &r, NULL);

	if (verdict)
		return verdict;
	verdict = recording_reader_verify(r, NULL);
	recording_reader_close(r);
	return verdict;
}

/* Is the block one that the damage cannot have touched? */
static bool
untouched(const struct block_map *m, uint64_t from, uint64_t to)
{
	return m->first && !(m->from < to && from < m->to);
}

/*
 * Reads p, a damaged form of w; the damage was at [from, to) of the original. exactly: no
 * sample of a touched block may come either.
 */
static void
check(const struct whole *w, const uint8_t *p, size_t n, uint64_t from, uint64_t to, bool exactly,
      const char *what)
{
	static uint8_t seen[NUMBERS_MAX];
	struct numbered_result r;
	int verdict = verify(p, n);

	numbered_read(io_source_memory(p, n), w->first, w->last, seen, &r);
	if (r.error || r.strange || r.twice || verdict != 1)
		fail_msg("%s at %ju..%ju: error %d (%s), verify %d%s%s", what, (uintmax_t)from,
			 (uintmax_t)to, r.error, r.where.detail, verdict,
			 r.strange ? ", strange" : "", r.twice ? ", twice" : "");
	for (size_t i = 0; i < w->nr_blocks; i++) {
		const struct block_map *m = &w->blocks[i];

		if (!m->first || (!exactly && !untouched(m, from, to)))
			continue;
		for (uint64_t k = m->first; k <= m->last; k++)
			if (seen[k - w->first] != untouched(m, from, to))
				fail_msg("%s at %ju..%ju: sample %ju of block %zu %s", what,
					 (uintmax_t)from, (uintmax_t)to, (uintmax_t)k, i,
					 seen[k - w->first] ? "came" : "did not come");
	}
}

static uint8_t *
copy(const struct whole *w, size_t extra)
{
	uint8_t *p = malloc(w->file.n + extra);

	assert_non_null(p);
	memcpy(p, w->file.p, w->file.n);
	return p;
}

/* --- cut and flipped --------------------------------------------------------------------- */

static void
test_cut(void **state)
{
	for (size_t n = a.header_end; n < a.file.n; n++) {
		uint8_t *p = malloc(n); /* for sanitizers: not a byte more */

		memcpy(p, a.file.p, n);
		check(&a, p, n, n, a.file.n, true, "cut");
		free(p);
	}
	/* The large one at some thousand places. */
	for (size_t n = b.header_end; n < b.file.n; n += 13)
		check(&b, b.file.p, n, n, b.file.n, true, "cut");
	print_message("# cut at %ju and %ju places\n", (uintmax_t)(a.file.n - a.header_end),
		      (uintmax_t)(b.file.n - b.header_end) / 13);
}

static void
test_flip(void **state)
{
	uint8_t *p = copy(&a, 0);
	unsigned int all = numbered_env("DAMAGE", 1) > 1, flips = 0;

	for (size_t at = 0; at < a.file.n; at++) {
		for (unsigned int bit = all ? 0 : at * 5 % 8; bit < 8; bit += all ? 1 : 8) {
			uint64_t from = at < a.header_end ? a.file.n : at;

			p[at] ^= (uint8_t)(1u << bit);
			check(&a, p, a.file.n, from, from + 1, true, "flip");
			p[at] ^= (uint8_t)(1u << bit);
			flips++;
		}
	}
	print_message("# %u flips in %zu bytes\n", flips, a.file.n);
	free(p);
}

/* --- sectors ----------------------------------------------------------------------------- */

enum sector_fault { ZERO, ERASED, OTHER, TWICE, SWAPPED, NOISE, SECTOR_FAULTS };

static void
fault_sector(uint8_t *p, size_t at, size_t size, enum sector_fault kind, uint64_t *seed,
	     size_t *ret_other)
{
	size_t other = numbered_roll(seed, b.file.n / size - 1) * size;
	uint8_t tmp[4096];

	*ret_other = at;
	memcpy(tmp, p + at, size);
	switch (kind) {
	case ZERO:
	case ERASED:
		memset(p + at, kind == ZERO ? 0 : 0xff, size);
		break;
	case OTHER:
		memcpy(p + at, a.file.p, size < a.file.n ? size : a.file.n);
		break;
	case TWICE:
		memcpy(p + at, b.file.p + other, size);
		break;
	case SWAPPED:
		memcpy(p + at, p + other, size);
		memcpy(p + other, tmp, size);
		*ret_other = other;
		break;
	default:
		for (size_t i = 0; i < size; i++)
			p[at + i] = (uint8_t)numbered_roll(seed, 256);
	}
}

/* Only the two sectors may be missing, and what is between them need not. */
static void
check_sectors(const uint8_t *p, size_t at, size_t other, size_t size, enum sector_fault kind)
{
	static uint8_t seen[NUMBERS_MAX];
	struct numbered_result r;

	numbered_read(io_source_memory(p, b.file.n), b.first, b.last, seen, &r);
	if (r.error || r.strange || r.twice)
		fail_msg("sector %zu, %zu of %zu, kind %d: error %d (%s)", at, other, size, kind,
			 r.error, r.where.detail);
	for (size_t i = 0; i < b.nr_blocks; i++) {
		const struct block_map *m = &b.blocks[i];

		if (!untouched(m, at, at + size) || !untouched(m, other, other + size))
			continue;
		for (uint64_t k = m->first; k <= m->last; k++)
			if (!seen[k - b.first])
				fail_msg("sector %zu, %zu of %zu, kind %d: sample %ju is gone", at,
					 other, size, kind, (uintmax_t)k);
	}
}

static void
test_sectors(void **state)
{
	unsigned int rounds = 30 * numbered_env("DAMAGE", 1), done = 0;
	uint64_t seed = 5;

	for (unsigned int i = 0; i < rounds; i++) {
		for (size_t size = 512; size <= 4096; size *= 8) {
			for (size_t at = 0; at + size <= b.file.n; at += size) {
				enum sector_fault kind =
					(enum sector_fault)numbered_roll(&seed, SECTOR_FAULTS);
				uint8_t *p = copy(&b, 0);
				size_t other;

				/* With another recording's header it is another recording. */
				if (kind == OTHER && at < b.header_end)
					kind = NOISE;
				fault_sector(p, at, size, kind, &seed, &other);
				check_sectors(p, at, other, size, kind);
				if (memcmp(p, b.file.p, b.file.n) != 0)
					assert_int_equal(verify(p, b.file.n), 1);
				free(p);
				done++;
			}
		}
	}
	print_message("# %u sectors of 512 and 4096 bytes in %zu bytes\n", done, b.file.n);
}

/* --- garbage and splices ----------------------------------------------------------------- */

/* What a reader might fall for: magics, headers of this very file, pieces of another. */
static void
make_garbage(uint8_t *p, size_t n, uint64_t *seed)
{
	for (size_t i = 0; i < n;) {
		size_t len = 1 + numbered_roll(seed, 300);
		const struct block_map *m = &a.blocks[numbered_roll(seed, a.nr_blocks)];
		const uint8_t *from;

		switch (numbered_roll(seed, 5)) {
		case 0:
			from = (const uint8_t *)BLOCK_SYNC;
			len = 8;
			break;
		case 1:
			from = a.file.p + m->from;
			len = BLOCK_HEADER_BYTES;
			break;
		case 2:
			from = a.file.p + m->from; /* whole, but elsewhere: a copy of a block */
			len = (size_t)(m->to - m->from);
			break;
		case 3:
			from = b.file.p + numbered_roll(seed, b.file.n - len);
			break;
		default:
			from = NULL;
		}
		if (len > n - i)
			len = n - i;
		for (size_t k = 0; k < len; k++)
			p[i + k] = from ? from[k] : (uint8_t)numbered_roll(seed, 256);
		i += len;
	}
}

static void
test_garbage(void **state)
{
	unsigned int rounds = 1500 * numbered_env("DAMAGE", 1);
	uint64_t seed = 17;

	for (unsigned int i = 0; i < rounds; i++) {
		size_t n = 1 + numbered_roll(&seed, i % 3 ? 2000 : 20000);
		size_t at = i % 2 ? a.blocks[numbered_roll(&seed, a.nr_blocks)].from
				  : a.header_end + numbered_roll(&seed, a.file.n - a.header_end);
		uint8_t *p = copy(&a, n);
		uint64_t from = a.file.n, to = from;

		for (size_t k = 0; k < a.nr_blocks; k++) {
			if (a.blocks[k].from < at && at < a.blocks[k].to) {
				from = at;
				to = at + 1;
			}
		}
		memmove(p + at + n, p + at, a.file.n - at);
		make_garbage(p + at, n, &seed);
		/* A copy of the block that was hit, or of one that follows, may be in the garbage. */
		check(&a, p, a.file.n + n, from, to, false, "garbage");
		free(p);
	}
	print_message("# %u insertions\n", rounds);
}

/* One file's beginning and another one's rest; and the other way round, cut in both. */
static void
test_splice(void **state)
{
	unsigned int rounds = 1500 * numbered_env("DAMAGE", 1);
	uint64_t seed = 23;

	for (unsigned int i = 0; i < rounds; i++) {
		const struct whole *x = i % 2 ? &a : &b, *y = i % 2 ? &b : &a;
		size_t head = x->header_end + numbered_roll(&seed, x->file.n - x->header_end);
		size_t tail = numbered_roll(&seed, y->file.n), n;
		uint8_t *p;

		if (i % 3 == 0)
			head = x->blocks[numbered_roll(&seed, x->nr_blocks - 1)].to;
		if (i % 5 == 0)
			tail = i % 10 ? 0 : y->blocks[numbered_roll(&seed, y->nr_blocks)].from;
		n = head + y->file.n - tail;
		p = malloc(n);
		assert_non_null(p);
		memcpy(p, x->file.p, head);
		memcpy(p + head, y->file.p + tail, y->file.n - tail);
		check(x, p, n, head, x->file.n, true, "splice");
		free(p);
	}
	print_message("# %u splices\n", rounds);
}

/* --- a recording inside a record --------------------------------------------------------- */

/* Raw data that is the other recording, whole: 36 KiB fit. */
static void
add_raw(struct buf *out, struct span raw)
{
	const struct event_attr *attr = &event_set_at(a.meta->events, 1)->attr;
	const struct perf_sample_id sid = {
		.have = attr->sample_type,
		.id = event_set_at(a.meta->events, 1)->ids[0],
		.time = 5,
	};
	const struct perf_sample sample = { .have = attr->sample_type, .raw = raw };

	assert_int_equal(record_sample_build(out, &sid, &sample, 2), 0);
}

/*
 * A sample carries a recording: first another one, then one of the same id, as who profiles
 * the recorder's own writes would have it. Whatever happens to the block, nothing of the
 * inner one is believed, but what is behind it.
 */
static void
test_recording_inside(void **state)
{
	const struct recording_writer_options options = { .block_bytes = 4000 };
	struct recording_writer *w;
	struct fault_file f;
	struct buf bytes;
	size_t flips = 0;

	fault_file_init(&f, 1u << 20);
	buf_init(&bytes);
	assert_int_equal(recording_writer_open(fault_sink(&f), a.meta, &options, &w, NULL), 0);
	for (uint64_t n = 1; n <= 200; n++) {
		buf_clear(&bytes);
		if (n == 100)
			add_raw(&bytes, span_of(a.file.p, a.file.n / 8 * 8 - 4));
		if (n == 150)
			add_raw(&bytes, span_of(b.file.p, b.file.n / 8 * 8 - 4));
		numbered_record(&bytes, n);
		assert_int_equal(recording_writer_records(w, buf_span(&bytes), NULL, NULL), 0);
	}
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);
	assert_int_equal(verify(f.p, f.n), 0);
	for (size_t at = a.header_end; at < f.n; at += 61, flips++) {
		static uint8_t seen[200];
		struct numbered_result r;
		size_t missing = 0;

		f.p[at] ^= 0x20;
		numbered_read(io_source_memory(f.p, f.n), 1, 200, seen, &r);
		f.p[at] ^= 0x20;
		assert_int_equal(r.error, 0);
		assert_false(r.twice);
		assert_true(r.order);
		for (size_t i = 0; i < 200; i++)
			missing += !seen[i];
		/* One block's worth. */
		assert_true(missing <= 4000 / NUMBERED_BYTES_MIN);
	}
	print_message("# %zu flips around %zu bytes of recordings in records\n", flips,
		      a.file.n + b.file.n);
	buf_done(&bytes);
	fault_file_done(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut),	cmocka_unit_test(test_flip),
		cmocka_unit_test(test_sectors), cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_splice),	cmocka_unit_test(test_recording_inside),
	};

	return cmocka_run_group_tests_name("columns", tests, setup_columns, teardown) +
		cmocka_run_group_tests_name("verbatim", tests, setup_verbatim, teardown);
}
