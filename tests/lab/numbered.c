/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lab/numbered.h"

#include <bsd/stdlib.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "format/block/gap.h"
#include "format/record/perf_sample.h"
#include "format/record/record_build.h"
#include "tests/lab/attr_encode.h"
#include "tests/lab/record_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define CHAIN_ID 100 /* + cpu */
#define RAW_ID 200
#define DUMMY_ID 300

static const struct event_attr chain_attr = {
	.type = PERF_TYPE_SOFTWARE,
	.size = 136,
	.config = PERF_COUNT_SW_CPU_CLOCK,
	.sample_period = 999,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
	.flags = UINT64_C(1) << EVENT_ATTR_sample_id_all | UINT64_C(1) << EVENT_ATTR_freq,
};

static const struct event_attr raw_attr = {
	.type = PERF_TYPE_TRACEPOINT,
	.size = 136,
	.config = 77,
	.sample_period = 1,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW,
	.flags = UINT64_C(1) << EVENT_ATTR_sample_id_all,
};

static const struct event_attr dummy_attr = {
	.type = PERF_TYPE_SOFTWARE,
	.size = 136,
	.config = PERF_COUNT_SW_DUMMY,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_CPU,
	.flags = UINT64_C(1) << EVENT_ATTR_sample_id_all | UINT64_C(1) << EVENT_ATTR_comm,
};

static void
add_event(struct event_set *events, const struct event_attr *attr, const char *name, uint64_t id)
{
	uint8_t bytes[ATTR_ENCODE_MAX];
	int n = attr_encode(attr, bytes);
	size_t index;

	assert_int_equal(n, attr->size);
	assert_int_equal(event_set_add(events, span_of(bytes, (size_t)n), name, &index), 0);
	for (uint32_t cpu = 0; cpu < NUMBERED_CPUS; cpu++)
		assert_int_equal(event_set_add_id(events, index, id + cpu), 0);
}

struct recording_meta *
numbered_meta(uint8_t seed)
{
	struct recording_meta *m = recording_meta_new();

	assert_non_null(m);
	for (int i = 0; i < FILE_ID_BYTES; i++)
		m->file_id[i] = (uint8_t)(seed * 31 + i * 7);
	m->start = (struct clock_triple){ 1700000000000000000, 1000, 2000 };
	m->clockid = 1;
	m->page_size = 4096;
	m->cpus_possible = m->cpus_online = NUMBERED_CPUS;
	assert_int_equal(recording_meta_set(&m->hostname, "lion"), 0);
	assert_int_equal(recording_meta_set(&m->arch, "x86_64"), 0);
	add_event(m->events, &chain_attr, "cpu-clock", CHAIN_ID);
	add_event(m->events, &raw_attr, "sched:numbered", RAW_ID);
	add_event(m->events, &dummy_attr, "dummy", DUMMY_ID);
	return m;
}

static void
build_comm(struct buf *out, uint64_t n)
{
	const struct perf_sample_id sid = {
		.have = dummy_attr.sample_type,
		.pid = (uint32_t)n,
		.tid = (uint32_t)n,
		.time = 1000 * n - 1,
		.id = DUMMY_ID + n % NUMBERED_CPUS,
		.cpu = (uint32_t)n % NUMBERED_CPUS,
	};

	assert_int_equal(record_build_comm(out, &dummy_attr, &sid, (uint32_t)n, (uint32_t)n,
					   n % 2 ? "odd" : "an even one", 0),
			 0);
}

static bool
is_raw(uint64_t n)
{
	return n % 13 == 12;
}

static void
build_sample(struct buf *out, uint64_t n)
{
	const struct event_attr *attr = is_raw(n) ? &raw_attr : &chain_attr;
	const struct perf_sample_id sid = {
		.have = attr->sample_type,
		.pid = (uint32_t)(n / 50 + 1),
		.tid = (uint32_t)(n / 50 + 1),
		.time = 1000 * n,
		.id = (is_raw(n) ? RAW_ID : CHAIN_ID) + n % NUMBERED_CPUS,
		.cpu = (uint32_t)n % NUMBERED_CPUS,
	};
	uint8_t chain[20 * 8], raw[28];
	size_t depth = 1 + n % 9;

	for (size_t i = 0; i < depth; i++)
		le64enc(chain + 8 * i, i ? 0x400000 + (n * i % 17) * 64 : n);
	/* As the kernel does: the size with its own four bytes is a multiple of 8. */
	for (size_t i = 0; i < sizeof(raw); i++)
		raw[i] = (uint8_t)(n * 5 + i);
	assert_int_equal(record_sample_build(out, &sid,
					     &(struct perf_sample){
						     .have = attr->sample_type,
						     .ip = n,
						     .period = 1000 + n % 3,
						     .callchain = span_of(chain, 8 * depth),
						     .raw = span_of(raw, sizeof(raw)),
					     },
					     2),
			 0);
}

void
numbered_record(struct buf *out, uint64_t n)
{
	if (n % 11 == 3)
		build_comm(out, n);
	build_sample(out, n);
}

/* --- writing ----------------------------------------------------------------------------- */

/* In this order for whoever looks from outside, and after a kill. */
static void
tell(uint64_t *p, uint64_t v)
{
	__atomic_store_n(p, v, __ATOMIC_SEQ_CST);
}

static void
tell_written(const struct recording_writer *w, uint64_t first, struct numbered_progress *p)
{
	struct recording_writer_stats stats;

	recording_writer_stats(w, &stats);
	tell(&p->written, first - 1 + stats.samples - stats.open_samples);
}

static int
write_small(struct recording_writer *w, unsigned int pass)
{
	uint8_t room[256];
	struct buf b = { .p = room, .cap = sizeof(room) };
	int error;

	gap_begin(&b);
	gap_add(&b, &(struct gap){ LOSS_CPU_OFFLINE, pass, 10, 20, 0 });
	assert_false(buf_failed(&b));
	error = recording_writer_block(w, BLOCK_GAP, buf_span(&b), NULL);
	if (error == 0)
		error = recording_writer_block(w, BLOCK_LOSS, span_of("\0\0\0\0", 4), NULL);
	if (error == 0)
		error = recording_writer_block(w, BLOCK_META, (struct span){ 0 }, NULL);
	b.len = 0;
	build_comm(&b, pass);
	if (error == 0)
		error = recording_writer_block(w, BLOCK_STATE, buf_span(&b), NULL);
	return error;
}

/* One pass of the script. A block that could not be written is not written later. */
static int
write_pass(struct recording_writer *w, const struct numbered_script *s, unsigned int pass,
	   uint64_t next, struct buf *b, struct numbered_progress *p)
{
	uint64_t bad = 0;
	int error;

	buf_clear(b);
	for (unsigned int i = 0; i < s->per_pass; i++)
		numbered_record(b, next + i);
	tell(&p->given, next + s->per_pass - 1);
	error = recording_writer_records(w, buf_span(b), &bad, NULL);
	if (error)
		return error;
	assert_int_equal(bad, 0);
	recording_writer_pass(w, 1000 * (next + s->per_pass) - 1);
	if (s->small_every && pass % s->small_every == 0)
		(void)write_small(w, pass);
	return 0;
}

static bool
again(struct recording_writer *w, unsigned int *tries)
{
	while (*tries > 0) {
		--*tries;
		if (recording_writer_retry(w, NULL) == 0)
			return true;
	}
	return false;
}

int
numbered_write(struct io_sink *sink, const struct recording_meta *meta,
	       const struct numbered_script *s, struct numbered_progress *p)
{
	static uint8_t room[1 << 16];
	const struct recording_writer_options options = { .block_bytes = s->block_bytes,
							  .index_every = s->index_every,
							  .verbatim = s->verbatim };
	uint64_t first = s->first ? s->first : 1, next = first;
	unsigned int tries = s->retries;
	struct buf b = { .p = room, .cap = sizeof(room) };
	struct recording_writer *w;
	int error;

	assert_true(s->per_pass * NUMBERED_BYTES_MAX <= sizeof(room));
	tell(&p->given, first - 1);
	tell(&p->written, first - 1);
	tell(&p->synced, first - 1);
	error = recording_writer_open(sink, meta, &options, &w, NULL);
	if (error)
		return error;
	for (unsigned int pass = 1; pass <= s->passes;) {
		error = write_pass(w, s, pass, next, &b, p);
		tell_written(w, first, p);
		if (error == 0) {
			next += s->per_pass;
			tries = s->retries;
			if (s->sync_every && pass % s->sync_every == 0 &&
			    recording_writer_sync(w, NULL) == 0)
				tell(&p->synced, p->written);
			pass++;
		} else if (!again(w, &tries)) {
			recording_writer_abandon(w);
			return NUMBERED_GAVE_UP;
		}
	}
	error = recording_writer_close(w, 1, NULL);
	if (error == 0) {
		tell(&p->written, next - 1);
		tell(&p->synced, next - 1);
	}
	return error;
}

/* --- reading ----------------------------------------------------------------------------- */

/* Is the record, to the byte, the one of its number? */
static uint64_t
number_of(const struct perf_record *r, struct span bytes, bool *ret_sample)
{
	uint8_t room[NUMBERED_BYTES_MAX];
	struct buf b = { .p = room, .cap = sizeof(room) };
	uint64_t n = r->type == REC_COMM ? r->comm.pid : r->sample.ip;

	*ret_sample = r->type == REC_SAMPLE;
	if (r->type == REC_COMM)
		build_comm(&b, n);
	else if (r->type == REC_SAMPLE)
		build_sample(&b, n);
	return b.len == bytes.len && memcmp(b.p, bytes.p, b.len) == 0 ? n : 0;
}

static void
read_payload(struct numbered_result *ret, const struct event_set *events, struct span payload,
	     uint64_t first, uint64_t last, uint8_t *seen, uint64_t *largest)
{
	struct perf_record record;
	struct span bytes;
	bool sample = false;
	int more;

	while ((more = perf_record_next(&payload, &bytes)) > 0) {
		uint64_t n = 0;

		if (event_set_parse(events, bytes, &record, NULL) == 0)
			n = number_of(&record, bytes, &sample);
		if (n < first || n > last) {
			ret->strange = true;
			continue;
		}
		if (!sample)
			continue;
		if (n <= *largest)
			ret->order = false;
		else
			*largest = n;
		ret->count++;
		if (n == ret->prefix + 1)
			ret->prefix = n;
		if (seen && seen[n - first]++)
			ret->twice = true;
	}
	ret->strange |= more < 0;
}

void
numbered_read(struct io_source *source, uint64_t first, uint64_t last, uint8_t *seen,
	      struct numbered_result *ret)
{
	struct recording_reader *r;
	uint64_t largest = 0;
	struct block b;
	int more;

	*ret = (struct numbered_result){ .prefix = first - 1, .order = true };
	if (seen)
		memset(seen, 0, last - first + 1);
	ret->error = recording_reader_open(source, &r, &ret->where);
	if (ret->error)
		return;
	while ((more = recording_reader_next(r, NULL, NULL, &b, &ret->where)) > 0) {
		if (b.header.type != BLOCK_RECORDS)
			continue;
		ret->columnar += b.header.encoding == BLOCK_COLUMNAR;
		ret->verbatim += b.header.encoding == BLOCK_VERBATIM;
		read_payload(ret, recording_reader_meta(r)->events, b.payload, first, last, seen,
			     &largest);
	}
	ret->error = more;
	ret->health = *recording_reader_health(r);
	recording_reader_close(r);
}

void
numbered_assert_prefix(const struct numbered_result *r, uint64_t first, uint64_t least,
		       uint64_t most, const char *what, uint64_t at)
{
	if (r->error || r->strange || r->twice || !r->order || r->prefix < least ||
	    r->prefix > most || r->count != r->prefix - first + 1)
		fail_msg("%s %ju: error %d (%s), %ju samples, up to %ju of %ju..%ju%s%s%s; %s",
			 what, (uintmax_t)at, r->error, r->where.detail, (uintmax_t)r->count,
			 (uintmax_t)r->prefix, (uintmax_t)least, (uintmax_t)most,
			 r->strange ? ", strange" : "", r->twice ? ", twice" : "",
			 r->order ? "" : ", out of order", r->health.first.detail);
}

/* --- a sink ------------------------------------------------------------------------------ */

struct sink {
	struct io_sink io;
	struct fault_file *f;
};

/* Is this call to fail? */
static bool
fault_now(struct fault_file *f)
{
	f->ops++;
	f->after_failed_sync += f->sync_failed;
	return f->fail_at && f->ops >= f->fail_at &&
		(f->fail_for == 0 || f->ops < f->fail_at + f->fail_for);
}

static void
remember(struct fault_file *f, enum fault_op op, uint64_t offset, const void *p, size_t n,
	 int error)
{
	if (!f->logs)
		return;
	assert_true(f->nr_events < f->events_cap && f->nr_bytes + n <= f->bytes_cap);
	f->events[f->nr_events++] = (struct fault_event){ op, offset, n, f->nr_bytes, error };
	if (n > 0)
		memcpy(f->bytes + f->nr_bytes, p, n);
	f->nr_bytes += n;
}

static int
sink_write(struct io_sink *io, const void *p, size_t n)
{
	struct fault_file *f = ((struct sink *)io)->f;
	bool fails = fault_now(f);

	if (fails && f->left_behind < n)
		n = f->left_behind;
	assert_true(f->n + n <= f->cap);
	remember(f, FAULT_WRITE, f->n, p, n, fails ? -f->fail_errno : 0);
	if (n > 0)
		memcpy(f->p + f->n, p, n);
	f->n += n;
	return fails ? -f->fail_errno : 0;
}

static int
sink_sync(struct io_sink *io)
{
	struct fault_file *f = ((struct sink *)io)->f;
	bool fails = fault_now(f);

	f->sync_failed |= fails;
	remember(f, FAULT_SYNC, f->n, NULL, 0, fails ? -f->fail_errno : 0);
	return fails ? -f->fail_errno : 0;
}

static int
sink_cut(struct io_sink *io, uint64_t size)
{
	struct fault_file *f = ((struct sink *)io)->f;
	bool fails = fault_now(f);

	assert_true(size <= f->n);
	remember(f, FAULT_CUT, size, NULL, 0, fails ? -f->fail_errno : 0);
	if (fails)
		return -f->fail_errno;
	f->n = size;
	return 0;
}

static void
sink_close(struct io_sink *io)
{
	assert_false(((struct sink *)io)->f->closed);
	((struct sink *)io)->f->closed = true;
	free(io);
}

void
fault_file_init(struct fault_file *f, size_t cap)
{
	memset(f, 0, sizeof(*f));
	f->cap = cap;
	f->bytes_cap = 4 * cap;
	f->events_cap = 4096;
	f->p = malloc(cap);
	f->bytes = malloc(f->bytes_cap);
	f->events = malloc(f->events_cap * sizeof(f->events[0]));
	assert_true(f->p && f->bytes && f->events);
}

void
fault_file_done(struct fault_file *f)
{
	free(f->p);
	free(f->bytes);
	free(f->events);
	memset(f, 0, sizeof(*f));
}

struct io_sink *
fault_sink(struct fault_file *f)
{
	struct sink *s = malloc(sizeof(*s));

	assert_non_null(s);
	s->io = (struct io_sink){ sink_write, sink_sync, sink_cut, sink_close };
	s->f = f;
	return &s->io;
}

/* --- small things ------------------------------------------------------------------------ */

uint64_t
numbered_roll(uint64_t *seed, uint64_t below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed % below;
}

unsigned int
numbered_env(const char *name, unsigned int otherwise)
{
	const char *text = getenv(name), *error = NULL;
	long long n;

	if (!text)
		return otherwise;
	n = strtonum(text, 1, 1000000000, &error);
	if (error)
		fail_msg("%s: %s", name, error);
	return (unsigned int)n;
}
