/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Workers that crash, loop, eat memory, or try what they must not; the others' answers stand. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbolizer/dwarf/dwarf_sandbox.h"
#include "symbolizer/dwarf/dwarf_worker.h"
#include "tests/lab/elf_lab.h"
#include "tests/lab/refused_call.h"

/* A budget: AddressSanitizer needs some of it for its last words. */
#define SMALL (UINT64_C(512) << 20)
#define JOBS 5

static const char source[] = "static inline int twice(int x)\n{\n\treturn x * 2 + 1;\n}\n"
			     "int volatile v;\n"
			     "int main(void)\n{\n\tv = twice(v);\n\treturn 0;\n}\n";

/* --- what a worker may meet --- */

/* abort() may send no signal here, and ends by a bad instruction; cmocka would go on with the next test. */
static void
crash(void)
{
	(void)signal(SIGSEGV, SIG_DFL);
	abort();
}

/* No null pointer: UndefinedBehaviorSanitizer would end the process with 1. */
static void
read_nowhere(void)
{
	volatile int *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)signal(SIGSEGV, SIG_DFL);
	(void)*nowhere;
}

static void
loop(void)
{
	for (volatile unsigned int i = 0;; i++)
		;
}

/* AddressSanitizer ends a process that crashes, or that asks for too much memory, in its own way. */
const char *__asan_default_options(void);
const char *
__asan_default_options(void)
{
	return "handle_segv=0:handle_abort=0:allocator_may_return_null=1";
}

/* As libdw, which ends the process when there is no memory. */
static void
eat(void)
{
	for (size_t n = 0; n < 2 * DWARF_BUDGET_MEMORY_MAX; n += 64u << 20)
		if (malloc(64u << 20) == NULL)
			exit(1);
}

static void
eat_more_than_half(void)
{
	if (malloc(SMALL / 8 * 5) == NULL)
		exit(1);
}

/* Does what a process that is somebody else's would do first; ends when it could. */
static void
break_out(void)
{
	if (open("/etc/passwd", O_RDONLY) < 0 && errno == EPERM &&
	    socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == EPERM && fork() < 0 && errno == EPERM &&
	    kill(getppid(), 0) < 0 && errno == EPERM && write(1, "!", 1) < 0 && errno == EBADF &&
	    write(2, "!", 1) < 0 && errno == EBADF)
		return;
	abort();
}

/* sandbox: stat(2) is by descriptor alone, whichever call the C library makes for it; ends when it could know of a path. */
static void
break_out_by_stat(void)
{
	struct stat st;
	struct statx stx;
	int fd = 0;

	while (fd < 64 && fcntl(fd, F_GETFD) < 0)
		fd++;
	if (fstat(fd, &st) < 0 || st.st_ino == 0 || fstatat(fd, "", &st, AT_EMPTY_PATH) < 0)
		abort();
	if (fstat(63, &st) == 0 || errno != EBADF)
		abort();
	if (stat("/etc/passwd", &st) == 0 || errno != EPERM ||
	    syscall(SYS_newfstatat, fd, "/etc/passwd", &st, AT_EMPTY_PATH) == 0 || errno != EPERM ||
	    syscall(SYS_newfstatat, AT_FDCWD, "", &st, AT_EMPTY_PATH) == 0 ||
	    statx(fd, "", AT_EMPTY_PATH, STATX_SIZE, &stx) == 0 || errno != EPERM)
		abort();
}

/* Ends when it could have others signalled, or a file changed; what is needed of fcntl(2) is there. */
static void
break_out_by_fcntl(void)
{
	static const int refused[] = { F_SETOWN, F_SETSIG, F_SETLEASE, F_NOTIFY,
				       F_SETFL,	 F_SETLK,  F_DUPFD,    F_SETPIPE_SZ };
	int fd = 0;

	while (fd < 64 && fcntl(fd, F_GETFD) < 0)
		fd++;
	if (fcntl(fd, F_GETFL) < 0 || close(fcntl(fd, F_DUPFD_CLOEXEC, 0)) < 0)
		abort();
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (fcntl(fd, refused[i], 0) >= 0 || errno != EPERM)
			abort();
}

/* The process that may use stdio, whose locks another thread may hold when a worker is forked; 0: any. */
static pid_t with_stdio;

FILE *
fopen(const char *path, const char *mode)
{
	int fd;

	if (with_stdio && getpid() != with_stdio)
		abort();
	fd = open(path,
		  *mode == 'r' ? O_RDONLY | O_CLOEXEC : O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
		  0666);
	return fd < 0 ? NULL : fdopen(fd, mode);
}

static size_t answered[JOBS];
static struct dwarf_budget budget;

static int
count(void *arg, size_t job, size_t i, const struct dwarf_frame *frames, size_t nr, bool partial)
{
	(void)arg;
	assert_false(partial);
	assert_int_equal(i, 0);
	assert_string_equal(frames[nr - 1].function, "main");
	answered[job]++;
	return 0;
}

static int
count_any(void *arg, size_t job, size_t i, const struct dwarf_frame *frames, size_t nr,
	  bool partial)
{
	(void)arg, (void)job, (void)i, (void)frames, (void)nr, (void)partial;
	return 0;
}

static uint64_t
address_of_main(const char *path)
{
	struct lab_symbol *all;
	size_t n = lab_nm(path, "", &all);
	uint64_t address = 0;

	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i].name, "main") == 0)
			address = all[i].address;
	free(all);
	assert_true(address != 0);
	return address;
}

/* Job 2 meets it; two at a time. */
static void
run_with(void (*meets)(void), unsigned int seconds, enum dwarf_outcome want)
{
	const char *path = lab_build("worker", source, 0, "-g -O2");
	const uint64_t address = address_of_main(path);
	struct dwarf_job jobs[JOBS];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	for (size_t i = 0; i < JOBS; i++)
		jobs[i] = (struct dwarf_job){ .fd = fd,
					      .alt_fd = -1,
					      .addresses = &address,
					      .n = 1,
					      .before = i == 2 ? meets : NULL,
					      .seconds = i == 2 ? seconds : 0 };
	memset(answered, 0, sizeof(answered));
	assert_int_equal(dwarf_workers_run(jobs, JOBS, 2, &budget, count, NULL), 0);
	for (size_t i = 0; i < JOBS; i++) {
		assert_int_equal(jobs[i].outcome, i == 2 ? want : DWARF_DONE);
		assert_int_equal(answered[i], jobs[i].outcome == DWARF_DONE);
	}
	close(fd);
}

static void
test_crashes(void **state)
{
	(void)state;
	run_with(crash, 0, DWARF_CRASHED);
	run_with(read_nowhere, 0, DWARF_CRASHED);
}

static void
test_loops(void **state)
{
	(void)state;
	run_with(loop, 1, DWARF_LATE);
}

static uint64_t
children_ms(void)
{
	struct rusage r;

	assert_int_equal(getrusage(RUSAGE_CHILDREN, &r), 0);
	return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000 +
		(uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1000;
}

/*
 * Seven that loop, of users who have four seconds of CPU time: those that are begun are ended, each with a part of what is
 * left. On a busy machine some end by the clock, and what they had left goes to others.
 */
static void
test_others_have_their_time(void **state)
{
	const char *path = lab_build("worker", source, 0, "-g -O2");
	const uint64_t address = address_of_main(path);
	struct dwarf_budget four = { .memory = budget.memory, .others_ms = 4000 };
	struct dwarf_job jobs[8];
	size_t late = 0, unread = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const uint64_t before_ms = children_ms();

	(void)state;
	assert_true(fd >= 0);
	for (size_t i = 0; i < 8; i++)
		jobs[i] = (struct dwarf_job){ .fd = fd,
					      .alt_fd = -1,
					      .addresses = &address,
					      .n = 1,
					      .others = i < 7,
					      .before = i < 7 ? loop : NULL };
	memset(answered, 0, sizeof(answered));
	assert_int_equal(dwarf_workers_run(jobs, 8, 2, &four, count_any, NULL), 0);
	for (size_t i = 0; i < 7; i++) {
		late += jobs[i].outcome == DWARF_LATE;
		unread += jobs[i].outcome == DWARF_UNREAD;
	}
	assert_int_equal(late + unread, 7);
	assert_in_range(late, 3, 7);
	assert_int_equal(jobs[7].outcome, DWARF_DONE);
	/* The kernel looks at a limit of CPU time when its clock ticks. */
	assert_in_range(children_ms() - before_ms, 0, 4000 + 8 * 50);
	close(fd);
}

/* Both at a time have no more than all; one that needs more than a half runs again, alone. */
static void
test_memory_is_shared(void **state)
{
	const char *path = lab_build("worker", source, 0, "-g -O2");
	const uint64_t address = address_of_main(path);
	struct dwarf_budget small = { .memory = SMALL, .others_ms = 1000 };
	struct dwarf_job jobs[2];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	for (size_t i = 0; i < 2; i++)
		jobs[i] = (struct dwarf_job){ .fd = fd,
					      .alt_fd = -1,
					      .addresses = &address,
					      .n = 1,
					      .before = i ? eat_more_than_half : eat };
	memset(answered, 0, sizeof(answered));
	assert_int_equal(dwarf_workers_run(jobs, 2, 2, &small, count_any, NULL), 0);
	assert_int_equal(jobs[0].outcome, DWARF_FAILED);
	assert_int_equal(jobs[1].outcome, DWARF_DONE);
	for (uint64_t n = 1; n < 100; n++) {
		assert_true(n * dwarf_budget_memory(&budget, false, n) <= budget.memory);
		assert_true(n * dwarf_budget_memory(&budget, true, n) <=
			    DWARF_BUDGET_OTHERS_MEMORY_MAX);
	}
	close(fd);
}

static void
put(const char *dir, const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* Files that a group has read are no memory that it lacks. */
static void
test_memory_of_a_group(void **state)
{
	char top[] = "/tmp/spoor-groups.XXXXXX", sub[64], self[64], command[64];

	(void)state;
	assert_non_null(mkdtemp(top));
	snprintf(sub, sizeof(sub), "%s/a", top);
	snprintf(self, sizeof(self), "%s/self", top);
	assert_int_equal(mkdir(sub, 0700), 0);
	put(top, "self", "9:name=systemd:/\n0::/a\n");
	assert_true(dwarf_budget_group(top, self) == UINT64_MAX);
	put(sub, "memory.max", "max\n");
	put(sub, "memory.current", "1000\n");
	assert_true(dwarf_budget_group(top, self) == UINT64_MAX);
	put(sub, "memory.max", "1000\n");
	assert_int_equal(dwarf_budget_group(top, self), 0);
	put(sub, "memory.stat",
	    "anon 300\nfile 700\nshmem 100\ninactive_file 400\nactive_file 200\n");
	assert_int_equal(dwarf_budget_group(top, self), 600);
	put(top, "memory.max", "500\n");
	put(top, "memory.current", "600\n");
	put(top, "memory.stat", "inactive_file 200\nactive_file 900\n");
	assert_int_equal(dwarf_budget_group(top, self), 500);
	put(top, "memory.stat", "inactive_file 200\nactive_file 0\n");
	assert_int_equal(dwarf_budget_group(top, self), 100);
	snprintf(command, sizeof(command), "rm -r %s", top);
	assert_int_equal(system(command), 0);
}

/* The number in a file; -1. */
static int
number_in(const char *path)
{
	char text[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) <= 0)
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
	return text[0] ? (int)strtol(text, NULL, 10) : -1;
}

static _Atomic bool watching;

/* Whether a child of the main thread said that it goes first. */
static void *
watch_children(void *arg)
{
	bool *seen = arg;
	char path[64];

	while (watching) {
		snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
		snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", number_in(path));
		*seen |= number_in(path) == 1000;
		usleep(1000);
	}
	return NULL;
}

static void
test_goes_first(void **state)
{
	pthread_t watcher;
	bool seen = false;

	(void)state;
	watching = true;
	assert_int_equal(pthread_create(&watcher, NULL, watch_children, &seen), 0);
	run_with(loop, 1, DWARF_LATE);
	watching = false;
	pthread_join(watcher, NULL);
	assert_true(seen);
}

static void
test_eats(void **state)
{
	(void)state;
	run_with(eat, 0, DWARF_FAILED);
}

static void
test_breaks_out(void **state)
{
	(void)state;
	run_with(break_out, 0, DWARF_DONE);
	run_with(break_out_by_fcntl, 0, DWARF_DONE);
	run_with(break_out_by_stat, 0, DWARF_DONE);
}

/* sandbox: a worker that cannot be sandboxed reads nothing, and its outcome says so. */
static void
test_refused(void **state)
{
	const char *path = lab_build("worker", source, 0, "-g -O2");
	const uint64_t address = address_of_main(path);
	struct dwarf_job job = {
		.fd = open(path, O_RDONLY | O_CLOEXEC), .alt_fd = -1, .addresses = &address, .n = 1
	};
	int status = 0;
	pid_t pid;

	(void)state;
	assert_true(job.fd >= 0);
	memset(answered, 0, sizeof(answered));
	pid = fork();
	if (pid == 0) {
		refused_call(SYS_seccomp);
		assert_int_equal(dwarf_workers_run(&job, 1, 1, &budget, count, NULL), 0);
		assert_int_equal(job.outcome, DWARF_REFUSED);
		assert_int_equal(answered[0], 0);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(job.fd);
}

/* What was sandboxed cannot say that it was not. */
static void
claim_refused(void)
{
	_exit(DWARF_SANDBOX_REFUSED);
}

static void
test_claims(void **state)
{
	(void)state;
	run_with(claim_refused, 0, DWARF_CRASHED);
}

static void
do_nothing(void)
{
}

static void
test_uses_no_stdio(void **state)
{
	(void)state;
	with_stdio = getpid();
	run_with(do_nothing, 0, DWARF_DONE);
	with_stdio = 0;
}

static void
test_no_file(void **state)
{
	static const char text[] = "no ELF file";
	const char *path = lab_path("text");
	const uint64_t address = 1;
	struct dwarf_job jobs[2];
	int fd;

	(void)state;
	elf_lab_write(path, text, sizeof(text));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	jobs[0] = (struct dwarf_job){ .fd = fd, .alt_fd = -1, .addresses = &address, .n = 1 };
	jobs[1] = (struct dwarf_job){ .fd = -1, .alt_fd = -1, .addresses = &address, .n = 1 };
	assert_int_equal(dwarf_workers_run(jobs, 2, 8, &budget, count, NULL), 0);
	assert_int_equal(jobs[0].outcome, DWARF_DAMAGED);
	assert_int_equal(jobs[1].outcome, DWARF_DAMAGED);
	assert_int_equal(dwarf_workers_run(jobs, 0, 8, &budget, count, NULL), 0);
	close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crashes),
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_eats),
		cmocka_unit_test(test_breaks_out),
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_uses_no_stdio),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_claims),
		cmocka_unit_test(test_others_have_their_time),
		cmocka_unit_test(test_memory_is_shared),
		cmocka_unit_test(test_memory_of_a_group),
		cmocka_unit_test(test_goes_first),
	};

	dwarf_budget_init(&budget);
	return cmocka_run_group_tests_name("dwarf_worker", tests, NULL, NULL);
}
