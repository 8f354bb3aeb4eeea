/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program spoor-unwind as the recorder runs it, with this process as what is sampled.
 *
 * @full
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <bsd/string.h>
#include <linux/perf_event.h>

#include "format/unwind/unwind_ring.h"
#include "symbolizer/dwarf/dwarf_sandbox.h"
#include "symbolizer/unwind/unwind.h"

#define STACKS_BYTES (1u << 20)
#define FRAMES 256
#define COPIED 8192
#define OBJECTS 300
#define PRIVATE_MAX (UINT64_C(32) << 20)
#define PLACES 25    /* walked in each object */
#define HOSTILE 3000 /* objects */

/* --- the recorder's side --- */

static struct rig {
	pid_t pid;
	int fd, offers;
	void *memory;
	struct unwind_ring ring;
} rig;

/* Beside this one. */
static const char *
program(void)
{
	static char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);
	char *end;

	assert_true(n > 0);
	path[n] = '\0';
	end = strstr(path, "/tests/unit/");
	assert_non_null(end);
	strlcpy(end, "/spoor-unwind", 32);
	return path;
}

static void
say(int socket, const void *message, size_t n, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec part = { .iov_base = (void *)(uintptr_t)message, .iov_len = n };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd >= 0) {
		m.msg_control = control;
		m.msg_controllen = sizeof(control);
		*CMSG_FIRSTHDR(&m) = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
						       .cmsg_level = SOL_SOCKET,
						       .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &fd, sizeof(fd));
	}
	assert_true(sendmsg(socket, &m, MSG_NOSIGNAL) == (ssize_t)n || errno == EPIPE ||
		    errno == ECONNRESET);
}

static void
start_program(void)
{
	int pair[2], null = open("/dev/null", O_RDWR);

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	rig.pid = fork();
	assert_true(rig.pid >= 0);
	if (rig.pid == 0) {
		for (int i = 0; i < 3; i++)
			dup2(null, i);
		dup2(pair[1], UNWIND_SOCKET);
		syscall(SYS_close_range, UNWIND_SOCKET + 1, ~0u, 0);
		execl(program(), "spoor-unwind", (char *)NULL);
		_exit(99);
	}
	close(null);
	close(pair[1]);
	rig.fd = pair[0];
}

/* Says the first message. */
static void
say_start(uint32_t version, int seals)
{
	struct unwind_start start = { .version = version };
	struct utsname u;
	int memory = memfd_create("rig", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(uname(&u), 0);
	memcpy(start.machine, u.machine, strnlen(u.machine, sizeof(start.machine) - 1));
	assert_int_equal(ftruncate(memory, UNWIND_RING_BYTES + STACKS_BYTES), 0);
	assert_int_equal(fcntl(memory, F_ADD_SEALS, seals), 0);
	rig.memory = mmap(NULL, UNWIND_RING_BYTES + STACKS_BYTES, PROT_READ | PROT_WRITE,
			  MAP_SHARED, memory, 0);
	assert_true(rig.memory != MAP_FAILED);
	assert_true(unwind_ring_init(&rig.ring, rig.memory, UNWIND_RING_BYTES + STACKS_BYTES));
	say(rig.fd, &start, sizeof(start), memory);
	close(memory);
}

static void
new_offers(void)
{
	int pair[2];

	if (rig.offers > 0)
		close(rig.offers);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	say(rig.fd, "o", 1, pair[1]);
	close(pair[1]);
	rig.offers = pair[0];
}

static int
start(void **state)
{
	start_program();
	say_start(UNWIND_VERSION, F_SEAL_SHRINK | F_SEAL_GROW);
	rig.offers = -1;
	new_offers();
	return 0;
}

/* Its wait status, when its socket was closed. */
static int
ended(void)
{
	int status = -1;

	close(rig.fd);
	if (rig.offers > 0)
		close(rig.offers);
	if (rig.memory)
		munmap(rig.memory, UNWIND_RING_BYTES + STACKS_BYTES);
	assert_int_equal(waitpid(rig.pid, &status, 0), rig.pid);
	rig = (struct rig){ .offers = -1 };
	return status;
}

static int
stop(void **state)
{
	if (rig.pid > 0)
		assert_int_equal(ended(), 0);
	return 0;
}

/* It says that it has done all; false: it has ended instead. */
static bool
done(void)
{
	const struct timespec moment = { .tv_nsec = 50000 };
	siginfo_t info;

	say(rig.fd, "r", 1, -1);
	while (unwind_ring_taken(&rig.ring) != rig.ring.head) {
		info.si_pid = 0;
		assert_int_equal(waitid(P_PID, (id_t)rig.pid, &info, WEXITED | WNOHANG | WNOWAIT),
				 0);
		if (info.si_pid)
			return false;
		nanosleep(&moment, NULL);
	}
	return true;
}

static void *
reserve(enum unwind_kind kind, size_t bytes)
{
	void *e = unwind_ring_reserve(&rig.ring, kind, bytes);

	if (e)
		return e;
	assert_true(done());
	e = unwind_ring_reserve(&rig.ring, kind, bytes);
	assert_non_null(e);
	return e;
}

/* Of the last question, and by numbers. */
static uint64_t serial, serials[2 * UNWIND_FILES_MAX];
/* Whose all that is told belongs to. */
static uint32_t user;

/* All have one build-id: that says nothing. */
static void
offer(uint32_t number, int fd)
{
	const uint32_t same = 1;
	const struct unwind_offer o = { .serial = ++serial,
					.id = buildid_of(BUILDID_GNU, &same, sizeof(same)),
					.pid = getpid(),
					.uid = user };

	serials[number] = serial;
	say(rig.offers, &o, sizeof(o), fd);
}

static void
claim(uint32_t number)
{
	struct unwind_file *f = reserve(UNWIND_FILE, sizeof(*f));

	f->number = number;
	f->uid = user;
	f->serial = serials[number];
	unwind_ring_publish(&rig.ring);
}

static void
put_file(uint32_t number, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	offer(number, fd);
	close(fd);
	claim(number);
}

static void
put_space(uint32_t number, const struct unwind_map *maps, uint32_t nr)
{
	struct unwind_space *s = reserve(UNWIND_SPACE, sizeof(*s) + nr * sizeof(*maps));

	s->number = number;
	s->nr = nr;
	s->uid = user;
	memcpy(s + 1, maps, nr * sizeof(*maps));
	unwind_ring_publish(&rig.ring);
}

/* --- a sample of this process --- */

static struct sample {
	uint64_t mask;
	uint64_t words[64];
	uint8_t stack[COPIED];
	uint32_t stack_bytes;
	void *truth[FRAMES];
	int nr_truth;
} sample;

static uint64_t stack_end;

#ifdef __x86_64__
#define MACHINE_KNOWN true
/* PERF_REG_X86_*: AX, BX, CX, DX, SI, DI, BP, SP, IP; R8 to R15 from 16 on. */
static void
registers_of(const ucontext_t *c)
{
	static const int perf[] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI,
				    REG_RDI, REG_RBP, REG_RSP, REG_RIP };
	static const int high[] = { REG_R8,  REG_R9,  REG_R10, REG_R11,
				    REG_R12, REG_R13, REG_R14, REG_R15 };
	size_t n = 0;

	for (size_t i = 0; i < 9; i++)
		sample.words[n++] = (uint64_t)c->uc_mcontext.gregs[perf[i]];
	for (size_t i = 0; i < 8; i++)
		sample.words[n++] = (uint64_t)c->uc_mcontext.gregs[high[i]];
	sample.mask = 0xff01ff;
}
#define SP_WORD 7
#define IP_WORD 8
#else
#define MACHINE_KNOWN false
static void
registers_of(const ucontext_t *c)
{
}
#define SP_WORD 0
#define IP_WORD 0
#endif

static void __attribute__((noinline)) take_sample(const ucontext_t *c)
{
	uint64_t sp;

	registers_of(c);
	sp = sample.words[SP_WORD];
	sample.stack_bytes = stack_end - sp < COPIED ? (uint32_t)(stack_end - sp) : COPIED;
	memcpy(sample.stack, (const void *)(uintptr_t)sp, sample.stack_bytes);
}

/* Registers and stack of what was interrupted; and who called that, as libgcc has it. */
static void
interrupted(int number, siginfo_t *info, void *context)
{
	sample.nr_truth = backtrace(sample.truth, FRAMES);
	take_sample(context);
}

/* Those of the handler itself. */
static void
handler_itself(int number, siginfo_t *info, void *context)
{
	ucontext_t here;

	sample.nr_truth = backtrace(sample.truth, FRAMES);
	getcontext(&here);
	take_sample(&here);
}

static volatile int depth_sum;

static int __attribute__((noinline)) deep(int n)
{
	volatile char room[64];

	room[0] = (char)n;
	if (n == 0)
		raise(SIGUSR1);
	else
		depth_sum += deep(n - 1);
	return room[0];
}

static void
make_sample(void (*handler)(int, siginfo_t *, void *), int depth)
{
	const struct sigaction act = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	memset(&sample, 0, sizeof(sample));
	assert_int_equal(sigaction(SIGUSR1, &act, NULL), 0);
	deep(depth);
	assert_true(sample.nr_truth > depth);
}

#define OWN_MAPS 256
static struct unwind_map own[OWN_MAPS];
static uint32_t nr_own, nr_own_files;
static char own_paths[OWN_MAPS][PATH_MAX];

static uint32_t
own_file(const char *path)
{
	uint32_t i;

	for (i = 0; i < nr_own_files; i++)
		if (strcmp(own_paths[i], path) == 0)
			return i + 1;
	strlcpy(own_paths[nr_own_files++], path, PATH_MAX);
	return nr_own_files;
}

static void
read_own_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 200], *path;
	unsigned long start_, end, pgoff;
	char prot[8];

	assert_non_null(f);
	nr_own = nr_own_files = 0;
	while (fgets(line, sizeof(line), f)) {
		assert_int_equal(sscanf(line, "%lx-%lx %7s %lx", &start_, &end, prot, &pgoff), 4);
		line[strcspn(line, "\n")] = '\0';
		if (strstr(line, "[stack]"))
			stack_end = end;
		if (prot[2] != 'x' || nr_own == OWN_MAPS)
			continue;
		path = strchr(line, '/');
		own[nr_own++] = (struct unwind_map){
			.start = start_,
			.end = end,
			.pgoff = pgoff,
			.file = path ? own_file(path) : 0,
			.flags = strstr(line, "[vdso]")	     ? UNWIND_MAP_VDSO
				: strstr(line, "[vsyscall]") ? UNWIND_MAP_VSYSCALL
							     : 0,
		};
	}
	fclose(f);
}

/* This process as address space 1, with its files from 1 on. */
static void
put_own(void)
{
	read_own_maps();
	for (uint32_t i = 0; i < nr_own_files; i++)
		put_file(i + 1, own_paths[i]);
	put_space(1, own, nr_own);
}

/* --- walks --- */

static uint64_t answered[FRAMES];
static size_t nr_answered;
static uint32_t answer_used; /* bytes of the stack; of UNWIND_NO_FILE the number */

static size_t
fill_stack(uint64_t at)
{
	struct unwind_stack *s = (void *)(rig.ring.stacks + at);
	const size_t words = (size_t)__builtin_popcountll(sample.mask) * 8;

	*s = (struct unwind_stack){ .mask = sample.mask,
				    .abi = PERF_SAMPLE_REGS_ABI_64,
				    .stack_bytes = sample.stack_bytes,
				    .asked_bytes = COPIED };
	memcpy(s + 1, sample.words, words);
	memcpy((uint8_t *)(s + 1) + words, sample.stack, sample.stack_bytes);
	return sizeof(*s) + words + sample.stack_bytes;
}

static void
put_walk(uint32_t space, uint64_t at, size_t bytes)
{
	struct unwind_walk *w = reserve(UNWIND_WALK, sizeof(*w));

	w->space = space;
	w->at = at;
	w->bytes = (uint32_t)bytes;
	unwind_ring_publish(&rig.ring);
}

/* The sample in a space: the stop. */
static uint32_t
walk(uint32_t space)
{
	const size_t bytes = fill_stack(0);
	struct unwind_answer a;

	put_walk(space, 0, bytes);
	assert_true(done());
	a = unwind_ring_answer(&rig.ring, 0, bytes, answered, FRAMES);
	nr_answered = a.nr;
	answer_used = a.used;
	/* No more than there is, and frames need some of it. */
	assert_true(a.used <= bytes);
	assert_true(a.nr < 2 || a.used > 0);
	return a.stop;
}

/* The truth from the frame on that answered[0] is. */
static void
assert_truth(int from)
{
	assert_true(from < sample.nr_truth);
	assert_int_equal(nr_answered, sample.nr_truth - from);
	for (size_t i = 1; i < nr_answered; i++)
		assert_int_equal(answered[i], (uintptr_t)sample.truth[from + (int)i]);
}

static int
truth_at(uint64_t address)
{
	int i = 0;

	while (i < sample.nr_truth && (uintptr_t)sample.truth[i] != address)
		i++;
	return i;
}

static void
need_machine(void)
{
	if (!MACHINE_KNOWN)
		skip();
}

static void
test_interrupted(void **state)
{
	need_machine();
	put_own();
	for (int depth = 0; depth < 40; depth += 13) {
		make_sample(interrupted, depth);
		assert_int_equal(walk(1), UNWIND_END);
		assert_int_equal(answered[0], sample.words[IP_WORD]);
		assert_truth(truth_at(answered[0]));
		assert_true(nr_answered > (size_t)depth);
	}
	assert_true(unwind_ring_cpu_ns(&rig.ring) > 0);
	assert_int_equal(unwind_ring_reading(&rig.ring), 0);
}

/*
 * A handler's callers: what was interrupted is one behind where it stands, so that the byte before it is of that
 * instruction.
 */
static void
test_handler(void **state)
{
	int at;
	size_t i;

	need_machine();
	put_own();
	make_sample(interrupted, 3);
	at = truth_at(sample.words[IP_WORD]);
	assert_true(at >= 2);
	make_sample(handler_itself, 3);
	assert_int_equal(walk(1), UNWIND_END);
	assert_int_equal(nr_answered, sample.nr_truth);
	for (i = 1; i < nr_answered; i++)
		assert_int_equal(answered[i], (uintptr_t)sample.truth[i] + ((int)i == at));
}

/* As unwind() has it in this process: a copy that ends is told. */
static void
test_short_copy(void **state)
{
	need_machine();
	put_own();
	make_sample(interrupted, 60);
	sample.stack_bytes = 2048;
	assert_int_equal(walk(1), UNWIND_SHORT);
	assert_true(nr_answered > 3);
	assert_true((int)nr_answered < sample.nr_truth);
}

/* A number has the file that was offered for it last; the socket of offers may be another one. */
static void
test_numbers(void **state)
{
	need_machine();
	put_own();
	make_sample(interrupted, 3);
	assert_int_equal(walk(1), UNWIND_END);
	/* Never offered, or offered for what another number is: it has to be asked for. */
	for (uint32_t i = 0; i < nr_own_files; i++) {
		serials[i + 1] += i % 2 ? 1000000 : 0;
		claim(i + 1);
	}
	assert_int_equal(walk(1), UNWIND_NO_FILE);
	assert_in_range(answer_used, 1, nr_own_files);
	new_offers();
	put_own();
	assert_int_equal(walk(1), UNWIND_END);
	/* An address space that was never told. */
	assert_int_equal(walk(2), UNWIND_NO_SPACE);
	assert_int_equal(walk(UNWIND_SPACES_MAX), UNWIND_NO_SPACE);
	assert_int_equal(walk(UINT32_MAX), UNWIND_NO_SPACE);
}

/* --- bad input --- */

static int
memory_file(const void *bytes, size_t n)
{
	int fd = memfd_create("hostile", MFD_CLOEXEC);

	assert_int_equal(write(fd, bytes, n), n);
	return fd;
}

/* Each file of this process by one that is damaged. */
static void
test_hostile_files(void **state)
{
	struct stat st;
	uint8_t *bytes;
	int libc = -1;

	need_machine();
	srand(1);
	put_own();
	make_sample(interrupted, 5);
	for (uint32_t i = 0; i < nr_own_files; i++)
		if (strstr(own_paths[i], "/libc.so") || strstr(own_paths[i], "/libc-"))
			libc = open(own_paths[i], O_RDONLY | O_CLOEXEC);
	assert_true(libc >= 0);
	assert_int_equal(fstat(libc, &st), 0);
	bytes = malloc((size_t)st.st_size);
	for (int round = 0; (uint32_t)round * nr_own_files < HOSTILE; round++) {
		size_t n = (size_t)st.st_size;
		int fd;

		assert_int_equal(pread(libc, bytes, n, 0), n);
		if (round % 3 == 0)
			n = (size_t)rand() % n;
		for (int i = 0; i < (round % 3 == 1 ? 64 : 2000); i++)
			bytes[(size_t)rand() % (round % 2 ? 4096 : (size_t)st.st_size)] =
				(uint8_t)rand();
		if (round % 10 == 9)
			for (n = 0; n < 4096; n++)
				bytes[n] = (uint8_t)rand();
		fd = memory_file(bytes, n);
		for (uint32_t i = 0; i < nr_own_files; i++) {
			offer(i + 1, fd);
			claim(i + 1);
		}
		close(fd);
		assert_true(walk(1) != UNWIND_BUSY);
		assert_true(nr_answered > 0);
	}
	free(bytes);
	close(libc);
	put_own();
	assert_int_equal(walk(1), UNWIND_END);
}

/* Not a file at all. */
static void
test_no_files(void **state)
{
	int pair[2], fd;

	need_machine();
	put_own();
	make_sample(interrupted, 5);
	assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
	fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (uint32_t i = 0; i < nr_own_files; i++) {
		offer(i + 1, i % 2 ? fd : pair[0]);
		claim(i + 1);
	}
	assert_true(walk(1) != UNWIND_BUSY);
	close(fd);
	close(pair[0]);
	close(pair[1]);
}

static void
test_nonsense_stacks(void **state)
{
	struct unwind_stack *s;
	size_t bytes;

	need_machine();
	put_own();
	srand(2);
	for (int round = 0; round < 1500; round++) {
		make_sample(interrupted, 2);
		for (int i = 0; i < 200; i++)
			sample.stack[(size_t)rand() % sample.stack_bytes] = (uint8_t)rand();
		if (round % 3)
			sample.words[rand() % 17] = (uint64_t)rand() << (rand() % 40);
		if (round % 7 == 0)
			sample.mask = (uint64_t)rand() << 32 | (uint64_t)rand();
		assert_true(walk(1) == UNWIND_BUSY || nr_answered > 0);
	}
	make_sample(interrupted, 2);
	for (uint32_t abi = 0; abi < 5; abi++) {
		bytes = fill_stack(0);
		s = (void *)rig.ring.stacks;
		s->abi = abi;
		put_walk(1, 0, bytes);
		assert_true(done());
	}
	/* What overruns has no answer; the ones behind it do. */
	put_walk(1, STACKS_BYTES - 8, 4096);
	put_walk(1, 3, 4096);
	put_walk(1, UINT64_MAX - 7, 4096);
	put_walk(1, 0, STACKS_BYTES + 8);
	assert_int_equal(walk(1), UNWIND_END);
}

static void
test_nonsense_spaces(void **state)
{
	static struct unwind_map maps[1000];
	struct unwind_space *space;

	need_machine();
	put_own();
	make_sample(interrupted, 5);
	srand(3);
	for (int round = 0; round < 300; round++) {
		for (uint32_t i = 0; i < 1000; i++)
			maps[i] = (struct unwind_map){
				.start = sample.words[IP_WORD] + (uint64_t)rand() - (1u << 30),
				.end = round % 2 ? UINT64_MAX : (uint64_t)rand() << 20,
				.pgoff = (uint64_t)rand() << (rand() % 40),
				.file = (uint32_t)rand() % (round % 3 ? 8 : UINT32_MAX),
				.flags = (uint32_t)rand() % 8,
			};
		put_space(2 + (uint32_t)round % 3000, maps, 1000);
		walk(2 + (uint32_t)round % 3000);
	}
	/* They took more than there is room for: what was not asked about for longest is not known any more. */
	assert_int_equal(walk(1), UNWIND_NO_SPACE);
	put_space(1, own, nr_own);
	/* More maps than it brings: it is passed over. */
	space = reserve(UNWIND_SPACE, sizeof(*space));
	space->number = 1;
	space->nr = UINT32_MAX;
	unwind_ring_publish(&rig.ring);
	assert_int_equal(walk(1), UNWIND_END);
}

static void
put_thousands(int fd)
{
	for (uint32_t i = 100; i < 6000; i++) {
		offer(i, fd);
		claim(i);
		put_space(i % (2 * UNWIND_SPACES_MAX) + 2, own, nr_own);
		if (i % 64 == 0)
			assert_true(done());
	}
}

/*
 * More files, address spaces and descriptors than there can be. Of another user's files his own go. Of the same user's,
 * what was not used for longest: it has to be offered again, with what was read of it.
 */
static void
test_thousands(void **state)
{
	int fd;

	need_machine();
	put_own();
	make_sample(interrupted, 5);
	assert_int_equal(walk(1), UNWIND_END);
	fd = open(own_paths[0], O_RDONLY | O_CLOEXEC);
	user = 1000;
	put_thousands(fd);
	for (uint32_t i = 2; i < UNWIND_SPACES_MAX; i++)
		assert_int_equal(walk(i), UNWIND_END);
	user = 0;
	put_thousands(fd);
	assert_int_equal(walk(1), UNWIND_NO_FILE);
	put_own();
	assert_int_equal(walk(1), UNWIND_END);
	close(fd);
}

/* --- how it ends --- */

static void
test_killed(void **state)
{
	size_t bytes;

	need_machine();
	for (int i = 0; i < 5; i++) {
		put_own();
		make_sample(interrupted, 5);
		bytes = fill_stack(0);
		for (int n = 0; n < 50 * i; n++)
			put_walk(1, 0, bytes);
		say(rig.fd, "r", 1, -1);
		kill(rig.pid, SIGKILL);
		put_walk(1, 0, bytes);
		assert_false(done());
		assert_int_equal(ended(), SIGKILL);
		start(state);
	}
	put_own();
	assert_int_equal(walk(1), UNWIND_END);
}

static void
test_refuses(void **state)
{
	struct unwind_start none = { .version = UNWIND_VERSION };
	const int sealed = F_SEAL_SHRINK | F_SEAL_GROW;

	for (int i = 0; i < 4; i++) {
		start_program();
		rig.offers = -1;
		if (i == 0)
			say_start(UNWIND_VERSION + 1, sealed);
		else if (i == 1)
			say_start(UNWIND_VERSION, F_SEAL_SHRINK);
		else if (i == 2)
			say(rig.fd, &none, sizeof(none), -1);
		else
			say(rig.fd, "x", 1, -1);
		assert_int_equal(ended(), 2 << 8);
	}
	start_program();
	assert_int_equal(ended(), 0);
}

/* --- what it may do --- */

/* A line of /proc/PID/status. */
static uint64_t
status_of(const char *key, int base)
{
	char path[64], line[256];
	uint64_t value = UINT64_MAX;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)rig.pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0)
			value = strtoull(line + strlen(key), NULL, base);
	fclose(f);
	return value;
}

static void
test_is_confined(void **state)
{
	char path[64];
	struct stat st;

	assert_true(done());
	put_space(1, own, 0);
	assert_true(done());
	assert_int_equal(status_of("Seccomp:", 10), 2);
	assert_int_equal(status_of("NoNewPrivs:", 10), 1);
	/* It cannot be traced by its own user. */
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)rig.pid);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, 0);
}

/* In a child: what is refused, as of the number of the first that is not. */
static int
break_out(pid_t parent)
{
	struct timespec t;

	if (open("/dev/null", O_RDONLY) >= 0 || errno != EPERM)
		return 1;
	if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0 || errno != EPERM)
		return 2;
	if (connect(0, NULL, 0) == 0 || errno != EPERM)
		return 3;
	if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) >= 0 || errno != EPERM)
		return 4;
	if (ptrace(PTRACE_ATTACH, parent, NULL, NULL) == 0 || errno != EPERM)
		return 5;
	if (execl("/bin/true", "true", (char *)NULL) == 0 || errno != EPERM)
		return 6;
	if (kill(parent, 0) == 0 || errno != EPERM)
		return 7;
	if (syscall(SYS_process_vm_readv, parent, NULL, 0, NULL, 0, 0) >= 0 || errno != EPERM)
		return 8;
	if (syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &t) != 0 || t.tv_sec > 1000)
		return 9;
	/* Of another process: ~pid, with the bits of its kind. */
	if (syscall(SYS_clock_gettime, (~(uint32_t)parent << 3) | 2, &t) == 0 || errno != EPERM)
		return 10;
	return 0;
}

static void
test_sandbox(void **state)
{
	const pid_t parent = getpid();
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		dwarf_sandbox_enter(parent, UINT64_C(64) << 20, 0);
		_exit(break_out(parent));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* --- what it costs --- */

static const char *objects[OBJECTS];
static int nr_objects;

static int
one_object(const char *path, const struct stat *st, int type)
{
	if (type == FTW_F && S_ISREG(st->st_mode) && st->st_size > 8192 && strstr(path, ".so") &&
	    nr_objects < OBJECTS)
		objects[nr_objects++] = strdup(path);
	return nr_objects == OBJECTS;
}

/* Bytes that are its own, as /proc has them for everyone. */
static uint64_t
private_bytes(void)
{
	unsigned long size, resident, shared;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)rig.pid);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu %lu %lu", &size, &resident, &shared), 3);
	fclose(f);
	return (uint64_t)(resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Of each object many functions are looked at. */
static void
test_memory(void **state)
{
	struct unwind_map maps[OBJECTS];
	uint64_t most = 0, now;
	uint32_t looked = 0;

	need_machine();
	put_own();
	make_sample(interrupted, 1);
	ftw("/usr/lib", one_object, 16);
	for (int i = 0; i < nr_objects; i++) {
		maps[i] = (struct unwind_map){ .start = (uint64_t)(i + 1) << 32,
					       .end = (uint64_t)(i + 2) << 32,
					       .file = 100 + (uint32_t)i };
		put_file(maps[i].file, objects[i]);
		/* The socket holds 278 of them. */
		if (i % 64 == 0)
			assert_true(done());
	}
	put_space(2, maps, (uint32_t)nr_objects);
	for (int i = 0; i < nr_objects; i++) {
		struct stat st;

		assert_int_equal(stat(objects[i], &st), 0);
		sample.stack_bytes = 256;
		for (uint64_t at = 64; at < (uint64_t)st.st_size;
		     at += (uint64_t)st.st_size / PLACES + 1) {
			const uint64_t room = looked++ % 64 * 1024;

			sample.words[IP_WORD] = maps[i].start + at;
			if (room == 0)
				assert_true(done());
			put_walk(2, room, fill_stack(room));
		}
		assert_true(done());
		now = private_bytes();
		most = now > most ? now : most;
	}
	assert_true(nr_objects > 0);
	print_message(
		"# %d objects, %u places: %.1f MiB of private memory at most, %.1f MiB now; %.2f s of CPU\n",
		nr_objects, looked, (double)most / (1 << 20), (double)private_bytes() / (1 << 20),
		(double)unwind_ring_cpu_ns(&rig.ring) / 1e9);
#ifndef __SANITIZE_ADDRESS__
	assert_true(most <= PRIVATE_MAX);
#endif
}

static void
test_cost(void **state)
{
	const unsigned n = 20000, side_by_side = 64;
	uint64_t before;
	size_t bytes = 0;

	need_machine();
	put_own();
	make_sample(interrupted, 40);
	assert_int_equal(walk(1), UNWIND_END);
	before = unwind_ring_cpu_ns(&rig.ring);
	for (unsigned i = 0; i < n; i++) {
		const uint64_t at = i % side_by_side * (STACKS_BYTES / side_by_side);

		if (i % side_by_side == 0)
			assert_true(done());
		bytes = fill_stack(at);
		put_walk(1, at, bytes);
	}
	assert_true(done());
	assert_int_equal(walk(1), UNWIND_END);
	print_message("# %.2f us of CPU for a stack of %u bytes, %zu frames\n",
		      (double)(unwind_ring_cpu_ns(&rig.ring) - before) / 1e3 / (n + 1),
		      sample.stack_bytes, nr_answered);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
		TEST(test_interrupted),
		TEST(test_handler),
		TEST(test_short_copy),
		TEST(test_numbers),
		TEST(test_hostile_files),
		TEST(test_no_files),
		TEST(test_nonsense_stacks),
		TEST(test_nonsense_spaces),
		TEST(test_thousands),
		TEST(test_killed),
		cmocka_unit_test(test_refuses),
		TEST(test_is_confined),
		cmocka_unit_test(test_sandbox),
		TEST(test_memory),
		TEST(test_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
