/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer killed: at random moments at full speed (KILLS=10000 is the long run), and at
 * the entry and the exit of each of its system calls. What is left reads, with no repair:
 * a prefix of what was written, to the byte, less the open block at most.
 */
#include "tests/lab/numbered.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define BLOCK_BYTES 4096
#define PER_PASS 16
/* What a kill may cost: what the open block holds, and the records of the call it hit. */
#define LOSS_MAX (BLOCK_BYTES / NUMBERED_BYTES_MIN + PER_PASS)

static struct target {
	int fd;
	struct numbered_progress *progress; /* shared with the child */
	struct recording_meta *meta;
} target;

static int
setup(void **state)
{
	char path[] = "/tmp/spoor-test-kill.XXXXXX";

	target.fd = mkostemp(path, O_CLOEXEC);
	assert_true(target.fd >= 0);
	unlink(path);
	target.progress = mmap(NULL, sizeof(*target.progress), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(target.progress != MAP_FAILED);
	target.meta = numbered_meta(1);
	return 0;
}

static int
teardown(void **state)
{
	recording_meta_free(target.meta);
	munmap(target.progress, sizeof(*target.progress));
	close(target.fd);
	return 0;
}

static void
begin(void)
{
	assert_int_equal(ftruncate(target.fd, 0), 0);
	assert_int_equal(lseek(target.fd, 0, SEEK_SET), 0);
	*target.progress = (struct numbered_progress){ 0 };
}

/* In the child: the writer as it is, with the sink that programs use. Does not return. */
static void
write_and_exit(unsigned int passes, bool verbatim)
{
	const struct numbered_script s = {
		.passes = passes,
		.per_pass = PER_PASS,
		.block_bytes = BLOCK_BYTES,
		.index_every = 8,
		.sync_every = 20,
		.small_every = 7,
		.verbatim = verbatim,
	};

	_exit(numbered_write(io_sink_fd(dup(target.fd)), target.meta, &s, target.progress) != 0);
}

/* What a dead child left. Returns how many samples. */
static uint64_t
check(const char *what, uint64_t at)
{
	const struct numbered_progress p = *target.progress;
	struct numbered_result r;
	struct stat st;

	assert_int_equal(fstat(target.fd, &st), 0);
	if (st.st_size == 0) {
		assert_int_equal(p.written, 0);
		return 0;
	}
	numbered_read(io_source_fd(dup(target.fd)), 1, p.given ? p.given : 1, NULL, &r);
	if (r.error) {
		/* A file whose very header was not finished. */
		assert_int_equal(p.written, 0);
		assert_true(r.error == -FMT_E_CORRUPT || r.error == -FMT_E_NOT_RECORDING);
		return 0;
	}
	numbered_assert_prefix(&r, 1, p.written, p.given, what, at);
	if (p.given - r.prefix > LOSS_MAX)
		fail_msg("%s %ju: %ju samples lost, %d are allowed", what, (uintmax_t)at,
			 (uintmax_t)(p.given - r.prefix), LOSS_MAX);
	assert_int_equal(r.health.damaged_blocks, 0);
	assert_int_equal(r.health.damaged_bytes, 0);
	return r.count;
}

/* A machine with other work may take its time until the child has written its first block. */
static void
wait_for_block(void)
{
	for (int ms = 0; ms < 10000; ms++) {
		if (__atomic_load_n(&target.progress->written, __ATOMIC_RELAXED) > 0)
			return;
		usleep(1000);
	}
	fail_msg("nothing is written in ten seconds");
}

static void
test_random_moments(void **state)
{
	unsigned int kills = numbered_env("KILLS", 300), empty = 0;
	uint64_t seed = 4711, samples = 0;

	for (unsigned int i = 0; i < kills; i++) {
		/* Mostly at work, often at the very beginning. */
		useconds_t wait_us = (useconds_t)numbered_roll(&seed, i % 4 ? 4000 : 800);
		uint64_t n;
		pid_t pid;

		begin();
		pid = fork();
		if (pid == 0)
			write_and_exit(UINT32_MAX, i % 2);
		assert_true(pid > 0);
		if (i % 4)
			wait_for_block();
		usleep(wait_us);
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		n = check("kill", i);
		samples += n;
		empty += n == 0;
	}
	print_message("# %u kills, %u of them before the first block; %ju samples read\n", kills,
		      empty, (uintmax_t)samples);
	assert_true(empty < kills / 2);
}

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED true
#else
#define SANITIZED false
#endif

/* Runs the child through `stops` entries and exits of system calls. false: it ended before. */
static bool
run_to(unsigned int stops, bool verbatim)
{
	int status;
	pid_t pid;

	begin();
	pid = fork();
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(3);
		raise(SIGSTOP);
		write_and_exit(40, verbatim);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	for (unsigned int i = 0; i < stops; i++) {
		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status)) {
			assert_int_equal(WEXITSTATUS(status), 0);
			return false;
		}
		assert_true(WIFSTOPPED(status));
	}
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	return true;
}

static void
kill_at_each(bool verbatim)
{
	unsigned int stops = 0;
	uint64_t before = 0;

	for (; run_to(stops, verbatim); stops++) {
		uint64_t n = check("system call", stops);

		/* Later is never less: each run makes the same calls, but for a sanitizer's own. */
		assert_true(n >= before || SANITIZED);
		before = n;
	}
	assert_int_equal(check("whole", stops), 40 * PER_PASS);
	print_message("# killed at each of %u entries and exits of system calls\n", stops);
	assert_true(stops > 60);
}

static void
test_every_system_call(void **state)
{
	kill_at_each(false);
	kill_at_each(true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_moments),
		cmocka_unit_test(test_every_system_call),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
