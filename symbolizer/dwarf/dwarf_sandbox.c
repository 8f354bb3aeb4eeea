/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dwarf/dwarf_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

/* Of a trapped system call: its arguments, and where its result goes. */
#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define REGISTER(context, i)                                                                       \
	(context)->uc_mcontext.gregs[(const int[]){ REG_RDI, REG_RSI, REG_RDX, REG_R10 }[i]]
#define RESULT(context) (context)->uc_mcontext.gregs[REG_RAX]
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define REGISTER(context, i) (context)->uc_mcontext.regs[i]
#define RESULT(context) (context)->uc_mcontext.regs[0]
#endif

/* Of fcntl(2): F_SETOWN, say, would have the kernel send signals to others. */
#define ALLOWED_OF_FCNTL(X) X(F_GETFD) X(F_GETFL) X(F_DUPFD_CLOEXEC)

/*
 * What malloc(), libelf's reading, a write to a pipe, and taking a descriptor that was asked for need; sigaltstack() is what
 * AddressSanitizer calls before a process exits, which it would otherwise end with an error of its own.
 */
#define ALLOWED(X)                                                                                 \
	X(read)                                                                                    \
	X(pread64)                                                                                 \
	X(write)                                                                                   \
	X(lseek)                                                                                   \
	X(fstat)                                                                                   \
	X(close)                                                                                   \
	X(mmap)                                                                                    \
	X(munmap)                                                                                  \
	X(mremap)                                                                                  \
	X(mprotect)                                                                                \
	X(madvise)                                                                                 \
	X(brk)                                                                                     \
	X(recvmsg)                                                                                 \
	X(futex)                                                                                   \
	X(getrandom)                                                                               \
	X(rt_sigaction)                                                                            \
	X(rt_sigprocmask)                                                                          \
	X(rt_sigreturn)                                                                            \
	X(sigaltstack)                                                                             \
	X(restart_syscall)                                                                         \
	X(getpid)                                                                                  \
	X(gettid)                                                                                  \
	X(exit)                                                                                    \
	X(exit_group)

/* It ends here: what it would read is somebody's. */
static void __attribute__((noreturn)) refused(void)
{
	_exit(DWARF_SANDBOX_REFUSED);
}

/*
 * A lower hard limit stands. for_ever: of a process that a service started; where that may set no limits (systemd's
 * ~@resources), the memory of its control group bounds it.
 */
static void
limit(bool for_ever, int what, uint64_t soft, uint64_t hard)
{
	struct rlimit r;

	if (getrlimit(what, &r) != 0) {
		if (for_ever && errno == EPERM)
			return;
		refused();
	}
	r.rlim_max = hard < r.rlim_max ? hard : r.rlim_max;
	r.rlim_cur = soft < r.rlim_max ? soft : r.rlim_max;
	if (setrlimit(what, &r) != 0)
		refused();
}

/*
 * Bytes of data that the process has: RLIMIT_DATA counts them. Without stdio: another thread of the parent may have
 * held its lock.
 */
static uint64_t
data_bytes(void)
{
	enum { FIELD = 5 }; /* "size resident shared text lib data dt", in pages */
	char text[256], *at = text;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	uint64_t pages = 0;

	if (fd >= 0)
		(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (int i = 0; i < FIELD && at; i++) {
		at = strchr(at, ' ');
		if (at)
			at++;
	}
	while (at && *at >= '0' && *at <= '9')
		pages = pages * 10 + (uint64_t)(*at++ - '0');
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

#ifdef ARCHITECTURE
/*
 * fstat() is fstatat() with an empty path in glibc 2.33 to 2.38. A filter does not see whether the path is empty, so the
 * call is trapped, and the other one made in its place, which is by descriptor alone.
 */
static void
stat_trapped(int signal, siginfo_t *info, void *context)
{
	ucontext_t *c = context;
	const char *path = (const char *)(uintptr_t)REGISTER(c, 1);
	const int before = errno;
	int r = -EPERM;

	(void)signal;
	if (info->si_syscall == SYS_newfstatat && REGISTER(c, 3) & AT_EMPTY_PATH && path &&
	    *path == '\0')
		r = syscall(SYS_fstat, (int)REGISTER(c, 0), REGISTER(c, 2)) < 0 ? -errno : 0;
	errno = before;
	RESULT(c) = r;
}

static void
trap_stat(void)
{
	const struct sigaction trap = { .sa_sigaction = stat_trapped, .sa_flags = SA_SIGINFO };
	sigset_t trapped;

	sigemptyset(&trapped);
	sigaddset(&trapped, SIGSYS);
	if (sigaction(SIGSYS, &trap, NULL) != 0 || sigprocmask(SIG_UNBLOCK, &trapped, NULL) != 0)
		refused();
}
#endif

static void
filter_system_calls(bool for_ever)
{
#ifdef ARCHITECTURE
	static struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#define X(name)                                                                                    \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1),                                     \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		ALLOWED(X)
#undef X
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_newfstatat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		/* The process tells what it costs. Other numbers are the CPU time of others. */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CLOCK_PROCESS_CPUTIME_ID, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		/* The kernel reads its lower half; little-endian as both architectures are. */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
#define X(command)                                                                                 \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, command, 0, 1),                                        \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		ALLOWED_OF_FCNTL(X)
#undef X
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	trap_stat();
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0)
		return;
	/* A service's own filter may refuse that call (systemd's @system-service does), and not this one. */
	if (!for_ever || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		refused();
#endif
}

/* When memory is short on the machine, this process ends, and none of those that others need. */
static void
go_first(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, "1000", 4);
	(void)close(fd);
}

void
dwarf_sandbox_enter(pid_t parent, uint64_t memory_max, unsigned int cpu_s)
{
	const bool for_ever = cpu_s == 0;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	go_first(); /* its file is root's once it cannot be dumped */
	if (prctl(PR_SET_DUMPABLE, 0) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		refused();
	limit(for_ever, RLIMIT_CORE, 0, 0);
	/* At the hard limit it would be SIGKILL, which tells nothing. */
	if (!for_ever)
		limit(for_ever, RLIMIT_CPU, cpu_s, cpu_s + 1);
	limit(for_ever, RLIMIT_DATA, data_bytes() + memory_max, data_bytes() + memory_max);
	filter_system_calls(for_ever);
}
