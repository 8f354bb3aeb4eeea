/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a ring that we play the kernel of, through queue and writer, into files that fail at
 * every call in each way: outages, retries, rotations, syncs that fail. Whatever happens,
 * what was produced is in a file, once and to the byte, or in the ledger: samples in files +
 * lost by the kernel + dropped = produced. So are bytes of a trace. No clock decides anything: times are made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "format/block/aux_trace.h"
#include "format/record/perf_sample.h"
#include "format/record/record_build.h"
#include "format/recording/recording_reader.h"
#include "recorder/ground/message.h"
#include "recorder/ground/queue.h"
#include "recorder/ground/session_error.h"
#include "recorder/ground/session_request.h"
#include "recorder/host/host.h"
#include "recorder/live/live.h"
#include "recorder/ring/ring.h"
#include "recorder/writer/writer.h"
#include "tests/lab/attr_encode.h"
#include "tests/lab/record_sample.h"
#include "tests/lab/session_rig.h"

#define RING_BYTES 4096u
#define PASSES 40
#define FILES_MAX 8
#define AUX_BYTES 109 /* of a trace, each pass */
#define SAMPLE_ID 100
#define SIDE_ID 200

/* --- files that fail --------------------------------------------------------------------- */

enum op { OP_WRITE, OP_SYNC, OP_CUT };

/* One count of calls over all files: which of them fails. */
static struct plan {
	unsigned int calls, fail_at, fail_for;
	int error;
	unsigned int after_failed_sync;
} plan;

struct fault_file {
	struct io_sink io;
	struct rig_file *f;
	bool sync_failed;
};

static bool
fails(struct fault_file *s)
{
	plan.calls++;
	plan.after_failed_sync += s->sync_failed;
	return plan.fail_at && plan.calls >= plan.fail_at &&
		(plan.fail_for == 0 || plan.calls < plan.fail_at + plan.fail_for);
}

static int
fault_write(struct io_sink *io, const void *p, size_t n)
{
	struct fault_file *s = (struct fault_file *)io;
	bool bad = fails(s);

	if (bad)
		n = n * (plan.calls % 3) / 3;
	if (s->f->n + n > s->f->cap) {
		s->f->cap = (s->f->n + n) * 2;
		s->f->p = realloc(s->f->p, s->f->cap);
		if (!s->f->p)
			abort();
	}
	if (n)
		memcpy(s->f->p + s->f->n, p, n);
	s->f->n += n;
	return bad ? -plan.error : 0;
}

static int
fault_sync(struct io_sink *io)
{
	struct fault_file *s = (struct fault_file *)io;

	s->f->syncs++;
	if (!fails(s))
		return 0;
	s->sync_failed = true;
	return -plan.error;
}

static int
fault_cut(struct io_sink *io, uint64_t size)
{
	struct fault_file *s = (struct fault_file *)io;

	if (fails(s))
		return -plan.error;
	s->f->n = size;
	return 0;
}

static void
fault_close(struct io_sink *io)
{
	((struct fault_file *)io)->f->closed = true;
	free(io);
}

static struct io_sink *
fault_sink(struct rig_file *f)
{
	struct fault_file *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->io = (struct io_sink){ fault_write, fault_sync, fault_cut, fault_close };
	s->f = f;
	return &s->io;
}

/* --- a kernel ---------------------------------------------------------------------------- */

static const struct event_attr sample_attr = {
	.type = PERF_TYPE_SOFTWARE,
	.size = 112,
	.sample_period = 999,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
	.flags = UINT64_C(1) << EVENT_ATTR_sample_id_all,
};

static const struct event_attr side_attr = {
	.type = PERF_TYPE_SOFTWARE,
	.size = 112,
	.config = PERF_COUNT_SW_DUMMY,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_CPU,
	.flags = UINT64_C(1) << EVENT_ATTR_sample_id_all,
};

struct kernel {
	struct perf_event_mmap_page page;
	uint8_t data[RING_BYTES];
	struct ring ring;
	uint64_t produced, lost, corrupt, time_ns;
	uint64_t seed;
};

static uint64_t
roll(struct kernel *k, uint64_t below)
{
	k->seed ^= k->seed << 13;
	k->seed ^= k->seed >> 7;
	k->seed ^= k->seed << 17;
	return k->seed % below;
}

/* As the kernel: what does not fit is not there. */
static bool
put(struct kernel *k, struct span record)
{
	uint64_t head = k->page.data_head;

	if (head + record.len - k->page.data_tail > RING_BYTES)
		return false;
	for (size_t i = 0; i < record.len; i++)
		k->data[(head + i) % RING_BYTES] = record.p[i];
	__atomic_store_n(&k->page.data_head, head + record.len, __ATOMIC_RELEASE);
	return true;
}

static void
produce(struct kernel *k)
{
	struct perf_sample_id sid = { .pid = 7, .tid = 7, .id = SAMPLE_ID, .cpu = 1 };
	uint64_t n = roll(k, 5) ? roll(k, 40) : roll(k, 150);
	struct buf b;

	buf_init(&b);
	for (uint64_t i = 0; i < n; i++) {
		sid.time = k->time_ns += 1 + roll(k, 1000);
		buf_clear(&b);
		assert_int_equal(record_sample_build(&b, &sid,
						     &(struct perf_sample){
							     .have = sample_attr.sample_type,
							     .ip = ++k->produced,
							     .period = k->produced * 3,
						     },
						     2),
				 0);
		k->lost += !put(k, buf_span(&b));
		if (roll(k, 30))
			continue;
		buf_clear(&b);
		sid.id = SIDE_ID;
		assert_int_equal(
			record_build_comm(&b, &side_attr, &sid, 7, 7, i % 2 ? "a" : "b", 0), 0);
		put(k, buf_span(&b));
		sid.id = SAMPLE_ID;
	}
	buf_done(&b);
}

/* --- a session --------------------------------------------------------------------------- */

struct session_lab {
	struct kernel k;
	struct rig_file files[FILES_MAX];
	unsigned int nr_files;
	struct session_request requests[PASSES];
	unsigned int nr_requests;
	struct session_requests *queue_of_requests;
	struct writer *writer;
	struct live *live;
	int failure_fd;
	uint64_t now_ns;
	uint64_t aux_bytes; /* of a trace, so far */
};

static void
add_event(struct event_set *events, const struct event_attr *attr, const char *name, uint64_t id)
{
	uint8_t raw[ATTR_ENCODE_MAX];
	int n = attr_encode(attr, raw);
	size_t index;

	assert_true(n > 0);
	assert_int_equal(event_set_add(events, span_of(raw, (size_t)n), name, &index), 0);
	assert_int_equal(event_set_add_id(events, index, id), 0);
}

static const struct aux_trace tracer = { .tracer = AUX_TRACER_ARM_SPE,
					 .words = { (const uint8_t *)"PMU type", 8 } };

static int
lab_open(struct session_lab *l, bool suspend)
{
	struct recording_meta *meta = recording_meta_new();
	struct live_options lo = { .sideband = 1, .kallsyms = "/dev/null", .modules = "/dev/null" };
	struct session_error e;
	struct writer_options o = { .sideband = 1,
				    .suspend_on_full = suspend,
				    .aux = &tracer,
				    .queue_bytes = QUEUE_BYTES_MIN,
				    .block_age_ns = 1 };

	memset(l, 0, sizeof(*l));
	l->k.seed = 77;
	ring_init(&l->k.ring, &l->k.page, l->k.data, RING_BYTES);
	/* Near the end of its numbers: it wraps in the middle of it all. */
	l->k.page.data_head = l->k.page.data_tail = l->k.ring.tail = UINT64_MAX - 65535 - 7 * 8;
	l->now_ns = host_now_ns();
	l->k.time_ns = l->now_ns;
	assert_non_null(meta);
	add_event(meta->events, &sample_attr, "cpu-clock", SAMPLE_ID);
	add_event(meta->events, &side_attr, "dummy", SIDE_ID);
	lo.events = meta->events;
	assert_int_equal(live_open(&lo, &l->live), 0);
	assert_int_equal(host_describe(meta, live_kallsyms(l->live)), 0);
	assert_int_equal(session_requests_new(&l->queue_of_requests), 0);
	l->failure_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	o.meta = meta;
	o.live = l->live;
	o.requests = l->queue_of_requests;
	o.failure_fd = l->failure_fd;
	o.sink = fault_sink(&l->files[l->nr_files++]);
	return writer_open(&o, &l->writer, &e);
}

static void
lab_done(struct session_lab *l)
{
	writer_free(l->writer);
	live_close(l->live);
	session_requests_shut(l->queue_of_requests, NULL);
	session_requests_free(l->queue_of_requests);
	close(l->failure_fd);
	for (unsigned int i = 0; i < l->nr_files; i++) {
		assert_true(l->files[i].closed);
		rig_file_done(&l->files[i]);
	}
}

/* Each byte is its place in the trace. */
static void
drain_aux(struct session_lab *l)
{
	const struct message_aux head = { l->aux_bytes, 1, 1, AUX_TRACE_ANY, 0 };
	struct queue *q = writer_queue(l->writer);
	uint8_t *to = queue_reserve(q, sizeof(head) + AUX_BYTES);

	assert_non_null(to);
	memcpy(to, &head, sizeof(head));
	for (size_t i = 0; i < AUX_BYTES; i++)
		to[sizeof(head) + i] = (uint8_t)(l->aux_bytes + i);
	queue_commit(q, MESSAGE_AUX, 0, 0, sizeof(head) + AUX_BYTES);
	l->aux_bytes += AUX_BYTES;
}

/* The drain, without its clocks: what the ring has goes to the queue; then the pass ends. */
static void
drain(struct session_lab *l)
{
	struct queue *q = writer_queue(l->writer);
	uint8_t *to = queue_reserve(q, RING_BYTES);
	size_t n;

	assert_non_null(to);
	n = ring_read(&l->k.ring, to, RING_BYTES, &l->k.corrupt);
	queue_commit(q, MESSAGE_RECORDS, 0, 0, n);
	ring_consume(&l->k.ring, n);
	drain_aux(l);
	assert_true(
		queue_send(q, MESSAGE_LOSS, UINT64_C(1) << 32 | LOSS_KERNEL_SAMPLES, l->k.lost));
	/* Each pass is late enough for another try. */
	l->now_ns += UINT64_C(2000000000);
	assert_true(queue_send(q, MESSAGE_PASS, l->k.time_ns, l->now_ns));
	queue_wake(q);
}

static void
ask(struct session_lab *l, enum message kind)
{
	struct session_request *rq = &l->requests[l->nr_requests++];

	*rq = (struct session_request){ .kind = kind == MESSAGE_ROTATE ? REQUEST_ROTATE
								       : REQUEST_SYNC };
	if (kind == MESSAGE_ROTATE)
		rq->sink = fault_sink(&l->files[l->nr_files++]);
	assert_true(queue_send(writer_queue(l->writer), kind, (uintptr_t)rq, 0));
}

static int
run(struct session_lab *l)
{
	struct session_error e;
	int r;

	assert_int_equal(writer_start(l->writer, &e), 0);
	for (unsigned int pass = 1; pass <= PASSES; pass++) {
		produce(&l->k);
		drain(l);
		if (pass % 9 == 4)
			ask(l, MESSAGE_SYNC);
		if (pass % 11 == 10)
			ask(l, MESSAGE_ROTATE);
	}
	assert_true(queue_send(writer_queue(l->writer), MESSAGE_END, 0, 0));
	queue_wake(writer_queue(l->writer));
	r = writer_finish(l->writer, &e);
	for (unsigned int i = 0; i < l->nr_requests; i++)
		assert_true(l->requests[i].done);
	return r;
}

/* Was its very header refused, and could not be cut away? */
static bool
is_stub(const struct rig_file *f)
{
	struct recording_reader *r;

	if (f->n == 0)
		return true;
	if (recording_reader_open(io_source_memory(f->p, f->n), &r, NULL) != 0)
		return f->n < 1024;
	recording_reader_close(r);
	return false;
}

/* Bytes of the trace that a file has; none of them is in another one. */
static uint64_t
read_trace(const struct rig_file *f, bool seen[PASSES])
{
	struct recording_reader *r;
	struct aux_trace about;
	struct aux_piece piece;
	uint64_t bytes = 0;
	struct block b;

	assert_int_equal(recording_reader_open(io_source_memory(f->p, f->n), &r, NULL), 0);
	while (recording_reader_next(r, NULL, NULL, &b, NULL) > 0) {
		if (b.header.type != BLOCK_AUX)
			continue;
		assert_int_equal(aux_trace_read(&b.payload, &about), 0);
		assert_int_equal(about.tracer, AUX_TRACER_ARM_SPE);
		assert_memory_equal(about.words.p, "PMU type", 8);
		while (aux_trace_next(&b.payload, &piece) > 0) {
			assert_int_equal(piece.bytes.len, AUX_BYTES);
			assert_true(piece.offset < PASSES * AUX_BYTES);
			assert_false(seen[piece.offset / AUX_BYTES]);
			seen[piece.offset / AUX_BYTES] = true;
			for (size_t i = 0; i < piece.bytes.len; i++)
				assert_int_equal(piece.bytes.p[i], (uint8_t)(piece.offset + i));
			bytes += piece.bytes.len;
		}
	}
	recording_reader_close(r);
	return bytes;
}

/* What the files have, in order, each once. Returns their samples. */
static uint64_t
read_files(const struct session_lab *l, uint64_t loss[LOSS_CAUSES], uint64_t *ret_aux)
{
	bool seen[PASSES] = { 0 };
	uint64_t samples = 0;

	for (unsigned int i = 0; i < l->nr_files; i++) {
		struct rig_counts c;

		if (is_stub(&l->files[i]))
			continue;
		rig_count(&l->files[i], plan.fail_at == 0, &c);
		samples += c.samples;
		*ret_aux += read_trace(&l->files[i], seen);
		for (int k = 0; k < LOSS_CAUSES; k++)
			loss[k] += c.loss[k];
	}
	return samples;
}

/* A run with the plan. Returns what writer_finish() said. */
static int
run_with(bool suspend, unsigned int *ret_files)
{
	static struct session_lab l;
	uint64_t loss[LOSS_CAUSES] = { 0 }, samples, aux = 0;
	struct session_stats t;
	int r = lab_open(&l, suspend);

	if (r == 0) {
		r = run(&l);
		writer_stats(l.writer, &t);
		samples = read_files(&l, loss, &aux);
		assert_int_equal(l.k.corrupt, 0);
		assert_int_equal(plan.after_failed_sync, 0);
		assert_int_equal(t.samples, samples);
		/* What was in the open block when a session ended with an error is in neither. */
		if (r == 0) {
			assert_int_equal(t.loss[LOSS_KERNEL_SAMPLES], l.k.lost);
			assert_int_equal(samples + t.loss[LOSS_DROPPED] + l.k.lost, l.k.produced);
			assert_int_equal(loss[LOSS_DROPPED], t.loss[LOSS_DROPPED]);
			assert_int_equal(loss[LOSS_KERNEL_SAMPLES], l.k.lost);
			assert_int_equal(aux + t.loss[LOSS_AUX_DROPPED], l.aux_bytes);
			assert_int_equal(loss[LOSS_AUX_DROPPED], t.loss[LOSS_AUX_DROPPED]);
		} else {
			assert_true(samples + t.loss[LOSS_DROPPED] + l.k.lost <= l.k.produced);
		}
		*ret_files += l.nr_files;
	}
	lab_done(&l);
	return r;
}

static void
set_plan(unsigned int fail_at, unsigned int fail_for, int error)
{
	plan = (struct plan){ .fail_at = fail_at, .fail_for = fail_for, .error = error };
}

static void
test_nothing_fails(void **state)
{
	unsigned int files = 0;

	set_plan(0, 0, 0);
	assert_int_equal(run_with(true, &files), 0);
	assert_int_equal(files, 4);
	set_plan(0, 0, 0);
	assert_int_equal(run_with(false, &files), 0);
}

static void
sweep(bool suspend)
{
	static const unsigned int ways[] = { 1, 2, 5, 20, 0 };
	static const int errors[] = { ENOSPC, EIO, EDQUOT };
	unsigned int call = 1, runs = 0, ended = 0, files = 0;

	for (bool reached = true; reached; call++) {
		reached = false;
		for (unsigned int i = 0; i < 5; i++, runs++) {
			set_plan(call, ways[i], errors[(call + i) % 3]);
			ended += run_with(suspend, &files) != 0;
			reached |= plan.calls >= call;
		}
	}
	print_message("# %u calls, %u runs, %u files, %u ended with an error\n", call - 2, runs,
		      files, ended);
	assert_true(call > 60);
	assert_true(ended < runs);
}

static void
test_suspends(void **state)
{
	sweep(true);
}

static void
test_ends(void **state)
{
	sweep(false);
}

/*
 * A file that was removed is found out by whatever is written first; no pass may have told of it before the answer to
 * a request. Whoever is answered that it was removed finds the session refused: another file is wanted.
 */
static void
test_answer_tells_no_less_than_stats(void **state)
{
	unsigned int removed = 0;

	for (unsigned int call = 1; call < 8; call++) {
		static struct session_lab l;
		static const char note[] = "a note is a block of its own";
		struct session_stats t;
		struct session_error e;
		uint8_t *to;

		set_plan(0, 0, 0);
		assert_int_equal(lab_open(&l, true), 0);
		set_plan(call, 0, ESTALE);
		to = queue_reserve(writer_queue(l.writer), sizeof(note));
		assert_non_null(to);
		memcpy(to, note, sizeof(note));
		queue_commit(writer_queue(l.writer), MESSAGE_NOTE, 0, 0, sizeof(note));
		ask(&l, MESSAGE_SYNC);
		assert_int_equal(writer_start(l.writer, &e), 0);
		queue_wake(writer_queue(l.writer));
		RIG_UNTIL(l.requests[0].done);
		writer_stats(l.writer, &t);
		removed += l.requests[0].result == -ESTALE;
		assert_true(t.refused == (l.requests[0].result == -ESTALE));
		assert_true(queue_send(writer_queue(l.writer), MESSAGE_END, 0, 0));
		queue_wake(writer_queue(l.writer));
		(void)writer_finish(l.writer, &e);
		lab_done(&l);
	}
	assert_true(removed > 1);
}

/* Want of memory ends the recording, and not its file: that is whole, and its ledger has the rest. */
static void
test_no_memory_ends_in_order(void **state)
{
	static struct session_lab l;
	/* An id that is there already is refused like one for which there is no memory. */
	const struct message_id known = { .id = SAMPLE_ID, .event = 0 };
	uint64_t loss[LOSS_CAUSES] = { 0 }, samples, aux = 0;
	struct session_error e;

	set_plan(0, 0, 0);
	assert_int_equal(lab_open(&l, false), 0);
	for (unsigned int pass = 0; pass < PASSES; pass++) {
		produce(&l.k);
		drain(&l);
		if (pass == PASSES / 2)
			assert_true(queue_send_bytes(writer_queue(l.writer), MESSAGE_IDS, &known,
						     sizeof(known)));
	}
	assert_true(queue_send(writer_queue(l.writer), MESSAGE_END, 0, 0));
	assert_int_equal(writer_start(l.writer, &e), 0);
	assert_int_equal(writer_finish(l.writer, &e), -ENOMEM);
	assert_non_null(strstr(e.text, "out of memory"));
	assert_non_null(strstr(e.text, "its file is whole"));
	/* With its END: nothing was made to fail, so that is looked at. */
	samples = read_files(&l, loss, &aux);
	assert_true(samples > 0 && loss[LOSS_DROPPED] > 0);
	assert_int_equal(samples + loss[LOSS_DROPPED] + l.k.lost, l.k.produced);
	assert_int_equal(loss[LOSS_KERNEL_SAMPLES], l.k.lost);
	lab_done(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_fails),
		cmocka_unit_test(test_suspends),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_answer_tells_no_less_than_stats),
		cmocka_unit_test(test_no_memory_ends_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
