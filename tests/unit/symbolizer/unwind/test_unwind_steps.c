/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * @full
 *
 * Programs that are single-stepped from their first instruction to their last, and unwound before
 * each. What is true is a shadow stack: it gets what a call pushes, and loses what is below the
 * stack pointer.
 *
 * Each stack is unwound a second time, by files that stay open (cfi_open()), and has to be the same.
 *
 * What nobody can get right from the bytes at hand stays a handful of steps in a program: crti.o's
 * _init has no call frame information, and under a stack pointer that has just been moved far down
 * there is no memory to be copied yet.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/unwind/unwind.h"
#include "tests/lab/elf_lab.h"

#ifdef __x86_64__

#define STACK_BYTES 24576
#define MAPS_MAX 256
#define SHADOW_MAX 512
#define STEPS_MAX 2000000

struct map {
	uint64_t start, end, pgoff;
	char path[256];
	struct cfi *cfi, *opened;
	struct elf_segment segments[16];
	size_t nr_segments;
};

struct tracee {
	pid_t pid;
	struct map maps[MAPS_MAX];
	size_t nr_maps;
	struct {
		uint64_t slot, ip; /* where it was pushed, and what */
	} shadow[SHADOW_MAX];
	size_t nr_shadow;
	struct unwinder *unwinder, *of_opened;
	bool by_opened; /* the walk that goes on */
	uint8_t stack[STACK_BYTES];
	uint64_t steps, frames, wrong_frames, wrong_stacks, raising, stops[UNWIND_STOPS_NR], calls;
	size_t deepest;
	bool starts_at_exit; /* main()'s caller is exit(main()), which does not return to _start() */
};

/* --- the maps --- */

/* Files stay open in the test's life: a map that comes again has the same cfi. */
static struct known_file {
	char path[256];
	struct cfi *cfi, *opened;
	struct elf_segment segments[16];
	size_t nr;
} files[64];
static size_t nr_files;

static struct elf_object *
open_image(struct tracee *t, const struct map *m)
{
	static uint8_t image[1 << 20];
	struct iovec to = { image, m->end - m->start },
		     from = { (void *)m->start, m->end - m->start };
	struct elf_object *o;

	if (m->path[0] == '/')
		return elf_lab_open(m->path);
	assert_true(to.iov_len <= sizeof(image));
	assert_int_equal(process_vm_readv(t->pid, &to, 1, &from, 1, 0), to.iov_len);
	assert_int_equal(elf_object_open_memory(image, to.iov_len, &o), 0);
	return o;
}

static void
open_map(struct tracee *t, struct map *m)
{
	const struct elf_segment *segments;
	struct known_file *f = files;
	struct elf_object *o;
	int err;

	while (f < files + nr_files && strcmp(f->path, m->path) != 0)
		f++;
	if (f == files + nr_files) {
		assert_true(nr_files++ < sizeof(files) / sizeof(files[0]));
		o = open_image(t, m);
		snprintf(f->path, sizeof(f->path), "%s", m->path);
		assert_int_equal(cfi_new(o, NULL, &f->cfi), 0);
		err = cfi_open(o, SIZE_MAX, NULL, &f->opened);
		if (err) {
			/* musl's loader has no table. */
			assert_non_null(strstr(m->path, "musl"));
			assert_int_equal(err, -FMT_E_EMPTY);
			f->opened = f->cfi;
		}
		f->nr = elf_object_segments(o, &segments);
		assert_true(f->nr <= 16);
		memcpy(f->segments, segments, f->nr * sizeof(*segments));
		elf_object_close(o);
	}
	m->cfi = f->cfi;
	m->opened = f->opened;
	m->nr_segments = f->nr;
	memcpy(m->segments, f->segments, sizeof(f->segments));
}

static void
read_maps(struct tracee *t)
{
	char name[64], line[512], prot[8];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", t->pid);
	f = fopen(name, "re");
	assert_non_null(f);
	t->nr_maps = 0;
	while (fgets(line, sizeof(line), f)) {
		struct map *m = &t->maps[t->nr_maps];

		*m = (struct map){ .path = "" };
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %255s", &m->start,
			   &m->end, prot, &m->pgoff, m->path) < 4 ||
		    prot[2] != 'x')
			continue;
		assert_true(++t->nr_maps < MAPS_MAX);
		if (m->path[0] == '/' || strcmp(m->path, "[vdso]") == 0)
			open_map(t, m);
	}
	fclose(f);
}

static bool
find_code(void *arg, uint64_t ip, struct unwind_code *ret)
{
	struct tracee *t = arg;

	for (size_t i = 0; i < t->nr_maps; i++) {
		struct map *m = &t->maps[i];

		if (ip < m->start || ip >= m->end)
			continue;
		*ret = (struct unwind_code){ .cfi = t->by_opened ? m->opened : m->cfi };
		if (m->cfi &&
		    !elf_segments_vaddr(m->segments, m->nr_segments, ip - m->start + m->pgoff, true,
					&ret->vaddr))
			ret->cfi = NULL;
		return true;
	}
	return false;
}

/* --- the truth --- */

static uint64_t
peek(struct tracee *t, uint64_t at)
{
	return (uint64_t)ptrace(PTRACE_PEEKDATA, t->pid, (void *)at, NULL);
}

static void
shadow_push(struct tracee *t, uint64_t slot, uint64_t ip)
{
	assert_true(t->nr_shadow < SHADOW_MAX);
	t->shadow[t->nr_shadow].slot = slot;
	t->shadow[t->nr_shadow++].ip = ip;
}

/* Prefixes (bnd, notrack, segments, REX), then the near calls. */
static bool
is_call(struct tracee *t, uint64_t ip)
{
	uint64_t words[2] = { peek(t, ip), peek(t, ip + 8) };
	const uint8_t *p = (const uint8_t *)words;

	while (*p == 0xf2 || *p == 0x3e || *p == 0x64 || *p == 0x65 || *p == 0x66 || *p == 0x67 ||
	       (*p & 0xf0) == 0x40)
		p++;
	return *p == 0xe8 || (*p == 0xff && (p[1] >> 3 & 7) == 2);
}

/* One instruction, or the delivery of a signal. False: it has exited. */
static bool
one_step(struct tracee *t, struct user_regs_struct *regs)
{
	const bool call = is_call(t, regs->rip);
	const uint64_t ip = regs->rip, sp = regs->rsp;
	int status, number = 0;

	for (;;) {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, t->pid, NULL, (void *)(long)number), 0);
		assert_int_equal(waitpid(t->pid, &status, 0), t->pid);
		if (!WIFSTOPPED(status))
			return false;
		number = WSTOPSIG(status);
		assert_int_equal(ptrace(PTRACE_GETREGS, t->pid, NULL, regs), 0);
		if (number == SIGTRAP)
			break;
		/* It stands before its next instruction, which the handler is called at. */
		if (regs->rip != ip)
			shadow_push(t, 0, 0);
		t->nr_shadow -= regs->rip != ip;
	}
	while (t->nr_shadow > 0 && t->shadow[t->nr_shadow - 1].slot < regs->rsp)
		t->nr_shadow--;
	if (call && regs->rsp == sp - 8) {
		shadow_push(t, regs->rsp, peek(t, regs->rsp));
		t->calls++;
	} else if (regs->rsp < sp - 512 && regs->rdx != 0 && peek(t, regs->rdx + 168) != 0 &&
		   regs->rsp + 8 == regs->rdx) {
		/* rt_sigframe: the restorer, then the ucontext, which rdx points at: rip is at 168. */
		shadow_push(t, regs->rsp + 8, peek(t, regs->rdx + 168));
		shadow_push(t, regs->rsp, peek(t, regs->rsp));
	}
	return true;
}

/* --- what we say --- */

/*
 * libgcc raises an exception by writing the registers of where it is caught over those that its own
 * frames have saved: from then on the stack is that of the catcher.
 */
static bool
is_of_libgcc(const struct tracee *t, uint64_t ip)
{
	for (size_t i = 0; i < t->nr_maps; i++)
		if (ip - t->maps[i].start < t->maps[i].end - t->maps[i].start)
			return strstr(t->maps[i].path, "/libgcc_s") != NULL;
	return false;
}

static bool
is_raising(const struct tracee *t, uint64_t ip)
{
	for (size_t i = 0; i < t->nr_shadow; i++)
		if (is_of_libgcc(t, t->shadow[i].ip))
			return true;
	return is_of_libgcc(t, ip);
}

static void
compare_frames(struct tracee *t, uint64_t ip, const struct unwind_frame *frames, size_t nr,
	       int stop)
{
	const bool at_exit = t->starts_at_exit && stop == UNWIND_END && nr == t->nr_shadow;
	const size_t truth = t->nr_shadow + !at_exit;
	uint64_t wrong = 0;

	for (size_t i = 0; i < truth; i++) {
		const uint64_t real = i == 0 ? ip : t->shadow[t->nr_shadow - i].ip;

		wrong += i >= nr || frames[i].ip != real;
	}
	if (wrong > 0 && is_raising(t, ip)) {
		t->raising++;
		return;
	}
	t->frames += truth;
	t->wrong_frames += wrong;
	t->deepest = truth > t->deepest ? truth : t->deepest;
	if (wrong == 0 && nr == truth)
		return;
	if (t->wrong_stacks++ >= 8)
		return;
	fprintf(stderr, "# step %" PRIu64 ": %zu frames of %zu, stop %d:", t->steps, nr, truth,
		stop);
	for (size_t i = 0; i < truth && i < 12; i++) {
		const uint64_t real = i == 0 ? ip : t->shadow[t->nr_shadow - i].ip;
		struct unwind_code code = { 0 };

		find_code(t, real, &code);
		fprintf(stderr, " %" PRIx64 "%s", code.vaddr ? code.vaddr : real,
			i >= nr			       ? "(none)"
				: frames[i].ip != real ? "(other)"
						       : "");
	}
	fprintf(stderr, "\n");
}

static int
frames_here(struct tracee *t, const struct user_regs_struct *r, const struct unwind_frame **ret,
	    size_t *ret_nr)
{
	const uint64_t by_dwarf[] = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
				      r->rbp, r->rsp, r->r8,  r->r9,  r->r10, r->r11,
				      r->r12, r->r13, r->r14, r->r15 };
	struct unwind_sample s = { .arch = cfi_arch_of_name("x86_64"), .ip = r->rip };
	struct iovec to = { t->stack, STACK_BYTES }, from = { (void *)r->rsp, STACK_BYTES };
	struct unwind_code code;
	ssize_t copied;

	/* The last page may be shorter than what is asked for. */
	while ((copied = process_vm_readv(t->pid, &to, 1, &from, 1, 0)) < 0 && to.iov_len > 64) {
		to.iov_len -= 64;
		from.iov_len -= 64;
	}
	if (!find_code(t, r->rip, &code))
		read_maps(t);
	for (unsigned i = 0; i < 16; i++)
		cfi_register_set(&s.registers, i, by_dwarf[i]);
	s.stack = (struct stack_copy){ .bytes = span_of(t->stack, copied > 0 ? (size_t)copied : 0),
				       .base = r->rsp };
	return unwind(t->by_opened ? t->of_opened : t->unwinder, &s, find_code, t, ret, ret_nr);
}

static void
compare_opened(struct tracee *t, const struct user_regs_struct *r, const struct unwind_frame *whole,
	       size_t nr_whole, int stop_whole)
{
	const struct unwind_frame *frames;
	size_t nr;

	t->by_opened = true;
	assert_int_equal(frames_here(t, r, &frames, &nr), stop_whole);
	t->by_opened = false;
	assert_int_equal(nr, nr_whole);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(frames[i].ip, whole[i].ip);
		assert_int_equal(frames[i].is_return, whole[i].is_return);
	}
}

static void
unwind_here(struct tracee *t, const struct user_regs_struct *r)
{
	const struct unwind_frame *frames;
	size_t nr;
	int stop = frames_here(t, r, &frames, &nr);

	assert_true(stop >= 0);
	t->stops[stop]++;
	compare_frames(t, r->rip, frames, nr, stop);
	compare_opened(t, r, frames, nr, stop);
}

static pid_t
start(const char *path)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		personality(ADDR_NO_RANDOMIZE);
		dup2(null, 1);
		unsetenv("LD_BIND_NOW");
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			execl(path, path, (char *)NULL);
		_exit(127);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFSTOPPED(status))
		return 0;
	ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_EXITKILL);
	return pid;
}

/*
 * On to the breakpoint at the beginning of a long program's main(). What called it is believed to
 * be what we say: it is short.
 */
static void
run_to_main(struct tracee *t, struct user_regs_struct *regs)
{
	const struct unwind_frame *frames;
	size_t nr;
	int status;

	assert_int_equal(ptrace(PTRACE_CONT, t->pid, NULL, NULL), 0);
	assert_int_equal(waitpid(t->pid, &status, 0), t->pid);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	assert_int_equal(ptrace(PTRACE_GETREGS, t->pid, NULL, regs), 0);
	read_maps(t);
	assert_int_equal(frames_here(t, regs, &frames, &nr), UNWIND_END);
	assert_true(nr >= 3 && nr <= 6);
	while (--nr > 0)
		shadow_push(t, UINT64_MAX, frames[nr].ip);
}

/* At least 999 of a thousand frames are right. from_main: up to where that returns. */
static void
step_through(const char *path, size_t least_depth, bool from_main)
{
	struct tracee *t = calloc(1, sizeof(*t));
	struct user_regs_struct regs;
	uint64_t to;

	assert_non_null(t);
	t->starts_at_exit = strstr(path, "/musl") != NULL;
	t->unwinder = unwinder_new();
	t->of_opened = unwinder_new();
	t->pid = start(path);
	if (t->pid == 0)
		skip();
	assert_int_equal(ptrace(PTRACE_GETREGS, t->pid, NULL, &regs), 0);
	read_maps(t);
	if (from_main)
		run_to_main(t, &regs);
	to = from_main ? t->shadow[t->nr_shadow - 1].ip : 0;
	do {
		unwind_here(t, &regs);
		t->steps++;
		assert_true(t->steps < STEPS_MAX);
	} while (one_step(t, &regs) && regs.rip != to);
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
	fprintf(stderr,
		"# %s: %" PRIu64 " steps, %" PRIu64 " calls, %zu deep, %" PRIu64 " frames, %" PRIu64
		" wrong; %" PRIu64 " stacks not whole\n",
		path, t->steps, t->calls, t->deepest, t->frames, t->wrong_frames, t->wrong_stacks);
	assert_true(t->deepest >= least_depth);
	assert_true(t->wrong_frames * 1000 <= t->frames * (t->starts_at_exit ? 5 : 1));
	assert_true(t->raising * 20 < t->steps);
	assert_true(t->stops[UNWIND_END] * 1000 >=
		    t->steps * (from_main || t->starts_at_exit ? 970 : 999));
	unwinder_free(t->unwinder);
	unwinder_free(t->of_opened);
	free(t);
}

static const char program[] =
	"#ifndef LAST\n#define LAST ends\n#endif\n#include <alloca.h>\n#include <signal.h>\n#include <stdio.h>\n"
	"#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n"
	"typedef double wide __attribute__((vector_size(32)));\n"
	"static volatile int sink;\n"
	"#define HIDDEN __attribute__((noinline, noclone))\n"
	"HIDDEN int leaf(int x) { int v[4] = { x, x + 1 }; sink = v[x & 1]; return sink * 3; }\n"
	"HIDDEN int stack(int n) { char *p = alloca(n * 8 + 1); memset(p, n, n * 8 + 1); sink = p[n];"
	" return leaf(n); }\n"
	"HIDDEN int many(int a, int b, int c, int d, int e, int f, int g, wide *w)\n"
	"{ wide v[g]; v[0] = *w; sink = leaf(a + b + c + d + e + f); *w = v[0]; return stack(g); }\n"
	"HIDDEN int deep(int n) { return n ? deep(n - 1) + leaf(n) : stack(3); }\n"
	"HIDDEN __attribute__((noreturn)) void gone(int x) { sink = leaf(x); exit(0); }\n"
	"HIDDEN int ends(int x) { if (x > 2) gone(x); return x; }\n"
	"HIDDEN int other(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }\n"
	"HIDDEN void handler(int s) { sink = leaf(s); stack(2); }\n"
	"HIDDEN double big(double a) { char room[9000]; memset(room, 1, sizeof room); sink = room[8999];"
	" return a + leaf(2); }\n"
	"int main(int c, char **v)\n{\n"
	" int list[12] = { 5, 3, 9, 1, 7, 2, 8, 0, 4, 6, 11, 10 }; wide w = { 1, 2, 3, 4 };\n"
	" struct sigaction sa = { .sa_handler = handler }; struct timespec ts; char text[100];\n"
	" sigaction(SIGUSR1, &sa, 0); raise(SIGUSR1);\n"
	" many(1, 2, 3, 4, 5, 6, c + 3, &w); deep(60);\n"
	" qsort(list, 12, sizeof *list, other); clock_gettime(CLOCK_MONOTONIC, &ts); big(w[1]);\n"
	" snprintf(text, sizeof text, \"%f %s %d\", 1.5, v[0], list[3]); puts(text);\n"
	" free(malloc(1000)); LAST(7); return 0;\n}\n";

static void
test_optimized(void **state)
{
	step_through(lab_build("o2", program, 0, "-O2 -fomit-frame-pointer -Wl,-z,lazy"), 60,
		     false);
}

static void
test_plain(void **state)
{
	step_through(lab_build("o0", program, 0, "-O0 -Wl,-z,now -fcf-protection=none"), 60, false);
}

static void
test_static(void **state)
{
	step_through(lab_build("pie", program, 0, "-O3 -static-pie -mavx2"), 60, false);
}

/*
 * Nothing tells of its code but the code: as of hand-written assembler, and of libraries that are built so. What calls a
 * function that does not return has no return itself: no such call is made.
 */
static void
test_without_cfi(void **state)
{
	step_through(lab_build("bare", program, 0,
			       "-O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables "
			       "-fno-unwind-tables -Wl,-z,lazy -DLAST=leaf"),
		     60, false);
}

static void
test_without_cfi_small(void **state)
{
	step_through(lab_build("small", program, 0,
			       "-Os -fomit-frame-pointer -fno-asynchronous-unwind-tables "
			       "-fno-unwind-tables -static-pie -DLAST=leaf"),
		     60, false);
}

/* musl has no call frame information at all. What is before main() in the function of exit(main()) returns nowhere. */
static void
test_musl(void **state)
{
	const char *path = lab_keep(lab_build("musl.o", program, 0, "-O2 -c -DLAST=leaf"));
	char command[512], *to = strdup(path);

	assert_non_null(to);
	to[strlen(to) - 2] = '\0';
	snprintf(command, sizeof(command), "musl-gcc -static -o %s %s", to, path);
	assert_int_equal(system(command), 0);
	step_through(to, 60, false);
	free(to);
}

static void
test_exceptions(void **state)
{
	static const char source[] =
		"#include <algorithm>\n#include <map>\n#include <stdexcept>\n#include <string>\n"
		"struct loud { std::string s; ~loud() { if (s.size() > 99) throw 1; } };\n"
		"__attribute__((noinline)) int thrower(int n)\n"
		"{ loud l{ std::to_string(n) }; if (n == 0) throw std::runtime_error(l.s);"
		" return thrower(n - 1) + (int)l.s.size(); }\n"
		"int main() { __asm__ volatile(\"int3\"); std::map<std::string, int> m; for (int i = 0; i < 9; i++)"
		" m[std::to_string(i * 7919)] = i; int n = 0;\n"
		"try { n = thrower(4); } catch (const std::exception &e) { n = (int)m.size(); }\n"
		"return n != 9; }\n";

	step_through(lab_build("cxx", source, 1, "-O2 -fomit-frame-pointer"), 12, true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_optimized),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_static),
		cmocka_unit_test(test_without_cfi),
		cmocka_unit_test(test_without_cfi_small),
		cmocka_unit_test(test_musl),
		cmocka_unit_test(test_exceptions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int
main(void)
{
	puts("1..0 # SKIP single-steps x86-64 programs");
	return 0;
}

#endif
