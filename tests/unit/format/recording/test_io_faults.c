/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every call that can fail, failed in each way: the writer's calls of its sink, the sink's of
 * the kernel, the source's of the kernel. Whatever it is: what the writer said is in the file
 * is in the file, an interruption or a short transfer is not seen at all, and a descriptor
 * whose sync failed is asked for nothing more.
 */
#include "tests/lab/numbered.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#define CAP (64u << 10)

static struct numbered_script script = {
	.passes = 24,
	.per_pass = 6,
	.block_bytes = 900,
	.index_every = 6,
	.sync_every = 5,
	.small_every = 4,
	.retries = 20,
};

static int
verify(struct io_source *source)
{
	struct recording_reader *r;
	int verdict = recording_reader_open(source, &r, NULL);

	if (verdict)
		return verdict;
	verdict = recording_reader_verify(r, NULL);
	recording_reader_close(r);
	return verdict;
}

/* --- the writer's calls of its sink ------------------------------------------------------ */

static void
check_file(const struct fault_file *f, const struct numbered_progress *p, int result)
{
	struct numbered_result r;

	assert_true(f->closed);
	assert_int_equal(f->after_failed_sync, 0);
	if (result == 0) {
		assert_int_equal(p->written, p->given);
		assert_false(f->sync_failed);
	}
	if (p->written == 0)
		return; /* there may not even be a header */
	numbered_read(io_source_memory(f->p, f->n), 1, p->given, NULL, &r);
	numbered_assert_prefix(&r, 1, p->written, p->given, "call", f->fail_at);
	/* On what cannot be cut (EINVAL: a pipe) the remains stay, and are passed over. */
	if (f->fail_errno == EINVAL)
		return;
	assert_int_equal(r.health.damaged_blocks, 0);
	assert_int_equal(r.health.damaged_bytes, 0);
	if (result == 0)
		assert_int_equal(verify(io_source_memory(f->p, f->n)), 0);
}

/* Fails that call of the sink, and those after it. false: there is no such call. */
static bool
fail_call(unsigned int call, unsigned int calls, int error, size_t left, unsigned int *failed)
{
	struct recording_meta *meta = numbered_meta(1);
	struct numbered_progress p;
	struct fault_file f;
	bool reached;
	int result;

	fault_file_init(&f, CAP);
	f.fail_at = call;
	f.fail_for = calls;
	f.fail_errno = error;
	/* A pipe that takes all of a write does not refuse it. */
	f.left_behind = error == EINVAL && left > 50 ? 50 : left;
	result = numbered_write(fault_sink(&f), meta, &script, &p);
	check_file(&f, &p, result);
	reached = f.ops >= call;
	if (!reached)
		assert_int_equal(result, 0);
	*failed += result != 0;
	recording_meta_free(meta);
	fault_file_done(&f);
	return reached;
}

static void
test_every_call(void **state)
{
	static const int errors[] = { EIO, ENOSPC, EDQUOT, EFBIG, EINVAL };
	static const size_t left[] = { 0, 1, 97, CAP };
	static const unsigned int calls[] = { 1, 2, 3, 7, 0 };
	unsigned int runs = 0, failed = 0, call = 1;

	for (bool reached = true; reached; call++) {
		reached = false;
		for (size_t i = 0; i < 5 * 4 * 5; i++) {
			/* A fifth of them at each call; all of them in the long run. */
			if ((call + i + i / 5) % 5 >= numbered_env("FIFTHS", 1))
				continue;
			script.verbatim = (call + i / 5) % 2;
			reached |= fail_call(call, calls[i % 5], errors[i / 20], left[i / 5 % 4],
					     &failed);
			runs++;
		}
		assert_true(call < 1000);
	}
	print_message("# %u calls, %u runs, of which %u could not be ended in order\n", call - 2,
		      runs, failed);
	assert_true(call > 40);
}

/* --- the kernel's side ------------------------------------------------------------------- */

enum how { FAIL, INTERRUPT, WOULD_BLOCK, ONE_BYTE, HALF, NOTHING };

/* What is to happen at which system call on which descriptor; the program's own calls. */
static struct kernel {
	bool on;
	unsigned int calls, fail_at, fail_for;
	enum how how;
	int error;
	bool sync_failed;
	unsigned int after_failed_sync;
} kernel;

static void
kernel_plan(enum how how, int error, unsigned int fail_at, unsigned int fail_for)
{
	kernel = (struct kernel){ true, 0, fail_at, fail_for, how, error, false, 0 };
}

/* Is something to happen to this call? */
static bool
interposed(void)
{
	if (!kernel.on)
		return false;
	kernel.calls++;
	kernel.after_failed_sync += kernel.sync_failed;
	return kernel.fail_at && kernel.calls >= kernel.fail_at &&
		(kernel.fail_for == 0 || kernel.calls < kernel.fail_at + kernel.fail_for);
}

/* -1 with errno set, 0, or how many of n bytes are to be asked for. */
static ssize_t
transfer(size_t n)
{
	switch (kernel.how) {
	case ONE_BYTE:
		return n > 0;
	case HALF:
		return (ssize_t)(n + 1) / 2;
	case NOTHING:
		return 0;
	case INTERRUPT:
		errno = EINTR;
		return -1;
	case WOULD_BLOCK:
		errno = EAGAIN;
		return -1;
	default:
		errno = kernel.error;
		return -1;
	}
}

ssize_t
write(int fd, const void *p, size_t n)
{
	if (interposed()) {
		ssize_t part = transfer(n);

		if (part <= 0)
			return part;
		n = (size_t)part;
	}
	return syscall(SYS_write, fd, p, n);
}

ssize_t
pread(int fd, void *p, size_t n, off_t at)
{
	if (interposed()) {
		ssize_t part = transfer(n);

		if (part < 0)
			return part;
		/* 0 is the end of the file: a file that shrank meanwhile. */
		n = (size_t)part;
	}
	return syscall(SYS_pread64, fd, p, n, at);
}

ssize_t
read(int fd, void *p, size_t n)
{
	if (interposed() && kernel.how != NOTHING) {
		ssize_t part = transfer(n);

		if (part < 0)
			return part;
		n = (size_t)part;
	}
	return syscall(SYS_read, fd, p, n);
}

/* Calls that move nothing: only errors. */
static bool
refused(void)
{
	if (!interposed() || (kernel.how != FAIL && kernel.how != INTERRUPT))
		return false;
	errno = kernel.how == FAIL ? kernel.error : EINTR;
	return true;
}

int
fdatasync(int fd)
{
	if (refused()) {
		kernel.sync_failed |= kernel.how == FAIL;
		return -1;
	}
	return 0; /* a thousand times: the disk need not take part */
}

int
ftruncate(int fd, off_t size)
{
	return refused() ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

off_t
lseek(int fd, off_t at, int whence)
{
	return refused() ? -1 : syscall(SYS_lseek, fd, at, whence);
}

static int
temporary(void)
{
	char path[] = "/tmp/spoor-test-io-faults.XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

struct run {
	int fd, result;
	struct numbered_progress p;
	bool reached;
};

/* Writes the script into a file, with a plan. */
static struct run
write_with(enum how how, int error, unsigned int fail_at, unsigned int fail_for)
{
	struct recording_meta *meta = numbered_meta(1);
	struct run run = { .fd = temporary() };
	struct io_sink *sink = io_sink_fd(dup(run.fd));

	kernel_plan(how, error, fail_at, fail_for);
	run.result = numbered_write(sink, meta, &script, &run.p);
	kernel.on = false;
	run.reached = kernel.calls >= fail_at;
	recording_meta_free(meta);
	return run;
}

static void
assert_same_file(int a, int b)
{
	static uint8_t p[CAP], q[CAP];
	ssize_t n = pread(a, p, CAP, 0), m = pread(b, q, CAP, 0);

	assert_int_equal(n, m);
	assert_memory_equal(p, q, (size_t)n);
}

/* Interrupted, short, told to wait: at each call, at all calls; nobody sees it. */
static void
test_interruptions(void **state)
{
	static const enum how ways[] = { INTERRUPT, WOULD_BLOCK, ONE_BYTE, HALF };
	struct run whole = write_with(FAIL, 0, 0, 1);
	unsigned int runs = 0;

	assert_int_equal(whole.result, 0);
	for (size_t i = 0; i < 4; i++) {
		for (unsigned int call = 1;; call++, runs++) {
			struct run run = write_with(ways[i], 0, call, 1 + call % 3);

			assert_int_equal(run.result, 0);
			assert_same_file(run.fd, whole.fd);
			close(run.fd);
			if (!run.reached)
				break;
		}
	}
	for (size_t i = 2; i < 4; i++, runs++) {
		struct run run = write_with(ways[i], 0, 1, 0);

		assert_int_equal(run.result, 0);
		assert_same_file(run.fd, whole.fd);
		close(run.fd);
	}
	close(whole.fd);
	print_message("# %u runs\n", runs);
	assert_true(runs > 200);
}

static void
test_refusals(void **state)
{
	static const int errors[] = { EIO, ENOSPC, EDQUOT, EFBIG };
	static const unsigned int calls[] = { 1, 2, 5, 0 };
	unsigned int runs = 0;

	for (unsigned int call = 1; call < 1000; call++) {
		bool reached = false;

		for (size_t i = 0; i < 4 * 4 + 1; i++, runs++) {
			bool nothing = i == 16; /* write(2) says 0 */
			struct run run = write_with(nothing ? NOTHING : FAIL, errors[i % 4], call,
						    calls[i / 4 % 4]);
			struct numbered_result r;

			reached |= run.reached;
			assert_int_equal(kernel.after_failed_sync, 0);
			if (run.result == 0)
				assert_int_equal(verify(io_source_fd(dup(run.fd))), 0);
			if (run.p.written > 0) {
				numbered_read(io_source_fd(run.fd), 1, run.p.given, NULL, &r);
				numbered_assert_prefix(&r, 1, run.p.written, run.p.given,
						       "system call", call);
			} else {
				close(run.fd);
			}
		}
		if (!reached)
			break;
	}
	print_message("# %u runs\n", runs);
	assert_true(runs > 1000);
}

/* --- reading ----------------------------------------------------------------------------- */

static void
check_read(const struct numbered_result *r, uint64_t given, unsigned int call)
{
	assert_false(r->strange);
	assert_false(r->twice);
	assert_true(r->order);
	switch (kernel.how) {
	case FAIL:
		/* Told; or it was a part that is there twice. */
		if (r->error)
			assert_int_equal(r->error, -FMT_E_IO);
		else
			assert_int_equal(r->count, given);
		break;
	case NOTHING: /* as if the file ended there: an end like any other */
		break;
	default:
		numbered_assert_prefix(r, 1, given, given, "reading", call);
	}
}

static void
test_reading(void **state)
{
	static const enum how ways[] = { FAIL, INTERRUPT, ONE_BYTE, HALF, NOTHING };
	struct run whole = write_with(FAIL, 0, 0, 1);
	unsigned int runs = 0;

	for (size_t i = 0; i < 5 * 2; i++) {
		for (unsigned int call = 1;; call++, runs++) {
			struct numbered_result r;

			kernel_plan(ways[i / 2], EIO, call, i % 2 ? 0 : 1 + call % 2);
			/* For ever interrupted is for ever. */
			if (kernel.how == INTERRUPT && kernel.fail_for == 0)
				break;
			numbered_read(io_source_fd(dup(whole.fd)), 1, whole.p.given, NULL, &r);
			kernel.on = false;
			check_read(&r, whole.p.given, call);
			if (kernel.calls < call)
				break;
		}
	}
	close(whole.fd);
	print_message("# %u runs\n", runs);
	assert_true(runs > 30);
}

/* A pipe that comes in pieces, is interrupted, and breaks. */
static void
test_reading_a_pipe(void **state)
{
	static const enum how ways[] = { FAIL, INTERRUPT, HALF, WOULD_BLOCK };
	static uint8_t bytes[CAP];
	struct run whole = write_with(FAIL, 0, 0, 1);
	ssize_t n = pread(whole.fd, bytes, CAP, 0);

	assert_uint_in_range(n, 4000, 60000);
	for (size_t i = 0; i < 4; i++) {
		for (unsigned int call = 1;; call++) {
			struct numbered_result r;
			struct io_source *source;
			int fds[2];

			assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
			assert_int_equal(write(fds[1], bytes, (size_t)n), n);
			close(fds[1]);
			kernel_plan(ways[i], EIO, call, 1);
			source = io_source_fd(fds[0]);
			kernel.on = false;
			if (kernel.how == FAIL && kernel.calls >= call) {
				assert_null(source);
				continue;
			}
			assert_non_null(source);
			numbered_read(source, 1, whole.p.given, NULL, &r);
			numbered_assert_prefix(&r, 1, whole.p.given, whole.p.given, "pipe", call);
			if (kernel.calls < call)
				break;
		}
	}
	close(whole.fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_call),     cmocka_unit_test(test_interruptions),
		cmocka_unit_test(test_refusals),       cmocka_unit_test(test_reading),
		cmocka_unit_test(test_reading_a_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
