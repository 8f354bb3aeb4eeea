/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every allocation of the writer, the reader, the merge and the task model fails once, fails
 * a few times, fails from then on; zstd's included. What was written is readable, what is
 * read is right as far as it comes, the caller is told, and all that was had is given back.
 */
#include "tests/lab/numbered.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/model/task_model.h"
#include "format/recording/record_stream.h"

/* --- allocations ------------------------------------------------------------------------- */

static struct {
	bool on;
	unsigned int calls, fail_at, fail_for;
	long live; /* had and not given back, while on */
} memory;

static struct {
	void *(*malloc)(size_t n);
	void *(*calloc)(size_t n, size_t size);
	void *(*realloc)(void *p, size_t n);
	void (*free)(void *p);
} next;

/* For who allocates while the real functions are looked up; never given back. */
static _Alignas(16) uint8_t early[4096];
static size_t early_len;

static bool
look_up(void)
{
	static volatile bool
		busy; /* dlsym() is declared not to call back: before glibc 2.34 it does */

	if (next.free)
		return true;
	if (busy)
		return false;
	busy = true;
	/* ISO C has no way to say this; POSIX does. */
	*(void **)&next.malloc = dlsym(RTLD_NEXT, "malloc");
	*(void **)&next.calloc = dlsym(RTLD_NEXT, "calloc");
	*(void **)&next.realloc = dlsym(RTLD_NEXT, "realloc");
	*(void **)&next.free = dlsym(RTLD_NEXT, "free");
	busy = false;
	return true;
}

static void *
early_alloc(size_t n)
{
	void *p = early + early_len;

	early_len += (n + 15) / 16 * 16;
	return early_len <= sizeof(early) ? p : NULL;
}

static bool
fails(void)
{
	if (!memory.on)
		return false;
	memory.calls++;
	return memory.fail_at && memory.calls >= memory.fail_at &&
		(memory.fail_for == 0 || memory.calls < memory.fail_at + memory.fail_for);
}

static void *
count(void *p)
{
	memory.live += memory.on && p;
	return p;
}

void *
malloc(size_t n)
{
	if (!look_up())
		return early_alloc(n);
	return fails() ? NULL : count(next.malloc(n));
}

void *
calloc(size_t n, size_t size)
{
	if (!look_up())
		return early_alloc(n * size);
	return fails() ? NULL : count(next.calloc(n, size));
}

void *
realloc(void *p, size_t n)
{
	if (!look_up() || fails())
		return NULL;
	return p ? next.realloc(p, n) : count(next.realloc(p, n));
}

void
free(void *p)
{
	if ((uint8_t *)p >= early && (uint8_t *)p < early + sizeof(early))
		return;
	if (look_up())
		next.free(p);
	memory.live -= memory.on && p;
}

/* Has all been given back, but for `others` that were had before? */
static void
assert_balance(long others)
{
#ifdef __SANITIZE_ADDRESS__
	/* It takes some calls of libc to itself, past these functions; and looks for leaks. */
	(void)others;
#else
	assert_int_equal(memory.live, -others);
#endif
}

static void
memory_plan(unsigned int fail_at, unsigned int fail_for)
{
	memory.calls = 0;
	memory.fail_at = fail_at;
	memory.fail_for = fail_for;
	memory.live = 0;
	memory.on = true;
}

/* --- the sweep --------------------------------------------------------------------------- */

static struct numbered_script script = {
	.passes = 24,
	.per_pass = 6,
	.block_bytes = 900,
	.index_every = 6,
	.sync_every = 5,
	.small_every = 4,
	.retries = 3,
};

static struct fault_file whole; /* for reading */
static uint64_t whole_given;

static int
setup(void **state)
{
	struct recording_meta *meta = numbered_meta(1);
	struct numbered_progress p;

	fault_file_init(&whole, 256u << 10);
	assert_int_equal(numbered_write(fault_sink(&whole), meta, &script, &p), 0);
	whole_given = p.given;
	recording_meta_free(meta);
	return 0;
}

static int
teardown(void **state)
{
	fault_file_done(&whole);
	return 0;
}

/* Calls once for every allocation and way; once ends with memory.on off. */
static void
sweep(void (*once)(void), unsigned int least)
{
	static const unsigned int ways[] = { 1, 2, 0 };
	unsigned int call = 1, runs = 0;

#ifdef __SANITIZE_ADDRESS__
	least /= 2; /* see assert_balance() */
#endif
	for (bool reached = true; reached; call++) {
		reached = false;
		for (size_t i = 0; i < 3; i++, runs++) {
			memory_plan(call, ways[i]);
			once();
			assert_false(memory.on);
			reached |= memory.calls >= call;
		}
	}
	print_message("# %u allocations, %u runs\n", call - 2, runs);
	assert_true(call - 2 >= least);
}

static void
write_once(void)
{
	unsigned int fail_at = memory.fail_at, fail_for = memory.fail_for;
	struct recording_meta *meta;
	struct numbered_progress p;
	struct numbered_result r;
	struct io_sink *sink;
	struct fault_file f;
	int result;

	memory.on = false;
	meta = numbered_meta(1);
	fault_file_init(&f, 256u << 10);
	sink = fault_sink(&f);
	memory_plan(fail_at, fail_for);
	result = numbered_write(sink, meta, &script, &p);
	memory.on = false;
	assert_balance(1); /* the sink, which it closed */
	assert_true(f.closed);
	assert_true(result == 0 || result == -FMT_E_NOMEM || result == NUMBERED_GAVE_UP);
	if (memory.calls < fail_at)
		assert_int_equal(result, 0);
	if (result == 0)
		assert_int_equal(p.written, p.given);
	if (p.written > 0) {
		numbered_read(io_source_memory(f.p, f.n), 1, p.given, NULL, &r);
		numbered_assert_prefix(&r, 1, p.written, p.given, "allocation", fail_at);
		assert_int_equal(r.health.damaged_blocks, 0);
		assert_int_equal(r.health.damaged_bytes, 0);
		assert_int_equal(r.health.torn_tail_bytes, 0);
		assert_int_equal(r.health.closed, result == 0);
	}
	recording_meta_free(meta);
	fault_file_done(&f);
}

static void
test_writer(void **state)
{
	sweep(write_once, 40);
	script.verbatim = true;
	sweep(write_once, 10);
	script.verbatim = false;
}

static struct io_source *
make_source(void)
{
	struct io_source *source;
	bool on = memory.on;

	memory.on = false;
	source = io_source_memory(whole.p, whole.n);
	assert_non_null(source);
	memory.on = on;
	return source;
}

static void
read_once(void)
{
	struct numbered_result r;

	numbered_read(make_source(), 1, whole_given, NULL, &r);
	memory.on = false;
	assert_balance(1); /* the source */
	if (r.error)
		assert_int_equal(r.error, -FMT_E_NOMEM);
	/* What comes is right, and all of it when no error is told. */
	if (r.strange || r.twice || !r.order || r.count != r.prefix ||
	    (r.error == 0 && r.prefix != whole_given))
		fail_msg("allocation %u: error %d, %ju samples", memory.fail_at, r.error,
			 (uintmax_t)r.count);
}

static void
verify_once(void)
{
	struct recording_reader *r;
	int verdict = recording_reader_open(make_source(), &r, NULL);

	if (verdict == 0) {
		verdict = recording_reader_verify(r, NULL);
		recording_reader_close(r);
	}
	memory.on = false;
	assert_balance(1);
	assert_true(verdict == 0 || verdict == -FMT_E_NOMEM);
}

static void
test_reader(void **state)
{
	sweep(read_once, 10);
	sweep(verify_once, 10);
}

/* The merge and the model; returns the first error. */
static int
follow(struct recording_reader *reader, struct task_model *model, uint64_t *ret_samples)
{
	struct record_stream *s;
	struct stream_record rec;
	uint64_t last = 0;
	int more = record_stream_open(reader, &s), error = 0;

	if (more < 0)
		return more;
	while ((more = record_stream_next(s, &rec, NULL)) > 0) {
		assert_non_null(rec.record);
		assert_true(rec.state || rec.record->sid.time >= last);
		if (!rec.state)
			last = rec.record->sid.time;
		if (rec.record->type == REC_SAMPLE)
			assert_int_equal(rec.record->sample.ip, ++*ret_samples);
		else if (error == 0)
			error = task_model_apply(model, rec.record);
	}
	record_stream_close(s);
	return more < 0 ? more : error;
}

static void
follow_once(void)
{
	struct recording_reader *reader = NULL;
	struct task_model *model = task_model_new();
	struct io_source *source = make_source();
	uint64_t samples = 0;
	int error = recording_reader_open(source, &reader, NULL);

	if (error == 0 && model)
		error = follow(reader, model, &samples);
	recording_reader_close(reader);
	task_model_free(model);
	memory.on = false;
	assert_balance(1); /* the source */
	if (error)
		assert_int_equal(error, -FMT_E_NOMEM);
	else if (model)
		assert_int_equal(samples, whole_given);
}

static void
test_stream_and_model(void **state)
{
	sweep(follow_once, 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writer),
		cmocka_unit_test(test_reader),
		cmocka_unit_test(test_stream_and_model),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
