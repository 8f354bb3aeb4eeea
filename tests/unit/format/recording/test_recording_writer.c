/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer when the disk does not play along: every write call failed in turn, with none,
 * some or all of its bytes left behind, cut back or not, and healed again.
 */
#include "tests/lab/recording_maker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/recording/record_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define PASSES 60
#define PER_PASS 4

/* Which ips a file has: 0 none, in order, each once. Fails the test when it cannot be read. */
static uint64_t
check_ips(const struct memory_file *f, uint64_t last, bool clean)
{
	struct recording_reader *r;
	uint64_t ips[PASSES * PER_PASS + 1], n = 0;
	struct block b;

	if (f->n == 0)
		return 0;
	if (recording_reader_open(io_source_memory(f->p, f->n), &r, NULL) != 0) {
		assert_true(!clean);
		return 0;
	}
	while (recording_reader_next(r, NULL, NULL, &b, NULL) > 0) {
		if (b.header.type == BLOCK_RECORDS)
			n += maker_ips(recording_reader_meta(r)->events, b.payload, ips + n,
				       PASSES * PER_PASS + 1 - n);
	}
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(ips[i], i + 1);
	if (clean) {
		assert_int_equal(n, last);
		if (recording_reader_verify(r, NULL))
			fail_msg("%s", recording_reader_health(r)->first.detail);
	}
	assert_int_equal(recording_reader_health(r)->damaged_blocks, 0);
	recording_reader_close(r);
	return n;
}

/* Writes until told that it cannot; returns the last ip that was taken, via the writer's word. */
static uint64_t
write_passes(struct recording_writer *w, bool retry, int want_errno)
{
	struct fmt_where where;
	uint64_t ip = 0, bad;
	struct buf b;

	buf_init(&b);
	for (int pass = 0; pass < PASSES; pass++) {
		int error;

		buf_clear(&b);
		for (int i = 0; i < PER_PASS; i++)
			maker_sample(&b, 0, 1000 + ip + (uint64_t)i, ip + (uint64_t)i + 1);
		error = recording_writer_records(w, buf_span(&b), &bad, &where);
		if (error) {
			assert_int_equal(error, -FMT_E_IO);
			assert_int_equal(where.saved_errno, want_errno);
			if (!retry)
				break;
			/* As a recorder does: tries again until there is space, then goes on. */
			while (recording_writer_retry(w, NULL) != 0)
				continue;
			pass--;
			continue;
		}
		ip += PER_PASS;
		recording_writer_pass(w, 1000 + ip);
	}
	buf_done(&b);
	return ip;
}

static const struct recording_writer_options small = { .block_bytes = 600, .index_every = 6 };

static void
test_every_write_fails(void **state)
{
	static const size_t left_behind[] = { 0, 1, 50, 97, 1u << 20 };

	for (unsigned int call = 1;; call++) {
		bool reached = false;

		for (size_t k = 0; k < 5; k++) {
			struct memory_file f = { .fail_write = call,
						 .fail_errno = k % 2 ? EIO : ENOSPC,
						 .short_bytes = left_behind[k] };
			struct recording_meta *meta = maker_meta(1);
			struct recording_writer *w;
			struct fmt_where where;
			uint64_t last = 0;
			int error;

			error = recording_writer_open(memory_sink(&f), meta, &small, &w, &where);
			if (error == 0) {
				last = write_passes(w, false, f.fail_errno);
				error = recording_writer_close(w, 0, &where);
			}
			reached = f.writes >= call;
			assert_int_equal(error, reached ? -FMT_E_IO : 0);
			if (error) {
				assert_int_equal(where.saved_errno, f.fail_errno);
				assert_true(f.cuts > 0);
			}
			assert_true(f.closed);
			assert_true(check_ips(&f, last, !reached) <= last);
			recording_meta_free(meta);
			memory_file_done(&f);
		}
		if (!reached)
			break;
		assert_true(call < 1000);
	}
}

/* Space comes back after some calls: then nothing at all is missing. */
static void
test_retry(void **state)
{
	for (unsigned int call = 3; call < 60; call++) {
		for (unsigned int failures = 1; failures < 4; failures++) {
			struct memory_file f = { .fail_write = call,
						 .heal_after = failures,
						 .fail_errno = ENOSPC,
						 .short_bytes = 33 };
			struct recording_meta *meta = maker_meta(1);
			struct recording_writer *w;
			uint64_t last;
			int error;

			assert_int_equal(
				recording_writer_open(memory_sink(&f), meta, &small, &w, NULL), 0);
			last = write_passes(w, true, ENOSPC);
			assert_int_equal(last, PASSES * PER_PASS);
			error = recording_writer_close(w, 1, NULL);
			/* Only when it is the last calls that fail, close has nobody to retry. */
			if (error == 0)
				check_ips(&f, last, true);
			else
				assert_true(f.writes < call + failures);
			recording_meta_free(meta);
			memory_file_done(&f);
		}
	}
}

/* What cannot be cut away (a pipe, a broken disk) stays, and readers pass over it. */
static void
test_cut_fails(void **state)
{
	struct memory_file f = { .fail_write = 6,
				 .heal_after = 1,
				 .fail_errno = EIO,
				 .short_bytes = 40,
				 .fail_cut = true };
	struct recording_meta *meta = maker_meta(1);
	struct recording_writer *w;
	struct fmt_where where;
	struct buf b;

	buf_init(&b);
	assert_int_equal(recording_writer_open(memory_sink(&f), meta, &small, &w, NULL), 0);
	write_passes(w, false, EIO);
	assert_int_equal(recording_writer_retry(w, &where), -FMT_E_IO);
	f.fail_cut = false;
	assert_int_equal(recording_writer_retry(w, &where), 0);
	maker_sample(&b, 0, 5000, 5000);
	assert_int_equal(recording_writer_records(w, buf_span(&b), NULL, NULL), 0);
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);
	recording_meta_free(meta);
	memory_file_done(&f);
	buf_done(&b);
}

static void
test_sync_fails_for_ever(void **state)
{
	struct memory_file f = { .fail_sync = true };
	struct recording_meta *meta = maker_meta(1);
	struct recording_writer *w;
	struct fmt_where where;

	assert_int_equal(recording_writer_open(memory_sink(&f), meta, &small, &w, NULL), 0);
	assert_int_equal(recording_writer_sync(w, &where), -FMT_E_IO);
	assert_int_equal(where.saved_errno, EIO);
	f.fail_sync = false;
	assert_int_equal(recording_writer_retry(w, &where), -FMT_E_IO);
	assert_int_equal(recording_writer_flush(w, &where), -FMT_E_IO);
	assert_int_equal(recording_writer_close(w, 1, &where), -FMT_E_IO);
	assert_int_equal(f.syncs, 1);
	recording_meta_free(meta);
	memory_file_done(&f);
}

/* --- hooks ------------------------------------------------------------------------------- */

struct hooks {
	unsigned int records, closes;
	int error;
};

static void
on_sample(void *arg, const struct sample_glance *sample)
{
	struct hooks *h = arg;

	h->records++;
	assert_int_equal(sample->event, 0);
	assert_int_equal(sample->ip, h->records);
}

static int
before_close(void *arg, struct recording_writer *w, struct fmt_where *where)
{
	struct hooks *h = arg;

	h->closes++;
	if (h->error)
		return fmt_fail(where, FMT_E_NOMEM, 0, "hook");
	return recording_writer_block(w, BLOCK_LOSS, span_of("\0\0\0\0", 4), where);
}

static void
test_hooks(void **state)
{
	struct hooks hooks = { 0 };
	const struct recording_writer_options options = { .block_bytes = 600,
							  .on_sample = on_sample,
							  .before_close = before_close,
							  .arg = &hooks };
	struct memory_file f = { 0 };
	struct recording_meta *meta = maker_meta(1);
	struct recording_writer_stats stats;
	struct recording_writer *w;
	struct recording_reader *r;
	struct block b;
	uint64_t samples = 0, complete = 0;
	uint8_t before = 0;

	assert_int_equal(recording_writer_open(memory_sink(&f), meta, &options, &w, NULL), 0);
	write_passes(w, false, 0);
	recording_writer_stats(w, &stats);
	assert_int_equal(stats.samples, PASSES * PER_PASS);
	assert_int_equal(stats.records, PASSES * PER_PASS);
	assert_int_equal(stats.file_bytes, f.n);
	assert_true(stats.open_bytes > 0 && stats.open_bytes <= 600);
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);
	assert_int_equal(hooks.records, PASSES * PER_PASS);
	assert_int_equal(recording_reader_open(io_source_memory(f.p, f.n), &r, NULL), 0);
	while (recording_reader_next(r, NULL, NULL, &b, NULL) > 0) {
		if (b.header.type == BLOCK_RECORDS) {
			assert_int_equal(before, BLOCK_LOSS);
			assert_true(b.header.raw_length <= 600);
			assert_int_equal(b.header.samples, b.header.records);
			assert_true(b.header.complete >= complete);
			/* Closed between passes: all that is older is here. */
			assert_true(b.header.complete > b.header.t_max);
			complete = b.header.complete;
			samples += b.header.samples;
			hooks.closes--;
		}
		before = b.header.type;
	}
	assert_int_equal(samples, PASSES * PER_PASS);
	assert_int_equal(hooks.closes, 0);
	recording_reader_close(r);
	recording_meta_free(meta);
	memory_file_done(&f);
}

static void
test_hook_fails(void **state)
{
	struct hooks hooks = { .error = 1 };
	const struct recording_writer_options options = { .block_bytes = 600,
							  .before_close = before_close,
							  .arg = &hooks };
	struct memory_file f = { 0 };
	struct recording_meta *meta = maker_meta(1);
	struct recording_writer *w;
	struct fmt_where where;
	struct buf b;

	buf_init(&b);
	maker_sample(&b, 0, 10, 1);
	assert_int_equal(recording_writer_open(memory_sink(&f), meta, &options, &w, NULL), 0);
	assert_int_equal(recording_writer_records(w, buf_span(&b), NULL, NULL), 0);
	assert_int_equal(recording_writer_flush(w, &where), -FMT_E_NOMEM);
	assert_string_equal(where.detail, "hook");
	hooks.error = 0;
	assert_int_equal(recording_writer_retry(w, &where), 0);
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);
	assert_int_equal(check_ips(&f, 1, true), 1);
	recording_meta_free(meta);
	memory_file_done(&f);
	buf_done(&b);
}

/* --- what it is given -------------------------------------------------------------------- */

static void
test_bad_records(void **state)
{
	struct memory_file f = { 0 };
	struct recording_meta *meta = maker_meta(1);
	struct recording_writer *w;
	struct recording_reader *r;
	struct record_stream *s;
	struct stream_record rec;
	uint64_t bad = 0;
	size_t at;
	struct buf b;

	buf_init(&b);
	maker_sample(&b, 0, 10, 1);
	at = b.len;
	maker_sample(&b, 0, 11, 2);
	le64enc(b.p + at + 8, 4711); /* an id that no event has */
	maker_sample(&b, 0, 12, 3);
	assert_int_equal(recording_writer_open(memory_sink(&f), meta, &small, &w, NULL), 0);
	assert_int_equal(recording_writer_records(w, buf_span(&b), &bad, NULL), 0);
	assert_int_equal(bad, 1);
	/* Framing that is wrong ends the call; what came before it is kept. */
	le16enc(b.p + at + 6, 12);
	assert_int_equal(recording_writer_records(w, buf_span(&b), &bad, NULL), -FMT_E_CORRUPT);
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);

	assert_int_equal(recording_reader_open(io_source_memory(f.p, f.n), &r, NULL), 0);
	if (recording_reader_verify(r, NULL))
		fail_msg("%s", recording_reader_health(r)->first.detail);
	assert_int_equal(record_stream_open(r, &s), 0);
	assert_int_equal(record_stream_next(s, &rec, NULL), 1);
	assert_int_equal(rec.record->sample.ip, 1);
	assert_int_equal(record_stream_next(s, &rec, NULL), 1);
	assert_null(rec.record);
	assert_int_equal(rec.bad.len, b.len - 2 * at);
	assert_int_equal(le64dec(rec.bad.p + 8), 4711);
	assert_int_equal(record_stream_next(s, &rec, NULL), 1);
	assert_int_equal(rec.record->sample.ip, 1);
	assert_int_equal(record_stream_next(s, &rec, NULL), 1);
	assert_int_equal(rec.record->sample.ip, 3);
	assert_int_equal(record_stream_next(s, &rec, NULL), 0);
	assert_int_equal(record_stream_stats(s)->bad_records, 1);
	assert_int_equal(record_stream_stats(s)->samples, 3);
	record_stream_close(s);
	recording_reader_close(r);
	recording_meta_free(meta);
	memory_file_done(&f);
	buf_done(&b);
}

struct seen {
	uint64_t ips[4], samples, comms;
	int events[4];
};

static void
see_sample(void *arg, const struct sample_glance *sample)
{
	struct seen *seen = arg;

	assert_true(seen->samples < 4);
	seen->events[seen->samples] = sample->event;
	seen->ips[seen->samples++] = sample->ip;
}

static bool
see_record(void *arg, const struct perf_record *r, int event)
{
	struct seen *seen = arg;

	assert_int_equal(r->type, REC_COMM);
	assert_int_equal(event, 1);
	seen->comms++;
	return true;
}

/* Each record that parses is seen once, a sample as such, however it had to be looked at. */
static void
test_record_hooks(void **state)
{
	struct seen seen = { .samples = 0 };
	struct recording_writer_options o = { .on_sample = see_sample,
					      .on_record = see_record,
					      .arg = &seen };
	struct memory_file f = { 0 };
	struct recording_meta *meta = maker_meta(1);
	struct recording_writer_stats stats;
	struct recording_writer *w;
	uint64_t bad = 0;
	struct buf b;
	size_t at;

	buf_init(&b);
	maker_sample(&b, 0, 10, 1);
	at = b.len;
	maker_sample(&b, 0, 11, 2);
	le64enc(b.p + at + 8, 0); /* a tool's, in the first event's shape */
	maker_comm(&b, 0, 12, 5, "comm");
	at = b.len;
	maker_sample(&b, 0, 13, 3);
	le64enc(b.p + at + 8, 4711);
	maker_sample(&b, 1, 14, 4);
	assert_int_equal(recording_writer_open(memory_sink(&f), meta, &o, &w, NULL), 0);
	assert_int_equal(recording_writer_records(w, buf_span(&b), &bad, NULL), 0);
	assert_int_equal(bad, 1);
	recording_writer_stats(w, &stats);
	assert_int_equal(stats.open_records, 5);
	assert_int_equal(stats.open_samples, 3);
	assert_int_equal(seen.samples, 3);
	assert_int_equal(seen.ips[0], 1);
	assert_int_equal(seen.ips[1], 2);
	assert_int_equal(seen.ips[2], 4);
	for (int i = 0; i < 3; i++)
		assert_int_equal(seen.events[i], 0);
	assert_int_equal(seen.comms, 1);
	recording_writer_abandon(w);
	recording_meta_free(meta);
	memory_file_done(&f);
	buf_done(&b);
}

/* Every second comm. */
static bool
want_some(void *arg, const struct perf_record *r, int event)
{
	uint64_t *seen = arg;

	return ++*seen % 2;
}

/* What the hook does not want is not in the file; all else is, in order. */
static void
test_records_not_wanted(void **state)
{
	uint64_t seen = 0, bad = 0;
	struct recording_writer_options o = { .on_record = want_some, .arg = &seen };
	struct memory_file f = { 0 };
	struct recording_meta *meta = maker_meta(1);
	struct recording_writer_stats stats;
	struct recording_writer *w;
	struct recording_reader *r;
	struct buf b, wanted;
	struct block block;
	bool found = false;

	buf_init(&b);
	buf_init(&wanted);
	for (uint32_t i = 1; i <= 6; i++) {
		maker_comm(&b, 0, 10 + i, i, i % 2 ? "wanted" : "not");
		if (i % 2)
			maker_comm(&wanted, 0, 10 + i, i, "wanted");
		if (i % 3 == 0)
			maker_sample(&b, 0, 20 + i, i);
	}
	assert_int_equal(recording_writer_open(memory_sink(&f), meta, &o, &w, NULL), 0);
	assert_int_equal(recording_writer_records(w, buf_span(&b), &bad, NULL), 0);
	assert_int_equal(seen, 6);
	recording_writer_stats(w, &stats);
	assert_int_equal(stats.open_records, 5);
	assert_int_equal(stats.open_samples, 2);
	assert_int_equal(stats.open_bytes, b.len - wanted.len);
	assert_int_equal(recording_writer_flush(w, NULL), 0);
	recording_writer_stats(w, &stats);
	assert_true(stats.sideband_bytes > 0 && stats.sideband_bytes < stats.file_bytes);
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);
	assert_int_equal(recording_reader_open(io_source_memory(f.p, f.n), &r, NULL), 0);
	while (recording_reader_next(r, NULL, NULL, &block, NULL) > 0)
		if (block.header.type == BLOCK_RECORDS && !block.header.samples) {
			found = true;
			assert_int_equal(block.header.records, 3);
			assert_int_equal(block.payload.len, wanted.len);
			assert_memory_equal(block.payload.p, wanted.p, wanted.len);
		}
	assert_true(found);
	recording_reader_close(r);
	recording_meta_free(meta);
	memory_file_done(&f);
	buf_done(&wanted);
	buf_done(&b);
}

/* One call with more than a block takes: split between records, nothing over the limit. */
static void
test_big_call(void **state)
{
	struct memory_file f = { 0 };
	struct recording_meta *meta = maker_meta(1);
	struct recording_writer *w;
	struct recording_reader *r;
	uint64_t blocks = 0;
	struct block block;
	struct buf b;

	buf_init(&b);
	for (uint64_t ip = 1; ip <= 100; ip++)
		maker_sample(&b, 0, ip, ip);
	assert_int_equal(recording_writer_open(memory_sink(&f), meta, &small, &w, NULL), 0);
	assert_int_equal(recording_writer_records(w, buf_span(&b), NULL, NULL), 0);
	assert_int_equal(recording_writer_records(w, span_of(NULL, 0), NULL, NULL), 0);
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);
	assert_int_equal(check_ips(&f, 100, true), 100);
	assert_int_equal(recording_reader_open(io_source_memory(f.p, f.n), &r, NULL), 0);
	while (recording_reader_next(r, NULL, NULL, &block, NULL) > 0) {
		if (block.header.type == BLOCK_RECORDS) {
			assert_true(block.header.raw_length <= 600);
			/* No pass ended: nothing is promised. */
			assert_int_equal(block.header.complete, 0);
			blocks++;
		}
	}
	assert_true(blocks >= b.len / 600);
	recording_reader_close(r);
	recording_meta_free(meta);
	memory_file_done(&f);
	buf_done(&b);
}

/* A CPU comes: its event's id is in a META before the records that bear it. */
static void
test_events_added(void **state)
{
	struct memory_file f = { 0 };
	struct recording_meta *meta = maker_meta(1);
	const struct recording_meta *first;
	struct recording_writer *w;
	struct recording_reader *r;
	struct record_stream *s;
	struct stream_record rec;
	unsigned int n = 0;
	struct buf b;

	buf_init(&b);
	assert_int_equal(recording_writer_open(memory_sink(&f), meta, &small, &w, NULL), 0);
	maker_sample(&b, 0, 10, 1);
	assert_int_equal(recording_writer_records(w, buf_span(&b), NULL, NULL), 0);
	assert_int_equal(event_set_add_id(meta->events, 0, MAKER_SAMPLE_ID + 50), 0);
	assert_int_equal(recording_writer_block(w, BLOCK_META, span_of(NULL, 0), NULL), 0);
	buf_clear(&b);
	maker_sample(&b, 50, 11, 2);
	assert_int_equal(recording_writer_records(w, buf_span(&b), NULL, NULL), 0);
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);

	assert_int_equal(recording_reader_open(io_source_memory(f.p, f.n), &r, NULL), 0);
	first = recording_reader_meta(r);
	assert_int_equal(record_stream_open(r, &s), 0);
	while (record_stream_next(s, &rec, NULL) > 0) {
		assert_non_null(rec.record);
		assert_int_equal(rec.event, 0);
		n++;
	}
	assert_int_equal(n, 2);
	assert_string_equal(first->hostname, "lion"); /* still there for who borrowed it */
	assert_true(recording_reader_meta(r) == first);
	assert_int_equal(event_set_find(first->events, MAKER_SAMPLE_ID + 50), 0);
	record_stream_close(s);
	recording_reader_close(r);
	recording_meta_free(meta);
	memory_file_done(&f);
	buf_done(&b);
}

/* CPUs come and go all day in one file: every record still has its event. */
static void
test_many_ids(void **state)
{
	struct memory_file f = { 0 };
	struct recording_meta *meta = maker_meta(1);
	struct recording_writer *w;
	struct recording_reader *r;
	struct record_stream *s;
	struct stream_record rec;
	unsigned int n = 0;
	struct buf b;

	buf_init(&b);
	assert_int_equal(recording_writer_open(memory_sink(&f), meta, &small, &w, NULL), 0);
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t id = MAKER_SAMPLE_ID + 1000 + i;

		assert_int_equal(event_set_add_id(meta->events, 0, id), 0);
		assert_int_equal(recording_writer_block(w, BLOCK_META, span_of(NULL, 0), NULL), 0);
		buf_clear(&b);
		maker_sample(&b, 0, 10 + i, 1);
		le64enc(b.p + 8, id);
		assert_int_equal(recording_writer_records(w, buf_span(&b), NULL, NULL), 0);
	}
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);
	assert_int_equal(recording_reader_open(io_source_memory(f.p, f.n), &r, NULL), 0);
	assert_int_equal(record_stream_open(r, &s), 0);
	while (record_stream_next(s, &rec, NULL) == 1) {
		assert_non_null(rec.record);
		n++;
	}
	assert_int_equal(n, 1000);
	record_stream_close(s);
	recording_reader_close(r);
	recording_meta_free(meta);
	memory_file_done(&f);
	buf_done(&b);
}

/* A host of a hundred thousand tasks: more state than fits a block. */
static void
test_big_state(void **state)
{
	struct recording_meta *meta = maker_meta(9);
	const uint32_t tasks = 1200000;
	struct memory_file f = { 0 };
	struct stream_record rec;
	struct recording_writer *w;
	struct recording_reader *r;
	struct record_stream *s;
	uint32_t n = 0;
	struct buf b;

	buf_init(&b);
	for (uint32_t pid = 1; pid <= tasks; pid++)
		maker_comm(&b, 0, 10, pid, "one-of-many");
	assert_true(b.len > BLOCK_RAW_MAX);
	assert_int_equal(recording_writer_open(memory_sink(&f), meta, NULL, &w, NULL), 0);
	assert_int_equal(recording_writer_block(w, BLOCK_STATE, buf_span(&b), NULL), 0);
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);

	assert_int_equal(recording_reader_open(io_source_memory(f.p, f.n), &r, NULL), 0);
	assert_int_equal(recording_reader_verify(r, NULL), 0);
	assert_int_equal(record_stream_open(r, &s), 0);
	while (record_stream_next(s, &rec, NULL) > 0) {
		assert_non_null(rec.record);
		assert_true(rec.state);
		assert_int_equal(rec.record->comm.pid, ++n);
	}
	assert_int_equal(n, tasks);
	record_stream_close(s);
	recording_reader_close(r);
	recording_meta_free(meta);
	memory_file_done(&f);
	buf_done(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_write_fails),
		cmocka_unit_test(test_retry),
		cmocka_unit_test(test_cut_fails),
		cmocka_unit_test(test_sync_fails_for_ever),
		cmocka_unit_test(test_hooks),
		cmocka_unit_test(test_hook_fails),
		cmocka_unit_test(test_bad_records),
		cmocka_unit_test(test_record_hooks),
		cmocka_unit_test(test_records_not_wanted),
		cmocka_unit_test(test_big_call),
		cmocka_unit_test(test_events_added),
		cmocka_unit_test(test_big_state),
		cmocka_unit_test(test_many_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
